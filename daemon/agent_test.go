package daemon

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// key writes a new key to a file.
func (r *rig) key(name string, draw func(io.Reader) (string, error)) {
	r.t.Helper()
	key, err := draw(rand.Reader)
	check(r.t, err)
	r.write(name, key+"\n")
}

// agentBox is an inbox good with an agent.
func (r *rig) agentBox() string {
	r.t.Helper()
	r.key("agent.seed", agentmsg.NewSeed)
	r.key("sealing.key", agentmsg.NewSealingKey)
	r.write("describe.json", `{"name": "Good"}`)
	return r.box("good", r.server.IMAP().Port, "agent_key = \"agent.seed\"\nsealing_key = \"sealing.key\"\ndescribe = \"describe.json\"\nofferings = [\"translate\"]")
}

// TestAgent has an inbox sign by its agent, and keep files in a folder that
// nobody else may enter.
func TestAgent(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.agentBox())
	left := filepath.Join(cfg.Inboxes[0].SpoolDir(cfg.StateDir), "left-by-a-crash")
	check(t, os.MkdirAll(left, 0o700))
	d, stop := r.start(cfg)
	done, err := d.Inboxes()[0].Do(inbox.Action{Type: inbox.ActRequest, To: "agent@buyer.test", Agent: d.Inboxes()[0].AgentID(), Offering: "chat", Text: "Hello."})
	check(t, err)
	r.logged(`msg="letter sent"`, done.ID)
	check(t, stop())
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a crash left is there still: %v", err)
	}
	if info, err := os.Stat(filepath.Dir(left)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the spool: %v, %v", info, err)
	}
}

// TestOwnFiles has an agent asked to mail what is its owner's, named in the
// configuration or lying in the state folder.
func TestOwnFiles(t *testing.T) {
	r, d, reload := reloading(t)
	send := func(path string) {
		t.Helper()
		_, err := d.Inboxes()[0].Do(inbox.Action{Type: inbox.ActRequest, To: "agent@buyer.test", Agent: d.Inboxes()[0].AgentID(), Offering: "chat", Files: []string{path}})
		if err == nil || !strings.Contains(err.Error(), "one of the daemon's own files") {
			t.Errorf("%s: %v", path, err)
		}
	}
	reload(stateDir + r.agentBox())
	r.logged("stopped=\"good, other\"", "started=good")
	for _, name := range []string{"agent.seed", "password", "state/agentmaild.db", "agentmaild.toml"} {
		send(filepath.Join(r.dir, name))
	}
}

// TestReloadAgent restarts an inbox whose agent changed in a file, and no other.
func TestReloadAgent(t *testing.T) {
	r, d, reload := reloading(t)
	cfg := stateDir + r.agentBox()
	reload(cfg)
	r.logged("stopped=\"good, other\"", "started=good")
	id := d.Inboxes()[0].AgentID()
	reload(cfg)
	r.logged(`msg="configuration reloaded"`, `started=""`)
	for _, change := range []func(){
		func() { r.write("describe.json", `{"name": "Better"}`) },
		func() { r.key("sealing.key", agentmsg.NewSealingKey) },
		func() { r.key("agent.seed", agentmsg.NewSeed) },
	} {
		change()
		reload(cfg)
		r.logged("stopped=good", "started=good")
	}
	if d.Inboxes()[0].AgentID() == id {
		t.Error("the agent is the one of before")
	}
	r.write("agent.seed", "no seed")
	reload(cfg)
	r.logged("level=ERROR", "was not reloaded", "agent.seed: not the seed of an agent")
	reload(stateDir + r.box("good", r.server.IMAP().Port, ""))
	r.logged("stopped=good", "started=good")
	if id := d.Inboxes()[0].AgentID(); id != "" {
		t.Errorf("an inbox without an agent has %s", id)
	}
}

// TestAgentRefused has New name the file that changed since the configuration
// was read.
func TestAgentRefused(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"agent.seed", "no seed", "inbox.agent_key: loading the key in "},
		{"sealing.key", "no key", "inbox.sealing_key: loading the key in "},
		{"describe.json", "[]", "inbox.describe: "},
	} {
		r := newRig(t)
		cfg := r.config(r.agentBox())
		r.write(c.file, c.text)
		if _, err := New(cfg, r.world()); err == nil || !strings.Contains(err.Error(), ": "+c.want) {
			t.Errorf("%s: %v", c.file, err)
		}
	}
	r := newRig(t)
	cfg := r.config(r.agentBox())
	check(t, os.MkdirAll(cfg.StateDir, 0o700))
	r.write("state/spool", "in the way")
	if _, err := New(cfg, r.world()); err == nil || !strings.HasPrefix(err.Error(), "making the spool: ") {
		t.Errorf("with a file in the place of the spool: %v", err)
	}
}

// TestHandlerStays has the configuration say how the handler is run.
func TestHandlerStays(t *testing.T) {
	for mode, stays := range map[string]bool{"": false, "handler_mode = \"event\"\n": false, "handler_mode = \"stream\"\n": true} {
		r := newRig(t)
		d, err := New(r.config(r.box("good", 1, mode+`handler = ["true"]`)), r.world())
		check(t, err)
		if d.units[0].handler.Stream != stays {
			t.Errorf("%q: the handler stays: %t", mode, !stays)
		}
		check(t, d.Close())
	}
}
