//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// authres has an inbox believe what Rspamd writes. Dovecot adds a Received
// above it, so that only the topmost field of this id counts.
const authres = "[inbox.auth] mode = \"authres\"\nauthserv_id = \"mx.test\""

// TestDealsAuthres plays the negotiations with sides that leave the checking
// of DKIM to the Rspamd of their MX.
func TestDealsAuthres(t *testing.T) {
	s := startStack(t, "RSPAMD=1")
	buyer, seller := s.side("buyer", authres), s.side("seller", authres)
	negotiate(buyer, seller)
	for _, m := range append(buyer.mails(), seller.mails()...) {
		if field := m.header("Authentication-Results"); !strings.HasPrefix(field, "mx.test;") || !strings.Contains(m.raw, "dkim=pass") {
			t.Errorf("Rspamd wrote %q", field)
		}
	}
}

// TestForgedAuthres has a stranger take a mail whose signature is gone and
// write the field of the seller's MX into it; then the mail itself comes.
func TestForgedAuthres(t *testing.T) {
	s := startStack(t, "RSPAMD=1")
	buyer, seller := s.side("buyer"), s.side("seller", authres)
	buyer.start()
	seller.start()
	seller.stop()
	ask, deal := buyer.ask(sellerAddress)
	genuine := seller.intercept()
	_, unsigned, _ := strings.Cut(genuine, "\r\nFrom: ")
	seller.start()

	const forged = "Authentication-Results: mx.test; dkim=pass header.d=buyer.test header.s=s1\r\nFrom: "
	toMX(t, forged+unsigned)
	seller.until("the forged mail", func() bool { return seller.logged("msg=received") > 0 })
	if seller.logged("verdict=plain code=dkim") != 1 {
		t.Errorf("the forged mail is not plain:\n%s", seller.tail())
	}
	toMX(t, genuine)
	seller.has(ask, deal, "buyer")
	if mails := seller.mails(); len(mails) != 2 || !strings.Contains(mails[0].raw, forged) {
		t.Error("the forged field did not come into the mailbox")
	}
}

// intercept takes the one mail of an inbox out of Dovecot's files, and returns
// it as its sender wrote it.
func (d *side) intercept() string {
	d.t.Helper()
	var files []string
	d.until("a mail in its folder", func() bool {
		files, _ = filepath.Glob(filepath.Join(d.stack.dir, "dc/mail", d.name+".test", "*/Maildir/new/*"))
		return len(files) == 1
	})
	data, err := os.ReadFile(files[0])
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.Remove(files[0]); err != nil {
		d.t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n", "\r\n")
	return mail{raw: text}.signed()
}
