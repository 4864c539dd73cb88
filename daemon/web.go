package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/api"
	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/mcp"
	"github.com/agentmaild/agentmaild/page"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/token"
)

// What all who ask on the API listener can take of the process.
const (
	maxWebConns  = 256
	maxWebHeader = 16 << 10
	maxWebBody   = 1 << 20
	webTime      = 30 * time.Second // to send a question, and to take an answer; a stream counts anew with each part
)

// web is who may ask on the API listener, and by which names.
type web struct {
	tokens *token.Ring
	hosts  []string
}

// openWeb reads the tokens, if there is an API listener; else it is nil.
func openWeb(cfg *config.Config) (*web, error) {
	if cfg.API.Listen == "" {
		return nil, nil
	}
	ring, err := token.Open(cfg.TokensPath())
	w := &web{tokens: ring}
	for _, host := range cfg.API.Hosts {
		w.hosts = append(w.hosts, strings.ToLower(host))
	}
	return w, cfg.Wrong("", "api.listen", err)
}

// webRoutes is all that answers on the API listener. Each asks for a token of the ring by itself.
func (d *Daemon) webRoutes() http.Handler {
	programs := api.New(api.Services{
		Inboxes: d.apiInboxes, Tokens: d.web.tokens, Keys: d.keySource, Log: d.world.Log,
	})
	server := mcp.Server{Inboxes: d.toolInboxes, Random: d.world.Random, Log: d.world.Log}
	tools := server.Handler(d.web.tokens.Check)
	owners := page.New(page.Services{
		Inboxes: d.pageInboxes, Tokens: d.web.tokens, Now: d.world.Now, Random: d.world.Random, Log: d.world.Log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // a mux would send anybody from /v1//x to /v1/x
		switch path := r.URL.Path; {
		case path == "/v1" || strings.HasPrefix(path, "/v1/"):
			programs.ServeHTTP(w, r)
		case path == "/mcp":
			tools.ServeHTTP(w, r)
		default:
			owners.ServeHTTP(w, r)
		}
	})
}

// serveWeb answers programs, models and the owner's browser.
func (d *Daemon) serveWeb(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           guarded(d.web.hosts, d.webRoutes()),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: webTime, WriteTimeout: webTime, IdleTimeout: time.Minute, MaxHeaderBytes: maxWebHeader,
		ErrorLog:                     slog.NewLogLogger(d.world.Log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,                                              // it answers anybody
		BaseContext:                  func(net.Listener) context.Context { return ctx }, // streams end with it
	}
	d.world.Log.Info("the API is answered", "address", l.Addr().String())
	room := listen.NewRoom(l, maxWebConns)
	room.Attend(server)
	if err := listen.HTTP(ctx, server, room); err != ctx.Err() {
		return fmt.Errorf("serving the API: %w", err)
	}
	return ctx.Err()
}

// guarded refuses a question by a name that is not one of ours: a web page of another name that resolves to this machine
// would have its visitor's browser ask here as if it were that page's own server. An address is no name that anybody can
// have resolved to something else (D160).
func guarded(hosts []string, then http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(hostOf(r.Host))
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && !slices.Contains(hosts, host) {
			http.Error(w, "this server is not asked by that name: add it to hosts in [api]", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxWebBody)
		then.ServeHTTP(w, r)
	})
}

// hostOf is a Host header without its port.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return strings.Trim(header, "[]")
}

// apiInboxes is the inboxes as the API shows them.
func (d *Daemon) apiInboxes() []api.Source {
	var list []api.Source
	for _, in := range d.served() {
		list = append(list, api.Source{Inbox: in.Inbox, Mailbox: in.Mailbox})
	}
	return list
}

// pageInboxes is the inboxes as their owner sees them.
func (d *Daemon) pageInboxes() []page.Source {
	var list []page.Source
	for _, in := range d.served() {
		list = append(list, page.Source{Inbox: in.Inbox, Mailbox: in.Mailbox})
	}
	return list
}

// toolInboxes is the inboxes as a model uses them.
func (d *Daemon) toolInboxes(context.Context) ([]mcp.Inbox, error) {
	var list []mcp.Inbox
	for _, in := range d.served() {
		list = append(list, in.Inbox)
	}
	return list, nil
}

// keySource is where the keys of a record that somebody has checked are looked up.
func (d *Daemon) keySource() record.KeySource {
	d.mu.Lock()
	defer d.mu.Unlock()
	return record.KeySource{Trust: d.trust, Pages: d.world.Pages, TXT: d.world.TXT}
}
