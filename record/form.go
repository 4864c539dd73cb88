package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentmaild/agentmaild/envelope/schema"
)

// form says "" for a value that has it, otherwise what is wrong with it. A form ends at the first thing that is wrong, so
// that a record of a hundred thousand mistakes costs no more than one of one: a validator that lists them all does not.
// The tests hold these forms against the record schema.
type form func(value any) string

// members is the form of an object; a name that ends in "?" may be missing. Unknown members are ignored (D47).
func members(of map[string]form) form {
	return func(value any) string {
		object, ok := value.(map[string]any)
		if !ok {
			return " is no object"
		}
		for _, name := range sorted(of) {
			plain, optional := strings.CutSuffix(name, "?")
			member, there := object[plain]
			if !there && !optional {
				return "/" + plain + " is missing"
			}
			if !there {
				continue
			}
			if broken := of[name](member); broken != "" {
				return "/" + plain + broken
			}
		}
		return ""
	}
}

func sorted(of map[string]form) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func list(least, most int, of form) form {
	return func(value any) string {
		elements, ok := value.([]any)
		if !ok || len(elements) < least || len(elements) > most {
			return fmt.Sprintf(" is no list of %d to %d", least, most)
		}
		for i, element := range elements {
			if broken := of(element); broken != "" {
				return fmt.Sprintf("/%d%s", i, broken)
			}
		}
		return ""
	}
}

// text is a string, its length in code points.
func text(least, most int) form {
	return func(value any) string {
		s, ok := value.(string)
		if n := utf8.RuneCountInString(s); !ok || n < least || n > most {
			return " is no text of the right length"
		}
		return ""
	}
}

// line is a text without control characters (D10).
func line(least, most int) form {
	length := text(least, most)
	return func(value any) string {
		if broken := length(value); broken != "" {
			return broken
		}
		if strings.ContainsFunc(value.(string), func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) {
			return " has control characters"
		}
		return ""
	}
}

func oneOf(words ...string) form {
	return func(value any) string {
		if s, ok := value.(string); !ok || !slices.Contains(words, s) {
			return " is none of " + strings.Join(words, ", ")
		}
		return ""
	}
}

func either(forms ...form) form {
	return func(value any) string {
		for _, f := range forms {
			if f(value) == "" {
				return ""
			}
		}
		return " is of no form that it can have"
	}
}

// without is an object that does not have a member.
func without(name string, f form) form {
	return func(value any) string {
		if object, ok := value.(map[string]any); ok {
			if _, there := object[name]; there {
				return "/" + name + " stands beside its alternative"
			}
		}
		return f(value)
	}
}

// defined is a form that the message schema has a name for.
func defined(name string) form {
	compiled := sync.OnceValues(func() (*schema.Fast, error) { return schema.CompileFast(name) })
	return func(value any) string {
		f, err := compiled()
		if err != nil {
			return " cannot be looked at: " + err.Error()
		}
		return f.Validate(value)
	}
}

func boolean(value any) string {
	if _, ok := value.(bool); !ok {
		return " is neither true nor false"
	}
	return ""
}

func count(value any) string {
	if n, ok := value.(float64); !ok || n < 0 || n != math.Trunc(n) {
		return " is no whole number"
	}
	return ""
}
