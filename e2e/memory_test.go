//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMemory prints what a daemon holds resident once it watches its inboxes:
// one, and a hundred. Each has a session over TLS with Dovecot, and nothing
// comes.
func TestMemory(t *testing.T) {
	s := startStack(t)
	key := s.newKey("buyer")
	for _, c := range []struct{ inboxes, bound int }{{1, 25}, {100, 120}} {
		d := s.idle(c.inboxes, key)
		d.launch()
		d.until("every mailbox", func() bool { return d.logged("mailbox is watched from here on") == c.inboxes })
		t.Logf("%d idle inboxes: %s resident; bound: %d MB", c.inboxes, d.resident(), c.bound)
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

// resident is VmRSS, in the kernel's words.
func (d *side) resident() string {
	d.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.daemon.Process.Pid))
	if err != nil {
		d.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), "VmRSS:")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}
