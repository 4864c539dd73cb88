package store

import (
	"errors"
	"fmt"

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
// transaction, so when one call fails the others are run again without it.
func (s *Store) commit(batch []*call) {
	for len(batch) > 0 {
		failed := -1
		err := s.db.Update(func(tx *bbolt.Tx) error {
			for i, c := range batch {
				if err := c.run(tx); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
		if failed < 0 {
			if err == nil {
				s.commits.Add(1)
			} else { // a full disk, above all; the next one may go through
				err = fmt.Errorf("writing the store: %w", err)
			}
			for _, c := range batch {
				c.err <- err
			}
			return
		}
		batch[failed].err <- err
		batch = append(batch[:failed:failed], batch[failed+1:]...)
	}
}

func (c *call) run(tx *bbolt.Tx) error {
	root, err := tx.Bucket(inboxesBucket).CreateBucketIfNotExists([]byte(c.inbox))
	if err != nil {
		return fmt.Errorf("opening inbox %q in the store: %w", c.inbox, err)
	}
	return c.fn(&Tx{root: root, writable: true})
}

// errReadOnly is a programming mistake: a write in a View.
var errReadOnly = errors.New("write in a read-only transaction")
