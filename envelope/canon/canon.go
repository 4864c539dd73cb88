// Package canon reads JSON strictly and writes it in the one form that is
// hashed and signed: RFC 8785, the JSON Canonicalization Scheme.
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
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
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		token, err := dec.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStrict, err)
		}
		if dec.StackDepth() > maxDepth {
			return nil, fmt.Errorf("%w: nested deeper than %d", ErrStrict, maxDepth)
		}
		if token.Kind() == '0' && !finite(token) {
			return nil, fmt.Errorf("%w: a number outside IEEE 754 double precision", ErrStrict)
		}
	}
	value := jsontext.Value(bytes.Clone(data))
	if err := value.Canonicalize(); err != nil { // refuses a second value too
		return nil, fmt.Errorf("%w: %w", ErrStrict, err)
	}
	return value, nil
}

// finite tells whether a number token is a double. The canonicaliser would
// turn 1e400 into the largest double, and two texts would have one hash.
func finite(token jsontext.Token) bool {
	f, err := strconv.ParseFloat(token.String(), 64)
	return err == nil && !math.IsInf(f, 0)
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
