//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMemory holds a daemon to what it may have resident when it has nothing
// to do: with one inbox, and with a hundred. Each has a session over TLS with
// Dovecot. What the start took is given back some seconds after it.
func TestMemory(t *testing.T) {
	s := startStack(t)
	key := s.newKey("buyer")
	for _, c := range []struct{ inboxes, bound int }{{1, 25}, {100, 120}} {
		d := s.idle(c.inboxes, key)
		d.launch()
		d.until("every mailbox", func() bool { return d.logged("mailbox is watched from here on") == c.inboxes })
		d.until(fmt.Sprintf("at most %d MB resident", c.bound), func() bool { return d.memory("VmRSS")<<10 <= c.bound*1_000_000 })
		t.Logf("%d idle inboxes: %d kB (of 1024 bytes) resident; bound: %d MB", c.inboxes, d.memory("VmRSS"), c.bound)
		d.stop()
	}
}

// idle configures a daemon with so many inboxes, which read one folder.
func (s *stack) idle(inboxes int, key string) *side {
	s.t.Helper()
	dir := filepath.Join(s.dir, fmt.Sprint("idle", inboxes))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	d := &side{t: s.t, stack: s, name: "idle", config: filepath.Join(dir, "agentmaild.toml"), log: filepath.Join(dir, "log")}
	config := fmt.Sprintf(daemonConfig, s.dir)
	for n := range inboxes {
		config += fmt.Sprintf(idleConfig, s.dir, n)
	}
	d.write("agentmaild.toml", config)
	d.write("buyer.pem", key)
	d.write("buyer.password", logins["buyer"].password)
	return d
}

const idleConfig = `[[inbox]]
name = "idle%[2]d"
address = "agent-%[2]d@buyer.test"
org_name = "Buyer Ltd"
contact = "owner@buyer.test"
agent_name = "Buyer"
[inbox.imap]
host = "localhost"
port = 11993
user = "` + buyerAddress + `"
password_file = "buyer.password"
ca_file = "%[1]s/tls/ca.pem"
[inbox.smtp]
host = "localhost"
port = 11465
ca_file = "%[1]s/tls/ca.pem"
[inbox.dkim]
domain = "buyer.test"
selector = "s1"
key_file = "buyer.pem"
`
