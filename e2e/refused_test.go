//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestRefusals sends four asks: one that the submission server refuses for
// good, one that its MX refuses, so that a delivery report comes back, one
// that is greylisted, and while that waits one that simply goes through.
func TestRefusals(t *testing.T) {
	const (
		unwanted = "unwanted@seller.test"
		nobody   = "nobody@seller.test"
		another  = "agent-b2@seller.test"
	)
	s := startStack(t)
	s.refuse(unwanted+" 550 5.7.1 not from you", sellerAddress+" greylist")
	buyer, seller := s.side("buyer"), s.side("seller")
	buyer.start()
	seller.start()
	greylisted, deal := buyer.ask(sellerAddress)
	_, refused := buyer.ask(unwanted)
	returned, lost := buyer.ask(nobody)
	fine, _ := buyer.ask(another)

	buyer.until("the greylisted letter's wait", func() bool { return buyer.logged("letter waits", greylisted, "450", "greylisted") == 1 })
	if list := buyer.run("inbox", "list"); !strings.Contains(list, "could not be sent: ") {
		t.Errorf("the inbox shows no reason:\n%s", list)
	}
	buyer.until("the letter behind it", func() bool { return buyer.logged("letter sent", fine, "tries=1") == 1 })
	t.Run("550 at submission is shown", func(t *testing.T) {
		buyer.waitsFor("letter", refused, "the mail to "+unwanted+" could not be sent: ", "550", "not from you")
	})
	t.Run("a delivery report is shown and not answered", func(t *testing.T) {
		buyer.waitsFor("bounce", lost, "the mail to "+nobody+" came back: status 5.1.1")
		mails := buyer.mails()
		if len(mails) != 1 || !strings.HasPrefix(mails[0].raw, "Return-Path: <>") || !strings.Contains(mails[0].raw, returned) {
			t.Errorf("the report is not what Postfix wrote: %d mails", len(mails))
		}
	})
	t.Run("a greylisted letter is tried again and arrives once", func(t *testing.T) {
		buyer.within(90*time.Second, "the second try", func() bool { return buyer.logged("letter sent", greylisted, "tries=2") == 1 })
		seller.has(greylisted, deal, "buyer")
		if n := seller.logged("msg=received", greylisted); n != 1 {
			t.Errorf("it arrived %d times", n)
		}
	})
	// Nothing else went out: the returned, the one behind it, the greylisted.
	if n := strings.Count(s.postfixLog(), "sasl_username="+buyerAddress); n != 3 {
		t.Errorf("Postfix took %d mails from the buyer, want 3", n)
	}
	buyer.untouched(1)
}

// waitsFor waits until exactly one thing of a kind and thread is shown to the
// owner, and looks for words in its reason.
func (d *side) waitsFor(kind, in string, words ...string) {
	d.t.Helper()
	var found []waiting
	d.until("a "+kind+" to be shown", func() bool {
		found = nil
		for _, w := range d.waiting() {
			if w.Kind == kind {
				found = append(found, w)
			}
		}
		return len(found) > 0
	})
	if len(found) != 1 || found[0].Thread != in {
		d.t.Errorf("shown: %+v", found)
	}
	for _, word := range words {
		if !strings.Contains(found[0].Reason, word) {
			d.t.Errorf("the reason %q lacks %q", found[0].Reason, word)
		}
	}
}
