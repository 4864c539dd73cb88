package keypage

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/party"
)

// What one stranger and all of them can take of the process.
const (
	maxConns  = 256
	maxHeader = 8 << 10 // bytes; the library reads 4 KiB more
	readTime  = 5 * time.Second
	writeTime = 10 * time.Second
	idleTime  = 10 * time.Second
)

// Server shows key pages, to GET and HEAD, and nothing else.
type Server struct {
	now   func() time.Time
	log   *slog.Logger
	shown atomic.Pointer[shown]
}

// shown is what a configuration has shown.
type shown struct {
	pages       *pages
	certificate *tls.Certificate // nil for plain HTTP
}

// New reads the certificate and the keys that a configuration names. Nothing is opened.
func New(cfg *config.Config, now func() time.Time, log *slog.Logger) (*Server, error) {
	s := &Server{now: now, log: log}
	return s, s.Reload(cfg)
}

// Reload takes up another configuration, and the certificate as it is now; after an error the one before goes on. Whether
// TLS is spoken does not change.
func (s *Server) Reload(cfg *config.Config) error {
	next := &shown{}
	if cfg.Public.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(cfg.Public.CertFile, cfg.Public.KeyFile)
		if err != nil {
			return fmt.Errorf("public.cert_file and public.key_file: %w", err)
		}
		next.certificate = &certificate
	}
	var err error
	next.pages, err = newPages(cfg, s.now, func(err error) {
		s.log.Error("a key page cannot be made, the one before goes on", "error", err)
	})
	if err != nil {
		return err
	}
	s.shown.Store(next)
	return nil
}

// Serve answers on a listener, which it closes, until ctx ends and the requests under way are answered.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, MaxHeaderBytes: maxHeader, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		DisableGeneralOptionsHandler: true,
		// What strangers do wrong is no trouble of ours.
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	l = netutil.LimitListener(l, maxConns)
	if s.shown.Load().certificate != nil {
		l = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate})
	}
	if err := listen.HTTP(ctx, server, l); err != ctx.Err() {
		return fmt.Errorf("serving key pages: %w", err)
	}
	return ctx.Err()
}

func (s *Server) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.shown.Load().certificate, nil
}

// ServeHTTP answers one request. Path and query are compared as they were written: there is one spelling of an address,
// and a cache in front keeps one copy of its page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := s.shown.Load().pages.at(r.URL.RequestURI())
	if page == nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(party.PageAge.Seconds())))
	h.Set("Access-Control-Allow-Origin", "*") // a record may be checked by a page in a browser
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(page) // who hung up need not be told
}
