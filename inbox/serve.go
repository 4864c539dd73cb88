package inbox

import (
	"errors"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// act does what a message asks that may come in. A body that was sealed is
// read first; which must be, and what becomes of one that does not open, is
// D152.
func (j *judge) act(m *errand) (Result, error) {
	agent := j.in.set.Agent
	opened, err := m.envelope.Open(agent.Sealing)
	if err != nil {
		return refused(CodeSealing, "its body is sealed to another key, or broken"), nil
	}
	m.opened = opened
	if m.envelope.Respond != nil {
		return j.responded(m)
	}
	if agent.Sealed && m.person == "" && !m.passes() && !agentmsg.IsSealed(m.envelope.Body()) {
		return j.refuse(m, CodeSealing, "its body is not sealed", agentmsg.SealingRequired)
	}
	switch offering := m.envelope.Request.Offering; {
	case m.person != "":
		return j.requested(m)
	case offering == agentmsg.OfferingDescribe:
		return j.describe(m)
	case offering == agentmsg.OfferingKnock:
		return j.knock(m)
	case offering == agentmsg.OfferingCancel:
		return j.cancel(m)
	case !agent.offers(offering):
		r := Result{Verdict: Accepted, Reason: "the agent does not offer that"}
		return r, j.answerError(m, &r, agentmsg.OfferingNotFound)
	default:
		return j.requested(m)
	}
}

// refuse refuses a message, and mails why.
func (j *judge) refuse(m *errand, code Code, reason string, answer agentmsg.ErrorCode) (Result, error) {
	r := refused(code, reason)
	return r, j.answerError(m, &r, answer)
}

// describe answers with the public block, in everybody's hearing.
func (j *judge) describe(m *errand) (Result, error) {
	r := Result{Verdict: Accepted}
	output, err := j.in.describe()
	if err != nil {
		return r, err
	}
	return r, j.answerOK(m, &r, agentmsg.Respond{Status: agentmsg.StatusCompleted, Output: output}, "")
}

// describe is the configured block, or what any agent says of itself.
func (in *Inbox) describe() (jsontext.Value, error) {
	agent := in.set.Agent
	if agent.Describe != nil {
		return agent.Describe, nil
	}
	return json.Marshal(struct {
		AgentID    string   `json:"agent_id"`
		Name       string   `json:"name,omitzero"`
		Addresses  []string `json:"addresses"`
		Offerings  []string `json:"offerings"`
		SealingKey string   `json:"sealing_key,omitzero"`
	}{
		agent.Identity.ID(), in.set.Sender,
		[]string{in.set.Address},
		slices.Concat([]string{agentmsg.OfferingChat}, agent.Offerings), agent.Sealing.Public(),
	})
}

// knockAnswer is what every knocker hears, whatever the roster says: the answer
// tells nobody where it stands.
const knockAnswer = "Your knock has arrived. The owner of this agent decides who is admitted."

// maxKnock is how much of a knock's text the owner is shown, in bytes.
const maxKnock = 1000

// knock shows the owner who wants to come in. Where too many wait already the
// log alone does.
func (j *judge) knock(m *errand) (Result, error) {
	r := Result{Verdict: Accepted}
	stance, err := j.stance(m)
	listed := true
	if err == nil && stance == agentmsg.StanceHold {
		listed, err = j.putKnock(m)
	}
	if err != nil {
		return r, err
	}
	if !listed {
		r.Reason = "not listed: too many knocks wait already"
	}
	output, err := agentmsg.Chat(knockAnswer)
	if err != nil {
		return r, err
	}
	return r, j.answerOK(m, &r, agentmsg.Respond{Status: agentmsg.StatusCompleted, Output: output}, "")
}

// putKnock puts a knock on the waiting list, where there is room. One that
// waits already stays as it is.
func (j *judge) putKnock(m *errand) (listed bool, err error) {
	from := m.envelope.From
	known, err := j.tx.Get(tableKnocks, from, &knockRow{})
	if err != nil || known {
		return known, err
	}
	if fits, err := j.share(from, claim{knocksWaiting, 1}); err != nil || !fits {
		return false, err
	}
	at := m.arrival
	if err := j.tx.Put(tableDue, dueKey(at.Add(doorKeep).Unix(), "knock/"+from), struct{}{}); err != nil {
		return false, err
	}
	text := m.opened.Text()
	return true, j.tx.Put(tableKnocks, from, knockRow{
		At: at.Unix(), Text: strings.ToValidUTF8(text[:min(len(text), maxKnock)], ""), Address: m.address(),
	})
}

// endKnock takes a knock off the waiting list.
func (j *judge) endKnock(from string) error {
	known, err := j.tx.Get(tableKnocks, from, &knockRow{})
	if err != nil || !known {
		return err
	}
	if err := j.giveBack(from, claim{knocksWaiting, 1}); err != nil {
		return err
	}
	return j.tx.Delete(tableKnocks, from)
}

// cancel ends a task of ours at the word of who asked for it. That another
// agent asks is seen before (D119).
func (j *judge) cancel(m *errand) (Result, error) {
	c, err := agentmsg.ParseCancel(m.opened)
	if err != nil {
		return j.refuse(m, CodeCancel, err.Error(), agentmsg.InvalidEnvelope)
	}
	var row taskRow
	known, err := j.tx.Get(tableTasks, c.TaskID, &row)
	if err != nil {
		return Result{}, err
	}
	if !known {
		return j.refuse(m, CodeCancel, "there is no such task", agentmsg.TaskNotFound)
	}
	row.Task, err = threads.CancelTask(row.Task, m.update())
	switch {
	case errors.Is(err, threads.ErrStranger): // its body was sealed
		return refused(CodeStranger, "the task was asked by another agent"), nil
	case errors.Is(err, threads.ErrFinished):
		return j.refuse(m, CodeCancel, "the task has ended already", agentmsg.TaskNotCancelable)
	case err != nil:
		return refused(CodeOverfull, err.Error()), nil
	}
	m.ask = true
	if err := j.keepExchange(m, &row, exchangeRow{}); err != nil {
		return Result{}, err
	}
	r := Result{Verdict: Accepted}
	return r, j.answerOK(m, &r, agentmsg.Respond{Status: agentmsg.StatusCanceled}, row.ID)
}

// update is what a message does to a task.
func (m *errand) update() threads.Update {
	e := m.envelope
	u := threads.Update{ID: e.ID, From: e.From, TS: e.Time.UnixMilli()}
	if e.Respond != nil {
		u.State = e.Respond.Status
	}
	return u
}

// requested hands a request to the agent. One that names a task goes on with
// it, or begins it where there is none (D123). The messages of a task are
// bounded (D192).
func (j *judge) requested(m *errand) (Result, error) {
	e := m.envelope
	var task *taskRow
	if e.TaskID != "" {
		task = &taskRow{Task: threads.NewTask(e.TaskID, e.From, j.in.set.Agent.Identity.ID()), Offering: e.Request.Offering}
		if _, err := j.tx.Get(tableTasks, e.TaskID, task); err != nil {
			return Result{}, err
		}
		if len(task.Messages) >= maxThread {
			return refused(CodeOverfull, "the task has had as many messages as fit"), nil
		}
	}
	if fits, err := j.spooled(m); err != nil || !fits {
		return refused(CodeOverfull, "too many bytes of files are kept of its sender"), err
	}
	if err := j.pin(m); err != nil {
		return Result{}, err
	}
	m.ask, m.keeps = true, true
	return Result{Verdict: Accepted}, j.keepExchange(m, task, exchangeRow{Offering: e.Request.Offering, Ref: m.ref, Person: m.person})
}

// request is the request of ours that a respond answers. The Result is not
// zero where there is none, or another agent was asked.
func (j *judge) request(e *agentmsg.Envelope) (exchangeRow, Result, error) {
	var asked exchangeRow
	known, err := j.tx.Get(tableExchanges, exchangeKey(j.in.set.Agent.Identity.ID(), e.InReplyTo), &asked)
	switch {
	case err != nil:
		return asked, Result{}, err
	case !known || asked.Kind != agentmsg.TypeRequest:
		return asked, refused(CodeUnsolicited, "it answers no request of ours"), nil
	case asked.To != "" && asked.To != e.From:
		return asked, refused(CodeStranger, "another agent was asked"), nil
	case e.TaskID == "":
		return asked, Result{}, nil
	}
	var task taskRow
	known, err = j.tx.Get(tableTasks, e.TaskID, &task)
	if err == nil && known && (task.Asked != e.From || task.Asker != j.in.set.Agent.Identity.ID()) {
		return asked, refused(CodeStranger, "another agent was asked for the task"), nil
	}
	return asked, Result{}, err
}

// responded takes an answer to a request of ours.
func (j *judge) responded(m *errand) (Result, error) {
	e := m.envelope
	asked, r, err := j.request(e)
	if err != nil || r.Verdict != "" {
		return r, err
	}
	m.x.Offering = asked.Offering
	if e.Respond.Status == agentmsg.StatusAccepted { // it has arrived, and no more is said
		return Result{Verdict: Accepted}, nil
	}
	var task *taskRow
	if e.TaskID != "" {
		task = &taskRow{Task: threads.NewTask(e.TaskID, j.in.set.Agent.Identity.ID(), e.From), Offering: asked.Offering}
		if _, err := j.tx.Get(tableTasks, e.TaskID, task); err != nil {
			return Result{}, err
		}
		next, effect, err := threads.UpdateTask(task.Task, m.update())
		if err != nil {
			return refused(CodeOverfull, err.Error()), nil
		}
		task.Task, m.corrected = next, effect == threads.Corrected
		task.begunBy(exchangeKey(task.Asker, e.InReplyTo))
	}
	if fits, err := j.spooled(m); err != nil || !fits {
		return refused(CodeOverfull, "too many bytes of files are kept of its sender"), err
	}
	asked.To, asked.Answer, asked.Task = e.From, e.Respond.Status, firstOf(asked.Task, e.TaskID)
	if err := j.tx.Put(tableExchanges, exchangeKey(j.in.set.Agent.Identity.ID(), e.InReplyTo), asked); err != nil {
		return Result{}, err
	}
	m.ask, m.keeps = true, true
	return Result{Verdict: Accepted}, j.keepExchange(m, task, exchangeRow{Offering: asked.Offering})
}

// keepExchange stores a message from outside, and the task it belongs to.
func (j *judge) keepExchange(m *errand, task *taskRow, row exchangeRow) error {
	e := m.envelope
	row.Kind, row.Envelope, row.At = e.Type, string(e.Bytes()), m.arrival.UnixMilli()
	if m.keeps {
		row.Files = m.files
	}
	if task != nil {
		row.Task, m.x.Task = task.ID, &Standing{task.ID, task.State}
	}
	return j.putExchange(exchangeKey(e.From, e.ID), row, task)
}

// putExchange writes a message and its task.
func (j *judge) putExchange(key string, row exchangeRow, task *taskRow) error {
	if task != nil {
		task.At = j.in.srv.Now().Unix()
		task.Messages = append(task.Messages, key)
		if err := j.tx.Put(tableTasks, task.ID, task); err != nil {
			return err
		}
	}
	return j.tx.Put(tableExchanges, key, row)
}
