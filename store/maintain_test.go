package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// closed makes a store with three rows and closes it.
func closed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "sales", "a", row{"mug", 200})
	put(t, s, "sales", "b", row{"tile", 3})
	put(t, s, "buying", "a", row{"clay", 1})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

var threeRows = []Count{{"buying", table, 1}, {"sales", table, 2}}

func TestCheckCounts(t *testing.T) {
	path := closed(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Check(path)
	if diff := cmp.Diff(threeRows, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, or %v", err)
	}
}

// edit changes a closed store beneath its rules.
func edit(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes over the file from an offset to its end.
func overwrite(t *testing.T, path string, from int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < int64(len(data)); i++ {
		data[i] = 0xee
	}
	write(t, path, data)
}

// TestMaintainRefuses damages a good store in one way a case. Nothing that was
// refused changes the file.
func TestMaintainRefuses(t *testing.T) {
	page := int64(os.Getpagesize())
	for name, tc := range map[string]struct {
		damage func(t *testing.T, path string)
		want   error
		words  string
		copies bool // Copy does not look into pages and rows
	}{
		"not there": {func(t *testing.T, path string) { _ = os.Remove(path) }, fs.ErrNotExist, "no such file", false},
		"open":      {func(t *testing.T, path string) { open(t, path) }, ErrLocked, "another agentmaild", false},
		"newer":     {func(t *testing.T, path string) { schema(t, path, "2") }, ErrNewer, "schema 2", false},
		"no schema": {func(t *testing.T, path string) { schema(t, path, "one") }, nil, "schema version", false},
		"no store":  {func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("text"), 9000)) }, nil, "invalid database", false},
		"empty bbolt": {func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket(metaBucket) })
		}, ErrDamaged, "names no schema", false},
		"no inboxes": {func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket(inboxesBucket) })
		}, ErrDamaged, "no inboxes", true},
		"row":          {func(t *testing.T, path string) { badRow(t, path) }, ErrDamaged, `row sales/rows/"c" is no JSON`, true},
		"cut off":      {func(t *testing.T, path string) { _ = os.Truncate(path, 3*page) }, ErrDamaged, "", false},
		"damaged page": {func(t *testing.T, path string) { overwrite(t, path, 2*page) }, ErrDamaged, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := closed(t)
			tc.damage(t, path)
			before, _ := os.ReadFile(path)
			_, checkErr := Check(path)
			_, _, compactErr := Compact(path)
			for what, err := range map[string]error{"Check": checkErr, "Compact": compactErr, "Copy": Copy(path, &bytes.Buffer{})} {
				if what == "Copy" && tc.copies {
					continue
				}
				if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.words) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v; want %v", what, err, tc.want)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if _, err := os.Stat(path + ".compact"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the new file is left: %v", err)
			}
		})
	}
}

// TestDamagedPage damages the head of one page after the other: an error, where
// it matters, and never the end of the process.
func TestDamagedPage(t *testing.T) {
	path, good := grown(t)
	refused, page := 0, os.Getpagesize()
	for at := 2 * page; at < len(good); at += page {
		bad := bytes.Clone(good)
		copy(bad[at:], bytes.Repeat([]byte{0xee}, 16))
		write(t, path, bad)
		if _, err := Check(path); errors.Is(err, ErrDamaged) {
			refused++
		} else if err != nil {
			t.Errorf("page %d: %v", at/page, err)
		}
		if s, err := Open(path); err == nil {
			_ = s.Close()
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("page %d, opened: %v", at/page, err)
		}
	}
	if refused < 10 {
		t.Errorf("%d damaged pages of %d were found", refused, len(good)/page)
	}
}

func schema(t *testing.T, path, value string) {
	t.Helper()
	edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(versionKey, []byte(value)) })
}

func badRow(t *testing.T, path string) {
	t.Helper()
	edit(t, path, func(tx *bbolt.Tx) error {
		return tx.Bucket(freshBucket).Put((&Tx{inbox: "sales"}).freshKey(table, "c"), []byte("{"))
	})
}

// TestBackupAndCopy copies a store that is open, and one that is not; either
// copy is a whole store.
func TestBackupAndCopy(t *testing.T) {
	path := closed(t)
	for name, copyTo := range map[string]func(*bytes.Buffer) error{
		"copy": func(b *bytes.Buffer) error { return Copy(path, b) },
		"backup": func(b *bytes.Buffer) error {
			s, err := Open(path)
			if err != nil {
				return err
			}
			return errors.Join(s.Backup(b), s.Close())
		},
	} {
		var b bytes.Buffer
		if err := copyTo(&b); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), name)
		write(t, other, b.Bytes())
		got, err := Check(other)
		if diff := cmp.Diff(threeRows, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// TestCompact deletes most of a store, whose file gets smaller and keeps what
// is left, its numbers too.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "sales", "a", row{"mug", 200})
	put(t, s, "sales", "b", row{strings.Repeat("x", 3<<20), 1})
	next := func(s *Store) (key string) {
		err := s.Update("sales", func(tx *Tx) (err error) { key, err = tx.Next(table); return err })
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	first := next(s)
	err = s.Update("sales", func(tx *Tx) error { return tx.Delete(table, "b") })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, path+".compact", []byte("left behind"))
	before, after, err := Compact(path)
	if err != nil || before < 3<<20 || after > 1<<20 {
		t.Fatalf("%d before, %d after, %v", before, after, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != after || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s = open(t, path)
	if got, ok := get(t, s, "sales", "a"); !ok || got.Name != "mug" {
		t.Errorf("it has %v, %v", got, ok)
	}
	if second := next(s); second <= first {
		t.Errorf("number %s after %s", second, first)
	}
}

// TestReplaced has Open refuse the file that Compact replaced meanwhile: what
// is written to it would be lost.
func TestReplaced(t *testing.T) {
	path := closed(t)
	old, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	waiting, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		s, err := Open(path)
		if err == nil {
			err = s.Close()
		}
		refused <- err
	}()
	for !heldTwice(path) {
	}
	write(t, path+".new", waiting)
	if err := errors.Join(os.Rename(path+".new", path), old.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !errors.Is(err, ErrLocked) {
		t.Errorf("Open returned %v", err)
	}
}

// heldTwice tells whether this process has a file open twice.
func heldTwice(path string) bool {
	entries, _ := os.ReadDir("/proc/self/fd")
	n := 0
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to == path {
			n++
		}
	}
	return n >= 2
}
