package inbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// sendFile has the buyer ask with a file, and returns its id and what became of it.
func (s *scene) sendFile(content string) (id string, r Result) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	ask := s.ask("chat", "Look.")
	ask.Files = []string{path}
	done, raw := s.do(s.buyer, ask)
	results, err := s.seller.Deliver(s.t.Context(), []Mail{{Raw: raw, Arrival: s.now}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return done.ID, results[0]
}

// A file is to be had while its sender waits, once it was let in, and until 60 days have passed; wherever the spool is by then.
func TestFile(t *testing.T) {
	s := agentScene(t)
	buyer := s.agent(s.buyer)
	id, _ := s.sendFile("Ten mugs.")
	read := func() {
		t.Helper()
		f, err := s.seller.File(buyer, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if text, err := io.ReadAll(f); err != nil || string(text) != "Ten mugs." || f.Name != "a.txt" || f.Size != 9 || !strings.HasPrefix(f.Digest, "sha256:") {
			t.Errorf("%+v has %q, %v", f, text, err)
		}
	}
	read()
	if err := s.seller.Decide(buyer, agentmsg.StanceAllow, ""); err != nil {
		t.Fatal(err)
	}
	read()
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(s.services["seller"].Spool.Name(), moved); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(moved)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	s.seller.srv.Spool = root
	read()
	for _, c := range []struct {
		agent, id string
		n         int
	}{{buyer, id, 1}, {buyer, id, -1}, {buyer, "../" + id, 0}, {s.agent(s.seller), id, 0}, {"", id, 0}, {buyer, "", 0}} {
		if _, err := s.seller.File(c.agent, c.id, c.n); !errors.Is(err, ErrUnknown) || errors.Is(err, ErrGone) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	s.tick(s.seller, keepSpooled-time.Second)
	read()
	s.tick(s.seller, time.Minute)
	if _, err := s.seller.File(buyer, id, 0); !errors.Is(err, ErrGone) || !errors.Is(err, ErrAction) {
		t.Errorf("after 60 days: %v", err)
	}
	s.seller.srv.Spool = nil
	if _, err := s.seller.File(buyer, id, 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("without a spool: %v", err)
	}
}

// What is put in the place of a file leads nowhere, and a file that was taken is gone.
func TestFileReplaced(t *testing.T) {
	s := agentScene(t)
	s.admits()
	secret := filepath.Join(t.TempDir(), "secret.")
	if err := os.WriteFile(secret, []byte("Key one."), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"nothing":     func(string) error { return nil },
		"a link out":  func(path string) error { return os.Symlink(secret, path) },
		"a folder":    func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"other bytes": func(path string) error { return os.WriteFile(path, []byte("Ten million mugs."), 0o600) },
	} {
		id, r := s.sendFile("Ten mugs")
		path := r.Exchange.Files[0].Path
		if err := errors.Join(os.Remove(path), put(path)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.seller.File(s.agent(s.buyer), id, 0); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	id, r := s.sendFile("Ten mugs")
	folder := filepath.Dir(r.Exchange.Files[0].Path)
	outside := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(outside, "a.txt"), []byte("Key one."), 0o600), os.RemoveAll(folder), os.Symlink(outside, folder)); err != nil {
		t.Fatal(err)
	}
	if f, err := s.seller.File(s.agent(s.buyer), id, 0); !errors.Is(err, ErrGone) {
		t.Errorf("a folder that is a link leads out: %+v, %v", f, err)
	}
}

// Nothing that is told elsewhere names a path of this machine.
func TestElsewhere(t *testing.T) {
	s := agentScene(t)
	id, _ := s.sendFile("Ten mugs.")
	waiting, err := s.seller.Waiting()
	if err != nil || len(waiting) != 1 {
		t.Fatal(waiting, err)
	}
	e := s.lastEvent(s.seller)
	want := FilePath("seller", s.agent(s.buyer), id, 0)
	for name, files := range map[string][2][]ReceivedFile{
		"what waits": {waiting[0].Files, waiting[0].Elsewhere("seller").Files},
		"the event":  {e.Exchange.Files, e.Elsewhere("seller").Exchange.Files},
	} {
		if here, there := files[0][0], files[1][0]; here.Path == "" || here.URL != "" || there.Path != "" || there.URL != want {
			t.Errorf("%s: %+v here, %+v there", name, here, there)
		}
	}
}
