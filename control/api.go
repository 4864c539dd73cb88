// Package control serves the daemon's inboxes to its own command line, as JSON
// over HTTP on a unix socket that only the daemon's user can open.
package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/go-json-experiment/json"
)

// maxBody bounds a request, in bytes: a roster has 4 MiB at most.
const maxBody = 5 << 20

// Server answers for a set of inboxes.
type Server struct {
	Inboxes func() []Served       // those of now: they change while the server runs
	Backup  func(io.Writer) error // writes a copy of the store
	Log     *slog.Logger
}

// Served is an inbox with how its mailbox is doing.
type Served struct {
	*inbox.Inbox
	Mailbox func() mailbox.Health
}

// Inbox names an inbox of the daemon.
type Inbox struct {
	Name    string `json:"name"`
	Address string `json:"address"`

	Agent      string `json:"agent_id,omitempty"`
	SealingKey string `json:"sealing_key,omitempty"` // public
}

// failure is the body of every answer that is no success. Its status tells
// whose fault it is: 400 that of the request, 500 one of the daemon's side.
type failure struct {
	Error string `json:"error"`
}

// Listen opens the unix socket at path, mode 0600. A socket that a dead daemon
// left behind is replaced: the store's lock, which is taken first, keeps a
// second daemon away.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("removing an old control socket: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil { // the folder, 0700, guards the moment before
		return nil, errors.Join(fmt.Errorf("guarding the control socket: %w", err), listener.Close())
	}
	return listener, nil
}

// Serve answers on the control socket, which it closes, until ctx ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	if err := listen.HTTP(ctx, server, listener); err != ctx.Err() {
		return fmt.Errorf("serving the control socket: %w", err)
	}
	return ctx.Err()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/inboxes", func(w http.ResponseWriter, _ *http.Request) {
		list := []Inbox{}
		for _, in := range s.Inboxes() {
			list = append(list, Inbox{in.Name(), in.Address(), in.AgentID(), in.SealingKey()})
		}
		s.write(w, list, nil)
	})
	mux.HandleFunc("GET /v1/backup", s.backup)
	s.inbox(mux, "GET /v1/inboxes/{inbox}/threads", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Threads() })
	s.inbox(mux, "GET /v1/inboxes/{inbox}/threads/{id}", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return in.Thread(r.PathValue("id"))
	})
	s.inbox(mux, "GET /v1/inboxes/{inbox}/waiting", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Waiting() })
	s.inbox(mux, "POST /v1/inboxes/{inbox}/waiting/{key}/approve", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return struct{}{}, in.Approve(r.PathValue("key"))
	})
	s.inbox(mux, "POST /v1/inboxes/{inbox}/waiting/{key}/refuse", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return struct{}{}, in.Refuse(r.PathValue("key"), r.FormValue("reason"))
	})
	s.inbox(mux, "POST /v1/inboxes/{inbox}/waiting/{key}/count", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return in.Count(r.PathValue("key"))
	})
	s.inbox(mux, "GET /v1/inboxes/{inbox}/limits", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Usage() })
	s.records(mux)
	s.agents(mux)
	s.inbox(mux, "POST /v1/inboxes/{inbox}/actions", func(in *inbox.Inbox, r *http.Request) (any, error) { return act(in.Do, r) })
	s.inbox(mux, "POST /v1/inboxes/{inbox}/proposals", func(in *inbox.Inbox, r *http.Request) (any, error) { return act(in.Propose, r) })
	s.served(mux, "GET /v1/inboxes/{inbox}/health", health)
	return mux
}

// act does the action in the body, as the owner or as the agent.
func act(do func(inbox.Action) (inbox.Done, error), r *http.Request) (any, error) {
	action, err := body[inbox.Action](r, "action")
	if err != nil {
		return nil, err
	}
	if key := r.URL.Query().Get("once"); key != "" {
		action.Once = &inbox.Once{Key: key, Hash: r.URL.Query().Get("hash")}
	}
	return do(action)
}

// inbox registers a route below one inbox.
func (s *Server) inbox(mux *http.ServeMux, pattern string, answer func(*inbox.Inbox, *http.Request) (any, error)) {
	s.served(mux, pattern, func(in Served, r *http.Request) (any, error) { return answer(in.Inbox, r) })
}

// served is inbox for a route that looks at the mailbox too.
func (s *Server) served(mux *http.ServeMux, pattern string, answer func(Served, *http.Request) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		for _, in := range s.Inboxes() {
			if in.Name() == r.PathValue("inbox") {
				value, err := answer(in, r)
				s.write(w, value, err)
				return
			}
		}
		s.write(w, nil, fmt.Errorf("%w: there is no inbox %q", inbox.ErrAction, r.PathValue("inbox")))
	})
}

// write sends a value or an error. What the caller cannot mend is told to the
// log, not to the caller.
func (s *Server) write(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	switch {
	case errors.Is(err, inbox.ErrAction):
		status, value = http.StatusBadRequest, failure{err.Error()}
	case err != nil:
		s.Log.Error("a request failed", "error", err)
		status, value = http.StatusInternalServerError, failure{"the daemon failed to do it; its log says why"}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.MarshalWrite(w, value); err != nil {
		s.Log.Debug("an answer could not be sent", "error", err)
	}
}
