package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// keySuites are the key page, the trust rule and the times of keys (section 6,
// D24, D25, D42, D44, D55; attacks A12).
func keySuites() []*suite {
	s := newSuite("keys", "Key pages and the keys on them: who a party speaks for, which keys count, and when.")
	for _, rows := range [][]pageCase{keyTimes(), keyForms(), pageForms(), whoseAddress(), vouches(s)} {
		for _, c := range rows {
			s.onPage(c)
		}
	}
	s.answers()
	s.laterAnswers()
	return []*suite{s}
}

// page is a key page as JSON (D24), to be changed.
type page map[string]any

func (p page) key() map[string]any { return p["keys"].([]any)[0].(map[string]any) }

// pageCase is an offer signed by a party with a key page of its own.
type pageCase struct {
	name, why string
	edit      func(page)
	text      func(string) string // changes the written page
	change    change
	want      expect
}

// The moments of a letter that is delivered first in its story.
const (
	signedAt  = start + minute
	arrivedAt = signedAt + minute
)

func (s *suite) onPage(c pageCase) {
	t := s.story(c.name, c.why)
	l := t.times(t.buyer())
	l.onPage(c)
	t.deliver(l, c.want)
}

// onPage gives the sender another party, with the page of a case.
func (l *letter) onPage(c pageCase) {
	id := fmt.Sprintf("pty_%x", digest("party "+c.name))[:24]
	p := page{
		"profile": "agent-agreement-keys/1", "party": id, "org_name": l.by.org,
		"addresses": []any{l.by.address}, "domains": []any{}, "keys": []any{publicKey(l.key)},
	}
	if c.edit != nil {
		c.edit(p)
	}
	text := string(must(json.Marshal(p, json.Deterministic(true), jsontext.WithIndent(" "))))
	if c.text != nil {
		text = c.text(text)
	}
	l.jku, l.From.Party = party.PageURL(pageHost, id), id
	if c.change != nil {
		c.change(l)
	}
	l.story.suite.page(party.PageURL(pageHost, id), c.name, []byte(text))
}

func publicKey(key ed25519.PrivateKey) map[string]any {
	public := key.Public().(ed25519.PublicKey)
	return map[string]any{"kty": "OKP", "crv": "Ed25519", "x": encode(public), "kid": jws.Thumbprint(public), "created_at": created}
}

// onKey gives members of the key other values; nil takes one away.
func onKey(members ...any) func(page) {
	return func(p page) {
		for i := 0; i < len(members); i += 2 {
			if name, value := members[i].(string), members[i+1]; value == nil {
				delete(p.key(), name)
			} else {
				p.key()[name] = value
			}
		}
	}
}

// keyTimes: a key is good from created_at until it is retired or revoked; one
// that is neither at iat but is by the arrival warns (D25, D42).
func keyTimes() []pageCase {
	const revoked, retired = "key_revoked_later", "key_retired"
	return []pageCase{
		{"baseline", "the baseline of the cases beside it", nil, nil, nil, accepted},
		{"created-at-iat", "created in the second of iat", onKey("created_at", signedAt), nil, nil, accepted},
		{"created-after-iat", "created a second after iat (D42)", onKey("created_at", signedAt+1), nil, nil, unchecked},
		{"retired-before-iat", "retired a second before iat (D25)", onKey("retired_at", signedAt-1), nil, nil, badJWS},
		{"retired-at-iat", "retired in the second of iat (D25)", onKey("retired_at", signedAt), nil, nil, badJWS},
		{"retired-after-iat", "retired a second after iat: the sender may have dated it back (D42)", onKey("retired_at", signedAt+1), nil, nil, warned(retired)},
		{"retired-at-arrival", "retired in the second of the arrival (D42)", onKey("retired_at", arrivedAt), nil, nil, warned(retired)},
		{"retired-after-arrival", "to be retired after the arrival", onKey("retired_at", arrivedAt+1), nil, nil, accepted},
		{"revoked-before-iat", "revoked a second before iat (D25)", onKey("revoked_at", signedAt-1), nil, nil, badJWS},
		{"revoked-at-iat", "revoked in the second of iat (D25)", onKey("revoked_at", signedAt), nil, nil, badJWS},
		{"revoked-after-iat", "revoked a second after iat (D25, D42)", onKey("revoked_at", signedAt+1), nil, nil, warned(revoked)},
		{"revoked-at-arrival", "revoked in the second of the arrival (D42)", onKey("revoked_at", arrivedAt), nil, nil, warned(revoked)},
		{"revoked-after-arrival", "to be revoked after the arrival", onKey("revoked_at", arrivedAt+1), nil, nil, accepted},
		{"retired-and-revoked", "retired, then revoked, both after iat (D42)", onKey("retired_at", signedAt+1, "revoked_at", signedAt+2), nil, nil, warned(retired, revoked)},
		{"created-at-zero", "the epoch is no time of a key", onKey("created_at", 0), nil, nil, unchecked},
		{"created-at-text", "times are numbers", onKey("created_at", "2026-10-01T00:00:00Z"), nil, nil, unchecked},
		{"created-at-milliseconds", "and seconds: this is later than the year 9999", onKey("created_at", float64(created)*1000), nil, nil, unchecked},
		{"retired-at-zero", "a time that is no time must not read as none", onKey("retired_at", 0), nil, nil, unchecked},
		{"revoked-at-negative", "nor one before the epoch", onKey("revoked_at", -1), nil, nil, unchecked},
		{"revoked-at-text", "nor a text", onKey("revoked_at", "no"), nil, nil, unchecked},
		{"revoked-at-false", "nor false", onKey("revoked_at", false), nil, nil, unchecked},
		{"revoked-then-retired-before", "retired before iat and revoked after it: it does not sign any more (D25)", onKey("retired_at", signedAt-1, "revoked_at", signedAt+1), nil, nil, badJWS},
		{"retired-before-created", "retired before it was created: not good at iat", onKey("created_at", signedAt-1, "retired_at", signedAt-2), nil, nil, badJWS},
		{"retired-at-null", "a time that is no time must not read as none", onKey("retired_at", "soon"), nil, nil, unchecked},
		{"times-fraction", "times are whole seconds", onKey("created_at", float64(created)+0.5), nil, nil, unchecked},
		{"no-created-at", "created_at is required (D55)", onKey("created_at", nil), nil, nil, unchecked},
	}
}

// keyForms: a key that cannot be used is passed over and the others count
// (D44, D55).
func keyForms() []pageCase {
	with := func(key any, first bool) func(page) {
		return func(p page) {
			if first {
				p["keys"] = append([]any{key}, p["keys"].([]any)...)
			} else {
				p["keys"] = append(p["keys"].([]any), key)
			}
		}
	}
	twin := publicKey(seeded("key of buyer"))
	twin["retired_at"] = created + 1
	const notCanonical = "7v_______________________________________38" // 1 + p, the identity again
	const identity = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	smallOrder := func(l *letter) { l.token = smallOrderToken(l, identity) }
	return []pageCase{
		{"kty-ec", "another kind of key", onKey("kty", "EC"), nil, nil, unchecked},
		{"crv-x25519", "another curve", onKey("crv", "X25519"), nil, nil, unchecked},
		{"x-short", "31 bytes", onKey("x", strings.Repeat("A", 42)), nil, nil, unchecked},
		{"x-padded", "x with padding", func(p page) { p.key()["x"] = p.key()["x"].(string) + "=" }, nil, nil, unchecked},
		{"kid-not-thumbprint", "a kid that is not the thumbprint of its key (D24)", onKey("kid", "main"), nil, func(l *letter) {
			header(func(h string) string { return cutMember(h, "kid", `"kid":"main"`) })(l)
		}, unchecked},
		{"kid-of-another-key", "the kid of the key with the x of another (D24)", onKey("x", encode(seeded("another")[32:])), nil, nil, unchecked},
		{"kid-twice", "a kid given twice, with other times: passed over both times (D55)", with(twin, false), nil, nil, unchecked},
		{"kid-twice-first", "and in the other order (D55)", with(twin, true), nil, nil, unchecked},
		{"x-missing", "no x", onKey("x", nil), nil, nil, unchecked},
		{"x-33-bytes", "33 bytes", onKey("x", strings.Repeat("A", 44)), nil, nil, unchecked},
		{"x-standard-alphabet", "x in the standard alphabet", func(p page) {
			p.key()["x"] = strings.NewReplacer("-", "+", "_", "/").Replace(encode(seeded("key 7")[32:]))
		}, nil, func(l *letter) { l.key = seeded("key 7") }, unchecked},
		{"x-hex", "x in hexadecimal", func(p page) { p.key()["x"] = fmt.Sprintf("%x", []byte(seeded("key of buyer")[32:])) }, nil, nil, unchecked},
		{"kty-missing", "no kty", onKey("kty", nil), nil, nil, unchecked},
		{"crv-missing", "no crv", onKey("crv", nil), nil, nil, unchecked},
		{"crv-case", "curves have letter case", onKey("crv", "ed25519"), nil, nil, unchecked},
		{"kid-missing", "a key without its kid (D24)", onKey("kid", nil), nil, nil, unchecked},
		{"kid-padded", "a kid with padding (D24)", func(p page) { p.key()["kid"] = p.key()["kid"].(string) + "=" }, nil, nil, unchecked},
		{"kid-twice-unusable", "a kid given twice, once on a key of another kind: passed over both times (D55)", with(map[string]any{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": kidOf(seeded("key of buyer")), "created_at": created}, true), nil, nil, unchecked},
		{"use-null", "use that is null says nothing", func(p page) { p.key()["use"] = nil }, nil, nil, accepted},
		{"use-number", "use is a string (D55)", onKey("use", 1), nil, nil, unchecked},
		{"key-ops-both", "key_ops with verify and more (D55)", onKey("key_ops", []any{"sign", "verify"}), nil, nil, accepted},
		{"key-ops-text", "key_ops is a list (D55)", onKey("key_ops", "verify"), nil, nil, unchecked},
		{"alg-empty", "an empty alg (D55)", onKey("alg", ""), nil, nil, unchecked},
		{"private-part-empty", "a private part that is empty is one all the same (D55)", onKey("d", ""), nil, nil, unchecked},
		{"private-part-of-another", "the private part of another key on the page takes nothing from this one (D55)", with(map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "AA", "kid": "x", "d": "AA", "created_at": created}, true), nil, nil, accepted},
		{"keys-100", "a hundred keys", func(p page) {
			for i := range 99 {
				p["keys"] = append(p["keys"].([]any), publicKey(seeded(fmt.Sprint("more ", i))))
			}
		}, nil, nil, accepted},
		{"use-sig", "use sig (D55)", onKey("use", "sig"), nil, nil, accepted},
		{"use-enc", "use enc (D55)", onKey("use", "enc"), nil, nil, unchecked},
		{"key-ops-verify", "key_ops with verify (D55)", onKey("key_ops", []any{"verify"}), nil, nil, accepted},
		{"key-ops-sign", "key_ops without verify (D55)", onKey("key_ops", []any{"sign"}), nil, nil, unchecked},
		{"key-ops-empty", "key_ops with nothing (D55)", onKey("key_ops", []any{}), nil, nil, unchecked},
		{"alg-eddsa", "alg EdDSA (D55)", onKey("alg", "EdDSA"), nil, nil, accepted},
		{"alg-ed25519", "alg Ed25519 (D55)", onKey("alg", "Ed25519"), nil, nil, accepted},
		{"alg-es256", "another alg (D55)", onKey("alg", "ES256"), nil, nil, unchecked},
		{"private-part", "a key whose private part is on the page (D55)", onKey("d", encode(seeded("key of buyer").Seed())), nil, nil, unchecked},
		{"small-order", "the identity as key: anybody can sign for it (D44)", onKey("x", identity, "kid", thumbprintOf(identity)), nil, smallOrder, unchecked},
		{"not-canonical", "y + p in the place of y: a second spelling of a point (D44)", onKey("x", notCanonical, "kid", thumbprintOf(notCanonical)), nil, func(l *letter) { l.token = smallOrderToken(l, notCanonical) }, unchecked},
		{"beside-malformed", "a malformed key first: the others count (D44)", with(map[string]any{"kty": 5, "kid": true}, true), nil, nil, accepted},
		{"beside-text", "a text among the keys (D44)", with("key", true), nil, nil, accepted},
		{"beside-another", "another good key first", with(publicKey(seeded("another")), true), nil, nil, accepted},
		{"unknown-members", "members that nobody knows, on the page and on the key", func(p page) { p["since"] = 2026; p.key()["x5t"] = "x" }, nil, nil, accepted},
		{"no-keys", "a page without a key", func(p page) { p["keys"] = []any{} }, nil, nil, unchecked},
	}
}

// smallOrderToken verifies for every message with the identity as public key:
// R is the identity and S is 0.
func smallOrderToken(l *letter, x string) func([]byte) string {
	c := &letter{key: l.key, jku: l.jku}
	tokened(func(t *token) {
		t.header = cutMember(t.header, "kid", `"kid":"`+thumbprintOf(x)+`"`)
		t.signature = func(ed25519.PrivateKey, string) []byte { return append([]byte{1}, make([]byte, 63)...) }
	})(c)
	return c.token
}

// thumbprintOf is RFC 7638 for an x that libraries refuse to take for a key.
func thumbprintOf(x string) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return encode(sum[:])
}

// pageForms: what is not a page of the party is no usable page (D44).
func pageForms() []pageCase {
	return []pageCase{
		{"other-party", "the page of another party at the address (D44)", func(p page) { p["party"] = partyID("another") }, nil, nil, unchecked},
		{"other-profile", "another profile (D44)", func(p page) { p["profile"] = "agent-agreement-keys/2" }, nil, nil, unchecked},
		{"no-profile", "no profile (D44)", func(p page) { delete(p, "profile") }, nil, nil, unchecked},
		{"member-twice", "a member of the page twice (D44)", nil, swap(`"org_name":`, `"org_name":"x","org_name":`), nil, unchecked},
		{"member-of-key-twice", "a member of a key twice (D44)", nil, swap(`"created_at":`, `"created_at":1,"created_at":`), nil, unchecked},
		{"html", "a page of HTML (D44)", nil, only("<!DOCTYPE html><title>Keys</title>"), nil, unchecked},
		{"empty-page", "nothing (D44)", nil, only(""), nil, unchecked},
		{"array-page", "an array (D44)", nil, func(text string) string { return "[" + text + "]" }, nil, unchecked},
		{"byte-order-mark", "a byte-order mark (D44)", nil, before("\ufeff"), nil, unchecked},
		{"text-behind", "text behind the object (D44)", nil, behind("{}"), nil, unchecked},
		{"party-missing", "a page of no party (D44)", func(p page) { delete(p, "party") }, nil, nil, unchecked},
		{"party-capitals", "party ids are compared as they stand (D44)", func(p page) { p["party"] = strings.ToUpper(p["party"].(string)) }, nil, nil, unchecked},
		{"keys-missing", "no keys (D44)", func(p page) { delete(p, "keys") }, nil, nil, unchecked},
		{"keys-object", "keys are a list (D44)", func(p page) { p["keys"] = p.key() }, nil, nil, unchecked},
		{"keys-capitals", "KEYS is another member (D44)", func(p page) { p["KEYS"] = p["keys"]; p["keys"] = []any{} }, nil, nil, unchecked},
		{"addresses-text", "addresses are a list (D44)", func(p page) { p["addresses"] = "agent@buyer.test" }, nil, nil, unchecked},
		{"org-name-number", "the name is a text (D44)", func(p page) { p["org_name"] = 5 }, nil, nil, unchecked},
		{"null-page", "null (D44)", nil, only("null"), nil, unchecked},
		{"cut-off", "a page that is cut off (D44)", nil, func(text string) string { return text[:len(text)/2] }, nil, unchecked},
		{"utf8-broken", "a page that is no UTF-8 (D44)", nil, swap(`"org_name":`, "\"x\":\"\xff\",\"org_name\":"), nil, unchecked},
		{"number-infinite", "a number that is no double (D131)", nil, swap(`"org_name":`, `"x":1e400,"org_name":`), nil, unchecked},
		{"depth-17", "nested 17 deep (D131)", nil, swap(`"org_name":`, `"x":`+nested(16)+`,"org_name":`), nil, unchecked},
		{"depth-16", "nested 16 deep (D131)", nil, swap(`"org_name":`, `"x":`+nested(15)+`,"org_name":`), nil, accepted},
		{"jwks", "a plain set of keys is no page of a party (D44)", func(p page) {
			for name := range p {
				if name != "keys" {
					delete(p, name)
				}
			}
		}, nil, nil, unchecked},
		{"white-space", "white space before the object", nil, before("\n\t "), nil, accepted},
		{"65536-bytes", "64 KB", nil, padTo(64 << 10), nil, accepted},
		{"65537-bytes", "a byte over 64 KB (D44)", nil, padTo(64<<10 + 1), nil, unchecked},
	}
}

// whoseAddress: the party lists the sender (section 6).
func whoseAddress() []pageCase {
	lists := func(addresses, domains []any) func(page) {
		return func(p page) { p["addresses"], p["domains"] = addresses, domains }
	}
	none := []any{}
	return []pageCase{
		{"lists-nobody", "the page lists no address, and no domain vouches for the party", lists(none, none), nil, nil, unchecked},
		{"lists-another", "the page lists another mailbox of the domain", lists([]any{"other@buyer.test"}, none), nil, nil, unchecked},
		{"lists-one-of-two", "the second of two addresses", lists([]any{"other@buyer.test", "agent@buyer.test"}, none), nil, nil, accepted},
		{"lists-domain", "the page lists the domain", lists(none, []any{"buyer.test"}), nil, nil, accepted},
		{"lists-domain-capitals", "domains have no letter case (D9)", lists(none, []any{"BUYER.test"}), nil, nil, accepted},
		{"lists-address-domain-capitals", "in an address neither (D9)", lists([]any{"agent@BUYER.test"}, none), nil, nil, accepted},
		{"lists-address-local-capitals", "local parts have (D9)", lists([]any{"Agent@buyer.test"}, none), nil, nil, unchecked},
		{"lists-missing", "a page without either list", func(p page) { delete(p, "addresses"); delete(p, "domains") }, nil, nil, unchecked},
		{"lists-null", "lists that are null", func(p page) { p["addresses"], p["domains"] = nil, nil }, nil, nil, unchecked},
		{"lists-display-form", "an address with a display name names nobody (D9)", lists([]any{"Desk <agent@buyer.test>"}, none), nil, nil, unchecked},
		{"lists-with-broken", "an address that is none beside the right one", lists([]any{"agent", "agent@buyer.test"}, none), nil, nil, accepted},
		{"lists-with-tag", "a tag makes another address (D9)", lists([]any{"agent+x@buyer.test"}, none), nil, nil, unchecked},
		{"lists-star", "a star is no domain", lists([]any{"*@buyer.test"}, []any{"*"}), nil, nil, unchecked},
		{"lists-at-domain", "nor is @ and a domain", lists(none, []any{"@buyer.test"}), nil, nil, unchecked},
		{"lists-domain-dot", "nor one with a dot behind it (D9)", lists(none, []any{"buyer.test."}), nil, nil, unchecked},
		{"lists-address-as-domain", "an address in the list of domains", lists(none, []any{"agent@buyer.test"}), nil, nil, unchecked},
		{"lists-domain-as-address", "and the other way round", lists([]any{"buyer.test"}, none), nil, nil, unchecked},
		{"lists-parent-domain", "a listed domain is not its subdomains, nor its parent", lists(none, []any{"test"}), nil, nil, unchecked},
		{"lists-subdomain", "nor is a subdomain the domain", lists(none, []any{"mail.buyer.test"}), nil, nil, unchecked},
		{"lists-look-alike", "a domain that ends in it as a string", lists(none, []any{"notbuyer.test"}), nil, nil, unchecked},
		{"message-without-party", "a message need not name its party", nil, nil, func(l *letter) { l.From.Party = "" }, accepted},
	}
}

// vouches: the TXT record of the sender's domain is the party id. Each case
// has a sender domain of its own.
func vouches(s *suite) []pageCase {
	another := partyID("another")
	var cases []pageCase
	for _, v := range []struct {
		name, why string
		records   func(id string) []string
		want      expect
	}{
		{"vouch", "the page lists nobody, and the sender's domain vouches for the party", func(id string) []string { return []string{id} }, accepted},
		{"vouch-of-several", "one of several records is the party (D44)", func(id string) []string { return []string{"v=spf1 -all", another, id} }, accepted},
		{"vouch-for-another", "the domain vouches for another party", func(string) []string { return []string{another} }, unchecked},
		{"vouch-with-more", "a record that only begins with the party", func(id string) []string { return []string{id + " -all"} }, unchecked},
		{"vouch-capitals", "a record is compared as it stands", func(id string) []string { return []string{strings.ToUpper(id)} }, unchecked},
		{"vouch-with-space", "with the white space round it", func(id string) []string { return []string{" " + id} }, unchecked},
		{"vouch-with-tag", "and nothing before it", func(id string) []string { return []string{"party=" + id} }, unchecked},
		{"vouch-two-in-one", "two ids in one record are neither", func(id string) []string { return []string{another + " " + id} }, unchecked},
		{"vouch-none", "the domain vouches for nobody", func(string) []string { return nil }, unchecked},
		{"vouch-unanswered", "DNS does not answer: try again, nothing is decided (D45)", nil, retry},
	} {
		domain := v.name + ".test"
		vouch := "_agent-agreements." + domain
		s.DNS["s1._domainkey."+domain] = []string{s.world.buyer.dkim.record()}
		if v.records == nil {
			s.DNSErrors[vouch] = "temporary"
		} else if records := v.records(fmt.Sprintf("pty_%x", digest("party "+v.name))[:24]); records != nil {
			s.DNS[vouch] = records
		}
		cases = append(cases, pageCase{v.name, v.why, func(p page) { p["addresses"] = []any{} }, nil, func(l *letter) {
			by := *l.by
			by.address = "agent@" + domain
			l.by, l.From.Address = &by, by.address
		}, v.want})
	}
	return cases
}

// answers: what a key page answers (D44).
func (s *suite) answers() {
	buyer := s.world.buyer
	for _, c := range []struct {
		name, why string
		page      keyPage
		want      expect
	}{
		{"404", "no page (D44)", keyPage{Status: 404}, unchecked},
		{"410", "gone (D44)", keyPage{Status: 410}, unchecked},
		{"403", "forbidden (D44)", keyPage{Status: 403}, unchecked},
		{"204", "an answer without a page (D44)", keyPage{Status: 204}, unchecked},
		{"301", "moved, to a page that would do: redirects are not followed (D44)", keyPage{Status: 301, Location: buyer.page()}, unchecked},
		{"302", "elsewhere for now (D44)", keyPage{Status: 302, Location: buyer.page()}, unchecked},
		{"307", "elsewhere (D44)", keyPage{Status: 307, Location: buyer.page()}, unchecked},
		{"400", "a bad request (D44)", keyPage{Status: 400}, unchecked},
		{"401", "a page that wants a password (D44)", keyPage{Status: 401}, unchecked},
		{"303", "see elsewhere (D44)", keyPage{Status: 303, Location: buyer.page()}, unchecked},
		{"308", "moved for good (D44)", keyPage{Status: 308, Location: buyer.page()}, unchecked},
		{"304", "not changed, though nothing was there before (D44)", keyPage{Status: 304}, unchecked},
		{"206", "a piece of a page (D44)", keyPage{Status: 206}, unchecked},
		{"502", "a bad gateway: try again", keyPage{Status: 502}, retry},
		{"504", "a gateway that waited too long: try again", keyPage{Status: 504}, retry},
		{"599", "any other error of a server: try again", keyPage{Status: 599}, retry},
		{"429", "too many requests: try again", keyPage{Status: 429}, retry},
		{"500", "an error of the server: try again", keyPage{Status: 500}, retry},
		{"503", "not available: try again", keyPage{Status: 503}, retry},
	} {
		t := s.story("answers-"+c.name, c.why)
		l := t.times(t.buyer())
		l.From.Party = partyID("answers" + c.name)
		l.jku = party.PageURL(pageHost, l.From.Party)
		s.KeyPages[l.jku] = c.page
		t.deliver(l, c.want)
	}
}

// laterAnswers: while a page is retried nothing is remembered; after 24 h the
// signature is unchecked (D45).
func (s *suite) laterAnswers() {
	down := s.failing()
	unreachable := func(l *letter) { l.jku, l.From.Party = down, "" }

	t := s.story("retry-again", "another delivery while the page is retried is retried too (D45)")
	l := t.times(t.buyer())
	unreachable(l)
	t.deliver(l, retry)
	t.deliver(l, retry)

	t = s.story("retry-then-good-copy", "the same message, signed by way of a page that answers, while the first is retried (D45)")
	l = t.times(t.buyer())
	l.From.Party = ""
	t.deliver(l.copy(unreachable), retry)
	t.deliver(l, accepted)
	t.final(l, "open")

	t = s.story("parked-and-unreachable", "an accept that waits for its offer and for a key page: the offer alone does not let it count")
	early := t.times(t.seller())
	answer := t.accept(t.buyer(), early)
	unreachable(answer)
	t.deliver(answer, parked)
	t.sent(early)
	t.tick(t.now + hour)
	t.final(early, "open")

	t = s.story("retry-for-a-day", "after 24 h of trying the signature is unchecked, and the message held: nothing is agreed by it")
	offer := t.sent(t.times(t.seller()))
	accept := t.accept(t.buyer(), offer)
	unreachable(accept)
	t.deliver(accept, retry)
	t.tick(t.now + day + hour)
	t.final(offer, "open")
	t.record("")
}
