package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
)

// letterState is where a mail in the outbox stands.
type letterState string

// The states of a letter. Sending is written before anything is dialled: a
// crash in it leads to the same bytes being sent again.
const (
	letterQueued  letterState = "queued"
	letterSending letterState = "sending"
	letterFailed  letterState = "failed"
	letterParked  letterState = "parked" // beyond the hourly limit; the owner lets it go or not
)

// letterRow is a mail of the outbox. Once the mail server has taken it, it
// leaves the outbox.
type letterRow struct {
	To        string        `json:"to"`
	MessageID string        `json:"message_id"` // with angle brackets
	Thread    string        `json:"thread"`
	ID        string        `json:"id,omitempty"`   // of the message it carries
	Type      intent.Type   `json:"type,omitempty"` // of that message
	Kind      agentmsg.Type `json:"kind,omitempty"` // of one of Agent Emailing
	State     letterState   `json:"state"`
	Queued    int64         `json:"queued"` // Unix seconds
	Next      int64         `json:"next"`   // when it is tried next
	Tries     int           `json:"tries"`
	Error     string        `json:"error,omitempty"` // of the last try, for the owner
	Told      string        `json:"told,omitempty"`  // the same for agents; empty: as it is
	Owner     bool          `json:"owner,omitzero"`  // it tells the owner what waits: its address is not for the agent
}

const (
	firstLetterWait = time.Minute
	maxLetterWait   = 4 * time.Hour
	letterLimit     = 3 * 24 * time.Hour // how long a letter is tried
)

// result names the letter's message in an event, and what became of it.
func (l letterRow) result() Result {
	if l.Owner { // agents and webhooks read events
		return Result{Reason: "the mail to the owner could not be sent"}
	}
	return Result{Type: l.Type, Thread: l.Thread, ID: l.ID, Reason: "the mail to " + l.To + " " + l.told()}
}

// told is the error of the last try as agents are told it.
func (l letterRow) told() string { return firstOf(l.Told, l.Error) }

// waits tells whether the letter waits for the owner.
func (l letterRow) waits() bool { return l.State == letterFailed || l.State == letterParked }

// Transport hands one mail to the mail server. An error that says
// Temporary() true is tried again, any other is final. One whose words name
// what only the owner may know, such as hosts and files, has others in Told().
type Transport interface {
	Send(ctx context.Context, from, to string, raw []byte) error
}

// queue composes a draft and posts it.
func (j *judge) queue(d envelope.Draft, l letterRow) error {
	raw, err := envelope.Compose(d, j.in.srv.Random)
	if err != nil {
		return err
	}
	if len(raw) > envelope.MaxMail {
		return cannot("%w", emailing.ErrTooGreat)
	}
	l.To, l.MessageID = d.To.Address, d.MessageID
	return j.post(raw, l)
}

// post signs a mail with DKIM and puts it into the outbox, where there is room.
func (j *judge) post(raw []byte, l letterRow) error {
	full, err := j.bounded(l)
	if err != nil {
		return err
	}
	now := j.in.srv.Now()
	if j.in.srv.Signer != nil {
		if raw, err = j.in.srv.Signer.Sign(raw, now); err != nil {
			return fmt.Errorf("signing a mail: %w", err)
		}
	}
	l.State, l.Queued, l.Next = letterQueued, now.Unix(), now.Unix()
	if full {
		l.State, l.Error = letterParked, fmt.Sprintf("is one more than %d within an hour", j.in.set.HourlyLimit)
		if err := j.putBy(l, KindLetterParked, DeliveryParked); err != nil {
			return err
		}
	}
	key, err := j.tx.Next(tableOutbox)
	if err != nil {
		return err
	}
	j.queued = true
	if err := j.tx.PutBytes(tableLetters, key, raw); err != nil {
		return err
	}
	return j.tx.Put(tableOutbox, key, l)
}

// bounded refuses a letter where too many to its address wait already, and
// tells whether it is one too many for the hour. What tells the owner is bounded
// by itself (D159): an agent that writes to the owner's address would else keep
// the owner from being told.
func (j *judge) bounded(l letterRow) (full bool, err error) {
	if l.Owner {
		return false, nil
	}
	fits, err := j.fits(l.To, claim{lettersTo, 1})
	if err != nil {
		return false, err
	}
	if !fits {
		return false, cannot("too many mails to %s wait for you already: see `agentmaild waiting list`", l.To)
	}
	return j.hourly("to "+l.To, j.in.set.HourlyLimit)
}

// SendLetters drains the outbox through a transport until ctx ends. Of the
// letters that are due the one that was queued first goes first; one that
// waits to be tried again holds up no other, and may be overtaken: the other
// side parks an answer that comes before what it answers (D18).
func (in *Inbox) SendLetters(ctx context.Context, t Transport) error {
	if err := in.resume(); err != nil {
		return err
	}
	for {
		more := in.letters.wait()
		next, err := in.sendDue(ctx, t)
		if err != nil {
			in.srv.Log.Error("the outbox cannot be worked", "inbox", in.set.Name, "error", err)
			next = in.srv.Now().Add(firstLetterWait)
		}
		timer := time.NewTimer(max(next.Sub(in.srv.Now()), 0))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-more:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// resume makes letters due that were being sent when the process ended.
func (in *Inbox) resume() error {
	return in.commit(func(j *judge) error {
		cut := map[string]letterRow{}
		err := j.tx.Scan(tableOutbox, "", "", func(r store.Row) (bool, error) {
			var l letterRow
			err := r.Decode(&l)
			if l.State == letterSending {
				cut[r.Key] = l
			}
			return true, err
		})
		if err != nil {
			return err
		}
		for key, l := range cut {
			l.State, l.Next = letterQueued, j.in.srv.Now().Unix()
			if err := j.tx.Put(tableOutbox, key, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// sendGrace is how long a letter that is being sent may go on when the daemon
// is told to stop (D63): cut off, it would be sent twice.
const sendGrace = 5 * time.Second

// grace returns a context that ends a while after ctx does.
func grace(ctx context.Context) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(sendGrace, cancel) })
	return longer, func() { stop(); cancel() }
}

// sendDue tries every letter that is due and returns when the next will be.
func (in *Inbox) sendDue(ctx context.Context, t Transport) (time.Time, error) {
	sending, done := grace(ctx)
	defer done()
	for ctx.Err() == nil {
		now := in.srv.Now()
		key, letter, raw, next, err := in.nextLetter(now.Unix())
		if err != nil || key == "" {
			return next, err
		}
		letter.State = letterSending
		letter.Tries++
		letter.Next = now.Add(backoff(letter.Tries-1, firstLetterWait, maxLetterWait)).Unix()
		if err := in.commit(func(j *judge) error { return j.tx.Put(tableOutbox, key, letter) }); err != nil {
			return next, err
		}
		sendErr := t.Send(sending, in.set.Address, letter.To, raw)
		if sending.Err() != nil { // cut off: it stays in the state sending, and is sent again
			break
		}
		if err := in.settle(key, letter, sendErr); err != nil {
			return next, err
		}
	}
	return in.srv.Now(), ctx.Err()
}

// nextLetter finds a letter that is due, or when the next one will be: within
// a minute, as one that an inbox before a reload queued wakes nobody.
func (in *Inbox) nextLetter(now int64) (key string, letter letterRow, raw []byte, next time.Time, err error) {
	next = in.srv.Now().Add(time.Minute)
	err = in.view(func(tx *store.Tx) error {
		err := tx.Scan(tableOutbox, "", "", func(r store.Row) (bool, error) {
			var l letterRow
			if err := r.Decode(&l); err != nil {
				return false, err
			}
			switch due := time.Unix(l.Next, 0); {
			case l.State != letterQueued && l.State != letterSending:
			case l.Next <= now, l.Next > now+int64(maxLetterWait/time.Second): // the clock was ahead (D164)
				key, letter = r.Key, l
				return false, nil
			case due.Before(next):
				next = due
			}
			return true, nil
		})
		if err == nil && key != "" {
			raw, err = tx.GetBytes(tableLetters, key)
		}
		return err
	})
	return key, letter, raw, next, err
}

// settle notes how a try ended.
func (in *Inbox) settle(key string, l letterRow, sendErr error) error {
	now := in.srv.Now()
	if sendErr == nil {
		in.srv.Log.Info("letter sent", "inbox", in.set.Name, "id", l.ID, "message_id", l.MessageID, "tries", l.Tries)
		return in.commit(func(j *judge) error { return j.sent(key, l, now.Unix()) })
	}
	l.State, l.Error, l.Told = letterFailed, "could not be sent: "+sendErr.Error(), ""
	if words := (interface{ Told() string })(nil); errors.As(sendErr, &words) {
		l.Told = "could not be sent: " + words.Told()
	}
	temporary := (interface{ Temporary() bool })(nil)
	if errors.As(sendErr, &temporary) && temporary.Temporary() && now.Sub(time.Unix(l.Queued, 0)) < letterLimit {
		l.State = letterQueued
		in.srv.Log.Warn("letter waits", "inbox", in.set.Name, "id", l.ID, "message_id", l.MessageID, "tries", l.Tries, "error", l.Error)
		return in.commit(func(j *judge) error {
			if err := j.tx.Put(tableOutbox, key, l); err != nil {
				return err
			}
			return j.stuck(l, DeliveryRetrying, l.told())
		})
	}
	return in.commit(func(j *judge) error {
		if err := j.tx.Put(tableOutbox, key, l); err != nil {
			return err
		}
		return j.putBy(l, KindLetterFailed, DeliveryFailed)
	})
}

// putBy shows a letter that waits for the owner from now on.
func (j *judge) putBy(l letterRow, kind string, state DeliveryState) error {
	if err := j.event(Event{Kind: kind, Result: l.result()}, false); err != nil {
		return err
	}
	if err := j.count(l.To, claim{lettersTo, 1}, 1); err != nil {
		return err
	}
	return j.stuck(l, state, l.told())
}

// sent takes a letter out of the outbox and notes on its message when the
// mail server took it.
func (j *judge) sent(key string, l letterRow, at int64) error {
	if err := j.leave(key); err != nil || l.ID == "" {
		return err
	}
	if l.Kind != "" {
		return j.changeSent(l.ID, func(row *exchangeRow) { row.SentAt, row.Stuck = at, nil })
	}
	var row messageRow
	if ok, err := j.tx.Get(tableMessages, l.ID, &row); err != nil || !ok {
		return err
	}
	row.SentAt = at
	if err := j.tx.Put(tableMessages, l.ID, row); err != nil {
		return err
	}
	return j.moving(l)
}

// leave takes a letter out of the outbox.
func (j *judge) leave(key string) error {
	if err := j.tx.Delete(tableLetters, key); err != nil {
		return err
	}
	return j.tx.Delete(tableOutbox, key)
}

// own is the inbox as an address of a mail.
func (in *Inbox) own() mail.Address {
	return mail.Address{Name: in.set.Sender, Address: in.set.Address}
}
