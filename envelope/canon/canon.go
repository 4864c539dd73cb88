// Package canon reads JSON strictly and writes it in the one form that is
// hashed and signed: RFC 8785, the JSON Canonicalization Scheme.
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrStrict is wrapped by every refusal of Strict.
var ErrStrict = errors.New("not strict JSON")

// Strict checks that data is exactly one JSON value and returns its canonical
// form. Refused (D11): invalid UTF-8, a byte-order mark, a member given twice
// in one object, data after the value, nesting deeper than maxDepth, and a
// number that is no finite double. The caller bounds the length of data.
func Strict(data []byte, maxDepth int) ([]byte, error) {
	if err := scan(data, maxDepth); err != nil {
		return nil, err
	}
	value := jsontext.Value(bytes.Clone(data))
	if err := value.Canonicalize(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStrict, err)
	}
	return value, nil
}

// scan checks what the library does not: how deep the text is nested, and
// that its numbers are finite. What is no JSON passes; the library refuses it.
func scan(data []byte, maxDepth int) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = stringEnd(data, i)
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("%w: nested deeper than %d", ErrStrict, maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || '0' <= c && c <= '9':
			end := numberEnd(data, i)
			if !finite(data[i:end]) {
				return fmt.Errorf("%w: a number outside IEEE 754 double precision", ErrStrict)
			}
			i = end - 1
		}
	}
	return nil
}

// stringEnd is the position of the quote that ends the string begun at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

func numberEnd(data []byte, i int) int {
	for i < len(data) && bytes.IndexByte([]byte("+-.0123456789Ee"), data[i]) >= 0 {
		i++
	}
	return i
}

// finite tells whether a number is a double. The canonicaliser would turn
// 1e400 into the largest double, and two texts would have one hash.
func finite(number []byte) bool {
	if len(number) <= 300 && !bytes.ContainsAny(number, "eE") {
		return true
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return !errors.Is(err, strconv.ErrRange)
}

// Marshal writes v in canonical form.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	value := jsontext.Value(data)
	if err := value.Canonicalize(); err != nil {
		return nil, fmt.Errorf("writing canonical JSON: %w", err)
	}
	return value, nil
}

// Hash is the lowercase hex SHA-256 of canonical bytes: prev, chain, and the
// offer and acceptance hashes (profile: "How messages sit in email").
func Hash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
