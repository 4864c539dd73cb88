// Package threads is the offer state machine of agent-intents/1, a pure
// function from a thread and an event to the thread that follows, and the task
// machine of Agent Emailing, the same from a task and an update. It knows no
// clock, no storage and no mail; time stands in the event.
package threads

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// State is where an offer or an ask stands.
type State string

// The states (profile: "The six types"). Open is the only one that can be
// left, but for an agreement that is cancelled.
const (
	Open      State = "open"
	Answered  State = "answered" // asks only
	Agreed    State = "agreed"   // offers only
	Declined  State = "declined"
	Cancelled State = "cancelled"
	Expired   State = "expired"
	Replaced  State = "replaced" // offers only
)

// Entry is an offer or an ask of a thread.
type Entry struct {
	ID       string      `json:"id"`
	Type     intent.Type `json:"type"` // ask_quote, quote or propose_times
	By       string      `json:"by"`   // address of its sender
	Exp      int64       `json:"exp"`  // Unix seconds
	Slots    int         `json:"slots,omitzero"`
	State    State       `json:"state"`
	Replaces string      `json:"replaces,omitempty"`
	Accept   string      `json:"accept,omitempty"` // id of the accept that made it agreed
	Slot     *int        `json:"slot,omitzero"`    // the slot that was chosen
}

// Thread is a negotiation between exactly two addresses (D26). The zero
// Thread is one that has not begun.
type Thread struct {
	ID      string    `json:"id"`
	Parties [2]string `json:"parties"` // who began it, and whom it was begun with
	Entries []Entry   `json:"entries"` // in the order of their commits
	// Records maps the id of each agreement record held for the thread to its
	// offer: a cancel may name either (D45).
	Records map[string]string `json:"records,omitempty"`
}

// Event is one message as the machine sees it, or a passing of time.
type Event struct {
	intent.Message
	At int64 // arrival, Unix seconds; for a message sent from here, when it was sent
	// Records are the ids of the records of an accept: the one that it carries,
	// if any (D46), and this side's own.
	Records []string
}

// Effect tells what a step did to one entry.
type Effect struct {
	Entry string `json:"entry"` // id of the offer or ask
	State State  `json:"state"` // its state now
}

// ErrState is wrapped by every refusal of Apply: the thread's state does not
// allow the event (code state). Closed tells which state an accept met.
var ErrState = errors.New("the thread's state does not allow it")

// ClosedError is the refusal of an answer to an entry that is no longer open.
type ClosedError struct {
	Entry string
	State State
}

// Error names the state.
func (e *ClosedError) Error() string { return fmt.Sprintf("%s is %s", e.Entry, e.State) }

// Unwrap makes a ClosedError an ErrState.
func (e *ClosedError) Unwrap() error { return ErrState }

// UnknownError is the refusal of a counter-offer to an entry that is not in
// the thread; the message may have come before the one it counters (D40).
type UnknownError struct{ Entry string }

// Error names the entry.
func (e *UnknownError) Error() string { return e.Entry + " is not in the thread" }

// Unwrap makes an UnknownError an ErrState.
func (e *UnknownError) Unwrap() error { return ErrState }

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrState, fmt.Sprintf(format, args...))
}

// Apply takes one message. The thread given is not changed; the one returned
// has the time of the event passed in it even where the message is refused.
// Errors wrap ErrState.
func Apply(t Thread, e Event) (Thread, []Effect, error) {
	t, effects := Tick(t, e.At)
	if err := t.admits(e); err != nil {
		return t, effects, err
	}
	next := t.clone()
	if next.ID == "" {
		next.ID, next.Parties = e.Thread, [2]string{e.From.Address, e.To.Address}
	}
	more, err := next.step(e)
	if err != nil {
		return t, effects, err
	}
	return next, append(effects, more...), nil
}

// Count takes a person's own words, received at a time, as the acceptance of
// the quote that they answer (profile: "The agreement record", their_reply),
// while it is open (D95).
// reply stands where an accept's id would, record is the id of the record that
// keeps the reply. Errors wrap ErrState.
func Count(t Thread, quote, reply, record string, at int64) (Thread, []Effect, error) {
	t, effects := Tick(t, at)
	i := t.index(quote)
	switch {
	case i < 0:
		return t, effects, refuse("%s is not in the thread", quote)
	case t.Entries[i].Type != intent.Quote:
		return t, effects, refuse("%s is no quote", quote) // D51
	case t.Entries[i].State != Open:
		return t, effects, &ClosedError{quote, t.Entries[i].State}
	}
	next := t.clone()
	next.Entries[i].Accept = reply
	next.record(record, quote)
	return next, append(effects, next.set(i, Agreed)), nil
}

// Tick lets time pass: what is open and past its exp expires.
func Tick(t Thread, now int64) (Thread, []Effect) {
	var effects []Effect
	next := t
	for i, entry := range t.Entries {
		if entry.State == Open && entry.Exp < now {
			if effects == nil {
				next = t.clone()
			}
			effects = append(effects, next.set(i, Expired))
		}
	}
	return next, effects
}

// Due is when the next entry expires, Unix seconds, or 0 when none will.
func (t Thread) Due() int64 {
	var due int64
	for _, entry := range t.Entries {
		if at := entry.Exp + 1; entry.State == Open && (due == 0 || at < due) {
			due = at
		}
	}
	return due
}

// Find returns an offer or ask by its id.
func (t Thread) Find(id string) (Entry, bool) {
	for _, entry := range t.Entries {
		if entry.ID == id {
			return entry, true
		}
	}
	return Entry{}, false
}

func (t Thread) clone() Thread {
	t.Entries = slices.Clone(t.Entries)
	t.Records = maps.Clone(t.Records)
	return t
}

func (t *Thread) set(i int, s State) Effect {
	t.Entries[i].State = s
	return Effect{t.Entries[i].ID, s}
}

func (t *Thread) index(id string) int {
	for i, entry := range t.Entries {
		if entry.ID == id {
			return i
		}
	}
	return -1
}
