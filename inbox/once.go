package inbox

import (
	"errors"
	"time"

	"github.com/agentmaild/agentmaild/store"
)

// Once has an action done at most once, however often it is asked for within a day.
type Once struct {
	Key  string // of whoever asks, and his own; the same for each try
	Hash string // of what is asked
}

// ErrReused is wrapped when the Key of a Once stands for another action. It is an ErrAction.
var ErrReused = errors.New("the idempotency key was used for another action: take a new key for a new action")

// onceLimit is how long the answer to an action is remembered (D161).
const onceLimit = 24 * time.Hour

// onceRow is what was answered.
type onceRow struct {
	Hash string `json:"hash"`
	Done Done   `json:"done"`
}

// answerBefore is what was answered to an action when it was done, if it was.
func answerBefore(tx *store.Tx, o *Once) (Done, bool, error) {
	if o == nil {
		return Done{}, false, nil
	}
	var row onceRow
	known, err := tx.Get(tableOnce, o.Key, &row)
	if err == nil && known && row.Hash != o.Hash {
		err = cannot("%w", ErrReused)
	}
	return row.Done, known, err
}

// answerBefore is answerBefore outside a transaction: what has happened since may have made the action one that could not be
// done again.
func (in *Inbox) answerBefore(o *Once) (done Done, known bool, err error) {
	if o == nil {
		return Done{}, false, nil
	}
	err = in.view(func(tx *store.Tx) error {
		done, known, err = answerBefore(tx, o)
		return err
	})
	return done, known, err
}

// once does an action and remembers what is answered, in the same transaction, or gives the answer of before.
func (j *judge) once(o *Once, act func() (Done, error)) (Done, error) {
	done, known, err := answerBefore(j.tx, o)
	if err != nil || known {
		return done, err
	}
	if done, err = act(); err != nil || o == nil {
		return done, err
	}
	until := j.in.srv.Now().Add(onceLimit).Unix()
	if err := j.tx.Put(tableDue, dueKey(until, "once/"+o.Key), struct{}{}); err != nil {
		return done, err
	}
	return done, j.tx.Put(tableOnce, o.Key, onceRow{Hash: o.Hash, Done: done})
}
