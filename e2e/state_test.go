//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadOnlyState starts a daemon whose state folder is on a file system
// that was made read-only. It says so in one line and touches nothing; once
// the folder can be written to, it acts on what came meanwhile.
func TestReadOnlyState(t *testing.T) {
	s := startStack(t)
	buyer, seller := s.side("buyer"), s.side("seller")
	buyer.start()
	seller.start()
	seller.stop()
	state := seller.state()
	mount(t, "--bind", state, state)
	mount(t, "-o", "remount,bind,ro", state)
	ask, deal := buyer.ask(sellerAddress)
	buyer.until("the ask to leave", func() bool { return buyer.logged("letter sent", ask) == 1 })

	out, err := exec.Command(os.Getenv("AGENTMAILD_BIN"), "--config", seller.config, "run").CombinedOutput()
	if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "read-only file system, mount it for writing") {
		t.Errorf("it ended with %v and said:\n%s", err, out)
	}
	mount(t, "-o", "remount,bind,rw", state)
	seller.launch()
	seller.has(ask, deal, "buyer")
}

// TestFullState fills the file system of a daemon's state while it runs. What
// comes then is not lost, and is acted on once when there is room again.
func TestFullState(t *testing.T) {
	s := startStack(t)
	state := filepath.Join(s.dir, "seller", "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	mount(t, "-t", "tmpfs", "-o", "size=1m,mode=700", "none", state)
	buyer, seller := s.side("buyer"), s.side("seller")
	buyer.start()
	seller.start()
	filler := filepath.Join(state, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the file system did not fill up")
	}
	ask, deal := buyer.ask(sellerAddress)
	seller.until("the full disk to be told of", func() bool {
		return seller.logged("level=WARN", "mailbox is not being watched", "no space left on device") == 1
	})
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	seller.has(ask, deal, "buyer")
	if n := seller.logged("msg=received", ask); n != 1 {
		t.Errorf("it was acted on %d times", n)
	}
}

// state is the daemon's state folder.
func (d *side) state() string { return filepath.Join(filepath.Dir(d.config), "state") }

// mount mounts until the test ends; the last argument is the place.
func mount(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		t.Fatalf("mount %v: %v: %s", args, err, out)
	}
	if !strings.Contains(strings.Join(args, " "), "remount") {
		t.Cleanup(func() { _ = exec.Command("umount", "--lazy", args[len(args)-1]).Run() })
	}
}
