package main

// mixedSuites: one inbox for two protocols. A mail goes the way of what it
// contains.
func mixedSuites() []*suite {
	s := newEmailing("mixed", "Messages of agent-intents/1 and of Agent Emailing in one inbox.")
	s.pages()

	t := s.story("both", "a negotiation and a task, side by side")
	offer := t.given(t.times(t.buyer()))
	task := t.task("one")
	x := t.request(s.agents.buyer, ofTask(task))
	t.arrives(x, taken.at(task, "submitted"))
	t.sent(t.accept(t.seller(), offer))
	t.posted(t.respond(s.agents.own, x, "completed", ofTask(task)))
	t.final(offer, "agreed")
	t.stands(task, "completed")

	t = s.story("copies", "each has a memory of its own")
	offer = t.given(t.times(t.buyer()))
	x = t.comes(t.request(s.agents.buyer))
	t.deliver(offer, duplicate)
	t.arrives(x, silent("duplicate"))

	t = s.story("intent-unsigned", "an intent without a signature waits as the inbox is set")
	l := t.times(t.buyer())
	unsigned(l)
	t.deliver(l, held)

	t = s.story("intent-broken", "a broken intent is no message of the other protocol")
	l = t.times(t.buyer())
	part(before("{"))(l)
	t.deliver(l, plain("json"))

	t = s.story("intent-not-rostered", "the roster speaks of agents, not of parties")
	t.deliver(t.times(t.suite.world.third), accepted)

	t = s.story("person", "a person's mail is bridged")
	t.arrives(t.plainMail("ida@buyer.test", proven), bridged)

	t = s.story("intent-came-back", "an offer that came back is a bounce")
	offer = t.sent(t.times(t.seller()))
	t.arrives(t.report(&exchange{to: "agent@buyer.test", messageID: offer.MessageID()}, "failed", "5.1.1", func(report *exchange) {
		report.frame = func(report *exchange) string {
			return report.fields() + "Content-Type: multipart/report; report-type=delivery-status; boundary=\"r0\"\n\n--r0\n" + textPart + "No.\n" +
				"--r0\nContent-Type: message/delivery-status\n\nAction: failed\nStatus: 5.1.1\n\n" +
				"--r0\nContent-Type: text/rfc822-headers\n\nMessage-ID: " + offer.MessageID() + "\n\n--r0--\n"
		}
	}), bounce)
	t.final(offer, "open")

	t = s.story("restart", "both are there after a restart")
	offer = t.given(t.times(t.buyer()))
	x = t.comes(t.request(s.agents.buyer))
	t.restart()
	t.deliver(offer, duplicate)
	t.arrives(x, silent("duplicate"))
	t.final(offer, "open")
	return []*suite{s}
}
