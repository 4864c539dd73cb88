// Package api answers programs over HTTP: JSON under /v1, described by the OpenAPI document that it serves. Whoever asks
// needs a token, and its scope says whose word the request is: an agent's is held to the owner's limits and decides nothing
// that waits.
package api

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/agentmaild/agentmaild/envelope/inert"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json"
)

// maxBody bounds what a request says, in bytes.
const maxBody = 1 << 20

// Source is an inbox with how its mailbox is doing.
type Source struct {
	*inbox.Inbox
	Mailbox func() mailbox.Health
}

// Services are what the API uses.
type Services struct {
	Inboxes func() []Source         // those of now: they change while it answers
	Tokens  *token.Ring             // who may ask
	Keys    func() record.KeySource // for records that somebody has checked
	Log     *slog.Logger
}

// Handler answers everything under /v1/.
type Handler struct {
	Services
	mux     *http.ServeMux
	streams streams
	checks  chan struct{} // slots for checks, which ask the network
}

// maxChecks is how many records are checked at once.
const maxChecks = 4

// New makes the API.
func New(s Services) *Handler {
	h := &Handler{Services: s, mux: http.NewServeMux(), checks: make(chan struct{}, maxChecks)}
	for _, r := range routes {
		h.mux.HandleFunc(r.pattern, func(w http.ResponseWriter, request *http.Request) { h.answer(w, request, r) })
	}
	return h
}

// call is a request by somebody who may make it.
type call struct {
	*http.Request
	w      http.ResponseWriter
	secret string
	token  token.Token
	in     Source // where the route names an inbox
}

// ServeHTTP is that of an http.Handler. Nothing is told to who brings no token, not even what is there.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if _, ok := h.Tokens.Check(token.Bearer(r)); !ok {
		h.fail(w, h.unauthorized(r))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if other, pattern := h.mux.Handler(r); pattern == "" {
		h.fail(w, elsewhere(other, r))
		return
	}
	h.mux.ServeHTTP(w, r)
}

// unauthorized is the refusal of a request without a token that counts (RFC 6750 §3).
func (h *Handler) unauthorized(r *http.Request) error {
	challenge, detail := `Bearer realm="agentmaild"`, "bring a token in the header, as Authorization: Bearer amt_…"
	if token.Bearer(r) != "" {
		challenge, detail = challenge+`, error="invalid_token"`, "no such token, or it was revoked"
	}
	if err := h.Tokens.Err(); err != nil {
		h.Log.Error("nobody is let in by a token", "error", err)
	}
	return &refusal{status: http.StatusUnauthorized, code: codeUnauthorized, detail: detail, header: [2]string{"WWW-Authenticate", challenge}}
}

// elsewhere is the refusal of what no route is for. The mux knows which methods there are.
func elsewhere(other http.Handler, r *http.Request) error {
	heard := &heard{header: http.Header{}}
	other.ServeHTTP(heard, r)
	if allow := heard.header.Get("Allow"); allow != "" {
		return &refusal{status: http.StatusMethodNotAllowed, code: codeMethod, detail: "there are " + allow, header: [2]string{"Allow", allow}}
	}
	return &refusal{status: http.StatusNotFound, code: codeNotFound, detail: "there is nothing at this path: see /v1/openapi.json"}
}

// heard is the head of an answer.
type heard struct{ header http.Header }

func (h *heard) Header() http.Header            { return h.header }
func (h *heard) Write(text []byte) (int, error) { return len(text), nil }
func (h *heard) WriteHeader(int)                {}

// answer finds out whether a request may be made, has it answered, and writes the answer.
func (h *Handler) answer(w http.ResponseWriter, request *http.Request, r route) {
	c := &call{Request: request, w: w, secret: token.Bearer(request)}
	err := h.allow(c, r.scope)
	if err == nil {
		err = asked(request, r.pattern)
	}
	var value any
	if err == nil {
		value, err = r.answer(h, c)
	}
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		h.Log.Info("asked over the API", "token", c.token.Name, "route", r.pattern, "inbox", request.PathValue("inbox"), "done", err == nil)
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	h.write(w, value)
}

// allow tells who asks, and finds the inbox that the route names.
func (h *Handler) allow(c *call, scope token.Scope) error {
	var ok bool
	if c.token, ok = h.Tokens.Check(c.secret); !ok {
		return h.unauthorized(c.Request) // revoked just now
	}
	if !listen.Welcome(c.Request, c.token.Scope == token.Owner) {
		return tooMuch(http.StatusServiceUnavailable, "agents ask too much at once: try again soon")
	}
	if scope == token.Owner && c.token.Scope != token.Owner {
		return &refusal{
			status: http.StatusForbidden, code: codeForbidden, detail: "this is for the owner: it takes a token of the scope owner",
			header: [2]string{"WWW-Authenticate", `Bearer realm="agentmaild", error="insufficient_scope", scope="owner"`},
		}
	}
	name := c.PathValue("inbox")
	if name == "" {
		return nil
	}
	if c.in, ok = h.inbox(c.token, name); !ok {
		return &refusal{status: http.StatusNotFound, code: codeNotFound, detail: fmt.Sprintf("there is no inbox %q for this token", name)}
	}
	return nil
}

// inbox finds an inbox. One that is not for the token is as if it were not there.
func (h *Handler) inbox(t token.Token, name string) (Source, bool) {
	for _, in := range h.Inboxes() {
		if in.Name() == name && t.May(name) {
			return in, true
		}
	}
	return Source{}, false
}

// Answers beside those that are sent as JSON with the status 200.
type (
	waits   struct{ value any } // 202: the owner is asked first
	nothing struct{}            // 204
	sent    struct{}            // it was answered already
)

// write sends an answer.
func (h *Handler) write(w http.ResponseWriter, value any) {
	status := http.StatusOK
	switch v := value.(type) {
	case sent:
		return
	case nothing:
		w.WriteHeader(http.StatusNoContent)
		return
	case waits:
		status, value = http.StatusAccepted, v.value
	}
	h.send(w, status, "application/json", value)
}

func (h *Handler) send(w http.ResponseWriter, status int, kind string, value any) {
	text, err := json.Marshal(value)
	if err != nil { // before anything is sent
		h.Log.Error("an answer cannot be written", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	if _, err := w.Write(append(inert.JSON(text), '\n')); err != nil {
		h.Log.Debug("an answer could not be sent", "error", err)
	}
}
