package inbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// maxRetryWait is the longest time between two tries of a mail.
const maxRetryWait = time.Hour

// Tick lets time pass: offers expire, answers that waited too long fail,
// nonces that can do no harm any more are forgotten, and mails that waited for
// DNS or a key page are looked at again. It is called every few seconds; what
// it does not do in time, the next delivery to the thread does.
func (in *Inbox) Tick(ctx context.Context) error {
	now := in.srv.Now().Unix()
	busy, err := in.isDue(now)
	if err != nil {
		return err
	}
	if busy {
		if err := in.commit(func(j *judge) error { return j.tick(now) }); err != nil {
			return fmt.Errorf("letting time pass: %w", err)
		}
	}
	if err := in.resign(ctx, now); err != nil {
		return err
	}
	return in.retry(ctx, now)
}

// isDue looks, without writing, whether tick has anything to do.
func (in *Inbox) isDue(now int64) (bool, error) {
	busy := false
	err := in.view(func(tx *store.Tx) error {
		for _, t := range []store.Table{tableDue, tableForget} {
			err := tx.Scan(t, "", "", func(r store.Row) (bool, error) {
				busy = busy || r.Key < dueKey(now+1, "")
				return false, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return busy, err
}

func (j *judge) tick(now int64) error {
	due, err := j.take(tableDue, now)
	if err != nil {
		return err
	}
	for _, what := range due {
		kind, id, _ := strings.Cut(what, "/")
		switch kind {
		case "thread":
			err = j.expire(id, now)
		case "park":
			err = j.unpark(id, now)
		}
		if err != nil {
			return err
		}
	}
	forget, err := j.take(tableForget, now)
	if err != nil {
		return err
	}
	for _, key := range forget {
		if err := j.tx.Delete(tableNonces, key); err != nil {
			return err
		}
	}
	return j.trimEvents()
}

// take removes the rows of a table that are due and returns what they name.
func (j *judge) take(t store.Table, now int64) ([]string, error) {
	var keys []string
	err := j.tx.Scan(t, "", "", func(r store.Row) (bool, error) {
		if r.Key >= dueKey(now+1, "") {
			return false, nil
		}
		keys = append(keys, r.Key)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		if err := j.tx.Delete(t, key); err != nil {
			return nil, err
		}
		_, keys[i], _ = strings.Cut(key, "/")
	}
	return keys, nil
}

// expire lets the time pass in one thread.
func (j *judge) expire(id string, now int64) error {
	var row threadRow
	if ok, err := j.tx.Get(tableThreads, id, &row); err != nil || !ok {
		return err
	}
	next, effects := threads.Tick(row.Thread, now)
	row.Thread, row.Due = next, 0
	if err := j.putThread(&row); err != nil || effects == nil {
		return err
	}
	return j.event(Event{Kind: KindExpired, Result: Result{Thread: id}, Changes: effects}, false)
}

// unpark fails a message that waited for more than a day (D18).
func (j *judge) unpark(id string, now int64) error {
	var row messageRow
	if ok, err := j.tx.Get(tableMessages, id, &row); err != nil || !ok || row.Fate != FateParked || row.WaitsFor == "" {
		return err
	}
	if row.At+int64(parkLimit/time.Second) > now { // parked anew since
		return nil
	}
	p, err := row.proven()
	if err != nil {
		return err
	}
	if err := j.tx.Delete(tableWaits, row.WaitsFor+"/"+id); err != nil {
		return err
	}
	if err := j.tx.Delete(tableMessages, id); err != nil {
		return err
	}
	return j.received(p, p.named(refused(CodePrev, "the message it answers did not come")), nil)
}

// trimEvents drops the oldest events beyond those that are kept, but none that
// the handler has not answered.
func (j *judge) trimEvents() error {
	last := j.tx.Last(tableEvents)
	if last <= keepEvents {
		return nil
	}
	first := store.Key(last - keepEvents + 1)
	var old []string
	err := j.tx.Scan(tableEvents, "", "", func(r store.Row) (bool, error) {
		if r.Key >= first {
			return false, nil
		}
		pending, err := j.tx.Get(tablePending, r.Key, &pendingRow{})
		if !pending {
			old = append(old, r.Key)
		}
		return true, err
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := j.tx.Delete(tableEvents, key); err != nil {
			return err
		}
	}
	return nil
}

// again reads the rows of a table of tries that are due, a bounded number.
func (in *Inbox) again(t store.Table, now int64) (map[string]retryRow, error) {
	rows := map[string]retryRow{}
	err := in.view(func(tx *store.Tx) error {
		return tx.Scan(t, "", "", func(r store.Row) (bool, error) {
			var row retryRow
			if err := r.Decode(&row); err != nil {
				return false, err
			}
			if row.Next <= now {
				rows[r.Key] = row
			}
			return len(rows) < maxProving, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("looking for what to try again: %w", err)
	}
	return rows, nil
}

// after is the row of the next try.
func (r retryRow) after(now int64) retryRow {
	r.Tries++
	r.Next = now + int64(backoff(r.Tries, time.Minute, maxRetryWait)/time.Second)
	return r
}

// retry looks again at mails that are due.
func (in *Inbox) retry(ctx context.Context, now int64) error {
	rows, err := in.again(tableRetries, now)
	if err != nil {
		return err
	}
	for key, row := range rows {
		p := in.proveSafely(ctx, Mail{Raw: row.Raw, Arrival: time.Unix(row.Arrival, 0)})
		if err := ctx.Err(); err != nil {
			return err
		}
		err := in.commit(func(j *judge) error {
			result, err := j.deliver(p)
			if err != nil {
				return err
			}
			if result.Verdict == Retry {
				return j.tx.Put(tableRetries, key, row.after(now))
			}
			return j.tx.Delete(tableRetries, key)
		})
		if err != nil {
			return fmt.Errorf("trying a mail again: %w", err)
		}
	}
	return nil
}

// resign looks again at the signatures of messages that waited for another
// one and for a key page, and that only wait for the page now.
func (in *Inbox) resign(ctx context.Context, now int64) error {
	rows, err := in.again(tableSigns, now)
	if err != nil {
		return err
	}
	for id, row := range rows {
		var p *proven
		err := in.view(func(tx *store.Tx) (err error) {
			p, err = parked(tx, id)
			return err
		})
		if err != nil {
			return err
		}
		if p != nil {
			in.proveSignature(ctx, p)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err = in.commit(func(j *judge) error {
			if p != nil && p.retrying() {
				return j.tx.Put(tableSigns, id, row.after(now))
			}
			if err := j.tx.Delete(tableSigns, id); err != nil || p == nil {
				return err
			}
			return j.goOnWith(p)
		})
		if err != nil {
			return fmt.Errorf("checking a signature again: %w", err)
		}
	}
	return nil
}
