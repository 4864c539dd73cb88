package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/store"
)

// TestBackup has the copy be a whole store with what was written before.
func TestBackup(t *testing.T) {
	r, ctx := serve(t), t.Context()
	_, err := r.client.Do(ctx, "sales", ask())
	check(t, err)
	var copied bytes.Buffer
	check(t, r.client.Backup(ctx, &copied))
	path := filepath.Join(t.TempDir(), "copy")
	check(t, os.WriteFile(path, copied.Bytes(), 0o600))
	counts, err := store.Check(path)
	check(t, err)
	for _, c := range counts {
		if c.Inbox == "sales" && c.Table == "messages" && c.Rows == 1 {
			return
		}
	}
	t.Errorf("the copy has %v", counts)
}

// TestBackupFails has the client notice that a part is not the whole, and that
// its own disk is full.
func TestBackupFails(t *testing.T) {
	r, ctx := serve(t), t.Context()
	full := errors.New("disk full")
	if err := r.client.Backup(ctx, failing{full}); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
	r.backup = func(w io.Writer) error {
		_, err := w.Write([]byte("half a store"))
		return errors.Join(err, errors.New("damaged"))
	}
	if err := r.client.Backup(ctx, io.Discard); err == nil {
		t.Error("half a store is taken for a whole one")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestBackupStopped stops the server while a client does not read on.
func TestBackupStopped(t *testing.T) {
	r := serve(t)
	over := make(chan struct{})
	r.backup = func(w io.Writer) error {
		defer close(over)
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return err
			}
		}
	}
	answer, err := r.client.ask(context.WithoutCancel(t.Context()), "GET", "/backup", nil)
	check(t, err)
	defer answer.Body.Close()
	r.stop()
	err = <-r.ended
	r.ended <- err
	select {
	case <-over:
	default:
		t.Error("the backup goes on when the server has ended")
	}
}
