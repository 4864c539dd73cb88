package record

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
)

// ErrBuild is wrapped by every refusal of Build.
var ErrBuild = errors.New("no record can be made")

// Held is a message as the side that makes the record holds it.
type Held struct {
	Message *intent.Parsed
	JWS     string // the compact token; "" for an unsigned message
	Party   string // the party whose signature was checked, and found good; "" where there is none, or it could not be checked
	OrgName string // as that party's key page has it; "" for what the message says
}

// Deal is what a record is made of. Reply and Replier are for a person's answer, which takes the place of the acceptance.
type Deal struct {
	ID         string // of the record, a lowercase UUID
	Offer      Held
	Acceptance *Held
	Reply      *Reply
	Replier    string   // the name of who replied; "" for the address that the offer went to
	Chain      []string // hashes of the thread's messages in the order of their commits, up to the acceptance or the offer (D33)
}

// Build writes the record of a deal that was just made, without its seal. The kind is that of what is held (D31): one of
// the signatures of the messages may be missing or unchecked, not both. Errors wrap ErrBuild.
func Build(d Deal) (*Record, error) {
	if (d.Acceptance == nil) == (d.Reply == nil) {
		return nil, fmt.Errorf("%w: it needs an acceptance or a reply", ErrBuild)
	}
	r := &Record{
		Profile: Profile, ID: d.ID, Thread: d.Offer.Message.Thread, Kind: d.kind(), Reply: d.Reply,
		Chain: d.Chain, OfferCurrent: true, Parties: []Party{d.Offer.party(Offerer)},
	}
	var acceptance *intent.Parsed
	if d.Reply != nil {
		to := d.Offer.Message.To.Address
		r.Parties = append(r.Parties, Party{Role: Accepter, Address: to, OrgName: cmp.Or(d.Replier, to)})
		r.AgreedAt = d.Reply.ReceivedAt
	} else {
		acceptance = d.Acceptance.Message
		r.Parties = append(r.Parties, d.Acceptance.party(Accepter))
		r.AgreedAt = acceptance.Iat
		r.Acceptance = new(d.Acceptance.evidence())
	}
	r.Offer = d.Offer.evidence()
	if r.Kind == "" {
		return nil, fmt.Errorf("%w: no signature in it was checked", ErrBuild)
	}
	var err error
	if r.Terms, err = termsOf(d.Offer.Message, acceptance); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	return r, nil
}

func (d Deal) kind() Kind {
	offer, acceptance := d.Offer.Party != "", d.Acceptance != nil && d.Acceptance.Party != ""
	switch {
	case d.Reply != nil && offer:
		return TheirReply
	case offer && acceptance:
		return TwoSignatures
	case offer || acceptance:
		return OurSignature
	default:
		return ""
	}
}

// party is the side that sent a message. What was not checked is not claimed.
func (h Held) party(role string) Party {
	p := Party{
		Role: role, Address: h.Message.From.Address, OrgName: cmp.Or(h.OrgName, h.Message.ActingFor.OrgName),
		Authority: h.Message.Authority,
	}
	if token, err := jws.Parse([]byte(h.JWS), jws.TypMessage); err == nil && h.Party != "" {
		p.Party, p.Kid = h.Party, token.Header.Kid
	}
	return p
}

// evidence is the message as it stands in a record (D29).
func (h Held) evidence() Evidence {
	e := Evidence{JWS: h.JWS, Hash: canon.Hash(h.Message.Canonical), message: h.Message}
	if h.JWS == "" {
		e.Canonical = string(h.Message.Canonical)
	}
	return e
}
