package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agentmaild/agentmaild/plainfile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("file"), []byte("12345"), 0o640), os.Symlink("file", at("link")), os.Symlink("none", at("dangling")),
		os.Symlink("/dev/zero", at("device")), os.Symlink("loop", at("loop")), syscall.Mkfifo(at("pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"file": nil, "link": nil, "dangling": fs.ErrNotExist, "none": fs.ErrNotExist, "device": plainfile.ErrKind,
		"pipe": plainfile.ErrKind, ".": plainfile.ErrKind, "loop": syscall.ELOOP,
	} {
		data, mode, err := plainfile.Read(at(name), 5)
		if !errors.Is(err, want) || err == nil && (string(data) != "12345" || mode != 0o640) {
			t.Errorf("%s: %q, %v, %v", name, data, mode, err)
		}
	}
	if data, _, err := plainfile.Read("/proc/self/status", 4); !errors.Is(err, plainfile.ErrLarge) || data != nil { // says that it is empty
		t.Errorf("a file that is larger than it says: %q, %v", data, err)
	}
	if _, _, err := plainfile.Read(at("file"), 4); !errors.Is(err, plainfile.ErrLarge) {
		t.Errorf("a byte too many: %v", err)
	}
}
