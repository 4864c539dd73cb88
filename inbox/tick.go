package inbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// Tick lets time pass: offers and held messages expire, answers that waited
// too long fail, what can do no harm any more is forgotten, and the owner is
// mailed about what waits. It is called every few seconds; what it does not do
// in time, the next delivery to the thread does.
func (in *Inbox) Tick() error {
	if err := errors.Join(in.passTime(), in.remind(in.srv.Now())); err != nil {
		return fmt.Errorf("letting time pass: %w", err)
	}
	return nil
}

func (in *Inbox) passTime() error {
	now := in.srv.Now().Unix()
	due, old, err := in.due(now)
	if err != nil {
		return err
	}
	if len(due) == 0 && !old {
		return nil
	}
	err = in.commit(func(j *judge) error {
		for _, d := range due {
			if err := j.pass(d, now); err != nil {
				return err
			}
		}
		return j.trimEvents()
	})
	if err != nil { // what cannot be read holds up nothing else
		for _, d := range due {
			_ = in.commit(func(j *judge) error { return j.pass(d, now) })
		}
	}
	return err
}

// maxDue bounds how much is done in one transaction. Senders choose exp, and
// may have much come at one time; the rest is done at the next Tick.
const maxDue = 5000

// dueRow is a row of a table whose keys begin with a time that has come.
type dueRow struct {
	table store.Table
	key   string
}

// due looks, without writing, what the time has come for, and whether events
// are too old.
func (in *Inbox) due(now int64) (due []dueRow, old bool, err error) {
	err = in.view(func(tx *store.Tx) error {
		for _, t := range []store.Table{tableDue, tableForget} {
			err := tx.Scan(t, "", "", func(r store.Row) (bool, error) {
				come := r.Key < dueKey(now+1, "")
				if come {
					due = append(due, dueRow{t, r.Key})
				}
				return come && len(due) < maxDue, nil
			})
			if err != nil {
				return err
			}
		}
		events, err := oldEvents(tx, 1)
		old = len(events) > 0
		return err
	})
	return due, old, err
}

// pass lets the time come for one thing.
func (j *judge) pass(d dueRow, now int64) error {
	if err := j.tx.Delete(d.table, d.key); err != nil {
		return err
	}
	_, what, _ := strings.Cut(d.key, "/")
	if d.table == tableForget {
		return j.forget(what)
	}
	switch kind, id, _ := strings.Cut(what, "/"); kind {
	case "thread":
		return j.expire(id, now)
	case "park":
		return j.unpark(id, now)
	case "held":
		return j.unhold(id, now)
	case "reply":
		return j.tx.Delete(tableReplies, id)
	case "left":
		_, err := j.unleave(id)
		return err
	case "rate":
		return j.newHour(id, now)
	case "met":
		return j.unmeet(id)
	case "visits":
		return j.forgetVisits(id, now)
	case "door":
		return j.leaveDoor(id)
	case "knock":
		return j.endKnock(id)
	case "spool":
		return j.unspool(id)
	case "time":
		return j.tx.Delete(tableTimes, id)
	case "action":
		return j.dropAction(id, "it expired while it waited for the owner")
	case "answer":
		return j.forgetAnswer(id)
	case "once":
		return j.tx.Delete(tableOnce, id)
	case "review":
		return j.tx.Delete(tableReviews, id)
	default:
		return nil
	}
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
	last, err := tx.Last(tableEvents)
	if err != nil || last <= keepEvents {
		return nil, err
	}
	first := store.Key(last - keepEvents + 1)
	var old []string
	err = tx.Scan(tableEvents, "", "", func(r store.Row) (bool, error) {
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
