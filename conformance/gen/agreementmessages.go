package main

import (
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/canon"
)

// messageRows are the messages in a record, their bytes and hashes, and the
// chain.
func messageRows(s *recordSuite) {
	const alg = `"alg":"EdDSA"`
	malformed := fails("signature")
	for _, m := range []struct {
		name string
		on   func(...change) difference
	}{{"offer", onOffer}, {"acceptance", onAcceptance}} {
		s.rows("token-"+m.name+"-", quoted, []row{
			{"by-hand", "the header made by hand, the baseline of the cases beside it", m.on(tokened(func(*token) {})), twoSigned},
			{"alg-none", "alg none (D12)", m.on(header(swap(alg, `"alg":"none"`))), malformed},
			{"alg-ed25519", "the name of RFC 9864 is not the profile's (D12)", m.on(header(swap(alg, `"alg":"Ed25519"`))), malformed},
			{"typ-of-seal", "the typ of a seal (D12)", m.on(header(swap("agent-intent+jws", "agent-agreement+jws"))), malformed},
			{"typ-missing", "no typ (D12)", m.on(header(swap(`,"typ":"agent-intent+jws"`, ""))), malformed},
			{"crit", "a member beside the four (D12)", m.on(header(swap(alg, alg+`,"crit":["exp"],"exp":1`))), malformed},
			{"jwk", "the key in the header (D12)", m.on(header(swap(alg, alg+`,"jwk":{}`))), malformed},
			{"padded", "base64 with padding has two forms (D12)", m.on(whole(behind("="))), malformed},
			{"four-parts", "a fourth part", m.on(whole(behind(".AAAA"))), malformed},
			{"no-payload", "a message has its payload in its token", m.on(whole(detached)), malformed},
			{"short", "a signature of 63 bytes", m.on(signature(func(b []byte) []byte { return b[:63] })), malformed},
		})
		canonical := fails("canonical")
		s.rows("canonical-"+m.name+"-", quoted, []row{
			{"space", "a space in what is signed", m.on(payload(swap(`{"@context"`, `{ "@context"`))), canonical},
			{"order", "its members in another order", m.on(payload(func(p string) string {
				return `{"profile":"agent-intents/1",` + strings.TrimPrefix(swap(`"profile":"agent-intents/1",`, "")(p), "{")
			})), canonical},
			{"member-twice", "a member twice: no text of two readings is canonical (D80)", m.on(payload(swap(`"profile":`, `"profile":"agent-intents/1","profile":`))), canonical},
			{"unknown-member", "a member that the profile does not know, signed over (D35, D80)", m.on(set("discount", "10")), canonical},
			{"unknown-inside", "and inside another (D35, D80)", m.on(set("from.role", "seller")), canonical},
			{"unknown-constructor", "a member that every object of some languages has (D35, D80)", m.on(set("constructor", "Bob")), canonical},
			{"unknown-proto", "and another one (D35, D80)", m.on(set("__proto__", "Bob")), canonical},
			{"unknown-question-mark", "a member that is like one that may be missing (D35, D80)", m.on(set("note?", "Yes")), canonical},
			{"no-json", "no JSON at all (D80)", m.on(payload(only("accept"))), canonical},
		})
		invalid := fails("schema")
		s.rows("message-"+m.name+"-", quoted, []row{
			{"exp-at-iat", "exp is after iat (D50)", m.on(func(l *letter) { set("exp", l.Iat)(l) }), invalid},
			{"no-nonce", "nonce is required (D50)", m.on(del("nonce")), invalid},
			{"other-profile", "a message of another version (D50)", m.on(set("profile", "agent-intents/2")), invalid},
			{"contact-arabic", "a contact at a domain that is written from right to left (D9)", m.on(set("acting_for.contact", "owner@مثال.test")), twoSigned},
			{"contact-two-directions", "and at one that is written in both directions (D9)", m.on(set("acting_for.contact", "owner@xمثال.test")), invalid},
			{"contact-arabic-digit", "and at one that begins with a digit (D9)", m.on(set("acting_for.contact", "owner@1مثال.test")), invalid},
			{"contact-sign", "a domain with a sign that is an ASCII one with a stroke (D9)", m.on(set("acting_for.contact", "owner@a≠b.test")), invalid},
			{"note-2000", "a note of 2 000 characters", m.on(set("note", strings.Repeat("é", 2000))), twoSigned},
			{"note-2001", "one more (D50)", m.on(set("note", strings.Repeat("é", 2001))), invalid},
		})
		s.rows("hash-"+m.name+"-", quoted, []row{
			{"other", "the hash of another message", hashed(m.name, func(string) string { return hashOf("another") }), fails("hash")},
			{"of-token", "the hash is of the message, not of its token", hashed(m.name, hashOf), fails("hash")},
		})
	}
	s.rows("", appointed, []row{
		{"baseline-times", "times of which one was accepted", nil, twoSigned},
		{"message-cancel-as-offer", "the offer is neither quote nor times (D50)", func(d *deal) {
			d.begin = func(d *deal) {
				appointed(d)
				terms := d.terms()
				d.offer = d.story.cancel(d.seller(), d.offer)
				d.edit = func(r map[string]any) { r["terms"] = terms }
			}
		}, fails("schema")},
		{"message-decline-as-acceptance", "the acceptance is a decline (D50)", func(d *deal) {
			d.begin = func(d *deal) {
				appointed(d)
				d.accept = d.story.decline(d.buyer(), d.offer)
			}
		}, fails("schema")},
	})
	s.rows("", repliedTo, []row{{"message-times-by-reply", "words choose no slot (D51)", func(d *deal) {
		d.begin = func(d *deal) {
			repliedTo(d)
			d.offer = d.story.times(d.seller())
		}
	}, fails("schema")}})
	s.rows("", quoted, []row{{"canonical-unsigned-space", "a space behind an unsigned offer (D29)", together(claims("our_signature"), onOffer(unsigned), edits(func(r map[string]any) {
		text := r["offer"].(map[string]any)["canonical"].(string) + " "
		r["offer"] = map[string]any{"canonical": text, "hash": hashOf(text)}
		r["chain"].([]any)[1] = hashOf(text)
	})), fails("canonical")}})
	chainRows(s)
}

// chainRows are the order of the thread (D33, D82).
func chainRows(s *recordSuite) {
	chain := func(edit func([]any) []any) difference {
		return edits(func(r map[string]any) { r["chain"] = edit(r["chain"].([]any)) })
	}
	other := strings.Repeat("ab", 32)
	s.rows("chain-", quoted, []row{
		{"more-before", "messages before the ask, of which the record has none", chain(func(c []any) []any { return append([]any{other}, c...) }), twoSigned},
		{"more-between", "a message between the offer and the acceptance", chain(func(c []any) []any { return slices.Insert(c, 2, any(other)) }), twoSigned},
		{"more-behind", "a message behind the acceptance (D50)", chain(func(c []any) []any { return append(c, other) }), fails("chain")},
		{"twice", "a message twice (D50)", chain(func(c []any) []any { return append([]any{c[0]}, c...) }), fails("chain")},
		{"offer-twice", "the offer twice (D50)", chain(func(c []any) []any { return slices.Insert(c, 2, c[1]) }), fails("chain")},
		{"no-offer", "without the offer", chain(func(c []any) []any { return slices.Delete(c, 1, 2) }), fails("chain")},
		{"no-acceptance", "without the acceptance", chain(func(c []any) []any { return c[:2] }), fails("chain")},
		{"reversed", "the acceptance before the offer (D50)", chain(func(c []any) []any { slices.Reverse(c); return c }), fails("chain")},
		{"ask-behind-offer", "the ask behind the offer that answers it (D82)", chain(func(c []any) []any { c[0], c[1] = c[1], c[0]; return c }), fails("chain")},
		{"no-ask", "without the ask that the offer answers (D82)", chain(func(c []any) []any { return c[1:] }), fails("chain")},
	})
	s.rows("chain-reply-", repliedTo, []row{
		{"more-before", "messages before the offer", chain(func(c []any) []any { return append([]any{other}, c...) }), replied},
		{"more-behind", "a message behind the offer (D33)", chain(func(c []any) []any { return append(c, other) }), fails("chain")},
	})
}

// hashed gives a message another hash, made of its token, and the chain the
// same.
func hashed(member string, hash func(token string) string) difference {
	return edits(func(r map[string]any) {
		e, chain := r[member].(map[string]any), r["chain"].([]any)
		h := hash(e["jws"].(string))
		chain[slices.Index(chain, e["hash"])], e["hash"] = h, h
	})
}

func hashOf(text string) string { return canon.Hash([]byte(text)) }
