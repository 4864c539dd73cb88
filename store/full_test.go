package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// On a full disk an update is told and changes nothing; once there is space
// again the next one goes through, without a restart.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("a disk of its own needs root and mount, run as root: go test -run FullDisk ./store (%v %s)", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
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
