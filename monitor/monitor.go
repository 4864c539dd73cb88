// Package monitor tells a supervisor and Prometheus how the daemon is doing,
// on a listener of its own: /healthz, /readyz and /metrics. Nothing that a mail
// or a server said is on it, and no address.
package monitor

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
	"golang.org/x/net/netutil"
)

// What all who ask can take of the process.
const (
	maxConns  = 16
	maxHeader = 8 << 10
	waitTime  = 10 * time.Second
	probeTime = 5 * time.Second // the store is tried no more often
)

// Source is an inbox with how its mailbox is doing.
type Source struct {
	*inbox.Inbox
	Mailbox func() mailbox.Health
}

// Server answers for a daemon.
type Server struct {
	Inboxes func() []Source // those of now
	Counts  *Counts
	Store   *store.Store
	Fetches func() party.Fetches // nil: not counted
	Now     func() time.Time
	Log     *slog.Logger

	mu     sync.Mutex // one answer at a time
	tried  time.Time
	failed error // of the last try to write the store
}

// Serve answers on a listener, which it closes, until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.routes(), MaxHeaderBytes: maxHeader, ReadTimeout: waitTime, WriteTimeout: waitTime, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	if err := listen.HTTP(ctx, server, netutil.LimitListener(l, maxConns)); err != ctx.Err() {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return ctx.Err()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(io.Writer) (int, error){
		"GET /healthz": s.healthy, "GET /readyz": s.ready, "GET /metrics": s.metrics,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			var text strings.Builder
			s.mu.Lock()
			status, err := answer(&text)
			s.mu.Unlock()
			if err != nil {
				s.Log.Error("a monitor cannot be answered", "path", pattern, "error", err)
				status = http.StatusInternalServerError
				text.Reset()
			}
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text.String()) // who hung up need not be told
		})
	}
	return mux
}

// healthy is whether the daemon can go on as it is.
func (s *Server) healthy(w io.Writer) (int, error) {
	if s.Store.Sound() != nil {
		fmt.Fprintln(w, "the store cannot be used; the log says why")
		return http.StatusServiceUnavailable, nil
	}
	fmt.Fprintln(w, "ok")
	return http.StatusOK, nil
}

// ready is whether mail can be taken up: every mailbox is connected, and the
// store can be written.
func (s *Server) ready(w io.Writer) (int, error) {
	status := http.StatusOK
	sources := s.Inboxes()
	for _, in := range sources {
		if !in.Mailbox().Connected {
			fmt.Fprintf(w, "inbox %s: the mailbox is not connected\n", in.Name())
			status = http.StatusServiceUnavailable
		}
	}
	if len(sources) > 0 && s.try(sources[0].Name()) != nil {
		fmt.Fprintln(w, "the store cannot be written; the log says why")
		status = http.StatusServiceUnavailable
	}
	if status == http.StatusOK {
		fmt.Fprintln(w, "ok")
	}
	return status, nil
}

// try commits a transaction without rows, if none was tried just now: it costs
// two syncs of the disk, and whoever asks often must not wear it out.
func (s *Server) try(inbox string) error {
	if now := s.Now(); s.tried.IsZero() || now.Sub(s.tried) >= probeTime {
		s.tried, s.failed = now, s.Store.Update(inbox, func(*store.Tx) error { return nil })
		if s.failed != nil {
			s.Log.Error("the store cannot be written", "error", s.failed)
		}
	}
	return s.failed
}

// metrics writes all numbers.
func (s *Server) metrics(w io.Writer) (int, error) {
	p := page{}
	for _, in := range s.Inboxes() {
		s.Counts.write(p, in.Name())
		if err := s.inbox(p, in); err != nil {
			return 0, fmt.Errorf("inbox %s: %w", in.Name(), err)
		}
	}
	if s.Fetches != nil {
		fetches := s.Fetches()
		p.set("agentmaild_key_page_fetches_total", float64(fetches.Pages), "result", "page")
		p.set("agentmaild_key_page_fetches_total", float64(fetches.None), "result", "none")
		p.set("agentmaild_key_page_fetches_total", float64(fetches.Failed), "result", "failed")
	}
	p.set("agentmaild_store_commits_total", float64(s.Store.Commits()))
	p.set("agentmaild_store_failed_commits_total", float64(s.Store.Failed()))
	p.set("agentmaild_store_commit_seconds_total", s.Store.WriteTime().Seconds())
	p.write(w)
	return http.StatusOK, nil
}

// inbox writes what is known of one inbox now.
func (s *Server) inbox(p page, in Source) error {
	backlog, err := in.Backlog()
	if err != nil {
		return err
	}
	waiting, err := in.Waiting()
	if err != nil {
		return err
	}
	set := func(name string, value float64, labels ...string) {
		p.set(name, value, append([]string{"inbox", in.Name()}, labels...)...)
	}
	m := in.Mailbox()
	set("agentmaild_mailbox_connected", flag(m.Connected))
	set("agentmaild_mailbox_idle", flag(!m.IdleSince.IsZero()))
	set("agentmaild_mailbox_last_look_timestamp_seconds", max(0, float64(m.LastLook.Unix()))) // the zero time is long before 1970
	set("agentmaild_mailbox_sessions_total", float64(m.Sessions))
	set("agentmaild_outbox_letters", float64(backlog.Letters))
	set("agentmaild_outbox_oldest_seconds", age(backlog.OldestLetter, s.Now()))
	set("agentmaild_pending_events", float64(backlog.Events))
	set("agentmaild_retries", float64(backlog.Retries))
	set("agentmaild_webhooks_failing", float64(backlog.Webhooks))
	kinds := map[string]int{"message": 0} // so that there is a number when nothing waits
	for _, w := range waiting {
		kinds[w.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		set("agentmaild_waiting", float64(kinds[kind]), "kind", kind)
	}
	return nil
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// age is how long ago a time is, in seconds, 0 for none.
func age(unix int64, now time.Time) float64 {
	if unix == 0 {
		return 0
	}
	return max(0, float64(now.Unix()-unix))
}
