//go:build e2e

package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestNetworkFaults cuts one inbox of a daemon off from its IMAP server, by
// silence and by resets, while it idles. The other inbox goes on, and what
// came meanwhile is there after the cut.
func TestNetworkFaults(t *testing.T) {
	s := startStack(t, "CYRUS=1")
	sides := s.daemon([]string{"buyer", "seller"}, `[inbox.imap] idle_refresh = "5s"`)
	buyer, seller := sides[0], sides[1]
	buyer.start()
	buyer.until("the other mailbox", func() bool { return buyer.logged("mailbox is watched from here on") == 2 })

	to := "INPUT -i lo -p tcp --dport " + s.imapPort("buyer.test")
	from := "INPUT -i lo -p tcp --sport " + s.imapPort("buyer.test")
	for _, c := range []struct {
		name  string
		rules []string
	}{
		{"black hole", []string{to + " -j DROP", from + " -j DROP"}},
		{"reset", []string{to + " -j REJECT --reject-with tcp-reset"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			time.Sleep(time.Second) // it idles again 50 ms after it last looked
			lost, back := buyer.logged("mailbox is not being watched"), buyer.logged("mailbox is being watched again")
			for _, rule := range c.rules {
				iptables(t, "-I "+rule)
			}
			missed, deal := seller.ask(buyerAddress)
			onward, other := buyer.ask(sellerAddress)
			seller.has(onward, other, "buyer")
			// The daemon waits a minute for an answer to what it says every 5 s.
			buyer.within(2*time.Minute, "its loss", func() bool { return buyer.logged("mailbox is not being watched", "inbox=buyer") > lost })
			if len(buyer.thread(deal).Messages) > 0 {
				t.Error("the mailbox was not cut off")
			}
			for _, rule := range c.rules {
				iptables(t, "-D "+rule)
			}
			buyer.has(missed, deal, "seller")
			if n := buyer.logged("mailbox is being watched again", "inbox=buyer"); n <= back {
				t.Error("its way back was not logged")
			}
		})
	}
	if buyer.logged("mailbox is not being watched", "inbox=seller") > 0 {
		t.Errorf("the other inbox was cut off too:\n%s", buyer.tail())
	}
}

func iptables(t *testing.T, rule string) {
	t.Helper()
	if out, err := exec.Command("iptables", strings.Fields(rule)...).CombinedOutput(); err != nil {
		t.Fatalf("iptables %s: %v: %s", rule, err, out)
	}
}
