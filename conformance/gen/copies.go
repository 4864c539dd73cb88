package main

import "github.com/agentmaild/agentmaild/envelope/intent"

// copies: an unsigned copy must not shut out the signed original (D34), and
// the same message is a duplicate otherwise.
func copies(s *suite) {
	damaged := func(l *letter) { l.token = broken(l) }
	elsewhere := func(l *letter) { l.jku = "https://keys.evil.test/.well-known/agent-agreements/" + l.by.party + ".json" }
	for _, c := range []struct {
		name, why string
		change    change
		first     expect
	}{
		{"unsigned", "held for its missing signature", unsigned, held},
		{"damaged", "refused for a damaged signature", damaged, badJWS},
		{"jku-elsewhere", "held for a signature that could not be checked", elsewhere, unchecked},
	} {
		t := s.story("copy-"+c.name+"-first", "a copy comes first and is "+c.why+"; the signed original counts (D34)")
		offer := t.times(t.buyer())
		t.deliver(offer.copy(c.change), c.first)
		t.deliver(offer, accepted)
		t.final(offer, "open")

		t = s.story("copy-"+c.name+"-last", "the same message again, worse, when the signed one is held here")
		offer = t.given(t.times(t.buyer()))
		t.deliver(offer.copy(c.change), duplicate)
		t.final(offer, "open")

		t = s.story("copy-"+c.name+"-twice", "the same copy again is a duplicate, and the signed original still counts (D34)")
		offer = t.times(t.buyer())
		copied := offer.copy(c.change)
		t.deliver(copied, c.first)
		t.deliver(copied, duplicate)
		t.restart()
		t.deliver(offer, accepted)
		t.final(offer, "open")
	}

	laterCopies(s)

	t := s.story("copy-unsigned-parked", "an unsigned copy is parked; the signed original takes its place (D34)")
	offer := t.times(t.seller())
	accept := t.accept(t.buyer(), offer)
	t.deliver(accept.copy(unsigned), parked)
	t.deliver(accept, parked)
	t.sent(offer)
	t.final(offer, "agreed")
	t.record("two_signatures")

	t = s.story("copy-damaged-when-parked", "a damaged copy does not end what a good one may do later (D34)")
	offer = t.times(t.seller())
	accept = t.accept(t.buyer(), offer)
	t.deliver(accept, parked)
	t.deliver(accept.copy(damaged), duplicate)
	t.sent(offer)
	t.final(offer, "agreed")

	t = s.story("duplicate", "the same mail twice")
	offer = t.given(t.times(t.buyer()))
	t.deliver(offer, duplicate)
	t.final(offer, "open")

	t = s.story("duplicate-of-refused", "the same mail again, when the first was refused for the state")
	quote := priced(t.letter(t.buyer(), intent.Quote))
	t.deliver(quote, refused("state"))
	t.deliver(quote, duplicate)

	t = s.story("duplicate-through-a-list", "the same message with other header fields is the same message: its id and hash say so")
	offer = t.given(t.times(t.buyer()))
	t.deliver(offer.copy(after(before("List-Id: <deals.lists.test>\r\n"))), duplicate)
}

// laterCopies: the signed original comes when more has happened to the copy
// than its own check (D34).
func laterCopies(s *suite) {
	// answering is a cancel that answers the buyer's offer, and the offer.
	answering := func(t *story) (cancel, offer *letter) {
		offer = t.times(t.buyer())
		cancel = t.cancel(t.buyer(), offer)
		cancel.InReplyTo, cancel.Prev = offer.ID, offer.hash()
		return cancel, offer
	}

	t := s.story("copy-parked-then-held", "an unsigned copy was parked, then released and held; the signed original counts (D34)")
	cancel, offer := answering(t)
	t.deliver(cancel.copy(unsigned), parked)
	t.given(offer)
	t.deliver(cancel, accepted)
	t.final(offer, "cancelled")

	t = s.story("copy-parked-too-long", "an unsigned copy waited too long and failed; the signed original counts, whatever had become of it (D34)")
	cancel, offer = answering(t)
	t.deliver(cancel.copy(unsigned), parked)
	t.tick(t.now + day + hour)
	t.given(offer)
	t.deliver(cancel, accepted)
	t.final(offer, "cancelled")

	t = s.story("copy-unsigned-after-parked", "an unsigned copy of a signed message that is parked takes nothing from it")
	cancel, offer = answering(t)
	t.deliver(cancel, parked)
	t.deliver(cancel.copy(unsigned), duplicate)
	t.given(offer)
	t.final(offer, "cancelled")

	t = s.story("copy-held-then-damaged", "a held copy, then a damaged one: the signed original counts all the same (D34)")
	offer = t.times(t.buyer())
	t.deliver(offer.copy(unsigned), held)
	damaged := offer.copy(func(l *letter) { l.token = broken(l); l.label += "-damaged" })
	t.deliver(damaged, open)
	t.deliver(offer, accepted)
	t.final(offer, "open")

	t = s.story("copy-held-then-unreachable", "a held copy, then the signed original while its key page cannot be reached: tried again (D34, D45)")
	offer = t.times(t.buyer())
	offer.From.Party = ""
	t.deliver(offer.copy(unsigned), held)
	down := s.failing()
	waits := offer.copy(func(l *letter) { l.jku = down; l.label += "-waits" })
	t.deliver(waits, retry)
	t.deliver(offer, accepted)
	t.final(offer, "open")

	t = s.story("copy-held-then-too-late", "an unsigned accept is held; the signed original comes when the offer is closed, and the state decides (D34)")
	offer = t.sent(t.times(t.seller()))
	accept := t.accept(t.buyer(), offer)
	t.deliver(accept.copy(unsigned), held)
	t.sent(t.cancel(t.seller(), offer))
	t.deliver(accept, refused("state"))
	t.final(offer, "cancelled")
}
