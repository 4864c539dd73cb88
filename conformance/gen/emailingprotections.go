package main

import (
	"strings"
	"time"
)

// protectionSuites: what a receiver asks of every message, in its order (§22).
func protectionSuites() []*suite {
	s := newEmailing("protections", "Receiver protections: duplicates, freshness, addressing, size, hops, and which of two comes first (§22).")
	duplicates(s)
	freshness(s)
	addressing(s)
	sizes(s)
	hops(s)
	protectionOrder(s)
	return []*suite{s}
}

const tooLarge = 65537 // UTF-16 units

const buyerTold = "agent@buyer.test"

func duplicates(s *suite) {
	buyer := s.agents.buyer
	t := s.story("duplicate-other-mail", "the same message in another mail, re-encoded: the pair of sender and id is what counts")
	x := t.comes(t.request(buyer))
	t.arrives(x.again(reencoded), silent("duplicate"))

	t = s.story("duplicate-other-text", "another message under an id that its sender used")
	x = t.comes(t.request(buyer))
	t.arrives(t.request(buyer, says("Or the green ones?"), give("id", x.id())), silent("duplicate"))

	t = s.story("duplicate-of-another", "ids are their senders' own: the same id of another agent is another message")
	x = t.comes(t.request(buyer))
	t.arrives(t.request(s.agents.friend, give("id", x.id())), taken)

	t = s.story("duplicate-after-restart", "the memory of duplicates outlives the program")
	x = t.comes(t.request(buyer))
	t.restart()
	t.arrives(x, silent("duplicate"))

	t = s.story("duplicate-after-six-days", "and as long as the message is fresh")
	x = t.comes(t.request(buyer))
	t.tick(t.now + 6*day)
	t.arrives(x, silent("duplicate"))

	t = s.story("duplicate-ahead", "a message that was signed five minutes ahead is fresh for five minutes more than a week, and remembered for as long (D117)")
	x = t.request(buyer)
	t.arrivesAt(x, x.ts().Add(-5*minute*second), taken)
	t.tick(x.ts().Unix() + week - 1)
	t.arrivesAt(x, x.ts().Add(week*second), silent("duplicate"))

	t = s.story("duplicate-not-of-forgery", "a forgery that comes first does not shut out the message: what is not signed never reaches the memory")
	x = t.request(buyer)
	t.arrives(x.again(forged), silent("signature"))
	t.arrives(x, taken)

	t = s.story("duplicate-not-of-type", "nor does what is no message by email")
	x = t.request(buyer, give("type", "event"))
	t.arrives(x, silent("type"))
	t.arrives(x, silent("type"))

	t = s.story("duplicate-held", "a message that waits is remembered")
	x = t.request(s.agents.third)
	t.arrives(x, waits)
	t.arrives(x, silent("duplicate"))

	t = s.story("duplicate-blocked", "and one that was blocked")
	x = t.request(s.agents.blocked)
	t.arrives(x, blocked)
	t.arrives(x, silent("duplicate"))

	t = s.story("duplicate-knock", "a knock is answered once")
	x = t.request(s.agents.third, asksFor("knock", nil))
	t.arrives(x, taken.answered("ok", "agent@third.test"))
	t.arrives(x, silent("duplicate"))

	t = s.story("duplicate-respond", "an answer counts once")
	x = t.respond(s.agents.helper, t.posted(t.request(s.agents.own)), "completed")
	t.comes(x)
	t.arrives(x, silent("duplicate"))

	for _, c := range []struct {
		code   string
		change edit
		first  outcome
	}{
		{"misaddressed", give("to", s.agents.third.id), silent("misaddressed")},
		{"too-large", says(strings.Repeat("x", tooLarge)), told("too_large", "CONTEXT_TOO_LARGE", buyerTold)},
		{"hops", give("meta.hops", 4), silent("hops")},
		{"cancel", asksFor("task.cancel", map[string]any{"task_id": "t", "reason": "bored"}), told("cancel", "INVALID_ENVELOPE", buyerTold)},
		{"unknown-offering", asksFor("bake", nil), taken.answered("OFFERING_NOT_FOUND", buyerTold)},
	} {
		t := s.story("duplicate-after-"+c.code, "what a later check refused is remembered, and answered once")
		x := t.request(buyer, c.change)
		t.arrives(x, c.first)
		t.arrives(x, silent("duplicate"))
	}
}

func freshness(s *suite) {
	for _, c := range []struct {
		name, why string
		ts        string
		after     time.Duration
		want      outcome
	}{
		{"fresh-now", "signed in this moment", "2026-11-02T10:01:00.000Z", 0, taken},
		{"fresh-5-minutes-ahead", "exactly five minutes ahead", "2026-11-02T10:01:00.000Z", -5 * time.Minute, taken},
		{"future-by-1ms", "a millisecond more", "2026-11-02T10:01:00.001Z", -5 * time.Minute, silent("future")},
		{"future-by-1ms-now", "the arrival has milliseconds as well", "2026-11-02T10:01:00.000Z", -5*time.Minute - millisecond, silent("future")},
		{"future-cut", "a fraction beyond milliseconds is cut", "2026-11-02T10:01:00.000999Z", -5 * time.Minute, taken},
		{"fresh-7-days", "exactly seven days", "2026-11-02T10:01:00.000Z", 7 * 24 * time.Hour, taken},
		{"stale-by-1ms", "a millisecond more", "2026-11-02T10:00:59.999Z", 7 * 24 * time.Hour, silent("stale")},
		{"stale-by-1ms-now", "the arrival has milliseconds as well", "2026-11-02T10:01:00.000Z", 7*24*time.Hour + millisecond, silent("stale")},
		{"stale-cut", "the cut makes it a millisecond older", "2026-11-02T10:00:59.999999Z", 7 * 24 * time.Hour, silent("stale")},
		{"fresh-offset", "seven days in another zone", "2026-11-02T04:31:00.000-05:30", 7 * 24 * time.Hour, taken},
		{"stale-offset", "the hours of another zone are not those here", "2026-11-02T10:00:00.000+01:00", 7 * 24 * time.Hour, silent("stale")},
		{"stale-years", "years ago", "2019-11-02T10:01:00.000Z", 0, silent("stale")},
	} {
		t := s.story(c.name, c.why)
		x := t.request(s.agents.buyer, give("ts", c.ts))
		t.arrivesAt(x, time.Unix(start+minute, 0).UTC().Add(c.after), c.want)
	}

	t := s.story("stale-again", "a stale message is remembered: the same again is a duplicate")
	x := t.request(s.agents.buyer)
	t.arrivesAt(x, x.ts().Add(8*day*second), silent("stale"))
	t.arrives(x, silent("duplicate"))

	t = s.story("future-again", "one that came too early is not taken later: it was met")
	x = t.request(s.agents.buyer)
	t.arrivesAt(x, x.ts().Add(-hour*second), silent("future"))
	t.arrivesAt(x, x.ts(), silent("duplicate"))
}

func addressing(s *suite) {
	own := s.agents.own.id
	elsewhere := silent("misaddressed")
	s.postings(s.agents.buyer, []posting{
		{"to-other", "for another agent", give("to", s.agents.third.id), elsewhere},
		{"to-lower-case", "the own id in lower case is another one", give("to", strings.ToLower(own)), elsewhere},
		{"to-empty", "an empty to is for nobody (D108)", give("to", ""), elsewhere},
		{"to-space", "the own id with a space", give("to", own+" "), elsewhere},
		{"to-address", "the address of the inbox is no agent id", give("to", "agent@seller.test"), elsewhere},
		{"to-sender", "for its own sender", give("to", s.agents.buyer.id), elsewhere},
		{"knock-misaddressed", "a knock at another door is not answered", both(asksFor("knock", nil), give("to", s.agents.third.id)), elsewhere},
	})
	t := s.story("respond-misaddressed", "an answer for another agent")
	asked := t.posted(t.request(s.agents.own))
	t.arrives(t.respond(s.agents.helper, asked, "completed", give("to", s.agents.third.id)), elsewhere)
}

// sizes: the ladder is the payload if it is a string, else the first of text,
// message and prompt that is not null, else all of it as compact JSON.
func sizes(s *suite) {
	large := told("too_large", "CONTEXT_TOO_LARGE", buyerTold)
	chars := func(n int) string { return strings.Repeat("x", n) }
	input := func(value any) edit { return give("payload.input", value) }
	s.postings(s.agents.buyer, []posting{
		{"size-text", "65 536 units of text", says(chars(65536)), taken},
		{"size-text-over", "one more", says(chars(65537)), large},
		{"size-string", "the input is a string of 65 536 units", input(chars(65536)), taken},
		{"size-string-over", "one more", input(chars(65537)), large},
		{"size-message-over", "message, where there is no text", input(map[string]any{"message": chars(65537)}), large},
		{"size-prompt-over", "prompt, where text and message are null", input(map[string]any{"text": nil, "message": nil, "prompt": chars(65537)}), large},
		{"size-first-counts", "what comes after the first is not measured", input(map[string]any{"text": "short", "prompt": chars(65537)}), taken},
		{"size-pairs", "a character beyond the first plane is two units", says(strings.Repeat("\U0001F600", 32768)), taken},
		{"size-pairs-over", "one unit more", says(strings.Repeat("\U0001F600", 32768) + "x"), large},
		{"size-bytes", "units are not bytes", says(strings.Repeat("\u00f6", 65536)), taken},
		{"size-json", "an input of 65 536 units of compact JSON", input(map[string]any{"rows": chars(65525)}), taken},
		{"size-json-over", "one more", input(map[string]any{"rows": chars(65526)}), large},
		{"size-text-no-string", "a text that is no string is measured as JSON (D102)", input(map[string]any{"text": []any{chars(65532)}}), taken},
		{"size-text-no-string-over", "one more (D102)", input(map[string]any{"text": []any{chars(65533)}}), large},
		{"size-elsewhere", "config is not the sender's text", give("payload.config", map[string]any{"style": chars(65537)}), taken},
	})
	t := s.story("size-unknown-sender", "an agent that is not admitted is told as well")
	t.arrives(t.request(s.agents.third, says(chars(tooLarge))), told("too_large", "CONTEXT_TOO_LARGE", "agent@third.test"))

	t = s.story("size-knock", "a knock that is too long")
	t.arrives(t.request(s.agents.third, asksFor("knock", chars(tooLarge))), told("too_large", "CONTEXT_TOO_LARGE", "agent@third.test"))

	t = s.story("size-respond", "an answer that is too long: nobody asked for an answer to it (D150)")
	asked := t.posted(t.request(s.agents.own))
	t.arrives(t.respond(s.agents.helper, asked, "completed", give("payload.output", chars(tooLarge))), silent("too_large"))
}

func hops(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"hops-0", "never relayed", give("meta.hops", 0), taken},
		{"hops-3", "relayed three times", give("meta.hops", 3), taken},
		{"hops-4", "relayed four times", give("meta.hops", 4), silent("hops")},
		{"hops-3.5", "more than three is more than three", give("meta.hops", 3.5), silent("hops")},
		{"hops-large", "a number that no counter holds", give("meta.hops", 1e300), silent("hops")},
		{"hops-null", "a null is absent (E5)", give("meta.hops", nil), taken},
	})
}

// protectionOrder: each message fails two checks that follow each other.
func protectionOrder(s *suite) {
	large, other := says(strings.Repeat("x", tooLarge)), give("to", s.agents.third.id)
	old := give("ts", "2026-10-01T10:00:00.000Z")
	s.postings(s.agents.buyer, []posting{
		{"stale-before-misaddressed", "too old, and for another agent", both(old, other), silent("stale")},
		{"future-before-misaddressed", "too early, and for another agent", both(give("ts", "2026-11-03T10:00:00.000Z"), other), silent("future")},
		{"misaddressed-before-too-large", "for another agent, and too long: not answered", both(other, large), silent("misaddressed")},
		{"misaddressed-before-hops", "for another agent, and relayed too often", both(other, give("meta.hops", 4)), silent("misaddressed")},
		{"stale-before-too-large", "too old, and too long: not answered", both(old, large), silent("stale")},
		{"too-large-before-hops", "too long, and relayed too often: answered", both(large, give("meta.hops", 4)), told("too_large", "CONTEXT_TOO_LARGE", buyerTold)},
		{"too-large-before-offering", "too long, and not offered", both(asksFor("bake", strings.Repeat("x", tooLarge))), told("too_large", "CONTEXT_TOO_LARGE", buyerTold)},
		{"hops-before-offering", "relayed too often, and not offered: not answered", both(asksFor("bake", nil), give("meta.hops", 4)), silent("hops")},
		{"signature-before-stale", "not signed, and too old", both(old, forged), silent("signature")},
	})
	t := s.story("duplicate-before-stale", "the same again, when it is stale")
	x := t.comes(t.request(s.agents.buyer))
	t.arrivesAt(x, x.ts().Add(week*second+millisecond), silent("duplicate"))

	for _, c := range []struct {
		name, why string
		change    edit
		want      outcome
	}{
		{"blocked-too-large", "a blocked sender hears nothing (D129)", large, outcome{Answered: silence}},
		{"blocked-hops", "a blocked sender, relayed too often", give("meta.hops", 4), outcome{Answered: silence}},
		{"blocked-offering", "a blocked sender is not told what is not offered", asksFor("bake", nil), blocked},
		{"blocked-cancel", "nor that its cancel is none", asksFor("task.cancel", nil), blocked},
	} {
		t := s.story(c.name, c.why)
		t.arrives(t.request(s.agents.blocked, c.change), c.want)
	}
	for _, c := range []struct {
		name, why string
		change    edit
		want      outcome
	}{
		{"stale-before-held", "too old, of an agent that is not admitted", old, silent("stale")},
		{"hops-before-held", "relayed too often, of an agent that is not admitted", give("meta.hops", 4), silent("hops")},
		{"held-before-offering", "an agent that is not admitted is not told what is not offered", asksFor("bake", nil), waits},
		{"held-before-cancel", "nor that there is no such task", asksFor("task.cancel", map[string]any{"task_id": "t", "reason": "policy"}), waits},
	} {
		t := s.story(c.name, c.why)
		t.arrives(t.request(s.agents.third, c.change), c.want)
	}
}
