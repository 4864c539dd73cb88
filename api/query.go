package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// described is what the document says of the parameters of its operations, by path and method.
type described struct {
	Paths map[string]map[string]struct {
		Parameters []placed `json:"parameters"`
	} `json:"paths"`
	Components struct {
		Parameters map[string]placed `json:"parameters"`
	} `json:"components"`
}

type placed struct {
	Ref  string `json:"$ref"`
	Name string `json:"name"`
	In   string `json:"in"`
}

// queries are the parameters that may stand in the query of each route, by its pattern.
var queries = sync.OnceValues(func() (map[string][]string, error) {
	var d described
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	found := map[string][]string{}
	for path, methods := range d.Paths {
		for method, operation := range methods {
			pattern := strings.ToUpper(method) + " " + path
			for _, p := range operation.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					p = d.Components.Parameters[name]
				}
				if p.In == "query" {
					found[pattern] = append(found[pattern], p.Name)
				}
			}
		}
	}
	return found, nil
})

// asked refuses a query that the document does not describe: who pages through a list by a misspelt name would get its first
// page for ever (D178).
func asked(r *http.Request, pattern string) error {
	known, err := queries()
	if err != nil {
		return err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return bad("the query: it cannot be read")
	}
	for name, values := range query {
		switch {
		case !slices.Contains(known[pattern], name):
			return bad(fmt.Sprintf("%q: there is no such parameter here: see /v1/openapi.json", name))
		case len(values) > 1:
			return bad(name + ": give it once")
		}
	}
	return nil
}
