package schema

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Fast validates against one definition of the message schema. It knows only
// the keywords that the definitions use, and refuses to compile any other.
// The library, which knows all of them, spends half of a message's parsing on
// keeping track of what is unevaluated; the tests hold the two against each
// other.
type Fast struct{ root *node }

// node is one subschema.
type node struct {
	refs       []*node // $ref and allOf: all must hold
	anyOf      []*node
	kind       string
	required   []string
	dependent  map[string][]string
	properties map[string]*node
	names      []string // of the properties, sorted: the first that is broken is always the same
	items      *node
	constant   any // with hasConst
	hasConst   bool
	enum       []string
	pattern    *regexp.Regexp
	form       string // the pattern in words
	lengths    span   // of a string, in code points
	counts     span   // of an array
	numbers    span
	above      float64 // exclusiveMinimum
}

// span is a closed interval.
type span struct{ min, max float64 }

func everything() span { return span{math.Inf(-1), math.Inf(1)} }

func (s span) holds(n float64) bool { return n >= s.min && n <= s.max }

// String is the interval in words.
func (s span) String() string {
	switch {
	case math.IsInf(s.min, -1):
		return "at most " + decimal(s.max)
	case math.IsInf(s.max, 1):
		return "at least " + decimal(s.min)
	default:
		return decimal(s.min) + " to " + decimal(s.max)
	}
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// CompileFast compiles the definition of a name in the message schema.
func CompileFast(definition string) (*Fast, error) {
	var doc struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(Message, &doc); err != nil {
		return nil, fmt.Errorf("reading the message schema: %w", err)
	}
	c := compiler{doc.Defs, map[string]*node{}}
	root, err := c.definition(definition)
	return &Fast{root}, err
}

type compiler struct {
	defs map[string]map[string]any
	done map[string]*node
}

func (c *compiler) definition(name string) (*node, error) {
	if n, ok := c.done[name]; ok {
		return n, nil
	}
	text, ok := c.defs[name]
	if !ok {
		return nil, fmt.Errorf("the message schema has no definition %q", name)
	}
	n, err := c.compile(text)
	c.done[name] = n
	return n, err
}

func (c *compiler) compile(text map[string]any) (*node, error) {
	n := &node{lengths: everything(), counts: everything(), numbers: everything(), above: math.Inf(-1)}
	for word, value := range text {
		if err := c.keyword(n, word, value); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *compiler) keyword(n *node, word string, value any) (err error) {
	number, _ := value.(float64)
	switch word {
	case "$comment":
	case "description":
		n.form = value.(string)
	case "$ref":
		var referred *node
		referred, err = c.definition(strings.TrimPrefix(value.(string), "#/$defs/"))
		n.refs = append(n.refs, referred)
	case "allOf":
		var all []*node
		all, err = c.list(value)
		n.refs = append(n.refs, all...)
	case "anyOf":
		n.anyOf, err = c.list(value)
	case "type":
		n.kind = value.(string)
	case "required":
		n.required = words(value)
	case "dependentRequired":
		n.dependent = map[string][]string{}
		for name, others := range value.(map[string]any) {
			n.dependent[name] = words(others)
		}
	case "properties":
		n.properties = map[string]*node{}
		for name, property := range value.(map[string]any) {
			if n.properties[name], err = c.compile(property.(map[string]any)); err != nil {
				return err
			}
		}
		n.names = slices.Sorted(maps.Keys(n.properties))
	case "items":
		n.items, err = c.compile(value.(map[string]any))
	case "const":
		n.constant, n.hasConst = value, true
	case "enum":
		n.enum = words(value)
	case "pattern":
		n.pattern, err = regexp.Compile(value.(string))
	case "minLength":
		n.lengths.min = number
	case "maxLength":
		n.lengths.max = number
	case "minItems":
		n.counts.min = number
	case "maxItems":
		n.counts.max = number
	case "minimum":
		n.numbers.min = number
	case "maximum":
		n.numbers.max = number
	case "exclusiveMinimum":
		n.above = number
	default:
		err = fmt.Errorf("the message schema has the keyword %q, which is not known here", word)
	}
	return err
}

func (c *compiler) list(value any) ([]*node, error) {
	var list []*node
	for _, text := range value.([]any) {
		n, err := c.compile(text.(map[string]any))
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func words(value any) []string {
	var list []string
	for _, w := range value.([]any) {
		list = append(list, w.(string))
	}
	return list
}

// Validate returns "" for a value that the schema allows, otherwise where it
// does not and what must stand there, as in "items[0].quantity: must be more
// than 0". The value is what json.Unmarshal makes of a
// text; what stands in it is not repeated.
func (f *Fast) Validate(value any) string {
	return strings.TrimPrefix(f.root.broken(value), ".")
}

// broken is the path of the first rule that a value breaks with what the rule
// wants, or "".
func (n *node) broken(value any) string {
	for _, r := range n.refs {
		if b := r.broken(value); b != "" {
			return b
		}
	}
	if n.anyOf != nil && !slices.ContainsFunc(n.anyOf, func(o *node) bool { return o.broken(value) == "" }) {
		return ": is of none of the forms allowed"
	}
	if n.hasConst && !equal(n.constant, value) {
		return ": must be " + fmt.Sprint(n.constant)
	}
	switch v := value.(type) {
	case map[string]any:
		return n.object(v)
	case []any:
		return n.array(v)
	case string:
		return n.text(v)
	case float64:
		return n.number(v)
	}
	if n.kind != "" || n.enum != nil { // null, true and false, which no rule allows
		return n.kinds()
	}
	return ""
}

// kinds says what kind of value is wanted.
func (n *node) kinds() string {
	if n.enum != nil {
		return ": must be one of " + strings.Join(n.enum, ", ")
	}
	return ": must be of type " + n.kind
}

func (n *node) object(v map[string]any) string {
	if n.kind != "" && n.kind != "object" || n.enum != nil {
		return n.kinds()
	}
	for _, name := range n.required {
		if _, ok := v[name]; !ok {
			return "." + name + ": is missing"
		}
	}
	for name, others := range n.dependent {
		if _, ok := v[name]; !ok {
			continue
		}
		for _, other := range others {
			if _, ok := v[other]; !ok {
				return "." + other + ": is missing beside " + name
			}
		}
	}
	for _, name := range n.names {
		member, ok := v[name]
		if !ok {
			continue
		}
		if b := n.properties[name].broken(member); b != "" {
			return "." + name + b
		}
	}
	return ""
}

func (n *node) array(v []any) string {
	switch {
	case n.kind != "" && n.kind != "array" || n.enum != nil:
		return n.kinds()
	case !n.counts.holds(float64(len(v))):
		return fmt.Sprintf(": must have %s entries, has %d", n.counts, len(v))
	case n.items == nil:
		return ""
	}
	for i, element := range v {
		if b := n.items.broken(element); b != "" {
			return fmt.Sprintf("[%d]%s", i, b)
		}
	}
	return ""
}

func (n *node) text(v string) string {
	switch {
	case n.kind != "" && n.kind != "string" || n.enum != nil && !slices.Contains(n.enum, v):
		return n.kinds()
	case n.lengths != everything() && !n.lengths.holds(float64(utf8.RuneCountInString(v))):
		return fmt.Sprintf(": must have %s characters, has %d", n.lengths, utf8.RuneCountInString(v))
	case n.pattern != nil && !n.pattern.MatchString(v):
		return ": " + n.form
	default:
		return ""
	}
}

func (n *node) number(v float64) string {
	switch {
	case n.kind != "" && n.kind != "number" && (n.kind != "integer" || v != math.Trunc(v)) || n.enum != nil:
		return n.kinds()
	case v <= n.above:
		return fmt.Sprintf(": must be more than %s", decimal(n.above))
	case !n.numbers.holds(v):
		return fmt.Sprintf(": must be %s", n.numbers)
	default:
		return ""
	}
}

// equal compares JSON values.
func equal(a, b any) bool {
	x, ok := a.([]any)
	if !ok {
		_, list := b.([]any)
		_, object := b.(map[string]any)
		return !list && !object && a == b
	}
	y, ok := b.([]any)
	return ok && slices.EqualFunc(x, y, equal)
}
