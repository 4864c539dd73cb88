package main

import (
	"maps"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// threadSuites are the offer machine: the table of section 7.
func threadSuites() []*suite {
	s := newSuite("threads", "The offer machine: each type by the right and the wrong side, for open and for closed offers, up to the second.")
	wholeThreads(s)
	asks(s)
	quotes(s)
	proposals(s)
	accepts(s)
	slots(s)
	declines(s)
	cancels(s)
	closedOffers(s)
	closedAsks(s)
	participants(s)
	expiries(s)
	return []*suite{s}
}

func wholeThreads(s *suite) {
	t := s.story("ask-quote-counter-accept", "a whole negotiation in which both sides counter and both sign (section 7)")
	ask := t.given(t.ask(t.buyer()))
	first := t.sent(t.quote(t.seller(), ask))
	second := t.given(t.counter(t.buyer(), first))
	third := t.sent(t.counter(t.seller(), second))
	t.given(t.accept(t.buyer(), third))
	t.final(ask, "answered")
	t.final(first, "replaced")
	t.final(second, "replaced")
	t.final(third, "agreed")
	t.record("two_signatures")

	t = s.story("own-ask-quote-accepted-here", "this inbox asks, the other side quotes, this inbox accepts")
	ask = t.sent(t.ask(t.seller()))
	quote := t.given(t.quote(t.buyer(), ask))
	t.sent(t.accept(t.seller(), quote))
	t.final(ask, "answered")
	t.final(quote, "agreed")
	t.record("two_signatures")

	t = s.story("restart-in-the-middle", "a thread goes on where it stood when the store was closed")
	ask = t.given(t.ask(t.buyer()))
	t.restart()
	quote = t.sent(t.quote(t.seller(), ask))
	t.restart()
	accept := t.given(t.accept(t.buyer(), quote))
	t.restart()
	t.deliver(accept, duplicate)
	t.final(quote, "agreed")
	t.record("two_signatures")
}

func asks(s *suite) {
	t := s.story("ask-starts", "an ask starts a thread")
	ask := t.ask(t.buyer())
	t.deliver(ask, expect{Verdict: "accepted", Signature: "signed", Type: "ask_quote", Thread: ask.Thread, ID: ask.ID})
	t.final(ask, "open")
	t.record("")

	t = s.story("ask-twice", "a second ask of the same side while its first is open")
	ask = t.given(t.ask(t.buyer()))
	t.deliver(t.ask(t.buyer()), refused("state"))
	t.final(ask, "open")

	t = s.story("ask-of-each-side", "an ask while the other side's is open: only one of the same side is in the way")
	ask = t.given(t.ask(t.buyer()))
	own := t.sent(t.ask(t.seller()))
	t.final(ask, "open")
	t.final(own, "open")

	for _, state := range sorted(closedAsk) {
		t = s.story(name("ask-after", state), "a new ask of the same side once its first is "+state)
		ask = t.given(t.ask(t.buyer()))
		closedAsk[state](t, t.seller(), ask)
		again := t.given(t.ask(t.buyer()))
		t.final(ask, state)
		t.final(again, "open")
	}

	t = s.story("ask-in-thread-of-times", "an ask in a thread that times began")
	times := t.sent(t.times(t.seller()))
	ask = t.given(t.ask(t.buyer()))
	t.final(times, "open")
	t.final(ask, "open")
}

func quotes(s *suite) {
	t := s.story("quote-unprompted", "a quote that answers no ask and replaces no offer (D40)")
	t.deliver(priced(t.letter(t.buyer(), intent.Quote)), refused("state"))

	t = s.story("quote-without-in-reply-to", "a quote answers the open ask of the other side of its thread, named or not (D40)")
	ask := t.sent(t.ask(t.seller()))
	quote := t.given(priced(t.letter(t.buyer(), intent.Quote)))
	t.final(ask, "answered")
	t.final(quote, "open")

	t = s.story("quote-for-own-ask", "a quote by the side that asked (D40)")
	ask = t.given(t.ask(t.buyer()))
	t.deliver(t.quote(t.buyer(), ask), refused("state"))
	t.final(ask, "open")

	for _, first := range []intent.Type{intent.Quote, intent.ProposeTimes} {
		for _, second := range []intent.Type{intent.Quote, intent.ProposeTimes} {
			t = s.story(name("counter", first, "by", second), "an offer countered by the other side; replaces may cross types (D40)")
			offer := t.own(first)
			counter := t.given(t.counterBy(t.buyer(), second, offer))
			t.final(offer, "replaced")
			t.final(counter, "open")

			t = s.story(name("own", first, "replaced by", second), "an offer replaced by the side that made it (section 7)")
			offer = t.their(first)
			counter = t.given(t.counterBy(t.buyer(), second, offer))
			t.final(offer, "replaced")
			t.final(counter, "open")
		}
	}

	for _, kind := range []intent.Type{intent.Quote, intent.ProposeTimes} {
		t = s.story(name("replaces-of-an-ask by", kind), "replaces names an ask, which is no offer")
		ask := t.sent(t.ask(t.seller()))
		t.deliver(t.counterBy(t.buyer(), kind, ask), refused("state"))
		t.final(ask, "open")

		t = s.story(name("replaces-other-than-in-reply-to", kind), "a counter that answers the ask of the thread: replaces need not equal in_reply_to (D40)")
		ask = t.sent(t.ask(t.seller()))
		first := t.given(t.quote(t.buyer(), ask))
		second := t.sent(t.counter(t.seller(), first))
		counter := t.counterBy(t.buyer(), kind, second)
		counter.InReplyTo, counter.Prev = ask.ID, ask.hash()
		t.given(counter)
		t.final(second, "replaced")
		t.final(counter, "open")
	}

	t = s.story("quote-answers-and-replaces", "a quote that answers an open ask and replaces an offer does both (D40)")
	both := t.sent(t.times(t.seller()))
	asked := t.sent(t.ask(t.seller()))
	answer := t.quote(t.buyer(), asked)
	answer.Replaces = both.ID
	t.given(answer)
	t.final(both, "replaced")
	t.final(asked, "answered")
	t.final(answer, "open")

	t = s.story("replaces-in-another-thread", "replaces names an offer of another thread of the same two")
	offer := t.sent(t.times(t.seller()))
	counter := t.counter(t.buyer(), offer)
	counter.Thread, counter.InReplyTo, counter.Prev = uuid("another thread of the same two"), "", ""
	t.deliver(counter, refused("state"))
	t.final(offer, "open")
}

func proposals(s *suite) {
	t := s.story("times-start", "an offer of times starts a thread")
	times := t.times(t.buyer())
	t.deliver(times, expect{Verdict: "accepted", Signature: "signed", Type: "propose_times", ID: times.ID})
	t.final(times, "open")

	t = s.story("times-in-begun-thread", "times in a thread that has begun, and no offer countered")
	ask := t.given(t.ask(t.buyer()))
	t.deliver(t.times(t.buyer()), refused("state"))
	t.final(ask, "open")
}

func accepts(s *suite) {
	for _, kind := range []intent.Type{intent.Quote, intent.ProposeTimes} {
		t := s.story(name("accept", kind), "accepted by the receiver of the offer")
		offer := t.own(kind)
		t.given(t.accept(t.buyer(), offer))
		t.final(offer, "agreed")
		t.record("two_signatures")

		t = s.story(name("accept-own", kind), "accepted by the side that made the offer: nobody agrees with himself")
		offer = t.their(kind)
		t.deliver(t.accept(t.buyer(), offer), refused("state"))
		t.final(offer, "open")
		t.record("")
	}

	t := s.story("accept-ask", "an ask cannot be accepted")
	ask := t.sent(t.ask(t.seller()))
	t.deliver(t.accept(t.buyer(), ask), refused("state"))
	t.final(ask, "open")

	t = s.story("accept-twice", "a second accept, a message of its own: one of two that follow the same offer counts")
	offer := t.sent(t.times(t.seller()))
	t.given(t.accept(t.buyer(), offer))
	t.deliver(t.accept(t.buyer(), offer), refused("state"))
	t.final(offer, "agreed")
	t.record("two_signatures")

	t = s.story("accept-crosses-cancel", "this inbox cancels its offer, then an accept arrives that was signed before: the side that made the offer decides by the order of its commits (D28)")
	offer = t.sent(t.times(t.seller()))
	accept := t.accept(t.buyer(), offer)
	t.sent(t.cancel(t.seller(), offer))
	t.deliver(accept, refused("state"))
	t.final(offer, "cancelled")
	t.record("")

	t = s.story("cancel-crosses-accept", "the accept arrives first, so the cancel of this inbox ends an agreement (D28)")
	offer = t.sent(t.times(t.seller()))
	t.given(t.accept(t.buyer(), offer))
	t.sent(t.cancel(t.seller(), offer))
	t.final(offer, "cancelled")
}

func slots(s *suite) {
	for _, c := range []struct {
		name, why string
		kind      intent.Type
		slot      *int
	}{
		{"slot-last", "the last slot of two", intent.ProposeTimes, ptr(1)},
		{"slot-missing", "an accept of times without slot (D6, D39)", intent.ProposeTimes, nil},
		{"slot-out-of-range", "slot 2 of two slots that count from 0 (D39)", intent.ProposeTimes, ptr(2)},
		{"slot-for-quote", "an accept of a quote with slot (D6, D39)", intent.Quote, ptr(0)},
	} {
		t := s.story(c.name, c.why)
		offer := t.own(c.kind)
		accept := t.accept(t.buyer(), offer)
		accept.Slot = c.slot
		if c.name == "slot-last" {
			t.given(accept)
			t.final(offer, "agreed")
			continue
		}
		t.deliver(accept, refused("state"))
		t.final(offer, "open")
	}
}

func ptr[T any](v T) *T { return &v }

func declines(s *suite) {
	for _, kind := range []intent.Type{intent.AskQuote, intent.Quote, intent.ProposeTimes} {
		t := s.story(name("decline", kind), "declined by its receiver")
		entry := t.own(kind)
		t.given(t.decline(t.buyer(), entry))
		t.final(entry, "declined")

		t = s.story(name("decline-own", kind), "declined by the side that made it")
		entry = t.their(kind)
		t.deliver(t.decline(t.buyer(), entry), refused("state"))
		t.final(entry, "open")
	}
}

func cancels(s *suite) {
	for _, kind := range []intent.Type{intent.AskQuote, intent.Quote, intent.ProposeTimes} {
		t := s.story(name("cancel", kind), "cancelled by its sender (D40)")
		entry := t.their(kind)
		t.given(t.cancel(t.buyer(), entry))
		t.final(entry, "cancelled")

		t = s.story(name("cancel-of-other-side", kind), "an open one cancelled by its receiver, who can only decline")
		entry = t.own(kind)
		t.deliver(t.cancel(t.buyer(), entry), refused("state"))
		t.final(entry, "open")
	}
	for _, mine := range []bool{true, false} {
		who := map[bool]string{true: "by-its-offerer", false: "by-its-accepter"}[mine]
		t := s.story(name("cancel-agreement", who), "either side may cancel an agreement")
		offer := t.agreement(mine)
		t.given(t.cancel(t.buyer(), offer))
		t.final(offer, "cancelled")
	}

	t := s.story("cancel-agreement-twice", "an agreement that was cancelled is closed")
	offer := t.agreement(true)
	t.given(t.cancel(t.buyer(), offer))
	t.deliver(t.cancel(t.buyer(), offer), refused("state"))
	t.final(offer, "cancelled")

	t = s.story("cancel-of-nothing", "ref names nothing in the thread")
	ask := t.given(t.ask(t.buyer()))
	cancel := t.cancel(t.buyer(), ask)
	cancel.Ref = uuid("nothing")
	t.deliver(cancel, refused("state"))
	t.final(ask, "open")

	t = s.story("cancel-begins-nothing", "a cancel in a thread that nobody began")
	cancel = t.letter(t.buyer(), intent.Cancel)
	cancel.Ref = uuid("nothing at all")
	t.deliver(cancel, refused("state"))

	t = s.story("cancel-of-another-thread", "ref names an offer of the sender in another thread")
	other := t.given(t.times(t.buyer()))
	t.thread = uuid("a second thread of cancel-of-another-thread")
	ask = t.given(t.ask(t.buyer()))
	t.deliver(t.cancel(t.buyer(), other), refused("state"))
	t.final(other, "open")
	t.final(ask, "open")
}

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

// own is an ask or an offer that this inbox made, their is one of the other
// side.
func (t *story) own(kind intent.Type) *letter   { return t.made(t.seller(), kind) }
func (t *story) their(kind intent.Type) *letter { return t.made(t.buyer(), kind) }

func (t *story) made(by *side, kind intent.Type) *letter {
	switch kind {
	case intent.AskQuote:
		return t.put(t.ask(by))
	case intent.Quote:
		return t.put(t.quote(by, t.put(t.ask(t.other(by)))))
	default:
		return t.put(t.times(by))
	}
}

// agreement is an offer, of the other side or of this one, that was accepted.
func (t *story) agreement(theirs bool) *letter {
	by := t.seller()
	if theirs {
		by = t.buyer()
	}
	offer := t.put(t.times(by))
	t.put(t.accept(t.other(by), offer))
	return offer
}

// put is a message that takes its normal way: out of this inbox or into it.
func (t *story) put(l *letter) *letter {
	if l.by == t.seller() {
		return t.sent(l)
	}
	return t.given(l)
}

func (t *story) other(by *side) *side {
	if by == t.seller() {
		return t.buyer()
	}
	return t.seller()
}

// sorted is the keys of a map in the one order that a suite can be written in.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
