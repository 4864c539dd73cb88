package daemon

import (
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
)

// TestLimits holds an agent to what the configuration allows, and to nothing
// where it says nothing.
func TestLimits(t *testing.T) {
	r := newRig(t)
	r.write("prices.toml", "currency = \"EUR\"\n[[item]]\nname = \"Mug\"\nprice = \"2.75\"\n")
	d, err := New(r.config(
		r.box("good", 1, ""),
		r.box("free", 1, "price_list = \"prices.toml\"\n[inbox.limits]\nauto = \"within_limits\"\n[inbox.limits.quote]\nmost_discount = 10"),
	), r.world())
	check(t, err)
	defer d.Close()
	ask := inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}}
	for i, waits := range []bool{true, false} {
		done, err := d.Inboxes()[i].Propose(ask)
		check(t, err)
		if (done.Waiting != "") != waits {
			t.Errorf("inbox %d: %+v", i, done)
		}
	}
	if u := d.units[1]; u.plan.settings.Prices.Price(ask.Items[0]) == nil || u.plan.settings.Limits.Quote.MostDiscount != 10 {
		t.Errorf("the settings: %+v", u.plan.settings)
	}
}
