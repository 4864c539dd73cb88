package schema_test

import (
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/go-json-experiment/json"
)

// TestWords changes one value a case: what is said names the place, and what
// must stand there, but not what does.
func TestWords(t *testing.T) {
	for _, c := range []struct{ typ, old, put, want string }{
		{"ask_quote", `"quantity": 200`, `"quantity": 0`, "items[0].quantity: must be more than 0"},
		{"ask_quote", `"quantity": 200`, `"quantity": 1000000001`, "items[0].quantity: must be at most 1000000000"},
		{"ask_quote", `"quantity": 200`, `"quantity": "200"`, "items[0].quantity: must be of type number"},
		{"ask_quote", `"quantity": 200, `, ``, "items[0].quantity: is missing"},
		{"ask_quote", `"unit": "box"`, `"unit": "` + strings.Repeat("ü", 33) + `"`, "items[0].unit: must have at most 32 characters, has 33"},
		{"ask_quote", `"description": "Mug"`, `"description": ""`, "items[0].description: must have 1 to 500 characters, has 0"},
		{"ask_quote", `"description": "Mug"`, `"description": "\u001b"`, "items[0].description: must be without control characters"},
		{"ask_quote", `"items": [{`, `"items": [], "x": [{`, "items: must have 1 to 100 entries, has 0"},
		{"ask_quote", `"iat": 1793696400`, `"iat": 0`, "iat: must be 1 to 253402300799"},
		{"ask_quote", `"limits_version": 3`, `"limits_version": -3`, "authority.limits_version: is of none of the forms allowed"},
		{"ask_quote", `, "prev": "ab`, `, "x": "ab`, "prev: is missing beside in_reply_to"},
		{"quote", `"amount": "250"`, `"amount": "2.50"`, "items[0].unit_price.amount: must be whole minor units in 1 to 18 digits, as in 50000 for 500.00"},
		{"quote", `"amount": "50000", "currency": "EUR"`, `"amount": "50000", "currency": "euro"`, "total.currency: must be an ISO 4217 code, as in EUR"},
		{"decline", `"price"`, `"rude"`, "reason: must be one of price, timing, not_available, other"},
		{"decline", `"price"`, `1`, "reason: must be one of price, timing, not_available, other"},
		{"accept", `"slot": 0`, `"slot": true`, "slot: must be of type integer"},
		{"cancel", `"ref": "00000000`, `"ref": "0`, "ref: must be a UUID in lower case"},
		{"cancel", `"profile": "agent-intents/1"`, `"profile": "agent-intents/2"`, "profile: must be agent-intents/1"},
	} {
		fast, err := schema.CompileFast(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		text := base + `, "type": "` + c.typ + `", ` + baselines[c.typ] + `}`
		changed := strings.Replace(text, c.old, c.put, 1)
		var message map[string]any
		if err := json.Unmarshal([]byte(changed), &message); err != nil || changed == text {
			t.Fatalf("%s: %v", c.old, err)
		}
		if got := fast.Validate(message); got != c.want {
			t.Errorf("%s: %q, want %q", c.put, got, c.want)
		}
	}
}

// TestPatternsInWords has a description beside every pattern.
func TestPatternsInWords(t *testing.T) {
	var doc any
	if err := json.Unmarshal(schema.Message, &doc); err != nil {
		t.Fatal(err)
	}
	patterns := 0
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			if v["pattern"] != nil {
				if patterns++; v["description"] == nil {
					t.Errorf("%v is not in words", v["pattern"])
				}
			}
			for _, member := range v {
				walk(member)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
	}
	walk(doc)
	if patterns == 0 {
		t.Error("there is no pattern")
	}
}
