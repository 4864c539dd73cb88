package record

import (
	"bytes"
	"context"
	"errors"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the deepest nesting read, as of a message (D11).
const maxDepth = 16

func sizeWithin(c *check, _ context.Context) outcome {
	return holds(c.size <= MaxSize, "the record is larger than 262144 bytes", "%d bytes with the most, %d", c.size, MaxSize)
}

// strictJSON refuses what two readers could take for two records.
func strictJSON(c *check, _ context.Context) outcome {
	var err error
	if c.canonical, err = canon.Strict(c.data, maxDepth); err != nil {
		return fail("the record is not strict JSON", "the bytes with RFC 8259, at most %d levels, no member twice", maxDepth)
	}
	return pass("the bytes with RFC 8259, at most %d levels, no member twice", maxDepth)
}

func rightProfile(c *check, _ context.Context) outcome {
	c.split()
	return holds(string(c.members["profile"]) == `"`+Profile+`"`,
		"this is no record of "+Profile, "the member profile with %s", Profile)
}

// split finds the members that a record has, and the record without its seal. Others are passed over where they stand
// (D47), however many they are.
func (c *check) split() {
	c.members = map[string]jsontext.Value{}
	d := jsontext.NewDecoder(bytes.NewBuffer(c.canonical), jsontext.AllowDuplicateNames(true)) // looked at before
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return
	}
	for d.PeekKind() == '"' {
		from := d.InputOffset()
		token, err := d.ReadToken()
		if err != nil {
			return
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return
		}
		if _, known := recordForm[name]; known {
			c.members[name] = bytes.Clone(value)
		}
		if name == "seal" { // behind another member, if it is a record, so the comma before it goes along
			c.unsealed = append(bytes.Clone(c.canonical[:from]), c.canonical[d.InputOffset():]...)
		}
	}
}

func rightForm(c *check, _ context.Context) outcome {
	const compared = "the members with the record schema"
	broken := checkForm(c.members)
	if broken != "" {
		return fail("the record does not have the form of one: "+broken, compared)
	}
	r := &Record{}
	if err := json.Unmarshal(c.canonical, r, jsontext.AllowDuplicateNames(true)); err != nil {
		return fail("the record cannot be read", compared)
	}
	c.record = r
	c.sealed, c.sealErr = c.readSeal()
	return pass(compared)
}

// tokensRead takes the signed messages apart. A token of another spelling or header is no signature of the profile (D12).
func tokensRead(c *check, _ context.Context) outcome {
	for i, e := range c.record.evidence() {
		if !e.signed() {
			continue
		}
		var err error
		if e.token, err = jws.Parse([]byte(e.JWS), jws.TypMessage); err != nil {
			return fail("the token of the "+names[i]+" is not of the form that the profile asks for", "the token of the %s with the form of a message's", names[i])
		}
	}
	return pass("the tokens of the signed messages with the form of a message's")
}

// bytes are what the message's hash is taken over.
func (e *Evidence) bytes() []byte {
	if e.signed() {
		return e.token.Payload
	}
	return []byte(e.Canonical)
}

// bytesCanonical reads the messages. What is no strict JSON, or has members that the profile does not know, is the
// canonical form of nothing (D80).
func bytesCanonical(c *check, _ context.Context) outcome {
	for i, e := range c.record.evidence() {
		data := e.bytes()
		parsed, err := intent.Parse(data)
		e.message = parsed
		if err == nil && !parsed.Unknown && bytes.Equal(parsed.Canonical, data) {
			continue
		}
		if e.message = nil; err != nil && !errors.Is(err, intent.ErrJSON) && isCanonical(data) {
			continue // invalid in another way: the next step says so
		}
		return fail("the "+names[i]+" is not in its canonical form", "the bytes of the %s with their RFC 8785 form", names[i])
	}
	return pass("the bytes of each message with their RFC 8785 form")
}

func isCanonical(data []byte) bool {
	canonical, err := canon.Strict(data, maxDepth)
	return err == nil && bytes.Equal(canonical, data)
}

func messagesValid(c *check, _ context.Context) outcome {
	const compared = "each message with the rules for its type"
	for i, e := range c.record.evidence() {
		switch m := e.message; {
		case m == nil:
			return fail("the "+names[i]+" is not a valid message", compared)
		case i == offering && !m.Type.Offers():
			return fail("the offer is neither a quote nor proposed times", compared)
		case i == accepting && m.Type != intent.Accept:
			return fail("the acceptance is not an accept", compared)
		case c.record.Kind == TheirReply && m.Type != intent.Quote: // D51: words choose no slot
			return fail("a person's reply can accept a quote only", compared)
		}
	}
	c.sign()
	return pass(compared)
}

func hashesRecomputed(c *check, _ context.Context) outcome {
	for i, e := range c.record.evidence() {
		if got := canon.Hash(e.bytes()); got != e.Hash {
			return fail("the hash of the "+names[i]+" is not that of its bytes", "%s with %s", e.Hash, got)
		}
	}
	return pass("the SHA-256 of each message with its hash")
}
