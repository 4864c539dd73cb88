package main

import (
	"math"

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
		{"slot-far-out", "a slot that no integer type holds is out of range all the same (D39)", intent.ProposeTimes, ptr(math.MaxInt)},
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

	t = s.story("cancel-agreement-of-quote", "an agreement on a quote is cancelled by its accepter")
	asked := t.given(t.ask(t.buyer()))
	quoted := t.sent(t.quote(t.seller(), asked))
	t.given(t.accept(t.buyer(), quoted))
	t.given(t.cancel(t.buyer(), quoted))
	t.final(asked, "answered")
	t.final(quoted, "cancelled")

	t = s.story("cancel-agreement-after-exp", "an agreement is cancelled after the exp of its offer")
	offer = t.agreement(true)
	t.now = offer.Exp + day
	t.given(t.cancel(t.buyer(), offer))
	t.final(offer, "cancelled")

	t = s.story("cancel-of-accept", "ref names the accept: neither an offer nor a record")
	offer = t.sent(t.times(t.seller()))
	agreed := t.given(t.accept(t.buyer(), offer))
	t.deliver(t.cancel(t.buyer(), agreed), refused("state"))
	t.final(offer, "agreed")

	t = s.story("accept-of-cancelled-agreement", "what was agreed and cancelled is not agreed once more")
	offer = t.agreement(false)
	t.given(t.cancel(t.buyer(), offer))
	t.deliver(t.accept(t.buyer(), offer), refused("state"))
	t.final(offer, "cancelled")

	t = s.story("counter-of-cancelled-agreement", "nor countered")
	offer = t.agreement(false)
	t.given(t.cancel(t.buyer(), offer))
	t.deliver(t.counter(t.buyer(), offer), refused("state"))
	t.final(offer, "cancelled")

	t = s.story("decline-of-accept", "an accept cannot be declined")
	offer = t.given(t.times(t.buyer()))
	took := t.sent(t.accept(t.seller(), offer))
	t.deliver(t.decline(t.buyer(), took), refused("state"))
	t.final(offer, "agreed")

	t = s.story("accept-of-decline", "a decline cannot be accepted")
	offer = t.given(t.times(t.buyer()))
	no := t.sent(t.decline(t.seller(), offer))
	bad := t.answer(t.buyer(), intent.Accept, no)
	bad.Ref = no.ID
	t.deliver(bad, refused("state"))
	t.final(offer, "declined")

	t = s.story("new-ask-after-agreement", "a thread goes on after an agreement")
	offer = t.agreement(true)
	more := t.given(t.ask(t.buyer()))
	t.final(offer, "agreed")
	t.final(more, "open")

	t = s.story("two-open-offers", "two offers may be open in one thread, and one be accepted")
	first := t.sent(t.times(t.seller()))
	wanted := t.given(t.ask(t.buyer()))
	second := t.sent(t.quote(t.seller(), wanted))
	t.given(t.accept(t.buyer(), second))
	t.final(first, "open")
	t.final(second, "agreed")

	t = s.story("replaces-itself", "an offer that replaces itself: whatever becomes of it, it is not open")
	own := t.times(t.buyer())
	own.Replaces = own.ID
	t.deliver(own, open)

	t = s.story("replaces-accept", "replaces names an accept")
	offer = t.sent(t.times(t.seller()))
	yes := t.given(t.accept(t.buyer(), offer))
	t.deliver(t.counterBy(t.buyer(), intent.ProposeTimes, yes), refused("state"))
	t.final(offer, "agreed")

	t = s.story("quote-in-thread-of-times", "a quote in a thread of times that nobody asked for")
	offer = t.sent(t.times(t.seller()))
	unasked := priced(t.letter(t.buyer(), intent.Quote))
	unasked.InReplyTo, unasked.Prev = offer.ID, offer.hash()
	t.deliver(unasked, refused("state"))
	t.final(offer, "open")

	t = s.story("quote-to-own-thread", "a quote by the side whose ask alone is open")
	mine := t.given(t.ask(t.buyer()))
	self := priced(t.letter(t.buyer(), intent.Quote))
	t.deliver(self, refused("state"))
	t.final(mine, "open")

	t = s.story("ask-answers-quote", "an ask may answer something, and its prev counts")
	mine = t.given(t.ask(t.buyer()))
	given := t.sent(t.quote(t.seller(), mine))
	another := t.ask(t.buyer())
	another.InReplyTo, another.Prev = given.ID, given.hash()
	t.given(another)
	t.final(given, "open")
	t.final(another, "open")

	t = s.story("quote-answers-second-ask", "two asks of one side after each other: the open one is answered")
	mine = t.sent(t.ask(t.seller()))
	t.given(t.quote(t.buyer(), mine))
	next := t.sent(t.ask(t.seller()))
	fresh := t.given(t.quote(t.buyer(), next))
	t.final(mine, "answered")
	t.final(next, "answered")
	t.final(fresh, "open")

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
