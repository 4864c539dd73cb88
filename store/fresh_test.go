package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// Whatever is written, deleted and settled in whatever order, a table reads as
// a sorted map would, and no other table and inbox sees anything of it.
func TestTablesAreSortedMaps(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s, err := Open(filepath.Join(dir, fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.db.NoSync = true // it is many commits, and none is to outlive the test
		want := map[string]map[string]int{}
		numbers := map[string]uint64{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			inbox, table := rapid.SampledFrom([]string{"a", "ab"}).Draw(t, "inbox"), rapid.SampledFrom([]Table{"t", "tt"}).Draw(t, "table")
			key := rapid.StringMatching(`[ab\x00/]{1,2}`).Draw(t, "key")
			name := inbox + " " + string(table)
			if want[name] == nil {
				want[name] = map[string]int{}
			}
			value := rapid.Int().Draw(t, "value")
			var err error
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				want[name][key] = value
				err = s.Update(inbox, func(tx *Tx) error { return tx.Put(table, key, value) })
			case 2:
				delete(want[name], key)
				err = s.Update(inbox, func(tx *Tx) error { return tx.Delete(table, key) })
			case 3:
				numbers[name]++
				err = s.Update(inbox, func(tx *Tx) error {
					got, err := tx.Next(table)
					if got != Key(numbers[name]) {
						t.Errorf("Next is %s; want %d", got, numbers[name])
					}
					return err
				})
			case 4:
				err = s.settleSome(rapid.IntRange(0, 4).Draw(t, "rows"))
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, rows := range want {
				compare(t, s, name, rows)
			}
		}
	})
}

// settleSome settles up to n rows.
func (s *Store) settleSome(n int) error {
	return s.db.Update(func(tx *bbolt.Tx) (err error) {
		if tx.Bucket(freshBucket) == nil {
			return nil
		}
		n = min(n, tx.Bucket(freshBucket).Stats().KeyN)
		s.fresh -= n
		s.settled, err = settle(tx, s.settled, n)
		return err
	})
}

// compare reads a table in every way.
func compare(t *rapid.T, s *Store, name string, want map[string]int) {
	inbox, rest, _ := strings.Cut(name, " ")
	table := Table(rest)
	prefix, from := rapid.StringMatching(`[ab/]?`).Draw(t, "prefix"), rapid.StringMatching(`[ab/]?`).Draw(t, "from")
	var keys, got []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if strings.HasPrefix(key, prefix) && key >= from {
			keys = append(keys, key)
		}
	}
	err := s.View(inbox, func(tx *Tx) error {
		for _, key := range []string{"a", "b", "a/", "/", "\x00"} {
			value := 0
			ok, err := tx.Get(table, key, &value)
			if wanted, there := want[key]; err != nil || ok != there || value != wanted {
				t.Errorf("%s %q: %v, %v, %v; want %v, %v", name, key, value, ok, err, wanted, there)
			}
		}
		return tx.Scan(table, prefix, from, func(r Row) (bool, error) {
			value := 0
			if err := r.Decode(&value); err != nil || value != want[r.Key] {
				t.Errorf("%s %q: %v, %v; want %v", name, r.Key, value, err, want[r.Key])
			}
			got = append(got, r.Key)
			return true, nil
		})
	})
	if err != nil || !slices.Equal(got, keys) {
		t.Errorf("%s from %q with %q: %v\n%s", name, from, prefix, err, cmp.Diff(keys, got))
	}
}

// Fresh rows do not pile up: they settle by themselves, each in its turn, and are counted over a restart, over rows that are
// written anew or deleted, and over an update that fails.
func TestRowsSettle(t *testing.T) {
	s := fresh(t)
	update := func(fail error, fn func(*Tx, string) error, keys ...string) {
		t.Helper()
		if err := s.Update("sales", func(tx *Tx) error {
			for _, key := range keys {
				if err := fn(tx, key); err != nil {
					return err
				}
			}
			return fail
		}); !errors.Is(err, fail) {
			t.Fatal(err)
		}
	}
	put := func(tx *Tx, key string) error { return tx.Put(table, key, row{}) }
	remove := func(tx *Tx, key string) error { return tx.Delete(table, key) }
	names := func(from, to int) (keys []string) {
		for n := range to - from {
			keys = append(keys, fmt.Sprintf("%06d", from+n))
		}
		return keys
	}
	check := func(want int) {
		t.Helper()
		left := 0
		if err := s.view(func(tx *bbolt.Tx) error { left = tx.Bucket(freshBucket).Stats().KeyN; return nil }); err != nil {
			t.Fatal(err)
		}
		if left != want || s.fresh != want {
			t.Errorf("%d rows are fresh, %d were counted; want %d", left, s.fresh, want)
		}
	}
	update(nil, put, names(0, freshRows)...)
	check(freshRows)
	update(nil, put, names(0, freshRows)...)
	check(freshRows)
	update(errors.New("no"), put, names(freshRows, 2*freshRows)...)
	check(freshRows)
	update(nil, put, names(freshRows, freshRows+settleAtOnce-1)...)
	check(freshRows + settleAtOnce - 1)
	update(nil, remove, names(0, 10)...)
	check(freshRows + settleAtOnce - 11)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, s.path)
	check(freshRows + settleAtOnce - 11)
	update(nil, put, names(0, 11)...) // of which one was there
	check(freshRows + settleAtOnce - 1)
	update(nil, put, names(15_000, 15_001)...)
	check(freshRows)
	update(nil, put, names(20_000, 20_000+2*freshRows)...)
	check(freshRows)
	update(nil, remove, names(0, 10)...) // settled: as many rows that say so
	check(freshRows + 10)
}
