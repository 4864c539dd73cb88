package inbox

import (
	"time"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// The actions of Agent Emailing.
const (
	ActRequest    intent.Type = "request"
	ActRespond    intent.Type = "respond"
	ActCancelTask intent.Type = "cancel_task"
)

// exchange composes, signs and queues the message of an action of Agent
// Emailing.
func (in *Inbox) exchange(a Action, by mandate) (Done, error) {
	if in.set.Agent == nil {
		return Done{}, errNoAgent
	}
	files, err := in.attach(a.Files)
	if err != nil {
		return Done{}, err
	}
	var done Done
	err = in.commit(func(j *judge) (err error) {
		j.by = by
		s := sending{judge: j, action: a, files: files}
		done, err = j.once(a.Once, s.do)
		return err
	})
	return done, err
}

// do does the action, and ends the event that it answers.
func (s *sending) do() (done Done, err error) {
	switch s.action.Type {
	case ActRespond:
		done, err = s.respond()
	case ActCancelTask:
		done, err = s.cancelTask()
	default:
		done, err = s.request()
	}
	if err != nil {
		return Done{}, err
	}
	return done, s.answered(s.action.Event)
}

// sending is an action that is being done.
type sending struct {
	*judge
	action Action
	files  attachedFiles

	about    string // digest of the request that is answered
	sealedTo string // key that the body was sealed to
}

// request asks another agent for something.
func (s *sending) request() (Done, error) {
	card, to, err := s.recipient()
	if err != nil {
		return Done{}, err
	}
	s.action.Agent = card.Agent // else a name card written meanwhile names whom an approved request is for (D200)
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
	if asked, err := s.askFirst(s.action, to); err != nil || asked.Waiting != "" {
		return asked, err
	}
	signed, err := s.sign(agentmsg.Envelope{To: agent, TaskID: task, Request: r}, s.in.srv.Now())
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

// askFirst has the owner asked about an action, where the limits want it; it is
// waiting then.
func (s *sending) askFirst(a Action, to string) (Done, error) {
	_, asked, err := s.mayGo(asking{action: a, to: to, files: s.files, about: s.about, sealedTo: s.sealedTo}, func() (limits.Proposal, limits.Standing, error) {
		p := limits.Proposal{Message: intent.Message{Type: a.Type, To: intent.Recipient{Address: to}}}
		var standing limits.Standing
		return p, standing, s.standing(&standing, p, nil)
	})
	return asked, err
}

// sign signs a message that says where answers may go (E4).
func (s *sending) sign(e agentmsg.Envelope, at time.Time) (*agentmsg.Envelope, error) {
	e.Meta.Email.Address = s.in.set.Address
	signed, err := s.in.set.Agent.Identity.Compose(e, at, s.in.srv.Random)
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
	s.sealedTo = key
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
	c := agentmsg.Cancel{TaskID: task.ID, Reason: agentmsg.Reason(firstOf(s.action.Reason, string(agentmsg.ReasonUserRequested))), Note: s.action.Note, UnmetNeed: s.action.UnmetNeed, Dependency: s.action.Dependency}
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
