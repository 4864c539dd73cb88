package inbox

import (
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// leftRow is an offer of the other side that neither the price list nor a
// program answers.
type leftRow struct {
	Thread string `json:"thread"`
	From   string `json:"from"`
	At     int64  `json:"at"`  // when it came, Unix seconds
	Why    string `json:"why"` // the price list does not answer it
}

const leftPrefix = "left-"

// LeaveToOwner takes an event off what is pending. Where it is of an offer that
// can still be answered, the owner is shown it until it is answered, is put aside
// or expires (D138). why is a few words of our own.
func (in *Inbox) LeaveToOwner(e *Event, why string) error {
	return in.commit(func(j *judge) error {
		if err := j.answered(e.Seq); err != nil {
			return err
		}
		row, offer, err := offerToAnswer(j.tx, e.Thread, e.ID)
		if err != nil || offer == nil || offer.By == in.set.Address {
			return err
		}
		fits, err := j.share(offer.By, claim{leftToOwner, 1})
		if err != nil {
			return err
		}
		if !fits {
			in.srv.Log.Warn("too many offers are left to the owner, this one is in its thread alone", "inbox", in.set.Name, "id", e.ID, "thread", row.ID)
			return nil
		}
		if err := j.tx.Put(tableDue, dueKey(offer.Exp+1, "left/"+e.ID), struct{}{}); err != nil {
			return err
		}
		return j.tx.Put(tableLeft, e.ID, leftRow{Thread: row.ID, From: offer.By, At: e.At, Why: why})
	})
}

// offerToAnswer is an offer of a thread, nil where it is not open there.
func offerToAnswer(tx *store.Tx, thread, id string) (row threadRow, offer *threads.Entry, err error) {
	if _, err := tx.Get(tableThreads, thread, &row); err != nil {
		return row, nil, err
	}
	if e, ok := row.Find(id); ok && e.State == threads.Open {
		offer = &e
	}
	return row, offer, nil
}

// offersLeft lists what is left to the owner and can still be answered.
func offersLeft(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableLeft, "", "", func(r store.Row) (bool, error) {
		var left leftRow
		if err := r.Decode(&left); err != nil {
			return false, err
		}
		_, offer, err := offerToAnswer(tx, left.Thread, r.Key)
		if err != nil || offer == nil {
			return err == nil, err
		}
		var m messageRow
		if _, err := tx.Get(tableMessages, r.Key, &m); err != nil {
			return false, err
		}
		*list = append(*list, Waiting{
			Key: leftPrefix + r.Key, Kind: "left", At: left.At, Thread: left.Thread, Message: jsontext.Value(m.Canonical), Proof: m.Proof,
			Reason: fmt.Sprintf("%s: answer it with %s, or put it aside with refuse", left.Why, answersTo(left.Thread, offer)),
		})
		return true, nil
	})
}

// answersTo are the commands that answer an offer.
func answersTo(thread string, offer *threads.Entry) string {
	yes := "accept " + offer.ID
	if offer.Type == intent.AskQuote {
		yes = "quote --thread " + thread
	}
	return fmt.Sprintf("`agentmaild %s` or `agentmaild decline %s`", yes, offer.ID)
}

// unleave has an offer wait for the owner no more; it may have been put aside.
func (j *judge) unleave(id string) (known bool, err error) {
	var left leftRow
	if known, err := j.tx.Get(tableLeft, id, &left); err != nil || !known {
		return known, err
	}
	if err := j.giveBack(left.From, claim{leftToOwner, 1}); err != nil {
		return true, err
	}
	return true, j.tx.Delete(tableLeft, id)
}
