//go:build e2e

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2/imapclient"
)

const (
	answers      = 30
	latencyBound = 30 * time.Millisecond // of the median, on a quiet machine; not asserted
)

// TestLatency measures how long an ask waits for its answer: from the EXISTS
// that a second IMAP session sees, idling beside the daemon's on Cyrus, to the
// daemon's log line that Postfix has taken the answer. Between the two lie
// fetching, DKIM and signature, two commits, the decision, signing, and an SMTP
// session over TLS. A handler decides, whose process takes its own time, and
// then a price list.
func TestLatency(t *testing.T) {
	s := startStack(t, "CYRUS=1")
	buyer, seller := s.side("buyer", handled(t)), s.side("seller", "[[inbox]] hourly_limit = 1000")
	seller.start()
	buyer.start()
	measure(buyer, seller, "a handler in shell")
	buyer.stop()
	buyer.write("prices.toml", "currency = \"EUR\"\n[[item]]\nname = \"Ceramic mug\"\nunits = [\"piece\"]\nprice = \"2.75\"\n")
	buyer.write("agentmaild.toml", regexp.MustCompile(`(?m)^handler = .*$`).ReplaceAllString(buyer.read("agentmaild.toml"), `price_list = "prices.toml"`))
	buyer.start()
	measure(buyer, seller, "a price list")
}

// measure has the buyer answer asks, one after the other.
func measure(buyer, seller *side, decider string) {
	exists := make(chan time.Time, answers)
	observer := buyer.open(imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				exists <- time.Now()
			}
		},
	}})
	defer observer.Close()
	idle, err := observer.Idle()
	if err != nil {
		buyer.t.Fatal(err)
	}
	defer idle.Close()
	for len(exists) > 0 { // what opening the folder said
		<-exists
	}
	sent := buyer.logged("letter sent")
	var waits []time.Duration
	for n := range answers {
		seller.ask(buyerAddress)
		buyer.until("the answer", func() bool { return buyer.logged("letter sent") == sent+n+1 })
		waits = append(waits, buyer.lastLogged("letter sent").Sub(<-exists))
	}
	slices.Sort(waits)
	buyer.t.Logf("%d asks answered by %s, from EXISTS on Cyrus to the answer taken by Postfix: p50 %s, p90 %s, most %s; bound of p50: %s",
		answers, decider, round(waits[answers/2]), round(waits[answers*9/10]), round(waits[answers-1]), latencyBound)
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// lastLogged is when the last line with a word was logged, to the millisecond.
func (d *side) lastLogged(word string) time.Time {
	d.t.Helper()
	data, err := os.ReadFile(d.log)
	if err != nil {
		d.t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(data[strings.LastIndex(string(data[:strings.LastIndex(string(data), word)]), "time=")+len("time="):]), " ")
	at, err := time.Parse(time.RFC3339Nano, before)
	if err != nil {
		d.t.Fatal(err)
	}
	return at
}
