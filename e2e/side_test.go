//go:build e2e

package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
)

const (
	buyerAddress  = "agent-a@buyer.test"
	sellerAddress = "agent-b@seller.test"
)

// logins are the users that the servers know, by the name of an inbox.
var logins = map[string]struct{ address, password string }{
	"buyer":  {buyerAddress, "pw-a"},
	"seller": {sellerAddress, "pw-b"},
}

// side is one inbox and the daemon that has it.
type side struct {
	t       *testing.T
	stack   *stack
	name    string
	address string
	config  string
	log     string
	program []string // that starts the daemon, before its arguments; nil: AGENTMAILD_BIN
	daemon  *exec.Cmd
}

// side writes the files of a daemon with one inbox as its operator would, and
// publishes its DKIM key in DNS and its key page. A setting is the name of a
// table and a line in it: "[inbox.imap] idle_refresh = \"5s\"".
func (s *stack) side(name string, settings ...string) *side {
	s.t.Helper()
	return s.daemon([]string{name}, settings...)[0]
}

// daemon is side for one daemon with several inboxes. The first one starts and
// stops it.
func (s *stack) daemon(names []string, settings ...string) []*side {
	s.t.Helper()
	dir := filepath.Join(s.dir, names[0])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	config := fmt.Sprintf(daemonConfig, s.dir)
	var sides []*side
	for _, name := range names {
		d := &side{t: s.t, stack: s, name: name, address: logins[name].address, config: filepath.Join(dir, "agentmaild.toml"), log: filepath.Join(dir, "log")}
		d.write(name+".pem", s.newKey(name))
		d.write(name+".password", logins[name].password+"\n")
		config += fmt.Sprintf(inboxConfig, s.dir, name, d.address, party(name), s.imapPort(name+".test"))
		sides = append(sides, d)
	}
	for _, setting := range settings {
		table, line, _ := strings.Cut(setting, " ")
		config = strings.ReplaceAll(config, table+"\n", table+"\n"+line+"\n")
	}
	sides[0].write("agentmaild.toml", config)
	for _, d := range sides {
		d.run("keys", "new")
		s.publish(party(d.name)+".json", d.run("keys", "page"))
	}
	sides[0].run("config", "check")
	return sides
}

func party(name string) string { return "pty_" + name + strings.Repeat("0", 20-len(name)) }

// newKey makes a DKIM key, publishes it, and returns it as a file.
func (s *stack) newKey(name string) string {
	s.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	record := dkim.KeyRecord(key.Public())
	s.append("zone.txt", fmt.Sprintf("s1._domainkey.%s.test. 60 IN TXT \"%s\" \"%s\"\n", name, record[:200], record[200:]))
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (s *stack) publish(name, page string) {
	s.t.Helper()
	dir := filepath.Join(s.dir, "pages", ".well-known", "agent-agreements")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

const daemonConfig = `state_dir = "state"
[dns]
servers = ["127.0.0.1:11053"]
[trust]
hosts = ["localhost"]
allow_private = true
ca_file = "%[1]s/tls/ca.pem"
[public]
`

const inboxConfig = `[[inbox]]
name = "%[2]s"
address = "%[3]s"
org_name = "%[2]s Ltd"
contact = "owner@%[2]s.test"
agent_name = "%[2]s"
party = "%[4]s"
[inbox.auth]
[inbox.imap]
host = "localhost"
port = %[5]s
password_file = "%[2]s.password"
ca_file = "%[1]s/tls/ca.pem"
[inbox.smtp]
host = "localhost"
port = 11465
ca_file = "%[1]s/tls/ca.pem"
[inbox.dkim]
domain = "%[2]s.test"
selector = "s1"
key_file = "%[2]s.pem"
`

func (d *side) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(d.config), name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *side) read(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(d.config), name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// launch starts the daemon.
func (d *side) launch() {
	d.t.Helper()
	file, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	args := append(slices.Clone(d.program), "--config", d.config, "run")
	if d.program == nil {
		args = append([]string{os.Getenv("AGENTMAILD_BIN")}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = file
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.daemon = cmd
	d.t.Cleanup(func() { _ = cmd.Process.Kill() })
}

// start starts the daemon and returns when it answers and, at its first start,
// watches its mailbox: mail that came before is left alone for ever.
func (d *side) start() {
	d.t.Helper()
	d.launch()
	d.until("the control socket", func() bool {
		_, err := d.try("threads", "list")
		return err == nil
	})
	d.until("its mailbox", func() bool { return d.logged("mailbox is watched from here on", "inbox="+d.name) > 0 })
}

// stop ends the daemon in order.
func (d *side) stop() {
	d.t.Helper()
	if err := d.daemon.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if err := d.daemon.Wait(); err != nil {
		d.t.Fatalf("the %s did not stop in order: %v\n%s", d.name, err, d.tail())
	}
}

func (d *side) restart() {
	d.t.Helper()
	d.stop()
	d.start()
}

// kill ends the daemon as a power cut would.
func (d *side) kill() {
	d.t.Helper()
	if err := d.daemon.Process.Kill(); err != nil {
		d.t.Fatalf("the %s had ended by itself: %v\n%s", d.name, err, d.tail())
	}
	_ = d.daemon.Wait() // says that it was killed
}

// logged counts the log's lines that have all of these words.
func (d *side) logged(words ...string) int {
	data, _ := os.ReadFile(d.log)
	n := 0
line:
	for line := range strings.Lines(string(data)) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue line
			}
		}
		n++
	}
	return n
}

func (d *side) tail() string {
	data, _ := os.ReadFile(d.log)
	return string(data[max(0, len(data)-4000):])
}

// until waits for a condition, for as long as patience lasts.
func (d *side) until(what string, ok func() bool) {
	d.t.Helper()
	d.within(patience, what, ok)
}

func (d *side) within(limit time.Duration, what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	d.t.Fatalf("the %s waited in vain for %s\n%s", d.name, what, d.tail())
}
