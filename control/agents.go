package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Requests lists the requests that an inbox received and sent, without what
// they say.
func (c *Client) Requests(ctx context.Context, name string) ([]inbox.ExchangeMessage, error) {
	return call[[]inbox.ExchangeMessage](ctx, c, http.MethodGet, path(name, "requests"), nil)
}

// Request returns a request and the responds to it. The agent that sent it may
// be "" where no two sent one of that id.
func (c *Client) Request(ctx context.Context, name, agent, id string) ([]inbox.ExchangeMessage, error) {
	return call[[]inbox.ExchangeMessage](ctx, c, http.MethodGet, path(name, "requests", id)+"?"+url.Values{"agent": {agent}}.Encode(), nil)
}

// Tasks lists the tasks of an inbox, without their messages.
func (c *Client) Tasks(ctx context.Context, name string) ([]inbox.Task, error) {
	return call[[]inbox.Task](ctx, c, http.MethodGet, path(name, "tasks"), nil)
}

// Task returns a task with its messages.
func (c *Client) Task(ctx context.Context, name, id string) (inbox.Task, error) {
	return call[inbox.Task](ctx, c, http.MethodGet, path(name, "tasks", id), nil)
}

// Contacts lists the name cards of an inbox.
func (c *Client) Contacts(ctx context.Context, name string) ([]inbox.Contact, error) {
	return call[[]inbox.Contact](ctx, c, http.MethodGet, path(name, "contacts"), nil)
}

// PutContact writes a name card.
func (c *Client) PutContact(ctx context.Context, name string, card inbox.Contact) error {
	return tell(ctx, c, http.MethodPost, path(name, "contacts"), card)
}

// RemoveContact takes the name card of an agent away.
func (c *Client) RemoveContact(ctx context.Context, name, agent string) error {
	return tell(ctx, c, http.MethodDelete, path(name, "contacts", agent), nil)
}

// Roster returns the signed roster of an inbox, null where there is none yet.
func (c *Client) Roster(ctx context.Context, name string) (jsontext.Value, error) {
	return call[jsontext.Value](ctx, c, http.MethodGet, path(name, "roster"), nil)
}

// SetRoster puts a signed roster in force.
func (c *Client) SetRoster(ctx context.Context, name string, document jsontext.Value) error {
	return tell(ctx, c, http.MethodPost, path(name, "roster"), document)
}

// Ruling is the owner's word on an agent.
type Ruling struct {
	Agent  string          `json:"agent_id"`
	Stance agentmsg.Stance `json:"stance"`
	Note   string          `json:"note,omitempty"` // the owner's; empty: the one of before
}

// Rule puts the owner's word on an agent in force.
func (c *Client) Rule(ctx context.Context, name string, r Ruling) error {
	return tell(ctx, c, http.MethodPost, path(name, "rulings"), r)
}

// Events returns events of an inbox after the one of a number, the first kept
// where it is "", at most a hundred. With wait an answer without events may
// take ten seconds.
func (c *Client) Events(ctx context.Context, name, after string, wait bool) ([]inbox.Event, error) {
	query := url.Values{"after": {after}}
	if wait {
		query.Set("wait", "true")
	}
	return call[[]inbox.Event](ctx, c, http.MethodGet, path(name, "events")+"?"+query.Encode(), nil)
}

// Settled returns what became of actions that waited for the owner.
func (c *Client) Settled(ctx context.Context, name string) ([]inbox.Event, error) {
	return call[[]inbox.Event](ctx, c, http.MethodGet, path(name, "settled"), nil)
}

// tell is call for what has no answer but that it was done.
func tell(ctx context.Context, c *Client, method, path string, body any) error {
	_, err := call[struct{}](ctx, c, method, path, body)
	return err
}

func (s *Server) agents(mux *http.ServeMux) {
	s.inbox(mux, "GET /v1/inboxes/{inbox}/requests", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Requests() })
	s.inbox(mux, "GET /v1/inboxes/{inbox}/requests/{id}", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return in.Request(r.FormValue("agent"), r.PathValue("id"))
	})
	s.inbox(mux, "GET /v1/inboxes/{inbox}/tasks", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Tasks() })
	s.inbox(mux, "GET /v1/inboxes/{inbox}/tasks/{id}", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return in.Task(r.PathValue("id"))
	})
	s.inbox(mux, "GET /v1/inboxes/{inbox}/contacts", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Contacts() })
	s.inbox(mux, "POST /v1/inboxes/{inbox}/contacts", putContact)
	s.inbox(mux, "DELETE /v1/inboxes/{inbox}/contacts/{agent}", func(in *inbox.Inbox, r *http.Request) (any, error) {
		return struct{}{}, in.RemoveContact(r.PathValue("agent"))
	})
	s.inbox(mux, "GET /v1/inboxes/{inbox}/roster", func(in *inbox.Inbox, _ *http.Request) (any, error) {
		document, err := in.Roster()
		return jsontext.Value(document), err
	})
	s.inbox(mux, "POST /v1/inboxes/{inbox}/roster", setRoster)
	s.inbox(mux, "POST /v1/inboxes/{inbox}/rulings", rule)
	s.inbox(mux, "GET /v1/inboxes/{inbox}/events", events)
	s.inbox(mux, "GET /v1/inboxes/{inbox}/settled", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Settled() })
}

func putContact(in *inbox.Inbox, r *http.Request) (any, error) {
	card, err := body[inbox.Contact](r, "name card")
	if err != nil {
		return nil, err
	}
	return struct{}{}, in.PutContact(card)
}

func setRoster(in *inbox.Inbox, r *http.Request) (any, error) {
	document, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: the roster cannot be read: %w", inbox.ErrAction, err)
	}
	return struct{}{}, in.SetRoster(document)
}

func rule(in *inbox.Inbox, r *http.Request) (any, error) {
	ruling, err := body[Ruling](r, "word on an agent")
	if err != nil {
		return nil, err
	}
	return struct{}{}, in.Decide(ruling.Agent, ruling.Stance, ruling.Note)
}

// body reads what a request says.
func body[T any](r *http.Request, what string) (value T, err error) {
	if err := json.UnmarshalRead(r.Body, &value, json.RejectUnknownMembers(true)); err != nil {
		return value, fmt.Errorf("%w: the request is no %s: %w", inbox.ErrAction, what, err)
	}
	return value, nil
}

const (
	maxEvents = 100
	eventWait = 10 * time.Second // an inbox that a reload has replaced wakes nobody
)

func events(in *inbox.Inbox, r *http.Request) (any, error) {
	after := r.FormValue("after")
	list, more, err := in.Events(after, maxEvents)
	if err != nil || len(list) > 0 || r.FormValue("wait") == "" {
		return list, err
	}
	timer := time.NewTimer(eventWait)
	defer timer.Stop()
	select {
	case <-more:
	case <-timer.C:
	case <-r.Context().Done():
	}
	list, _, err = in.Events(after, maxEvents)
	return list, err
}
