package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"go.etcd.io/bbolt"
)

// commitAll is the one goroutine that writes. It waits for an update, takes
// what else waits at that moment, and commits them together: the two syncs of
// a commit are shared, and nobody waits for a timer.
func (s *Store) commitAll() {
	for {
		select {
		case c := <-s.calls:
			s.commit(s.waiting([]*call{c}))
		case <-s.quit:
			return
		}
	}
}

func (s *Store) waiting(batch []*call) []*call {
	for len(batch) < maxBatch {
		select {
		case c := <-s.calls:
			batch = append(batch, c)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction. bbolt can undo only a whole
// transaction, so when one call fails the others are run again without it. It
// may have failed for what those before it do: it is told when that is durable,
// and where that fails, that it does.
func (s *Store) commit(batch []*call) {
	var broken error
	for len(batch) > 0 {
		failed, err := s.try(batch)
		if failed < 0 {
			if err == nil {
				s.commits.Add(1)
			} else {
				s.failed.Add(1) // a full disk, above all; the next one may go through
				err = fmt.Errorf("writing the store: %w", err)
				broken = err
			}
			for _, c := range batch {
				c.err <- err
			}
			return
		}
		c := batch[failed]
		defer func() { c.err <- cmp.Or(broken, err) }()
		batch = append(batch[:failed:failed], batch[failed+1:]...)
	}
}

// try returns which call failed, -1 for none. A transaction that met damage is
// left as it is: to roll it back reads the damaged file, and ends the process.
func (s *Store) try(batch []*call) (failed int, err error) {
	defer s.note(&err)
	if err := s.met(); err != nil {
		return -1, err
	}
	defer damaged(&err)()
	tx, err := s.db.Begin(true)
	if err != nil {
		return -1, err
	}
	fresh := s.fresh
	for i, c := range batch {
		grown, err := run(tx, c)
		fresh += grown
		if errors.Is(err, ErrDamaged) {
			return -1, err
		}
		if err != nil {
			_ = tx.Rollback()
			return i, err
		}
	}
	n := excess(fresh)
	settled, err := settle(tx, s.settled, n)
	switch {
	case err == nil:
		err = tx.Commit()
	case !errors.Is(err, ErrDamaged):
		_ = tx.Rollback()
	}
	if err == nil {
		s.fresh, s.settled = fresh-n, settled
	}
	return -1, err
}

// run is one call's part of a transaction, and tells by how many fresh rows it
// grew. A panic of its own is its error alone; what bbolt panics with over a
// damaged file was made an error before.
func run(tx *bbolt.Tx, c *call) (grown int, err error) {
	t, err := openTx(tx, c.inbox)
	if err != nil {
		return 0, fmt.Errorf("opening inbox %q in the store: %w", c.inbox, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v, in %s", ErrPanic, p, panicPlace())
		}
	}()
	err = c.fn(t)
	return t.grown, err
}

// openTx is tx for what an inbox writes.
func openTx(tx *bbolt.Tx, inbox string) (_ *Tx, err error) {
	defer damaged(&err)()
	if inbox == "" {
		return nil, errNoName
	}
	if _, err := tx.CreateBucketIfNotExists(freshBucket); err != nil {
		return nil, err
	}
	return inboxTx(tx, inbox)
}

// panicPlace is the line that panicked, when called by the function that
// recovers.
func panicPlace() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for panicked := false; ; {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if panicked && !inRuntime || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		panicked = panicked || frame.Function == "runtime.gopanic"
	}
}

// Programming mistakes: a write in a View, and one of a row without a name.
var (
	errReadOnly = errors.New("write in a read-only transaction")
	errNoName   = errors.New("an inbox, table or key without a name")
)
