package mcp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// understood brings a value into the form that its schema asks for, or says
// where it has another. Models write arrays, objects, numbers and booleans as
// strings: such a string is taken for what it holds where the schema asks for
// that, and where it holds exactly one (D172). An error names the place and
// what belongs there, and never says again what stood there: a model may have
// that from somebody else.
func understood(s *jsonschema.Schema, place string, v jsontext.Value) (jsontext.Value, error) {
	if s.Format == formatMoney {
		return understoodMoney(place, v)
	}
	if s.Type != "string" && v.Kind() == '"' {
		inner := jsontext.Value(strings.TrimSpace(unquoted(v)))
		if !inner.IsValid() || inner.Kind() == '"' {
			return nil, wrong(s, place)
		}
		v = inner
	}
	switch kind := v.Kind(); {
	case s.Type == "object" && kind == '{':
		return understoodObject(s, place, v)
	case s.Type == "array" && kind == '[':
		return understoodList(s, place, v)
	case s.Type == "string" && kind == '"':
		return v, oneOf(s, place, unquoted(v))
	case s.Type == "integer" && kind == '0' && wholeForm.Match(v):
		return v, within(s, place, v)
	case s.Type == "number" && kind == '0', s.Type == "boolean" && (kind == 't' || kind == 'f'):
		return v, nil
	}
	return nil, wrong(s, place)
}

var wholeForm = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})$`)

// wrong says what belongs at a place.
func wrong(s *jsonschema.Schema, place string) error {
	want := map[string]string{
		"object": `a JSON object`, "array": `a JSON array`, "string": `a string`, "boolean": `true or false`,
		"integer": `a whole number`, "number": `a number with a point for decimals and nothing else, as in 2.5`,
	}[s.Type]
	return fmt.Errorf("%s: must be %s", named(place), want)
}

func oneOf(s *jsonschema.Schema, place, value string) error {
	if s.Enum == nil || value == "" { // "" is left out
		return nil
	}
	names := make([]string, len(s.Enum))
	for i, e := range s.Enum {
		names[i] = fmt.Sprint(e)
	}
	if slices.Contains(names, value) {
		return nil
	}
	return fmt.Errorf("%s: must be one of %s", place, strings.Join(names, ", "))
}

func within(s *jsonschema.Schema, place string, v jsontext.Value) error {
	var n float64
	if err := json.Unmarshal(v, &n); err != nil || n < *s.Minimum || n > *s.Maximum {
		return fmt.Errorf("%s: must be from %.0f to %.0f", place, *s.Minimum, *s.Maximum)
	}
	return nil
}

// understoodObject looks at the members. What is null or, where a string
// belongs, "" counts as left out.
func understoodObject(s *jsonschema.Schema, place string, v jsontext.Value) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v, &members); err != nil {
		return nil, fmt.Errorf("%s: must be strict JSON, without a name twice", named(place))
	}
	if s.Properties == nil { // whatever it has
		return v, nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		inner, known := s.Properties[name]
		if !known {
			return nil, fmt.Errorf("%s: has a member that is unknown here; those it may have are %s", named(place), strings.Join(s.PropertyOrder, ", "))
		}
		if value := members[name]; value.Kind() == 'n' || inner.Type == "string" && string(value) == `""` {
			delete(members, name)
			continue
		}
		var err error
		if members[name], err = understood(inner, below(place, name), members[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range s.Required {
		if members[name] == nil {
			return nil, fmt.Errorf("%s: is missing; it must be given", below(place, name))
		}
	}
	return json.Marshal(members, json.Deterministic(true))
}

func understoodList(s *jsonschema.Schema, place string, v jsontext.Value) (jsontext.Value, error) {
	var elements []jsontext.Value
	if err := json.Unmarshal(v, &elements); err != nil {
		return nil, wrong(s, place)
	}
	if len(elements) < *s.MinItems || len(elements) > *s.MaxItems {
		return nil, fmt.Errorf("%s: must have from %d to %d elements", place, *s.MinItems, *s.MaxItems)
	}
	for i := range elements {
		var err error
		if elements[i], err = understood(s.Items, fmt.Sprintf("%s[%d]", place, i), elements[i]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(elements)
}

// understoodMoney takes an amount in major units with its currency, or in minor
// units. A bare number would be either.
func understoodMoney(place string, v jsontext.Value) (jsontext.Value, error) {
	form := fmt.Errorf(`%s: must be as in "550.00 EUR", or {"amount": "55000", "currency": "EUR"} in whole minor units`, place)
	if v.Kind() == '"' {
		written := strings.TrimSpace(unquoted(v))
		if m, err := intent.ParseMoney(written); err == nil {
			return json.Marshal(m)
		}
		v = jsontext.Value(written)
	}
	var m intent.Money
	if !v.IsValid() || v.Kind() != '{' || json.Unmarshal(v, &m, json.RejectUnknownMembers(true)) != nil || m.Amount == "" || m.Currency == "" {
		return nil, form
	}
	return json.Marshal(m)
}

// unquoted is what a JSON string says.
func unquoted(v jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}

func named(place string) string {
	if place == "" {
		return "the arguments"
	}
	return place
}

func below(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}
