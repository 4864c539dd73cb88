package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// grown makes a store whose tables have pages of their own, and reads it.
func grown(t *testing.T) (path string, data []byte) {
	t.Helper()
	path = closed(t)
	s := open(t, path)
	err := s.Update("sales", func(tx *Tx) error {
		for i := range 400 {
			if err := tx.Put(table, fmt.Sprint(i), row{strings.Repeat("x", 100), i}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// TestCircle has each branch page in turn lead to itself, to the first of its
// own pages once more, and beyond the end.
func TestCircle(t *testing.T) {
	path, good := grown(t)
	if _, err := Check(path); err != nil {
		t.Fatal(err)
	}
	branches, page := 0, os.Getpagesize()
	for at := 2 * page; at < len(good); at += page {
		if good[at+8] != branchPage {
			continue
		}
		branches++
		first := binary.LittleEndian.Uint64(good[at+pageHead+8:])
		for _, to := range []uint64{uint64(at / page), first, uint64(len(good))} {
			bad := append([]byte(nil), good...)
			binary.LittleEndian.PutUint64(bad[at+pageHead+elementSize+8:], to)
			write(t, path, bad)
			if _, err := Check(path); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "is reached twice or is not there") {
				t.Errorf("page %d leads to %d: %v", at/page, to, err)
			}
		}
	}
	if branches == 0 {
		t.Error("the store has no branch page")
	}
}
