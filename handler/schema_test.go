package handler

import (
	"bytes"
	"os"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compile compiles a schema of the documentation beside the message schema.
func compile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	message, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Message))
	check(t, err)
	check(t, c.AddResource(schema.MessageID, message))
	data, err := os.ReadFile(path)
	check(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	check(t, err)
	check(t, c.AddResource("file:///doc.json", doc))
	compiled, err := c.Compile("file:///doc.json")
	check(t, err)
	return compiled
}

func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	check(t, err)
	return s.Validate(value)
}

func TestEventSchema(t *testing.T) {
	s := compile(t, "../docs/handler-event.schema.json")
	golden, err := os.ReadFile("testdata/event.json")
	check(t, err)
	if err := valid(t, s, string(golden)); err != nil {
		t.Error(err)
	}
	undelivered := bytes.Replace(golden, []byte(`"state":"open"`), []byte(`"state":"agreed","undelivered":{"state":"failed","at":1,"reason":"550 no"}`), 1)
	if err := valid(t, s, string(undelivered)); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{{`"version":1`, `"version":2`}, {`"state":"open"`, `"state":"ajar"`}, {`"approved":false`, `"approved":false,"x":1`}, {`"signature":"signed"`, `"signature":"invalid"`}} {
		if valid(t, s, string(bytes.Replace(golden, []byte(c[0]), []byte(c[1]), 1))) == nil {
			t.Errorf("with %s it is still valid", c[1])
		}
	}
}

// TestExchangeSchema breaks the event of a message between agents.
func TestExchangeSchema(t *testing.T) {
	s := compile(t, "../docs/handler-event.schema.json")
	golden, err := os.ReadFile("testdata/exchange.json")
	check(t, err)
	if err := valid(t, s, string(golden)); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{
		{`"type":"request"`, `"type":"ask_quote"`},
		{`"type":"request"`, `"type":"knock"`},
		{`"kind":"request"`, `"kind":"cancel"`},
		{`"state":"ok"`, `"state":"missing"`},
		{`"exchange":`, `"thread":`},
		{`"signature":"signed"`, `"signature":"unchecked"`},
		{`"from":"U`, `"from":"S`},
	} {
		broken := bytes.Replace(golden, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(broken, golden) || valid(t, s, string(broken)) == nil {
			t.Errorf("with %s it is still valid", c[1])
		}
	}
}

func TestActionSchema(t *testing.T) {
	s := compile(t, "../docs/handler-action.schema.json")
	const id, price = `"5f0c8f4e-0000-4000-8000-000000000000"`, `{"amount":"1","currency":"EUR"}`
	for text, good := range map[string]bool{
		`{"type":"ask_quote","to":"a@b.test","items":[{"description":"x","quantity":1}]}`:                                  true,
		`{"type":"ask_quote","items":[{"description":"x","quantity":1}]}`:                                                  false,
		`{"type":"quote","thread":` + id + `,"items":[{"description":"x","quantity":1}],"total":` + price + `}`:            true,
		`{"type":"quote","replaces":` + id + `,"items":[{"description":"x","quantity":1}],"total":` + price + `,"slot":1}`: false,
		`{"type":"accept","ref":` + id + `,"slot":0,"note":"x","valid_seconds":60}`:                                        true,
		`{"type":"decline","ref":` + id + `,"reason":"price"}`:                                                             true,
		`{"type":"decline","ref":` + id + `,"reason":"rude"}`:                                                              false,
		`{"type":"cancel"}`: false,
		`{"type":"request","to":"a@b.test","offering":"chat","text":"x","files":["/tmp/x"],"task":"t"}`:           true,
		`{"type":"request","agent":"U","offering":"chat"}`:                                                        false,
		`{"type":"request","offering":"chat"}`:                                                                    false,
		`{"type":"respond"}`:                                                                                      true,
		`{"type":"respond","request":"x","status":"failed","error":{"code":"NO","message":"x","retryable":true}}`: true,
		`{"type":"respond","status":"ready"}`:                                                                     false,
		`{"type":"respond","error":{}}`:                                                                           false,
		`{"type":"respond","note":"x"}`:                                                                           false,
		`{"type":"cancel_task","task":"t","reason":"superseded","note":"x"}`:                                      true,
		`{"type":"cancel_task","task":"t","reason":"price"}`:                                                      false,
		`{"type":"cancel_task"}`:                                                                                  false,
		`{"type":"order"}`:                                                                                        false,
	} {
		if err := valid(t, s, text); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
