package inbox

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
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
	From     string          `json:"from"` // agent id
	Kind     agentmsg.Type   `json:"kind"`
	Offering string          `json:"offering,omitempty"`
	Person   string          `json:"person,omitempty"`
	Task     string          `json:"task,omitempty"`
	At       int64           `json:"at"`               // arrival or sending, Unix seconds
	Answer   agentmsg.Status `json:"answer,omitempty"` // of a request: the last
	Delivery *Delivery       `json:"delivery,omitempty"`
	Files    []ReceivedFile  `json:"files,omitempty"`
	Message  jsontext.Value  `json:"message"` // as signed; text from outside
}

// Tasks lists the tasks, without their messages.
func (in *Inbox) Tasks() ([]Task, error) {
	var list []Task
	err := in.view(func(tx *store.Tx) error {
		return tx.Scan(tableTasks, "", "", func(r store.Row) (bool, error) {
			var row taskRow
			err := r.Decode(&row)
			list = append(list, Task{Task: row.Task, Offering: row.Offering, At: row.At})
			return true, err
		})
	})
	return list, err
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
			return cannot("task %q is not known here: see `agentmaild task list`", id)
		}
		t = Task{Task: row.Task, Offering: row.Offering, At: row.At}
		for _, key := range row.Messages {
			var m exchangeRow
			if _, err := tx.Get(tableExchanges, key, &m); err != nil {
				return err
			}
			t.Messages = append(t.Messages, m.message(key))
		}
		return nil
	})
	return t, err
}

// Requests lists the messages that were received and sent, oldest first of
// each agent.
func (in *Inbox) Requests() ([]ExchangeMessage, error) {
	var list []ExchangeMessage
	err := in.view(func(tx *store.Tx) error {
		return tx.Scan(tableExchanges, "", "", func(r store.Row) (bool, error) {
			var m exchangeRow
			if err := r.Decode(&m); err != nil {
				return false, err
			}
			if m.Kind == agentmsg.TypeRequest {
				list = append(list, m.message(strings.Clone(r.Key)))
			}
			return true, nil
		})
	})
	return list, err
}

func (m *exchangeRow) message(key string) ExchangeMessage {
	from, id, _ := strings.Cut(key, "\x00")
	v := ExchangeMessage{
		ID: id, From: from, Kind: m.Kind, Offering: m.Offering, Person: m.Person, Task: m.Task, At: m.At / 1000,
		Answer: m.Answer, Files: m.Files, Message: jsontext.Value(m.Envelope),
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
