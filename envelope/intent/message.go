// Package intent is the messages of agent-intents/1: their form, their rules,
// their canonical form and hash, and the words a person reads for them.
package intent

import (
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json/jsontext"
)

// Profile is the identifier of the protocol version this package speaks, and
// ProfileURL the address that marks its machine part (D13).
const (
	Profile    = "agent-intents/1"
	ProfileURL = "https://docs.stackshift.cloud/agent-intents/v1"
)

// MaxSize is the greatest length of a message as it stands in the decoded
// MIME part, in bytes (profile: "Message fields").
const MaxSize = 32768

// MaxTime is the last second of the year 9999, the latest iat or exp.
const MaxTime = 253402300799

// Context is the one value of @context.
func Context() []string { return []string{"https://schema.org", ProfileURL} }

// Type is one of the six message types.
type Type string

// The six types (profile: "The six types").
const (
	AskQuote     Type = "ask_quote"
	Quote        Type = "quote"
	ProposeTimes Type = "propose_times"
	Accept       Type = "accept"
	Decline      Type = "decline"
	Cancel       Type = "cancel"
)

// Offers tells whether a message of this type can be accepted.
func (t Type) Offers() bool { return t == Quote || t == ProposeTimes }

// Message is one message. Members that a type does not have are zero and left
// out when it is written.
type Message struct {
	Context   []string   `json:"@context"`
	Profile   string     `json:"profile"`
	ID        string     `json:"id"`     // lowercase UUID
	Thread    string     `json:"thread"` // lowercase UUID
	Type      Type       `json:"type"`
	InReplyTo string     `json:"in_reply_to,omitempty"` // id of the message this one answers
	From      Sender     `json:"from"`
	To        Recipient  `json:"to"`
	Nonce     string     `json:"nonce"`          // 128 bits, unpadded base64url (D1)
	Iat       int64      `json:"iat"`            // signed at, Unix seconds
	Exp       int64      `json:"exp"`            // valid until, Unix seconds
	Prev      string     `json:"prev,omitempty"` // hash of the message named by InReplyTo (D2)
	ActingFor ActingFor  `json:"acting_for"`
	Agent     Agent      `json:"agent"`
	Authority *Authority `json:"authority,omitempty"`
	Note      string     `json:"note,omitempty"` // third-party text, never an instruction

	Items      []Item `json:"items,omitempty"`       // ask_quote, quote
	WantedBy   string `json:"wanted_by,omitempty"`   // ask_quote: YYYY-MM-DD
	Total      *Money `json:"total,omitempty"`       // quote
	DeliveryBy string `json:"delivery_by,omitempty"` // quote: YYYY-MM-DD
	Slots      []Slot `json:"slots,omitempty"`       // propose_times
	Purpose    string `json:"purpose,omitempty"`     // propose_times
	Location   string `json:"location,omitempty"`    // propose_times
	Replaces   string `json:"replaces,omitempty"`    // quote, propose_times: the offer this one counters
	Ref        string `json:"ref,omitempty"`         // accept, decline, cancel
	Slot       *int   `json:"slot,omitempty"`        // accept of times: index from 0 (D6)
	Reason     string `json:"reason,omitempty"`      // decline
}

// Sender is who wrote the message.
type Sender struct {
	Address string `json:"address"`
	Party   string `json:"party,omitempty"` // pty_ and 20 lowercase letters and digits
	Name    string `json:"name,omitempty"`
	Card    string `json:"card,omitempty"` // https address of the sender's agent card
}

// Recipient is whom the message is for.
type Recipient struct {
	Address string `json:"address"`
}

// ActingFor is the organisation behind the sender, as in the Agent-Of field.
type ActingFor struct {
	OrgName string `json:"org_name"`
	Contact string `json:"contact"` // an email address
}

// Agent describes the program or person that wrote the message.
type Agent struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // stackie, connected, api or person
}

// Authority says on what ground the sender sent the message (D4).
type Authority struct {
	DecidedBy     string         `json:"decided_by"` // limits, owner or person
	Level         string         `json:"level,omitempty"`
	LimitsVersion jsontext.Value `json:"limits_version,omitempty"` // a string or an integer
}

// Item is a line of an ask or a quote.
type Item struct {
	Description string  `json:"description"`
	Quantity    float64 `json:"quantity"` // more than 0, at most 10^9, at most 6 decimal places (D8)
	Unit        string  `json:"unit,omitempty"`
	UnitPrice   *Money  `json:"unit_price,omitempty"` // quotes only
}

// Money is an amount in whole minor units, as a string of digits (D7).
type Money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"` // an active ISO 4217 code (D38)
}

// Slot is one offered time. Start and End are RFC 3339 with an offset.
type Slot struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	TimeZone string `json:"time_zone"` // a name of the tz database
}

// Parsed is a message that was read, with what its hash and signature are
// taken over.
type Parsed struct {
	Message
	Canonical []byte // RFC 8785 form, members unknown to the type dropped
	Hash      string // lowercase hex SHA-256 of Canonical
	Unknown   bool   // members were dropped, so no signature over it counts (D35)
}

// Seal gives a message composed here its canonical form and hash. The result
// is checked like a message from outside, so that nothing is sent that a
// receiver would refuse.
func Seal(m Message) (*Parsed, error) {
	data, err := canon.Marshal(m)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}
