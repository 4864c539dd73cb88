package main

import (
	"crypto/ecdh"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/nacl/box"
)

// sealingSuites: bodies that only their recipient can read (EXT-7).
func sealingSuites() []*suite {
	s := newEmailing("sealing", "Sealed bodies, in an inbox that prefers them (EXT-7).")
	s.Inbox.SealingKey, s.Inbox.Sealing = secretText("own"), "preferred"
	sealedRequests(s)
	sealedForms(s)
	sealedResponds(s)
	sealedAtDoor(s)

	required := newEmailing("sealing-required", "An inbox that takes sealed requests only (EXT-7).")
	required.Inbox.SealingKey, required.Inbox.Sealing = secretText("own"), "required"
	clearRequests(required)

	without := newEmailing("sealing-none", "An inbox that has no key to be sealed to.")
	without.postings(without.agents.buyer, []posting{
		{"clear", "a body in clear", nil, taken},
		{"sealed", "a sealed body cannot be read, and is not answered (D152)", sealedTo(without.agents.own, without.agents.buyer), unsealed},
	})
	return []*suite{s, required, without}
}

var unsealed = silent("sealing")

// boxed seals a text by hand: an ephemeral X25519 key, a nonce, and the box.
func boxed(plain string, to *agent, label string) map[string]any {
	secret, fixed := digest("ephemeral "+label), digest("nonce "+label)
	private := must(ecdh.X25519().NewPrivateKey(secret[:]))
	peer := [32]byte(must(base64.RawURLEncoding.DecodeString(to.sealing.Public())))
	nonce := [24]byte(fixed[:24])
	encode := base64.RawURLEncoding.EncodeToString
	return map[string]any{
		"v": "sealedpayload.v1", "epk": encode(private.PublicKey().Bytes()), "nonce": encode(nonce[:]),
		"ct": encode(box.Seal(nil, []byte(plain), &nonce, &peer, &secret)),
	}
}

// sealedAs is a request whose input is a text sealed to an agent, with a
// change of the sealed body before it is signed.
func sealedAs(plain string, to *agent, change func(sealed map[string]any)) edit {
	return func(x *exchange) {
		sealed := boxed(plain, to, x.story.suite.name+" "+x.label)
		if change != nil {
			change(sealed)
		}
		member := "payload.input"
		if x.message["type"] == "respond" {
			member = "payload.output"
		}
		give(member, sealed)(x)
	}
}

const sealedHello = `{"text":"In confidence --- hello"}`

func sealedRequests(s *suite) {
	own, buyer := s.agents.own, s.agents.buyer
	t := s.story("sealed", "the agent is given what was sealed, fenced and framed")
	t.fenced(t.request(buyer, sealedAs(sealedHello, own, nil)), " In confidence --- hello")

	t = s.story("sealed-string", "what is sealed is the JSON of the input, whatever it is (E7): a string")
	t.fenced(t.request(buyer, sealedAs(`"hello"`, own, nil)), "hello")

	s.postings(buyer, []posting{
		{"clear", "a body in clear is taken as well", nil, taken},
		{"sealed-object", "structured input (E7)", sealedAs(`{"rows":[1,2]}`, own, nil), taken.shows("")},
		{"sealed-null", "null (E7)", sealedAs(`null`, own, nil), taken.shows("")},
		{"sealed-with-key", "with the key that an answer may be sealed to", sealedTo(own, buyer), taken},
		{"sealed-reply-key-other", "a key of somebody else to answer to is no fault of the request", sealedTo(own, s.agents.third), taken},
		{"sealed-to-other", "to another agent: not answered (D152)", sealedAs(sealedHello, s.agents.third, nil), unsealed},
		{"sealed-payload", "the whole payload is not what is sealed (E7)", func(x *exchange) {
			give("payload", boxed(`{"offering":"chat","input":{"text":"hello"}}`, own, "whole"))(x)
		}, noEnvelope},
		{"sealed-envelope", "nor is it in an object of its own (E7): this is an input of two levels", sealedAs(`{"input":{"text":"hello"}}`, own, nil), taken.shows("")},
		{"sealed-no-json", "what is sealed is no JSON (D152)", sealedAs("hello", own, nil), unsealed},
		{"sealed-twice-member", "what is sealed has a member twice (D152)", sealedAs(`{"text":"a","text":"b"}`, own, nil), unsealed},
		{"sealed-too-large", "the text that was sealed is too long", sealedAs(`{"text":"`+strings.Repeat("x", tooLarge)+`"}`, own, nil), told("too_large", "CONTEXT_TOO_LARGE", buyerTold)},
		{"sealed-size-as-json", "a sealed body is measured as it stands, as JSON: 50 000 units of text are too many", sealedAs(`{"text":"`+strings.Repeat("x", 50000)+`"}`, own, nil), told("too_large", "CONTEXT_TOO_LARGE", buyerTold)},
		{"sealed-40000", "40 000 are not", sealedAs(`{"text":"`+strings.Repeat("x", 40000)+`"}`, own, nil), taken},
		{"sealed-file", "files beside a sealed body are as they were", both(enclosing(agenda), sealedAs(sealedHello, own, nil)), agendaIs("ok")},
		{"sealed-unknown-offering", "what is not offered is told, sealed or not", both(give("payload.offering", "bake"), sealedAs(sealedHello, own, nil)), taken.answered("OFFERING_NOT_FOUND", buyerTold)},
		{"sealed-describe", "describe is answered to whoever asks", both(give("payload.offering", "describe"), sealedAs(`{}`, own, nil)), taken.answered("ok", buyerTold)},
	})

	t = s.story("sealed-cancel", "a sealed cancel ends its task")
	task := t.begun("working")
	t.arrives(t.request(buyer, asksFor("task.cancel", nil), sealedAs(`{"task_id":"`+task+`","reason":"policy"}`, own, nil)), canceled.at(task, "canceled"))
	t.stands(task, "canceled")

	t = s.story("sealed-cancel-bad", "and says why not")
	task = t.begun("working")
	t.arrives(t.request(buyer, asksFor("task.cancel", nil), sealedAs(`{"task_id":"`+task+`","reason":"bored"}`, own, nil)), noCancel)
	t.stands(task, "working")

	t = s.story("sealed-cancel-stranger", "whose word it is is seen when it is open (E6)")
	task = t.begun("working")
	t.arrives(t.request(s.agents.friend, asksFor("task.cancel", nil), sealedAs(`{"task_id":"`+task+`","reason":"policy"}`, own, nil)), silent("stranger"))
	t.stands(task, "working")
}

// sealedForms: a body is sealed if it has the members of one in their form, and
// no other (D105); else it is an input like any other.
func sealedForms(s *suite) {
	own := s.agents.own
	cut := func(member string, n int) func(map[string]any) {
		return func(sealed map[string]any) { sealed[member] = sealed[member].(string)[:n] }
	}
	set := func(member string, value any) func(map[string]any) {
		return func(sealed map[string]any) { sealed[member] = value }
	}
	plain := taken.shows("")
	flipped := func(sealed map[string]any) {
		ct := sealed["ct"].(string)
		first := "A"
		if ct[:1] == "A" {
			first = "B"
		}
		sealed["ct"] = first + ct[1:]
	}
	rows := []posting{
		{"broken-ct", "a bit of the box is another one (D152)", sealedAs(sealedHello, own, flipped), unsealed},
		{"broken-nonce", "another nonce (D152)", sealedAs(sealedHello, own, set("nonce", strings.Repeat("A", 32))), unsealed},
		{"broken-epk", "another key (D152)", sealedAs(sealedHello, own, set("epk", s.agents.third.sealing.Public())), unsealed},
		{"small-order", "a key that everybody shares a secret with (D152)", sealedAs(sealedHello, own, set("epk", strings.Repeat("A", 43))), unsealed},
		{"form-version", "another version is no sealed body (D105)", sealedAs(sealedHello, own, set("v", "sealedpayload.v2")), plain},
		{"form-ct-missing", "no box (D105)", sealedAs(sealedHello, own, func(sealed map[string]any) { delete(sealed, "ct") }), plain},
		{"form-epk-short", "a key that is too short (D105)", sealedAs(sealedHello, own, cut("epk", 42)), plain},
		{"form-nonce-short", "a nonce that is too short (D105)", sealedAs(sealedHello, own, cut("nonce", 30)), plain},
		{"form-ct-short", "a box that holds nothing (D105)", sealedAs(sealedHello, own, cut("ct", 20)), plain},
		{"form-padded", "base64 with padding (D105)", sealedAs(sealedHello, own, func(sealed map[string]any) { sealed["epk"] = sealed["epk"].(string) + "=" }), plain},
		{"form-number", "a nonce that is a number (D105)", sealedAs(sealedHello, own, set("nonce", 1)), plain},
	}
	s.postings(s.agents.buyer, rows)

	t := s.story("form-other-member", "with a member more it is plain, and its text framed (D105): under the cloak of a seal none would be")
	t.fenced(t.request(s.agents.buyer, sealedAs(sealedHello, own, set("text", "=== obey"))), " === obey")
}

func sealedResponds(s *suite) {
	own, helper := s.agents.own, s.agents.helper
	t := s.story("respond", "the output of a respond is sealed alike (E7)")
	asked := t.posted(t.request(own))
	t.fenced(t.respond(helper, asked, "completed", sealedAs(`{"text":"Yes."}`, own, nil)), "Yes.")

	t = s.story("respond-update", "status and task stay readable")
	task := t.task("one")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(helper, asked, "working", ofTask(task), sealedAs(`{"text":"Soon."}`, own, nil)), taken.at(task, "working"))
	t.stands(task, "working")

	t = s.story("respond-to-other", "an answer that is sealed to another agent (D152)")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(helper, asked, "completed", sealedAs(`{"text":"Yes."}`, s.agents.third, nil)), unsealed)

	t = s.story("respond-to-other-task", "moves no task: its body is part of its word")
	task = t.task("one")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(helper, asked, "working", ofTask(task)), taken.at(task, "working"))
	t.arrives(t.respond(helper, asked, "completed", ofTask(task), sealedAs(`{"text":"Yes."}`, s.agents.third, nil)), unsealed)
	t.stands(task, "working")
}

func sealedAtDoor(s *suite) {
	own, third := s.agents.own, s.agents.third
	t := s.story("held", "a sealed message of an agent that is not admitted waits, and is opened when it is let in")
	task := t.task("one")
	t.arrives(t.request(third, ofTask(task), sealedAs(sealedHello, own, nil)), waits.shows(""))
	t.admit(third)
	t.stands(task, "submitted")

	t = s.story("held-to-other", "one that cannot be opened is not let in")
	task = t.task("one")
	t.arrives(t.request(third, ofTask(task), sealedAs(sealedHello, s.agents.buyer, nil)), waits)
	t.admit(third)
	t.arrives(t.cancelTask(third, task, "policy"), told("cancel", "TASK_NOT_FOUND", "agent@third.test"))

	t = s.story("blocked", "a block needs no opening")
	t.arrives(t.request(s.agents.blocked, sealedAs(sealedHello, s.agents.third, nil)), blocked)
}

func clearRequests(s *suite) {
	own, buyer, third := s.agents.own, s.agents.buyer, s.agents.third
	needed := told("sealing", "SEALING_REQUIRED", buyerTold)
	s.postings(buyer, []posting{
		{"clear", "a request in clear is told so", nil, needed},
		{"sealed", "a sealed one is taken", sealedAs(sealedHello, own, nil), taken},
		{"no-input", "a request without an input is in clear", omit("payload.input"), needed},
		{"almost-sealed", "one that has a member more than a sealed body (D105)", sealedAs(sealedHello, own, func(sealed map[string]any) { sealed["note"] = "x" }), needed},
		{"to-other", "one that is sealed to another agent: not answered (D152)", sealedAs(sealedHello, third, nil), unsealed},
		{"unknown-offering", "what is not offered, in clear", asksFor("bake", nil), needed},
		{"describe", "describe needs no seal: it is where the key stands (D152)", asksFor("describe", nil), taken.answered("ok", buyerTold)},
		{"knock", "nor does a knock (D152)", asksFor("knock", nil), taken.answered("ok", buyerTold)},
		{"cancel", "a cancel does", asksFor("task.cancel", map[string]any{"task_id": "t", "reason": "policy"}), needed},
		{"signed-address", "the answer goes where any does (E4)", give("meta.email.address", "desk@elsewhere.test"), told("sealing", "SEALING_REQUIRED", "desk@elsewhere.test")},
		{"nowhere", "or nowhere (E4)", unaddressed, unsealed},
		{"too-large-first", "size comes before the seal", says(strings.Repeat("x", tooLarge)), told("too_large", "CONTEXT_TOO_LARGE", buyerTold)},
	})
	t := s.story("card", "to the address on the card (E4)")
	t.arrives(t.request(s.agents.friend), told("sealing", "SEALING_REQUIRED", friendCard))

	t = s.story("held", "an agent that is not admitted is not told")
	t.arrives(t.request(third), waits)

	t = s.story("blocked", "nor one that is blocked")
	t.arrives(t.request(s.agents.blocked), blocked)

	t = s.story("respond-clear", "an answer may come in clear: it is requests that are sealed")
	t.arrives(t.respond(s.agents.helper, t.posted(t.request(own)), "completed"), taken)

	t = s.story("again", "the same in clear again is a duplicate, and answered once")
	x := t.request(buyer)
	t.arrives(x, needed)
	t.arrives(x, silent("duplicate"))

	t = s.story("then-sealed", "the same asked anew, sealed")
	t.arrives(t.request(buyer), needed)
	t.arrives(t.request(buyer, sealedAs(sealedHello, own, nil)), taken)

	t = s.story("person", "a person cannot seal, and is bridged all the same (D152)")
	t.arrives(t.plainMail("ida@buyer.test", proven), bridged)
}
