package schema_test

import (
	"fmt"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/go-json-experiment/json"
)

// base and the baselines hold every member that a type may have.
const base = `{
	"@context": ["https://schema.org", "https://docs.stackshift.cloud/agent-intents/v1"], "profile": "agent-intents/1",
	"id": "00000000-0000-4000-8000-00000000000a", "thread": "00000000-0000-4000-8000-0000000000ff",
	"in_reply_to": "00000000-0000-4000-8000-00000000000b", "prev": "abababababababababababababababababababababababababababababababab",
	"from": {"address": "agent@buyer.test", "party": "pty_buyer000000000000000", "name": "Buyer", "card": "https://buyer.test/card.json"},
	"to": {"address": "agent@seller.test"}, "nonce": "UYgX6BRG-rUqbbKRrxzaZQ", "iat": 1793696400, "exp": 1794301200,
	"acting_for": {"org_name": "Buyer Ltd", "contact": "owner@buyer.test"}, "agent": {"name": "Purchasing", "kind": "connected"},
	"authority": {"decided_by": "limits", "level": "gold", "limits_version": 3}, "note": "fine"`

var baselines = map[string]string{
	"ask_quote": `"items": [{"description": "Mug", "quantity": 200, "unit": "box"}], "wanted_by": "2026-11-30"`,
	"quote": `"items": [{"description": "Mug", "quantity": 200, "unit": "box", "unit_price": {"amount": "250", "currency": "EUR"}}],
		"total": {"amount": "50000", "currency": "EUR"}, "delivery_by": "2026-11-30", "replaces": "00000000-0000-4000-8000-00000000000b"`,
	"propose_times": `"slots": [{"start": "2026-11-12T10:00:00+01:00", "end": "2026-11-12T10:30:00+01:00", "time_zone": "Africa/Lagos"}],
		"purpose": "Visit", "location": "Berlin", "replaces": "00000000-0000-4000-8000-00000000000b"`,
	"accept":  `"ref": "00000000-0000-4000-8000-00000000000b", "slot": 0`,
	"decline": `"ref": "00000000-0000-4000-8000-00000000000b", "reason": "price"`,
	"cancel":  `"ref": "00000000-0000-4000-8000-00000000000b"`,
}

// removed stands for a member that is taken away.
type removed struct{}

// everywhere puts each replacement in the place of each value in tree, one at
// a time, and calls check; then the tree is as it was.
func everywhere(path string, tree any, check func(where string)) {
	replacements := []any{
		nil, true, "", "x", "agent-intents/1", "00000000-0000-4000-8000-00000000000c", -1.0, 0.0, 0.5, 1.0, 1e300,
		[]any{},
		[]any{nil},
		[]any{"x", 1.0},
		map[string]any{},
		map[string]any{"x": 1.0},
		removed{},
	}
	try := func(where string, put func(any), old any) {
		for _, value := range replacements {
			put(value)
			check(fmt.Sprintf("%s = %v", where, value))
		}
		put(old)
		everywhere(where, old, check)
	}
	switch v := tree.(type) {
	case map[string]any:
		for name, old := range v {
			try(path+"/"+name, func(value any) {
				if v[name] = value; value == any(removed{}) {
					delete(v, name)
				}
			}, old)
		}
	case []any:
		for i, old := range v {
			try(fmt.Sprintf("%s/%d", path, i), func(value any) {
				if v[i] = value; value == any(removed{}) {
					v[i] = nil
				}
			}, old)
		}
	}
}

// Both forms of the schema must judge alike, whatever stands wherever.
func TestFastAgreesWithLibrary(t *testing.T) {
	for typ, members := range baselines {
		var message map[string]any
		if err := json.Unmarshal([]byte(base+`, "type": "`+typ+`", `+members+`}`), &message); err != nil {
			t.Fatal(err)
		}
		fast, err := schema.CompileFast(typ)
		if err != nil {
			t.Fatal(err)
		}
		library, err := schema.Compile(schema.MessageID + "#/$defs/" + typ)
		if err != nil {
			t.Fatal(err)
		}
		if broken := fast.Validate(message); broken != "" {
			t.Errorf("%s: the baseline is refused: %s", typ, broken)
		}
		seen, refused := 0, 0
		everywhere("", message, func(where string) {
			seen++
			broken, err := fast.Validate(message), library.Validate(message)
			if (broken == "") != (err == nil) {
				t.Errorf("%s%s: %q, the library: %v", typ, where, broken, err)
			}
			if err != nil {
				refused++
			}
		})
		if refused < 300 || seen-refused < 20 {
			t.Errorf("%s: %d of %d were refused: the cases test one side only", typ, refused, seen)
		}
	}
}

func TestCompileFastRefuses(t *testing.T) {
	for _, name := range []string{"", "order", "#/$defs/quote"} {
		if _, err := schema.CompileFast(name); err == nil {
			t.Errorf("%q compiles", name)
		}
	}
}
