package main

import (
	"bytes"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
)

// recordSuites are the agreement record on an accept (D46) and the cancel that
// names it (D45).
func recordSuites() []*suite {
	s := newSuite("records", "The agreement record that an accept may carry: it never changes the state, and a cancel may name it.")
	attached(s)
	cancelByRecord(s)
	return []*suite{s}
}

// recordOf is the record of an agreement, without its seal. thread is the
// messages before the accept.
func recordOf(accept *letter, thread ...*letter) map[string]any {
	offer := accept.answers
	var chain []any
	for _, l := range append(thread, accept) {
		chain = append(chain, l.hash())
	}
	message := func(l *letter) map[string]any { return map[string]any{"jws": l.jws(), "hash": l.hash()} }
	side := func(role string, s *side) map[string]any {
		return map[string]any{"role": role, "party": s.party, "address": s.address, "org_name": s.org, "kid": kidOf(s.key)}
	}
	return map[string]any{
		"profile": "agent-agreement/1", "id": uuid("record of " + accept.ID), "thread": accept.Thread, "kind": "two_signatures",
		"parties": []any{side("offerer", offer.by), side("accepter", accept.by)},
		"offer":   message(offer), "acceptance": message(accept),
		"terms": map[string]any{
			"type": "propose_times", "slot": offer.Slots[*accept.Slot], "purpose": offer.Purpose,
		},
		"agreed_at": accept.Iat, "chain": chain, "offer_current": true,
	}
}

// sealedRecord is the record with its seal.
func sealedRecord(r map[string]any, by *side) []byte {
	r["seal"] = must(jws.Sign(by.key, by.page(), jws.TypRecord, must(canon.Marshal(r))))
	return must(canon.Marshal(r))
}

// with attaches a record to an accept.
func with(l *letter, data []byte) {
	l.draft = func(d *envelope.Draft) {
		d.Attachments = append(d.Attachments, envelope.Attachment{Type: "application/json", Filename: "agreement.json", Body: data})
	}
}

func attached(s *suite) {
	for _, c := range []struct {
		name, why string
		edit      func(map[string]any)
		data      []byte
	}{
		{"record-right", "a record that checks out (D46)", func(map[string]any) {}, nil},
		{"record-other-terms", "a record of other terms: the accept counts by itself (D46)", func(r map[string]any) { r["terms"].(map[string]any)["purpose"] = "Dinner" }, nil},
		{"record-of-another-thread", "a record of another thread (D46)", func(r map[string]any) { r["thread"] = uuid("another thread of a record") }, nil},
		{"record-no-json", "an attachment that is no JSON (D46)", nil, []byte("agreed")},
		{"record-other-profile", "JSON that is no record (D46)", nil, []byte(`{"profile":"invoice/1","total":"5"}`)},
	} {
		t := s.story(c.name, c.why)
		offer := t.sent(t.times(t.seller()))
		accept := t.accept(t.buyer(), offer)
		data := c.data
		if c.edit != nil {
			r := recordOf(accept, offer)
			c.edit(r)
			data = sealedRecord(r, t.buyer())
		}
		with(accept, data)
		t.given(accept)
		t.final(offer, "agreed")
		t.record("two_signatures")
	}

	t := s.story("record-twice", "a record that checks out, twice: the accept counts (D46)")
	offer := t.sent(t.times(t.seller()))
	accept := t.accept(t.buyer(), offer)
	data := sealedRecord(recordOf(accept, offer), t.buyer())
	accept.draft = func(d *envelope.Draft) {
		for range 2 {
			d.Attachments = append(d.Attachments, envelope.Attachment{Type: "application/json", Filename: "agreement.json", Body: data})
		}
	}
	t.given(accept)
	t.final(offer, "agreed")
	t.record("two_signatures")

	t = s.story("record-too-large", "a record of more than 256 KiB (D46)")
	offer = t.sent(t.times(t.seller()))
	accept = t.accept(t.buyer(), offer)
	with(accept, append(sealedRecord(recordOf(accept, offer), t.buyer()), bytes.Repeat([]byte(" "), 1<<18)...))
	t.given(accept)
	t.final(offer, "agreed")
	t.record("two_signatures")

	t = s.story("record-on-decline", "a record beside a decline says nothing (D46)")
	offer = t.sent(t.times(t.seller()))
	decline := t.decline(t.buyer(), offer)
	with(decline, sealedRecord(recordOf(t.accept(t.buyer(), offer), offer), t.buyer()))
	t.given(decline)
	t.final(offer, "declined")
	t.record("")

	t = s.story("record-on-unsigned-accept", "a record does not make up for a missing signature (D46)")
	offer = t.sent(t.times(t.seller()))
	accept = t.accept(t.buyer(), offer)
	with(accept, sealedRecord(recordOf(accept, offer), t.buyer()))
	unsigned(accept)
	t.deliver(accept, held)
	t.final(offer, "open")
	t.record("")

	t = s.story("record-on-late-accept", "a record does not make an accept of a closed offer count (D46)")
	offer = t.sent(t.times(t.seller()))
	t.sent(t.cancel(t.seller(), offer))
	accept = t.accept(t.buyer(), offer)
	with(accept, sealedRecord(recordOf(accept, offer), t.buyer()))
	t.deliver(accept, refused("state"))
	t.final(offer, "cancelled")
	t.record("")
}

// cancelByRecord: a cancel of an agreement names the offer's id, or the id of
// a record of that thread held here (D45).
func cancelByRecord(s *suite) {
	agreed := func(t *story) (offer *letter, record string) {
		offer = t.sent(t.times(t.seller()))
		accept := t.accept(t.buyer(), offer)
		r := recordOf(accept, offer)
		with(accept, sealedRecord(r, t.buyer()))
		t.given(accept)
		return offer, r["id"].(string)
	}
	for _, by := range []struct {
		name string
		side *side
	}{{"accepter", s.world.buyer}, {"offerer", s.world.seller}} {
		t := s.story("cancel-by-record-id-"+by.name, "a cancel of an agreement that names its record (D45)")
		offer, record := agreed(t)
		cancel := t.cancel(by.side, offer)
		cancel.Ref = record
		t.put(cancel)
		t.final(offer, "cancelled")
	}

	t := s.story("cancel-by-record-of-another-thread", "a cancel that names the record of another thread (D45)")
	offer, record := agreed(t)
	t.thread = uuid("another thread of cancel-by-record")
	ask := t.given(t.ask(t.buyer()))
	cancel := t.letter(t.buyer(), intent.Cancel)
	cancel.Ref = record
	t.deliver(cancel, refused("state"))
	t.final(offer, "agreed")
	t.final(ask, "open")
}
