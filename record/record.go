// Package record makes and checks agreement records (agent-agreement/1): the messages of an agreement, what they come to,
// and a seal over it all, which anybody can check without the program that made it.
//
// It stores nothing and reaches nothing but the key source that is passed in. The steps of the check, in their order, are
// those of docs/records.md.
package record

import (
	"context"
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/go-json-experiment/json/jsontext"
)

// Profile is the identifier of the record's version.
const Profile = "agent-agreement/1"

// MaxSize is the greatest length of a record as it stands in its file, in bytes, the seal included (D47).
const MaxSize = 262144

// Kind is what a record rests on (D31).
type Kind string

// The kinds (profile: "The agreement record").
const (
	TwoSignatures Kind = "two_signatures"
	OurSignature  Kind = "our_signature" // only the side that seals signed, or could be checked
	TheirReply    Kind = "their_reply"   // a person answered in words, and the owner counted it
)

// Roles of the two parties.
const (
	Offerer  = "offerer"
	Accepter = "accepter"
)

// roles stand in the order of their messages.
var roles = [...]string{Offerer, Accepter}

// Record is an agreement record.
type Record struct {
	Profile      string         `json:"profile"`
	ID           string         `json:"id"`     // lowercase UUID
	Thread       string         `json:"thread"` // lowercase UUID
	Kind         Kind           `json:"kind"`
	Parties      []Party        `json:"parties"` // one of each role, in either order (D52)
	Offer        Evidence       `json:"offer"`
	Acceptance   *Evidence      `json:"acceptance,omitzero"` // nil for TheirReply
	Reply        *Reply         `json:"reply,omitzero"`      // TheirReply only
	Terms        jsontext.Value `json:"terms"`               // derived from the offer (D30)
	AgreedAt     int64          `json:"agreed_at"`           // Unix seconds
	Chain        []string       `json:"chain"`               // hashes of the thread's messages, in order (D33)
	OfferCurrent bool           `json:"offer_current"`       // the offer had not been replaced
	Seal         string         `json:"seal,omitzero"`
}

// Party is one of the two sides.
type Party struct {
	Role    string `json:"role"`
	Party   string `json:"party,omitzero"`
	Address string `json:"address"`
	// OrgName and Authority are what the side published, compared with nothing (D52).
	OrgName   string            `json:"org_name"`
	Kid       string            `json:"kid,omitzero"` // of the key that signed its message
	Authority *intent.Authority `json:"authority,omitzero"`
}

// Evidence is a message as it was held: the token when it was signed, else its canonical form as text (D29).
type Evidence struct {
	JWS       string `json:"jws,omitzero"`
	Canonical string `json:"canonical,omitzero"`
	Hash      string `json:"hash"`

	message *intent.Parsed
	token   jws.Token
}

// Message is the message itself; nil unless the record comes from Parse or Build.
func (e *Evidence) Message() *intent.Parsed {
	if e == nil {
		return nil
	}
	return e.message
}

// signed tells whether the message stands as a token.
func (e *Evidence) signed() bool { return e != nil && e.JWS != "" }

// Reply is an answer in a person's own words.
type Reply struct {
	Hash        string `json:"hash"`         // lowercase hex SHA-256 of the raw email
	AuthResults string `json:"auth_results"` // what the receiving server found, at most 16 384 characters
	ReceivedAt  int64  `json:"received_at"`  // Unix seconds
}

// Side returns the party of a role; nil where there is none.
func (r *Record) Side(role string) *Party {
	for i := range r.Parties {
		if r.Parties[i].Role == role {
			return &r.Parties[i]
		}
	}
	return nil
}

// evidence lists the messages the record holds, the offer first.
func (r *Record) evidence() []*Evidence {
	if r.Acceptance == nil {
		return []*Evidence{&r.Offer}
	}
	return []*Evidence{&r.Offer, r.Acceptance}
}

// last is the hash that the chain ends with.
func (r *Record) last() string {
	evidence := r.evidence()
	return evidence[len(evidence)-1].Hash
}

// Error says why data is no record, or no record that can be made.
type Error struct {
	Step   string // of the check, as in a report
	Code   Code
	Reason string // plain words; nothing of the record is repeated
}

// Error is the reason.
func (e *Error) Error() string { return fmt.Sprintf("record: %s: %s", e.Step, e.Reason) }

// Parse reads a record and the messages in it: the steps size to messages of the check. It proves nothing; that is
// Check's. The error is an *Error.
func Parse(data []byte) (*Record, error) {
	c := newCheck(data, KeySource{}, nil)
	c.run(context.Background(), "messages")
	if err := c.failure(); err != nil {
		return nil, err
	}
	return c.record, nil
}
