package inbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// Tick lets time pass: offers and held messages expire, answers that waited
// too long fail, and what can do no harm any more is forgotten. It is called
// every few seconds; what it does not do in time, the next delivery to the
// thread does.
func (in *Inbox) Tick() error {
	now := in.srv.Now().Unix()
	busy, err := in.isDue(now)
	if err == nil && busy {
		err = in.commit(func(j *judge) error { return j.tick(now) })
	}
	if err != nil {
		return fmt.Errorf("letting time pass: %w", err)
	}
	return nil
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
		old, err := oldEvents(tx, 1)
		busy = busy || len(old) > 0
		return err
	})
	return busy, err
}

func (j *judge) tick(now int64) error {
	due, err := j.due(tableDue, now)
	if err != nil {
		return err
	}
	for _, what := range due {
		if err := j.pass(what, now); err != nil {
			return err
		}
	}
	forget, err := j.due(tableForget, now)
	if err != nil {
		return err
	}
	for _, key := range forget {
		if err := j.forget(key); err != nil {
			return err
		}
	}
	return j.trimEvents()
}

// pass lets the time come for one thing that is due.
func (j *judge) pass(what string, now int64) error {
	switch kind, id, _ := strings.Cut(what, "/"); kind {
	case "thread":
		return j.expire(id, now)
	case "park":
		return j.unpark(id, now)
	case "held":
		return j.unhold(id, now)
	case "rate":
		return j.newHour(id, now)
	default:
		return nil
	}
}

// due removes the rows of a table that are due and returns what they name.
func (j *judge) due(t store.Table, now int64) ([]string, error) {
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
	if err := j.drop(p); err != nil {
		return err
	}
	return j.received(p, p.named(refused(CodePrev, "the message it answers did not come")), nil)
}

// unhold drops a held message that has expired: the owner has nothing left to
// decide. The event says so.
func (j *judge) unhold(id string, now int64) error {
	var row messageRow
	if ok, err := j.tx.Get(tableMessages, id, &row); err != nil || !ok || row.Fate != FateHeld {
		return err
	}
	p, err := row.proven()
	if err != nil {
		return err
	}
	if keepUntil(&p.found.Message) >= now { // held anew since
		return nil
	}
	if err := j.drop(p); err != nil {
		return err
	}
	result := p.named(Result{Reason: "it expired while it waited for the owner"})
	return j.event(Event{Kind: KindExpired, Result: result, Proof: p.proof}, false)
}

// trimEvents drops the events that are too old.
func (j *judge) trimEvents() error {
	old, err := oldEvents(j.tx, keepEvents)
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

// oldEvents returns up to limit events beyond those that are kept, oldest
// first, and none that the handler has not answered.
func oldEvents(tx *store.Tx, limit int) ([]string, error) {
	last := tx.Last(tableEvents)
	if last <= keepEvents {
		return nil, nil
	}
	first := store.Key(last - keepEvents + 1)
	var old []string
	err := tx.Scan(tableEvents, "", "", func(r store.Row) (bool, error) {
		if r.Key >= first {
			return false, nil
		}
		pending, err := tx.Get(tablePending, r.Key, &pendingRow{})
		if !pending {
			old = append(old, r.Key)
		}
		return len(old) < limit, err
	})
	return old, err
}
