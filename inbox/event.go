package inbox

import (
	"log/slog"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// Event is something that happened to the inbox, as it is told to the owner
// and to the handler. What the other side wrote stands in Message alone, as
// data; Proof says what was proven about it.
type Event struct {
	Seq     string           `json:"seq"`  // sorts in the order in which events happened
	At      int64            `json:"at"`   // Unix seconds
	Kind    string           `json:"kind"` // one of the kinds below
	Result                   // of a received mail; Thread, ID and Type of others
	Message jsontext.Value   `json:"message,omitempty"` // in canonical form
	Proof   Proof            `json:"proof,omitzero"`
	Changes []threads.Effect `json:"changes,omitempty"`
	Record  *Record          `json:"record,omitempty"`
	Waiting string           `json:"waiting,omitempty"` // of an action: the key under which it waits, or waited

	trail []any // attributes for the log alone, by which a mail can be followed
}

// The kinds of event.
const (
	KindReceived     = "received"
	KindSent         = "sent"
	KindExpired      = "expired"       // offers and asks, a message that was held, or an action that waited
	KindDecided      = "decided"       // by the owner, on what waited
	KindLetterFailed = "letter_failed" // for good, or after three days
	KindNotice       = "notice"        // a refused accept was told of (D27)
	KindBounced      = "bounced"       // a delivery report says that a mail came back
	KindLetterParked = "letter_parked" // beyond the hourly limit
	KindRecord       = "record"        // the record of an agreement is kept
	KindNoRecord     = "no_record"     // an agreement has none of ours, and why
	KindReply        = "reply"         // a quote was answered in words
	KindAsked        = "asked"         // an action of the agent waits for the owner

	KindTaskCorrected = "task_corrected" // an update came late, and the task stands elsewhere than was told (E1)
)

// keepEvents is how many events are kept.
const keepEvents = 10000

// received records what became of a mail. The handler is asked about what was
// accepted.
func (j *judge) received(p *proven, r Result, effects []threads.Effect) error {
	e := Event{Kind: KindReceived, Result: r, Proof: p.proof, Changes: effects, trail: p.trail}
	if r.Verdict == Accepted || r.Verdict == Held {
		e.Message = jsontext.Value(p.found.Canonical)
	}
	return j.event(e, r.Verdict == Accepted)
}

// event records an event; ask tells that the handler is to answer it.
func (j *judge) event(e Event, ask bool) error {
	seq, err := j.tx.Next(tableEvents)
	if err != nil {
		return err
	}
	e.Seq, e.At = seq, j.in.srv.Now().Unix()
	if err := j.tx.Put(tableEvents, seq, e); err != nil {
		return err
	}
	j.events = append(j.events, e)
	if err := j.tally(&e); err != nil {
		return err
	}
	if ask && j.in.set.Handled {
		return j.tx.Put(tablePending, seq, pendingRow{})
	}
	return nil
}

// log writes one line an event: ids and verdicts, never content.
func (in *Inbox) log(e Event) {
	attrs := []any{
		slog.String("inbox", in.set.Name), slog.String("seq", e.Seq),
		slog.String("id", e.ID), slog.String("thread", e.Thread), slog.String("type", string(e.Type)),
	}
	if e.Kind == KindReceived {
		attrs = append(attrs, slog.String("verdict", string(e.Verdict)), slog.String("code", string(e.Code)),
			slog.String("signature", string(e.Signature)), slog.String("domain", e.Proof.Domain), slog.Any("warnings", e.Warnings))
	}
	if x := e.Exchange; x != nil {
		attrs = append(attrs, slog.String("agent", x.From), slog.String("kind", string(x.Kind)), slog.String("answered", x.Answered))
		if x.Task != nil {
			attrs = append(attrs, slog.String("state", string(x.Task.State)))
		}
	}
	attrs = append(attrs, e.trail...)
	if e.Reason != "" {
		attrs = append(attrs, slog.String("reason", e.Reason))
	}
	in.srv.Log.Info(e.Kind, attrs...)
}

// maxLogged is how much of a text from outside is logged, in bytes.
const maxLogged = 200

// printable is the beginning of a text from outside, in ASCII that can forge
// no line of a log and steer no terminal.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text[:min(len(text), maxLogged)])
}

// Events returns up to limit events after the one of a number ("" for the
// first kept), and a channel that is closed when there may be more.
func (in *Inbox) Events(after string, limit int) ([]Event, <-chan struct{}, error) {
	more := in.events.wait()
	var events []Event
	err := in.view(func(tx *store.Tx) error {
		return tx.Scan(tableEvents, "", after, func(r store.Row) (bool, error) {
			if r.Key == after {
				return true, nil
			}
			var e Event
			if err := r.Decode(&e); err != nil {
				return false, err
			}
			events = append(events, e)
			return len(events) < limit, nil
		})
	})
	return events, more, err
}

// LastEvent is the number of the last event, that of none where there was none yet.
func (in *Inbox) LastEvent() (string, error) {
	var last uint64
	err := in.view(func(tx *store.Tx) (err error) {
		last, err = tx.Last(tableEvents)
		return err
	})
	return store.Key(last), err
}

// settledAmong is how many of the last events Settled looks at.
const settledAmong = 1000

// Settled is what became of actions that waited for the owner, as far as it is
// among the last events: approved, refused, or ended by itself. Reason says which,
// in words of the daemon and the owner's.
func (in *Inbox) Settled() ([]Event, error) {
	return in.lately(func(e *Event) bool { return e.Waiting != "" && e.Kind != KindAsked })
}

// Became is Settled of one action or held message, nil where it is not among
// the last events.
func (in *Inbox) Became(key string) (*Event, error) {
	list, err := in.lately(func(e *Event) bool {
		return e.Waiting == key && e.Kind != KindAsked || e.ID == key && e.Kind == KindDecided
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}

// lately are those of the last events that fit.
func (in *Inbox) lately(fits func(*Event) bool) ([]Event, error) {
	var list []Event
	err := in.view(func(tx *store.Tx) error {
		last, err := tx.Last(tableEvents)
		if err != nil {
			return err
		}
		return tx.Scan(tableEvents, "", store.Key(last-min(last, settledAmong)), func(r store.Row) (bool, error) {
			var e Event
			err := r.Decode(&e)
			if fits(&e) {
				list = append(list, e)
			}
			return true, err
		})
	})
	return list, err
}

// messageOf names a message in an event that is not about a delivery.
func messageOf(m *intent.Message) Result {
	return Result{Type: m.Type, Thread: m.Thread, ID: m.ID}
}
