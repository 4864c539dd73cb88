package inbox

import (
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// The actions of Agent Emailing.
const (
	ActRequest    intent.Type = "request"
	ActRespond    intent.Type = "respond"
	ActCancelTask intent.Type = "cancel_task"
)

// MaxFile is the greatest file that an action may name, in bytes.
const MaxFile = 20 << 20

// exchange composes, signs and queues the message of an action of Agent
// Emailing.
func (in *Inbox) exchange(a Action) (Done, error) {
	if in.set.Agent == nil {
		return Done{}, errNoAgent
	}
	files, err := in.attach(a.Files)
	if err != nil {
		return Done{}, err
	}
	var done Done
	err = in.commit(func(j *judge) error {
		s := sending{judge: j, action: a, files: files}
		switch a.Type {
		case ActRespond:
			done, err = s.respond()
		case ActCancelTask:
			done, err = s.cancelTask()
		default:
			done, err = s.request()
		}
		if err != nil {
			return err
		}
		return j.answered(a.Event)
	})
	return done, err
}

// attachedFiles are the files of an action.
type attachedFiles struct {
	named  []agentmsg.File
	bodies map[string][]byte // by ref
}

// attach reads the files of an action.
func (in *Inbox) attach(paths []string) (attachedFiles, error) {
	files := attachedFiles{bodies: map[string][]byte{}}
	for _, path := range paths {
		body, err := readFile(path)
		if err != nil {
			return files, cannot("files: %w", err)
		}
		ref, err := emailing.NewRef(address.Of(in.set.Address), in.srv.Random)
		if err != nil {
			return files, err
		}
		file := agentmsg.File{Name: filepath.Base(path), MediaType: mediaType(path), Ref: ref}
		file.Pin(int64(len(body)), sha256.Sum256(body))
		files.named = append(files.named, file)
		files.bodies[ref] = body
	}
	return files, nil
}

// mediaType is the type of a file by its name.
func mediaType(path string) string {
	return firstOf(mime.TypeByExtension(filepath.Ext(path)), "application/octet-stream")
}

// readFile reads a regular file of at most MaxFile bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFile {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", path, MaxFile)
	}
	body, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(body) > MaxFile {
		err = fmt.Errorf("%s is longer than %d bytes", path, MaxFile)
	}
	return body, err
}

// sending is an action that is being done.
type sending struct {
	*judge
	action Action
	files  attachedFiles
}

// request asks another agent for something.
func (s *sending) request() (Done, error) {
	card, to, err := s.recipient()
	if err != nil {
		return Done{}, err
	}
	body, err := s.body(s.action.Input)
	if err != nil {
		return Done{}, err
	}
	if body, err = s.seal(body, card.SealingKey); err != nil {
		return Done{}, err
	}
	return s.ask(card.Agent, to, s.action.Task, &agentmsg.Request{Offering: s.action.Offering, Input: body, Files: s.files.named})
}

// ask signs and mails a request.
func (s *sending) ask(agent, to, task string, r *agentmsg.Request) (Done, error) {
	signed, err := s.sign(agentmsg.Envelope{To: agent, TaskID: task, Request: r})
	if err != nil {
		return Done{}, err
	}
	if err := s.keepRequest(signed, to); err != nil {
		return Done{}, err
	}
	if err := s.mailEnvelope(signed, r.Offering, to, "", s.files.bodies); err != nil {
		return Done{}, err
	}
	return Done{ID: signed.ID, To: to, Task: task}, nil
}

// sign signs a message that says where answers may go (E4).
func (s *sending) sign(e agentmsg.Envelope) (*agentmsg.Envelope, error) {
	e.Meta.Email.Address = s.in.set.Address
	signed, err := s.in.set.Agent.Identity.Compose(e, s.in.srv.Now(), s.in.srv.Random)
	if err != nil {
		return nil, cannot("%w", err)
	}
	return signed, s.event(Event{
		Kind: KindSent, Message: signed.Bytes(),
		Result: Result{ID: signed.ID, Exchange: &Exchange{From: signed.From, Kind: signed.Type}},
	}, false)
}

// recipient is the name card of who is asked, and the address that the mail
// goes to. An agent without a card needs an address.
func (s *sending) recipient() (Contact, string, error) {
	agent, to := s.action.Agent, s.action.To
	if to != "" {
		parsed, err := address.Parse(to)
		if err != nil {
			return Contact{}, "", cannot("to: %w", err)
		}
		to = parsed
	}
	if agent == "" && to != "" {
		var err error
		if agent, err = s.agentAt(to); err != nil {
			return Contact{}, "", err
		}
	}
	if !agentmsg.IsID(agent) {
		return Contact{}, "", cannot("agent: say which agent is asked: its id, or the address on its name card (`agentmaild contacts list`)")
	}
	card, err := s.contact(agent)
	if err != nil {
		return Contact{}, "", err
	}
	if card == nil {
		card = &Contact{Agent: agent}
	}
	if to == "" && len(card.Addresses) > 0 {
		to = card.Addresses[0]
	}
	switch to {
	case "":
		return *card, "", cannot("to: agent %s has no name card: say its address, or write one with `agentmaild contacts put`", agent)
	case s.in.set.Address:
		return *card, "", cannot("to: that is this inbox itself")
	}
	return *card, to, nil
}

// body is the input or output of an action.
func (s *sending) body(value jsontext.Value) (jsontext.Value, error) {
	if s.action.Text == "" {
		return value, nil
	}
	if value != nil {
		return nil, cannot("text: leave it out where there is an input or output")
	}
	return agentmsg.Chat(s.action.Text)
}

// seal seals a body where the key of who it is for is known.
func (s *sending) seal(body jsontext.Value, key string) (jsontext.Value, error) {
	if body == nil || key == "" {
		return body, nil
	}
	sealed, err := agentmsg.Seal(body, key, s.in.set.Agent.Sealing.Public(), s.in.srv.Random)
	if err != nil {
		return nil, cannot("sealing: %w", err)
	}
	return sealed, nil
}

// keepRequest stores a request of ours, and the task that it goes on with.
func (j *judge) keepRequest(signed *agentmsg.Envelope, to string) error {
	row := j.sentRow(signed, signed.Request.Offering, to)
	var task *taskRow
	if signed.TaskID != "" {
		task = &taskRow{Task: threads.NewTask(signed.TaskID, signed.From, signed.To), Offering: row.Offering}
		known, err := j.tx.Get(tableTasks, signed.TaskID, task)
		if err != nil {
			return err
		}
		if known && (task.Asker != signed.From || task.Asked != signed.To) {
			return cannot("task: %s is not one that %s was asked for", signed.TaskID, signed.To)
		}
		row.Task = signed.TaskID
	}
	return j.putExchange(exchangeKey(signed.From, signed.ID), row, task)
}

// cancelTask asks who does a task to end it.
func (s *sending) cancelTask() (Done, error) {
	var task taskRow
	known, err := s.tx.Get(tableTasks, s.action.Task, &task)
	if err != nil {
		return Done{}, err
	}
	switch {
	case s.action.Task == "" || !known:
		return Done{}, cannot("task: %q is not known here: see `agentmaild task list`", s.action.Task)
	case task.Asker != s.in.set.Agent.Identity.ID():
		return Done{}, cannot("task: %s was asked of this agent: respond with status canceled", s.action.Task)
	case task.State.Final():
		return Done{}, cannot("task: %s is %s already", s.action.Task, task.State)
	}
	var asked exchangeRow
	for _, key := range task.Messages { // the address that was asked last
		var row exchangeRow
		if _, err := s.tx.Get(tableExchanges, key, &row); err != nil {
			return Done{}, err
		}
		if row.Address != "" {
			asked = row
		}
	}
	to, err := s.addressOf(task.Asked, asked.Address)
	if err != nil {
		return Done{}, err
	}
	c := agentmsg.Cancel{TaskID: task.ID, Reason: agentmsg.Reason(firstOf(s.action.Reason, string(agentmsg.ReasonUserRequested))), Note: s.action.Note}
	r, err := c.Request()
	if err != nil {
		return Done{}, cannot("%w", err)
	}
	return s.ask(task.Asked, to, task.ID, r)
}

// addressOf is the address on an agent's name card, else another.
func (j *judge) addressOf(agent, other string) (string, error) {
	card, err := j.contact(agent)
	if err != nil || card == nil || len(card.Addresses) == 0 {
		return other, err
	}
	return card.Addresses[0], nil
}

// respond answers a request.
func (s *sending) respond() (Done, error) {
	key, row, err := s.requestNamed()
	if err != nil {
		return Done{}, err
	}
	e, err := agentmsg.Parse([]byte(row.Envelope))
	if err != nil {
		return Done{}, fmt.Errorf("reading a request: %w", err)
	}
	m := &errand{envelope: e, ref: row.Ref, person: row.Person}
	to, err := s.answerAddress(m)
	if err != nil {
		return Done{}, err
	}
	if to == "" {
		return Done{}, cannot("request: its sender %s has no address: write its name card with `agentmaild contacts put`", e.From)
	}
	reply, task, err := s.reply(e, &row)
	if err != nil {
		return Done{}, err
	}
	signed, err := s.sign(reply)
	if err != nil {
		return Done{}, err
	}
	row.Answer, row.Task = signed.Respond.Status, firstOf(row.Task, signed.TaskID)
	if err := s.tx.Put(tableExchanges, key, row); err != nil {
		return Done{}, err
	}
	if err := s.keepRespond(signed, row.Offering, to, task); err != nil {
		return Done{}, err
	}
	done := Done{ID: signed.ID, To: to, Task: signed.TaskID}
	if row.Person != "" {
		return done, s.queue(s.plainAnswer(row.Ref, row.Person, signed), letterRow{ID: signed.ID, Kind: signed.Type})
	}
	return done, s.mailEnvelope(signed, row.Offering, to, row.Ref.MessageID, s.files.bodies)
}

// reply is the respond to a request, and the task that it is an update of.
func (s *sending) reply(e *agentmsg.Envelope, row *exchangeRow) (agentmsg.Envelope, *taskRow, error) {
	a := s.action
	status := a.Status
	if status == "" {
		status = agentmsg.StatusCompleted
	}
	body, err := s.body(a.Output)
	if err != nil {
		return agentmsg.Envelope{}, nil, err
	}
	if body, err = s.sealReply(e, body); err != nil {
		return agentmsg.Envelope{}, nil, err
	}
	reply := e.Reply(agentmsg.Respond{Status: status, Output: body, Artifacts: s.artifacts(), Error: a.Error})
	reply.TaskID = firstOf(row.Task, e.TaskID)
	if reply.TaskID == "" && !status.Final() && status != agentmsg.StatusAccepted {
		if reply.TaskID, err = agentmsg.NewID(s.in.srv.Now(), s.in.srv.Random); err != nil {
			return reply, nil, err
		}
	}
	switch {
	case reply.TaskID == "" && row.Answer.Final():
		return reply, nil, cannot("request: it was answered already: %s", row.Answer)
	case reply.TaskID == "" || status == agentmsg.StatusAccepted:
		return reply, nil, nil
	}
	task := &taskRow{Task: threads.NewTask(reply.TaskID, e.From, s.in.set.Agent.Identity.ID()), Offering: row.Offering}
	if _, err := s.tx.Get(tableTasks, reply.TaskID, task); err != nil {
		return reply, nil, err
	}
	if task.State.Final() {
		return reply, nil, cannot("request: its task %s is %s already", reply.TaskID, task.State)
	}
	if !slices.Contains(task.Messages, exchangeKey(e.From, e.ID)) {
		task.Messages = append(task.Messages, exchangeKey(e.From, e.ID))
	}
	return reply, task, nil
}

// sealReply seals an output to who sealed its request. Where no key of theirs
// is known it is not sent in clear (D128).
func (s *sending) sealReply(e *agentmsg.Envelope, body jsontext.Value) (jsontext.Value, error) {
	card, err := s.contact(e.From)
	if err != nil || body == nil || !agentmsg.IsSealed(e.Body()) {
		return body, err
	}
	published := ""
	if card != nil {
		published = card.SealingKey
	}
	key, ok := e.ReplyKey(published)
	if !ok {
		return nil, cannot("request: it was sealed, and its answer cannot be: put the sealing key of %s on its name card", e.From)
	}
	return s.seal(body, key)
}

// artifacts are the files of an answer.
func (s *sending) artifacts() []agentmsg.Artifact {
	var list []agentmsg.Artifact
	for i, file := range s.files.named {
		list = append(list, agentmsg.Artifact{
			ID: fmt.Sprintf("file-%d", i+1), Name: file.Name, MediaType: file.MediaType, Parts: []agentmsg.Part{{File: file}},
		})
	}
	return list
}

// keepRespond stores a respond of ours, and moves the task that it updates.
func (j *judge) keepRespond(signed *agentmsg.Envelope, offering, to string, task *taskRow) error {
	row := j.sentRow(signed, offering, to)
	row.Task = signed.TaskID
	if task != nil {
		update := threads.Update{ID: signed.ID, From: signed.From, TS: signed.Time.UnixMilli(), State: signed.Respond.Status}
		next, _, err := threads.UpdateTask(task.Task, update)
		if err != nil {
			return cannot("%w", err)
		}
		if next.State != signed.Respond.Status {
			return cannot("status: a task that is %s cannot become %s", task.State, signed.Respond.Status)
		}
		task.Task = next
	}
	return j.putExchange(exchangeKey(signed.From, signed.ID), row, task)
}

// requestNamed finds the request that an action answers: the one of its event,
// or the one that it names. Ids are their senders' own, so that two may be the
// same.
func (s *sending) requestNamed() (string, exchangeRow, error) {
	agent, id := s.action.Agent, s.action.Request
	if s.action.Event != "" && id == "" {
		var e Event
		if _, err := s.tx.Get(tableEvents, s.action.Event, &e); err != nil {
			return "", exchangeRow{}, err
		}
		if e.Exchange != nil {
			agent, id = e.Exchange.From, e.ID
		}
	}
	if agent == "" {
		var err error
		if agent, err = s.senderOf(id); err != nil {
			return "", exchangeRow{}, err
		}
	}
	key := exchangeKey(agent, id)
	var row exchangeRow
	known, err := s.tx.Get(tableExchanges, key, &row)
	if err == nil && (!known || row.Kind != agentmsg.TypeRequest || agent == s.in.set.Agent.Identity.ID()) {
		err = cannot("request: %q is no request to this agent: see `agentmaild request list`", id)
	}
	return key, row, err
}

// senderOf is the agent that sent a message to this one, by the id alone.
func (j *judge) senderOf(id string) (string, error) {
	var agents []string
	err := j.tx.Scan(tableExchanges, "", "", func(r store.Row) (bool, error) {
		agent, have, _ := strings.Cut(r.Key, "\x00")
		if have == id && agent != j.in.set.Agent.Identity.ID() {
			agents = append(agents, agent)
		}
		return true, nil
	})
	if err == nil && len(agents) > 1 {
		err = cannot("request: %d agents sent a message of that id: say which agent", len(agents))
	}
	if err != nil || len(agents) == 0 {
		return "", err
	}
	return agents[0], nil
}

// sentExchange takes a message of Agent Emailing that was sent earlier into the
// store (D67).
func (in *Inbox) sentExchange(raw []byte, to string) error {
	e, err := agentmsg.Parse(raw)
	if err != nil {
		return cannot("%w", err)
	}
	if e.From != in.set.Agent.Identity.ID() {
		return cannot("the message is of agent %s, not of this inbox", e.From)
	}
	return in.commit(func(j *judge) error {
		if e.Request != nil {
			return j.keepRequest(e, to)
		}
		var asked exchangeRow
		if _, err := j.tx.Get(tableExchanges, exchangeKey(e.To, e.InReplyTo), &asked); err != nil {
			return err
		}
		var task *taskRow
		if e.TaskID != "" && e.Respond.Status != agentmsg.StatusAccepted {
			task = &taskRow{Task: threads.NewTask(e.TaskID, e.To, e.From), Offering: asked.Offering}
			if _, err := j.tx.Get(tableTasks, e.TaskID, task); err != nil {
				return err
			}
		}
		return j.keepRespond(e, asked.Offering, to, task)
	})
}

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
