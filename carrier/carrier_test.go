package carrier

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

const own = "agent@own.test"

func newProbe(t *testing.T) *Probe {
	t.Helper()
	p, err := New(mail.Address{Address: own}, mail.Address{Address: own}, time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a carrier may do, and what it may not.
func TestCompare(t *testing.T) {
	p := newProbe(t)
	parts := bytes.Split(p.Raw, []byte("\r\n--")) // head, text, envelope, text file, every byte, end
	if len(parts) != 6 {
		t.Fatalf("the mail has %d parts", len(parts))
	}
	without := func(n int) []byte {
		kept := append(append([][]byte{}, parts[:n]...), parts[n+1:]...)
		return bytes.Join(kept, []byte("\r\n--"))
	}
	replaced := func(old, new string) []byte {
		if !bytes.Contains(p.Raw, []byte(old)) {
			t.Fatalf("the mail has no %q", old)
		}
		return bytes.ReplaceAll(p.Raw, []byte(old), []byte(new))
	}
	for name, c := range map[string]struct {
		raw    []byte
		broken string // what is, "" for nothing
		says   string
	}{
		"as it was":              {p.Raw, "", ""},
		"with fields of its own": {append([]byte("Received: by mx.test\r\n"), p.Raw...), "", ""},
		"another Message-ID":     {replaced("Message-ID: <"+p.ID, "Message-ID: <other"), "", "Message-ID was changed"},
		"a changed byte":         {replaced("AAECAwQFBgcICQ", "AAECAwQFBgcICA"), "every-byte.bin", "its bytes were changed"},
		"a dropped file":         {without(3), "agenda.txt", "dropped the file"},
		"a renamed file":         {replaced(`filename="agenda.txt"`, `filename="att001.txt"`), "agenda.txt", `arrived as "att001.txt"`},
		"a renamed message":      {replaced("envelope.json", "att001.json"), "envelope.json", "dropped or renamed"},
		"a dropped message":      {without(2), "envelope.json", "dropped or renamed"},
		"a message twice":        {append(bytes.Join(parts[:5], []byte("\r\n--")), []byte("\r\n--"+string(parts[2])+"\r\n--"+string(parts[5]))...), "envelope.json", "more than once"},
		"another message":        {newProbe(t).Raw, "envelope.json", "another message"},
		"no mail any more":       {[]byte("\r\n\r\n\x00"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			checks := p.Compare(c.raw)
			broken, said := "", ""
			for _, check := range checks {
				said += check.Detail + "\n"
				if !check.OK && broken == "" {
					broken = check.What
				}
			}
			if name == "no mail any more" {
				if Passed(checks) {
					t.Error("it passed")
				}
				return
			}
			if broken != c.broken || !strings.Contains(said, c.says) || Passed(checks) != (c.broken == "") {
				t.Errorf("broken is %q, said %q; want %q, %q", broken, said, c.broken, c.says)
			}
		})
	}
	if Passed(nil) {
		t.Error("nothing was compared, and it passed")
	}
}

func TestIs(t *testing.T) {
	p := newProbe(t)
	if !p.Is(p.Raw) || !p.Is(bytes.Replace(p.Raw, []byte("Message-ID: <"+p.ID), []byte("Message-ID: <other"), 1)) {
		t.Error("the probe is not known again")
	}
	if p.Is(newProbe(t).Raw) || p.Is([]byte("From: a@b.test\r\n\r\nHello\r\n")) {
		t.Error("another mail is taken for the probe")
	}
}

// Through a mail server, to the same mailbox.
func TestSend(t *testing.T) {
	server, err := mailtest.Start(mailtest.Options{Users: map[string]string{own: "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	account := func(e mailbox.Endpoint) mailbox.Account {
		return mailbox.Account{Endpoint: e, User: own, Password: func(context.Context) (string, error) { return "secret", nil }}
	}
	send := func(ctx context.Context, to string) ([]byte, error) {
		p := newProbe(t)
		sender := &mailbox.Sender{Account: account(server.SMTP())}
		defer sender.Close()
		raw, err := Send(ctx, p, sender, mailbox.Letter{From: own, To: to, Raw: p.Raw}, &mailbox.Watcher{Account: account(server.IMAP())})
		if err == nil && !Passed(p.Compare(raw)) {
			t.Errorf("what arrived is %+v", p.Compare(raw))
		}
		return raw, err
	}
	if _, err := send(t.Context(), own); err != nil {
		t.Error(err)
	}
	server.Refuse("RCPT", 550, "no such user")
	if _, err := send(t.Context(), own); err == nil || !strings.Contains(err.Error(), "550") {
		t.Errorf("refused: %v", err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := send(ended, own); err == nil || errors.Is(err, ErrNotArrived) {
		t.Errorf("with no time: %v", err)
	}
}
