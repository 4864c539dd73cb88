package inbox

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/store"
)

// hookRow is how far a webhook was told of events.
type hookRow struct {
	After string `json:"after"` // number of the last that it was told of, or that was given up
	Tries int    `json:"tries,omitzero"`
	Next  int64  `json:"next,omitzero"` // when the one behind is tried, Unix seconds

	// While it cannot be told.
	Where string `json:"where,omitempty"` // host of the webhook
	Error string `json:"error,omitempty"` // of the last try
	Gone  int64  `json:"gone,omitzero"`   // since when it is told nothing, Unix seconds (D168)
	Aside bool   `json:"aside,omitzero"`  // the owner wants to see no more of that
}

// HookFailure is why a webhook could not be told of an event.
type HookFailure struct {
	Where  string        // its host
	Reason string        // one line
	After  time.Duration // that it asked to be left alone for, 0 where it did not
	Gone   bool          // it wants to be told nothing more
}

// untoldRow is an event that a webhook could not be told of within a day.
type untoldRow struct {
	Event  Event  `json:"event"`
	Where  string `json:"where"` // host of the webhook
	Reason string `json:"reason"`
	Again  bool   `json:"again,omitzero"` // the owner has it tried once more
}

const (
	hookPrefix    = "webhook-"
	firstHookWait = 5 * time.Second
	maxHookWait   = time.Hour
	hookLimit     = 24 * time.Hour // how long an event is tried (D162)
	maxAskedWait  = 6 * time.Hour  // that a webhook gets by asking: an event is tried four times at least (D167)
	maxUntold     = 100            // of one webhook; the oldest make room
)

// untoldKey is the key of an event that a webhook was not told of.
func untoldKey(hook, seq string) string { return hook + "-" + seq }

// NextForHook is the event that a webhook is to be told of now; without one, the time at which to ask again, and a channel
// that is closed when there may be one before. A webhook that is new begins with the next event that happens. The id of a
// webhook has no hyphen.
func (in *Inbox) NextForHook(id string) (event *Event, next time.Time, more <-chan struct{}, err error) {
	more = in.events.wait()
	now := in.srv.Now()
	next = now.Add(time.Hour)
	known := false
	err = in.view(func(tx *store.Tx) error {
		var row hookRow
		if known, err = tx.Get(tableHooks, id, &row); err != nil || row.Gone > 0 {
			return err
		}
		if event, err = untoldAgain(tx, id); err != nil || event != nil || !known {
			return err
		}
		if at := time.Unix(row.Next, 0); at.After(now) && !at.After(now.Add(maxAskedWait)) { // later: the clock was ahead (D164)
			next = at
			return nil
		}
		return tx.Scan(tableEvents, "", row.After+"\x00", func(r store.Row) (bool, error) {
			event = &Event{}
			return false, r.Decode(event)
		})
	})
	if err == nil && !known {
		err = in.beginHook(id)
	}
	return event, next, more, err
}

// beginHook notes where a webhook begins.
func (in *Inbox) beginHook(id string) error {
	return in.commit(func(j *judge) error {
		last, err := j.tx.Last(tableEvents)
		if err != nil {
			return err
		}
		return j.tx.Put(tableHooks, id, hookRow{After: store.Key(last)})
	})
}

// untoldAgain is the first event that the owner has tried once more, nil without one.
func untoldAgain(tx *store.Tx, id string) (event *Event, err error) {
	err = tx.Scan(tableUntold, untoldKey(id, ""), "", func(r store.Row) (bool, error) {
		var row untoldRow
		if err := r.Decode(&row); err != nil || !row.Again {
			return err == nil, err
		}
		event = &row.Event
		return false, nil
	})
	return event, err
}

// HookTold notes that a webhook was told of an event.
func (in *Inbox) HookTold(id, seq string) error {
	return in.commit(func(j *judge) error {
		known, err := j.tx.Get(tableUntold, untoldKey(id, seq), &untoldRow{})
		if err != nil {
			return err
		}
		after := seq
		if known { // of one that was given up before
			var row hookRow
			if _, err := j.tx.Get(tableHooks, id, &row); err != nil {
				return err
			}
			if err := j.tx.Delete(tableUntold, untoldKey(id, seq)); err != nil {
				return err
			}
			after = row.After
		}
		return j.tx.Put(tableHooks, id, hookRow{After: after})
	})
}

// HookFailed notes that a webhook could not be told of an event, and why. It is told again after a time that grows from
// seconds to an hour, or that it asked for, and when the event is a day old the owner is shown it. One that is gone is told
// nothing until the owner has it told again.
func (in *Inbox) HookFailed(id string, e *Event, f HookFailure) error {
	var jitter [1]byte // so that those that were down together do not come back together
	if _, err := io.ReadFull(in.srv.Random, jitter[:]); err != nil {
		return err
	}
	return in.commit(func(j *judge) error {
		var row hookRow
		if _, err := j.tx.Get(tableHooks, id, &row); err != nil {
			return err
		}
		now := j.in.srv.Now()
		row.Where, row.Error = f.Where, f.Reason
		key, failed := untoldKey(id, e.Seq), untoldRow{Event: *e, Where: f.Where, Reason: f.Reason}
		again, err := j.tx.Get(tableUntold, key, &untoldRow{})
		age := now.Sub(time.Unix(e.At, 0))
		old := age >= hookLimit || age < -maxHookWait // it happened while the clock was ahead (D164): its day may be years away
		switch {
		case err != nil:
			return err
		case f.Gone:
			row.Gone, row.Aside = now.Unix(), false
			return j.tx.Put(tableHooks, id, row)
		case again:
			return j.tx.Put(tableUntold, key, failed)
		case old:
			if err := j.makeRoomForUntold(id); err != nil {
				return err
			}
			if err := j.tx.Put(tableUntold, key, failed); err != nil {
				return err
			}
			row.After, row.Tries, row.Next = e.Seq, 0, now.Add(min(f.After, maxAskedWait)).Unix()
			return j.tx.Put(tableHooks, id, row)
		}
		wait := backoff(row.Tries, firstHookWait, maxHookWait)
		wait = max(wait+wait*time.Duration(jitter[0])/1024, min(f.After, maxAskedWait))
		row.Next, row.Tries = now.Add(wait).Unix(), row.Tries+1
		return j.tx.Put(tableHooks, id, row)
	})
}

// makeRoomForUntold drops the oldest of what a webhook was not told of, where there is no room for one more.
func (j *judge) makeRoomForUntold(id string) error {
	var keys []string
	err := j.tx.Scan(tableUntold, untoldKey(id, ""), "", func(r store.Row) (bool, error) {
		keys = append(keys, strings.Clone(r.Key))
		return true, nil
	})
	if err != nil || len(keys) < maxUntold {
		return err
	}
	j.in.srv.Log.Warn("an event that a webhook was not told of makes room", "inbox", j.in.set.Name, "event", keys[0])
	return j.tx.Delete(tableUntold, keys[0])
}

// goneHooks lists the webhooks that are told nothing because they wanted it so.
func goneHooks(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableHooks, "", "", func(r store.Row) (bool, error) {
		var row hookRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		if row.Gone > 0 && !row.Aside {
			*list = append(*list, Waiting{Key: hookPrefix + r.Key, Kind: "webhook", At: row.Gone, Reason: "the webhook at " + row.Where + " is told nothing until you approve this: " + row.Error})
		}
		return true, nil
	})
}

// untoldEvents lists what webhooks could not be told of.
func untoldEvents(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableUntold, "", "", func(r store.Row) (bool, error) {
		var row untoldRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		if !row.Again {
			reason := "the webhook at " + row.Where + " was not told of event " + row.Event.Seq + ": " + row.Reason
			*list = append(*list, Waiting{Key: hookPrefix + r.Key, Kind: "webhook", At: row.Event.At, Reason: reason, Thread: row.Event.Thread})
		}
		return true, nil
	})
}

// tellAgain has a webhook told once more of an event, or told again where it was gone.
func (j *judge) tellAgain(key string) error {
	if !strings.Contains(key, "-") {
		return j.goneHook(key, func(row *hookRow) {
			row.Gone, row.Tries, row.Next, row.Aside = 0, 0, 0, false
		})
	}
	var row untoldRow
	known, err := j.tx.Get(tableUntold, key, &row)
	if err == nil && (!known || row.Again) {
		err = unknown("nothing waits under %q: see `agentmaild waiting list`", hookPrefix+key)
	}
	if err != nil {
		return err
	}
	row.Again = true
	j.events = append(j.events, Event{Kind: KindDecided, Seq: row.Event.Seq}) // wakes who tells
	return j.tx.Put(tableUntold, key, row)
}

// putHookAside takes what tellAgain could have told off the owner's list. A webhook that is gone stays so.
func (j *judge) putHookAside(key string) error {
	if !strings.Contains(key, "-") {
		return j.goneHook(key, func(row *hookRow) { row.Aside = true })
	}
	return j.putAside(tableUntold, key, &untoldRow{})
}

// goneHook changes the row of a webhook that is gone.
func (j *judge) goneHook(id string, change func(*hookRow)) error {
	var row hookRow
	_, err := j.tx.Get(tableHooks, id, &row)
	if err == nil && row.Gone == 0 {
		err = unknown("nothing waits under %q: see `agentmaild waiting list`", hookPrefix+id)
	}
	if err != nil {
		return err
	}
	change(&row)
	j.events = append(j.events, Event{Kind: KindDecided}) // wakes who tells
	return j.tx.Put(tableHooks, id, row)
}

// forgetHooks drops what is kept for webhooks that are not configured any more: nobody could be told of it.
func (in *Inbox) forgetHooks() error {
	left := map[store.Table][]string{}
	err := in.view(func(tx *store.Tx) error {
		for _, t := range []store.Table{tableHooks, tableUntold} {
			if err := tx.Scan(t, "", "", func(r store.Row) (bool, error) {
				if id, _, _ := strings.Cut(r.Key, "-"); !slices.Contains(in.set.Webhooks, id) {
					left[t] = append(left[t], strings.Clone(r.Key))
				}
				return true, nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(left) == 0 {
		return err
	}
	in.srv.Log.Info("webhooks that are not configured any more are forgotten", "inbox", in.set.Name, "untold", len(left[tableUntold]))
	return in.update(func(tx *store.Tx) error {
		for t, keys := range left {
			for _, key := range keys {
				if err := tx.Delete(t, key); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
