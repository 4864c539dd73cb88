//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDeals plays two negotiations over Postfix and Dovecot.
func TestDeals(t *testing.T) {
	s := startStack(t)
	buyer, seller := s.side("buyer"), s.side("seller")
	negotiate(buyer, seller)
	t.Run("a person's mail is left alone", func(t *testing.T) { leftAlone(t, seller) })
}

// TestDealsCyrus plays them with the buyer's mail on Cyrus.
func TestDealsCyrus(t *testing.T) {
	s := startStack(t, "CYRUS=1")
	negotiate(s.side("buyer"), s.side("seller"))
}

// negotiate plays the demo's negotiation and one by times, each side being
// restarted in the middle.
func negotiate(buyer, seller *side) {
	buyer.t.Helper()
	buyer.start()
	seller.start()

	ask, deal := buyer.do("ask", "--to", sellerAddress, "--item", "200 piece Ceramic mug, 350 ml, white", "--wanted-by", "2099-01-29", "--note", "To Ikeja.\n.\nFrom here on --boundary")
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
		"--slot", "2099-01-12T10:00:00+01:00 2099-01-12T10:30:00+01:00 Africa/Lagos", "--slot", "2099-01-13T15:00:00+01:00 2099-01-13T15:30:00+01:00 Africa/Lagos")
	buyer.has(offer, visit, "seller")
	seller.restart()
	chosen, _ := buyer.do("accept", offer, "--slot", "1")
	buyer.restart()
	seller.has(chosen, visit, "buyer")
	for _, d := range []*side{buyer, seller} {
		d.ends(visit, map[string]string{offer: "agreed"}, "two_signatures")
		d.untouched(3)
	}
}

// leftAlone delivers an ordinary mail and one that pretends, straight to the
// MX, and sees both logged and neither answered.
func leftAlone(t *testing.T, d *side) {
	for name, body := range map[string]string{
		"person": "Subject: hello\r\n\r\nIs anybody there?\r\n",
		"forged": "Subject: a deal\r\nMIME-Version: 1.0\r\nContent-Type: application/ld+json\r\n\r\n{\"profile\":\"agent-intents/1\",\"type\":\"accept\"}\r\n",
	} {
		toMX(t, "From: "+name+"@buyer.test\r\nTo: "+sellerAddress+"\r\nMessage-ID: <"+name+"@buyer.test>\r\n"+body)
	}
	d.until("both mails", func() bool {
		return d.logged("verdict=plain code=none") > 0 && d.logged("verdict=plain code=schema") > 0
	})
	left, err := filepath.Glob(filepath.Join(d.stack.dir, "pf/spool/deferred/*/*"))
	if err != nil || len(left) > 0 {
		t.Errorf("something was sent that Postfix could not deliver: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(d.stack.dir, "pf/spool/deferred")); err != nil {
		t.Error(err) // or the look above proves nothing
	}
}
