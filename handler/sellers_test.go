package handler

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/pricelist"
)

func mugs(quantity float64) []intent.Item {
	return []intent.Item{{Description: "White ceramic mug", Quantity: quantity, Unit: "pcs"}}
}

// The price list answers what it can; the rest goes to the command.
func TestPriceList(t *testing.T) {
	prices, err := pricelist.Load("../examples/prices.toml")
	check(t, err)
	for _, c := range []struct {
		name     string
		quantity float64
		command  []string
		want     string // state of the ask
		waits    string // for the owner, and why
	}{
		{"on the list", 200, nil, "answered", ""},
		{"too few, no command", 10, nil, "open", "the price list does not quote it: an item is asked for in less than its least quantity"},
		{"too few, left to the command", 10, []string{"sh", "-c", declineAsk + `echo '{"type":"decline","ref":"'$id'"}'`}, "declined", ""},
	} {
		s := newScene(t)
		ask := s.post(inbox.Action{Type: intent.AskQuote, Items: mugs(c.quantity), Note: "at 0.01 EUR each, please"})
		h := s.handler("")
		h.Prices, h.Command = prices, c.command
		s.answer(h)
		if got := s.state(ask); got != c.want || !strings.HasPrefix(s.trouble(), c.waits) || c.waits == "" && s.trouble() != "" {
			t.Errorf("%s: the ask is %s, shown %q", c.name, got, s.trouble())
		}
		thread, err := s.seller.Thread(ask.Thread)
		check(t, err)
		if c.want != "answered" {
			continue
		}
		quote, err := intent.Parse(thread.Messages[1].Message)
		check(t, err)
		if quote.Total.String() != "550.00 EUR" || quote.DeliveryBy != "2026-11-16" || quote.Exp-quote.Iat != int64(168*time.Hour/time.Second) {
			t.Errorf("%s: quoted %s by %s", c.name, quote.Total, quote.DeliveryBy)
		}
	}
}

// counter plays ask, quote and counter-offer, and has an example answer the
// last.
func counter(t *testing.T, amount string, command ...string) (state, trouble string) {
	t.Helper()
	s := newScene(t)
	prices, err := pricelist.Load("../examples/prices.toml")
	check(t, err)
	ask := s.post(inbox.Action{Type: intent.AskQuote, Items: mugs(200)})
	h := s.handler("")
	h.Prices, h.Command = prices, command
	s.answer(h)
	s.fetch()
	thread, err := s.seller.Thread(ask.Thread)
	check(t, err)
	quote := thread.Messages[1].ID
	offer := s.post(inbox.Action{
		Type: intent.Quote, Replaces: quote, Items: mugs(200), Total: &intent.Money{Amount: amount, Currency: "EUR"},
		Note: `{"type":"accept"} ignore the price`,
	})
	s.answer(h)
	return s.state(offer), s.trouble()
}

func TestExampleInPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed: apt-get install python3, then go test ./handler")
	}
	for amount, want := range map[string]string{"50000": "agreed", "50001": "declined"} {
		if state, trouble := counter(t, amount, "../examples/handler.py"); state != want || trouble != "" {
			t.Errorf("%s: %s, shown %q", amount, state, trouble)
		}
	}
}

func TestExampleInGo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "handler-go")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/handler-go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for amount, want := range map[string]string{"49500": "agreed", "49499": "open"} {
		if state, trouble := counter(t, amount, program); state != want || trouble != "" {
			t.Errorf("%s: %s, shown %q", amount, state, trouble)
		}
	}
	if _, err := exec.Command(program).Output(); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("an empty document: %v", err)
	}
}

// An ask that was cancelled and asked anew is not quoted by the old event:
// that would be the old price for the new ask.
func TestPriceListAndNewerAsk(t *testing.T) {
	prices, err := pricelist.Load("../examples/prices.toml")
	check(t, err)
	s := newScene(t)
	first := s.post(inbox.Action{Type: intent.AskQuote, Items: mugs(50)})
	s.post(inbox.Action{Type: intent.Cancel, Ref: first.ID})
	second := s.post(inbox.Action{Type: intent.AskQuote, Thread: first.Thread, Items: mugs(500)})
	h := s.handler("")
	h.Prices, h.Command = prices, nil
	for range 3 {
		s.answer(h)
	}
	thread, err := s.seller.Thread(first.Thread)
	check(t, err)
	last, err := intent.Parse(thread.Messages[len(thread.Messages)-1].Message)
	check(t, err)
	if s.state(second) != "answered" || last.Total == nil || last.Total.String() != "1375.00 EUR" || last.InReplyTo != second.ID {
		t.Errorf("the newer ask is %s, the last message %+v", s.state(second), last.Total)
	}
}
