package main

import "strings"

// orderSuites: the first check that fails ends it (section 4). Each case
// fails two that follow each other.
func orderSuites() []*suite {
	s := newSuite("order", "The order of the checks: each mail fails two of them, and the first gives its code.")
	mailChecks(s)
	threadChecks(s)
	pairs(s)
	return []*suite{s}
}

func mailChecks(s *suite) {
	noMember := part(swap(`"agent":{"kind":"api","name":"Desk"},`, ""))
	otherFrom := mailed(swap("From: \"Buyer Co agent\" <agent@buyer.test>", "From: agent@third.test"))
	s.singles(timesOf, []single{
		{"header-before-parts", "a header that cannot be read, and no machine part", all(mailed(before("no field\n")), part(only("[]")), undkimmed), none},
		{"size-before-json", "too large, and no JSON", part(func(text string) string { return padTo(33 << 10)("{" + text) }), plain("size")},
		{"json-before-profile", "no JSON, and of another version", part(func(text string) string { return swap("agent-intents/1\"", "agent-intents/2\"")(text) + "}" }), notJSON},
		{"profile-before-schema", "another version, and a member missing", part(func(text string) string {
			return swap("agent-intents/1\"", "agent-intents/2\"")(swap(`"agent":{"kind":"api","name":"Desk"},`, "")(text))
		}), none},
		{"schema-before-from", "a member missing, and From of somebody else", all(noMember, otherFrom), schema},
		{"from-before-dkim", "From of somebody else, and no DKIM signature", all(otherFrom, undkimmed), plain("from")},
		{"from-before-dns", "From of somebody else, and DNS that does not answer: nothing is asked", all(otherFrom, sealed(func(s *seal) { s.selector = "slow" })), plain("from")},
		{"dkim-before-to", "no DKIM signature, and for another inbox", all(undkimmed, func(l *letter) { l.To.Address = "other@seller.test" }), plain("dkim")},
		{"dkim-before-jws", "no DKIM signature, and a broken token: nothing is fetched for a stranger", all(undkimmed, func(l *letter) { l.token = broken(l) }), plain("dkim")},
		{"to-before-expired", "for another inbox, and too early", func(l *letter) { l.To.Address = "other@seller.test"; l.Iat += hour }, refused("to")},
		{"expired-before-jws", "too early, and a broken token", func(l *letter) { l.Iat += hour; l.token = broken(l) }, refused("expired")},
		{"jws-before-state", "a broken token, and a message that its thread does not allow", func(l *letter) { l.Replaces = l.ID; l.token = broken(l) }, refused("jws")},
	})
	s.DNSErrors["slow._domainkey.buyer.test"] = "temporary"
}

func threadChecks(s *suite) {
	t := s.story("expired-before-duplicate", "the same message again, after its exp")
	offer := t.given(t.times(t.buyer()))
	t.deliverAt(offer, offer.Exp+1, refused("expired"))

	t = s.story("replay-before-prev", "a used nonce, and a wrong prev")
	offer = t.sent(t.times(t.seller()))
	first := t.accept(t.buyer(), offer)
	first.Slot = ptr(5)
	t.deliver(first, refused("state"))
	second := t.accept(t.buyer(), offer)
	second.Nonce, second.Prev = first.Nonce, first.hash()
	t.deliver(second, refused("replay"))
	t.final(offer, "open")

	t = s.story("replay-before-jws", "a used nonce, and a broken token")
	offer = t.given(t.times(t.buyer()))
	cancel := t.cancel(t.buyer(), offer)
	cancel.Nonce, cancel.token = offer.Nonce, broken(cancel)
	t.deliver(cancel, refused("replay"))
	t.final(offer, "open")

	t = s.story("prev-before-jws", "a wrong prev, and a broken token")
	offer = t.sent(t.times(t.seller()))
	accept := t.accept(t.buyer(), offer)
	accept.Prev, accept.token = accept.hash(), broken(accept)
	t.deliver(accept, refused("prev"))
	t.final(offer, "open")

	t = s.story("prev-before-state", "a wrong prev, and a closed offer")
	offer = t.sent(t.times(t.seller()))
	t.sent(t.cancel(t.seller(), offer))
	accept = t.accept(t.buyer(), offer)
	accept.Prev = accept.hash()
	t.deliver(accept, refused("prev"))
	t.final(offer, "cancelled")

	t = s.story("jws-before-closed-offer", "a broken token, and a closed offer")
	offer = t.sent(t.times(t.seller()))
	t.sent(t.cancel(t.seller(), offer))
	accept = t.accept(t.buyer(), offer)
	accept.token = broken(accept)
	t.deliver(accept, badJWS)
	t.final(offer, "cancelled")

	t = s.story("state-before-unsigned", "a closed offer, and no signature: refused, not held (section 4)")
	offer = t.sent(t.times(t.seller()))
	t.sent(t.cancel(t.seller(), offer))
	accept = t.accept(t.buyer(), offer)
	unsigned(accept)
	t.deliver(accept, refused("state"))
	t.final(offer, "cancelled")
}

// fault breaks one check of a quote that answers an ask of this inbox, and no
// other. Faults stand in the order of the checks.
type fault struct {
	name  string
	want  expect
	spoil func(t *story, l, ask, other *letter)
}

func faults() []fault {
	chained := func(first, second func(string) string) func(string) string {
		if first == nil {
			return second
		}
		return func(text string) string { return second(first(text)) }
	}
	text := func(edit func(string) string) func(*story, *letter, *letter, *letter) {
		return func(_ *story, l, _, _ *letter) { l.part = chained(l.part, edit) }
	}
	mail := func(edit func(string) string) func(*story, *letter, *letter, *letter) {
		return func(_ *story, l, _, _ *letter) { l.mail = chained(l.mail, edit) }
	}
	return []fault{
		{"header", none, func(_ *story, l, _, _ *letter) { l.after = before("no field\r\n") }},
		{"size", plain("size"), text(behind(strings.Repeat(" ", 33<<10)))},
		{"json", notJSON, text(before("x"))},
		{"profile", none, text(swap(`"agent-intents/1"`, `"agent-intents/2"`))},
		{"schema", schema, text(swap(`"agent":{"kind":"api","name":"Desk"},`, ""))},
		{"from", plain("from"), mail(swap("From: \"Buyer Co agent\" <agent@buyer.test>", "From: agent@third.test"))},
		{"dkim", notAuthentic, func(_ *story, l, _, _ *letter) { undkimmed(l) }},
		{"to", refused("to"), func(_ *story, l, _, _ *letter) { l.To.Address = "other@seller.test" }},
		{"expired", refused("expired"), func(_ *story, l, _, _ *letter) { l.Iat += hour }},
		{"replay", refused("replay"), func(_ *story, l, _, other *letter) { l.Nonce = other.Nonce }},
		{"prev", refused("prev"), func(_ *story, l, _, other *letter) { l.Prev = other.hash() }},
		{"jws", badJWS, func(_ *story, l, _, _ *letter) { l.token = broken(l) }},
		{"state", refused("state"), func(t *story, _, ask, _ *letter) { t.sent(t.cancel(t.seller(), ask)) }},
		{"unsigned", held, func(_ *story, l, _, _ *letter) { unsigned(l) }},
	}
}

// pairs fails each two of the checks; every fault alone too, or a pair could
// hide that one of its two breaks nothing.
func pairs(s *suite) {
	list := faults()
	for i, first := range list {
		for _, second := range list[i:] {
			if first.name == "jws" && second.name == "unsigned" { // no token is no broken token
				continue
			}
			t := s.story(name("pair", first.name, "and", second.name), first.name+" comes before "+second.name+" (section 4)")
			if first.name == second.name {
				t.Name, t.Why = name("only", first.name), first.name+" alone"
			}
			own := t.thread
			t.thread = uuid("another thread of " + t.Name)
			other := t.given(t.times(t.buyer()))
			t.thread = own
			ask := t.sent(t.ask(t.seller()))
			l := t.quote(t.buyer(), ask)
			first.spoil(t, l, ask, other)
			if first.name != second.name {
				second.spoil(t, l, ask, other)
			}
			t.deliver(l, first.want)
		}
	}
}
