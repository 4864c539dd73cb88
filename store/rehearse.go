package store

import "errors"

// ErrRehearsed is what the row fails with that a rehearsal has chosen.
var ErrRehearsed = errors.New("a row failed in a rehearsal")

// Rehearse is for tests of those who use a store, whose rows can fail at any
// time. From now on each Update first runs its function once for every row
// that it reads or writes, with that row failing, and takes all of it back.
// wrong is told what a function returned that went on over the failure; nil
// ends the rehearsals.
func (s *Store) Rehearse(wrong func(error)) { s.wrong = wrong }

func (s *Store) rehearse(inbox string, fn func(*Tx) error) {
	for row := 1; ; row++ {
		reached, err := s.fail(inbox, fn, row)
		if !reached {
			return // fn's own error comes again in earnest
		}
		if !errors.Is(err, ErrRehearsed) {
			s.wrong(err)
		}
	}
}

// fail runs fn with one row failing, and tells whether it came to that row.
func (s *Store) fail(inbox string, fn func(*Tx) error, row int) (reached bool, err error) {
	tx, err := s.db.Begin(true)
	if err != nil { // as in earnest
		return false, nil
	}
	defer func() { _ = tx.Rollback() }()
	t, err := openTx(tx, inbox)
	if err != nil {
		return false, nil
	}
	t.failing = row
	defer func() {
		reached = t.failing == 0
		_ = recover() // a panic comes again in earnest
	}()
	return true, fn(t)
}

// fails counts a row, and returns its error in a rehearsal.
func (tx *Tx) fails() error {
	if tx.failing == 0 {
		return nil
	}
	if tx.failing--; tx.failing == 0 {
		return ErrRehearsed
	}
	return nil
}
