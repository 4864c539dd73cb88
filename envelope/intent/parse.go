package intent

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/go-json-experiment/json"
)

// What Parse refuses, told apart because each is a verdict of its own.
var (
	ErrSize    = errors.New("message is larger than 32768 bytes")
	ErrJSON    = errors.New("message is not strict JSON")
	ErrProfile = errors.New("not a message of " + Profile) // another version, or no object
	ErrInvalid = errors.New("message breaks a rule of the profile")
)

// maxDepth is the deepest nesting read (D11).
const maxDepth = 16

// Parse reads one message: strict JSON (D11), the profile, unknown members
// dropped, the schema, then the rules no schema can state.
func Parse(data []byte) (*Parsed, error) {
	if len(data) > MaxSize {
		return nil, ErrSize
	}
	canonical, err := canon.Strict(data, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJSON, err)
	}
	var tree any
	if err := json.Unmarshal(canonical, &tree); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJSON, err)
	}
	object, ok := tree.(map[string]any)
	if !ok || object["profile"] != Profile {
		return nil, ErrProfile
	}
	kind, _ := object["type"].(string)
	unknown := prune(object, shapes[Type(kind)])
	if unknown {
		if canonical, err = canon.Marshal(object); err != nil {
			return nil, err
		}
	}
	if err := validate(Type(kind), object); err != nil {
		return nil, err
	}
	p := &Parsed{Canonical: canonical, Hash: canon.Hash(canonical), Unknown: unknown}
	if err := p.fill(object); err != nil {
		return nil, err
	}
	return p, p.check()
}

// fill sets the members from an object that the schema allows. A slot that
// no integer here can hold is no fault of form: it is out of range, and a
// matter of state (D39).
func (p *Parsed) fill(object map[string]any) error {
	text := p.Canonical
	if slot, ok := object["slot"].(float64); ok && math.Abs(slot) > math.MaxInt32 {
		object["slot"] = math.Copysign(math.MaxInt32, slot)
		var err error
		if text, err = canon.Marshal(object); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(text, &p.Message); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// validate holds an object against the schema of its type. The whole schema
// says the same through six conditions; the tests compare the two.
func validate(t Type, object map[string]any) error {
	byType, err := compiled()
	if err != nil {
		return err
	}
	s, ok := byType[t]
	if !ok {
		return fmt.Errorf("%w: type is none of the six", ErrInvalid)
	}
	if broken := s.Validate(object); broken != "" {
		return fmt.Errorf("%w: %s", ErrInvalid, broken)
	}
	return nil
}

// compiled holds the schema of each type; compiling takes milliseconds.
var compiled = sync.OnceValues(func() (map[Type]*schema.Fast, error) {
	byType := map[Type]*schema.Fast{}
	for t := range shapes {
		s, err := schema.CompileFast(string(t))
		if err != nil {
			return nil, err
		}
		byType[t] = s
	}
	return byType, nil
})
