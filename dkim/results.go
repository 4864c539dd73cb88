package dkim

import (
	"errors"
	"fmt"
	"strings"
)

// authResults is one Authentication-Results field, read (RFC 8601 §2.2).
type authResults struct {
	id      string // the authserv-id, letter case as written
	results []authResult
}

// authResult is one method's result. All but property values is lower case.
type authResult struct {
	method, result string
	properties     map[string]string // by "ptype.property"
}

// parseAuthResults reads the value of an Authentication-Results field. The id
// is returned with an error too, once it could be read.
//
// It is a reader of its own grammar, not a split at semicolons and spaces: a
// result that a sender placed inside a comment or a quoted string is nothing.
func parseAuthResults(value string) (authResults, error) {
	r := &reader{text: value}
	var field authResults
	err := r.space()
	if err == nil {
		field.id, err = r.value(isTokenByte)
	}
	if err == nil {
		err = r.version()
	}
	for err == nil && !r.end() {
		var result authResult
		if result, err = r.result(); err == nil && result.method != "" {
			field.results = append(field.results, result)
		}
	}
	if err != nil {
		return authResults{id: field.id}, fmt.Errorf("authentication-results: %w at byte %d", err, r.at)
	}
	return field, nil
}

// What a reader stumbles over.
var (
	errComment  = errors.New("a comment without end")
	errQuote    = errors.New("a quoted string without end")
	errExpected = errors.New("something else than the grammar allows")
	errTwice    = errors.New("a property given twice")
	errVersion  = errors.New("an unknown version")
)

// reader goes once through the text of a field.
type reader struct {
	text string
	at   int
}

func (r *reader) end() bool { return r.at == len(r.text) }

// next is the byte to be read, 0 at the end.
func (r *reader) next() byte {
	if r.end() {
		return 0
	}
	return r.text[r.at]
}

// take reads one given byte, after white space and comments and with those
// that follow.
func (r *reader) take(b byte) error {
	if err := r.space(); err != nil {
		return err
	}
	if r.next() != b {
		return errExpected
	}
	r.at++
	return r.space()
}

// space skips folding white space and comments, which nest (RFC 5322 §3.2.2).
func (r *reader) space() error {
	depth := 0
	for ; !r.end(); r.at++ {
		switch b := r.next(); {
		case b == '(':
			depth++
		case b == ')' && depth > 0:
			depth--
		case b == '\\' && depth > 0 && r.at+1 < len(r.text):
			r.at++
		case depth == 0 && !strings.ContainsRune(foldingSpace, rune(b)):
			return nil
		}
	}
	if depth > 0 {
		return errComment
	}
	return nil
}

// keyword reads letters, digits and hyphens, in lower case (RFC 5321 §4.1.2).
func (r *reader) keyword() (string, error) {
	word := r.run(func(b byte) bool {
		return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '-'
	})
	if word == "" {
		return "", errExpected
	}
	return strings.ToLower(word), nil
}

// run reads the longest run of allowed bytes.
func (r *reader) run(allowed func(byte) bool) string {
	start := r.at
	for !r.end() && allowed(r.next()) {
		r.at++
	}
	return r.text[start:r.at]
}

// value reads a quoted string or a run of allowed bytes. A quoted local part
// goes on with its domain.
func (r *reader) value(allowed func(byte) bool) (string, error) {
	if r.next() != '"' {
		if text := r.run(allowed); text != "" {
			return text, nil
		}
		return "", errExpected
	}
	text, err := r.quoted()
	if err == nil && r.next() == '@' {
		text += r.run(allowed)
	}
	return text, err
}

// quoted reads a quoted string and returns what it stands for.
func (r *reader) quoted() (string, error) {
	var text strings.Builder
	for r.at++; !r.end(); r.at++ {
		switch b := r.next(); {
		case b == '"':
			r.at++
			return text.String(), nil
		case b == '\\' && r.at+1 < len(r.text):
			r.at++
			if b = r.next(); b == '\r' || b == '\n' { // RFC 5322 §3.2.1: a pair is never half a fold
				return "", errQuote
			}
			text.WriteByte(b)
		case b != '\r' && b != '\n': // a fold inside is its white space alone
			text.WriteByte(b)
		}
	}
	return "", errQuote
}

// isTokenByte allows what a token is made of (RFC 2045 §5.1).
func isTokenByte(b byte) bool {
	return b > ' ' && b != 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?=`, rune(b))
}

// isPropertyByte allows what servers write in a property without quotes:
// addresses, base64 and URLs, but nothing that ends or hides a value.
func isPropertyByte(b byte) bool {
	return b > ' ' && b != 0x7f && !strings.ContainsRune(`()<>,;\"`, rune(b))
}

// version reads what follows the authserv-id: nothing or version 1 (RFC 8601
// §2.2); results of another version may mean anything.
func (r *reader) version() error {
	if err := r.space(); err != nil {
		return err
	}
	if version := r.run(isTokenByte); version != "" && version != "1" {
		return errVersion
	}
	if err := r.space(); err != nil {
		return err
	}
	if r.next() != ';' {
		return errExpected
	}
	return nil
}

// result reads a semicolon and the result behind it. The result is empty for
// "none", and for a semicolon at the very end, which large providers write.
func (r *reader) result() (authResult, error) {
	result := authResult{properties: map[string]string{}}
	if err := r.take(';'); err != nil || r.end() {
		return result, err
	}
	method, err := r.keyword()
	if err != nil {
		return result, err
	}
	if err := r.space(); err != nil {
		return result, err
	}
	if method == "none" && r.end() {
		return result, nil
	}
	if r.next() == '/' { // a method's version follows
		if err := r.take('/'); err != nil {
			return result, err
		}
		if r.run(isTokenByte) != "1" {
			return result, errVersion
		}
	}
	if err := r.take('='); err != nil {
		return result, err
	}
	if result.result, err = r.keyword(); err != nil {
		return result, err
	}
	result.method = method
	return result, r.properties(result.properties)
}

// properties reads what follows a result: a reason, then properties, each
// behind white space or a comment.
func (r *reader) properties(into map[string]string) error {
	for first := true; ; first = false {
		before := r.at
		if err := r.space(); err != nil {
			return err
		}
		if r.end() || r.next() == ';' {
			return nil
		}
		word, err := r.keyword()
		if err != nil || r.at-len(word) == before { // "passed" is not "pass" and "ed"
			return errExpected
		}
		if err := r.space(); err != nil {
			return err
		}
		if first && word == "reason" && r.next() == '=' {
			if _, err := r.assigned(); err != nil {
				return err
			}
			continue
		}
		if err := r.property(word, into); err != nil {
			return err
		}
	}
}

// property reads the rest of ptype.property=value.
func (r *reader) property(ptype string, into map[string]string) error {
	if err := r.take('.'); err != nil {
		return err
	}
	name, err := r.keyword()
	if err != nil {
		return err
	}
	value, err := r.assigned()
	if err != nil {
		return err
	}
	// Two readers would take different ones.
	if _, twice := into[ptype+"."+name]; twice {
		return errTwice
	}
	into[ptype+"."+name] = value
	return nil
}

// assigned reads "=" and a value.
func (r *reader) assigned() (string, error) {
	if err := r.take('='); err != nil {
		return "", err
	}
	return r.value(isPropertyByte)
}
