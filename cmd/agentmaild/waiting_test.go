package main

import (
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
)

// TestSaid has no line of a person's mail look like one of ours, or take the
// screen.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"Fine.\r\n\r\nAnn\r\n":          "  | Fine.\n  | \n  | Ann\n",
		"x\rreply-1\n":                  "  | x\\rreply-1\n",
		"a\u2028b\x1b[2J":               "  | a\\u2028b\\x1b[2J\n",
		" \r\n":                         "  (it has no plain text: read it in the mailbox)\n",
		strings.Repeat("x", maxShown+1): "  | " + strings.Repeat("x", maxShown) + "…\n",
	} {
		if got := said(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := said(strings.Repeat("x\n", maxLines+1)); got != strings.Repeat("  | x\n", maxLines)+"  (and more: read it in the mailbox)\n" {
		t.Errorf("of %d lines it shows %q", maxLines+1, got)
	}
}

// TestProposed shows what an agent wants done, whatever it wrote.
func TestProposed(t *testing.T) {
	price := intent.Money{Amount: "275", Currency: "EUR"}
	got := proposed(inbox.Waiting{Address: "agent@buyer.test", Expires: 0, Action: &inbox.Action{
		Type: intent.Quote, Replaces: "1\n2", Items: []intent.Item{{Description: "Mug\x1b[2J", Quantity: 2, Unit: "piece", UnitPrice: &price}},
		Total: &intent.Money{Amount: "550", Currency: "EUR"}, Note: "one\n  action-7",
	}})
	want := "  quote of 1\\n2, to agent@buyer.test, until " + when(0) + "\n" +
		"  2 piece Mug\\x1b[2J @ 2.75 EUR\n" +
		"  total 5.50 EUR\n" +
		"  | one\n  |   action-7\n"
	if got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
