package record

import (
	"context"
	"errors"

	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
)

// WarnRevokedLater warns of a key that was revoked after it had signed (D25, D42).
const WarnRevokedLater = party.WarnRevokedLater

// signing is one of the three signatures of a record.
type signing struct {
	which   int
	token   jws.Token
	party   string // whose key page jku is; "" where it is none on a trusted host
	claimed string // the party that the message names, "" for none
	address string // who signs
	at      int64  // when, by the signer's own word; Unix seconds

	page     *party.Page
	key      party.Key
	verified bool
}

// sign notes the signatures of the messages.
func (c *check) sign() {
	for i, e := range c.record.evidence() {
		if !e.signed() {
			continue
		}
		s := &signing{which: i, token: e.token, claimed: e.message.From.Party, address: e.message.From.Address, at: e.message.Iat}
		s.party, _ = c.keys.Trust.Party(e.token.Header.Jku)
		c.signings[i] = s
	}
}

// of makes a rule about one signature.
func of(which int, look func(*check, context.Context, *signing) outcome) func(*check, context.Context) outcome {
	return func(c *check, ctx context.Context) outcome {
		switch s := c.signings[which]; {
		case s != nil:
			return look(c, ctx, s)
		case which == accepting && c.record.Acceptance == nil:
			return skip(noAcceptance)
		default:
			return skip("the " + names[which] + " is not signed")
		}
	}
}

// trusted is the trust rule (profile: "Party keys and the trust rule").
func trusted(c *check, ctx context.Context, s *signing) outcome {
	const compared = "jku with the key pages on trusted hosts"
	switch {
	case s.party == "":
		return c.unless(s, fail("the "+names[s.which]+" is signed with a key from no key page on a trusted host", compared))
	case s.claimed != "" && s.claimed != s.party:
		return c.unless(s, fail("the "+names[s.which]+" is signed with the key page of another party", "%s with %s", s.party, s.claimed))
	}
	page, err := c.speaking(ctx, s, false)
	if err != nil {
		return c.unless(s, s.unusable(err))
	}
	s.page = page
	return pass("the key page of %s with %s", s.party, s.address)
}

// unless takes a failure back where it is what the kind of the record says: that the message of the side that did not seal
// could not be checked (D51, D85). What may be otherwise at another time is never taken back.
func (c *check) unless(s *signing, o outcome) outcome {
	if o.later || !c.lenient(s) {
		return o
	}
	return skip("could not be checked, as the kind of the record says: " + o.reason)
}

// lenient tells whether a signature need not be one that can be checked. Where the seal is nobody's, it is neither: the
// steps of the seal say what is wrong.
func (c *check) lenient(s *signing) bool {
	if c.record.Kind != OurSignature || s.which == sealing {
		return false
	}
	return c.sealer() != s.which
}

// unusable is the failure for an error of the key source.
func (s *signing) unusable(err error) outcome {
	const compared = "the key page with the address %s"
	switch name := names[s.which]; {
	case errors.Is(err, party.ErrNoPage): // D49
		return fail("the key page of who signed the "+name+" could not be found or used", compared, s.address)
	case errors.Is(err, errNotListed): // one customer of a trusted host signing for another
		return fail("the party that signed the "+name+" does not list its sender", compared, s.address)
	default:
		o := fail("the key page of who signed the "+name+" could not be reached: try again later", compared, s.address)
		o.later = true
		return o
	}
}

// keyOnPage finds the key, on a fresh page if need be. One that was created later was not on the page then (D84).
func keyOnPage(c *check, ctx context.Context, s *signing) outcome {
	const compared = "kid with the keys of the page that were created by then"
	key, ok := s.page.Key(s.token.Header.Kid)
	if !ok {
		page, err := c.speaking(ctx, s, true)
		if err != nil {
			return c.unless(s, s.unusable(err))
		}
		key, ok = page.Key(s.token.Header.Kid)
	}
	switch name := names[s.which]; {
	case !ok:
		return c.unless(s, fail("the key of the "+name+" is not on the key page", compared))
	case key.CreatedAt > s.at:
		return c.unless(s, fail("the key of the "+name+" was created after it was signed", "%d with created_at, %d", s.at, key.CreatedAt))
	}
	s.key = key
	return pass(compared)
}

func notRevoked(c *check, _ context.Context, s *signing) outcome {
	switch revoked := s.key.RevokedAt; {
	case revoked == 0:
		return pass("the key is not revoked")
	case revoked <= s.at:
		return fail("key revoked: the "+names[s.which]+" was signed after that", "%d with revoked_at, %d", s.at, revoked)
	default:
		c.warn(WarnRevokedLater)
		return pass("%d with revoked_at, %d", s.at, revoked)
	}
}

func notRetired(_ *check, _ context.Context, s *signing) outcome {
	retired := s.key.RetiredAt
	if retired == 0 {
		return pass("the key is not retired")
	}
	return holds(s.at < retired, "key retired: the "+names[s.which]+" was signed after that", "%d with retired_at, %d", s.at, retired)
}

func verifies(_ *check, _ context.Context, s *signing) outcome {
	s.verified = s.token.Verify(s.key.Public)
	return holds(s.verified, "the signature of the "+names[s.which]+" is wrong", "the signature with key %s", s.key.Kid)
}

// kindFound: the kind says what was found, no more and no less (D31).
func kindFound(c *check, _ context.Context) outcome {
	found := 0
	for _, which := range []int{offering, accepting} {
		for _, r := range signatureRules(which, "") {
			if c.result(r.name) == Fail {
				return skip(r.name + " did not pass")
			}
		}
		if c.verified(which) {
			found++
		}
	}
	needed := 1
	if c.record.Kind == TwoSignatures {
		needed = 2
	}
	return holds(found == needed, "the kind of the record is not what its signatures are", "%d signatures with the %d of %s", found, needed, c.record.Kind)
}
