package record_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
)

// others are put in the place of every value of a record.
var others = []any{
	nil, true, false, float64(0), float64(1), float64(-1), 1.5, 1e20, "", "x", "{}", "owner", strings.Repeat("k", 65), strings.Repeat("é", 201),
	"a\x1b", "2026-11-27", strings.Repeat("0", 64), "their_reply", "our_signature", "offerer", "quote",
	[]any{},
	[]any{"x"},
	map[string]any{},
	map[string]any{"type": "quote"},
	map[string]any{"decided_by": "owner", "level": "a", "limits_version": float64(3)},
	map[string]any{"decided_by": "limits", "limits_version": "v1"},
	map[string]any{"decided_by": "limits", "limits_version": -1.0},
	map[string]any{"hash": strings.Repeat("0", 64), "auth_results": "", "received_at": 1.0},
	map[string]any{"canonical": "{}", "hash": strings.Repeat("0", 64)},
}

// TestForm holds the forms against the record schema, read by a library that
// knows all of JSON Schema: every value of a record is replaced and taken
// away, and members are added.
func TestForm(t *testing.T) {
	compiled, err := schema.Compile(schema.RecordID)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	agree := func(tree any, what string) {
		data, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		_, err = record.Parse(data)
		e, failed := errors.AsType[*record.Error](err)
		if valid := compiled.Validate(tree) == nil; valid == (failed && e.Step == "schema") {
			t.Errorf("%s: the schema says %t, Parse %v", what, valid, err)
		}
	}
	n := 0
	for _, data := range [][]byte{w.twoSigned(), w.oneSigned(), w.replied()} {
		var tree map[string]any
		w.ok(json.Unmarshal(data, &tree))
		agree(tree, "the baseline")
		everyPlace(tree, "", func(path string, set func(any), remove func()) {
			if path == "/profile" || strings.HasSuffix(path, "/address") { // a step of its own; addresses are read more strictly
				return
			}
			remove()
			agree(tree, path+" removed")
			for _, other := range others {
				set(other)
				agree(tree, path)
				n++
			}
		})
	}
	if n < 1000 {
		t.Errorf("only %d values were tried", n)
	}
}

// everyPlace visits every member and element, and members that could be there;
// what was visited is put back.
func everyPlace(tree map[string]any, path string, visit func(path string, set func(any), remove func())) {
	names := slices.Collect(maps.Keys(tree))
	for _, extra := range []string{"reply", "acceptance", "canonical", "jws", "authority", "delivery_by", "purpose", "location", "unknown"} {
		if _, there := tree[extra]; !there {
			names = append(names, extra)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, there := tree[name]
		visit(path+"/"+name, func(v any) { tree[name] = v }, func() { delete(tree, name) })
		if delete(tree, name); there {
			tree[name] = value
		}
		switch v := value.(type) {
		case map[string]any:
			everyPlace(v, path+"/"+name, visit)
		case []any:
			for i := range v {
				if object, ok := v[i].(map[string]any); ok {
					everyPlace(object, path+"/"+name+"/0", visit)
					continue
				}
				element := v[i]
				visit(path+"/"+name+"/0", func(o any) { v[i] = o }, func() {})
				v[i] = element
			}
		}
	}
}
