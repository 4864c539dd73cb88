package record

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
)

// Seal seals a record and returns it as it is kept: canonical JSON with the seal attached (D32). key is one of the party
// that seals, jku the address of its key page. A record that would not check out whatever the key pages say is not sealed:
// the error is an *Error. The record given is not changed.
func Seal(r *Record, key ed25519.PrivateKey, jku string) ([]byte, error) {
	unsealed := *r
	unsealed.Seal = ""
	payload, err := canon.Marshal(unsealed)
	if err != nil {
		return nil, fmt.Errorf("seal a record: %w", err)
	}
	if unsealed.Seal, err = jws.Sign(key, jku, jws.TypRecord, payload); err != nil {
		return nil, fmt.Errorf("seal a record: %w", err)
	}
	sealed, err := canon.Marshal(unsealed)
	if err != nil {
		return nil, fmt.Errorf("seal a record: %w", err)
	}
	c := newCheck(sealed, KeySource{Trust: r.hosts()}, nil)
	c.run(context.Background(), "late")
	if err := c.failure(); err != nil {
		return nil, fmt.Errorf("seal a record: %w", err)
	}
	return sealed, nil
}

// hosts are those of the key pages that the record's messages name: whether to trust them is for who checks.
func (r *Record) hosts() party.Trust {
	var t party.Trust
	for _, e := range r.evidence() {
		if token, err := jws.Parse([]byte(e.JWS), jws.TypMessage); err == nil {
			host, _, _ := strings.Cut(strings.TrimPrefix(token.Header.Jku, "https://"), "/")
			t.Hosts = append(t.Hosts, host)
		}
	}
	return t
}

// errChanged says that the seal's payload is another record.
var errChanged = errors.New("the payload is not the record")

// readSeal takes the seal apart. It is always read over the record as it stands, so that an attached payload and a
// detached one (RFC 7515 Appendix F) are checked alike.
func (c *check) readSeal() (jws.Token, error) {
	header, rest, _ := strings.Cut(c.record.Seal, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	own := base64.RawURLEncoding.EncodeToString(c.unsealed)
	if payload != "" && payload != own {
		return jws.Token{}, errChanged
	}
	return jws.Parse([]byte(header+"."+own+"."+signature), jws.TypRecord)
}

func sealForm(c *check, _ context.Context) outcome {
	const compared = "the payload of the seal with the record without it"
	switch {
	case errors.Is(c.sealErr, errChanged):
		return fail("the record was changed after it was sealed", compared)
	case c.sealErr != nil:
		return fail("the seal is not of the form that the profile asks for", "the seal with the form of a record's token")
	}
	c.signings[sealing] = &signing{which: sealing, token: c.sealed, party: c.sealParty(), at: c.record.AgreedAt} // D48
	return pass(compared)
}

// sealParty is the party whose key page the seal names, "" where it is none on a trusted host.
func (c *check) sealParty() string {
	if c.sealErr != nil {
		return ""
	}
	named, _ := c.keys.Trust.Party(c.sealed.Header.Jku)
	return named
}

// sealer is the side whose party the seal names: offering or accepting, or sealing where it is neither.
func (c *check) sealer() int {
	if sides := c.sides(c.sealParty()); len(sides) > 0 {
		return sides[0]
	}
	return sealing
}

// sealSigner: a record is sealed by one of its sides, and where only one signed, by that one (D51). A stranger's seal would
// vouch for what he was not there to see.
func sealSigner(c *check, _ context.Context) outcome {
	const compared = "the party of the seal's key page with those of the record"
	s := c.signings[sealing]
	if s.party == "" {
		return fail("the seal is made with a key from no key page on a trusted host", compared)
	}
	sides := c.sides(s.party)
	if c.record.Kind != TwoSignatures && (c.verified(offering) || c.verified(accepting)) {
		sides = slices.DeleteFunc(sides, func(i int) bool { return !c.verified(i) })
	}
	if len(sides) == 0 {
		return fail("the record is sealed by neither of the sides that could seal it", compared)
	}
	s.address = c.record.Side(roles[sides[0]]).Address
	return pass("%s with the parties of the record", s.party)
}

// sides lists those of a party, by the place of their message.
func (c *check) sides(party string) []int {
	var sides []int
	for i, role := range roles {
		if party != "" && c.record.Side(role).Party == party {
			sides = append(sides, i)
		}
	}
	return sides
}

func (c *check) verified(which int) bool {
	s := c.signings[which]
	return s != nil && s.verified
}
