package main

import (
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/google/go-cmp/cmp"
)

func TestParseItem(t *testing.T) {
	price := intent.Money{Amount: "250", Currency: "EUR"}
	for text, want := range map[string]intent.Item{
		"200 piece Ceramic mug, white":           {Description: "Ceramic mug, white", Quantity: 200, Unit: "piece"},
		"1.5 kg Clay @ home @ 2.50 EUR":          {Description: "Clay @ home", Quantity: 1.5, Unit: "kg", UnitPrice: &price},
		"3 - Mugs":                               {Description: "Mugs", Quantity: 3},
		"  3   pcs   Mugs  in a box  @ 2.50 EUR": {Description: "Mugs  in a box", Quantity: 3, Unit: "pcs", UnitPrice: &price},
	} {
		got, err := parseItem(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "200", "200 piece", "many piece Mugs", "NaN - Mugs", "Inf - Mugs", "0x10 - Mugs", "1e3 - Mugs", "-1 - Mugs", "1 - Mugs @ cheap"} {
		if got, err := parseItem(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
