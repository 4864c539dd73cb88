package store

import (
	"errors"
	"path/filepath"
	"testing"
)

// A rehearsal fails every row once, tells of a function that goes on over it,
// leaves nothing behind, and what is done in earnest is done once.
func TestRehearse(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	careful := func(tx *Tx) error {
		if _, err := tx.Get("rows", "a", new(int)); err != nil {
			return err
		}
		if err := tx.Put("rows", "a", 1); err != nil {
			return err
		}
		return tx.Delete("rows", "b")
	}
	careless := func(tx *Tx) error {
		if _, err := tx.Next("rows"); err != nil {
			return nil
		}
		_ = tx.Scan("rows", "", "", func(Row) (bool, error) { return true, nil })
		return nil
	}
	for name, c := range map[string]struct {
		fn    func(*Tx) error
		rows  int
		wrong int
	}{
		"careful":  {careful, 3, 0},
		"careless": {careless, 3, 3}, // Next reads and writes
	} {
		t.Run(name, func(t *testing.T) {
			runs, wrong := 0, 0
			s.Rehearse(func(err error) {
				if errors.Is(err, ErrRehearsed) {
					t.Error("told of one that failed as it should")
				}
				wrong++
			})
			err := s.Update("sales", func(tx *Tx) error { runs++; return c.fn(tx) })
			// Once for each row, once to see that there are no more, and in earnest.
			if err != nil || runs != c.rows+2 || wrong != c.wrong {
				t.Errorf("%d runs, %d wrong, %v", runs, wrong, err)
			}
		})
	}
	if err := s.View("sales", func(tx *Tx) error {
		last, err := tx.Last("rows")
		if last != 1 {
			t.Errorf("numbered %d times", last)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
