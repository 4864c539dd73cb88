package inbox

import (
	"io"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/store"
)

// hookRow is how far a webhook was told of events.
type hookRow struct {
	After string `json:"after"` // number of the last that it was told of, or that was given up
	Tries int    `json:"tries,omitzero"`
	Next  int64  `json:"next,omitzero"` // when the one behind is tried, Unix seconds
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
		if event, err = untoldAgain(tx, id); err != nil || event != nil {
			known = true
			return err
		}
		var row hookRow
		if known, err = tx.Get(tableHooks, id, &row); err != nil || !known {
			return err
		}
		if row.Next > now.Unix() {
			next = time.Unix(row.Next, 0)
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
		if known, err := j.tx.Get(tableUntold, untoldKey(id, seq), &untoldRow{}); err != nil || known {
			return orElse(err, func() error { return j.tx.Delete(tableUntold, untoldKey(id, seq)) })
		}
		return j.tx.Put(tableHooks, id, hookRow{After: seq})
	})
}

func orElse(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

// HookFailed notes that a webhook could not be told of an event, and why. It is told again after a time that grows from
// seconds to an hour, and when the event is a day old the owner is shown it.
func (in *Inbox) HookFailed(id, where string, e *Event, problem string) error {
	var jitter [1]byte // so that those that were down together do not come back together
	if _, err := io.ReadFull(in.srv.Random, jitter[:]); err != nil {
		return err
	}
	return in.commit(func(j *judge) error {
		key, failed := untoldKey(id, e.Seq), untoldRow{Event: *e, Where: where, Reason: problem}
		if known, err := j.tx.Get(tableUntold, key, &untoldRow{}); err != nil || known {
			return orElse(err, func() error { return j.tx.Put(tableUntold, key, failed) })
		}
		now := j.in.srv.Now()
		if now.Unix() >= e.At+int64(hookLimit/time.Second) {
			if err := j.makeRoomForUntold(id); err != nil {
				return err
			}
			if err := j.tx.Put(tableUntold, key, failed); err != nil {
				return err
			}
			return j.tx.Put(tableHooks, id, hookRow{After: e.Seq})
		}
		var row hookRow
		if _, err := j.tx.Get(tableHooks, id, &row); err != nil {
			return err
		}
		wait := backoff(row.Tries, firstHookWait, maxHookWait)
		row.Next, row.Tries = now.Add(wait+wait*time.Duration(jitter[0])/1024).Unix(), row.Tries+1
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

// tellAgain has a webhook told once more.
func (j *judge) tellAgain(key string) error {
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
