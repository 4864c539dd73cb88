package main

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// chainSuites are the checks to, expired, replay and prev, messages that wait
// for others, and copies of one message.
func chainSuites() []*suite {
	s := newSuite("chain", "Recipient, times, nonces, hashes of what is answered, messages that come before what they answer, and copies.")
	recipients(s)
	bounds(s)
	nonces(s)
	answered(s)
	parking(s)
	copies(s)
	return []*suite{s}
}

func timesOf(t *story) *letter { return t.times(t.buyer()) }

func recipients(s *suite) {
	s.singles(timesOf, []single{
		{"to-another-inbox", "to.address is another address of the same domain", func(l *letter) { l.To.Address = "other@seller.test" }, refused("to")},
		{"to-with-tag", "to.address has a tag that the inbox has not", func(l *letter) { l.To.Address = "agent+x@seller.test" }, refused("to")},
		{"to-local-case", "the local part is compared byte for byte (D9)", func(l *letter) { l.To.Address = "Agent@seller.test" }, refused("to")},
		{"to-subdomain", "to.address is at a subdomain", func(l *letter) { l.To.Address = "agent@mail.seller.test" }, refused("to")},
		{"to-other-domain", "at another domain", func(l *letter) { l.To.Address = "agent@third.test" }, refused("to")},
		{"to-sender", "to.address is the sender's own", func(l *letter) { l.To.Address = l.From.Address }, refused("to")},
		{"to-domain-case", "the domain is compared without case (D9)", func(l *letter) { l.To.Address = "agent@SELLER.Test" }, accepted},
	})
}

// bounds: exp is after the arrival, and iat at most 300 s ahead of it (D16).
func bounds(s *suite) {
	for _, c := range []struct {
		name, why string
		arrival   int64 // from the start
		want      expect
	}{
		{"second-before-exp", "arrived a second before its exp", week - 1, accepted},
		{"at-exp", "arrived in the second of its exp: exp must be after the arrival", week, refused("expired")},
		{"second-after-exp", "arrived a second after its exp", week + 1, refused("expired")},
		{"at-iat", "arrived in the second of its iat", 0, accepted},
		{"second-before-iat", "arrived a second before its iat (D16)", -1, accepted},
		{"iat-day-ahead", "iat is a day ahead of the arrival (D16)", -day, refused("expired")},
		{"iat-300-ahead", "iat is 300 s ahead of the arrival (D16)", -300, accepted},
		{"iat-301-ahead", "iat is 301 s ahead of the arrival (D16)", -301, refused("expired")},
	} {
		t := s.story(c.name, c.why)
		l := t.times(t.buyer())
		l.sealed = min(l.Iat, l.Iat+c.arrival)
		t.deliverAt(l, l.Iat+c.arrival, c.want)
	}
}

func nonces(s *suite) {
	// reused is a new message, an offer in a thread of its own, with a nonce
	// that was used.
	reused := func(t *story, by *side, used *letter) *letter {
		t.thread = uuid("another thread of " + t.Name)
		l := t.times(by)
		l.Nonce = used.Nonce
		return l
	}

	t := s.story("nonce-again", "another message of the same sender with a nonce that it used")
	first := t.given(t.times(t.buyer()))
	t.deliver(reused(t, t.buyer(), first), refused("replay"))
	t.final(first, "open")

	t = s.story("nonce-of-another-sender", "two senders may use one nonce")
	first = t.given(t.times(t.buyer()))
	t.given(reused(t, s.world.third, first))

	t = s.story("nonce-again-domain-in-capitals", "a sender is its address, and domains have no letter case (D9)")
	first = t.given(t.times(t.buyer()))
	again := reused(t, t.buyer(), first)
	again.From.Address = "agent@BUYER.test"
	t.deliver(again, refused("replay"))

	t = s.story("nonce-of-refused-message", "a nonce is remembered once a message reaches replay, whether or not a later check fails (D19)")
	first = priced(t.letter(t.buyer(), intent.Quote))
	t.deliver(first, refused("state"))
	t.deliver(reused(t, t.buyer(), first), refused("replay"))

	t = s.story("nonce-kept-after-exp", "a nonce is kept until exp + 300 s (D19)")
	first = t.given(t.times(t.buyer()))
	t.tick(first.Exp + 299)
	again = reused(t, t.buyer(), first)
	again.Iat, again.sealed, again.Exp = first.Exp+200, first.Exp+200, first.Exp+week
	t.deliverAt(again, first.Exp+300, refused("replay"))

	t = s.story("nonce-free-after-exp", "and no longer: 301 s after exp it is like any other (D19)")
	first = t.given(t.times(t.buyer()))
	t.tick(first.Exp + 301)
	again = reused(t, t.buyer(), first)
	again.Iat, again.sealed, again.Exp = first.Exp+200, first.Exp+200, first.Exp+week
	t.deliverAt(again, first.Exp+302, accepted)

	t = s.story("nonce-free-without-tick", "whether a tick says that time passes, or the next arrival does (D19)")
	first = t.given(t.times(t.buyer()))
	again = reused(t, t.buyer(), first)
	again.Iat, again.sealed, again.Exp = first.Exp+200, first.Exp+200, first.Exp+week
	t.deliverAt(again, first.Exp+301, accepted)

	t = s.story("nonce-of-long-message", "a message that says it is valid until the year 9999 keeps its nonce as well")
	first = t.times(t.buyer())
	first.Exp = 253402300799
	t.given(first)
	t.tick(first.Iat + 300*day)
	again = reused(t, t.buyer(), first)
	again.Iat, again.sealed, again.Exp = first.Iat+300*day, first.Iat+300*day, first.Iat+310*day
	t.deliverAt(again, again.Iat+minute, refused("replay"))

	t = s.story("nonce-of-parked-message", "a message that waits has used its nonce (D19)")
	offer := t.times(t.buyer())
	cancel := t.cancel(t.buyer(), offer)
	cancel.InReplyTo, cancel.Prev = offer.ID, offer.hash()
	t.deliver(cancel, parked)
	t.deliver(reused(t, t.buyer(), cancel), refused("replay"))

	t = s.story("nonce-of-held-message", "so has one that waits for the owner (D19)")
	first = t.times(t.buyer())
	unsigned(first)
	t.deliver(first, held)
	t.deliver(reused(t, t.buyer(), first), refused("replay"))

	t = s.story("nonce-of-bad-signature", "and one whose signature is wrong: a nonce is remembered from replay on, whatever fails behind it (D19)")
	first = t.times(t.buyer())
	first.token = broken(first)
	t.deliver(first, badJWS)
	t.deliver(reused(t, t.buyer(), first), refused("replay"))

	t = s.story("nonce-of-wrong-prev", "and one whose prev is wrong (D19)")
	own := t.sent(t.times(t.seller()))
	first = t.accept(t.buyer(), own)
	first.Prev = first.hash()
	t.deliver(first, refused("prev"))
	t.deliver(reused(t, t.buyer(), first), refused("replay"))
	t.final(own, "open")

	t = s.story("nonce-of-own-message", "a nonce that this inbox used itself: the sender has not")
	own = t.sent(t.times(t.seller()))
	t.given(reused(t, t.buyer(), own))

	t = s.story("nonce-other-case", "nonces have letter case")
	first = t.times(t.buyer())
	first.Nonce = "abcdefghijklmnopqrstuA"
	t.given(first)
	again = reused(t, t.buyer(), first)
	again.Nonce = "ABCDEFGHIJKLMNOPQRSTUA"
	t.given(again)

	t = s.story("nonce-again-later-thread", "a used nonce in an answer within the thread")
	first = t.given(t.times(t.buyer()))
	second := t.cancel(t.buyer(), first)
	second.Nonce = first.Nonce
	t.deliver(second, refused("replay"))
	t.final(first, "open")

	t = s.story("nonce-clock-back", "the clock steps back between two messages: what was used stays used")
	first = t.given(t.times(t.buyer()))
	again = reused(t, t.buyer(), first)
	t.deliverAt(again, first.Iat+1, refused("replay"))

	t = s.story("nonce-kept-through-restart", "nonces are in the store")
	first = t.given(t.times(t.buyer()))
	t.restart()
	t.deliver(reused(t, t.buyer(), first), refused("replay"))

	for _, c := range []struct {
		name, why string
		change    change
		want      expect
	}{
		{"forgery", "a mail that fails dkim burns no nonce", undkimmed, plain("dkim")},
		{"other-recipient", "a message that fails to burns no nonce", func(l *letter) { l.To.Address = "other@seller.test" }, refused("to")},
		{"early", "a message that fails expired burns no nonce", func(l *letter) { l.Iat += hour; l.Exp += hour }, refused("expired")},
		{"unanswered-dns", "a mail that waits for DNS burns no nonce (D45)", sealed(func(s *seal) { s.selector = "slow" }), retry},
		{"unreachable-page", "a message that waits for a key page burns no nonce (D45)", func(l *letter) { l.From.Party, l.jku = "", s.failing() }, retry},
	} {
		t := s.story("nonce-not-burnt-by-"+c.name, c.why)
		first := t.times(t.buyer())
		c.change(first)
		t.deliver(first, c.want)
		t.given(reused(t, t.buyer(), first))
	}
	s.DNSErrors["slow._domainkey.buyer.test"] = "temporary"

	t = s.story("known-id-of-another-sender", "somebody else's message with a known id (section 4)")
	first = t.given(t.times(t.buyer()))
	t.thread = uuid("another thread of known-id-of-another-sender")
	stolen := t.times(s.world.third)
	stolen.ID = first.ID
	t.deliver(stolen, refused("state"))
	t.final(first, "open")

	t = s.story("known-id-of-own-message", "a message with the id of one that this inbox sent (section 4)")
	first = t.sent(t.times(t.seller()))
	t.thread = uuid("another thread of known-id-of-own-message")
	stolen = t.times(t.buyer())
	stolen.ID = first.ID
	t.deliver(stolen, refused("state"))
	t.final(first, "open")

	t = s.story("known-id-other-content", "a known id with other content, and a nonce of its own (section 4)")
	first = t.given(t.times(t.buyer()))
	second = t.times(t.buyer())
	second.ID = first.ID
	t.deliver(second, refused("state"))
	t.final(first, "open")
}

// undkimmed leaves the mail without a DKIM signature.
func undkimmed(l *letter) { l.seal = func(mail string) string { return mail } }

// failing is a key page that answers 503.
func (s *suite) failing() string {
	page := "https://" + pageHost + "/.well-known/agent-agreements/" + partyID("failing") + ".json"
	s.KeyPages[page] = keyPage{Status: 503}
	return page
}

// answered: in_reply_to names a message of this thread held here and prev is
// its hash; an accept or decline answers what ref names (D39).
func answered(s *suite) {
	for _, c := range []struct {
		name, why string
		change    change
		want      expect
	}{
		{"prev-right", "the baseline of the cases beside it", func(*letter) {}, accepted},
		{"prev-wrong", "prev is the hash of something else", func(l *letter) { l.Prev = (&letter{Message: intent.Message{}}).hash() }, refused("prev")},
		{"accept-answers-nothing", "an accept without in_reply_to and prev (D39)", func(l *letter) { l.InReplyTo, l.Prev = "", "" }, refused("prev")},
		{"accept-answers-other-than-ref", "in_reply_to and prev of one message, ref of another (D39)", func(l *letter) { l.Ref = uuid("another offer") }, refused("prev")},
	} {
		t := s.story(c.name, c.why)
		offer := t.sent(t.times(t.seller()))
		accept := t.accept(t.buyer(), offer)
		c.change(accept)
		t.deliver(accept, c.want)
		t.final(offer, map[bool]string{true: "agreed", false: "open"}[c.want.Verdict == "accepted"])
	}

	for _, c := range []struct {
		name, why string
		change    func(t *story, l, offer, counter *letter)
		want      expect
	}{
		{"cancel-with-prev", "a cancel may answer, and its prev counts then", func(t *story, l, offer, counter *letter) { l.InReplyTo, l.Prev = counter.ID, counter.hash() }, accepted},
		{"cancel-answers-own", "what is answered may be a message of one's own", func(t *story, l, offer, counter *letter) { l.InReplyTo, l.Prev = offer.ID, offer.hash() }, accepted},
		{"cancel-with-wrong-prev", "a wrong prev is one in a cancel too", func(t *story, l, offer, counter *letter) { l.InReplyTo, l.Prev = counter.ID, offer.hash() }, refused("prev")},
		{"cancel-answers-itself", "a message does not answer itself", func(t *story, l, offer, counter *letter) { l.InReplyTo, l.Prev = l.ID, offer.hash() }, refused("prev")},
		{"prev-of-hex-other", "prev is the hash with one digit changed", func(t *story, l, offer, counter *letter) {
			h := []byte(counter.hash())
			h[63] = "0123456789abcdef1"[strings.IndexByte("0123456789abcdef", h[63])+1]
			l.InReplyTo, l.Prev = counter.ID, string(h)
		}, refused("prev")},
	} {
		t := s.story(c.name, c.why)
		offer := t.given(t.times(t.buyer()))
		counter := t.sent(t.counter(t.seller(), offer))
		again := t.given(t.counter(t.buyer(), counter))
		cancel := t.cancel(t.buyer(), again)
		c.change(t, cancel, offer, counter)
		t.deliver(cancel, c.want)
		t.final(again, map[bool]string{true: "cancelled", false: "open"}[c.want.Verdict == "accepted"])
	}

	t := s.story("decline-answers-nothing", "a decline without in_reply_to and prev (D39)")
	offer := t.sent(t.times(t.seller()))
	decline := t.decline(t.buyer(), offer)
	decline.InReplyTo, decline.Prev = "", ""
	t.deliver(decline, refused("prev"))
	t.final(offer, "open")

	t = s.story("prev-of-another-thread", "in_reply_to names a message held here, of another thread")
	offer = t.sent(t.times(t.seller()))
	t.thread = uuid("another thread of prev-of-another-thread")
	t.deliver(t.accept(t.buyer(), offer), refused("prev"))
	t.final(offer, "open")

	t = s.story("prev-of-refused-message", "a message that was refused is not held here: what answers it waits")
	refusedQuote := priced(t.letter(t.buyer(), intent.Quote))
	t.deliver(refusedQuote, refused("state"))
	cancel := t.cancel(t.buyer(), refusedQuote)
	cancel.InReplyTo, cancel.Prev = refusedQuote.ID, refusedQuote.hash()
	t.deliver(cancel, parked)
}

// parking: an answer to a message not seen yet waits for up to 24 h (D18).
func parking(s *suite) {
	// early is the cancel of an offer, which answers it, and the offer.
	early := func(t *story) (cancel, offer *letter) {
		offer = t.times(t.buyer())
		cancel = t.cancel(t.buyer(), offer)
		cancel.InReplyTo, cancel.Prev = offer.ID, offer.hash()
		return cancel, offer
	}

	t := s.story("parked-released-by-delivery", "an answer comes before the message it answers, and goes on when that is there (D18)")
	cancel, offer := early(t)
	t.deliver(cancel, parked)
	t.deliver(offer, accepted)
	t.final(offer, "cancelled")

	t = s.story("parked-through-restart", "what waits is in the store")
	cancel, offer = early(t)
	t.deliver(cancel, parked)
	t.restart()
	t.deliver(offer, accepted)
	t.final(offer, "cancelled")

	t = s.story("parked-released-by-sent", "a message that this inbox sends releases what waited for it (D45)")
	offer = t.times(t.seller())
	t.deliver(t.accept(t.buyer(), offer), parked)
	t.sent(offer)
	t.final(offer, "agreed")
	t.record("two_signatures")

	t = s.story("parked-chain-of-two", "what waits for a message that waits is released with it (D45)")
	offer = t.times(t.buyer())
	counter := t.counter(t.buyer(), offer)
	cancel = t.cancel(t.buyer(), counter)
	cancel.InReplyTo, cancel.Prev = counter.ID, counter.hash()
	t.deliver(cancel, parked)
	t.deliver(counter, parked)
	t.deliver(offer, accepted)
	t.final(offer, "replaced")
	t.final(counter, "cancelled")

	t = s.story("parked-for-replaces", "a counter without in_reply_to whose replaces names an offer not seen yet (D40)")
	offer = t.times(t.buyer())
	counter = t.counter(t.buyer(), offer)
	counter.InReplyTo, counter.Prev = "", ""
	t.deliver(counter, parked)
	t.deliver(offer, accepted)
	t.final(offer, "replaced")
	t.final(counter, "open")

	t = s.story("parked-a-day", "a tick a second before 24 h are over changes nothing (D18)")
	cancel, offer = early(t)
	t.deliver(cancel, parked)
	t.tick(t.now + day - 1)
	t.deliverAt(offer, t.now, accepted)
	t.final(offer, "cancelled")

	t = s.story("parked-too-long", "what has waited for more than 24 h fails, and is not released any more (D18)")
	cancel, offer = early(t)
	t.deliver(cancel, parked)
	t.tick(t.now + day + 1)
	t.deliver(offer, accepted)
	t.final(offer, "open")

	t = s.story("parked-for-replaces-and-prev", "a counter whose in_reply_to is here and whose replaces is not (D40)")
	ask := t.sent(t.ask(t.seller()))
	first := t.quote(t.buyer(), ask)
	second := t.counter(t.buyer(), first)
	second.InReplyTo, second.Prev = ask.ID, ask.hash()
	t.deliver(second, parked)
	t.deliver(first, accepted)
	t.final(first, "replaced")
	t.final(second, "open")

	t = s.story("parked-for-replaces-too-long", "and one whose replaces does not come within 24 h (D18, D40)")
	offer = t.times(t.buyer())
	counter = t.counter(t.buyer(), offer)
	counter.InReplyTo, counter.Prev = "", ""
	t.deliver(counter, parked)
	t.tick(t.now + day + 1)
	t.deliver(offer, accepted)
	t.final(offer, "open")

	t = s.story("parked-for-replaces-by-sent", "a counter of an offer of this inbox that comes before the inbox knows that it made it (D40, D45)")
	offer = t.times(t.seller())
	counter = t.counter(t.buyer(), offer)
	counter.InReplyTo, counter.Prev = "", ""
	t.deliver(counter, parked)
	t.sent(offer)
	t.final(offer, "replaced")
	t.final(counter, "open")

	t = s.story("parked-too-long-without-tick", "whether a tick says that time passes, or the next arrival does (D18)")
	cancel, offer = early(t)
	t.deliver(cancel, parked)
	t.deliverAt(offer, t.now+day+1, accepted)
	t.final(offer, "open")

	t = s.story("parked-until-expired", "a message that waits beyond its own exp, and not for a day: it was in time when it arrived")
	cancel, offer = early(t)
	cancel.Exp = cancel.Iat + hour
	t.deliver(cancel, parked)
	t.deliverAt(offer, cancel.Exp+hour, accepted)
	t.final(offer, "cancelled")

	t = s.story("parked-for-another-thread", "what waited for a message of another thread fails when that is there")
	cancel, offer = early(t)
	cancel.Thread = uuid("another thread of parked-for-another-thread")
	t.deliver(cancel, parked)
	t.deliver(offer, accepted)
	t.final(offer, "open")

	t = s.story("parked-for-held", "what answers a message that is held waits no more, and the thread does not know that message")
	cancel, offer = early(t)
	t.deliver(cancel, parked)
	t.deliver(offer.copy(unsigned), held)
	t.deliver(cancel, duplicate)

	t = s.story("parked-two-for-one", "two accepts wait for one offer: one of them counts")
	offer = t.times(t.seller())
	t.deliver(t.accept(t.buyer(), offer), parked)
	t.deliver(t.accept(t.buyer(), offer), parked)
	t.sent(offer)
	t.final(offer, "agreed")
	t.record("two_signatures")

	t = s.story("parked-from-third", "an accept by somebody else waits too, and fails when the offer is there (D26)")
	offer = t.times(t.seller())
	t.deliver(t.accept(s.world.third, offer), parked)
	t.sent(offer)
	t.final(offer, "open")

	t = s.story("parked-with-bad-signature", "a damaged token waits with its message, and refuses it then: prev comes before jws (section 4)")
	offer = t.times(t.seller())
	bad := t.accept(t.buyer(), offer)
	bad.token = broken(bad)
	t.deliver(bad, parked)
	t.sent(offer)
	t.final(offer, "open")

	t = s.story("parked-accept-too-late", "an accept that was in time when it arrived counts when its offer comes to be known")
	offer = t.times(t.seller())
	offer.Exp = offer.Iat + 2*hour
	accept := t.accept(t.buyer(), offer)
	t.deliver(accept, parked)
	t.tick(t.now + hour)
	t.sent(offer)
	t.final(offer, "agreed")

	t = s.story("parked-ask-answered", "a decline that comes before the quote it declines")
	ask = t.sent(t.ask(t.seller()))
	quote := t.quote(t.buyer(), ask)
	own := t.accept(t.seller(), quote)
	late := t.cancel(t.buyer(), quote)
	late.InReplyTo, late.Prev = own.ID, own.hash()
	t.deliver(late, parked)
	t.deliver(quote, accepted)
	t.sent(own)
	t.final(quote, "cancelled")

	t = s.story("parked-again", "a parked message delivered again is a duplicate (D45)")
	cancel, offer = early(t)
	t.deliver(cancel, parked)
	t.deliver(cancel, duplicate)
	t.deliver(offer, accepted)
	t.deliver(cancel, duplicate)
	t.final(offer, "cancelled")

	t = s.story("parked-with-wrong-prev", "prev is compared when the answered message is there")
	cancel, offer = early(t)
	cancel.Prev = (&letter{Message: intent.Message{}}).hash()
	t.deliver(cancel, parked)
	t.deliver(offer, accepted)
	t.final(offer, "open")

	t = s.story("parked-and-unsigned", "an unsigned message that waited is held once it can go on")
	cancel, offer = early(t)
	unsigned(cancel)
	t.deliver(cancel, parked)
	t.deliver(offer, accepted)
	t.final(offer, "open")
}
