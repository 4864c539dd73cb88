package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// together runs updates so that all of them wait while the committer is busy,
// and returns their errors.
func together(t *testing.T, s *Store, updates []func(*Tx) error) []error {
	t.Helper()
	busy, release := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		first <- s.Update("first", func(*Tx) error {
			close(busy)
			<-release
			return nil
		})
	}()
	<-busy
	errs := make([]error, len(updates))
	done := make(chan struct{})
	for i, fn := range updates {
		go func() {
			errs[i] = s.Update("sales", fn)
			done <- struct{}{}
		}()
	}
	synctest.Wait()
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	for range updates {
		<-done
	}
	return errs
}

func TestWaitingUpdatesShareACommit(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		commits := map[int]int{}
		var updates []func(*Tx) error
		for i := range 64 {
			updates = append(updates, func(tx *Tx) error {
				commits[tx.fresh.Tx().ID()]++
				return tx.Put(table, Key(uint64(i)), row{Count: i})
			})
		}
		for i, err := range together(t, s, updates) {
			if err != nil {
				t.Errorf("update %d: %v", i, err)
			}
		}
		if len(commits) != 1 {
			t.Errorf("updates by transaction: %v; want one transaction", commits)
		}
		for i := range 64 {
			if got, ok := get(t, s, "sales", Key(uint64(i))); !ok || got.Count != i {
				t.Errorf("row %d: %v, %v", i, got, ok)
			}
		}
	})
}

func TestMoreThanABatch(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		commits := map[int]int{}
		updates := make([]func(*Tx) error, maxBatch+1)
		for i := range updates {
			updates[i] = func(tx *Tx) error { commits[tx.fresh.Tx().ID()]++; return nil }
		}
		together(t, s, updates)
		if len(commits) != 2 {
			t.Errorf("updates by transaction: %v; want two transactions", commits)
		}
	})
}

// One that fails takes nothing of the others with it, and leaves nothing of
// its own, not even what it wrote before it failed.
func TestFailingUpdateRollsBackOnlyItself(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		want := errors.New("no")
		var updates []func(*Tx) error
		for i := range 9 {
			updates = append(updates, func(tx *Tx) error {
				if err := tx.Put(table, fmt.Sprint(i), row{Count: i}); err != nil {
					return err
				}
				if i%3 == 1 {
					return fmt.Errorf("update %d: %w", i, want)
				}
				return nil
			})
		}
		for i, err := range together(t, s, updates) {
			_, stored := get(t, s, "sales", fmt.Sprint(i))
			if fails := i%3 == 1; errors.Is(err, want) != fails || stored == fails {
				t.Errorf("update %d: %v, stored %v", i, err, stored)
			}
			if err != nil && err.Error() != fmt.Sprintf("update %d: no", i) {
				t.Errorf("update %d has the error of another: %v", i, err)
			}
		}
	})
}

// One that fails for what another did in the same commit is told when that is
// durable: who looks then sees why.
func TestFailureIsToldWithItsCause(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		taken := errors.New("taken")
		busy, release, seen := make(chan struct{}), make(chan struct{}), make(chan bool)
		take := func(tx *Tx) error {
			if known, err := tx.Get(table, "one", &row{}); err != nil || known {
				return errors.Join(err, taken)
			}
			return tx.Put(table, "one", row{})
		}
		go func() { _ = s.Update("first", func(*Tx) error { close(busy); <-release; return nil }) }()
		<-busy
		const times = 8
		for range times {
			go func() {
				failed := errors.Is(s.Update("sales", take), taken)
				_, stored := get(t, s, "sales", "one")
				seen <- failed && !stored
			}()
		}
		synctest.Wait()
		close(release)
		for range times {
			if <-seen {
				t.Error("it was told that another was faster, and nothing of that is there")
			}
		}
	})
}

// A panic in one update is its error, names its place, and takes nothing of
// the others with it.
func TestPanickingUpdate(t *testing.T) {
	path := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		var updates []func(*Tx) error
		for i := range 3 {
			updates = append(updates, func(tx *Tx) error {
				if err := tx.Put(table, fmt.Sprint(i), row{Count: i}); err != nil {
					return err
				}
				if i == 1 {
					panic("no")
				}
				return nil
			})
		}
		for i, err := range together(t, s, updates) {
			_, stored := get(t, s, "sales", fmt.Sprint(i))
			if panics := i == 1; errors.Is(err, ErrPanic) != panics || stored == panics {
				t.Errorf("update %d: %v, stored %v", i, err, stored)
			}
			if err != nil && !strings.Contains(err.Error(), "no, in commit_test.go:") {
				t.Errorf("update %d: %v", i, err)
			}
		}
		if err := s.Sound(); err != nil {
			t.Error(err)
		}
	})
}
