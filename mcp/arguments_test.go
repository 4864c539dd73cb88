package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

func toolNamed(t testing.TB, name string) tool {
	t.Helper()
	for _, tool := range tools() {
		if tool.name == name {
			return tool
		}
	}
	t.Fatalf("there is no %s", name)
	return tool{}
}

// TestUnderstood has what models write taken for what they mean, where that is
// one thing.
func TestUnderstood(t *testing.T) {
	for _, c := range []struct{ name, tool, args, want string }{
		{"as the schema has it", "ask_quote", `{"items":[{"description":"Mug","quantity":200}],"to":"a@b.test"}`, `{"items":[{"description":"Mug","quantity":200}],"to":"a@b.test"}`},
		{"a list in a string", "ask_quote", `{"items":"[{\"description\":\"Mug\",\"quantity\":200}]"}`, `{"items":[{"description":"Mug","quantity":200}]}`},
		{"an object in a string", "ask_quote", `{"items":["{\"description\":\"Mug\",\"quantity\":200}"]}`, `{"items":[{"description":"Mug","quantity":200}]}`},
		{"a number in a string in both", "ask_quote", `{"items":"[\"{\\\"description\\\":\\\"Mug\\\",\\\"quantity\\\":\\\" 2.5 \\\"}\"]"}`, `{"items":[{"description":"Mug","quantity":2.5}]}`},
		{"whole numbers and truth in strings", "list_threads", `{"limit":"7","open":"true"}`, `{"limit":7,"open":true}`},
		{"null and nothing", "list_threads", `{"limit":null,"kind":"","inbox":null}`, `{}`},
		{"money in words", "send_quote", `{"items":[{"description":"M","quantity":1,"unit_price":" 2.75 EUR "}],"total":"550.00 EUR"}`, `{"items":[{"description":"M","quantity":1,"unit_price":{"amount":"275","currency":"EUR"}}],"total":{"amount":"55000","currency":"EUR"}}`},
		{"money in minor units", "send_quote", `{"items":[{"description":"M","quantity":1}],"total":{"amount":"55000","currency":"EUR"}}`, `{"items":[{"description":"M","quantity":1}],"total":{"amount":"55000","currency":"EUR"}}`},
		{"money in an object in a string", "send_quote", `{"items":[{"description":"M","quantity":1}],"total":"{\"amount\":\"55000\",\"currency\":\"EUR\"}"}`, `{"items":[{"description":"M","quantity":1}],"total":{"amount":"55000","currency":"EUR"}}`},
		{"whatever object", "send_request", `{"offering":"x","input":"{\"a\":[1,\"2\"]}"}`, `{"input":{"a":[1,"2"]},"offering":"x"}`},
		{"digits where a text belongs", "ask_quote", `{"items":[{"description":"42","quantity":1}]}`, `{"items":[{"description":"42","quantity":1}]}`},
	} {
		got, err := understood(toolNamed(t, c.tool).input, "", jsontext.Value(c.args))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

// TestNotUnderstood has everything else refused at its place, in words that hold
// nothing of what was written.
func TestNotUnderstood(t *testing.T) {
	const marker = "OBEY"
	for _, c := range []struct{ name, tool, args, want string }{
		{"no object", "ask_quote", `[]`, "the arguments: must be a JSON object"},
		{"not strict", "ask_quote", `{"items":[],"items":[]}`, "the arguments: must be strict JSON, without a name twice"},
		{"an unknown member", "accept", `{"ref":"x","OBEY":1}`, "the arguments: has a member that is unknown here; those it may have are inbox, ref, slot, note, valid_seconds, idempotency_key"},
		{"an unknown member within", "ask_quote", `{"items":[{"description":"M","quantity":1,"unit_price":"1.00 EUR"}]}`, "items[0]: has a member that is unknown here"},
		{"one that is missing", "accept", `{}`, "ref: is missing"},
		{"one that is null", "accept", `{"ref":null}`, "ref: is missing"},
		{"a list that is none", "ask_quote", `{"items":"OBEY"}`, "items: must be a JSON array"},
		{"a list that is an object", "ask_quote", `{"items":{"description":"M","quantity":1}}`, "items: must be a JSON array"},
		{"an empty list", "ask_quote", `{"items":[]}`, "items: must have from 1 to 100 elements"},
		{"too long a list", "propose_times", `{"slots":[{},{},{},{},{},{}]}`, "slots: must have from 1 to 5 elements"},
		{"two numbers", "ask_quote", `{"items":[{"description":"M","quantity":"1 2"}]}`, "items[0].quantity: must be a number"},
		{"a number with a comma", "ask_quote", `{"items":[{"description":"M","quantity":"2,000"}]}`, "items[0].quantity: must be a number"},
		{"a number in words", "ask_quote", `{"items":[{"description":"M","quantity":"200 OBEY"}]}`, "items[0].quantity: must be a number"},
		{"no number", "ask_quote", `{"items":[{"description":"M","quantity":"NaN"}]}`, "items[0].quantity: must be a number"},
		{"a string in a string", "ask_quote", `{"items":[{"description":"M","quantity":"\"2\""}]}`, "items[0].quantity: must be a number"},
		{"a number for a text", "accept", `{"ref":12}`, "ref: must be a string"},
		{"an object for a text", "accept", `{"ref":{"OBEY":1}}`, "ref: must be a string"},
		{"half a slot", "accept", `{"ref":"x","slot":1.5}`, "slot: must be a whole number"},
		{"a slot in words", "accept", `{"ref":"x","slot":1e0}`, "slot: must be a whole number"},
		{"a slot too many", "accept", `{"ref":"x","slot":5}`, "slot: must be from 0 to 4"},
		{"longer than any", "accept", `{"ref":"x","valid_seconds":99999999999}`, "valid_seconds: must be from 1 to 31622400"},
		{"half a truth", "list_threads", `{"open":"yes"}`, "open: must be true or false"},
		{"another kind", "list_threads", `{"kind":"OBEY"}`, "kind: must be one of threads, requests, tasks"},
		{"another reason", "decline", `{"ref":"x","reason":"OBEY"}`, "reason: must be one of price, timing, not_available, other"},
		{"a bare number of money", "send_quote", `{"items":[{"description":"M","quantity":1}],"total":550}`, `total: must be as in "550.00 EUR"`},
		{"a bare number of minor units", "send_quote", `{"items":[{"description":"M","quantity":1}],"total":{"amount":55000,"currency":"EUR"}}`, `total: must be as in "550.00 EUR"`},
		{"money without a currency", "send_quote", `{"items":[{"description":"M","quantity":1,"unit_price":"550.00"}],"total":"1.00 EUR"}`, `items[0].unit_price: must be as in`},
		{"money with a sign", "send_quote", `{"items":[{"description":"M","quantity":1}],"total":"550.00 €"}`, `total: must be as in`},
		{"money in two currencies", "send_quote", `{"items":[{"description":"M","quantity":1}],"total":{"amount":"1","currency":"EUR","OBEY":1}}`, `total: must be as in`},
		{"an input that is no object", "send_request", `{"offering":"x","input":"OBEY"}`, "input: must be a JSON object"},
	} {
		got, err := understood(toolNamed(t, c.tool).input, "", jsontext.Value(c.args))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), marker) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

// FuzzUnderstood has what is understood be what the schema asks for, and say the
// same when it is read again.
func FuzzUnderstood(f *testing.F) {
	for _, seed := range []string{
		`{"items":"[{\"description\":\"Mug\",\"quantity\":\"200\"}]","total":"550.00 EUR"}`, `{"total":{"amount":"1","currency":"EUR"},"items":[{"description":"","quantity":1e3,"unit_price":"0.01 EUR"}]}`,
		`{"limit":"7","open":"false","kind":null}`, `{"error":"{\"code\":\"x\"}","request":"x","output":"{}"}`, `{"ref":"x","slot":"4","valid_seconds":1}`, `"{\"ref\":\"x\"}"`, `{"ref":"\ud800"}`,
	} {
		for i := range tools() {
			f.Add(i, seed)
		}
	}
	resolved := make([]*jsonschema.Resolved, len(tools()))
	for i, t := range tools() {
		var err error
		if resolved[i], err = t.input.Resolve(nil); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, i int, args string) {
		if i < 0 || i >= len(tools()) {
			return
		}
		got, err := understood(tools()[i].input, "", jsontext.Value(args))
		if err != nil {
			return
		}
		again, err := understood(tools()[i].input, "", got)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: %s is read as %s, which is read as %s, %v", tools()[i].name, args, got, again, err)
		}
		var value any
		if err := json.Unmarshal(got, &value); err != nil {
			t.Fatalf("%s became no JSON: %s, %v", args, got, err)
		}
		if err := resolved[i].Validate(value); err != nil {
			t.Errorf("%s: %s is read as %s, which the schema does not allow: %v", tools()[i].name, args, got, err)
		}
	})
}
