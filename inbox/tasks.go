package inbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Task is a task as the owner sees it.
type Task struct {
	threads.Task
	Offering string            `json:"offering"`
	At       int64             `json:"at"` // of its last message, Unix seconds
	Messages []ExchangeMessage `json:"messages,omitempty"`
}

// ExchangeMessage is a message of Agent Emailing held here.
type ExchangeMessage struct {
	ID       string          `json:"id"`
	From     string          `json:"from"`         // agent id
	To       string          `json:"to,omitempty"` // agent id, of one from here
	Kind     agentmsg.Type   `json:"kind"`
	Offering string          `json:"offering,omitempty"`
	Person   string          `json:"person,omitempty"`
	Task     string          `json:"task,omitempty"`
	At       int64           `json:"at"`               // arrival or sending, Unix seconds
	Answer   agentmsg.Status `json:"answer,omitempty"` // of a request: the last
	Delivery *Delivery       `json:"delivery,omitempty"`
	Files    []ReceivedFile  `json:"files,omitempty"`
	Message  jsontext.Value  `json:"message,omitempty"` // as signed; text from outside
	Body     jsontext.Value  `json:"body,omitempty"`    // input or output, opened where it was sealed to this agent
	Text     string          `json:"text,omitempty"`    // of the body; text from outside
	Framed   string          `json:"framed,omitempty"`  // Text, fenced and framed for a model (§22.6)
}

// Tasks lists the tasks, without their messages.
func (in *Inbox) Tasks() ([]Task, error) { return whole(in.TasksPage) }

// TasksPage lists tasks as ThreadsPage does threads.
func (in *Inbox) TasksPage(after string, limit int) ([]Task, string, error) {
	return page(in, tableTasks, after, limit, func(_ *store.Tx, r store.Row) (Task, bool, error) {
		var row taskRow
		err := r.Decode(&row)
		return Task{Task: row.Task, Offering: row.Offering, At: row.At}, true, err
	})
}

// Task returns one task with its messages; ErrAction when it is unknown.
func (in *Inbox) Task(id string) (Task, error) {
	var t Task
	err := in.view(func(tx *store.Tx) error {
		var row taskRow
		known := false
		if id != "" {
			var err error
			if known, err = tx.Get(tableTasks, id, &row); err != nil {
				return err
			}
		}
		if !known {
			return unknown("task %q is not known here: see `agentmaild task list`", id)
		}
		t = Task{Task: row.Task, Offering: row.Offering, At: row.At}
		for _, key := range row.Messages {
			var m exchangeRow
			if _, err := tx.Get(tableExchanges, key, &m); err != nil {
				return err
			}
			shown, err := in.shown(key, &m)
			if err != nil {
				return err
			}
			t.Messages = append(t.Messages, shown)
		}
		return nil
	})
	return t, err
}

// Requests lists the requests that were received and sent, without what they
// say, oldest first of each agent.
func (in *Inbox) Requests() ([]ExchangeMessage, error) { return whole(in.RequestsPage) }

// RequestsPage lists requests as ThreadsPage does threads.
func (in *Inbox) RequestsPage(after string, limit int) ([]ExchangeMessage, string, error) {
	return page(in, tableExchanges, after, limit, func(_ *store.Tx, r store.Row) (ExchangeMessage, bool, error) {
		var m exchangeRow
		err := r.Decode(&m)
		if err != nil || m.Kind != agentmsg.TypeRequest {
			return ExchangeMessage{}, false, err
		}
		return m.message(strings.Clone(r.Key)), true, nil
	})
}

// Request returns a request that was received or sent, and the responds to it,
// in the order of their ids. The agent that sent it may be "" where no two sent
// one of that id. ErrAction when it is unknown.
func (in *Inbox) Request(agent, id string) ([]ExchangeMessage, error) {
	var list []ExchangeMessage
	err := in.view(func(tx *store.Tx) error {
		if agent == "" {
			var err error
			if agent, err = senderOf(tx, id, ""); err != nil {
				return err
			}
		}
		var row exchangeRow
		key := exchangeKey(agent, id)
		known, err := tx.Get(tableExchanges, key, &row)
		if err != nil {
			return err
		}
		if !known || row.Kind != agentmsg.TypeRequest {
			return unknown("request %q is not known here: see `agentmaild request list`", id)
		}
		request, err := in.shown(key, &row)
		if err != nil {
			return err
		}
		list = []ExchangeMessage{request}
		from := row.To
		if agent != in.AgentID() {
			from = in.AgentID()
		}
		return in.responds(tx, from, id, &list)
	})
	return list, err
}

// responds finds what an agent answered to a request.
func (in *Inbox) responds(tx *store.Tx, agent, request string, list *[]ExchangeMessage) error {
	return tx.Scan(tableExchanges, exchangeKey(agent, ""), "", func(r store.Row) (bool, error) {
		var row exchangeRow
		if err := r.Decode(&row); err != nil || row.Kind != agentmsg.TypeRespond {
			return err == nil, err
		}
		var named struct {
			InReplyTo string `json:"in_reply_to"`
		}
		if err := json.Unmarshal([]byte(row.Envelope), &named); err != nil || named.InReplyTo != request {
			return err == nil, err
		}
		shown, err := in.shown(strings.Clone(r.Key), &row)
		*list = append(*list, shown)
		return true, err
	})
}

// shown is a message with what it says.
func (in *Inbox) shown(key string, row *exchangeRow) (ExchangeMessage, error) {
	m := row.message(key)
	m.Message = jsontext.Value(row.Envelope)
	opened, err := in.opened(m.Message)
	if err != nil {
		return m, fmt.Errorf("reading a message: %w", err)
	}
	m.Body, m.Text = opened.Body(), opened.Text()
	_, m.Framed, err = opened.Framed(time.UnixMilli(row.At), agentmsg.Names{})
	return m, err
}

// opened is a signed message whose body is read where it was sealed to this
// agent. Another stays as it is.
func (in *Inbox) opened(message jsontext.Value) (*agentmsg.Envelope, error) {
	e, err := agentmsg.Parse(message)
	if err != nil || in.set.Agent == nil {
		return e, err
	}
	if opened, err := e.Open(in.set.Agent.Sealing); err == nil {
		return opened, nil
	}
	return e, nil
}

// Body is the input or output of a message of Agent Emailing, opened where it
// was sealed to this agent; nil where it has none.
func (in *Inbox) Body(message jsontext.Value) (jsontext.Value, error) {
	e, err := in.opened(message)
	if err != nil {
		return nil, err
	}
	return e.Body(), nil
}

// message is a message without what it says.
func (m *exchangeRow) message(key string) ExchangeMessage {
	from, id, _ := strings.Cut(key, "\x00")
	v := ExchangeMessage{
		ID: id, From: from, To: m.To, Kind: m.Kind, Offering: m.Offering, Person: m.Person, Task: m.Task, At: m.At / 1000,
		Answer: m.Answer, Files: m.Files,
	}
	switch {
	case m.Address == "":
	case m.Stuck != nil:
		v.Delivery = m.Stuck
	case m.SentAt != 0:
		v.Delivery = &Delivery{State: DeliverySent, At: m.SentAt}
	default:
		v.Delivery = &Delivery{State: DeliveryQueued, At: m.At / 1000}
	}
	return v
}
