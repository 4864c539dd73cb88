package inbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// pendingRow is an event that the handler has not answered.
type pendingRow struct {
	Tries int    `json:"tries"`
	Next  int64  `json:"next"` // when the handler is asked again, Unix seconds
	Error string `json:"error,omitempty"`
}

// Waiting is one thing that waits for the owner.
type Waiting struct {
	Key     string         `json:"key"`            // what approve and refuse take
	Kind    string         `json:"kind"`           // message, event, left, letter, bounce, record, reply, agent, knock, mail, action or webhook
	Text    string         `json:"text,omitempty"` // its beginning; text from outside
	At      int64          `json:"at"`             // Unix seconds
	Reason  string         `json:"reason"`
	Thread  string         `json:"thread,omitempty"`
	Message jsontext.Value `json:"message,omitempty"` // text from outside
	Proof   Proof          `json:"proof,omitzero"`
	Agent   string         `json:"agent,omitempty"`   // agent id that signed the message
	Person  string         `json:"person,omitempty"`  // whose mail it was, in bridged mode
	Address string         `json:"address,omitempty"` // of an action or a letter: whom it is for; of a knock: where the agent says it has its mail
	Files   []ReceivedFile `json:"files,omitempty"`
	ToOwner bool           `json:"to_owner,omitzero"` // a letter that tells the owner what waits

	Action   *Action          `json:"action,omitempty"`   // that the agent wants done
	Decision *limits.Decision `json:"decision,omitempty"` // why the owner is asked about it, with the owner's numbers
	Expires  int64            `json:"expires,omitzero"`   // of an action: when it is dropped, Unix seconds

	from string // of a mail: whom it says it is from
}

// Keys of what waits and is no message.
const (
	eventPrefix  = "event-"
	letterPrefix = "letter-"
	bouncePrefix = "bounce-"
	recordPrefix = "record-"
	replyPrefix  = "reply-"
	doorPrefix   = "agent-"
	knockPrefix  = "knock-"
	reviewPrefix = "mail-"
)

// Waiting lists what waits: messages that are held, events that the handler
// failed on, offers that nobody answers, letters that could not be sent or are
// beyond the hourly limit, mails that came back, records that do not check out,
// replies in words, messages of agents that have not been admitted, knocks, mails
// that carry no message, and webhooks that could not be told.
func (in *Inbox) Waiting() ([]Waiting, error) {
	var list []Waiting // the agent's own actions first: strangers fill the rest
	err := in.view(func(tx *store.Tx) error {
		for _, part := range []func(*store.Tx, *[]Waiting) error{waitingActions, heldMessages, failedEvents, offersLeft, waitingLetters, in.bouncedMails, doubtedRecords, plainReplies, in.atDoorMessages, knocks, mailsToReview, goneHooks, untoldEvents} {
			if err := part(tx, &list); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

func heldMessages(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableHeld, "", "", func(r store.Row) (bool, error) {
		var m messageRow
		known, err := tx.Get(tableMessages, r.Key, &m)
		if err != nil || !known {
			return err == nil, err
		}
		reason := "not signed"
		switch m.Signature {
		case Unchecked:
			reason = "the signature could not be checked: " + m.Proof.Signature
		case Signed:
			reason = "warnings: " + strings.Join(m.Warnings, ", ")
		}
		*list = append(*list, Waiting{Key: r.Key, Kind: "message", At: m.At, Reason: reason, Thread: m.Thread, Message: jsontext.Value(m.Canonical), Proof: m.Proof})
		return true, nil
	})
}

func failedEvents(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tablePending, "", "", func(r store.Row) (bool, error) {
		var row pendingRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		if row.Error == "" {
			return true, nil
		}
		var e Event
		if _, err := tx.Get(tableEvents, r.Key, &e); err != nil {
			return false, err
		}
		reason := "the handler failed: " + row.Error
		if row.Tries > 1 {
			reason = fmt.Sprintf("the handler failed %d times: %s", row.Tries, row.Error)
		}
		*list = append(*list, Waiting{Key: eventPrefix + r.Key, Kind: "event", At: e.At, Reason: reason, Thread: e.Thread, Message: e.Message, Proof: e.Proof})
		return true, nil
	})
}

func waitingLetters(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableOutbox, "", "", func(r store.Row) (bool, error) {
		var l letterRow
		if err := r.Decode(&l); err != nil {
			return false, err
		}
		if l.waits() {
			*list = append(*list, Waiting{Key: letterPrefix + r.Key, Kind: "letter", At: l.Queued, Address: l.To, Reason: "the mail to " + l.To + " " + l.Error, Thread: l.Thread, ToOwner: l.Owner})
		}
		return true, nil
	})
}

// Approve lets what waits go on: a held message counts as if it had been
// signed, the handler is asked again, a letter is sent again, an action is done.
func (in *Inbox) Approve(key string) error {
	if n, ok := strings.CutPrefix(key, actionPrefix); ok {
		return in.approveAction(n)
	}
	return in.commit(func(j *judge) error {
		if seq, ok := strings.CutPrefix(key, eventPrefix); ok {
			return j.pending(seq, func() error { return j.tx.Put(tablePending, seq, pendingRow{}) })
		}
		if seq, ok := strings.CutPrefix(key, letterPrefix); ok {
			return j.waitingLetter(seq, func(l letterRow) error {
				now := j.in.srv.Now().Unix()
				l.State, l.Queued, l.Next, l.Tries = letterQueued, now, now, 0
				j.queued = true
				if err := j.tx.Put(tableOutbox, seq, l); err != nil {
					return err
				}
				return j.moving(l)
			})
		}
		if untold, ok := strings.CutPrefix(key, hookPrefix); ok {
			return j.tellAgain(untold)
		}
		if strings.HasPrefix(key, bouncePrefix) {
			return cannot("a mail that came back cannot be sent again: act anew, and refuse %q to put the report aside", key)
		}
		if strings.HasPrefix(key, leftPrefix) {
			return cannot("what is left to you has to be answered: `agentmaild waiting list` says how, and refuse %q puts it aside", key)
		}
		if strings.HasPrefix(key, recordPrefix) {
			return cannot("a record that does not check out cannot be approved: the agreement stands without it, and refuse %q puts it aside", key)
		}
		if n, ok := strings.CutPrefix(key, doorPrefix); ok {
			return j.letIn(n)
		}
		if agent, ok := strings.CutPrefix(key, knockPrefix); ok {
			return j.settleAgent(agent, agentmsg.StanceAllow, "")
		}
		if strings.HasPrefix(key, reviewPrefix) {
			return cannot("a mail without a message cannot be approved: answer it from the mailbox, and refuse %q puts it aside", key)
		}
		if strings.HasPrefix(key, replyPrefix) {
			return cannot("a person's words are no accept: `agentmaild waiting count %s` takes them for one", key)
		}
		return j.approve(key)
	})
}

// Refuse ends what waits: a held message is rejected (its sender is told
// nothing), an event is left unanswered, a letter is given up, an action is not
// done. The reason, which may be empty, is the owner's, for the agent.
func (in *Inbox) Refuse(key, reason string) error {
	return in.commit(func(j *judge) error {
		if seq, ok := strings.CutPrefix(key, eventPrefix); ok {
			return j.pending(seq, func() error { return j.tx.Delete(tablePending, seq) })
		}
		if seq, ok := strings.CutPrefix(key, letterPrefix); ok {
			return j.waitingLetter(seq, func(l letterRow) error {
				if err := j.leave(seq); err != nil {
					return err
				}
				return j.stuck(l, DeliveryDropped, "given up by the owner: "+l.told())
			})
		}
		if untold, ok := strings.CutPrefix(key, hookPrefix); ok {
			return j.putHookAside(untold)
		}
		if id, ok := strings.CutPrefix(key, leftPrefix); ok {
			known, err := j.unleave(id)
			if err == nil && !known {
				err = unknown("nothing waits under %q: see `agentmaild waiting list`", key)
			}
			return err
		}
		if id, ok := strings.CutPrefix(key, bouncePrefix); ok {
			return j.putAside(tableBounced, id, &bounceRow{})
		}
		if id, ok := strings.CutPrefix(key, recordPrefix); ok {
			return j.putAside(tableDoubted, id, &struct{}{})
		}
		if id, ok := strings.CutPrefix(key, replyPrefix); ok {
			return j.putAside(tableReplies, id, &replyRow{})
		}
		if n, ok := strings.CutPrefix(key, doorPrefix); ok {
			return j.turnAway(n)
		}
		if agent, ok := strings.CutPrefix(key, knockPrefix); ok {
			return j.endKnock(agent)
		}
		if n, ok := strings.CutPrefix(key, actionPrefix); ok {
			return j.refuseAction(n, reason)
		}
		if n, ok := strings.CutPrefix(key, reviewPrefix); ok {
			return j.putAside(tableReviews, n, &reviewRow{})
		}
		row, err := j.held(key)
		if err != nil {
			return err
		}
		p, err := row.proven()
		if err != nil {
			return err
		}
		if err := j.put(p, FateRejected, ""); err != nil {
			return err
		}
		return j.event(Event{Kind: KindDecided, Result: Result{Verdict: Refused, Thread: row.Thread, ID: key, Reason: firstOf(reason, "refused by the owner")}}, false)
	})
}

func (j *judge) pending(seq string, then func() error) error {
	var row pendingRow
	known, err := j.tx.Get(tablePending, seq, &row)
	if err == nil && !known {
		err = unknown("nothing waits under %q: see `agentmaild waiting list`", eventPrefix+seq)
	}
	if err != nil {
		return err
	}
	j.events = append(j.events, Event{Kind: KindDecided, Seq: seq}) // wakes the handler
	return then()
}

func (j *judge) waitingLetter(seq string, then func(letterRow) error) error {
	var l letterRow
	known, err := j.tx.Get(tableOutbox, seq, &l)
	if err == nil && (!known || !l.waits()) {
		err = unknown("no letter waits under %q: see `agentmaild waiting list`", letterPrefix+seq)
	}
	if err != nil {
		return err
	}
	if err := j.giveBack(l.To, claim{lettersTo, 1}); err != nil {
		return err
	}
	return then(l)
}

// putAside takes what needs no more than the owner's look off its list.
// row is read into, so that a damaged one is told.
func (j *judge) putAside(t store.Table, id string, row any) error {
	known, err := j.tx.Get(t, id, row)
	if err == nil && !known {
		err = unknown("nothing waits of %q: see `agentmaild waiting list`", id)
	}
	if err != nil {
		return err
	}
	return j.tx.Delete(t, id)
}

func (j *judge) held(id string) (messageRow, error) {
	var row messageRow
	known, err := j.tx.Get(tableMessages, id, &row)
	if err == nil && (!known || row.Fate != FateHeld) {
		err = unknown("no message waits under %q: see `agentmaild waiting list`", id)
	}
	return row, err
}

// approve takes a held message through its thread, as the thread stands now
// (D57).
func (j *judge) approve(id string) error {
	row, err := j.held(id)
	if err != nil {
		return err
	}
	p, err := row.proven()
	if err != nil {
		return err
	}
	now := j.in.srv.Now().Unix()
	var thread threadRow
	if _, err := j.tx.Get(tableThreads, row.Thread, &thread); err != nil {
		return err
	}
	next, effects, err := threads.Apply(thread.Thread, threads.Event{Message: p.found.Message, At: max(row.At, now), Records: j.in.records(p)})
	if err != nil {
		return cannot("%w", err)
	}
	thread.Thread = next
	thread.Messages = append(thread.Messages, id)
	if err := j.putThread(&thread); err != nil {
		return err
	}
	if err := j.putAccepted(p); err != nil {
		return err
	}
	e := Event{Kind: KindDecided, Result: p.named(Result{Verdict: Accepted, Reason: "approved by the owner"}), Proof: p.proof, Message: jsontext.Value(p.found.Canonical), Changes: effects}
	return j.event(e, true)
}

// Pending returns the event that the handler is to be asked about by now: the
// oldest that it was not asked about, and then the one that failed and is due the
// longest, since many that fail slowly would hold up those behind them for ever.
// Without one it returns the time at which the next must be asked about, and a
// channel that is closed when there may be one before.
func (in *Inbox) Pending() (*Event, time.Time, <-chan struct{}, error) {
	more := in.events.wait()
	now := in.srv.Now()
	next := now.Add(time.Hour)
	var event *Event
	err := in.view(func(tx *store.Tx) error {
		due, first := "", int64(0)
		err := tx.Scan(tablePending, "", "", func(r store.Row) (bool, error) {
			var row pendingRow
			if err := r.Decode(&row); err != nil {
				return false, err
			}
			if at := time.Unix(row.Next, 0); at.After(now) && !at.After(now.Add(maxHandlerWait)) { // later: the clock was ahead (D164)
				if at.Before(next) {
					next = at
				}
				return true, nil
			}
			if due == "" || row.Next < first {
				due, first = r.Key, row.Next
			}
			return first != 0, nil
		})
		if err != nil || due == "" {
			return err
		}
		event = &Event{}
		_, err = tx.Get(tableEvents, due, event)
		return err
	})
	return event, next, more, err
}

// maxHandlerWait is the longest time until the handler is asked again.
const maxHandlerWait = time.Hour

// HandlerFailed leaves an event pending, to be asked about again after a time
// that grows from a minute to an hour.
func (in *Inbox) HandlerFailed(seq, problem string) error {
	return in.commit(func(j *judge) error {
		var row pendingRow
		if known, err := j.tx.Get(tablePending, seq, &row); err != nil || !known {
			return err
		}
		row.Error = problem
		row.Next = j.in.srv.Now().Add(backoff(row.Tries, time.Minute, maxHandlerWait)).Unix()
		row.Tries++
		return j.tx.Put(tablePending, seq, row)
	})
}

// HandlerDone notes that the handler wants nothing done about an event. Do
// notes it itself for an action that names the event.
func (in *Inbox) HandlerDone(seq string) error {
	return in.commit(func(j *judge) error { return j.answered(seq) })
}

// answered takes an event off what is pending. An action that answers an
// event which is not pending would be a second answer, and is refused.
func (j *judge) answered(seq string) error {
	if seq == "" {
		return nil
	}
	var row pendingRow
	known, err := j.tx.Get(tablePending, seq, &row)
	if err != nil {
		return err
	}
	if !known {
		return cannot("event %s is not pending: it was answered before", seq)
	}
	return j.tx.Delete(tablePending, seq)
}
