package plainfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/plainfile"
)

// A file is replaced whole, and what a killed writer left is swept away by the next who locks.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, left := filepath.Join(dir, "file"), filepath.Join(dir, ".new-1")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		unlock, err := plainfile.Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := plainfile.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		unlock()
		if got, mode, err := plainfile.Read(path, 100); err != nil || string(got) != text || mode != 0o600 {
			t.Errorf("%q, %v, %v", got, mode, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if err := plainfile.Replace(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("written where no folder is")
	}
	if err := plainfile.Replace(dir, nil); err == nil {
		t.Error("a folder is replaced by a file")
	}
	if _, err := plainfile.Lock(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is locked")
	}
}
