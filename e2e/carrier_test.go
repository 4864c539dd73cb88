//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// TestCarrier tests the mail servers themselves as carriers: from the mailbox
// to itself and to the other, and through a proxy that does harm.
func TestCarrier(t *testing.T) {
	s := startStack(t, "CYRUS=1")
	sides := s.daemon([]string{"buyer", "seller"})
	d := sides[0]
	for _, args := range [][]string{{"--inbox", "buyer"}, {"--inbox", "seller"}, {"--inbox", "buyer", "--to", "seller"}, {"--inbox", "seller", "--to", "buyer"}} {
		if out := d.run(append([]string{"carrier-test"}, args...)...); !strings.Contains(out, "the carrier passes") {
			t.Errorf("%v: %s", args, out)
		}
	}
	for name, c := range map[string]struct {
		harm func([]byte) []byte
		says string
	}{
		"a byte": {func(raw []byte) []byte {
			return bytes.Replace(raw, []byte("AAECAwQFBgcICQ"), []byte("AAECAwQFBgcICA"), 1)
		}, "every-byte.bin: its bytes were changed"},
		"dropped":   {func(raw []byte) []byte { return dropPart(raw, "agenda.txt") }, "agenda.txt: no attachment has its Content-ID any more"},
		"a message": {func(raw []byte) []byte { return dropPart(raw, "envelope.json") }, "envelope.json: no attachment has this name any more"},
		"renamed":   {func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`"agenda.txt"`), []byte(`"att001.txt"`)) }, `agenda.txt: it was renamed: it arrived as "att001.txt"`},
		"unnamed":   {func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("envelope.json"), []byte("att002.json")) }, "envelope.json: no attachment has this name any more"},
	} {
		p := d.through(s.harmful(c.harm))
		out, err := p.try("carrier-test", "--inbox", "buyer")
		if err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

// dropPart takes the part of a mail that names a file out of it.
func dropPart(raw []byte, file string) []byte {
	parts := bytes.Split(raw, []byte("\r\n--"))
	var kept [][]byte
	for _, part := range parts {
		if !bytes.Contains(part, []byte(`filename="`+file+`"`)) {
			kept = append(kept, part)
		}
	}
	return bytes.Join(kept, []byte("\r\n--"))
}

// through is the side with its mail going out by another port, in clear.
func (d *side) through(port int) *side {
	d.t.Helper()
	p := *d
	p.config = strings.TrimSuffix(d.config, ".toml") + fmt.Sprintf("-%d.toml", port)
	text := strings.ReplaceAll(d.read("agentmaild.toml"), "port = 11465\nca_file = \""+d.stack.dir+"/tls/ca.pem\"", fmt.Sprintf("port = %d\ntls = \"none\"", port))
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return &p
}

// harmful listens as a mail server that changes what it passes on to Postfix.
func (s *stack) harmful(harm func([]byte) []byte) (port int) {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	pem, err := os.ReadFile(s.dir + "/tls/ca.pem")
	if err != nil {
		s.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &proxied{pool: pool, harm: harm}, nil }))
	server.AllowInsecureAuth = true
	go func() { _ = server.Serve(listener) }()
	s.t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// proxied is one connection through the harmful server.
type proxied struct {
	pool           *x509.CertPool
	harm           func([]byte) []byte
	user, password string
	from, to       string
}

// AuthMechanisms names the only one.
func (p *proxied) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth takes the login along.
func (p *proxied) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		p.user, p.password = user, password
		return nil
	}), nil
}

// Mail takes the sender.
func (p *proxied) Mail(from string, _ *smtp.MailOptions) error { p.from = from; return nil }

// Rcpt takes the recipient.
func (p *proxied) Rcpt(to string, _ *smtp.RcptOptions) error { p.to = to; return nil }

// Data does harm and passes on.
func (p *proxied) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	changed := p.harm(raw)
	if bytes.Equal(changed, raw) {
		return fmt.Errorf("the proxy changed nothing")
	}
	sender := &mailbox.Sender{Account: mailbox.Account{
		Endpoint: mailbox.Endpoint{Host: "localhost", Port: 11465, TLS: mailbox.ImplicitTLS, RootCAs: p.pool},
		User:     p.user, Password: func(context.Context) (string, error) { return p.password, nil },
	}}
	defer sender.Close()
	return sender.Send(context.Background(), mailbox.Letter{From: p.from, To: p.to, Raw: changed})
}

// Reset forgets the transaction.
func (p *proxied) Reset() {}

// Logout has nothing to do.
func (p *proxied) Logout() error { return nil }
