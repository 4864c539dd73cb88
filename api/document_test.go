package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The document, as whoever has nothing else reads it.
type (
	openAPI struct {
		Paths      map[string]map[string]operation `json:"paths"`
		Components struct {
			Parameters map[string]parameter `json:"parameters"`
		} `json:"components"`
	}
	operation struct {
		ID          string                `json:"operationId"`
		Security    []map[string][]string `json:"security"`
		Parameters  []parameter           `json:"parameters"`
		RequestBody *struct{}             `json:"requestBody"`
		Responses   map[string]any        `json:"responses"`
	}
	parameter struct {
		Ref      string `json:"$ref"`
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
	}
)

func readDocument(t *testing.T, text []byte) openAPI {
	t.Helper()
	var d openAPI
	check(t, json.Unmarshal(text, &d))
	for _, methods := range d.Paths {
		for _, o := range methods {
			for i, p := range o.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					o.Parameters[i] = d.Components.Parameters[name]
				}
			}
		}
	}
	return d
}

// TestDocument names every route and no other, with its scope and its parameters.
func TestDocument(t *testing.T) {
	d := readDocument(t, document)
	described, ids := map[string]operation{}, map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			described[strings.ToUpper(method)+" "+path] = o
			if ids[o.ID] {
				t.Errorf("%s is there twice", o.ID)
			}
			ids[o.ID] = true
			for part := range strings.SplitSeq(path, "/") {
				name, isParameter := strings.CutPrefix(part, "{")
				if isParameter && !slices.Contains(o.Parameters, parameter{Name: strings.TrimSuffix(name, "}"), In: "path", Required: true}) &&
					!slices.ContainsFunc(o.Parameters, func(p parameter) bool { return p.Name+"}" == name && p.In == "path" && p.Required }) {
					t.Errorf("%s %s: %s is not described", method, path, part)
				}
			}
		}
	}
	for _, r := range routes {
		o, ok := described[r.pattern]
		if !ok {
			t.Errorf("%s is not in the document", r.pattern)
			continue
		}
		delete(described, r.pattern)
		if len(o.Security) != 1 || !slices.Equal(o.Security[0]["token"], []string{string(r.scope)}) {
			t.Errorf("%s: it takes %s, and the document says %v", r.pattern, r.scope, o.Security)
		}
		if _, says := o.Responses["403"]; !says && r.scope == token.Owner {
			t.Errorf("%s: no 403", r.pattern)
		}
	}
	for pattern := range described {
		t.Errorf("%s is in the document and nowhere else", pattern)
	}
}

// schemas compiles what the document says of answers, with every object closed: a member that it does not name is a mistake
// in it.
var schemas = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	closed(text)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	return c, c.AddResource("openapi.json", text)
})

func closed(value any) {
	switch value := value.(type) {
	case map[string]any:
		_, open := value["additionalProperties"]
		if _, is := value["properties"].(map[string]any); is && value["type"] == "object" && !open {
			value["additionalProperties"] = false
		}
		for _, inner := range value {
			closed(inner)
		}
	case []any:
		for _, inner := range value {
			closed(inner)
		}
	}
}

// answered are the operations that were answered with a success.
var answered sync.Map

// documented holds an answer against what the document says of its operation.
func documented(t *testing.T, q *http.Request, a *httptest.ResponseRecorder) {
	t.Helper()
	d := readDocument(t, document)
	pattern := strings.TrimPrefix(q.Pattern, q.Method+" ") // the mux notes it
	o, ok := d.Paths[pattern][strings.ToLower(q.Method)]
	status := strconv.Itoa(a.Code)
	at := []string{"components", "schemas", "Problem"} // no operation was reached
	if ok {
		named, known := o.Responses[status].(map[string]any)
		if !known {
			t.Errorf("%s: the document has no %s", o.ID, status)
			return
		}
		at = []string{"paths", pattern, strings.ToLower(q.Method), "responses", status}
		if ref, is := named["$ref"].(string); is {
			at = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		}
		if a.Code < 300 {
			answered.Store(o.ID, true)
		}
		if a.Code == http.StatusNoContent {
			if a.Body.Len() > 0 {
				t.Errorf("%s: %s has a body", o.ID, status)
			}
			return
		}
		if kind := a.Header().Get("Content-Type"); kind == "application/octet-stream" && a.Code < 300 {
			contents, _ := named["content"].(map[string]any)
			if _, known := contents[kind]; !known {
				t.Errorf("%s: the document has no %s of %s", o.ID, status, kind)
			}
		}
		at = append(at, "content", a.Header().Get("Content-Type"), "schema")
	}
	if !strings.HasSuffix(a.Header().Get("Content-Type"), "json") { // events, and files
		return
	}
	validate(t, at, a.Body.Bytes())
}

// validate holds JSON against the schema at a place in the document.
func validate(t *testing.T, at []string, text []byte) {
	t.Helper()
	compiler, err := schemas()
	check(t, err)
	pointer := ""
	for _, part := range at {
		pointer += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	compiling.Lock()
	schema, err := compiler.Compile("openapi.json#" + pointer)
	compiling.Unlock()
	check(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	check(t, err)
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(at, " "), err, text)
	}
}

var compiling sync.Mutex
