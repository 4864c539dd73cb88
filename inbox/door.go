package inbox

import (
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// doorRow is a message that waits for its sender to be admitted.
type doorRow struct {
	From     string         `json:"from"`     // agent id
	Envelope string         `json:"envelope"` // as signed
	At       int64          `json:"at"`       // arrival, Unix milliseconds
	Ref      mailRef        `json:"ref,omitzero"`
	Person   string         `json:"person,omitempty"`
	Files    []ReceivedFile `json:"files,omitempty"`
	Spool    string         `json:"spool,omitempty"`
	Reason   string         `json:"reason"`
}

// knockRow is a request to be admitted that the owner has not decided.
type knockRow struct {
	At      int64  `json:"at"`             // Unix seconds
	Text    string `json:"text,omitempty"` // of the knock; text from outside
	Address string `json:"address,omitempty"`
}

// doorKeep is how long a message waits at the door (D120).
const doorKeep = 30 * 24 * time.Hour

// enter takes a message that was signed through the protections and the door.
func (j *judge) enter(m *errand) (Result, error) {
	code, err := j.protect(m)
	if err != nil {
		return Result{}, err
	}
	stance, err := j.stance(m)
	if err != nil {
		return Result{}, err
	}
	switch {
	case code == Code(agentmsg.CodeTooLarge) && stance != agentmsg.StanceBlock: // a blocked sender hears nothing (D129)
		return j.refuse(m, code, protections[code], agentmsg.ContextTooLarge)
	case code != "":
		return refused(code, protections[code]), nil
	case stance == agentmsg.StanceBlock && !m.passes():
		return Result{Verdict: Blocked, Reason: "the roster blocks its sender"}, nil
	}
	if r, err := j.futile(m); err != nil || r.Verdict != "" {
		return r, err
	}
	return j.admitted(m, stance)
}

// passes tells whether the roster has no say in a message (EXT-6).
func (m *errand) passes() bool {
	r := m.envelope.Request
	return r != nil && m.person == "" && (r.Offering == agentmsg.OfferingKnock || r.Offering == agentmsg.OfferingDescribe)
}

// futile refuses what no decision of the owner could make count (D119): an
// answer that was not asked for, a word on a task by an agent that has no say
// in it. The zero Result lets a message pass.
func (j *judge) futile(m *errand) (Result, error) {
	if m.envelope.Respond != nil {
		_, r, err := j.request(m.envelope)
		return r, err
	}
	task := m.envelope.TaskID
	if c, err := agentmsg.ParseCancel(m.envelope); err == nil {
		task = c.TaskID
	}
	if task == "" {
		return Result{}, nil
	}
	var row taskRow
	known, err := j.tx.Get(tableTasks, task, &row)
	if err != nil || !known || row.Continues(m.envelope.From) == nil {
		return Result{}, err
	}
	return refused(CodeStranger, "the task was asked by another agent"), nil
}

// admitted holds what must wait for the owner, and acts on the rest. Who was
// asked by this inbox need not be admitted to answer (D121).
func (j *judge) admitted(m *errand, stance agentmsg.Stance) (Result, error) {
	full, err := j.rate(m.envelope.From)
	if err != nil {
		return Result{}, err
	}
	if full {
		return j.hold(m, Result{Verdict: Held, Code: CodeRate, Reason: "its sender wrote too many messages this hour"})
	}
	if m.passes() {
		return j.act(m)
	}
	strange, err := j.strange(m)
	if err != nil {
		return Result{}, err
	}
	switch {
	case strange != "":
		return j.hold(m, Result{Verdict: Held, Reason: strange, Warnings: []string{WarnCard}})
	case stance != agentmsg.StanceAllow && m.envelope.Respond == nil:
		return j.hold(m, Result{Verdict: Held, Reason: "its sender has not been admitted"})
	}
	return j.act(m)
}

// hold keeps a message for the owner, where there is room.
func (j *judge) hold(m *errand, r Result) (Result, error) {
	fits, err := j.share(m.envelope.From, m.atDoor()...)
	if err == nil && fits {
		fits, err = j.spooled(m)
		if err == nil && !fits {
			err = j.giveBack(m.envelope.From, m.atDoor()...)
		}
	}
	if err != nil {
		return r, err
	}
	if !fits {
		return refused(CodeOverfull, "too much waits to be admitted already"), nil
	}
	key, err := j.tx.Next(tableDoor)
	if err != nil {
		return r, err
	}
	row := doorRow{
		From: m.envelope.From, Envelope: string(m.envelope.Bytes()), At: m.arrival.UnixMilli(), Ref: m.ref, Person: m.person,
		Files: m.files, Spool: m.spool, Reason: r.Reason,
	}
	if err := j.tx.Put(tableDoor, key, row); err != nil {
		return r, err
	}
	return r, j.tx.Put(tableDue, dueKey(m.arrival.Add(doorKeep).Unix(), "door/"+key), struct{}{})
}

// atDoor is what a message takes while it waits.
func (m *errand) atDoor() []claim {
	return []claim{{doorMessages, 1}, {doorBytes, int64(len(m.envelope.Bytes()))}}
}

// errand is the message of a row.
func (row *doorRow) errand() (*errand, error) {
	e, err := agentmsg.Parse([]byte(row.Envelope))
	if err != nil {
		return nil, fmt.Errorf("reading a message at the door: %w", err)
	}
	return &errand{envelope: e, arrival: time.UnixMilli(row.At), ref: row.Ref, person: row.Person, files: row.Files, spool: row.Spool}, nil
}

// takeFromDoor ends the wait of a message.
func (j *judge) takeFromDoor(key string) (*errand, error) {
	var row doorRow
	known, err := j.tx.Get(tableDoor, key, &row)
	if err == nil && !known {
		err = unknown("nothing waits under %q: see `agentmaild waiting list`", doorPrefix+key)
	}
	if err != nil {
		return nil, err
	}
	m, err := row.errand()
	if err != nil {
		return nil, err
	}
	if err := j.giveBack(m.envelope.From, m.atDoor()...); err != nil {
		return nil, err
	}
	return m, j.tx.Delete(tableDoor, key)
}

// letIn acts on a message that waited, and says so.
func (j *judge) letIn(key string) error {
	m, err := j.takeFromDoor(key)
	if err != nil {
		return err
	}
	r, err := j.act(m)
	if err != nil {
		return err
	}
	if !m.keeps {
		if err := j.unspool(m.spool); err != nil {
			return err
		}
	}
	r.Reason = firstOf(r.Reason, "admitted by the owner")
	return j.decided(m, r, KindDecided)
}

// decided records what became of a message that waited.
func (j *judge) decided(m *errand, r Result, kind string) error {
	r, err := m.complete(r)
	if err != nil {
		return err
	}
	return j.exchanged(m, r, Event{Kind: kind})
}

// turnAway drops a message that waited. Its sender hears nothing.
func (j *judge) turnAway(key string) error {
	m, err := j.takeFromDoor(key)
	if err != nil {
		return err
	}
	if err := j.unspool(m.spool); err != nil {
		return err
	}
	return j.decided(m, Result{Verdict: Refused, Reason: "refused by the owner"}, KindDecided)
}

// leaveDoor drops a message that waited too long.
func (j *judge) leaveDoor(key string) error {
	if known, err := j.tx.Get(tableDoor, key, &doorRow{}); err != nil || !known {
		return err
	}
	m, err := j.takeFromDoor(key)
	if err != nil {
		return err
	}
	if err := j.unspool(m.spool); err != nil {
		return err
	}
	return j.decided(m, Result{Reason: "it waited for the owner for 30 days"}, KindExpired)
}
