package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

type row struct {
	Name  string
	Count int
}

const table Table = "rows"

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fresh(t *testing.T) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "store.db"))
}

func put(t *testing.T, s *Store, inbox, key string, value row) {
	t.Helper()
	if err := s.Update(inbox, func(tx *Tx) error { return tx.Put(table, key, value) }); err != nil {
		t.Fatal(err)
	}
}

// get reads one row; ok is false where there is none.
func get(t *testing.T, s *Store, inbox, key string) (value row, ok bool) {
	t.Helper()
	err := s.View(inbox, func(tx *Tx) (err error) {
		ok, err = tx.Get(table, key, &value)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value, ok
}

func TestRowsLastAcrossReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want := row{"mug", 200}
	put(t, s, "sales", "a", want)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, ok := get(t, open(t, path), "sales", "a"); !ok || got != want {
		t.Errorf("%v, %v; want %v", got, ok, want)
	}
}

func TestWriteTime(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	before := s.WriteTime()
	if err := s.Update("x", func(tx *Tx) error { return tx.Put("t", "k", 1) }); err != nil {
		t.Fatal(err)
	}
	if s.WriteTime() <= before || s.Failed() != 0 {
		t.Errorf("%s before a commit, %s after it; %d failed", before, s.WriteTime(), s.Failed())
	}
}

func TestInboxesAreApart(t *testing.T) {
	s := fresh(t)
	put(t, s, "sales", "a", row{"sales", 1})
	put(t, s, "buying", "a", row{"buying", 2})
	if err := s.Update("buying", func(tx *Tx) error { return tx.Delete(table, "a") }); err != nil {
		t.Fatal(err)
	}
	if got, ok := get(t, s, "sales", "a"); !ok || got.Name != "sales" {
		t.Errorf("sales has %v, %v", got, ok)
	}
	for _, inbox := range []string{"buying", "sale", "unheard of", ""} {
		if got, ok := get(t, s, inbox, "a"); ok {
			t.Errorf("inbox %q has %v", inbox, got)
		}
	}
	if err := s.Update("", func(*Tx) error { return nil }); err == nil {
		t.Error("an inbox without a name was written to")
	}
}

func TestNewFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	open(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	version := func(value string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			err = s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(versionKey, []byte(value)) })
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    error // nil where no caller tells it apart
	}{
		"open elsewhere": {func(t *testing.T, path string) { open(t, path) }, ErrLocked},
		"a newer schema": {version("2"), ErrNewer},
		"no number":      {version("one"), nil},
		"no store":       {func(t *testing.T, path string) { write(t, path, []byte("not a store, though long enough")) }, nil},
		"cut off":        {func(t *testing.T, path string) { write(t, path, cut(t)) }, ErrDamaged},
		"a folder there": {func(t *testing.T, path string) { mkdir(t, path) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			tc.prepare(t, path)
			s, err := Open(path)
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%v; want %v", err, tc.want)
			}
			for _, other := range []error{ErrLocked, ErrNewer, ErrDamaged} {
				if other != tc.want && errors.Is(err, other) {
					t.Errorf("%v is %v", err, other)
				}
			}
		})
	}
}

// cut is the first three pages of a store.
func cut(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(closed(t))
	if err != nil {
		t.Fatal(err)
	}
	return data[:3*os.Getpagesize()]
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestClosed(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	never := func(*Tx) error {
		t.Error("run on a closed store")
		return nil
	}
	for name, err := range map[string]error{
		"update": s.Update("sales", never),
		"view":   s.View("sales", never),
		"backup": s.Backup(io.Discard),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v; want ErrClosed", name, err)
		}
	}
}
