package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/store"
)

// TestStateDirMoved ends the daemon where its folder is moved away: a second
// one could begin on a fresh store in its place.
func TestStateDirMoved(t *testing.T) {
	r := newRig(t)
	d, err := New(r.config(r.box("good", r.server.IMAP().Port, "")), r.world())
	check(t, err)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	r.logged("mailbox is watched from here on")
	check(t, os.Rename(filepath.Join(r.dir, "state"), filepath.Join(r.dir, "elsewhere")))
	if err := <-ended; !errors.Is(err, store.ErrMoved) {
		t.Errorf("Run returned %v", err)
	}
}
