package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// committed is where the suites stand.
const committed = "../intents"

// TestSuites holds what the program writes against what stands in the
// repository: after a change to either, run the program again.
func TestSuites(t *testing.T) {
	all, out := suites(), t.TempDir()
	if err := write(out, all); err != nil {
		t.Fatal(err)
	}
	want, got := files(t, out), files(t, committed)
	if len(want) == 0 {
		t.Fatal("nothing was written")
	}
	for name, data := range want {
		if have, there := got[name]; !there || have != data {
			t.Errorf("%s is not what the program writes", name)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("%s is not written by the program", name)
		}
	}
	for _, s := range all {
		for _, c := range s.Cases {
			if c.Why == "" || len(c.Steps) == 0 {
				t.Errorf("%s: %s says no reason or has no step", s.name, c.Name)
			}
		}
	}
}

func TestWriteToNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(file, []*suite{newSuite("x", "")}); err == nil {
		t.Error("suites were written below a file")
	}
}

func TestSwapNeedsItsPlace(t *testing.T) {
	for _, text := range []string{"", "a a"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was changed", text)
				}
			}()
			swap("a", "b")(text)
		}()
	}
	if diff := cmp.Diff("xbx", swap("a", "b")("xax")); diff != "" {
		t.Error(diff)
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
