package main

import "strings"

// contactSuites: name cards, and where an answer may be mailed (E4).
func contactSuites() []*suite {
	s := newEmailing("contacts", "Name cards, and where an answer is mailed (E4).")
	s.Inbox.Contacts = append(s.Inbox.Contacts,
		nameCard{Agent: s.agents.kept.id, Addresses: []string{}},
		nameCard{Agent: s.agents.helper.id, Addresses: []string{"first@helper.test", "second@helper.test"}})
	answerAddresses(s)
	answerCodes(s)
	cards(s)
	return []*suite{s}
}

// unaddressed takes away what the request says of its address.
var unaddressed = omit("meta.email")

func answerAddresses(s *suite) {
	describe := asksFor("describe", nil)
	ok := func(to string) outcome { return taken.answered("ok", to) }
	for _, c := range []struct {
		name, why string
		by        *agent
		change    edit
		want      outcome
	}{
		{"card-first", "the address on the name card, whatever the message and From say", s.agents.friend, proven, ok(friendCard)},
		{"card-alone", "the address on the name card, where there is no other", s.agents.friend, unaddressed, ok(friendCard)},
		{"card-two", "the first of two", s.agents.helper, nil, ok("first@helper.test")},
		{"card-empty", "a card without an address says nothing of one", s.agents.kept, nil, ok("agent@kept.test")},
		{"signed", "the address in the signed request", s.agents.buyer, give("meta.email.address", "desk@elsewhere.test"), ok("desk@elsewhere.test")},
		{"signed-before-from", "before From, were it proven", s.agents.buyer, both(give("meta.email.address", "desk@elsewhere.test"), proven), ok("desk@elsewhere.test")},
		{"signed-domain-case", "a domain has no case", s.agents.buyer, give("meta.email.address", "desk@Elsewhere.TEST"), ok("desk@elsewhere.test")},
		{"from-proven", "From, where DKIM proves it", s.agents.buyer, both(unaddressed, proven), ok(buyerTold)},
		{"from-null-address", "an address that is null is absent (E5)", s.agents.buyer, both(give("meta.email.address", nil), proven), ok(buyerTold)},
		{"from-bad-address", "an address that is none", s.agents.buyer, both(give("meta.email.address", "nobody"), proven), ok(buyerTold)},
		{"from-two-addresses", "two addresses are none", s.agents.buyer, both(give("meta.email.address", "a@buyer.test, b@buyer.test"), proven), ok(buyerTold)},
		{"from-unproven", "From that nothing proves is nobody's address", s.agents.buyer, unaddressed, taken},
		{"from-other-domain", "DKIM of another domain proves nothing of this one", s.agents.buyer, both(unaddressed, func(x *exchange) { x.dkim = s.world.third }), taken},
		{"from-changed", "a mail that was changed after DKIM signed it", s.agents.buyer, both(unaddressed, proven, func(x *exchange) { x.after = swap("[request] chat", "[request] Chat") }), taken},
		{"from-organisation", "DKIM of the domain above aligns (relaxed)", s.agents.buyer, both(unaddressed, func(x *exchange) { x.from, x.dkim = "agent@mail.buyer.test", s.world.buyer }), ok("agent@mail.buyer.test")},
		{"reply-to", "never Reply-To, were it proven", s.agents.buyer, both(unaddressed, headed("Reply-To: other@buyer.test\n"), proven), ok(buyerTold)},
		{"reply-to-alone", "nor where there is no other", s.agents.buyer, both(unaddressed, headed("Reply-To: other@buyer.test\n")), taken},
		{"sender-field", "nor Sender", s.agents.buyer, both(unaddressed, headed("Sender: other@buyer.test\n")), taken},
		{"own-address", "never to this inbox itself", s.agents.buyer, give("meta.email.address", "agent@seller.test"), taken},
		{"own-address-case", "in whatever case its domain is", s.agents.buyer, give("meta.email.address", "agent@SELLER.test"), taken},
		{"own-address-from", "nor where From says so, proven or not", s.agents.buyer, both(unaddressed, func(x *exchange) { x.from, x.dkim = "agent@seller.test", s.world.seller }), taken},
		{"dns-trouble", "where DNS gives no answer nobody is answered", s.agents.buyer, both(unaddressed, func(x *exchange) {
			x.from, x.dkim = "agent@slow.test", &side{address: "agent@slow.test", dkim: s.world.buyer.dkim}
		}), taken},
	} {
		t := s.story("answer-"+c.name, c.why+" (E4)")
		t.arrives(t.request(c.by, describe, c.change), c.want)
	}
	s.DNSErrors["s1._domainkey.slow.test"] = "temporary"
}

// answerCodes: each code goes the same way.
func answerCodes(s *suite) {
	for _, c := range []struct {
		name   string
		code   string
		change edit
		answer string
	}{
		{"unknown-offering", "", asksFor("bake", nil), "OFFERING_NOT_FOUND"},
		{"too-large", "too_large", says(strings.Repeat("x", tooLarge)), "CONTEXT_TOO_LARGE"},
		{"bad-cancel", "cancel", asksFor("task.cancel", map[string]any{"task_id": "t"}), "INVALID_ENVELOPE"},
		{"unknown-task", "cancel", asksFor("task.cancel", map[string]any{"task_id": "t", "reason": "policy"}), "TASK_NOT_FOUND"},
	} {
		want := func(to string) outcome {
			o := taken
			if c.code != "" {
				o = silent(c.code)
			}
			if to == "" {
				return o
			}
			return o.answered(c.answer, to)
		}
		for _, to := range []struct {
			name   string
			by     *agent
			change edit
			to     string
		}{
			{"card", s.agents.friend, nil, friendCard},
			{"signed", s.agents.buyer, give("meta.email.address", "desk@elsewhere.test"), "desk@elsewhere.test"},
			{"from", s.agents.buyer, both(unaddressed, proven), buyerTold},
			{"nowhere", s.agents.buyer, both(unaddressed, headed("Reply-To: agent@buyer.test\n")), ""},
			{"own", s.agents.buyer, give("meta.email.address", "agent@seller.test"), ""},
		} {
			t := s.story(c.name+"-to-"+to.name, "an error is mailed where any answer is (E4)")
			t.arrives(t.request(to.by, c.change, to.change), want(to.to))
		}
	}
}

func cards(s *suite) {
	warning := waits.warned("name_card_mismatch")
	t := s.story("card-other-address", "where the owner wrote the card, what the message says of its address is no matter (D122)")
	t.arrives(t.request(s.agents.friend), taken.warned())

	t = s.story("card-of-another", "an address that is on another agent's card: held, with a warning (D122)")
	t.arrives(t.request(s.agents.buyer, give("meta.email.address", friendCard)), warning)

	t = s.story("card-of-another-from", "whether the message says it, or DKIM proves it (D122)")
	t.arrives(t.request(s.agents.buyer, unaddressed, func(x *exchange) {
		x.from, x.dkim = friendCard, s.agents.friend.mail
	}), warning)

	t = s.story("card-of-another-unproven", "From that nothing proves is nobody's")
	t.arrives(t.request(s.agents.buyer, unaddressed, func(x *exchange) { x.from = friendCard }), taken.warned())

	t = s.story("pinned-address", "an agent that was let in is known at its address: another one is held, with a warning (D122)")
	t.comes(t.request(s.agents.buyer))
	t.comes(t.request(s.agents.buyer))
	t.arrives(t.request(s.agents.buyer, give("meta.email.address", "desk@elsewhere.test")), warning)

	t = s.story("pinned-key", "and another key at its address is, too (D122)")
	t.comes(t.request(s.agents.buyer))
	t.arrives(t.request(s.agents.third, give("meta.email.address", buyerTold)), warning)

	t = s.story("pinned-admitted", "until the owner lets it in")
	t.comes(t.request(s.agents.buyer))
	task := t.task("one")
	t.arrives(t.request(s.agents.buyer, give("meta.email.address", "desk@elsewhere.test"), ofTask(task)), warning)
	t.admit(s.agents.buyer)
	t.stands(task, "submitted")

	t = s.story("pinned-held-not", "what waits pins nothing")
	t.arrives(t.request(s.agents.third), waits)
	t.arrives(t.request(s.agents.third, give("meta.email.address", "desk@elsewhere.test")), waits.warned())

	t = s.story("pinned-no-contact", "an agent that answered is no contact for it")
	asked := t.posted(t.request(s.agents.own, give("to", s.agents.third.id)))
	t.arrives(t.respond(s.agents.third, asked, "completed"), taken)
	t.arrives(t.request(s.agents.third), waits)

	t = s.story("card-and-entry", "an entry of the roster goes before a name card")
	t.arrives(t.request(s.agents.kept), waits)

	t = s.story("card-second-address", "an address of another's card that is not the first is that agent's as well (D122)")
	t.arrives(t.request(s.agents.buyer, give("meta.email.address", "second@helper.test")), warning)
}
