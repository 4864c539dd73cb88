package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/store"
)

// Deliver takes mails in the order in which they arrived. They are proven
// side by side and kept in one transaction, together with position, the
// mailbox's own note of how far it has read (nil: unchanged). After an error
// the same mails must be delivered again.
func (in *Inbox) Deliver(ctx context.Context, mails []Mail, pos []byte) ([]Result, error) {
	all := in.proveAll(ctx, mails, in.proving)
	defer in.dropFolders(all)
	if err := ctx.Err(); err != nil { // a check that was cut short is no verdict
		return nil, err
	}
	for _, p := range all {
		if p.err != nil {
			return nil, p.err
		}
	}
	results, err := in.take(all, pos)
	if errors.Is(err, store.ErrPanic) {
		results, err = in.takeEach(all, pos)
	}
	if err != nil {
		return nil, fmt.Errorf("keeping %d mails: %w", len(mails), err)
	}
	return results, nil
}

// take keeps mails and a position in one transaction.
func (in *Inbox) take(all []*proven, pos []byte) ([]Result, error) {
	var results []Result
	err := in.commit(func(j *judge) error {
		results = results[:0]
		for _, p := range all {
			result, err := j.deliver(p)
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		if pos == nil {
			return nil
		}
		return j.tx.Put(tablePosition, "mailbox", position(pos))
	})
	return results, err
}

// takeEach is take for mails of which one panics: each in a transaction of its
// own, so that it is only that one which is stepped over, and shown.
func (in *Inbox) takeEach(all []*proven, pos []byte) ([]Result, error) {
	var results []Result
	for _, p := range all {
		one, err := in.take([]*proven{p}, nil)
		if errors.Is(err, store.ErrPanic) {
			in.srv.Log.Error("a mail could not be handled", "inbox", in.set.Name, "uid", p.mail.UID, "problem", err)
			p.final, p.carried = end(plain(CodeNone, "the mail could not be handled")), nil
			one, err = in.take([]*proven{p}, nil)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, one...)
	}
	_, err := in.take(nil, pos)
	return results, err
}

// Position is the note that Deliver last kept, nil for a new inbox.
func (in *Inbox) Position() ([]byte, error) {
	var pos position
	err := in.view(func(tx *store.Tx) error {
		_, err := tx.Get(tablePosition, "mailbox", &pos)
		return err
	})
	return pos, err
}

// commit runs fn in a transaction; what it recorded is logged and told once
// the transaction is durable.
func (in *Inbox) commit(fn func(*judge) error) error {
	var j *judge
	err := in.update(func(tx *store.Tx) error {
		j = &judge{in: in, tx: tx}
		return fn(j)
	})
	if err != nil {
		return err
	}
	for _, e := range j.events {
		in.log(e)
	}
	for _, folder := range j.folders {
		in.removeFolder(folder)
	}
	if len(j.events) > 0 {
		in.events.fire()
	}
	if j.queued {
		in.letters.fire()
	}
	return nil
}

// backoff doubles from first to most.
func backoff(tries int, first, most time.Duration) time.Duration {
	wait := first
	for range tries {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}
