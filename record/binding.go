package record

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const noAcceptance = "there is no acceptance"

func slotOffered(c *check, _ context.Context) outcome {
	if c.record.Acceptance == nil {
		return skip(noAcceptance)
	}
	slot, slots := c.record.Acceptance.message.Slot, len(c.record.Offer.message.Slots)
	switch {
	case slot == nil:
		return holds(slots == 0, "the acceptance chooses none of the times", "no slot with the %d offered", slots) // D6
	default:
		return holds(0 <= *slot && *slot < slots, "the acceptance chooses a time that was not offered", "slot %d with the %d offered, counted from 0", *slot, slots)
	}
}

// termsRecomputed compares everything that stands in the terms: a member beside those of the offer is a term that nobody
// agreed to (D81).
func termsRecomputed(c *check, _ context.Context) outcome {
	if c.result("slot") == Fail {
		return skip("no slot of the offer was chosen")
	}
	terms, err := termsOf(c.record.Offer.message, c.record.Acceptance.Message())
	if err != nil {
		return fail("the terms cannot be worked out from the offer", "the terms with the offer")
	}
	return holds(bytes.Equal(terms, c.members["terms"]), "the terms are not those of the offer", "every member of the terms with the offer")
}

// termsOf is the canonical form of what an offer comes to (D30), copied from the offer's own bytes.
func termsOf(offer, acceptance *intent.Parsed) (jsontext.Value, error) {
	var said map[string]jsontext.Value
	if err := json.Unmarshal(offer.Canonical, &said); err != nil {
		return nil, fmt.Errorf("reading the offer: %w", err)
	}
	copied := []string{"type", "items", "total", "delivery_by"}
	if offer.Type == intent.ProposeTimes {
		copied = []string{"type", "purpose", "location"}
	}
	terms := map[string]jsontext.Value{}
	for _, name := range copied {
		if value, there := said[name]; there {
			terms[name] = value
		}
	}
	if offer.Type == intent.ProposeTimes {
		var slots []jsontext.Value
		if err := json.Unmarshal(said["slots"], &slots); err != nil {
			return nil, fmt.Errorf("reading the slots: %w", err)
		}
		if acceptance == nil || acceptance.Slot == nil || *acceptance.Slot < 0 || *acceptance.Slot >= len(slots) {
			return nil, fmt.Errorf("no slot of the offer was chosen")
		}
		terms["slot"] = slots[*acceptance.Slot]
	}
	return canon.Marshal(terms)
}

func sameThread(c *check, _ context.Context) outcome {
	same := !slices.ContainsFunc(c.record.evidence(), func(e *Evidence) bool { return e.message.Thread != c.record.Thread })
	return holds(same, "a message is of another thread", "the thread of each message with %s", c.record.Thread)
}

func rightRecipient(c *check, _ context.Context) outcome {
	if c.record.Acceptance == nil {
		return skip(noAcceptance)
	}
	offer, acceptance := c.record.Offer.message, c.record.Acceptance.message
	return holds(acceptance.To.Address == offer.From.Address && acceptance.From.Address == offer.To.Address,
		"the acceptance is not between the sender and the recipient of the offer", "from %s to %s with from %s to %s",
		acceptance.From.Address, acceptance.To.Address, offer.To.Address, offer.From.Address)
}

func rightReference(c *check, _ context.Context) outcome {
	if c.record.Acceptance == nil {
		return skip(noAcceptance)
	}
	id, m := c.record.Offer.message.ID, c.record.Acceptance.message
	return holds(m.Ref == id && m.InReplyTo == id, "the acceptance is of another offer", "ref %s and in_reply_to with %s", m.Ref, id) // D39
}

func rightPrev(c *check, _ context.Context) outcome {
	if c.record.Acceptance == nil {
		return skip(noAcceptance)
	}
	prev := c.record.Acceptance.message.Prev
	return holds(prev == c.record.Offer.message.Hash, "the acceptance is of an offer with other content", "prev %q with %s", prev, c.record.Offer.message.Hash)
}

// moment is when it was agreed, by the record's evidence.
func (r *Record) moment() int64 {
	if r.Acceptance == nil {
		return r.Reply.ReceivedAt
	}
	return r.Acceptance.message.Iat
}

func rightMoment(c *check, _ context.Context) outcome {
	return holds(c.record.AgreedAt == c.record.moment(), "the time of agreement is not that of the acceptance", "%d with %d", c.record.AgreedAt, c.record.moment())
}

func inTime(c *check, _ context.Context) outcome {
	exp := c.record.Offer.message.Exp
	return holds(c.record.moment() <= exp, "the offer had expired when it was accepted", "%d with the offer's exp, %d", c.record.moment(), exp)
}

func offerCurrent(c *check, _ context.Context) outcome {
	if !c.record.OfferCurrent {
		return fail("the offer had been replaced when it was accepted", "offer_current with true")
	}
	for _, hash := range c.record.Chain {
		if m := c.thread[hash]; m != nil && m.Replaces == c.record.Offer.message.ID {
			return fail("the offer had been replaced when it was accepted", "what the messages of the chain replace with the offer")
		}
	}
	return pass("offer_current with true")
}

// rightParties: what the record says of its sides is what their messages say.
func rightParties(c *check, _ context.Context) outcome {
	for i, role := range roles {
		if wrong := c.wrongParty(i, c.record.Side(role)); wrong != "" {
			return fail(wrong, "the %s with the messages", role)
		}
	}
	return pass("address, party and kid of each side with its message")
}

// wrongParty says what is wrong with a side, "" for nothing. A side without a signature can have no key, nor a party that
// nobody named (D83).
func (c *check) wrongParty(i int, p *Party) string {
	at, _ := address.Parse(p.Address)
	s := c.signings[i]
	if i == accepting && c.record.Acceptance == nil {
		switch {
		case at != c.record.Offer.message.To.Address:
			return "the accepter is not whom the offer went to"
		case p.Party != "" || p.Kid != "":
			return "a person who replied has no party and no key"
		}
		return ""
	}
	e := c.record.evidence()[i]
	named := e.message.From.Party
	if named == "" && s != nil {
		named = s.party
	}
	kid := ""
	if s != nil {
		kid = s.token.Header.Kid
	}
	missing := s != nil && !c.lenient(s) && (p.Party == "" || p.Kid == "") // D50
	switch {
	case at != e.message.From.Address:
		return "the " + p.Role + "'s address is not that of the message"
	case missing || p.Kid != "" && p.Kid != kid:
		return "the " + p.Role + "'s key is not that of the message"
	case p.Party != "" && p.Party != named:
		return "the " + p.Role + "'s party is not that of the message"
	}
	return ""
}
