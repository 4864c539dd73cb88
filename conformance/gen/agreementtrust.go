package main

import (
	"crypto/ed25519"

	"github.com/agentmaild/agentmaild/party"
)

// trustRows are key page, key and signature of a message: of the offer, which
// the accepter sealed, and of the acceptance, which the offerer sealed.
func trustRows(s *recordSuite) {
	for _, m := range []struct {
		name string
		at   int64 // when it is signed
		on   func(...change) difference
	}{
		{"offer", start + 2*minute, onOffer},
		{"acceptance", start + 3*minute, func(c ...change) difference { return together(onAcceptance(c...), sealedBy(bySeller)) }},
	} {
		s.rows(m.name+"-", quoted, jkuRows(m.on))
		s.rows(m.name+"-", quoted, pageRows(m.name, m.on))
		s.rows(m.name+"-", quoted, keyRows(m.at, m.on))
	}
	vouchRows(s)
}

// vouchRows: the page lists nobody, and the domain of the sender vouches for
// the party, or not. Each case has a domain of its own.
func vouchRows(s *recordSuite) {
	for _, v := range []struct {
		name, why string
		records   func(id string) []string
		want      finding
	}{
		{"vouch", "the sender's domain vouches for the party", func(id string) []string { return []string{id} }, twoSigned},
		{"vouch-of-several", "one of several records is the party (D44)", func(id string) []string { return []string{"v=spf1 -all", id} }, twoSigned},
		{"vouch-for-another", "the domain vouches for another party", func(string) []string { return []string{partyID("another")} }, fails("trust")},
		{"vouch-unanswered", "DNS does not answer: the check is not made (D49)", nil, notMade},
	} {
		moved := func(l *letter) {
			by := *l.by
			by.address = "agent@" + v.name + ".test"
			l.by, l.From.Address = &by, by.address
			atPage(func(p page) { p["addresses"] = []any{} })(l)
			if record := "_agent-agreements." + v.name + ".test"; v.records == nil {
				s.DNSErrors[record] = "temporary"
			} else {
				s.DNS[record] = v.records(l.From.Party)
			}
		}
		answer := func(l *letter) { l.To.Address = l.answers.From.Address }
		s.rows("offer-", quoted, []row{{v.name, v.why, together(onOffer(moved), onAcceptance(answer)), v.want}})
	}
}

// jkuRows are the address of the key page (section 6).
func jkuRows(on func(...change) difference) []row {
	trust := fails("trust")
	at := func(edit func(string) string) difference { return on(elsewhere(edit)) }
	return []row{
		{"sealed-by-other", "the other side sealed, the baseline of the cases beside it", on(func(*letter) {}), twoSigned},
		{"jku-other-host", "a host that nobody trusts", at(swap("api.stackshift.cloud", "keys.evil.test")), trust},
		{"jku-http", "no TLS", at(swap("https:", "http:")), trust},
		{"jku-port", "a port", at(swap(".cloud/", ".cloud:443/")), trust},
		{"jku-userinfo", "the trusted host as a user name", at(swap("https://api.stackshift.cloud", "https://api.stackshift.cloud@keys.evil.test")), trust},
		{"jku-capitals", "the host in capitals is another text", at(swap("api.", "API.")), trust},
		{"jku-query", "a query", at(behind("?v=2")), trust},
		{"jku-dots", "dot segments", at(swap("/.well-known/", "/a/../.well-known/")), trust},
		{"jku-empty", "an empty address", on(header(func(h string) string { return cutMember(h, "jku", `"jku":""`) })), trust},
		{"jku-of-other-party", "the page of another party, which has no such key (D50)", on(func(l *letter) { l.jku = party.PageURL(pageHost, partyID("third")) }), trust},
	}
}

// pageRows are what a page answers, and whom it lists (D44, D49).
func pageRows(of string, on func(...change) difference) []row {
	trust := fails("trust")
	lists := func(addresses, domains []any) difference {
		return on(atPage(func(p page) { p["addresses"], p["domains"] = addresses, domains }))
	}
	none := []any{}
	domain := map[string]string{"offer": "seller.test", "acceptance": "buyer.test"}[of]
	return []row{
		{"page-own", "a page of its own, the baseline of the cases beside it", on(atPage(nil)), twoSigned},
		{"page-404", "no page (D49)", on(answering(keyPage{Status: 404})), trust},
		{"page-410", "gone (D49)", on(answering(keyPage{Status: 410})), trust},
		{"page-301", "moved: redirects are not followed (D49)", on(answering(keyPage{Status: 301, Location: "https://keys.third.test/"})), trust},
		{"page-429", "too many requests: the check is not made (D49)", on(answering(keyPage{Status: 429})), notMade},
		{"page-500", "an error of the server: the check is not made (D49)", on(answering(keyPage{Status: 500})), notMade},
		{"page-503", "not available: the check is not made (D49)", on(answering(keyPage{Status: 503})), notMade},
		{"page-html", "a page of HTML (D49)", on(pageText(only("<!DOCTYPE html>"))), trust},
		{"page-65536", "64 KB", on(pageText(padTo(64 << 10))), twoSigned},
		{"page-65537", "a byte over 64 KB (D49)", on(pageText(padTo(64<<10 + 1))), trust},
		{"page-other-party", "the page of another party (D44)", on(atPage(func(p page) { p["party"] = partyID("another") })), trust},
		{"page-other-profile", "a page of another profile (D44)", on(atPage(func(p page) { p["profile"] = "agent-agreement-keys/2" })), trust},
		{"lists-nobody", "the page lists nobody, and no domain vouches", lists(none, none), trust},
		{"lists-other", "the page lists another mailbox of the domain", lists([]any{"other@" + domain}, none), trust},
		{"lists-domain", "the page lists the domain", lists(none, []any{domain}), twoSigned},
		{"lists-parent", "a listed domain is not those above it", lists(none, []any{"test"}), trust},
	}
}

// keyRows are the keys of the page, their times, and the signature.
func keyRows(at int64, on func(...change) difference) []row {
	key := func(members ...any) difference { return on(atPage(onKey(members...))) }
	twin := func(p page) {
		again := publicKey(seeded("another"))
		again["kid"] = p.key()["kid"]
		p["keys"] = append(p["keys"].([]any), again)
	}
	return []row{
		{"kid-not-on-page", "another key is on the page", on(atPage(func(p page) { p["keys"] = []any{publicKey(seeded("another"))} })), fails("kid")},
		{"kid-no-keys", "a page without keys", on(atPage(func(p page) { p["keys"] = []any{} })), fails("kid")},
		{"kid-twice", "a kid given twice counts as none (D55)", on(atPage(twin)), fails("kid")},
		{"kid-created-at-iat", "created in the second of iat", key("created_at", at), twoSigned},
		{"kid-created-after-iat", "created a second after iat (D84)", key("created_at", at+1), fails("kid")},
		{"kid-no-created-at", "created_at is required (D55)", key("created_at", nil), fails("kid")},
		{"revoked-before-iat", "revoked a second before iat (D25)", key("revoked_at", at-1), fails("revoked")},
		{"revoked-at-iat", "revoked in the second of iat (D25)", key("revoked_at", at), fails("revoked")},
		{"revoked-after-iat", "revoked a second after iat: a warning (D25, D42)", key("revoked_at", at+1), revoked},
		{"revoked-in-2100", "to be revoked in the year 2100: what is checked has no clock (D42)", key("revoked_at", 4102444800), revoked},
		{"retired-before-iat", "retired a second before iat (D25)", key("retired_at", at-1), fails("retired")},
		{"retired-at-iat", "retired in the second of iat (D25)", key("retired_at", at), fails("retired")},
		{"retired-after-iat", "retired a second after iat: no warning (D42)", key("retired_at", at+1), twoSigned},
		{"signature-bit", "one bit of the signature is changed", on(signature(func(b []byte) []byte { b[5] ^= 1; return b })), fails("signature")},
		{"signature-of-other", "signed with another key under this kid", on(tokened(func(t *token) {
			t.signature = func(_ ed25519.PrivateKey, input string) []byte {
				return ed25519.Sign(seeded("another"), []byte(input))
			}
		})), fails("signature")},
		{"signature-malleable", "S above the group order: a second signature out of the first", on(signature(plusOrder)), fails("signature")},
	}
}
