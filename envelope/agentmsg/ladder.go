package agentmsg

import (
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// measure is the length of a body's sender text in UTF-16 units (§22, the
// ladder): of the body, if it is a string; of the first member of textNames
// that is not null; else of the whole. What is no string is measured as
// compact JSON, which canonical JSON is (D102).
func measure(body jsontext.Value) int {
	if body == nil {
		return len("null")
	}
	value := body
	for _, member := range members(body) {
		if member != nil {
			value = member
			break
		}
	}
	if s, ok := asString(value); ok {
		return units(s)
	}
	return units(string(value))
}

// Text is the sender's text: the body itself, if it is a string, or the first
// of text, message and prompt that is one. It is empty where there is none or
// the body is sealed.
func (e *Envelope) Text() string {
	_, text := framedField(e.Body())
	return text
}

// fieldSelf is the place of a text that is the whole body.
const fieldSelf = "self"

// framedField is where the text stands that is framed, and the text: the first
// string of the ladder. Unlike what is measured, it may come after something
// that is no string, since a reader would find it there. Without one the place
// is empty, as in a sealed body, which has none of the members (D105).
func framedField(body jsontext.Value) (field, text string) {
	if s, ok := asString(body); ok {
		return fieldSelf, s
	}
	for i, member := range members(body) {
		if s, ok := asString(member); ok {
			return textNames[i], s
		}
	}
	return "", ""
}

// members are the values of textNames in a body, nil where absent or null.
func members(body jsontext.Value) [len(textNames)]jsontext.Value {
	var found [len(textNames)]jsontext.Value
	if body.Kind() != jsontext.KindBeginObject {
		return found
	}
	var object map[string]jsontext.Value
	if json.Unmarshal(body, &object) != nil {
		return found
	}
	for i, name := range textNames {
		found[i] = present(object[name])
	}
	return found
}

// asString is the text of a JSON string.
func asString(value jsontext.Value) (string, bool) {
	if value.Kind() != jsontext.KindString {
		return "", false
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

// units counts UTF-16 code units, as §22 measures.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
