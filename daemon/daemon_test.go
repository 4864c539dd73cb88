package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// emptyWorld is DNS and key pages without an answer.
type emptyWorld struct{}

func (emptyWorld) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (emptyWorld) Page(context.Context, string, string, bool) (*party.Page, error) {
	return nil, party.ErrNoPage
}

// rig is the files of a daemon and its log.
type rig struct {
	t      *testing.T
	dir    string
	server *mailtest.Server

	mu      sync.Mutex
	lines   []string
	written *sync.Cond
}

// newRig starts a mail server for good@seller.test and agent@buyer.test.
func newRig(t *testing.T) *rig {
	t.Helper()
	server, err := mailtest.Start(mailtest.Options{Users: map[string]string{"good@seller.test": "secret", "agent@buyer.test": "other"}})
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })
	r := &rig{t: t, dir: t.TempDir(), server: server}
	r.written = sync.NewCond(&r.mu)
	r.write("password", "secret\n")
	r.write("dkim.pem", "no key")
	return r
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	check(r.t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
}

// Write takes one line of the log.
func (r *rig) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(p))
	r.written.Broadcast()
	return len(p), nil
}

// forget drops the log so far.
func (r *rig) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = nil
}

// logged waits until a line of the log holds all of the words.
func (r *rig) logged(words ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lacks := func(line string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) })
	}
	for !slices.ContainsFunc(r.lines, func(line string) bool { return !lacks(line) }) {
		r.written.Wait()
	}
}

// box is the configuration of one inbox; port 1 is one that nobody listens at.
func (r *rig) box(name string, imap int, more string) string {
	return fmt.Sprintf(`
[[inbox]]
name = %q
address = "%[1]s@seller.test"
org_name = "Seller Ltd"
contact = "owner@seller.test"
agent_name = "Seller"
%s
[inbox.imap]
host = "127.0.0.1"
port = %d
tls = "none"
password_file = "password"
[inbox.smtp]
host = "127.0.0.1"
port = %d
tls = "none"
`, name, more, imap, r.server.SMTP().Port)
}

func (r *rig) config(boxes ...string) *config.Config {
	r.t.Helper()
	r.write("agentmaild.toml", "state_dir = \"state\"\n"+strings.Join(boxes, ""))
	cfg, err := config.Load(filepath.Join(r.dir, "agentmaild.toml"))
	check(r.t, err)
	return cfg
}

func (r *rig) world() World {
	return World{TXT: emptyWorld{}, Pages: emptyWorld{}, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(r, nil))}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start runs a daemon; the function returned stops it and gives Run's error.
func (r *rig) start(cfg *config.Config) (*Daemon, func() error) {
	r.t.Helper()
	d, err := New(cfg, r.world())
	check(r.t, err)
	return d, r.run(d)
}

// run is start for a daemon that was made.
func (r *rig) run(d *Daemon) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// TestRun stops a daemon that has a dead inbox, one that works and one with a
// handler: everything ends with it.
func TestRun(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.box("dead", 1, ""), r.box("good", r.server.IMAP().Port, `handler = ["true"]`))
	before := runtime.NumGoroutine()
	d, stop := r.start(cfg)
	r.logged("not being watched", "inbox=dead", "connecting to 127.0.0.1:1")
	r.logged("mailbox is watched from here on", "inbox=good")

	_, err := d.Inboxes()[1].Do(inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}})
	check(t, err)
	r.logged("letter sent", "inbox=good")
	check(t, r.server.Append("good@seller.test", []byte("From: a@b.test\r\nSubject: Hello\r\n\r\nHello.\r\n"), time.Time{}))
	r.logged("msg=received", "inbox=good", "verdict=plain")

	if inboxes, err := control.NewClient(cfg.SocketPath()).Inboxes(t.Context()); err != nil || len(inboxes) != 2 {
		t.Errorf("the control socket: %v, %v", inboxes, err)
	}
	if err := stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	r.leftBehind(before)
	second, err := New(cfg, r.world()) // the store is closed, its lock gone
	check(t, err)
	check(t, second.Close())
}

// leftBehind fails when goroutines of the daemon live on. Those of the server
// and of a client's idle connection end on their own, soon after.
func (r *rig) leftBehind(before int) {
	r.t.Helper()
	var stacks string
	for range 10_000 {
		buffer := make([]byte, 1<<20)
		stacks = string(buffer[:runtime.Stack(buffer, true)])
		if !strings.Contains(stacks, "daemon.(*unit)") && !strings.Contains(stacks, "daemon.(*Daemon)") &&
			!strings.Contains(stacks, "inbox.(*Inbox)") && !strings.Contains(stacks, "mailbox.(*Watcher)") &&
			!strings.Contains(stacks, "handler.(*Handler)") && !strings.Contains(stacks, "control.(*Server)") && !strings.Contains(stacks, "api.(*Handler)") &&
			!strings.Contains(stacks, "monitor.(*") {
			return
		}
		runtime.Gosched()
	}
	r.t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks)
}

// TestPosition stops and starts: the position in the mailbox stays,
// and what came meanwhile is delivered.
func TestPosition(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.box("good", r.server.IMAP().Port, ""))
	_, stop := r.start(cfg)
	r.logged("mailbox is watched from here on")
	check(t, stop())
	check(t, r.server.Append("good@seller.test", []byte("From: a@b.test\r\nSubject: Hello\r\n\r\nHello.\r\n"), time.Time{}))
	_, stop = r.start(cfg)
	r.logged("msg=received", "verdict=plain")
	check(t, stop())
}

// TestRefusedLetter keeps a letter for later, or gives it up, as the server
// says.
func TestRefusedLetter(t *testing.T) {
	for code, want := range map[int]string{451: `msg="letter waits"`, 550: "msg=letter_failed"} {
		r := newRig(t)
		d, stop := r.start(r.config(r.box("good", r.server.IMAP().Port, "")))
		r.server.Refuse("RCPT", code, "not today")
		_, err := d.Inboxes()[0].Do(inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}})
		check(t, err)
		r.logged(want, "not today")
		check(t, stop())
	}
}

// TestRefused has New and Check refuse what cannot run.
func TestRefused(t *testing.T) {
	r := newRig(t)
	r.write("prices.toml", "currency = \"EUR\"\n")
	party := `party = "pty_seller00000000000000"`
	dkim := "\n[inbox.dkim]\ndomain = \"seller.test\"\nselector = \"s1\"\nkey_file = \"dkim.pem\"\n"
	for _, c := range []struct{ name, box, want string }{
		{"no key", r.box("good", 993, party), "agentmaild.toml:9: inbox.party: is set and there is no key to sign with: make one with `agentmaild keys new --inbox good`"},
		{"no DKIM key", r.box("good", 993, "") + dkim, "agentmaild.toml:23: inbox.dkim.key_file: loading DKIM key "},
		{"no price list", r.box("good", 993, `price_list = "prices.toml"`), "agentmaild.toml:9: inbox.price_list: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := r.config(c.box)
			for name, err := range map[string]error{"Check": Check(cfg, r.world()), "New": second(New(cfg, r.world()))} {
				if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(r.dir, c.want)) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s returned %v", name, err)
				}
			}
		})
	}
}

func second(_ *Daemon, err error) error { return err }

func TestLocked(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.box("good", r.server.IMAP().Port, ""))
	first, err := New(cfg, r.world())
	check(t, err)
	defer first.Close()
	check(t, Check(cfg, r.world())) // leaves the store alone
	if _, err := New(cfg, r.world()); !errors.Is(err, store.ErrLocked) {
		t.Errorf("New returned %v", err)
	}
}

// TestNoSocket ends the daemon where its control socket cannot be had: nobody
// could see or decide anything.
func TestNoSocket(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.box("good", r.server.IMAP().Port, ""))
	check(t, os.MkdirAll(filepath.Join(cfg.SocketPath(), "in the way"), 0o700))
	d, err := New(cfg, r.world())
	check(t, err)
	if err := d.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "removing an old control socket: ") {
		t.Errorf("Run returned %v", err)
	}
}

// TestGroup names what has not ended in time.
func TestGroup(t *testing.T) {
	g := newGroup()
	hold := make(chan struct{})
	g.start("quick", func() error { return nil })
	g.start("slow watcher", func() error { <-hold; return nil })
	g.start("slow handler", func() error { <-hold; return nil })
	ending := make(chan struct{})
	g.start("slow handler", func() error { <-ending; return nil }) // of the inbox as it was before a reload
	close(ending)
	for g.count() > 2 {
		runtime.Gosched()
	}
	if left := strings.Join(g.wait(time.Millisecond), ", "); left != "slow handler, slow watcher" {
		t.Errorf("left: %s", left)
	}
	close(hold)
	if left := g.wait(time.Minute); left != nil {
		t.Errorf("left: %v", left)
	}
}

// TestStop tells what did not stop, and leaves it its store.
func TestStop(t *testing.T) {
	r := newRig(t)
	d, err := New(r.config(r.box("good", 993, "")), r.world())
	check(t, err)
	hold := make(chan struct{})
	d.group.start("good handler", func() error { <-hold; return nil })
	if err := d.stop(context.Canceled, time.Millisecond); err == nil || err.Error() != "did not stop within 1ms: good handler" {
		t.Errorf("stop returned %v", err)
	}
	if _, err := d.Inboxes()[0].Threads(); err != nil {
		t.Errorf("its store is gone: %v", err)
	}
	close(hold)
	check(t, d.stop(context.Canceled, time.Minute))
}

func TestNewWorld(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.box("good", 993, ""))
	cfg.DNS.Servers = []string{"127.0.0.1:53"}
	for _, format := range []string{"text", "json"} {
		cfg.Log = config.Log{Level: "warn", Format: format}
		w, err := NewWorld(cfg, r)
		check(t, err)
		w.Log.Info("not shown")
		w.Log.Warn("shown")
		if len(r.lines) != 1 || !strings.Contains(r.lines[0], "shown") || strings.HasPrefix(r.lines[0], "{") != (format == "json") {
			t.Errorf("%s: logged %q", format, r.lines)
		}
		r.lines = nil
	}
	for file, want := range map[string]string{"missing": "trust: reading ca_file: ", "password": "trust: ca_file "} {
		cfg.Trust.CAFile = filepath.Join(r.dir, file)
		if _, err := NewWorld(cfg, r); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: NewWorld returned %v", file, err)
		}
	}
}

// count is how many run.
func (g *group) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, each := range g.running {
		n += each
	}
	return n
}
