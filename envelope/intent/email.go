package intent

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Media types of the parts (profile: "How messages sit in email").
const (
	machineType = "application/ld+json"
	joseType    = "application/jose"
)

// maxJOSE bounds the signature part: a JWS holds the message once more, in
// base64url, with a header of at most a few kilobytes.
const maxJOSE = 64 << 10

// ErrUnreadable is wrapped by Find when the one machine part there is breaks
// its encoding; ErrJWS when there is more than one signature, or an empty or
// unreadable one (D36). Both are refusals of their own.
var (
	ErrUnreadable = errors.New("machine part cannot be decoded")
	ErrJWS        = errors.New("signature part is not exactly one token")
)

// Found is the machine part of an email.
type Found struct {
	*Parsed
	JWS    []byte // the compact token, white space at its end trimmed; nil without one
	JWSErr error  // wraps ErrJWS; the message itself stands
}

// Find looks for the one application/ld+json part that is a message of this
// profile, and for its signature. Errors: ErrProfile when there is none or
// are several; ErrSize, ErrUnreadable, ErrJSON and ErrInvalid for the only
// part there is.
func Find(m *envelope.Mail) (*Found, error) {
	var parts []*envelope.Part
	for p := range m.Leaves(machineType) {
		parts = append(parts, p)
	}
	part, err := choose(parts)
	if err != nil {
		return nil, err
	}
	data, err := decode(part)
	if err != nil {
		return nil, err
	}
	parsed, err := Parse(data)
	if err != nil {
		return nil, err
	}
	found := &Found{Parsed: parsed}
	found.JWS, found.JWSErr = signature(m)
	return found, nil
}

// choose picks the machine part. Beside others it must be the only one whose
// profile member is ours; one that cannot be read could be a second (D45).
func choose(parts []*envelope.Part) (*envelope.Part, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var ours *envelope.Part
	for _, p := range parts {
		data, err := decode(p)
		if err != nil {
			return nil, fmt.Errorf("%w: one of several machine parts: %w", ErrProfile, err)
		}
		switch isOurs, err := hasProfile(data); {
		case err != nil:
			return nil, fmt.Errorf("%w: one of several machine parts: %w", ErrProfile, err)
		case isOurs && ours != nil:
			return nil, fmt.Errorf("%w: two machine parts", ErrProfile)
		case isOurs:
			ours = p
		}
	}
	if ours == nil {
		return nil, ErrProfile
	}
	return ours, nil
}

func decode(p *envelope.Part) ([]byte, error) {
	data, err := p.Decode(MaxSize)
	switch {
	case errors.Is(err, envelope.ErrTooLarge):
		return nil, ErrSize
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return data, nil
}

// hasProfile looks at the one member: a mail may have a hundred such parts, and
// nobody has vouched for it yet.
func hasProfile(data []byte) (bool, error) {
	canonical, err := canon.Strict(data, maxDepth)
	if err != nil {
		return false, err
	}
	var object struct {
		Profile jsontext.Value `json:"profile"`
	}
	err = json.Unmarshal(canonical, &object)
	return err == nil && string(object.Profile) == strconv.Quote(Profile), nil // no object has no profile
}

// signature decodes the application/jose part (D36).
func signature(m *envelope.Mail) ([]byte, error) {
	var token []byte
	n := 0
	for p := range m.Leaves(joseType) {
		if n++; n > 1 {
			return nil, fmt.Errorf("%w: two parts", ErrJWS)
		}
		data, err := p.Decode(maxJOSE)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrJWS, err)
		}
		if token = bytes.TrimRight(data, " \t\r\n"); len(token) == 0 {
			return nil, fmt.Errorf("%w: an empty part", ErrJWS)
		}
	}
	return token, nil
}

// Draft is the email that carries a message (section 3 of the profile's
// reading; D13, D14, D15). References are the Message-IDs of the thread so
// far, the answered one last; jws may be empty for an unsigned message.
func (p *Parsed) Draft(jws string, references []string) (envelope.Draft, error) {
	html, err := p.HTML()
	if err != nil {
		return envelope.Draft{}, err
	}
	attribution, err := canon.Marshal(map[string]any{"acting_for": p.ActingFor, "agent": p.Agent})
	if err != nil {
		return envelope.Draft{}, err
	}
	d := envelope.Draft{
		From:       mail.Address{Name: p.From.Name, Address: p.From.Address},
		To:         mail.Address{Address: p.To.Address},
		Subject:    p.Subject(),
		Date:       time.Unix(p.Iat, 0),
		MessageID:  p.MessageID(),
		References: references,
		Extra: []envelope.Field{
			{Name: "Auto-Submitted", Value: "auto-generated"}, // RFC 3834
			{Name: "Structured-Data", Value: "full"},
			{Name: "Agent-Of", Value: envelope.Mailbox(mail.Address{Name: p.ActingFor.OrgName, Address: p.ActingFor.Contact})},
		},
		Text: p.Text(),
		HTML: html,
		Machine: &envelope.Attachment{
			Type:     machineType + `; profile="` + ProfileURL + `"`,
			Filename: "message.jsonld", Body: p.Canonical,
		},
	}
	if value := headerJSON(attribution); folds(value) {
		d.Extra = append(d.Extra, envelope.Field{Name: "Agent-Attribution", Value: value})
	}
	if n := len(references); n > 0 {
		d.InReplyTo = references[n-1]
		d.Extra[0].Value = "auto-replied"
	}
	if jws != "" {
		d.Attachments = []envelope.Attachment{{Type: joseType, Filename: "message.jose", Body: []byte(jws)}}
	}
	return d, nil
}

// MessageID is the Message-ID of the email that carries the message, so that
// a resend after a crash is the same message to every mail system (D14).
func (m *Message) MessageID() string {
	return "<" + m.ID + "@" + m.From.Address[strings.LastIndexByte(m.From.Address, '@')+1:] + ">"
}

// headerJSON writes JSON for a header field: ASCII only, with spaces where it
// may be folded (D15).
func headerJSON(data []byte) string {
	var b strings.Builder
	inString, escaped := false, false
	for _, c := range string(data) {
		switch {
		case c >= 0x7f:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, "\\u%04x", unit)
			}
			escaped = false
			continue
		case !inString && (c == ':' || c == ','):
			b.WriteRune(c)
			b.WriteByte(' ')
			continue
		case c == '"' && !escaped:
			inString = !inString
		}
		escaped = c == '\\' && !escaped
		b.WriteRune(c)
	}
	return b.String()
}

// maxWord is the longest word of a field that a line has room for (RFC 5322
// §2.1.1).
const maxWord = 997

// folds tells whether a field can be folded into lines. A name of 200 letters
// outside ASCII without a space cannot, as JSON; the mail goes without the
// field then, which only says again what the message says (D186).
func folds(value string) bool {
	return !slices.ContainsFunc(strings.Split(value, " "), func(word string) bool { return len(word) > maxWord })
}

// maxAgentOf bounds the field before it is parsed, in bytes. A name of 200
// letters, encoded, and an address take less than that.
const maxAgentOf = 2 << 10

// AgentOfDiffers tells whether the Agent-Of field names another organisation
// or contact than the message (D42). A mail without the field says nothing
// (D59).
func (m *Message) AgentOfDiffers(h envelope.Header) bool {
	value := h.Get("Agent-Of")
	switch {
	case value == "":
		return false
	case len(value) > maxAgentOf:
		return true
	}
	a, err := mail.ParseAddress(value)
	if err != nil {
		return true
	}
	contact, err := address.Parse(a.Address)
	return err != nil || contact != m.ActingFor.Contact || a.Name != "" && a.Name != m.ActingFor.OrgName
}
