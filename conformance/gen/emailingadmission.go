package main

import (
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// admissionSuites: who may come in (EXT-6), with several rosters.
func admissionSuites() []*suite {
	s := newEmailing("admission", "Stances and kinds of senders, knocks, and what the owner admits (EXT-6).")
	stances(s)
	openDoors(s)
	admitting(s)

	none := newEmailing("admission-no-roster", "The stances where no roster was signed yet.")
	none.Roster = nil
	defaults(none, taken, waits)

	empty := newEmailing("admission-no-defaults", "A roster that names no defaults and nobody.")
	empty.roster(func(r *agentmsg.Roster) { r.Defaults, r.Entries = nil, nil })
	defaults(empty, taken, waits)

	other := newEmailing("admission-defaults", "A roster whose defaults are others: agents are allowed, contacts held, people blocked.")
	other.roster(func(r *agentmsg.Roster) {
		r.Defaults = map[agentmsg.Kind]agentmsg.Stance{agentmsg.KindContact: "hold", agentmsg.KindRegistered: "allow", agentmsg.KindBridged: "block"}
	})
	defaults(other, waits, taken)

	shut := newEmailing("admission-block", "A roster whose defaults block everybody.")
	shut.roster(func(r *agentmsg.Roster) {
		r.Defaults = map[agentmsg.Kind]agentmsg.Stance{agentmsg.KindContact: "block", agentmsg.KindRegistered: "block", agentmsg.KindBridged: "block"}
	})
	defaults(shut, blocked, blocked)
	t := shut.story("allowed", "an entry goes before its kind")
	t.arrives(t.request(shut.agents.buyer), taken)
	t = shut.story("knock-blocked-kind", "whoever knocks is answered alike")
	t.arrives(t.request(shut.agents.third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))

	return []*suite{s, none, empty, other, shut, rateSuite(), shutRateSuite()}
}

// defaults is a suite of those whom no entry names.
func defaults(s *suite, contact, registered outcome) {
	t := s.story("contact", "an agent in the contact book")
	t.arrives(t.request(s.agents.friend), contact.asks(s.agents.friend, "chat"))
	t = s.story("registered", "any other agent with a valid key")
	t.arrives(t.request(s.agents.third), registered.asks(s.agents.third, "chat"))
	t = s.story("person", "a person whose domain proves them")
	want := bridged.shows("")
	if strings.Contains(string(s.Roster), `"bridged":"block"`) {
		want = blocked
	}
	t.arrives(t.plainMail("ida@buyer.test", proven), want)
	t = s.story("knock", "a knock passes whatever the roster says")
	t.arrives(t.request(s.agents.third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))
}

func stances(s *suite) {
	for _, c := range []struct {
		name, why string
		by        *agent
		want      outcome
	}{
		{"allow", "the roster allows it", s.agents.buyer, taken},
		{"hold", "the roster holds it", s.agents.kept, waits},
		{"block", "the roster blocks it: nothing is answered", s.agents.blocked, blocked},
		{"contact", "no entry, but a name card: allowed", s.agents.friend, taken},
		{"registered", "no entry and no card: held", s.agents.third, waits},
	} {
		t := s.story("stance-"+c.name, c.why)
		t.arrives(t.request(c.by), c.want.asks(c.by, "chat"))
		t = s.story("stance-"+c.name+"-proven", "who sent the mail changes nothing, were it proven")
		t.arrives(t.request(c.by, proven), c.want)
	}
	t := s.story("stance-by-key", "the roster speaks of keys: the address of an agent that it allows is nobody's key")
	t.arrives(t.request(s.agents.third, func(x *exchange) { x.from, x.dkim = "agent@buyer.test", s.world.buyer }), waits)

	t = s.story("stance-card-by-key", "and so do name cards: a message that gives the address on a card as its own is held with a warning (D122)")
	t.arrives(t.request(s.agents.third, give("meta.email.address", friendCard)), waits.warned("name_card_mismatch"))

	t = s.story("bridged-elsewhere", "a person for whom another bridge signs waits for the owner")
	t.arrives(t.request(s.agents.third, give("meta.bridge", map[string]any{"address": "ida@buyer.test", "domain": "buyer.test", "auth": "dkim"})), waits)

	t = s.story("bridged-elsewhere-allowed", "unless the owner allows that identity")
	t.arrives(t.request(s.agents.buyer, give("meta.bridge", map[string]any{"address": "ida@buyer.test", "domain": "buyer.test", "auth": "dkim"})), taken)

	t = s.story("bridged-elsewhere-contact", "a name card is of who holds the key, and not of a person behind it (D154)")
	t.arrives(t.request(s.agents.friend, give("meta.bridge", map[string]any{"address": "ida@buyer.test", "domain": "buyer.test", "auth": "dkim"})), waits)
}

// openDoors: knock and describe pass whatever the roster says.
func openDoors(s *suite) {
	for _, by := range []*agent{s.agents.buyer, s.agents.kept, s.agents.blocked, s.agents.third} {
		for _, offering := range []string{"knock", "describe"} {
			t := s.story(name(offering, strings.TrimSuffix(strings.TrimPrefix(by.mail.address, "agent@"), ".test")), "answered to anyone alike")
			t.arrives(t.request(by, asksFor(offering, map[string]any{"text": "hello"})), taken.asks(by, offering).answered("ok", by.mail.address))
		}
	}
	for _, offering := range []string{"knock", "describe"} {
		t := s.story(name(offering, "contact"), "answered to the address on the card")
		t.arrives(t.request(s.agents.friend, asksFor(offering, nil)), taken.answered("ok", friendCard))
	}
	t := s.story("knock-twice", "a second knock is another one, and answered as well")
	t.arrives(t.request(s.agents.third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))
	t.arrives(t.request(s.agents.third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))

	t = s.story("knock-admits-nobody", "a knock lets nobody in")
	t.arrives(t.request(s.agents.third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))
	t.arrives(t.request(s.agents.third), waits)

	t = s.story("knock-respond", "an answer that calls itself a knock is an answer")
	t.arrives(t.respond(s.agents.blocked, t.request(s.agents.own), "completed", give("payload.offering", "knock")), blocked)

	t = s.story("knock-other-spelling", "offerings are compared as they stand")
	t.arrives(t.request(s.agents.third, asksFor("Knock", nil)), waits)

	t = s.story("knock-skill", "under the earlier name of offering")
	t.arrives(t.request(s.agents.third, give("payload", map[string]any{"skill": "knock"})), taken.answered("ok", "agent@third.test"))

	t = s.story("chat-to-blocked", "after a knock a blocked agent is blocked as before")
	t.arrives(t.request(s.agents.blocked, asksFor("knock", nil)), taken.answered("ok", "agent@blocked.test"))
	t.arrives(t.request(s.agents.blocked), blocked)
}

// admitting: what waited comes in at the owner's word.
func admitting(s *suite) {
	third := s.agents.third
	t := s.story("admit", "what comes after is let in")
	t.arrives(t.request(third), waits)
	t.admit(third)
	t.arrives(t.request(third), taken)

	t = s.story("admit-releases", "what waited comes in: its task begins")
	task := t.task("one")
	t.arrives(t.request(third, ofTask(task)), waits)
	t.admit(third)
	t.stands(task, "submitted")

	t = s.story("admit-releases-both", "and all that waited of the agent")
	one, two := t.task("one"), t.task("two")
	t.arrives(t.request(third, ofTask(one)), waits)
	t.arrives(t.request(third, ofTask(two)), waits)
	t.admit(third)
	t.stands(one, "submitted")
	t.stands(two, "submitted")

	t = s.story("admit-in-order", "in the order of their arrival: a request, and the cancel of its task")
	task = t.task("one")
	t.arrives(t.request(third, ofTask(task)), waits)
	t.arrives(t.cancelTask(third, task, "policy"), waits)
	t.admit(third)
	t.stands(task, "canceled")

	t = s.story("admit-one", "and nothing of another")
	task = t.task("one")
	t.arrives(t.request(third, ofTask(task)), waits)
	t.admit(s.agents.kept)
	t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), told("cancel", "TASK_NOT_FOUND", buyerTold))

	t = s.story("admit-held", "of an agent that an entry holds")
	task = t.task("one")
	t.arrives(t.request(s.agents.kept, ofTask(task)), waits)
	t.admit(s.agents.kept)
	t.stands(task, "submitted")

	t = s.story("admit-blocked", "of one that an entry blocked nothing waits")
	task = t.task("one")
	t.arrives(t.request(s.agents.blocked, ofTask(task)), blocked)
	t.admit(s.agents.blocked)
	t.arrives(t.request(s.agents.blocked), taken)
	t.arrives(t.cancelTask(s.agents.blocked, task, "policy"), told("cancel", "TASK_NOT_FOUND", "agent@blocked.test"))

	t = s.story("admit-first", "an agent may be admitted before it writes")
	t.admit(third)
	t.arrives(t.request(third), taken)

	t = s.story("admit-after-knock", "a knock, the owner's word, a request")
	t.arrives(t.request(third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))
	t.admit(third)
	t.arrives(t.request(third), taken)

	t = s.story("admit-late", "what waited is not stale when it is let in, ten days later")
	task = t.task("one")
	t.arrives(t.request(third, ofTask(task)), waits)
	t.now += 10 * day
	t.admit(third)
	t.stands(task, "submitted")

	t = s.story("admit-too-late", "after thirty days nothing waits any more (D120)")
	task = t.task("one")
	t.arrives(t.request(third, ofTask(task)), waits)
	t.tick(t.now + 30*day + minute)
	t.admit(third)
	t.arrives(t.cancelTask(third, task, "policy"), told("cancel", "TASK_NOT_FOUND", "agent@third.test"))

	t = s.story("admit-after-restart", "what waits outlives the program, and so does the owner's word")
	task = t.task("one")
	t.arrives(t.request(third, ofTask(task)), waits)
	t.restart()
	t.admit(third)
	t.restart()
	t.arrives(t.cancelTask(third, task, "policy"), taken.answered("ok", "agent@third.test").at(task, "canceled"))
	t.stands(task, "canceled")

	t = s.story("admit-duplicate", "what waited was met: the same again is a duplicate")
	x := t.request(third)
	t.arrives(x, waits)
	t.admit(third)
	t.arrives(x, silent("duplicate"))

	t = s.story("admit-twice", "the same word twice changes nothing")
	t.admit(third)
	t.admit(third)
	t.arrives(t.request(third), taken)
}

// rateSuite: no more than so many messages of one sender an hour.
func rateSuite() *suite {
	s := newEmailing("rate", "No more than three messages of one sender within an hour, whenever it begins (EXT-6).")
	s.roster(func(r *agentmsg.Roster) { r.Limits.PerSenderPerHour = ptr(int64(3)) })
	buyer := s.agents.buyer
	over := waits
	over.Code = "rate"

	t := s.story("fourth", "the fourth within an hour is held, and nothing is answered")
	for range 3 {
		t.comes(t.request(buyer))
	}
	t.arrives(t.request(buyer), over)

	t = s.story("sliding", "the hour slides: when the first is an hour ago there is room for one")
	first := t.request(buyer)
	at := first.ts().Add(time.Minute)
	t.arrivesAt(first, at, taken)
	t.arrivesAt(t.request(buyer), at.Add(30*time.Minute), taken)
	t.arrivesAt(t.request(buyer), at.Add(40*time.Minute), taken)
	t.arrivesAt(t.request(buyer), at.Add(time.Hour-time.Millisecond), over)
	t.arrivesAt(t.request(buyer), at.Add(time.Hour+time.Millisecond), taken)
	t.arrivesAt(t.request(buyer), at.Add(time.Hour+29*time.Minute), over)
	t.arrivesAt(t.request(buyer), at.Add(time.Hour+31*time.Minute), taken)

	t = s.story("each-for-itself", "every sender has an hour of its own")
	for range 3 {
		t.comes(t.request(buyer))
	}
	t.arrives(t.request(s.agents.friend), taken)
	t.arrives(t.request(buyer), over)

	t = s.story("duplicates-free", "the memory of duplicates comes first: they do not count")
	x := t.comes(t.request(buyer))
	for range 4 {
		t.arrives(x, silent("duplicate"))
	}
	t.comes(t.request(buyer))
	t.comes(t.request(buyer))
	t.arrives(t.request(buyer), over)

	t = s.story("duplicate-over", "a message that was too many was met: the same again is a duplicate")
	for range 3 {
		t.comes(t.request(buyer))
	}
	x = t.request(buyer)
	t.arrives(x, over)
	t.arrives(x, silent("duplicate"))

	t = s.story("refused-free", "what is refused does not count")
	for range 4 {
		t.arrives(t.request(buyer, give("to", s.agents.third.id)), silent("misaddressed"))
	}
	t.comes(t.request(buyer))

	t = s.story("knocks-count", "knocks are messages like others")
	for range 3 {
		t.arrives(t.request(s.agents.third, asksFor("knock", nil)), taken.answered("ok", "agent@third.test"))
	}
	t.arrives(t.request(s.agents.third, asksFor("knock", nil)), over)
	t.arrives(t.request(s.agents.third, asksFor("describe", nil)), over)

	t = s.story("blocked-stays-blocked", "a blocked sender is blocked, however often it writes")
	for range 4 {
		t.arrives(t.request(s.agents.blocked), blocked)
	}

	t = s.story("admit-over", "the owner lets in what was too many")
	for range 3 {
		t.comes(t.request(buyer))
	}
	late := t.task("one")
	t.arrives(t.request(buyer, ofTask(late)), over)
	t.admit(buyer)
	t.stands(late, "submitted")

	t = s.story("after-restart", "the count outlives the program")
	for range 3 {
		t.comes(t.request(buyer))
	}
	t.restart()
	t.arrives(t.request(buyer), over)

	t = s.story("responds-count", "answers are messages like others: the fourth waits, and counts when the owner lets it in")
	task, list := t.updates("submitted", "working", "input_required", "completed")
	for i, state := range []string{"submitted", "working", "input_required"} {
		t.arrives(list[i], taken.at(task, state))
	}
	t.arrives(list[3], over)
	t.admit(s.agents.helper)
	t.stands(task, "completed")

	t = s.story("unknown-held", "messages that wait count as well")
	for range 3 {
		t.arrives(t.request(s.agents.third), waits)
	}
	t.arrives(t.request(s.agents.third), over)
	return s
}

func shutRateSuite() *suite {
	s := newEmailing("rate-0", "A limit of nothing is a limit (D107).")
	s.roster(func(r *agentmsg.Roster) { r.Limits.PerSenderPerHour = new(int64) })
	over := waits
	over.Code = "rate"
	t := s.story("first", "the first is one too many (D107)")
	t.arrives(t.request(s.agents.buyer), over)
	return s
}
