package party

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// today is when keys are changed here: two keys have long been on the page, a third is new.
var today = time.Unix(created+10_000, 500)

func threeKeys(t *testing.T) (dir string, keys [3]OwnKey) {
	t.Helper()
	dir = t.TempDir()
	keys[0] = newTestKey(t, dir, 1, created)
	keys[1] = newTestKey(t, dir, 2, created+1)
	keys[2] = newTestKey(t, dir, 3, today.Unix()-int64(PageAge/time.Second)+1)
	return dir, keys
}

func loaded(t *testing.T, dir string) []OwnKey {
	t.Helper()
	keys, err := LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestRetire(t *testing.T) {
	dir, keys := threeKeys(t)
	signs, err := Retire(dir, keys[0].Kid, today)
	if err != nil || signs.Kid != keys[1].Kid {
		t.Fatalf("%s signs, %v", signs.Kid, err)
	}
	keys[0].RetiredAt = today.Unix() + 1
	if diff := cmp.Diff(keys[:], loaded(t, dir)); diff != "" {
		t.Error(diff)
	}
	// What it signed in this second checks, what it signs in the next does not.
	for iat, want := range map[int64]Outcome{today.Unix(): Signed, today.Unix() + 1: Invalid} {
		if got := keyAt(published(keys[0]), iat).Outcome; got != want {
			t.Errorf("signed at %d: %s", iat, got)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 6 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if info, err := os.Stat(filepath.Join(dir, keys[0].Kid+".json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRevoke(t *testing.T) {
	dir, keys := threeKeys(t)
	for _, at := range []time.Time{today, today.Add(-time.Hour)} { // the theft turns out to be older
		if signs, err := Revoke(dir, keys[0].Kid, at, today); err != nil || signs.Kid != keys[1].Kid {
			t.Fatalf("%s signs, %v", signs.Kid, err)
		}
		keys[0].RevokedAt = at.Unix()
		if diff := cmp.Diff(keys[:], loaded(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
	// A stolen key is revoked at once, however new the next is.
	if signs, err := Revoke(dir, keys[1].Kid, today, today); err != nil || signs.Kid != keys[2].Kid {
		t.Errorf("%s signs, %v", signs.Kid, err)
	}
}

// Each case is a change that is refused: nothing is written, and what the user is told says why.
func TestChangeRefused(t *testing.T) {
	retire := func(n int) func(string, [3]OwnKey) error {
		return func(dir string, keys [3]OwnKey) error { return second(Retire(dir, keys[n].Kid, today)) }
	}
	revoke := func(n int, at time.Time) func(string, [3]OwnKey) error {
		return func(dir string, keys [3]OwnKey) error { return second(Revoke(dir, keys[n].Kid, at, today)) }
	}
	early := time.Unix(created-1, 0)
	for name, tc := range map[string]struct {
		before func(string, [3]OwnKey) error
		do     func(string, [3]OwnKey) error
		want   string
	}{
		"no such key":      {nil, func(dir string, _ [3]OwnKey) error { return second(Retire(dir, "x", today)) }, `there is no key "x"`},
		"retired":          {retire(0), retire(0), "it was retired at 2023-11-15"},
		"retire revoked":   {revoke(0, today), retire(0), "it was revoked at 2023-11-15"},
		"next is new":      {retire(0), retire(1), "is so new that not everybody sees it on the key page yet; publish it and come back after 2023-11-15 01:00:01Z"},
		"clock behind":     {nil, func(dir string, k [3]OwnKey) error { return second(Retire(dir, k[0].Kid, early)) }, "to come by the clock"},
		"retire the last":  {both(revoke(1, today), revoke(2, today)), retire(0), "no other could sign; make one first"},
		"revoke the last":  {both(revoke(1, today), revoke(2, today)), revoke(0, today), "no other could sign"},
		"revoke in future": {nil, revoke(0, today.Add(time.Second)), "is to come"},
		"revoke in 1969":   {nil, revoke(0, time.Unix(0, 0)), "before 1970"},
		"revoke later":     {revoke(0, today.Add(-time.Hour)), revoke(0, today), "only an earlier time"},
		"revoke again":     {revoke(0, today), revoke(0, today), "only an earlier time"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, keys := threeKeys(t)
			if tc.before != nil {
				if err := tc.before(dir, keys); err != nil {
					t.Fatal(err)
				}
			}
			want := loaded(t, dir)
			if err := tc.do(dir, keys); !errors.Is(err, ErrStays) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(want, loaded(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func second(_ OwnKey, err error) error { return err }

func both(a, b func(string, [3]OwnKey) error) func(string, [3]OwnKey) error {
	return func(dir string, keys [3]OwnKey) error { return errors.Join(a(dir, keys), b(dir, keys)) }
}

// TestChangeTogether retires and revokes a key at the same time, as two people may: both stay.
func TestChangeTogether(t *testing.T) {
	for range 5 {
		dir, keys := threeKeys(t)
		var wait sync.WaitGroup
		wait.Go(func() { _, _ = Retire(dir, keys[0].Kid, today) }) // refused where it comes second
		wait.Go(func() {
			if _, err := Revoke(dir, keys[0].Kid, today, today); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		if keys := loaded(t, dir); keys[0].RevokedAt == 0 {
			t.Fatal("the revocation was written over")
		}
	}
}

// TestLeftover is what a process leaves that was killed while it wrote: a file beside the others that nobody reads.
func TestLeftover(t *testing.T) {
	dir, keys := threeKeys(t)
	writeFile(t, filepath.Join(dir, ".new-123"), `{"created_`)
	if diff := cmp.Diff(keys[:], loaded(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestRing(t *testing.T) {
	dir, keys := threeKeys(t)
	var told []error
	ring, err := OpenRing(dir, func(err error) { told = append(told, err) })
	if err != nil {
		t.Fatal(err)
	}
	signs := func(want OwnKey) {
		t.Helper()
		if key, err := ring.Signing(today); err != nil || key.Kid != want.Kid {
			t.Fatalf("%s signs, %v", key.Kid, err)
		}
	}
	signs(keys[0])
	if _, err := Retire(dir, keys[0].Kid, today); err != nil {
		t.Fatal(err)
	}
	signs(keys[1])
	if key, err := ring.Sealing(today.Unix()); err != nil || key.Kid != keys[0].Kid {
		t.Errorf("what was agreed before is sealed by %s, %v", key.Kid, err)
	}
	if len(told) != 0 {
		t.Errorf("trouble without cause: %v", told)
	}
	chmod(t, filepath.Join(dir, keys[1].Kid+".pem"), 0o644)
	signs(keys[1])
	if len(told) != 1 || !strings.Contains(told[0].Error(), "chmod 600") {
		t.Errorf("trouble: %v", told)
	}
	if _, err := NewRing().Signing(today); !errors.Is(err, errNoKey) {
		t.Errorf("a ring without keys: %v", err)
	}
	if _, err := NewRing(keys[2]).Sealing(created); !errors.Is(err, errNoKey) {
		t.Errorf("nothing was there when it was agreed: %v", err)
	}
}
