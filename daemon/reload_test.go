package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
)

// reloading starts a daemon with an inbox good, which may send one mail an
// hour, and an inbox other. The function returned writes a configuration and
// sends the signal.
func reloading(t *testing.T) (r *rig, d *Daemon, reload func(text string)) {
	r = newRig(t)
	cfg := r.config(r.box("good", r.server.IMAP().Port, "hourly_limit = 1"), r.box("other", r.server.IMAP().Port, ""))
	reload, d, stop := r.reloadable(cfg)
	t.Cleanup(func() { check(t, stop()) })
	return r, d, reload
}

// reloadable runs a daemon, and returns when the inbox good is watched.
func (r *rig) reloadable(cfg *config.Config) (reload func(text string), d *Daemon, stop func() error) {
	r.t.Helper()
	signals := make(chan os.Signal, 1)
	load := func() (*config.Config, error) { return config.Load(filepath.Join(r.dir, "agentmaild.toml")) }
	d, err := New(cfg, r.world())
	check(r.t, err)
	d.ReloadOn(signals, load)
	stop = r.run(d)
	r.logged("mailbox is watched from here on", "inbox=good")
	return func(text string) {
		r.write("agentmaild.toml", text)
		r.forget()
		signals <- syscall.SIGHUP
	}, d, stop
}

const stateDir = "state_dir = \"state\"\n"

// TestReload changes one inbox of two: the change is in force, and the other
// one is the same as before, with its connection. Then it is taken away, and
// put back.
func TestReload(t *testing.T) {
	r, d, reload := reloading(t)
	port := r.server.IMAP().Port
	good, other := r.box("good", port, "hourly_limit = 2"), r.box("other", port, "")
	send := func(words ...string) {
		_, err := d.Inboxes()[0].Do(inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}})
		check(t, err)
		r.logged(words...)
	}
	send(`msg="letter sent"`)
	send("msg=letter_parked")
	before, same := d.Inboxes(), d.units[1]

	reload(stateDir + good + other)
	r.logged(`msg="configuration reloaded"`, "stopped=good", "started=good", "inboxes=2")
	send(`msg="letter sent"`)
	if after := d.Inboxes(); after[0] == before[0] || after[1] != before[1] || d.units[1] != same {
		t.Error("the changed inbox is not new, or the other one is")
	}

	reload(stateDir + good)
	r.logged(`msg="configuration reloaded"`, "stopped=other", `started=""`, "inboxes=1")
	if running := strings.Join(d.group.names(), ", "); running != "control socket, good clock, good retries, good sender, good watcher" {
		t.Errorf("running: %s", running)
	}

	reload(stateDir + other + good)
	r.logged(`msg="configuration reloaded"`, `stopped=""`, "started=other", "inboxes=2")
	if after := d.Inboxes(); after[0].Name() != "other" || after[1].Name() != "good" {
		t.Error("the inboxes are not in the order of the configuration")
	}
}

// TestReloadFiles has a file change that the configuration names, and nothing
// in the configuration itself.
func TestReloadFiles(t *testing.T) {
	r, _, reload := reloading(t)
	const prices = "currency = \"EUR\"\nvalid = \"48h\"\ndelivery_days = 3\n[[item]]\nname = \"Mug\"\nprice = \""
	r.write("prices.toml", prices+"2.75\"\n")
	cfg := stateDir + r.box("good", r.server.IMAP().Port, `price_list = "prices.toml"`)
	reload(cfg)
	r.logged("started=good")
	reload(cfg)
	r.logged(`msg="configuration reloaded"`, `started=""`)
	r.write("prices.toml", prices+"2.80\"\n")
	reload(cfg)
	r.logged("stopped=good", "started=good")
	r.write("prices.toml", prices+"much\"\n")
	reload(cfg)
	r.logged("level=ERROR", "was not reloaded", "prices.toml")
}

// TestReloadRefused tells in one line what is wrong, and changes nothing.
func TestReloadRefused(t *testing.T) {
	r, d, reload := reloading(t)
	before := d.Inboxes()
	good := r.box("good", r.server.IMAP().Port, "")
	for name, c := range map[string]struct{ text, want string }{
		"no TOML":      {"state_dir = ", "agentmaild.toml:1: "},
		"two mistakes": {stateDir + strings.ReplaceAll(good, "contact = \"owner@seller.test\"", "contact = \"owner\"\nunsigned = \"maybe\""), "; "},
		"no key":       {stateDir + r.box("good", 993, `party = "pty_seller00000000000000"`), "inbox.party: is set and there is no key to sign with"},
	} {
		reload(c.text)
		r.logged("level=ERROR", "the configuration was not reloaded, the one before goes on", c.want)
		if after := d.Inboxes(); len(after) != 2 || after[0] != before[0] || after[1] != before[1] {
			t.Errorf("%s: the inboxes changed", name)
		}
	}
}

// TestReloadLate names what waits for a restart, each time until then, and
// puts the rest in force.
func TestReloadLate(t *testing.T) {
	r, _, reload := reloading(t)
	text := "state_dir = \"elsewhere\"\n[log]\nlevel = \"warn\"\n[dns]\ntimeout = \"1s\"\n[trust]\nallow_private = true\nhosts = [\"keys.test\"]\n" + r.box("good", r.server.IMAP().Port, "")
	for _, started := range []string{"started=good", `started=""`} {
		reload(text)
		r.logged("level=WARN", "in force after a restart only", `keys="state_dir, log, dns, trust.allow_private"`)
		r.logged("configuration reloaded", started, "inboxes=1")
	}
	if _, err := os.Stat(filepath.Join(r.dir, "elsewhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new state_dir: %v", err)
	}
}
