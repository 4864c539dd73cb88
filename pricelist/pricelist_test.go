package pricelist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/google/go-cmp/cmp"
)

const list = `currency = "EUR"
valid = "48h"
delivery_days = 14
note = "Ex works."

[[item]]
name = "Ceramic mug, 350 ml, white"
aliases = ["White mug"]
units = ["piece", "pcs"]
price = "2.75"
least = 50

[[item]]
name = "Clay"
units = ["kg"]
price = "0.99"
delivery_days = 3
`

var now = time.Date(2026, 11, 2, 23, 30, 0, 0, time.UTC)

func load(t *testing.T, text string) (*List, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func ask(items ...intent.Item) *intent.Message {
	return &intent.Message{Type: intent.AskQuote, Items: items}
}

func TestQuote(t *testing.T) {
	l, err := load(t, list)
	if err != nil {
		t.Fatal(err)
	}
	got, why := l.Quote(ask(intent.Item{Description: " ceramic MUG,  350 ml, white", Quantity: 200, Unit: "Pcs"}, intent.Item{Description: "clay", Quantity: 1.5}), now)
	mug, clay := intent.Money{Amount: "275", Currency: "EUR"}, intent.Money{Amount: "99", Currency: "EUR"}
	want := &Offer{
		Items: []intent.Item{
			{Description: " ceramic MUG,  350 ml, white", Quantity: 200, Unit: "Pcs", UnitPrice: &mug},
			{Description: "clay", Quantity: 1.5, UnitPrice: &clay},
		},
		Total:      intent.Money{Amount: "55149", Currency: "EUR"}, // 550.00 and 1.485, rounded up
		DeliveryBy: "2026-11-16", Valid: 48 * time.Hour, Note: "Ex works.",
	}
	if diff := cmp.Diff(want, got); diff != "" || why != "" {
		t.Errorf("%s\n%s", why, diff)
	}
}

func TestQuoteLeavesToOthers(t *testing.T) {
	l, err := load(t, list)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*intent.Message{
		"not on the list":     ask(intent.Item{Description: "Mug", Quantity: 200}),
		"one of two is not":   ask(intent.Item{Description: "Clay", Quantity: 1}, intent.Item{Description: "Glaze", Quantity: 1}),
		"unit":                ask(intent.Item{Description: "Clay", Quantity: 1, Unit: "piece"}),
		"least quantity":      ask(intent.Item{Description: "White mug", Quantity: 49}),
		"wanted a day before": {Items: ask(intent.Item{Description: "Clay", Quantity: 1}).Items, WantedBy: "2026-11-04"},
	} {
		if o, why := l.Quote(m, now); o != nil || why == "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	unitless, err := load(t, strings.Replace(list, "units = [\"kg\"]\n", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if o, why := unitless.Quote(ask(intent.Item{Description: "Clay", Quantity: 1, Unit: "t"}), now); o != nil || why == "" {
		t.Errorf("a unit, and the list has none: %+v", o)
	}
	if o, why := unitless.Quote(ask(intent.Item{Description: "Clay", Quantity: 1}), now); o == nil {
		t.Errorf("no unit, and the list has none: %s", why)
	}
	if _, why := l.Quote(&intent.Message{Items: ask(intent.Item{Description: "Clay", Quantity: 1}).Items, WantedBy: "2026-11-05"}, now); why != "" {
		t.Errorf("wanted on the very day: %s", why)
	}
	dear, err := load(t, strings.Replace(list, `"0.99"`, `"9999999999999999.99"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, why := dear.Quote(ask(intent.Item{Description: "Clay", Quantity: 2}), now); why == "" {
		t.Error("a sum of 19 digits was quoted")
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown key":     {"least", "lest", "prices.toml:11: item.lest: unknown key"},
		"wrong type":      {"least = 50", "least = \"50\"", "prices.toml:11: "},
		"syntax":          {"least = 50", "least =", "prices.toml:11: "},
		"currency":        {`"EUR"`, `"XXX"`, "currency: must be"},
		"validity":        {`"48h"`, `"2 days"`, "valid: must be"},
		"long validity":   {`"48h"`, `"8785h"`, "valid: must be"},
		"no items":        {list[strings.Index(list, "[[item]]"):], "", "item: there must be"},
		"price":           {`"2.75"`, `"2.755"`, `item 1 ("Ceramic mug, 350 ml, white"): price: must be`},
		"name twice":      {`"White mug"`, `"CLAY"`, "stands twice"},
		"empty alias":     {`"White mug"`, `" "`, "must not be empty"},
		"negative least":  {"least = 50", "least = -1", "must not be negative"},
		"negative days":   {"delivery_days = 14", "delivery_days = -1", "must not be negative"},
		"negative item's": {"delivery_days = 3", "delivery_days = -3", "must not be negative"},
	} {
		if _, err := load(t, strings.Replace(list, c.from, c.to, 1)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.toml")); err == nil {
		t.Error("a file that is not there was read")
	}
	if _, err := load(t, strings.Repeat("#", maxFile+1)); err == nil {
		t.Error("a file over the bound was read")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(list))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parse(data)
		if err != nil {
			return
		}
		for name := range l.byName {
			l.Quote(ask(intent.Item{Description: name, Quantity: 0.333333}), now)
		}
	})
}

// TestExampleLoads quotes what the README and examples/api.py ask for.
func TestExampleLoads(t *testing.T) {
	l, err := Load("../examples/prices.toml")
	if err != nil {
		t.Fatal(err)
	}
	o, why := l.Quote(ask(intent.Item{Description: "Ceramic mug, white", Quantity: 200, Unit: "piece"}), now)
	if o == nil || o.Total != (intent.Money{Amount: "55000", Currency: "EUR"}) {
		t.Errorf("%+v, %s", o, why)
	}
}
