//go:build e2e

// Package e2e plays negotiations between two daemons over real servers:
// ./e2e/run prepares everything and runs these tests.
package e2e

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/go-json-experiment/json"
)

// patience bounds every wait for something to happen between real servers.
// Dovecot alone adds half a second between delivery and its IDLE notice.
const patience = 60 * time.Second

// stack is the running servers.
type stack struct {
	t   *testing.T
	dir string
}

func startStack(t *testing.T) *stack {
	t.Helper()
	dir := os.Getenv("E2E_DIR")
	if dir == "" {
		t.Fatal("E2E_DIR is not set: run ./e2e/run")
	}
	s := &stack{t, filepath.Join(dir, "s")}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("e2e/servers/stack.sh", "run", s.dir)
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n') // "ready", or the end of the script
	if strings.TrimSpace(line) != "ready" {
		t.Fatalf("the servers did not start: %q, %v", line, err)
	}
	return s
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != "/" {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("run from within the repository")
	return ""
}

// side is one daemon with its configuration.
type side struct {
	t       *testing.T
	name    string
	address string
	config  string
	daemon  *exec.Cmd
	log     string
}

// side writes the files of a daemon as its operator would, and publishes its
// DKIM key in DNS and its key page.
func (s *stack) side(name, user, password string) *side {
	s.t.Helper()
	dir := filepath.Join(s.dir, name)
	d := &side{t: s.t, name: name, address: user, config: filepath.Join(dir, "agentmaild.toml"), log: filepath.Join(dir, "log")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	party := "pty_" + name + strings.Repeat("0", 20-len(name))
	d.write("dkim.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	d.write("password", password+"\n")
	d.write("agentmaild.toml", fmt.Sprintf(configuration, s.dir, name, user, party, name))
	record := dkim.KeyRecord(key.Public())
	s.append("zone.txt", fmt.Sprintf("s1._domainkey.%s.test. 60 IN TXT \"%s\" \"%s\"\n", name, record[:200], record[200:]))

	d.run("keys", "new")
	page := filepath.Join(s.dir, "pages", ".well-known", "agent-agreements")
	if err := os.MkdirAll(page, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(page, party+".json"), []byte(d.run("keys", "page")), 0o644); err != nil {
		s.t.Fatal(err)
	}
	d.run("config", "check")
	return d
}

const configuration = `state_dir = "state"
[dns]
servers = ["127.0.0.1:11053"]
[trust]
hosts = ["localhost"]
allow_private = true
ca_file = "%[1]s/tls/ca.pem"
[[inbox]]
name = "%[2]s"
address = "%[3]s"
org_name = "%[2]s Ltd"
contact = "owner@%[2]s.test"
agent_name = "%[2]s"
party = "%[4]s"
[inbox.imap]
host = "localhost"
port = 11993
password_file = "password"
ca_file = "%[1]s/tls/ca.pem"
[inbox.smtp]
host = "localhost"
port = 11465
ca_file = "%[1]s/tls/ca.pem"
[inbox.dkim]
domain = "%[5]s.test"
selector = "s1"
key_file = "dkim.pem"
`

func (s *stack) append(name, text string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (d *side) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(d.config), name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// start starts the daemon and returns when it has looked at its mailbox.
func (d *side) start() {
	d.t.Helper()
	file, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	d.daemon = exec.Command(os.Getenv("AGENTMAILD_BIN"), "--config", d.config, "run")
	d.daemon.Stderr = file
	if err := d.daemon.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = d.daemon.Process.Kill() })
	d.until("the control socket", func() bool {
		_, err := d.try("threads", "list")
		return err == nil
	})
}

// restart ends the daemon in order and starts it again.
func (d *side) restart() {
	d.t.Helper()
	if err := d.daemon.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if err := d.daemon.Wait(); err != nil {
		d.t.Fatalf("the %s did not stop in order: %v\n%s", d.name, err, d.tail())
	}
	d.start()
}

func (d *side) tail() string {
	data, _ := os.ReadFile(d.log)
	return string(data[max(0, len(data)-4000):])
}

// try runs one command of the command line.
func (d *side) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("AGENTMAILD_BIN"), append([]string{"--config", d.config}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

func (d *side) run(args ...string) string {
	d.t.Helper()
	out, err := d.try(args...)
	if err != nil {
		d.t.Fatalf("the %s: %v", d.name, err)
	}
	return out
}

// do runs a command that acts, and returns the id of its message.
func (d *side) do(args ...string) (id, thread string) {
	d.t.Helper()
	var done struct{ ID, Thread string }
	d.decode(d.run(append(args, "--json")...), &done)
	return done.ID, done.Thread
}

func (d *side) decode(text string, value any) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(text), value, json.MatchCaseInsensitiveNames(true)); err != nil {
		d.t.Fatalf("%v in %s", err, text)
	}
}

// until waits for a condition.
func (d *side) until(what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	d.t.Fatalf("the %s waited in vain for %s\n%s", d.name, what, d.tail())
}

// thread is what the tests look at.
type thread struct {
	Entries  []struct{ ID, State string }
	Record   string
	Messages []struct {
		ID, Fate, Signature string
		Proof               struct{ Domain, Selector, Party string }
	}
}

// has waits until a side holds a message in a thread, and checks what was
// proven about it.
func (d *side) has(id, in, from string) {
	d.t.Helper()
	d.until("message "+id, func() bool {
		out, err := d.try("threads", "show", in, "--json")
		if err != nil {
			return false
		}
		var t thread
		d.decode(out, &t)
		for _, m := range t.Messages {
			if m.ID != id {
				continue
			}
			if m.Fate != "accepted" || m.Signature != "signed" || m.Proof.Domain != from+".test" || m.Proof.Selector != "s1" || !strings.HasPrefix(m.Proof.Party, "pty_"+from) {
				d.t.Fatalf("the %s holds it as %+v", d.name, m)
			}
			return true
		}
		return false
	})
}

// ends compares how a thread ended.
func (d *side) ends(in string, states map[string]string, record string) {
	d.t.Helper()
	var t thread
	d.decode(d.run("threads", "show", in, "--json"), &t)
	if t.Record != record || len(t.Entries) != len(states) {
		d.t.Errorf("the %s: record %q, %d offers and asks", d.name, t.Record, len(t.Entries))
	}
	for _, e := range t.Entries {
		if states[e.ID] != e.State {
			d.t.Errorf("the %s: %s is %s, want %s", d.name, e.ID, e.State, states[e.ID])
		}
	}
}
