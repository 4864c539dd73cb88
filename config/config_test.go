package config

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// valid names every file that folder makes; a case changes one thing in it.
const valid = `state_dir = "state"
[log]
level = "warn"
[dns]
servers = ["192.0.2.1:53", "[2001:db8::1]:53"]
[trust]
hosts = ["keys.example"]
ca_file = "ca.pem"
[[inbox]]
name = "sales"
address = "agent@SELLER.example"
org_name = "Seller Ltd"
contact = "owner@seller.example"
agent_name = "Sales agent"
party = "pty_0123456789abcdefghij"
handler = ["./run.sh", "-v"]
[inbox.auth]
alignment = "strict"
[inbox.imap]
host = "imap.seller.example"
password_file = "password"
[inbox.smtp]
host = "127.0.0.1"
port = 25
tls = "none"
[inbox.dkim]
domain = "Seller.example"
selector = "agent"
key_file = "dkim.pem"
`

const second = `[[inbox]]
name = "buying"
address = "buyer@seller.example"
org_name = "Seller Ltd"
contact = "owner@seller.example"
agent_name = "Buying agent"
agent_key = "agent.seed"
sealing_key = "sealing.key"
sealing = "required"
offerings = ["convert.pdf", "translate"]
describe = "describe.json"
bridge = true
imap = { host = "localhost", port = 143, tls = "starttls", user = "b", password_command = ["sh", "-c", "pass"] }
[inbox.smtp]
host = "smtp.seller.example"
user = "c"
password_env = "AGENTMAILD_TEST_PASSWORD"
`

// folder is a folder with the files that the configurations name.
func folder(t *testing.T) string {
	t.Helper()
	t.Setenv("AGENTMAILD_TEST_PASSWORD", "hunter2")
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"password": 0o600, "sales.password": 0o400, "dkim.pem": 0o600, "open": 0o640, "run.sh": 0o755, "text": 0o644,
	} {
		write(t, filepath.Join(dir, name), "hunter2", mode)
	}
	write(t, filepath.Join(dir, "empty"), "", 0o600)
	for name, draw := range map[string]func(io.Reader) (string, error){"agent.seed": agentmsg.NewSeed, "sealing.key": agentmsg.NewSealingKey} {
		key, err := draw(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), key+"\n", 0o600)
	}
	write(t, filepath.Join(dir, "describe.json"), `{"b": 1.0, "a": "Widgets"}`, 0o644)
	write(t, filepath.Join(dir, "list.json"), `[]`, 0o644)
	write(t, filepath.Join(dir, "ca.pem"), certificate(t), 0o644)
	return dir
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func certificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func load(t *testing.T, dir, document string) (*Config, error) {
	t.Helper()
	path := filepath.Join(dir, "agentmaild.toml")
	write(t, path, document, 0o644)
	return Load(path)
}

func TestLoad(t *testing.T) {
	dir := folder(t)
	got, err := load(t, dir, valid+second)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	password := Secret{File: in("password"), Command: []string{}}
	none := Agent{Sealing: "preferred", Offerings: []string{}}
	verify := Auth{Mode: "verify", Trust: "topmost", Alignment: "relaxed"}
	want := &Config{
		StateDir: in("state"),
		API:      API{Hosts: []string{}},
		Log:      Log{Level: "warn", Format: "text"},
		DNS:      DNS{Servers: []string{"192.0.2.1:53", "[2001:db8::1]:53"}, Timeout: 5 * time.Second},
		Trust:    Trust{Hosts: []string{"keys.example"}, CAFile: in("ca.pem")},
		Inboxes: []Inbox{{
			Name: "sales", Address: "agent@seller.example", OrgName: "Seller Ltd", Contact: "owner@seller.example",
			AgentName: "Sales agent", AgentKind: "connected", Party: "pty_0123456789abcdefghij", KeyHost: "keys.example",
			Unsigned: "hold", Handler: []string{in("run.sh"), "-v"}, HandlerMode: "event", HandlerTimeout: 30 * time.Second, HourlyLimit: 20,
			Agent: none,
			Auth:  Auth{Mode: "verify", Trust: "topmost", Alignment: "strict"},
			IMAP: IMAP{
				Server: Server{Host: "imap.seller.example", TLS: "tls", User: "agent@seller.example", Secret: password},
				Port:   993, Folder: "INBOX", IdleRefresh: 5 * time.Minute, Poll: time.Minute,
			},
			SMTP: SMTP{Server: Server{Host: "127.0.0.1", TLS: "none", User: "agent@seller.example", Secret: password}, Port: 25},
			DKIM: &DKIM{Domain: "seller.example", Selector: "agent", KeyFile: in("dkim.pem")},
		}, {
			Name: "buying", Address: "buyer@seller.example", OrgName: "Seller Ltd", Contact: "owner@seller.example",
			AgentName: "Buying agent", AgentKind: "connected", KeyHost: "keys.example",
			Unsigned: "hold", Handler: []string{}, HandlerMode: "event", HandlerTimeout: 30 * time.Second, HourlyLimit: 20, Auth: verify,
			Agent: Agent{
				AgentKey: in("agent.seed"), SealingKey: in("sealing.key"), Sealing: "required",
				Offerings: []string{"convert.pdf", "translate"}, Describe: in("describe.json"), Bridge: true,
			},
			IMAP: IMAP{
				Server: Server{Host: "localhost", TLS: "starttls", User: "b", Secret: Secret{Command: []string{"sh", "-c", "pass"}}},
				Port:   143, Folder: "INBOX", IdleRefresh: 5 * time.Minute, Poll: time.Minute,
			},
			SMTP: SMTP{
				Server: Server{Host: "smtp.seller.example", TLS: "tls", User: "c", Secret: Secret{Env: "AGENTMAILD_TEST_PASSWORD", Command: []string{}}},
				Port:   465,
			},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
	for got, want := range map[string]string{
		got.StorePath():                       in("state/agentmaild.db"),
		got.SocketPath():                      in("state/agentmaild.sock"),
		got.Inboxes[1].KeysDir(got.StateDir):  in("state/keys/buying"),
		got.Inboxes[1].SpoolDir(got.StateDir): in("state/spool/buying"),
	} {
		if got != want {
			t.Errorf("path %s, want %s", got, want)
		}
	}
}

func TestReadDescribe(t *testing.T) {
	dir := folder(t)
	block, err := ReadDescribe(filepath.Join(dir, "describe.json"))
	if err != nil || string(block) != `{"a":"Widgets","b":1}` {
		t.Errorf("%s, %v", block, err)
	}
	write(t, filepath.Join(dir, "large"), `{"a":"`+strings.Repeat("x", maxDescribe)+`"}`, 0o600)
	write(t, filepath.Join(dir, "twice"), `{"a":1,"a":2}`, 0o600)
	for _, name := range []string{"large", "twice", "list.json", "empty", "nowhere", "."} {
		if block, err := ReadDescribe(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s: %s", name, block)
		}
	}
}

func TestSecretShowsNothing(t *testing.T) {
	for want, secret := range map[string]Secret{
		"file": {File: "hunter2"}, "env": {Env: "hunter2"}, "command": {Command: []string{"echo", "hunter2"}}, "none": {},
	} {
		c := Config{Inboxes: []Inbox{{IMAP: IMAP{Server: Server{Secret: secret}}, SMTP: SMTP{Server: Server{Secret: secret}}}}}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("text", "config", c, "secret", secret)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "config", c, "secret", secret)
		asJSON, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		shows := []string{log.String(), string(asJSON)}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			shows = append(shows, fmt.Sprintf(verb, c))
		}
		for _, shown := range shows {
			if !strings.Contains(shown, want) || strings.Contains(shown, "hunter2") {
				t.Errorf("%s: shown as %s", want, shown)
			}
		}
	}
}

func TestLoadUnreadable(t *testing.T) {
	dir := folder(t)
	write(t, filepath.Join(dir, "large"), strings.Repeat("#", maxFile+1), 0o600)
	for name, want := range map[string]string{
		"missing": "cannot be read: no such file or directory; name another with --config, or write one with `agentmaild config new`",
		"":        "cannot be read: is a directory; name a configuration with --config",
		"large":   "cannot be read: larger than 262144 bytes; name a configuration with --config",
	} {
		path := filepath.Join(dir, name)
		_, err := Load(path)
		var got *Error
		if !errors.As(err, &got) || *got != (Error{File: path, Text: want}) {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil && err.Error() != path+": "+want {
			t.Errorf("%q: written as %q", name, err)
		}
	}
}

func TestWrong(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "agentmaild.toml")
	if err := os.WriteFile(path, []byte(valid), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("is\nwrong")
	for want, got := range map[string]error{
		path + ":1: state_dir: is wrong":        c.Wrong("", "state_dir", cause),
		path + ":15: inbox.party: is wrong":     c.Wrong("sales", "party", cause),
		path + ":20: inbox.imap.host: is wrong": c.Wrong("sales", "imap.host", cause),
		path + ":9: inbox.price_list: is wrong": c.Wrong("sales", "price_list", cause), // which is not in the file
		"state_dir: is wrong":                   (&Config{}).Wrong("", "state_dir", cause),
	} {
		if !errors.As(got, new(*Error)) || got.Error() != want {
			t.Errorf("%v; want %s", got, want)
		}
	}
	if err := c.Wrong("", "state_dir", nil); err != nil {
		t.Errorf("%v for no error", err)
	}
}
