package inbox

import (
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
)

// DeliveryState is how far the mail of a message from here has come.
type DeliveryState string

// The states. Of the last three the message never reached the other side, as
// far as is known: what it did to its thread holds here alone.
const (
	DeliveryQueued   DeliveryState = "queued"
	DeliveryRetrying DeliveryState = "retrying" // could not be sent yet
	DeliveryParked   DeliveryState = "parked"   // beyond the hourly limit, waits for the owner
	DeliverySent     DeliveryState = "sent"     // the mail server took it
	DeliveryFailed   DeliveryState = "failed"   // refused for good, or given up; the owner may send it again
	DeliveryDropped  DeliveryState = "dropped"  // the owner gave it up
	DeliveryBounced  DeliveryState = "bounced"  // a delivery report says so, which anybody can write who knows the Message-ID
)

// Never tells whether the message did not reach the other side and will not,
// unless the owner sends it again.
func (s DeliveryState) Never() bool {
	return s == DeliveryFailed || s == DeliveryDropped || s == DeliveryBounced
}

// Delivery is where the mail of a message from here stands.
type Delivery struct {
	State  DeliveryState `json:"state"`
	At     int64         `json:"at"`               // since when, Unix seconds
	Reason string        `json:"reason,omitempty"` // the mail server's or the report's words, bounded and escaped by the transport
}

// undelivered is a message from here whose mail did not go out as it should.
type undelivered struct {
	Delivery
	Entry string `json:"entry"` // the offer or ask it is about
}

// stuck notes in its thread that the mail of a message did not reach the other
// side. A mail without a message, as a notice, is shown where letters wait.
func (j *judge) stuck(l letterRow, state DeliveryState, reason string) error {
	d := Delivery{state, j.in.srv.Now().Unix(), reason}
	switch {
	case l.ID == "":
		return nil
	case l.Kind != "":
		return j.changeSent(l.ID, func(row *exchangeRow) { row.Stuck = &d })
	}
	m, err := j.stored(l.ID)
	if err != nil {
		return err
	}
	var row threadRow
	if _, err := j.tx.Get(tableThreads, m.Thread, &row); err != nil {
		return err
	}
	if row.Undelivered == nil {
		row.Undelivered = map[string]undelivered{}
	}
	row.Undelivered[l.ID] = undelivered{d, row.about(&m.Message)}
	return j.tx.Put(tableThreads, row.ID, row)
}

// about is the offer or ask that a message opens or answers.
func (t *threadRow) about(m *intent.Message) string {
	switch offer, isRecord := t.Records[m.Ref]; {
	case isRecord: // a cancel may name the record (D45)
		return offer
	case m.Ref != "":
		return m.Ref
	default:
		return m.ID
	}
}

// moving forgets that a message was stuck: its mail is on its way again, or
// gone.
func (j *judge) moving(l letterRow) error {
	if l.Kind != "" {
		return j.changeSent(l.ID, func(row *exchangeRow) { row.Stuck = nil })
	}
	var row threadRow
	if known, err := j.tx.Get(tableThreads, l.Thread, &row); err != nil || !known {
		return err
	}
	if _, was := row.Undelivered[l.ID]; !was {
		return nil
	}
	delete(row.Undelivered, l.ID)
	return j.tx.Put(tableThreads, l.Thread, row)
}

// changeSent changes the row of a message of Agent Emailing from here.
func (j *judge) changeSent(id string, change func(*exchangeRow)) error {
	key := exchangeKey(j.in.set.Agent.Identity.ID(), id)
	var row exchangeRow
	if known, err := j.tx.Get(tableExchanges, key, &row); err != nil || !known {
		return err
	}
	change(&row)
	return j.tx.Put(tableExchanges, key, row)
}

// delivery is where a message from here stands; nil for one from outside.
func (t *threadRow) delivery(id string, m *messageRow) *Delivery {
	if m.Fate != FateSent {
		return nil
	}
	if u, stuck := t.Undelivered[id]; stuck {
		return &u.Delivery
	}
	if m.SentAt != 0 {
		return &Delivery{State: DeliverySent, At: m.SentAt}
	}
	return &Delivery{State: DeliveryQueued, At: m.At}
}

// entries are the thread's as the owner sees them.
func (t *threadRow) entries(in *Inbox) []Entry {
	list := make([]Entry, 0, len(t.Entries))
	for _, e := range in.asOf(t.Thread).Entries {
		entry := Entry{Entry: e}
		for _, id := range t.Messages { // the last one counts
			if u, stuck := t.Undelivered[id]; stuck && u.Entry == e.ID {
				entry.Undelivered = &u.Delivery
			}
		}
		list = append(list, entry)
	}
	return list
}

// left tells whether the mail of a message left this side, as one from outside
// has.
func (t *threadRow) left(tx *store.Tx, id string) (row messageRow, left bool, err error) {
	_, err = tx.Get(tableMessages, id, &row)
	switch t.Undelivered[id].State {
	case DeliveryParked, DeliveryFailed, DeliveryDropped:
		return row, false, err
	}
	return row, true, err
}
