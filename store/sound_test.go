package store

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A page that is damaged under an open store is an error of whatever meets it
// first, and of all that comes after: nothing more is written.
func TestDamageWhileOpen(t *testing.T) {
	for name, meet := range map[string]func(*Store) error{
		"read": func(s *Store) error {
			return s.View("sales", func(tx *Tx) error { _, err := tx.Get(table, "a", new(string)); return err })
		},
		"scanned": func(s *Store) error {
			return s.View("sales", func(tx *Tx) error {
				return tx.Scan(table, "", "", func(Row) (bool, error) { return true, nil })
			})
		},
		"written": func(s *Store) error {
			return s.Update("sales", func(tx *Tx) error { return tx.Put(table, "b", "mug") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			put := func() error {
				return s.Update("sales", func(tx *Tx) error { return tx.Put(table, "a", strings.Repeat("x", 100_000)) })
			}
			if err := put(); err != nil {
				t.Fatal(err)
			}
			spoil(t, path)
			if err := meet(s); !errors.Is(err, ErrDamaged) {
				t.Errorf("met: %v", err)
			}
			if err := s.Sound(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("sound: %v", err)
			}
			if err := put(); !errors.Is(err, ErrDamaged) {
				t.Errorf("written after it: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// spoil overwrites all pages of a store but its two meta pages.
func spoil(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	have, err := size(path)
	if err != nil {
		t.Fatal(err)
	}
	meta := 2 * int64(os.Getpagesize())
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(have-meta)), meta); err != nil {
		t.Fatal(err)
	}
}

// A store whose file is not at its path any more must not go on.
func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		move func(dir string) error
		want error
	}{
		"left alone":      {func(string) error { return nil }, nil},
		"folder moved":    {func(dir string) error { return os.Rename(dir, dir+".old") }, ErrMoved},
		"folder removed":  {os.RemoveAll, ErrMoved},
		"file replaced":   {func(dir string) error { return replace(filepath.Join(dir, "store.db")) }, ErrMoved},
		"file removed":    {func(dir string) error { return os.Remove(filepath.Join(dir, "store.db")) }, ErrMoved},
		"another beside":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, "other"), nil, 0o600) }, nil},
		"written through": {func(dir string) error { return os.Chmod(filepath.Join(dir, "store.db"), 0o640) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s, err := Open(filepath.Join(dir, "store.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			if err := c.move(dir); err != nil {
				t.Fatal(err)
			}
			if err := s.Sound(); !errors.Is(err, c.want) {
				t.Errorf("sound: %v, want %v", err, c.want)
			}
		})
	}
}

// replace puts a copy in the place of a file, as a restored backup is.
func replace(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Where the file may not grow an update is told and changes nothing; once it
// may, the next one goes through. It is what a quota does, and a full disk.
// The limit holds for the whole process, so it has one of its own.
func TestMayNotGrow(t *testing.T) {
	if os.Getenv("MAY_NOT_GROW") == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestMayNotGrow$", "-test.v")
		child.Env = append(os.Environ(), "MAY_NOT_GROW=1")
		if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestMayNotGrow")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	put := func(key string, size int) error {
		return s.Update("sales", func(tx *Tx) error { return tx.Put(table, key, strings.Repeat("x", size)) })
	}
	if err := put("first", 10); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	have, err := size(path)
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) })
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(have), Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	if err := put("too large", 1<<20); err == nil || !strings.HasPrefix(err.Error(), "writing the store: ") {
		t.Errorf("where it may not grow: %v", err)
	}
	if err := s.Sound(); err != nil {
		t.Error(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := put("after", 1<<20); err != nil {
		t.Errorf("where it may again: %v", err)
	}
	for key, want := range map[string]bool{"first": true, "too large": false, "after": true} {
		var value string
		err := s.View("sales", func(tx *Tx) error {
			there, err := tx.Get(table, key, &value)
			if there != want {
				t.Errorf("%s is there: %v", key, there)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Bytes come back as they are, and are no damage to Check.
func TestBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	rows := map[string][]byte{"empty": {}, "text": []byte("{"), "binary": {0, 0xff, '"'}}
	if err := s.Update("sales", func(tx *Tx) error {
		for key, value := range rows {
			if err := tx.PutBytes(table, key, value); err != nil {
				return err
			}
		}
		return tx.Put("json", "a", 1)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.View("sales", func(tx *Tx) error {
		for key, want := range rows {
			if got, err := tx.GetBytes(table, key); err != nil || got == nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %q, %v", key, got, err)
			}
		}
		if got, err := tx.GetBytes(table, "none"); got != nil || err != nil {
			t.Errorf("no row: %q, %v", got, err)
		}
		if _, err := tx.GetBytes("json", "a"); err == nil {
			t.Error("a row of JSON is read as bytes")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if counts, err := Check(path); err != nil || len(counts) != 2 {
		t.Errorf("check: %v, %v", counts, err)
	}
}
