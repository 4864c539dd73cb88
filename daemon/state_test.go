package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestState has New and Check refuse a folder that cannot be kept in, with
// the same words.
func TestState(t *testing.T) {
	mkdir := func(name string, mode os.FileMode) func(*rig) {
		return func(r *rig) {
			check(t, os.Mkdir(filepath.Join(r.dir, name), 0o700))
			check(t, os.Chmod(filepath.Join(r.dir, name), mode))
		}
	}
	for _, c := range []struct {
		name, dir string
		make      func(*rig)
		want      string
		asUser    bool // root may write everywhere
	}{
		{"file", "state", func(r *rig) { r.write("state", "a file") }, "is no folder, name another", false},
		{"file above", "above/more/state", func(r *rig) { r.write("above", "a file") }, "above is no folder, name another", false},
		{"open to others", "state", mkdir("state", 0o710), "has mode 0710 and is open to other users: chmod 700 ", false},
		{"not ours", "state", mkdir("state", 0o500), "this user cannot write to ", true},
		{"above not ours", "above/more/state", mkdir("above", 0o500), "above (permission denied), give it to", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.asUser && os.Geteuid() == 0 {
				t.Skip("run it as another user than root")
			}
			r := newRig(t)
			cfg := r.config(r.box("good", 993, ""))
			cfg.StateDir = filepath.Join(r.dir, c.dir)
			c.make(r)
			for name, err := range map[string]error{"Check": Check(cfg, r.world()), "New": second(New(cfg, r.world()))} {
				if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(r.dir, "agentmaild.toml:1: state_dir: ")) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s returned %v", name, err)
				}
			}
		})
	}
}
