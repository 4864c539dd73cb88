// Package emailing is the carriage of Agent Emailing: how a message of
// agentmsg and its files sit in an email. It knows MIME and no keys; what it
// finds is proven by whoever parses it.
package emailing

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// envelopeName is the name of the part that holds the message.
const envelopeName = "envelope.json"

// maxDepth is how deep it is looked for: the root is 0, and every node counts,
// also that of a forward and the message in it (E3).
const maxDepth = 8

// Find returns no message with one of these.
var (
	ErrNone       = errors.New("no part is named envelope.json")              // for the owner's review, unless a bridge takes the mail
	ErrSeveral    = errors.New("more than one part is named envelope.json")   // for the owner's review
	ErrUnreadable = errors.New("the part envelope.json breaks its encoding")  // code json
	ErrTooLarge   = errors.New("the part envelope.json is longer than 1 MiB") // code json
)

// Found is what a mail carries for an agent: one message, not yet parsed, and
// the parts beside it that may be its files.
type Found struct {
	Envelope []byte // for agentmsg.Parse
	scope    scope
}

// scope is the parts of one message that have a Content-ID, those of messages
// in it left out: a file belongs to the innermost message round it (E2).
type scope map[string][]*envelope.Part

// Find looks for the one part named envelope.json anywhere in a mail, forwards
// included, and decodes it (E3). What a delivery report returns is found too,
// our own messages among it: match reports first. Errors: ErrNone, ErrSeveral,
// ErrUnreadable, ErrTooLarge.
func Find(m *envelope.Mail) (*Found, error) {
	s := search{scope: scope{}}
	s.walk(m.Root, 0)
	switch len(s.found) {
	case 0:
		return nil, ErrNone
	case 1:
	default: // which of them the sender meant, nobody knows
		return nil, ErrSeveral
	}
	// What carriers say of its charset has no effect: JSON is UTF-8 (RFC 8259
	// §11), and Parse reads nothing else.
	var data bytes.Buffer
	err := s.found[0].part.DecodeTo(&data, agentmsg.MaxEnvelope)
	switch {
	case errors.Is(err, envelope.ErrTooLarge):
		return nil, ErrTooLarge
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return &Found{data.Bytes(), s.found[0].scope}, nil
}

// search walks a mail.
type search struct {
	scope scope // of the message that is walked
	found []candidate
	parts int
}

type candidate struct {
	part  *envelope.Part
	scope scope
}

// walk looks at a node and what is in it. Beyond envelope.MaxParts nodes, over
// all messages, nothing is looked at.
func (s *search) walk(p *envelope.Part, depth int) {
	if depth > maxDepth || s.parts > envelope.MaxParts {
		return
	}
	s.parts++
	switch {
	case len(p.Parts) > 0:
		for _, child := range p.Parts {
			s.walk(child, depth+1)
		}
	case p.Type == "message/rfc822":
		s.scope.add(p) // it may be a file as well
		s.forward(p, depth+1)
	default:
		s.scope.add(p)
		if isEnvelope(p) { // a container is none, however it is named (D113)
			s.found = append(s.found, candidate{p, s.scope})
		}
	}
}

// forward walks a message in the mail. One that cannot be read safely is an
// attachment like any other (D113).
func (s *search) forward(p *envelope.Part, depth int) {
	m, err := p.Message()
	if err != nil {
		return
	}
	outer := s.scope
	s.scope = scope{}
	s.walk(m.Root, depth)
	s.scope = outer
}

// add notes a part under its Content-ID. With two of them it has none: one
// reader would take the first, another the last.
func (s scope) add(p *envelope.Part) {
	if p.Header.Count("Content-ID") != 1 {
		return
	}
	id := strings.Trim(p.Header.Get("Content-ID"), "<>")
	s[id] = append(s[id], p)
}
