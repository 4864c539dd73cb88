package schema_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const draft = "https://json-schema.org/draft/2020-12/schema"

var documents = map[string][]byte{schema.MessageID: schema.Message, schema.RecordID: schema.Record}

func read(t *testing.T, text []byte) map[string]any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func TestCompile(t *testing.T) {
	for id, text := range documents {
		if _, err := schema.Compile(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		for name := range read(t, text)["$defs"].(map[string]any) {
			if _, err := schema.Compile(id + "#/$defs/" + name); err != nil {
				t.Errorf("%s, %s: %v", id, name, err)
			}
		}
	}
}

// A schema is never fetched: not from the network, not from a file.
func TestCompileRefuses(t *testing.T) {
	for _, location := range []string{
		schema.MessageID + "#/$defs/order", "https://docs.stackshift.cloud/agent-intents/v2/message.schema.json",
		"https://schema.org/Person", "file:///etc/passwd", "message.schema.json",
	} {
		if _, err := schema.Compile(location); err == nil {
			t.Errorf("%s compiles", location)
		}
	}
}

func TestDocumentsAreValid(t *testing.T) {
	meta, err := jsonschema.NewCompiler().Compile(draft)
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range documents {
		doc := read(t, text)
		if err := meta.Validate(doc); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if doc["$schema"] != draft || doc["$id"] != id {
			t.Errorf("%s says $schema %v, $id %v", id, doc["$schema"], doc["$id"])
		}
	}
}

// Every reference stays inside the two documents. That each leads somewhere
// is checked when they are compiled.
func TestReferencesStayInside(t *testing.T) {
	for id, text := range documents {
		seen := 0
		walk(read(t, text), func(name string, value any) {
			if name != "$ref" && name != "$dynamicRef" {
				return
			}
			seen++
			ref := resolve(t, id, value.(string))
			document, _, _ := strings.Cut(ref, "#")
			if _, inside := documents[document]; !inside {
				t.Errorf("%s refers to %v", id, value)
			}
		})
		if seen == 0 {
			t.Errorf("%s: no reference was looked at", id)
		}
	}
}

func resolve(t *testing.T, base, ref string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if u, err = u.Parse(ref); err != nil {
		t.Fatal(err)
	}
	return u.String()
}

func walk(value any, visit func(name string, value any)) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			visit(name, member)
			walk(member, visit)
		}
	case []any:
		for _, element := range v {
			walk(element, visit)
		}
	}
}
