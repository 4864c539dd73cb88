package main

import (
	"maps"
	"slices"
)

// closedOffer closes an offer of one side, each way it can be closed. The
// other side is the one that answers.
var closedOffer = map[string]func(t *story, offer *letter){
	"agreed":    func(t *story, offer *letter) { t.put(t.accept(t.other(offer.by), offer)) },
	"declined":  func(t *story, offer *letter) { t.put(t.decline(t.other(offer.by), offer)) },
	"cancelled": func(t *story, offer *letter) { t.put(t.cancel(offer.by, offer)) },
	"replaced":  func(t *story, offer *letter) { t.put(t.counter(offer.by, offer)) },
	"expired":   func(t *story, offer *letter) { t.now = offer.Exp + minute },
}

// closedOffers: a message for an offer that is closed (section 7).
func closedOffers(s *suite) {
	for _, state := range []string{"agreed", "declined", "cancelled", "expired", "replaced"} {
		for _, a := range []struct {
			kind string
			make func(*story, *side, *letter) *letter
		}{{"accept", (*story).accept}, {"decline", (*story).decline}, {"counter", (*story).counter}} {
			t := s.story(name(a.kind, "of", state, "offer"), a.kind+" of an offer that is "+state)
			offer := t.sent(t.times(t.seller()))
			closedOffer[state](t, offer)
			t.deliver(a.make(t, t.buyer(), offer), refused("state"))
			t.final(offer, state)
		}
		if state == "agreed" { // which is open to a cancel
			continue
		}
		t := s.story(name("cancel of", state, "offer"), "cancel of the sender's own offer that is "+state)
		offer := t.given(t.times(t.buyer()))
		closedOffer[state](t, offer)
		t.deliver(t.cancel(t.buyer(), offer), refused("state"))
		t.final(offer, state)
	}
}

// closedAsk closes an ask; by is the side that was asked.
var closedAsk = map[string]func(t *story, by *side, ask *letter){
	"answered":  func(t *story, by *side, ask *letter) { t.put(t.quote(by, ask)) },
	"declined":  func(t *story, by *side, ask *letter) { t.put(t.decline(by, ask)) },
	"cancelled": func(t *story, _ *side, ask *letter) { t.put(t.cancel(ask.by, ask)) },
	"expired":   func(t *story, _ *side, ask *letter) { t.now = ask.Exp + minute },
}

func closedAsks(s *suite) {
	for _, state := range []string{"answered", "declined", "cancelled", "expired"} {
		for _, a := range []struct {
			kind string
			make func(*story, *side, *letter) *letter
		}{{"quote", (*story).quote}, {"decline", (*story).decline}} {
			t := s.story(name(a.kind, "for", state, "ask"), a.kind+" for an ask that is "+state)
			ask := t.sent(t.ask(t.seller()))
			closedAsk[state](t, t.buyer(), ask)
			t.deliver(a.make(t, t.buyer(), ask), refused("state"))
			t.final(ask, state)
		}
		t := s.story(name("cancel of", state, "ask"), "cancel of the sender's own ask that is "+state)
		ask := t.given(t.ask(t.buyer()))
		closedAsk[state](t, t.seller(), ask)
		t.deliver(t.cancel(t.buyer(), ask), refused("state"))
		t.final(ask, state)
	}
}

// participants: a thread has exactly two addresses (D26).
func participants(s *suite) {
	third := s.world.third
	t := s.story("third-party-accepts", "an accept, with the right prev, by somebody else than the two of the thread (D26)")
	offer := t.sent(t.times(t.seller()))
	t.deliver(t.accept(third, offer), refused("state"))
	t.final(offer, "open")

	t = s.story("third-party-asks", "an ask in a thread of two others (D26)")
	ask := t.given(t.ask(t.buyer()))
	t.deliver(t.ask(third), refused("state"))
	t.final(ask, "open")

	t = s.story("third-party-cancels-agreement", "an agreement is cancelled by somebody else (D26)")
	offer = t.agreement(true)
	t.deliver(t.cancel(third, offer), refused("state"))
	t.final(offer, "agreed")

	t = s.story("two-threads-of-two-pairs", "another sender's thread is its own")
	ask = t.given(t.ask(t.buyer()))
	t.thread = uuid("a thread with the third")
	other := t.given(t.ask(third))
	t.final(ask, "open")
	t.final(other, "open")
}

// expiries: an accept counts while its iat and its arrival are not after the
// offer's exp; after it the offer is expired.
func expiries(s *suite) {
	for _, c := range []struct {
		name, why    string
		iat, arrival int64 // from the offer's exp
		agreed       bool
	}{
		{"second-before-exp", "signed and arrived a second before the offer's exp", -1, -1, true},
		{"at-exp", "signed and arrived in the second of the offer's exp", 0, 0, true},
		{"arrived-second-after-exp", "signed in time, arrived a second after the offer's exp", -minute, 1, false},
		{"signed-second-after-exp", "arrived in time, but by its own iat signed a second after the offer's exp", 1, 0, false},
		{"both-after-exp", "signed and arrived after the offer's exp", 1, 1, false},
	} {
		t := s.story(name("accept", c.name), c.why)
		offer := t.sent(t.times(t.seller()))
		accept := t.accept(t.buyer(), offer)
		accept.Iat, accept.Exp = offer.Exp+c.iat, offer.Exp+day
		accept.sealed = accept.Iat
		if c.agreed {
			t.deliverAt(accept, offer.Exp+c.arrival, accepted)
			t.tick(offer.Exp + hour)
			t.final(offer, "agreed")
			continue
		}
		t.deliverAt(accept, offer.Exp+c.arrival, refused("state"))
		t.tick(offer.Exp + hour)
		t.final(offer, "expired")
		t.record("")
	}

	t := s.story("open-at-exp", "an offer is open until the second of its exp has passed")
	offer := t.given(t.times(t.buyer()))
	t.tick(offer.Exp)
	t.final(offer, "open")

	t = s.story("expired-after-exp", "and expired in the second after it, without a mail")
	offer = t.given(t.times(t.buyer()))
	t.tick(offer.Exp + 1)
	t.final(offer, "expired")

	t = s.story("ask-expires", "an ask expires like an offer")
	ask := t.given(t.ask(t.buyer()))
	t.tick(ask.Exp + 1)
	t.final(ask, "expired")

	t = s.story("agreement-does-not-expire", "what is agreed stays agreed when the offer's exp has passed")
	offer = t.agreement(true)
	t.tick(offer.Exp + day)
	t.final(offer, "agreed")
	t.record("two_signatures")
}

// sorted is the keys of a map in the one order that a suite can be written in.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
