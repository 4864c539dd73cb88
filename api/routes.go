package api

import (
	_ "embed"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json/jsontext"
)

// document describes all routes (OpenAPI 3.1).
//
//go:embed openapi.json
var document []byte

// route is what is answered at a method and path. Its scope is the least that a token needs.
type route struct {
	pattern string
	scope   token.Scope
	answer  func(*Handler, *call) (any, error)
}

// routes are all there are. What decides, and what changes who is trusted, is the owner's.
var routes = []route{
	{"GET /v1/openapi.json", token.Agent, func(*Handler, *call) (any, error) { return jsontext.Value(document), nil }},
	{"GET /v1/inboxes", token.Agent, listInboxes},
	{"POST /v1/check", token.Agent, checkAny},
	{"GET /v1/inboxes/{inbox}/health", token.Agent, health},
	{"GET /v1/inboxes/{inbox}/limits", token.Owner, func(_ *Handler, c *call) (any, error) { return c.in.Usage() }},

	{"POST /v1/inboxes/{inbox}/actions", token.Agent, act},
	{"GET /v1/inboxes/{inbox}/threads", token.Agent, func(_ *Handler, c *call) (any, error) { return list(c, c.in.ThreadsPage) }},
	{"GET /v1/inboxes/{inbox}/threads/{thread}", token.Agent, func(_ *Handler, c *call) (any, error) { return c.in.Thread(c.PathValue("thread")) }},
	{"GET /v1/inboxes/{inbox}/requests", token.Agent, listRequests},
	{"GET /v1/inboxes/{inbox}/requests/{request}", token.Agent, request},
	{"GET /v1/inboxes/{inbox}/tasks", token.Agent, func(_ *Handler, c *call) (any, error) { return list(c, c.in.TasksPage) }},
	{"GET /v1/inboxes/{inbox}/tasks/{task}", token.Agent, task},
	{"GET /v1/inboxes/{inbox}/messages/{message}/files/{file}", token.Agent, file},

	{"GET /v1/inboxes/{inbox}/waiting", token.Agent, listWaiting},
	{"POST /v1/inboxes/{inbox}/waiting/{key}/approve", token.Owner, func(_ *Handler, c *call) (any, error) { return nothing{}, c.in.Approve(c.PathValue("key")) }},
	{"POST /v1/inboxes/{inbox}/waiting/{key}/refuse", token.Owner, refuse},
	{"POST /v1/inboxes/{inbox}/waiting/{key}/count", token.Owner, func(_ *Handler, c *call) (any, error) { return c.in.Count(c.PathValue("key")) }},

	{"GET /v1/inboxes/{inbox}/records", token.Agent, func(_ *Handler, c *call) (any, error) { return list(c, c.in.RecordsPage) }},
	{"GET /v1/inboxes/{inbox}/records/{side}/{record}", token.Agent, recordFile},
	{"GET /v1/inboxes/{inbox}/records/{side}/{record}/check", token.Agent, checkKept},

	{"GET /v1/inboxes/{inbox}/events", token.Agent, listEvents},
	{"GET /v1/inboxes/{inbox}/events/stream", token.Agent, (*Handler).stream},

	{"GET /v1/inboxes/{inbox}/contacts", token.Agent, func(_ *Handler, c *call) (any, error) { return list(c, c.in.ContactsPage) }},
	{"PUT /v1/inboxes/{inbox}/contacts/{agent}", token.Owner, putContact},
	{"DELETE /v1/inboxes/{inbox}/contacts/{agent}", token.Owner, func(_ *Handler, c *call) (any, error) { return nothing{}, c.in.RemoveContact(c.PathValue("agent")) }},
	{"POST /v1/inboxes/{inbox}/rulings", token.Owner, rule},
}

// shownInbox is an inbox of the daemon.
type shownInbox struct {
	Name       string `json:"name"`
	Address    string `json:"address"`
	Agent      string `json:"agent_id,omitempty"`
	SealingKey string `json:"sealing_key,omitempty"` // public
}

// listInboxes lists those that the token is for.
func listInboxes(h *Handler, c *call) (any, error) {
	inboxes := []shownInbox{}
	for _, in := range h.Inboxes() {
		if c.token.May(in.Name()) {
			inboxes = append(inboxes, shownInbox{in.Name(), in.Address(), in.AgentID(), in.SealingKey()})
		}
	}
	return page[shownInbox]{Items: inboxes}, nil
}

// shownHealth is how an inbox is doing.
type shownHealth struct {
	Mailbox shownMailbox  `json:"mailbox"`
	Backlog inbox.Backlog `json:"backlog"`
}

// shownMailbox is a mailbox.Health with times in Unix seconds, 0 for never.
type shownMailbox struct {
	Connected bool   `json:"connected"`
	LastLook  int64  `json:"last_look,omitzero"`
	IdleSince int64  `json:"idle_since,omitzero"`
	Polling   bool   `json:"polling"`
	LastMail  int64  `json:"last_mail,omitzero"`
	LastError string `json:"last_error,omitempty"`
	Retries   int    `json:"retries"`
	Sessions  int    `json:"sessions"`
}

// health tells an agent that the mailbox cannot be reached, and its owner why: the reason names hosts, and files of the
// daemon's disk.
func health(_ *Handler, c *call) (any, error) {
	m := c.in.Mailbox()
	if c.token.Scope != token.Owner {
		m.LastError = ""
	}
	unix := func(t time.Time) int64 { return max(0, t.Unix()) } // the zero time is long before 1970
	backlog, err := c.in.Backlog()
	return shownHealth{shownMailbox{
		m.Connected, unix(m.LastLook), unix(m.IdleSince), m.Polling, unix(m.LastMail), m.LastError, m.Retries, m.Sessions,
	}, backlog}, err
}

// shownRequest is a request of Agent Emailing with what was answered.
type shownRequest struct {
	Request  inbox.ExchangeMessage   `json:"request"`
	Responds []inbox.ExchangeMessage `json:"responds"`
}

func request(_ *Handler, c *call) (any, error) {
	list, err := c.in.Request(c.URL.Query().Get("agent"), c.PathValue("request"))
	if err != nil {
		return nil, err
	}
	list = shown(c, list)
	return shownRequest{list[0], list[1:]}, nil
}

func task(_ *Handler, c *call) (any, error) {
	t, err := c.in.Task(c.PathValue("task"))
	return t.Elsewhere(c.in.Name()), err
}
