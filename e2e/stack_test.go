//go:build e2e

// Package e2e plays negotiations between daemons over real servers:
// ./e2e/run prepares everything and runs these tests.
package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something to happen between real servers.
// Dovecot alone adds half a second between delivery and its IDLE notice.
const patience = 60 * time.Second

// stack is the running servers. The buyer's mail lies on Cyrus if there is
// one, everything else on Dovecot.
type stack struct {
	t     *testing.T
	dir   string
	cyrus bool
}

// startStack starts servers with options of stack.sh, such as "CYRUS=1".
func startStack(t *testing.T, options ...string) *stack {
	t.Helper()
	s := &stack{t, filepath.Join(os.Getenv("E2E_DIR"), "s"), slices.Contains(options, "CYRUS=1")}
	if os.Getenv("E2E_DIR") == "" {
		t.Fatal("E2E_DIR is not set: run ./e2e/run")
	}
	if err := os.RemoveAll(s.dir); err != nil { // of the test before
		t.Fatal(err)
	}
	cmd := exec.Command("e2e/servers/stack.sh", "run", s.dir)
	cmd.Dir, cmd.Env, cmd.Stderr = root(t), append(os.Environ(), options...), os.Stderr
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
	dir, err := filepath.Abs("..")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
	}
	if err != nil {
		t.Fatalf("run in e2e: %v", err)
	}
	return dir
}

// imapPort is where a domain's mail is read.
func (s *stack) imapPort(domain string) string {
	if s.cyrus && domain == "buyer.test" {
		return "11293"
	}
	return "11993"
}

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

// refuse has the submission server answer for these recipients with a reply
// of their own, and for all others as usual.
func (s *stack) refuse(lines ...string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "access.txt"), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// postfixLog is what Postfix has logged.
func (s *stack) postfixLog() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "pf/log/mail.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}
