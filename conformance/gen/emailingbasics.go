package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// basicSuites are the nineteen cases of the conformance section.
func basicSuites() []*suite {
	s := newEmailing("basics", "The cases that every implementation starts with: a thread, forwards, times, forgeries, files, people, bounces.")
	s.Inbox.SealingKey = secretText("own")
	basicThreads(s)
	basicForwards(s)
	basicProofs(s)
	basicPeople(s)
	basicTasks(s)
	return []*suite{s}
}

// agenda is a file of two lines.
var agenda = enclosure{"agenda.txt", "text/plain", "agenda.1@buyer.test", "09:00 Welcome\n09:30 Prices\n"}

// enclosing puts files into the mail and names them in the request.
func enclosing(files ...enclosure) edit {
	return func(x *exchange) {
		x.files = append(x.files, files...)
		list := []any{}
		for _, f := range files {
			list = append(list, pinned(f))
		}
		give("payload.files", list)(x)
	}
}

// artifact puts files into the mail and names them as the results of a respond.
func artifact(files ...enclosure) edit {
	return func(x *exchange) {
		x.files = append(x.files, files...)
		parts := []any{map[string]any{"text": "As asked."}}
		for _, f := range files {
			parts = append(parts, pinned(f))
		}
		give("artifacts", []any{map[string]any{"id": "a1", "name": "results", "parts": parts}})(x)
	}
}

func basicThreads(s *suite) {
	t := s.story("thread-asked", "four mails: a request with a file, what is missing, the missing, the result with a file")
	task := t.task("one")
	first := t.request(s.agents.buyer, says("What do these cost?"), enclosing(agenda), asComposed("chat"))
	t.arrives(first, taken.asks(s.agents.buyer, "chat").with(map[string]string{"agenda.txt": "ok"}))
	second := t.posted(t.respond(s.agents.own, first, "input_required", ofTask(task), asComposed("chat", first)))
	third := t.request(s.agents.buyer, says("200 of them."), ofTask(task), asComposed("chat", first, second))
	t.arrives(third, taken.at(task, "input_required"))
	result := enclosure{"prices.csv", "text/csv", "prices.1@seller.test", "mug;1500.00\n"}
	t.posted(t.respond(s.agents.own, third, "completed", ofTask(task), artifact(result), asComposed("chat", second, third)))
	t.stands(task, "completed")

	t = s.story("thread-asking", "the same thread from the other side: the task is moved by the agent that was asked")
	task = t.task("one")
	first = t.posted(t.request(s.agents.own, asComposed("chat")))
	second = t.respond(s.agents.helper, first, "input_required", ofTask(task), asComposed("chat", first))
	t.arrives(second, taken.asks(s.agents.helper, "chat").at(task, "input_required"))
	third = t.posted(t.request(s.agents.own, ofTask(task), asComposed("chat", first, second)))
	result.id = "prices.1@helper.test"
	fourth := t.respond(s.agents.helper, third, "completed", ofTask(task), artifact(result), asComposed("chat", second, third))
	t.arrives(fourth, taken.at(task, "completed").with(map[string]string{"prices.csv": "ok"}))
	t.stands(task, "completed")
}

// forwardedWhole and forwardedInline are mails that somebody sends on, as an
// attachment or as parts of their own mail.
const (
	forwardedWhole = "--b0\n{text}\n--b0\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename=\"mail.eml\"\n\n" +
		"From: agent@buyer.test\nTo: somebody@third.test\nSubject: [request] chat\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/mixed; boundary=\"b1\"\n\n--b1\n{text}\n--b1\n{envelope}\n--b1--\n\n--b0--\n"
	forwardedInline = "--b0\nContent-Type: text/plain; charset=utf-8\n\nSee below.\n\n---------- Forwarded message ----------\nFrom: agent@buyer.test\n" +
		"Subject: [request] chat\n\nDo you have the blue mugs?\n--b0\n{envelope}\n--b0--\n"
)

// sentOn is a mail from somebody who has nothing to do with the message.
func sentOn(x *exchange) { x.from = "somebody@third.test" }

func basicForwards(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"forward-attached", "the mail stands whole in a mail of somebody else (E3): who sent that plays no part", both(sentOn, in(mixed, forwardedWhole)), taken.asks(s.agents.buyer, "chat")},
		{"forward-inline", "the envelope is an attachment of a mail of somebody else (E3)", both(sentOn, in(mixed, forwardedInline)), taken.asks(s.agents.buyer, "chat")},
	})
}

// forged changes a value of the signed envelope.
var forged = onItsWay(swap("blue mugs", "best mugs"))

func basicProofs(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"tampered-value", "one word is not the one that was signed", forged, silent("signature")},
		{"re-encoded", "other order, white space, escapes, line ends, encoding and type: the values are those that were signed", reencoded, taken.asks(s.agents.buyer, "chat")},
		{"other-words", "the part for people says something else: agents act on the envelope", func(x *exchange) { x.words = "Please pay 5000 at once." }, taken},
		{"misaddressed", "for another agent", give("to", s.agents.third.id), silent("misaddressed")},
		{"unknown-sender", "a valid message of an agent that nobody knows waits for the owner", func(x *exchange) { sign(s.agents.third)(x) }, waits.asks(s.agents.third, "chat")},
		{"file-digest", "a file is another one than was signed: the message is valid, the file is not handed on (E2)", both(enclosing(agenda), func(x *exchange) {
			x.files[0].body = strings.Replace(agenda.body, "Prices", "prices", 1)
		}), taken.with(map[string]string{"agenda.txt": "digest"})},
		{"file-missing", "a file is not in the mail (E2)", both(enclosing(agenda), func(x *exchange) { x.files = nil }), taken.with(map[string]string{"agenda.txt": "missing"})},
		{"oversize", "more than 65 536 UTF-16 units of text are answered (§22)", says(strings.Repeat("x", 65537)), told("too_large", "CONTEXT_TOO_LARGE", "agent@buyer.test")},
		{"sealed", "a body that only this agent can read", sealedTo(s.agents.own, s.agents.buyer), taken.asks(s.agents.buyer, "chat")},
		{"forgery", "fails every check: another key signed it, it is stale, for another agent, too long, relayed too often, from a mail without proof", both(
			give("ts", "2026-10-01T10:00:00.000Z"), give("to", s.agents.third.id), give("meta.hops", 9), says(strings.Repeat("x", 65537)),
			func(x *exchange) { x.sig = signedBy(s.agents.third, envelopeTag) },
		), silent("signature")},
	})

	t := s.story("stale", "a millisecond more than seven days (§22)")
	x := t.request(s.agents.buyer)
	t.arrivesAt(x, x.ts().Add(week*second+millisecond), silent("stale"))

	t = s.story("seven-days", "exactly seven days (§22)")
	x = t.request(s.agents.buyer)
	t.arrivesAt(x, x.ts().Add(week*second), taken)

	t = s.story("future", "a millisecond more than five minutes ahead (§22)")
	x = t.request(s.agents.buyer)
	t.arrivesAt(x, x.ts().Add(-5*minute*second-millisecond), silent("future"))

	t = s.story("duplicate", "the same message again is silent (§22)")
	x = t.comes(t.request(s.agents.buyer))
	t.arrives(x, silent("duplicate"))
}

// reencoded is what carriers do to an attachment.
func reencoded(x *exchange) {
	x.text = func(text string) string {
		var members map[string]jsontext.Value
		if err := json.Unmarshal([]byte(swap("Do you", "\\u0044o you")(text)), &members); err != nil {
			panic(err)
		}
		names := slices.Sorted(maps.Keys(members))
		slices.Reverse(names)
		lines := []string{}
		for _, name := range names {
			lines = append(lines, "\t\""+name+"\" : "+string(members[name]))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
	}
	x.frame = carried(mixed, "--b0\n{text}\n--b0\nContent-Type: application/octet-stream; name=ENVELOPE.json\nContent-Transfer-Encoding: quoted-printable\n\n{qp}\n\n--b0--\n")
}

func basicPeople(s *suite) {
	t := s.story("knock", "an agent that nobody knows asks to be admitted, and is answered (EXT-6)")
	t.arrives(t.request(s.agents.third, asksFor("knock", map[string]any{"text": "We sell clay."})), taken.asks(s.agents.third, "knock").answered("ok", "agent@third.test"))

	t = s.story("bounce", "a report that a mail from here came back")
	first := t.posted(t.request(s.agents.own, asComposed("chat")))
	t.arrives(t.report(first, "failed", "5.1.1"), bounce)

	t = s.story("person", "a person's mail that their domain proves becomes a request, and waits for the owner")
	t.arrives(t.plainMail("ida@buyer.test", proven), bridged)

	t = s.story("person-unproven", "a person's mail that their domain does not prove never reaches the agent, and is not answered")
	t.arrives(t.plainMail("ida@buyer.test"), review)
}

func basicTasks(s *suite) {
	t := s.story("cancel", "the agent that asked ends its task")
	task := t.task("one")
	first := t.comes(t.request(s.agents.buyer))
	t.posted(t.respond(s.agents.own, first, "working", ofTask(task)))
	t.arrives(t.cancelTask(s.agents.buyer, task, "user_requested"), taken.asks(s.agents.buyer, "task.cancel").answered("ok", "agent@buyer.test").at(task, "canceled"))
	t.stands(task, "canceled")

	t = s.story("out-of-order", "the last update comes first: the task stands where it says (E1)")
	task = t.task("one")
	first = t.posted(t.request(s.agents.own))
	working := t.respond(s.agents.helper, first, "working", ofTask(task))
	input := t.respond(s.agents.helper, first, "input_required", ofTask(task))
	done := t.respond(s.agents.helper, first, "completed", ofTask(task))
	t.arrives(done, taken.at(task, "completed"))
	t.arrives(working, taken.at(task, "completed"))
	t.arrives(input, taken.at(task, "completed"))
	t.stands(task, "completed")
}
