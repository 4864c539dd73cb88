package main

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// envelopeSuites: what is a well-formed envelope, and which signature counts.
func envelopeSuites() []*suite {
	s := newEmailing("envelope", "The envelope: its members, its text and its signature. What is not well formed, or not signed, is never answered.")
	envelopeMembers(s)
	envelopePayload(s)
	envelopeText(s)
	envelopeSignature(s)
	return []*suite{s}
}

var noEnvelope = silent("json")

func envelopeMembers(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"v-0.2", "v is 0.x", give("v", "0.2"), taken},
		{"v-0.99.7", "v is 0.x.y", give("v", "0.99.7"), taken},
		{"v-1.0", "another major version", give("v", "1.0"), noEnvelope},
		{"v-0", "v without its second number", give("v", "0"), noEnvelope},
		{"v-0.2.0.0", "v with four numbers", give("v", "0.2.0.0"), noEnvelope},
		{"v-number", "v is a number", give("v", 0.2), noEnvelope},
		{"v-missing", "no v", omit("v"), noEnvelope},
		{"id-upper-case", "a UUID in upper case", give("id", strings.ToUpper(uuid("envelope upper"))), taken},
		{"id-missing", "no id", omit("id"), noEnvelope},
		{"id-null", "an id that is null is absent (E5)", give("id", nil), noEnvelope},
		{"id-no-uuid", "an id that is no UUID", give("id", "request-1"), noEnvelope},
		{"id-braces", "a UUID in braces", give("id", "{"+uuid("envelope braces")+"}"), noEnvelope},
		{"id-no-hyphens", "a UUID without hyphens", give("id", strings.ReplaceAll(uuid("envelope hyphens"), "-", "")), noEnvelope},
		{"type-missing", "no type", omit("type"), noEnvelope},
		{"type-event", "a type that does not travel by email", give("type", "event"), silent("type")},
		{"type-upper-case", "types are compared as they stand", give("type", "Request"), silent("type")},
		{"ts-offset", "ts with an offset", give("ts", "2026-11-02T11:01:00+01:00"), taken},
		{"ts-lower-case", "ts with t and z in lower case", give("ts", "2026-11-02t10:01:00z"), taken},
		{"ts-fraction", "the fraction of ts is cut to milliseconds", give("ts", "2026-11-02T10:01:00.123456789Z"), taken},
		{"ts-no-zone", "ts without a zone", give("ts", "2026-11-02T10:01:00"), noEnvelope},
		{"ts-space", "ts with a space instead of T", give("ts", "2026-11-02 10:01:00Z"), noEnvelope},
		{"ts-comma", "a fraction behind a comma", give("ts", "2026-11-02T10:01:00,5Z"), noEnvelope},
		{"ts-no-day", "ts of a day that there is not", give("ts", "2026-02-30T10:01:00Z"), noEnvelope},
		{"ts-number", "ts in seconds", give("ts", start), noEnvelope},
		{"ts-empty", "an empty ts", give("ts", ""), noEnvelope},
		{"from-missing", "no from", omit("from"), noEnvelope},
		{"from-lower-case", "ids are compared byte for byte (D100)", give("from", strings.ToLower(s.agents.buyer.id)), noEnvelope},
		{"from-account", "the key of an account is no agent", give("from", "A"+s.agents.buyer.id[1:]), noEnvelope},
		{"from-checksum", "an id whose checksum is wrong", give("from", s.agents.buyer.id[:54]+"AA"), noEnvelope},
		{"from-line-end", "an id with a line end, which libraries skip (D100)", give("from", s.agents.buyer.id[:30]+"\n"+s.agents.buyer.id[30:]), noEnvelope},
		{"from-address", "an address is no agent id", give("from", "agent@buyer.test"), noEnvelope},
		{"to-absent", "for whoever gets it", omit("to"), taken},
		{"to-null", "a null that was signed reads as absent (E5)", give("to", nil), taken},
		{"to-number", "to is no string", give("to", 1), noEnvelope},
		{"trace-missing", "no trace", omit("trace"), noEnvelope},
		{"trace-id-short", "trace_id of 31 digits", give("trace.trace_id", strings.Repeat("a", 31)), noEnvelope},
		{"trace-id-no-hex", "trace_id that is no hex", give("trace.trace_id", strings.Repeat("g", 32)), noEnvelope},
		{"span-id-long", "span_id of 17 digits", give("trace.span_id", strings.Repeat("a", 17)), noEnvelope},
		{"span-id-missing", "no span_id", omit("trace.span_id"), noEnvelope},
		{"parent-null", "parent_span_id may be null", give("trace.parent_span_id", nil), taken},
		{"parent", "parent_span_id of 16 digits", give("trace.parent_span_id", "00f067aa0ba902b7"), taken},
		{"parent-short", "parent_span_id of 15 digits", give("trace.parent_span_id", "0f067aa0ba902b7"), noEnvelope},
		{"sig-missing", "no sig", onItsWay(func(text string) string {
			return text[:strings.Index(text, `,"sig"`)] + text[strings.Index(text, `,"to"`):]
		}), noEnvelope},
		{"task-empty", "an empty task_id is not an absent one (D108)", ofTask(""), noEnvelope},
		{"task-256", "a task_id of 256 bytes (D101)", ofTask(strings.Repeat("t", 256)), taken},
		{"task-257", "a task_id of 257 bytes (D101)", ofTask(strings.Repeat("t", 257)), noEnvelope},
		{"task-control", "a task_id with a control character (D101)", ofTask("a\nb"), noEnvelope},
		{"context", "context_id is kept", give("context_id", "c1"), taken},
		{"context-number", "context_id is no string", give("context_id", 1), noEnvelope},
		{"nulls", "optional members that are null are absent (E5)", both(
			give("task_id", nil), give("in_reply_to", nil), give("context_id", nil), give("budget", nil), give("error", nil), give("artifacts", nil), give("payload.files", nil), give("payload.config", nil),
		), taken},
		{"meta-null", "meta may be null (E5); From is not proven, so there is nobody to answer", give("meta", nil), taken},
		{"meta-hops-text", "meta.hops is no number", give("meta.hops", "1"), noEnvelope},
		{"meta-address-number", "meta.email.address is no string", give("meta.email.address", 1), noEnvelope},
		{"unknown-members", "members that are not known count for the signature and are ignored", both(give("shape", map[string]any{"a": []any{1, nil}}), give("payload.tone", "kind"), give("meta.other", true)), taken},
		{"unknown-tampered", "a member that is not known was changed on the way", both(give("shape", "round"), onItsWay(swap("round", "square"))), silent("signature")},
		{"null-dropped", "a null that was signed is not there any more (E5)", both(give("shape", nil), onItsWay(swap(`"shape":null,`, ""))), silent("signature")},
	})
}

func envelopePayload(s *suite) {
	chat := map[string]any{"text": "Do you have the blue mugs?"}
	s.postings(s.agents.buyer, []posting{
		{"skill", "the earlier name of offering", give("payload", map[string]any{"skill": "chat", "input": chat}), taken.asks(s.agents.buyer, "chat")},
		{"skill-same", "both names, and the same", give("payload.skill", "chat"), taken.asks(s.agents.buyer, "chat")},
		{"skill-differs", "two readers would do two things", give("payload.skill", "describe"), noEnvelope},
		{"skill-null", "an earlier name that is null is absent (E5)", give("payload.skill", nil), taken.asks(s.agents.buyer, "chat")},
		{"offering-null", "offering is null, so skill counts (E5)", both(give("payload.offering", nil), give("payload.skill", "chat")), taken.asks(s.agents.buyer, "chat")},
		{"offering-missing", "a request for nothing", omit("payload.offering"), noEnvelope},
		{"offering-empty", "an offering without a name (D101)", give("payload.offering", ""), noEnvelope},
		{"offering-number", "an offering that is no string", give("payload.offering", 7), noEnvelope},
		{"offering-256", "an offering of 256 bytes, which is not offered (D101)", give("payload.offering", strings.Repeat("o", 256)), taken.answered("OFFERING_NOT_FOUND", "agent@buyer.test")},
		{"offering-257", "an offering of 257 bytes (D101)", give("payload.offering", strings.Repeat("o", 257)), noEnvelope},
		{"offering-control", "an offering with a line end (D101)", give("payload.offering", "chat\n"), noEnvelope},
		{"payload-missing", "a request without a payload", omit("payload"), noEnvelope},
		{"payload-null", "a payload that is null is absent (E5)", give("payload", nil), noEnvelope},
		{"payload-text", "a payload that is a text", give("payload", "chat"), noEnvelope},
		{"input-absent", "a request without an input", omit("payload.input"), taken.shows("")},
		{"input-null", "an input that is null", give("payload.input", nil), taken.shows("")},
		{"files-object", "files that are no list", give("payload.files", map[string]any{}), noEnvelope},
		{"files-100", "a hundred files (D101)", give("payload.files", slices.Repeat([]any{map[string]any{"name": "a", "uri": "https://buyer.test/a"}}, 100)), taken.with(map[string]string{"a": "uri"})},
		{"files-101", "a hundred and one files (D101)", give("payload.files", slices.Repeat([]any{map[string]any{"name": "a", "uri": "https://buyer.test/a"}}, 101)), noEnvelope},
		{"file-size-text", "the size of a file is a text", both(enclosing(agenda), give("payload.files.size", "27")), noEnvelope},
	})
	for _, c := range []struct {
		name, why string
		change    edit
		want      outcome
	}{
		{"respond-no-reply-to", "a respond to nothing", omit("in_reply_to"), noEnvelope},
		{"respond-reply-to-null", "a respond to null (E5)", give("in_reply_to", nil), noEnvelope},
		{"respond-no-status", "a respond without a status", omit("payload.status"), noEnvelope},
		{"respond-cancelled", "another spelling of a state", give("payload.status", "cancelled"), noEnvelope},
		{"respond-error-null", "an error that is null (E5)", give("error", nil), taken},
		{"respond-error", "an error with a code of another agent", both(give("payload.status", "failed"), give("error", map[string]any{"code": "OUT_OF_CLAY", "message": "None left.", "retryable": true, "retry_after_ms": 1000})), taken},
		{"respond-error-no-code", "an error without a code", both(give("payload.status", "failed"), give("error", map[string]any{"message": "None left."})), noEnvelope},
		{"respond-artifacts-object", "artifacts that are no list", give("artifacts", map[string]any{}), noEnvelope},
		{"respond-artifacts-101", "a hundred and one artifacts (D101)", give("artifacts", slices.Repeat([]any{map[string]any{"id": "a"}}, 101)), noEnvelope},
	} {
		t := s.story(c.name, c.why)
		asked := t.posted(t.request(s.agents.own))
		t.arrives(t.respond(s.agents.helper, asked, "completed", c.change), c.want)
	}
}

// levels is a value of n levels.
func levels(n int) any {
	var value any = 1
	for range n {
		value = []any{value}
	}
	return value
}

func envelopeText(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"text-indented", "white space round the values is nothing", onItsWay(indented), taken},
		{"text-numbers", "numbers are what they are worth: 1.0 is 1, 1e2 is 100", both(give("payload.input.n", 1), give("payload.input.m", 100), onItsWay(func(text string) string { return swap(`"m":100`, `"m":1e2`)(swap(`"n":1,`, `"n":1.0,`)(text)) })), taken},
		{"text-escapes", "characters may be written as escapes", onItsWay(swap("mugs?", `\u006dugs\u003F`)), taken},
		{"text-unicode", "texts beyond ASCII are signed as UTF-8", says("Haben Sie \u00f6 \u65e5\u672c \U0001F600?"), taken},
		{"text-twice", "a member twice: two readers would see two messages", onItsWay(swap(`"type":"request"`, `"type":"respond","type":"request"`)), noEnvelope},
		{"text-twice-inside", "a member of the input twice", onItsWay(swap(`"text":"Do`, `"text":"No","text":"Do`)), noEnvelope},
		{"text-behind", "text behind the envelope", onItsWay(behind("{}")), noEnvelope},
		{"text-before", "a byte order mark before the envelope", onItsWay(before("\ufeff")), noEnvelope},
		{"text-line-end", "a line end behind the envelope is nothing", onItsWay(behind("\r\n")), taken},
		{"text-empty", "an empty part", onItsWay(only("")), noEnvelope},
		{"text-list", "an envelope in a list", onItsWay(func(text string) string { return "[" + text + "]" }), noEnvelope},
		{"text-cut", "the end is not there", onItsWay(func(text string) string { return text[:len(text)-1] }), noEnvelope},
		{"text-comment", "a comment", onItsWay(before("// signed\n")), noEnvelope},
		{"text-no-utf8", "bytes that are no UTF-8", onItsWay(swap("blue", "bl\xfce")), noEnvelope},
		{"text-surrogate", "half a character", onItsWay(swap("blue", `\ud83d`)), noEnvelope},
		{"text-infinite", "a number that is no finite double", onItsWay(swap(`"text"`, `"n":1e999,"text"`)), noEnvelope},
		{"nested-32", "32 levels", give("payload.input", map[string]any{"deep": levels(29)}), taken},
		{"nested-33", "33 levels", give("payload.input", map[string]any{"deep": levels(30)}), noEnvelope},
	})
}

// otherAlphabet writes a signature in the standard alphabet of base64.
func otherAlphabet(sig string) string { return strings.NewReplacer("-", "+", "_", "/").Replace(sig) }

// withBothAlphabets finds a message whose signature has a character that the two
// alphabets write differently.
func withBothAlphabets(x *exchange) {
	for n := 0; ; n++ {
		give("payload.input.n", n)(x)
		if sig := signed(x.by.key, envelopeTag, x.canonical()); otherAlphabet(sig) != sig {
			return
		}
	}
}

func resigned(change func(sig string) string) edit {
	return func(x *exchange) {
		x.sig = func(canonical []byte) string { return change(signed(x.by.key, envelopeTag, canonical)) }
	}
}

// aboveOrder is the same signature with the group order added to S.
func aboveOrder(sig string) string {
	raw := must(base64.RawURLEncoding.DecodeString(sig))
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := raw[32:]
	slices.Reverse(s)
	new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(s)
	slices.Reverse(s)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func envelopeSignature(s *suite) {
	wrong := silent("signature")
	s.postings(s.agents.buyer, []posting{
		{"sig-other-key", "signed by another agent", func(x *exchange) { x.sig = signedBy(s.agents.third, envelopeTag) }, wrong},
		{"sig-untagged", "signed without the domain tag: what an agent signed elsewhere is no message", func(x *exchange) { x.sig = signedBy(x.by, "") }, wrong},
		{"sig-tag-no-line-end", "the tag without its line end", func(x *exchange) { x.sig = signedBy(x.by, "agentmesh-envelope-v1") }, wrong},
		{"sig-roster-tag", "signed as a roster", func(x *exchange) { x.sig = signedBy(x.by, "agentmesh-admission-roster-v1\n") }, wrong},
		{"sig-padded", "base64 with padding", resigned(behind("==")), wrong},
		{"sig-standard", "the other base64 alphabet", both(withBothAlphabets, resigned(otherAlphabet)), wrong},
		{"sig-unused-bits", "base64 whose unused bits are set", resigned(func(sig string) string {
			const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
			return sig[:85] + string(alphabet[strings.IndexByte(alphabet, sig[85])+1])
		}), wrong},
		{"sig-line-end", "base64 with a line end", resigned(func(sig string) string { return sig[:40] + "\n" + sig[40:] }), wrong},
		{"sig-short", "63 bytes", resigned(func(sig string) string { return sig[:84] }), wrong},
		{"sig-long", "65 bytes", resigned(func(sig string) string {
			return base64.RawURLEncoding.EncodeToString(append(must(base64.RawURLEncoding.DecodeString(sig)), 0))
		}), wrong},
		{"sig-empty", "an empty signature", resigned(only("")), wrong},
		{"sig-s-plus-l", "S is not below the group order (RFC 8032 §5.1.7): one signature would have two forms", resigned(aboveOrder), wrong},
		{"sig-null", "a signature that is null is absent (E5)", onItsWay(func(text string) string {
			_, sig, _ := strings.Cut(text, `"sig":`)
			sig, _, _ = strings.Cut(sig, ",")
			return swap(`"sig":`+sig, `"sig":null`)(text)
		}), noEnvelope},
		{"sig-as-received", "signed over the text with its nulls left out (E5)", both(give("context_id", nil), func(x *exchange) {
			x.sig = func(canonical []byte) string {
				return signed(x.by.key, envelopeTag, []byte(swap(`"context_id":null,`, "")(string(canonical))))
			}
		}), wrong},
		{"sig-not-canonical", "signed over another order of the members", func(x *exchange) {
			x.sig = func(canonical []byte) string {
				return signed(x.by.key, envelopeTag, []byte(fmt.Sprintf(`{"v":"0.2.0",%s`, swap(`,"v":"0.2.0"`, "")(string(canonical))[1:])))
			}
		}, wrong},
		{"type-before-signature", "a type that does not travel, and not signed: what is not signed says nothing", both(give("type", "event"), func(x *exchange) { x.sig = signedBy(s.agents.third, envelopeTag) }), wrong},
		{"json-before-signature", "not well formed, and not signed", both(omit("trace"), func(x *exchange) { x.sig = signedBy(s.agents.third, envelopeTag) }), noEnvelope},
	})
}
