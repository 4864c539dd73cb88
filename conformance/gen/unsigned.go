package main

// unsignedSuites are what a message without a checked signature leads to
// (D20, D43).
func unsignedSuites() []*suite {
	var all []*suite
	for _, setting := range []string{"hold", "ignore", "allow"} {
		s := newSuite("unsigned-"+setting, "An inbox with unsigned = "+setting+": what messages without a good signature lead to (D20).")
		s.Inbox.Unsigned = setting
		policy(s, setting)
		order(s, setting)
		all = append(all, s)
	}
	return all
}

// policy delivers a message of each result of the signature.
func policy(s *suite, setting string) {
	without := map[string]expect{
		"hold":   {Verdict: "held"},
		"ignore": plain("unsigned"), // D43
		"allow":  {Verdict: "accepted"},
	}[setting]
	// D43 says what ignoring is, D31 which record an accept that is allowed makes.
	rule := map[string]string{"hold": "D20", "ignore": "D20, D43", "allow": "D20, D31"}[setting]
	elsewhere := func(l *letter) { l.jku = "https://keys.evil.test/.well-known/agent-agreements/" + l.by.party + ".json" }
	lesser := func(signature string) expect {
		want := without
		want.Signature = signature
		return want
	}
	for _, c := range []struct {
		name, why string
		change    change
		want      expect
	}{
		{"signed", "a good signature", func(*letter) {}, accepted},
		{"mail-only", "no signature (" + rule + ")", unsigned, lesser("mail_only")},
		{"unchecked", "a signature that cannot be checked (" + rule + ")", elsewhere, lesser("unchecked")},
		{"invalid", "a signature that is wrong is refused under every setting", func(l *letter) { l.token = broken(l) }, badJWS},
	} {
		t := s.story(c.name, c.why)
		offer := t.sent(t.times(t.seller()))
		accept := t.accept(t.buyer(), offer)
		c.change(accept)
		t.deliver(accept, c.want)
		t.final(offer, map[bool]string{true: "agreed", false: "open"}[c.want.Verdict == "accepted"])

		if c.name == "signed" {
			t.record("two_signatures")
			continue
		}
		if c.want.Verdict == "accepted" {
			t.record("our_signature")
		}
		t = s.story(c.name+"-then-signed", "the same message again, signed: it counts (D34)")
		offer = t.sent(t.times(t.seller()))
		accept = t.accept(t.buyer(), offer)
		t.deliver(accept.copy(c.change), c.want)
		t.deliver(accept, accepted)
		t.deliver(accept, duplicate)
		t.final(offer, "agreed")
	}

	for _, c := range []struct {
		name, why string
		member    string
		warning   string
	}{
		{"key-revoked-later", "a warning holds the message under every setting (D25, D42)", "revoked_at", "key_revoked_later"},
		{"key-retired-later", "and this one (D42)", "retired_at", "key_retired"},
	} {
		t := s.story(c.name, c.why)
		l := t.times(t.buyer())
		l.onPage(pageCase{name: c.name, edit: onKey(c.member, signedAt+1)})
		t.deliver(l, warned(c.warning))
	}

	t := s.story("page-unreachable-for-a-day", "after 24 h of trying the signature is unchecked, and the setting decides; what is tried again outlives a restart")
	offer := t.sent(t.times(t.seller()))
	accept := t.accept(t.buyer(), offer)
	accept.jku, accept.From.Party = s.failing(), ""
	t.deliver(accept, retry)
	t.restart()
	t.tick(t.now + hour)
	t.tick(t.now + day)
	t.final(offer, map[bool]string{true: "agreed", false: "open"}[setting == "allow"])
}

// order: the state is looked at before a message is held for its missing
// signature (section 4).
func order(s *suite, setting string) {
	t := s.story("state-first", "an unsigned accept of a closed offer is refused, not held: the state is looked at first (section 4)")
	offer := t.sent(t.times(t.seller()))
	t.sent(t.cancel(t.seller(), offer))
	accept := t.accept(t.buyer(), offer)
	unsigned(accept)
	t.deliver(accept, refused("state"))
	t.final(offer, "cancelled")

	t = s.story("hash-without-unknown", "prev is the hash of the canonical form, unknown members dropped (section 2)")
	offer = t.times(t.buyer())
	unsigned(offer)
	offer.part = swap(`"iat":`, `"priority":"high","iat":`)
	cancel := t.cancel(t.buyer(), offer)
	cancel.InReplyTo, cancel.Prev = offer.ID, offer.hash()
	switch setting {
	case "allow":
		t.deliver(offer, acted)
		t.deliver(cancel, accepted)
		t.final(offer, "cancelled")
	case "hold": // held here, and not in the thread
		t.deliver(offer, held)
		t.deliver(cancel, refused("state"))
	default:
		t.deliver(offer, plain("unsigned"))
		t.deliver(cancel, parked)
	}

	if setting != "hold" {
		return
	}
	t = s.story("held-changes-nothing", "what is held has no effect on its thread: the offer can still expire")
	offer = t.sent(t.times(t.seller()))
	accept = t.accept(t.buyer(), offer)
	unsigned(accept)
	t.deliver(accept, held)
	t.tick(offer.Exp + 1)
	t.final(offer, "expired")
	t.record("")
}
