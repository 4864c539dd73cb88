package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	s := fresh(t)
	for i, key := range []string{"b/2", "a/1", "b/10", "c/1", "b/1", "b", "B/1"} {
		put(t, s, "sales", key, row{key, i})
	}
	all := []string{"B/1", "a/1", "b", "b/1", "b/10", "b/2", "c/1"}
	for name, tc := range map[string]struct {
		prefix, from string
		limit        int
		want         []string
	}{
		"all, in order":          {"", "", 99, all},
		"a prefix":               {"b/", "", 99, []string{"b/1", "b/10", "b/2"}},
		"a prefix that is a key": {"b", "", 99, []string{"b", "b/1", "b/10", "b/2"}},
		"from a key":             {"", "b/10", 99, []string{"b/10", "b/2", "c/1"}},
		"from between keys":      {"", "b/11", 99, []string{"b/2", "c/1"}},
		"prefix and from":        {"b/", "b/10", 99, []string{"b/10", "b/2"}},
		"from before the prefix": {"b/", "a", 99, []string{"b/1", "b/10", "b/2"}},
		"from behind the prefix": {"b/", "c", 99, nil},
		"no such prefix":         {"d", "", 99, nil},
		"until fn has enough":    {"", "", 2, all[:2]},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := s.View("sales", func(tx *Tx) error {
				return tx.Scan(table, tc.prefix, tc.from, func(r Row) (bool, error) {
					var v row
					if err := r.Decode(&v); err != nil || v.Name != r.Key {
						t.Errorf("row %s holds %v, %v", r.Key, v, err)
					}
					got = append(got, r.Key)
					return len(got) < tc.limit, nil
				})
			})
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%v\n%s", err, cmp.Diff(tc.want, got))
			}
		})
	}
}

func TestScanEndsWithTheErrorOfFn(t *testing.T) {
	s := fresh(t)
	put(t, s, "sales", "a", row{})
	put(t, s, "sales", "b", row{})
	want, rows := errors.New("enough"), 0
	err := s.View("sales", func(tx *Tx) error {
		return tx.Scan(table, "", "", func(Row) (bool, error) {
			rows++
			return true, want
		})
	})
	if !errors.Is(err, want) || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

func TestViewCannotWrite(t *testing.T) {
	s := fresh(t)
	put(t, s, "sales", "a", row{"kept", 1})
	for name, write := range map[string]func(*Tx) error{
		"put":    func(tx *Tx) error { return tx.Put(table, "a", row{}) },
		"delete": func(tx *Tx) error { return tx.Delete(table, "a") },
		"next": func(tx *Tx) error {
			_, err := tx.Next(table)
			return err
		},
	} {
		for _, inbox := range []string{"sales", "never written to"} {
			if err := s.View(inbox, write); !errors.Is(err, errReadOnly) {
				t.Errorf("%s in %s: %v", name, inbox, err)
			}
		}
	}
	if got, _ := get(t, s, "sales", "a"); got.Name != "kept" {
		t.Errorf("the row is %v", got)
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	s := fresh(t)
	for name, write := range map[string]func(*Tx) error{
		"no key":      func(tx *Tx) error { return tx.Put(table, "", row{}) },
		"no table":    func(tx *Tx) error { return tx.Put("", "a", row{}) },
		"not JSON":    func(tx *Tx) error { return tx.Put(table, "a", func() {}) },
		"no UTF-8":    func(tx *Tx) error { return tx.Put(table, "a", "\xff") },
		"no table 2":  func(tx *Tx) error { return tx.Delete("", "a") },
		"no sequence": func(tx *Tx) error { _, err := tx.Next(""); return err },
	} {
		if err := s.Update("sales", write); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRowOfAnotherForm(t *testing.T) {
	s := fresh(t)
	put(t, s, "sales", "a", row{"mug", 1})
	var number int
	if err := s.View("sales", func(tx *Tx) error { _, err := tx.Get(table, "a", &number); return err }); err == nil {
		t.Error("Get read an object as a number")
	}
	err := s.View("sales", func(tx *Tx) error {
		return tx.Scan(table, "", "", func(r Row) (bool, error) { return true, r.Decode(&number) })
	})
	if err == nil {
		t.Error("Decode read an object as a number")
	}
}

func TestDelete(t *testing.T) {
	s := fresh(t)
	put(t, s, "sales", "a", row{"mug", 1})
	for range 2 { // the second time it is not there
		if err := s.Update("sales", func(tx *Tx) error { return tx.Delete(table, "a") }); err != nil {
			t.Fatal(err)
		}
		if got, ok := get(t, s, "sales", "a"); ok {
			t.Errorf("still there: %v", got)
		}
	}
}

func TestNumbers(t *testing.T) {
	s := fresh(t)
	var got []string
	next := func(table Table) func(*Tx) error {
		return func(tx *Tx) error {
			key, err := tx.Next(table)
			got = append(got, key)
			return err
		}
	}
	for _, name := range []Table{table, table, "other", table} {
		if err := s.Update("sales", next(name)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{Key(1), Key(2), Key(1), Key(3)}; !slices.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	err := s.View("sales", func(tx *Tx) error {
		for name, want := range map[Table]uint64{table: 3, "never written to": 0} {
			if last, err := tx.Last(name); err != nil || last != want {
				t.Errorf("%s: Last is %d, %v", name, last, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKeySorts(t *testing.T) {
	numbers := []uint64{0, 1, 9, 10, 255, 256, 1 << 32, 1<<64 - 1}
	var keys []string
	for _, n := range numbers {
		keys = append(keys, Key(n))
	}
	if !slices.IsSorted(keys) || keys[len(keys)-1] != "ffffffffffffffff" || keys[1] != "0000000000000001" {
		t.Error(keys)
	}
}
