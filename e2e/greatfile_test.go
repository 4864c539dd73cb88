//go:build e2e

package e2e

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/nats-io/nkeys"
)

// TestGreatFile holds a daemon to what it may have resident at most, above what
// it held idle, while it takes in a message with a file of 20 MB.
func TestGreatFile(t *testing.T) {
	s := startStack(t)
	d := s.side("seller")
	id := d.newAgent()
	d.start()
	raw := greatMail(t, id)
	idle := d.memory("VmRSS")
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.daemon.Process.Pid), []byte("5"), 0o200); err != nil { // the peak begins anew
		t.Fatal(err)
	}
	c := d.open(imapclient.Options{})
	literal := c.Append("INBOX", int64(len(raw)), &imap.AppendOptions{})
	if _, err := literal.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := literal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := literal.Wait(); err != nil {
		t.Fatal(err)
	}
	d.until("the message", func() bool { return d.logged("verdict=held") == 1 })
	peak := d.memory("VmHWM")
	t.Logf("a mail of %d bytes: %d MB idle, %d MB at most, %d MB above idle; bound: 40 MB", len(raw), idle>>10, peak>>10, (peak-idle)>>10)
	if peak-idle > 40<<10 {
		t.Error("that is too much")
	}
	files, err := filepath.Glob(filepath.Join(d.state(), "spool", "*", "*", "great.bin"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the spool has %v, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Size() != 20_000_000 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// newAgent gives the inbox an agent, and returns its id. The daemon is not
// running.
func (d *side) newAgent(lines ...string) string {
	d.t.Helper()
	dir := filepath.Dir(d.config)
	var made struct {
		AgentID string `json:"agent_id"`
	}
	d.decode(d.run("keys", "new", "--agent", filepath.Join(dir, d.name+".agent"), "--json"), &made)
	line := fmt.Sprintf("party = %q\n", party(d.name))
	setting := append([]string{fmt.Sprintf("agent_key = %q", d.name+".agent")}, lines...)
	d.write("agentmaild.toml", strings.Replace(d.read("agentmaild.toml"), line, line+strings.Join(setting, "\n")+"\n", 1))
	d.run("config", "check")
	return made.AgentID
}

// greatMail is a request with a file of 20 MB from an agent that nobody knows.
func greatMail(t *testing.T, to string) []byte {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	identity, err := agentmsg.ParseSeed(string(seed))
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 20_000_000)
	if _, err := rand.Read(body); err != nil {
		t.Fatal(err)
	}
	file := agentmsg.File{Name: "great.bin", MediaType: "application/octet-stream", Ref: "cid:great@buyer.test"}
	file.Pin(int64(len(body)), sha256.Sum256(body))
	e := agentmsg.Envelope{To: to, Request: &agentmsg.Request{Offering: "chat", Input: []byte(`{"text":"Here it is."}`), Files: []agentmsg.File{file}}}
	e.Meta.Email.Address = buyerAddress
	signed, err := identity.Compose(e, time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	letter := emailing.Letter{Files: map[string][]byte{file.Ref: body}}
	letter.From.Address, letter.To.Address = buyerAddress, sellerAddress
	raw, err := emailing.Compose(signed, letter, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// memory is a line of the daemon's status, in KiB.
func (d *side) memory(line string) int {
	d.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.daemon.Process.Pid))
	if err != nil {
		d.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), line+":")
	text, _, _ := strings.Cut(after, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}
