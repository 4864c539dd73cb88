package demo

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/daemon"
	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
	"github.com/agentmaild/agentmaild/party"
)

const (
	sellerAddress = "agent@seller.test"
	keyHost       = "keys.demo.test"
)

// names are those of the sides, in the order in which they enter.
var names = [...]string{"buyer", "seller", "caller"}

func addressOf(name string) string { return "agent@" + name + ".test" }

// world is DNS and the key pages of the demo, in memory.
type world struct {
	txt   map[string]string
	pages map[string][]byte // by address
}

func newWorld() *world { return &world{map[string]string{}, map[string][]byte{}} }

// LookupTXT answers for the domains of the sides.
func (w *world) LookupTXT(_ context.Context, name string) ([]string, error) {
	if record, ok := w.txt[name]; ok {
		return []string{record}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Page answers for their parties.
func (w *world) Page(_ context.Context, url, name string, _ bool) (*party.Page, error) {
	page, ok := w.pages[url]
	if !ok {
		return nil, fmt.Errorf("%w: %s", party.ErrNoPage, url)
	}
	return party.ParsePage(page, name)
}

// side is one of those who write to each other.
type side struct {
	name   string
	daemon *daemon.Daemon
	seen   string // number of the last event looked at
}

func (s *side) inbox() *inbox.Inbox { return s.daemon.Inboxes()[0] }

var configuration = template.Must(template.New("agentmaild.toml").Parse(`# Of a demo: the servers named here ended with it, so that no daemon runs by this file.
state_dir = "state"

[trust]
hosts = ["{{.KeyHost}}"]

[[inbox]]
name = "{{.Name}}"
address = "{{.Address}}"
display_name = "{{.Title}} agent"
org_name = "{{.Title}} Ltd"
contact = "owner@{{.Name}}.test"
agent_name = "{{.Title}}"
party = "{{.Party}}"
agent_key = "agent.seed"
offerings = ["translate"]

[inbox.imap]
host = "{{.IMAP.Host}}"
port = {{.IMAP.Port}}
tls = "none"
password_file = "password"

[inbox.smtp]
host = "{{.SMTP.Host}}"
port = {{.SMTP.Port}}
tls = "none"

[inbox.dkim]
domain = "{{.Name}}.test"
selector = "demo"
key_file = "dkim.pem"
`))

// open opens the daemons of all sides.
func (w *world) open(dir string, server *mailtest.Server) (sides []*side, err error) {
	for _, name := range names {
		s, err := w.side(dir, name, server)
		if err != nil {
			for _, opened := range sides {
				err = errors.Join(err, opened.daemon.Close())
			}
			return nil, err
		}
		sides = append(sides, s)
	}
	return sides, nil
}

// side writes the files of one daemon, publishes its keys, and opens it.
func (w *world) side(dir, name string, server *mailtest.Server) (*side, error) {
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the %s: %w", name, err)
	}
	addr := addressOf(name)
	id := "pty_" + name + strings.Repeat("0", 20-len(name))
	var text bytes.Buffer
	err := configuration.Execute(&text, map[string]any{
		"KeyHost": keyHost, "Name": name, "Address": addr, "Title": title(name), "Party": id,
		"IMAP": server.IMAP(), "SMTP": server.SMTP(),
	})
	if err != nil {
		return nil, fmt.Errorf("writing a configuration: %w", err)
	}
	if err := w.publish(dir, name, addr, id); err != nil {
		return nil, err
	}
	seed, err := agentmsg.NewSeed(rand.Reader)
	if err != nil {
		return nil, err
	}
	for file, data := range map[string][]byte{"agentmaild.toml": text.Bytes(), "password": []byte(name + "-password\n"), "agent.seed": []byte(seed + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			return nil, fmt.Errorf("writing the files of the %s: %w", name, err)
		}
	}
	cfg, err := config.Load(filepath.Join(dir, "agentmaild.toml"))
	if err != nil {
		return nil, err
	}
	d, err := daemon.New(cfg, daemon.World{TXT: w, Pages: w, Now: time.Now, Random: rand.Reader, Log: logTo(dir)})
	return &side{name: name, daemon: d}, err
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// logTo writes a daemon's log beside its other files.
func logTo(dir string) *slog.Logger {
	file, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(file, nil))
}

// publish makes the two keys of a side: one for its mail, whose public part
// goes into DNS, and one for its messages, on a key page.
func (w *world) publish(dir, name, addr, id string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("making a DKIM key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("writing a DKIM key: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dkim.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("writing a DKIM key: %w", err)
	}
	w.txt["demo._domainkey."+address.Of(addr)] = dkim.KeyRecord(public)
	key, err := party.NewKey(filepath.Join(dir, "state", "keys", name), rand.Reader, time.Now())
	if err != nil {
		return err
	}
	page, err := party.BuildPage(id, title(name)+" Ltd", []string{addr}, nil, []party.OwnKey{key})
	if err != nil {
		return err
	}
	w.pages[party.PageURL(keyHost, id)] = page
	return nil
}
