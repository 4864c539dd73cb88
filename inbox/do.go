package inbox

import (
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// Done is what came of an action: the message that was put into the outbox.
type Done struct {
	ID      string           `json:"id"`
	Thread  string           `json:"thread,omitempty"`
	Task    string           `json:"task,omitempty"`
	To      string           `json:"to"` // address
	Changes []threads.Effect `json:"changes,omitempty"`

	// Waiting is the key under which the owner is asked, where the action is
	// beyond the limits: nothing was sent. Rules are those that had the owner
	// asked, without the owner's numbers.
	Waiting string        `json:"waiting,omitempty"`
	Rules   []limits.Rule `json:"rules,omitempty"`
}

// Do composes, signs and queues the message of an action of the owner, in one
// transaction with the thread's new state. Errors wrap ErrAction where the
// caller can mend them.
func (in *Inbox) Do(a Action) (Done, error) { return in.do(a, mandate{}) }

func (in *Inbox) do(a Action, by mandate) (Done, error) {
	if done, known, err := in.answerBefore(a.Once); err != nil || known {
		return done, err
	}
	if err := a.check(in.srv.Now()); err != nil {
		return Done{}, err
	}
	if a.isExchange() {
		return in.exchange(a, by)
	}
	if err := in.lookAtCalendar(&a, &by); err != nil {
		return Done{}, err
	}
	ids, err := in.newIDs(3)
	if err != nil {
		return Done{}, err
	}
	nonce := make([]byte, 16)
	if _, err := io.ReadFull(in.srv.Random, nonce); err != nil {
		return Done{}, fmt.Errorf("drawing a nonce: %w", err)
	}
	var done Done
	err = in.commit(func(j *judge) (err error) {
		j.by = by
		done, err = j.once(a.Once, func() (Done, error) {
			m := in.message(a)
			m.ID, m.Thread, m.Nonce = ids[0], ids[1], base64.RawURLEncoding.EncodeToString(nonce)
			row, err := j.address(a, &m)
			if err != nil {
				return Done{}, err
			}
			done, err := j.sendOrAsk(a, m, row)
			if err != nil {
				return Done{}, err
			}
			return done, j.answered(a.Event)
		})
		return err
	})
	return done, err
}

// newIDs draws random UUIDs, version 4 (RFC 9562 §5.4).
func (in *Inbox) newIDs(n int) ([]string, error) {
	ids := make([]string, n)
	for i := range ids {
		var b [16]byte
		if _, err := io.ReadFull(in.srv.Random, b[:]); err != nil {
			return nil, fmt.Errorf("drawing an id: %w", err)
		}
		ids[i] = uuidOf(b[:], 4)
	}
	return ids, nil
}

// message is the action's message, but for its ids and whom it is for.
func (in *Inbox) message(a Action) intent.Message {
	valid := time.Duration(a.ValidSeconds) * time.Second
	if valid == 0 {
		valid = defaultValid
	}
	now := in.srv.Now()
	return intent.Message{
		Context: intent.Context(), Profile: intent.Profile, Type: a.Type,
		From:      intent.Sender{Address: in.set.Address, Party: in.set.Party, Name: in.set.Sender},
		ActingFor: intent.ActingFor{OrgName: in.set.OrgName, Contact: in.set.Contact},
		Agent:     intent.Agent{Name: in.set.AgentName, Kind: in.set.AgentKind},
		Iat:       now.Unix(), Exp: now.Add(valid).Unix(), Note: a.Note,
		Items: a.Items, WantedBy: a.WantedBy, Total: a.Total, DeliveryBy: a.DeliveryBy,
		Slots: a.Slots, Purpose: a.Purpose, Location: a.Location, Replaces: a.Replaces,
		Ref: a.Ref, Slot: a.Slot, Reason: a.Reason,
	}
}

// address finds the thread an action belongs to, and sets whom the message is
// for and what it answers.
func (j *judge) address(a Action, m *intent.Message) (*threadRow, error) {
	if err := j.offerOf(&a.Ref); err != nil {
		return nil, err
	}
	m.Ref = a.Ref
	row := &threadRow{}
	switch named := firstOf(a.Ref, a.Replaces); {
	case named != "":
		if err := j.threadOf(named, row); err != nil {
			return nil, err
		}
	case a.Thread != "":
		known, err := j.tx.Get(tableThreads, a.Thread, row)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, cannot("thread %q is not known here: see `agentmaild threads list`", a.Thread)
		}
	case a.Type == intent.AskQuote || a.Type == intent.ProposeTimes:
		if a.To == "" {
			return nil, cannot("to: the address that it goes to is missing")
		}
		to, err := address.Parse(a.To)
		if err != nil {
			return nil, cannot("to: %w", err)
		}
		if to == j.in.set.Address {
			return nil, cannot("to: that is this inbox itself")
		}
		m.To.Address = to
		return row, nil
	default:
		return nil, cannot("%s needs the id of an offer or ask, or a thread", a.Type)
	}
	m.Thread, m.To.Address = row.ID, row.other(j.in.set.Address)
	if err := agree(a, m); err != nil {
		return nil, err
	}
	return row, j.answer(a, m, row)
}

// agree refuses an action that names two negotiations: what it says would
// reach another side, or another thread, than the one it was meant for (D70).
func agree(a Action, m *intent.Message) error {
	if a.Thread != "" && a.Thread != m.Thread {
		return cannot("thread: %s is in thread %s and not in %q: leave thread out", a.Replaces, m.Thread, a.Thread)
	}
	if a.To == "" {
		return nil
	}
	to, err := address.Parse(a.To)
	if err != nil {
		return cannot("to: %w", err)
	}
	if to != m.To.Address {
		return cannot("to: thread %s is with %s and not with %s: leave to out", m.Thread, m.To.Address, to)
	}
	return nil
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// offerOf turns the id of a record that is kept here into that of its offer,
// which the other side knows too (D45). Where the other side has given its
// record the id of ours, ours is meant.
func (j *judge) offerOf(ref *string) error {
	known, err := j.tx.Get(tableMessages, *ref, &messageRow{})
	if err != nil || known || *ref == "" {
		return err
	}
	offers := map[bool]string{}
	err = eachRecord(j.tx, "", func(_ string, r Record) bool {
		if r.ID == *ref {
			offers[r.Ours] = r.Offer
		}
		return offers[true] == ""
	})
	*ref = firstOf(offers[true], offers[false], *ref)
	return err
}

// threadOf reads the thread in which an offer or an ask stands.
func (j *judge) threadOf(id string, row *threadRow) error {
	var named messageRow
	known, err := j.tx.Get(tableMessages, id, &named)
	if err != nil {
		return err
	}
	if known && named.Fate == FateHeld {
		return cannot("message %q waits for your decision: see `agentmaild waiting list`", id)
	}
	if known {
		known, err = j.tx.Get(tableThreads, named.Thread, row)
	}
	if err == nil && !known {
		err = cannot("message %q is not known here: see `agentmaild threads list`", id)
	}
	return err
}

// answer names the message that is answered, and its hash (D2): what ref or
// replaces names, or the open ask that a quote is for.
func (j *judge) answer(a Action, m *intent.Message, row *threadRow) error {
	id := firstOf(j.by.answers, a.Ref, a.Replaces)
	if id == "" && a.Type == intent.Quote {
		var err error
		if id, err = j.asked(a, m, row); err != nil {
			return err
		}
	}
	if id == "" && len(row.Messages) > 0 {
		id = row.Messages[len(row.Messages)-1]
	}
	var answered messageRow
	known, err := j.tx.Get(tableMessages, id, &answered)
	if err != nil {
		return err
	}
	if known {
		m.InReplyTo, m.Prev = id, answered.Hash
	}
	return nil
}

// asked is the id of the ask that a quote is for: the one that the event is
// about, which need not be the open one, or the open one of the other side.
// An event of another thread says nothing about this one's.
func (j *judge) asked(a Action, m *intent.Message, row *threadRow) (id string, err error) {
	var e Event
	if a.Event != "" {
		if _, err := j.tx.Get(tableEvents, a.Event, &e); err != nil {
			return "", err
		}
	}
	if e.Thread == row.ID {
		return e.ID, nil
	}
	for _, entry := range row.Entries {
		if entry.Type == intent.AskQuote && entry.State == threads.Open && entry.By == m.To.Address {
			id = entry.ID
		}
	}
	return id, nil
}

// composed is a message that its thread takes, and is not sent yet.
type composed struct {
	parsed  *intent.Parsed
	thread  threads.Thread // with the message
	effects []threads.Effect
}

// compose seals a message and takes it through its thread. Nothing is written.
func (j *judge) compose(m intent.Message, row *threadRow) (*composed, error) {
	parsed, err := intent.Seal(m)
	if err != nil {
		return nil, cannot("%w", err)
	}
	next, effects, err := threads.Apply(row.Thread, threads.Event{Message: parsed.Message, At: m.Iat, Records: j.in.records(&proven{found: &intent.Found{Parsed: parsed}})})
	if err != nil {
		return nil, cannot("%w", err)
	}
	return &composed{parsed, next, effects}, nil
}

// send signs a message and puts it and its mail where they stay.
func (j *judge) send(c *composed, row *threadRow) (Done, error) {
	parsed, m := c.parsed, &c.parsed.Message
	token, err := j.in.sign(parsed.Canonical)
	if err != nil {
		return Done{}, err
	}
	references, err := j.references(row, m.InReplyTo)
	if err != nil {
		return Done{}, err
	}
	row.Thread = c.thread
	agreement, err := j.keepSent(parsed, token, row, c.effects)
	if err != nil {
		return Done{}, err
	}
	draft, err := parsed.Draft(token, references)
	if err != nil {
		return Done{}, err
	}
	if agreement != nil {
		draft.Attachments = append(draft.Attachments, envelope.Attachment{Type: "application/json", Filename: "agreement.json", Body: agreement})
	}
	if err := j.queue(draft, letterRow{Thread: m.Thread, ID: m.ID, Type: m.Type}); err != nil {
		return Done{}, err
	}
	return Done{ID: m.ID, Thread: m.Thread, To: m.To.Address, Changes: c.effects}, nil
}

// keepSent stores a message of ours and lets go on what waited for it (D45).
// For an accept it returns the record of the agreement, if one could be made.
func (j *judge) keepSent(m *intent.Parsed, token string, row *threadRow, effects []threads.Effect) (agreement []byte, err error) {
	signature := Signed
	if token == "" {
		signature = MailOnly
	}
	row.Messages = append(row.Messages, m.ID)
	if err := j.putThread(row); err != nil {
		return nil, err
	}
	err = j.tx.Put(tableMessages, m.ID, messageRow{
		Canonical: string(m.Canonical), Hash: m.Hash, JWS: token,
		Fate: FateSent, Signature: signature, Thread: m.Thread, At: j.in.srv.Now().Unix(),
	})
	if err != nil {
		return nil, err
	}
	if err := j.event(Event{Kind: KindSent, Result: messageOf(&m.Message), Message: m.Canonical, Changes: effects, trail: []any{"answers", m.InReplyTo}}, false); err != nil {
		return nil, err
	}
	if m.Type == intent.Accept {
		if agreement, err = j.agreed(m.Thread, m.ID); err != nil {
			return nil, err
		}
	}
	return agreement, j.release(m.ID)
}

// references lists the Message-IDs of the thread's mails, the answered one
// last (RFC 5322 §3.6.4).
func (j *judge) references(row *threadRow, answered string) ([]string, error) {
	var list []string
	last := ""
	for _, id := range row.Messages {
		m, err := j.stored(id)
		if err != nil {
			return nil, err
		}
		if id == answered {
			last = m.MessageID()
			continue
		}
		list = append(list, m.MessageID())
	}
	if last != "" {
		list = append(list, last)
	}
	return list, nil
}

func (j *judge) stored(id string) (*intent.Parsed, error) {
	return stored(j.tx, id)
}

func stored(tx *store.Tx, id string) (*intent.Parsed, error) {
	var row messageRow
	known, err := tx.Get(tableMessages, id, &row)
	if err == nil && !known {
		err = fmt.Errorf("message %s of a thread is not in the store", id)
	}
	if err != nil {
		return nil, err
	}
	return intent.Parse([]byte(row.Canonical))
}
