package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// On a full disk an update is told and changes nothing; once there is space
// again the next one goes through, without a restart.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t)
	s, err := Open(filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	put := func(key string, size int) error {
		return s.Update("x", func(tx *Tx) error { return tx.Put("t", key, strings.Repeat("x", size)) })
	}
	if err := put("first", 10); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 1<<20), 0o600) // until the disk is full
	full := false
	for i := range 50 {
		if err := put(fmt.Sprint("more", i), 20_000); err != nil {
			full = true
			break
		}
	}
	if !full || s.Failed() == 0 {
		t.Fatalf("the disk never was full, %d commits failed", s.Failed())
	}
	got := ""
	if err := s.View("x", func(tx *Tx) error { _, err := tx.Get("t", "first", &got); return err }); err != nil || got == "" {
		t.Errorf("what was kept before is %q, %v", got, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := put("after", 20_000); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// One that fails for what another did in the same commit is told, where that
// commit fails, that it does: nobody did anything.
func TestFailureOfALostCommit(t *testing.T) {
	dir := smallDisk(t)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(dir, "store.db"))
		taken := errors.New("taken")
		take := func(tx *Tx) error {
			if known, err := tx.Get(table, "one", new(string)); err != nil || known {
				return errors.Join(err, taken)
			}
			return tx.Put(table, "one", strings.Repeat("x", 2<<20)) // more than the disk has
		}
		for i, err := range together(t, s, []func(*Tx) error{take, take, take}) {
			if err == nil || errors.Is(err, taken) {
				t.Errorf("update %d: %v", i, err)
			}
		}
	})
}

// smallDisk is a folder on a disk of 1 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("a disk of its own needs root and mount, run as root: go test -run 'FullDisk|LostCommit' ./store (%v %s)", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir
}

// Closing again is no harm: two parts of a program may each think it theirs.
func TestCloseTwice(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the second time: %v", err)
	}
}
