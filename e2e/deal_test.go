//go:build e2e

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	buyerAddress  = "agent-a@buyer.test"
	sellerAddress = "agent-b@seller.test"
)

// TestDeals plays the demo's negotiation and one by times, each side being
// restarted in the middle.
func TestDeals(t *testing.T) {
	s := startStack(t)
	buyer, seller := s.side("buyer", buyerAddress, "pw-a"), s.side("seller", sellerAddress, "pw-b")
	buyer.start()
	seller.start()

	ask, deal := buyer.do("ask", "--to", sellerAddress, "--item", "200 piece Ceramic mug, 350 ml, white", "--wanted-by", "2027-01-29", "--note", "To Ikeja.\n.\nFrom here on --boundary")
	seller.has(ask, deal, "buyer")
	buyer.restart()
	quote, _ := seller.do("quote", "--thread", deal, "--item", "200 piece Ceramic mug, 350 ml, white @ 2.75 EUR", "--total", "550.00 EUR")
	buyer.has(quote, deal, "seller")
	seller.restart()
	counter, _ := buyer.do("quote", "--replaces", quote, "--item", "200 piece Ceramic mug, 350 ml, white @ 2.50 EUR", "--total", "500.00 EUR")
	seller.has(counter, deal, "buyer")
	accept, _ := seller.do("accept", counter, "--note", "Agreed.")
	buyer.has(accept, deal, "seller")
	for _, d := range []*side{buyer, seller} {
		d.ends(deal, map[string]string{ask: "answered", quote: "replaced", counter: "agreed"}, "two_signatures")
	}

	offer, visit := seller.do("times", "--to", buyerAddress, "--purpose", "Factory visit",
		"--slot", "2027-01-12T10:00:00+01:00 2027-01-12T10:30:00+01:00 Africa/Lagos", "--slot", "2027-01-13T15:00:00+01:00 2027-01-13T15:30:00+01:00 Africa/Lagos")
	buyer.has(offer, visit, "seller")
	seller.restart()
	chosen, _ := buyer.do("accept", offer, "--slot", "1")
	buyer.restart()
	seller.has(chosen, visit, "buyer")
	for _, d := range []*side{buyer, seller} {
		d.ends(visit, map[string]string{offer: "agreed"}, "two_signatures")
	}
	t.Run("the mailboxes look untouched", func(t *testing.T) { s.untouched(t) })
	t.Run("a person's mail is left alone", func(t *testing.T) { s.leftAlone(t, seller) })
}

// untouched looks at the flags that Dovecot keeps in the names of its files:
// none may be set, and every mail must still be there.
func (s *stack) untouched(t *testing.T) {
	for dir, want := range map[string]int{"buyer.test/agent-a": 3, "seller.test/agent-b": 3} {
		mails, err := filepath.Glob(filepath.Join(s.dir, "dc/mail", dir, "Maildir/*/*:2,*"))
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := filepath.Glob(filepath.Join(s.dir, "dc/mail", dir, "Maildir/new/*"))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(mails) + len(fresh); n != want {
			t.Errorf("%s: %d mails, want %d", dir, n, want)
		}
		for _, m := range mails {
			if _, flags, _ := strings.Cut(filepath.Base(m), ":2,"); flags != "" {
				t.Errorf("%s: flags %q", dir, flags)
			}
		}
	}
}

// leftAlone delivers an ordinary mail and one that pretends, straight to the
// MX, and sees both logged and neither answered.
func (s *stack) leftAlone(t *testing.T, d *side) {
	for name, body := range map[string]string{
		"person": "Subject: hello\r\n\r\nIs anybody there?\r\n",
		"forged": "Subject: a deal\r\nMIME-Version: 1.0\r\nContent-Type: application/ld+json\r\n\r\n{\"profile\":\"agent-intents/1\",\"type\":\"accept\"}\r\n",
	} {
		submit(t, "127.0.0.1:11025", "From: "+name+"@buyer.test\r\nTo: "+sellerAddress+"\r\nMessage-ID: <"+name+"@buyer.test>\r\n"+body)
	}
	d.until("both mails", func() bool {
		return strings.Contains(d.tail(), "verdict=plain code=none") && strings.Contains(d.tail(), "verdict=plain code=schema")
	})
	left, err := os.ReadDir(filepath.Join(s.dir, "pf/spool/deferred"))
	if err == nil && len(left) > 0 {
		for _, sub := range left {
			files, _ := os.ReadDir(filepath.Join(s.dir, "pf/spool/deferred", sub.Name()))
			if len(files) > 0 {
				t.Errorf("something was sent that Postfix could not deliver: %v", files)
			}
		}
	}
}

// submit speaks the least of SMTP.
func submit(t *testing.T, addr, mail string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	buf := make([]byte, 4096)
	for _, line := range []string{"", "EHLO x\r\n", "MAIL FROM:<person@buyer.test>\r\n", "RCPT TO:<" + sellerAddress + ">\r\n", "DATA\r\n", mail + "\r\n.\r\n", "QUIT\r\n"} {
		if _, err := c.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(buf)
		if err != nil || buf[0] > '3' {
			t.Fatalf("%q: %s %v", line, buf[:n], err)
		}
	}
}
