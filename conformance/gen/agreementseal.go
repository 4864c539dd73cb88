package main

import (
	"strings"

	"github.com/agentmaild/agentmaild/party"
	"github.com/go-json-experiment/json"
)

// kindRows: the kind is what was found, no more and no less (D31, D51, D85).
func kindRows(s *recordSuite) {
	ours := claims("our_signature")
	s.rows("kind-", quoted, []row{
		{"our-unsigned-offer", "the offer is not signed; the accepter seals", together(ours, onOffer(unsigned)), oneSigned},
		{"our-unsigned-acceptance", "the acceptance is not signed; the offerer seals", together(ours, onAcceptance(unsigned), sealedBy(bySeller)), oneSigned},
		{"our-understated", "both signatures verify", ours, fails("kind")},
		{"our-none", "neither message is signed", together(ours, onOffer(unsigned), onAcceptance(unsigned), ofParty(1, "party", partyID("buyer"))), fails("kind")},
		{"two-unsigned-offer", "two signatures, and the offer has none", onOffer(unsigned), fails("kind")},
		{"two-unsigned-acceptance", "two signatures, and the acceptance has none", together(onAcceptance(unsigned), sealedBy(bySeller)), fails("kind")},
		{"two-untrusted", "two signatures, and the page of one is elsewhere (D51)", onOffer(elsewhere(swap("api.stackshift.cloud", "keys.evil.test"))), fails("trust")},
	})
	s.rows("kind-", repliedTo, []row{
		{"reply-unsigned-offer", "a reply to an offer that is not signed", together(onOffer(unsigned), ofParty(0, "party", partyID("seller"))), fails("kind")},
	})
	other := func(c ...change) difference { return together(ours, onOffer(c...)) }
	s.rows("our-other-", quoted, []row{
		{"jku-elsewhere", "the other side's page is on no trusted host (D51)", other(elsewhere(swap("api.stackshift.cloud", "keys.evil.test"))), oneSigned},
		{"page-404", "the other side has no page (D51)", other(answering(keyPage{Status: 404})), oneSigned},
		{"page-500", "the other side's page does not answer now: the check is not made (D51)", other(answering(keyPage{Status: 500})), notMade},
		{"lists-nobody", "the other side's page does not list it (D51)", other(atPage(func(p page) { p["addresses"] = []any{} })), oneSigned},
		{"kid-not-on-page", "the other side's key is not on its page (D85)", other(atPage(func(p page) { p["keys"] = []any{} })), oneSigned},
		{"kid-created-later", "the other side's key was created later (D84, D85)", other(atPage(onKey("created_at", start+day))), oneSigned},
		{"revoked", "the other side's key was revoked by then: that is wrong, not unchecked", other(atPage(onKey("revoked_at", start))), fails("revoked")},
		{"retired", "or retired", other(atPage(onKey("retired_at", start))), fails("retired")},
		{"signature", "the other side's signature is wrong", other(signature(func(b []byte) []byte { b[5] ^= 1; return b })), fails("signature")},
		{"typ", "the other side's token has another typ", other(header(swap("agent-intent+jws", "JWT"))), fails("signature")},
		{"without-names", "the record need not name party and kid of a side that could not be checked (D50)", together(
			other(answering(keyPage{Status: 404})), edits(func(r map[string]any) {
				p := r["parties"].([]any)[0].(map[string]any)
				delete(p, "party")
				delete(p, "kid")
			})), oneSigned},
		{"sealed-by-it", "the side that could not be checked sealed (D51)", together(
			other(atPage(func(p page) { p["keys"] = []any{} })), func(d *deal) {
				d.seal = func(payload []byte) string {
					return sealToken(d.seller().key, d.offer.jku, payload, func(*token) {})
				}
			}), fails("kid")},
	})
	own := func(c ...change) difference { return together(ours, onOffer(unsigned), onAcceptance(c...)) }
	s.rows("our-own-", quoted, []row{
		{"jku-elsewhere", "the page of the side that sealed is on no trusted host", own(elsewhere(swap("api.stackshift.cloud", "keys.evil.test"))), fails("trust")},
		{"signature", "the signature of the side that sealed is wrong", own(signature(func(b []byte) []byte { b[5] ^= 1; return b })), fails("signature")},
	})
}

// sealRows are the seal (D32, D48, D50, D51).
func sealRows(s *recordSuite) {
	seal := fails("seal")
	const alg = `"alg":"EdDSA"`
	s.rows("seal-", quoted, []row{
		{"by-hand", "the baseline of the cases beside it", sealWith(func(*token) {}), twoSigned},
		{"by-offerer", "the offerer may seal as well", sealedBy(bySeller), twoSigned},
		{"detached", "a detached payload (D32)", sealWith(func(t *token) { t.whole = detached }), twoSigned},
		{"changed-id", "the record was changed after it was sealed", altered("id", uuid("changed after sealing")), seal},
		{"changed-name", "in what is compared with nothing else (D52)", altered("parties.org_name", "Another Ltd"), seal},
		{"changed-unknown", "in a member that nobody knows (D47)", altered("note", "paid"), seal},
		{"changed-detached", "with a detached payload", together(sealWith(func(t *token) { t.whole = detached }), altered("id", uuid("changed after sealing"))), seal},
		{"payload-space", "a payload that is not the canonical form", sealWith(func(t *token) { t.payload = append(t.payload, ' ') }), seal},
		{"payload-other", "the seal of another record", sealWith(func(t *token) { t.payload = []byte("{}") }), seal},
		{"by-third", "a third party seals", sealedBy(byThird), seal},
		{"typ-of-message", "the typ of a message (D32)", sealWith(func(t *token) { t.header = swap("agent-agreement+jws", "agent-intent+jws")(t.header) }), seal},
		{"alg-none", "alg none (D32)", sealWith(func(t *token) { t.header = swap(alg, `"alg":"none"`)(t.header) }), seal},
		{"crit", "a member beside the four (D32)", sealWith(func(t *token) { t.header = swap(alg, alg+`,"crit":[]`)(t.header) }), seal},
		{"padded", "base64 with padding (D32)", sealWith(func(t *token) { t.whole = behind("==") }), seal},
		{"two-parts", "a token of two parts", sealWith(func(t *token) { t.whole = func(w string) string { return w[:strings.LastIndexByte(w, '.')] } }), seal},
		{"four-parts", "a token of four parts", sealWith(func(t *token) { t.whole = behind(".AAAA") }), seal},
		{"text", "no token at all", func(d *deal) { d.seal = func([]byte) string { return "sealed" } }, seal},
		{"bit", "one bit of the signature is changed", sealWith(func(t *token) {
			t.whole = func(w string) string { return w[:len(w)-86] + flipped(w[len(w)-86:]) }
		}), seal},
		{"jku-elsewhere", "the page of the seal is on no trusted host", func(d *deal) {
			sealBy(d.buyer().key, swap("api.stackshift.cloud", "keys.evil.test")(d.buyer().page()))(d)
		}, seal},
		{"kid-of-other", "a key that is not on the page", func(d *deal) { sealBy(seeded("another"), d.buyer().page())(d) }, seal},
	})
	s.rows("seal-", repliedTo, []row{{"by-replier", "the side that did not sign seals (D51)", sealedBy(byBuyer), seal}})
	s.rows("seal-", quoted, []row{{"by-unsigned", "in an our_signature the side that did not sign seals (D51)", together(
		claims("our_signature"), onOffer(unsigned), ofParty(0, "party", partyID("seller")), sealedBy(bySeller)), seal}})
	sealKeyRows(s)
}

func flipped(signature string) string {
	if signature[0] == 'A' {
		return "B" + signature[1:]
	}
	return "A" + signature[1:]
}

// sealKeyRows: the seal is made with a second key of the accepter, on the page
// that has both, at agreed_at (D48).
func sealKeyRows(s *recordSuite) {
	const at = start + 3*minute
	seal := fails("seal")
	second := func(edit func(page)) difference {
		return func(d *deal) {
			d.onReply = atPage(func(p page) {
				p["keys"] = []any{publicKey(seeded("sealing key")), publicKey(seeded("key of buyer"))}
				if edit != nil {
					edit(p)
				}
			})
			d.seal = func(payload []byte) string {
				return sealToken(seeded("sealing key"), d.accept.jku, payload, func(*token) {})
			}
		}
	}
	key := func(members ...any) difference { return second(onKey(members...)) }
	s.rows("seal-key-", quoted, []row{
		{"second", "another key of the same party, the baseline of the cases beside it", second(nil), twoSigned},
		{"not-on-page", "a key that is not on the page", second(func(p page) { p["keys"] = p["keys"].([]any)[1:] }), seal},
		{"created-at", "created in the second of agreed_at (D48)", key("created_at", at), twoSigned},
		{"created-after", "created a second later (D48, D84)", key("created_at", at+1), seal},
		{"revoked-at", "revoked in the second of agreed_at (D48)", key("revoked_at", at), seal},
		{"revoked-after", "revoked a second later: a warning (D42, D48)", key("revoked_at", at+1), revoked},
		{"retired-at", "retired in the second of agreed_at (D48)", key("retired_at", at), seal},
		{"retired-after", "retired a second later: no warning (D42, D48)", key("retired_at", at+1), twoSigned},
	})
	// The accepter's page at another host that is trusted too.
	at2 := func(label string, k keyPage, edit func(page)) difference {
		return func(d *deal) {
			d.onReply = func(l *letter) {
				id := partyID("x" + label)
				p := page{
					"profile": "agent-agreement-keys/1", "party": id, "org_name": l.by.org,
					"addresses": []any{l.by.address}, "domains": []any{}, "keys": []any{publicKey(l.key)},
				}
				l.From.Party, l.jku = id, party.PageURL(pageHost, id)
				l.story.suite.page(l.jku, id, must(json.Marshal(p, json.Deterministic(true))))
				url := party.PageURL(otherHost, id)
				if edit != nil {
					edit(p)
				}
				l.story.suite.page(url, id+"-elsewhere", must(json.Marshal(p, json.Deterministic(true))))
				if k.Status != 0 {
					delete(l.story.suite.files, l.story.suite.KeyPages[url].File)
					l.story.suite.KeyPages[url] = k
				}
			}
			d.seal = func(payload []byte) string {
				return sealToken(d.buyer().key, party.PageURL(otherHost, d.accept.From.Party), payload, func(*token) {})
			}
		}
	}
	s.rows("seal-page-", quoted, []row{
		{"other-host", "the party's page on another host that is trusted", at2("host", keyPage{}, nil), twoSigned},
		{"404", "where it is not (D49, D50)", at2("gone", keyPage{Status: 404}, nil), seal},
		{"503", "where it does not answer: the check is not made (D49)", at2("down", keyPage{Status: 503}, nil), notMade},
		{"lists-other", "where it does not list the accepter (D50)", at2("other", keyPage{}, func(p page) { p["addresses"] = []any{"other@third.test"} }), seal},
	})
}
