package inbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

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
	s.about = digest([]byte(row.Envelope))
	a := s.action
	a.Agent, a.Request = e.From, e.ID // which its event need not say later
	if asked, err := s.askFirst(a, to); err != nil || asked.Waiting != "" {
		return asked, err
	}
	signed, err := s.sign(reply, s.later(task))
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
		return done, s.answerPerson(row.Ref, row.Person, signed, s.files.bodies)
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
	task.begunBy(exchangeKey(e.From, e.ID))
	return reply, task, nil
}

// later is now, or the millisecond after the last update from here: the order
// of a task's updates is that of their times (E1).
func (s *sending) later(task *taskRow) time.Time {
	now := s.in.srv.Now()
	if task == nil {
		return now
	}
	for _, u := range task.Updates {
		if next := time.UnixMilli(u.TS + 1); u.From == s.in.set.Agent.Identity.ID() && next.After(now) {
			now = next
		}
	}
	return now
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
		if agent, err = senderOf(s.tx, id, s.in.AgentID()); err != nil {
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

// senderOf is the agent that sent a message, by the id alone; "" for none. One
// agent is left out.
func senderOf(tx *store.Tx, id, but string) (string, error) {
	var agents []string
	err := tx.Scan(tableExchanges, "", "", func(r store.Row) (bool, error) {
		agent, have, _ := strings.Cut(r.Key, "\x00")
		if have == id && agent != but {
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
