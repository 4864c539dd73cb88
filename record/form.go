package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// plainAddress is an address in the one form that can be compared (D9).
func plainAddress(value any) string {
	s, _ := value.(string)
	if _, err := address.Parse(s); err != nil {
		return " is no plain email address"
	}
	return ""
}

// recordForm is the record schema, but for what depends on kind.
var recordForm = map[string]form{
	"profile": oneOf(Profile), "id": defined("uuid"), "thread": defined("uuid"),
	"kind":    oneOf(string(TwoSignatures), string(OurSignature), string(TheirReply)),
	"parties": list(2, 2, partyForm), "offer": evidenceForm, "acceptance": evidenceForm, "reply": replyForm, "terms": termsForm,
	"agreed_at": defined("time"), "chain": list(1, MaxSize, defined("hash")), "offer_current": boolean, "seal": text(1, MaxSize),
}

var (
	partyForm = members(map[string]form{
		"role": oneOf(Offerer, Accepter), "party?": defined("party"), "address": plainAddress, "org_name": line(1, 200),
		"kid?": text(1, 64), "authority?": members(map[string]form{
			"decided_by": oneOf("limits", "owner", "person"), "level?": line(0, 64), "limits_version?": either(line(0, 64), count),
		}),
	})
	evidenceForm = either(
		without("canonical", members(map[string]form{"jws": text(1, MaxSize), "hash": defined("hash")})),
		without("jws", members(map[string]form{"canonical": text(2, MaxSize), "hash": defined("hash")})),
	)
	replyForm = members(map[string]form{
		"hash": defined("hash"), "auth_results": text(0, 16384), "received_at": defined("time"),
	})
	termsForm = either(
		members(map[string]form{
			"type": oneOf("quote"), "items": list(1, 100, defined("quote_item")), "total": defined("money"), "delivery_by?": defined("date"),
		}),
		members(map[string]form{
			"type": oneOf("propose_times"), "slot": defined("slot"), "purpose?": line(0, 500), "location?": line(0, 500),
		}),
	)
)

// checkForm returns "" for members that are a record's, otherwise where they are not. A reply comes in the place of an
// acceptance for TheirReply, and only there (D50).
func checkForm(values map[string]jsontext.Value) string {
	for _, name := range sorted(recordForm) {
		value, there := values[name]
		if !there && name != "acceptance" && name != "reply" {
			return "/" + name + " is missing"
		}
		if !there {
			continue
		}
		var tree any
		if err := json.Unmarshal(value, &tree); err != nil {
			return "/" + name + " cannot be read"
		}
		if broken := recordForm[name](tree); broken != "" {
			return "/" + name + broken
		}
	}
	_, accepted := values["acceptance"]
	_, replied := values["reply"]
	byReply := string(values["kind"]) == `"`+string(TheirReply)+`"`
	switch {
	case replied != byReply:
		return "/reply belongs to " + string(TheirReply) + " and to no other kind"
	case accepted == byReply:
		return "/acceptance belongs to every kind but " + string(TheirReply)
	case !oneOfEach(values["parties"]):
		return "/parties are not one of each role"
	}
	return ""
}

func oneOfEach(value jsontext.Value) bool {
	var parties []struct {
		Role string `json:"role"`
	}
	return json.Unmarshal(value, &parties) == nil && len(parties) == 2 && parties[0].Role != parties[1].Role
}
