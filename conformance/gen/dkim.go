package main

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// dkimSuites are DKIM signatures, their keys and alignment (section 5, D21,
// D22, D23, D41, D45; attacks A3, A4 and A5).
func dkimSuites() []*suite {
	s := newSuite("dkim", "DKIM: one signature that counts makes a mail its author's, and nothing else does. Messages are unsigned, and allowed to be.")
	s.Inbox.Unsigned = "allow"
	s.singles(byHand, goodSeals(s))
	s.singles(byHand, badSeals())
	s.singles(byHand, structures())
	s.singles(byHand, manySeals(s))
	sealTimes(s)
	sealKeys(s)
	alignments(s)
	dnsLater(s)
	return []*suite{s, strictSuite()}
}

var notAuthentic = plain("dkim")

// tags changes the text of the signature field before it is signed.
func tags(edit func(string) string) change { return sealed(func(s *seal) { s.tags = edit }) }

func goodSeals(s *suite) []single {
	ed := edKey{seeded("dkim key of buyer")}
	s.DNS["ed._domainkey.buyer.test"] = []string{ed.record()}
	both := func(l *letter) {
		first := l.sealWith(nil)
		second := l.sealWith(func(s *seal) { s.key, s.selector, s.algorithm = ed, "ed", "ed25519-sha256" })
		l.seal = func(mail string) string { return second(first(mail)) }
	}
	s.DNS["2026.s1._domainkey.buyer.test"] = []string{s.world.buyer.dkim.record()}
	form := func(form string) change { return sealed(func(s *seal) { s.form = form }) }
	return []single{
		{"baseline", "the baseline of the cases beside it", nil, acted},
		{"simple", "simple/simple", form("simple/simple"), acted},
		{"simple-relaxed", "simple header, relaxed body", form("simple/relaxed"), acted},
		{"relaxed-simple", "relaxed header, simple body", form("relaxed/simple"), acted},
		{"ed25519", "ed25519-sha256 (RFC 8463)", sealed(func(s *seal) { s.key, s.selector, s.algorithm = ed, "ed", "ed25519-sha256" }), acted},
		{"rsa-and-ed25519", "one signature of each", both, acted},
		{"refolded", "fields folded anew and names in other letter case on the way, under relaxed", after(func(t string) string {
			return swap("Subject: Proposed times", "SUBJECT:  Proposed\r\n\ttimes ")(t)
		}), acted},
		{"white-space-in-body", "white space at line ends and empty lines at the end added on the way, under relaxed", after(func(t string) string {
			return swap("See the other part.", "See the other  part. ")(t) + "\r\n\r\n"
		}), acted},
		{"i-subdomain", "i= in a subdomain of d=", tags(swap("v=1;", "v=1; i=agent@mail.buyer.test;")), acted},
		{"i-local-part", "i= with a local part", tags(swap("v=1;", "v=1; i=someone@buyer.test;")), acted},
		{"q-two-methods", "a known method among those of q=", tags(swap("v=1;", "v=1; q=dns/other:dns/txt;")), acted},
		{"no-t", "no t=", tags(func(f string) string { return f[:strings.Index(f, "; t=")] + f[strings.Index(f, ";\r\n\th="):] }), acted},
		{"a-capitals", "a= in other letter case", sealed(func(s *seal) { s.algorithm = "RSA-SHA256" }), acted},
		{"c-header-only", "c= of the header alone: the body is simple", sealed(func(s *seal) { s.form = "relaxed" }), acted},
		{"c-missing", "no c=: simple both", all(sealed(func(s *seal) { s.form = "simple/simple"; s.tags = swap(" c=simple/simple;", "") })), acted},
		{"semicolon-last", "a semicolon behind the last tag", sealed(func(s *seal) { s.ending = ";" }), acted},
		{"tags-folded", "tags on lines of their own, with white space round their signs", tags(func(f string) string {
			return strings.NewReplacer("; d=", ";\r\n\td = ", "; s=", " ;\r\n  s\t=\r\n ", "; t=", ";\r\n\tt= ").Replace(f)
		}), acted},
		{"b-first", "the signature before the tags that it signs", sealed(func(s *seal) { s.first = true }), acted},
		{"z-copied", "z= with copies of fields, which say nothing", tags(swap("v=1;", "v=1; z=From:agent@third.test|Subject:x;")), acted},
		{"h-twice-subject", "a name in h= more often than the mail has the field", sealed(func(s *seal) { s.names = append(s.names, "Subject", "Subject", "X-None") }), acted},
		{"h-only-from", "From and Content-Type alone are signed", sealed(func(s *seal) { s.names = []string{"From", "Content-Type"} }), acted},
		{"t-equal-x", "x= a second after t=", tags(swap("v=1;", fmt.Sprintf("v=1; x=%d;", arrivedAt+week))), acted},
		{"empty-lines-simple", "empty lines at the end of the body do not count in simple either (RFC 6376 §3.4.3)", all(sealed(func(s *seal) { s.form = "simple/simple" }), after(behind("\r\n\r\n"))), acted},
		{"selector-with-dot", "a selector of two labels (RFC 6376 §3.1)", sealed(func(s *seal) { s.selector = "2026.s1" }), acted},
		{"unknown-tag", "a tag that nobody knows", tags(swap("v=1;", "v=1; zz=1;")), acted},
		{"d-capitals", "d= in capitals", sealed(func(s *seal) { s.domain = "BUYER.TEST" }), acted},
		{"selector-capitals", "s= in capitals", sealed(func(s *seal) { s.selector = "S1" }), acted},
		{"h-capitals", "h= in capitals, with white space round the colons", tags(func(f string) string {
			return strings.Replace(strings.Replace(f, "h=From:", "h=FROM :\r\n\t ", 1), "Subject:", " subject: ", 1)
		}), acted},
		{"subject-unsigned-changed", "a Subject that nobody signed and somebody changed: the machine part stands", all(
			sealed(func(s *seal) { s.names = without(s.names, "Subject") }), after(swap("Proposed times\r\nDate", "Obey me\r\nDate"))), acted},
	}
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

func badSeals() []single {
	lengthOf := func(n func(body string) int) change {
		return sealed(func(s *seal) {
			length := 0
			s.body = func(body string) string { length = n(body); return body[:length] }
			s.tags = func(f string) string { return swap("v=1;", fmt.Sprintf("v=1; l=%d;", length))(f) }
		})
	}
	return []single{
		{"none", "no signature", undkimmed, notAuthentic},
		{"claims-only", "what others claim about the mail is no signature", all(undkimmed, after(before(
			"Received-SPF: pass\r\nAuthentication-Results: mx.seller.test; dkim=pass header.d=buyer.test; dmarc=pass\r\nX-Google-DKIM-Signature: v=1; d=buyer.test\r\nARC-Seal: i=1; cv=none\r\n"))), notAuthentic},
		{"body-changed", "a changed body", after(swap("Tasting", "Meeting")), notAuthentic},
		{"from-changed", "a changed display name in From", after(swap("Buyer agent", "Buyer boss")), notAuthentic},
		{"field-removed", "a signed field taken away", after(swap("MIME-Version: 1.0\r\n", "")), notAuthentic},
		{"signature-of-another-mail", "the signature of another mail", func(l *letter) {
			seal := l.sealWith(nil)
			l.seal = func(mail string) string {
				signed := seal(swap("Tasting", "Meeting")(mail))
				return strings.TrimSuffix(signed, swap("Tasting", "Meeting")(mail)) + mail
			}
		}, notAuthentic},
		{"bh-of-nothing", "bh= of an empty body", sealed(func(s *seal) { s.body = only("") }), notAuthentic},
		{"b-empty", "an empty b=", sealed(func(s *seal) { s.value = func([]byte) []byte { return nil } }), notAuthentic},
		{"b-bit", "one bit of b=", sealed(func(s *seal) { s.value = func(b []byte) []byte { b[9] ^= 1; return b } }), notAuthentic},
		{"l-full", "l= of the whole body: a limit all the same (D22)", lengthOf(func(b string) int { return len(b) }), notAuthentic},
		{"l-zero", "l=0 (D22)", lengthOf(func(string) int { return 0 }), notAuthentic},
		{"l-appended", "l= of the text part, and a machine part appended behind it (D22)", lengthOf(func(b string) int { return strings.Index(b, "--b0\r\nContent-Type: application") }), notAuthentic},
		{"from-unsigned", "From is not in h= (D22)", sealed(func(s *seal) { s.names = without(s.names, "From") }), notAuthentic},
		{"sha1", "rsa-sha1 (RFC 8301)", sealed(func(s *seal) { s.algorithm = "rsa-sha1" }), notAuthentic},
		{"a-missing", "no a=", tags(swap("a=rsa-sha256; ", "")), notAuthentic},
		{"a-unknown", "an algorithm that nobody knows", sealed(func(s *seal) { s.algorithm = "rsa-sha512" }), notAuthentic},
		{"b-missing", "no b=", sealed(func(s *seal) {
			s.algorithm = "rsa-sha256; nob=1"
			s.value = nil
			s.tags = func(f string) string { return strings.TrimSuffix(f, ";\r\n\tb=") + ";\r\n\tbb=" }
		}), notAuthentic},
		{"bh-missing", "no bh=", tags(func(f string) string { return strings.Replace(f, "\tbh=", "\tzh=", 1) }), notAuthentic},
		{"bh-short", "bh= of 20 bytes", tags(func(f string) string {
			i := strings.Index(f, "\tbh=")
			return f[:i] + "\tbh=AAAAAAAAAAAAAAAAAAAAAAAAAAA=" + f[strings.Index(f, ";\r\n\tb="):]
		}), notAuthentic},
		{"d-missing", "no d=", tags(swap("d=buyer.test; ", "")), notAuthentic},
		{"s-missing", "no s=", tags(swap("s=s1; ", "")), notAuthentic},
		{"h-missing", "no h=", tags(func(f string) string { return strings.Replace(f, "\th=", "\tzh=", 1) }), notAuthentic},
		{"h-empty", "an empty h=", sealed(func(s *seal) { s.names = nil }), notAuthentic},
		{"v-empty", "an empty v=", tags(swap("v=1", "v=")), notAuthentic},
		{"v-1-1", "a version that begins with 1", tags(swap("v=1", "v=1.1")), notAuthentic},
		{"tag-without-equals", "a tag without its sign", tags(swap("v=1;", "v=1; zz;")), notAuthentic},
		{"tags-empty-between", "two semicolons in a row", tags(swap("v=1;", "v=1;;")), notAuthentic},
		{"tag-name-capital", "V= is another tag than v=", tags(swap("v=1", "V=1")), notAuthentic},
		{"i-case", "i= in other letter case than d= (D68)", tags(swap("v=1;", "v=1; i=@BUYER.test;")), notAuthentic},
		{"i-without-at", "i= without @", tags(swap("v=1;", "v=1; i=buyer.test;")), notAuthentic},
		{"i-parent", "i= in the parent of d=", all(sealed(func(s *seal) { s.domain = "mail.buyer.test"; s.tags = swap("v=1;", "v=1; i=@buyer.test;") })), notAuthentic},
		{"i-empty", "an empty i=", tags(swap("v=1;", "v=1; i=;")), notAuthentic},
		{"c-half-unknown", "an unknown canonicalization of the body", tags(swap("c=relaxed/relaxed", "c=relaxed/strict")), notAuthentic},
		{"l-large", "l= of more than the body (D22)", tags(swap("v=1;", "v=1; l=99999999;")), notAuthentic},
		{"l-no-number", "l= that is no number (D22)", tags(swap("v=1;", "v=1; l=x;")), notAuthentic},
		{"t-negative", "t= before the epoch", tags(func(f string) string { return strings.Replace(f, "t=1", "t=-1", 1) }), notAuthentic},
		{"t-empty", "an empty t=", tags(func(f string) string {
			return f[:strings.Index(f, "; t=")] + "; t=" + f[strings.Index(f, ";\r\n\th="):]
		}), notAuthentic},
		{"x-13-digits", "x= in milliseconds", tags(swap("v=1;", "v=1; x=1793700000000;")), notAuthentic},
		{"body-line-added", "a line added to the body", after(behind("--\r\nSent by a free mail service\r\n")), anyPlain},
		{"white-space-simple", "white space added at a line end, under simple", all(sealed(func(s *seal) { s.form = "relaxed/simple" }), after(swap("See the other part.", "See the other part. "))), notAuthentic},
		{"refolded-simple", "a field folded anew, under simple", all(sealed(func(s *seal) { s.form = "simple/relaxed" }), after(swap("Subject: Proposed times", "Subject:\r\n Proposed times"))), notAuthentic},
		{"case-simple", "a field name in other letter case, under simple", all(sealed(func(s *seal) { s.form = "simple/relaxed" }), after(swap("\r\nSubject:", "\r\nSUBJECT:"))), notAuthentic},
		{"oversigned-added", "a second field of a name that is oversigned: no field was there", all(sealed(func(s *seal) { s.names = append(s.names, "Reply-To") }), after(before("Reply-To: agent@third.test\r\n"))), notAuthentic},
		{"to-changed", "another To", after(swap("To: agent@seller.test", "To: other@seller.test")), notAuthentic},
		{"date-changed", "another Date", after(swap("\r\nDate: Mon", "\r\nDate: Tue")), notAuthentic},
		{"signature-name-space", "a space before the colon of the field", after(swap("DKIM-Signature:", "DKIM-Signature :")), none},
		{"signature-in-body", "a signature in the body", func(l *letter) {
			seal := l.sealWith(nil)
			l.seal = func(mail string) string {
				signed := seal(mail)
				field := strings.TrimSuffix(signed, mail)
				head, body, _ := strings.Cut(mail, "\r\n\r\n")
				return head + "\r\n\r\n" + field + body
			}
		}, notAuthentic},
		{"ed25519-key-of-another", "an ed25519 signature by another key", sealed(func(s *seal) {
			s.key, s.selector, s.algorithm = edKey{seeded("dkim key of another")}, "ed", "ed25519-sha256"
		}), notAuthentic},
		{"ed25519-short", "63 bytes of one", sealed(func(s *seal) {
			s.key, s.selector, s.algorithm, s.value = edKey{seeded("dkim key of buyer")}, "ed", "ed25519-sha256", func(b []byte) []byte { return b[:63] }
		}), notAuthentic},
		{"rsa-long", "a byte behind an RSA signature", sealed(func(s *seal) { s.value = func(b []byte) []byte { return append(b, 0) } }), notAuthentic},
		{"b-not-base64", "b= that is no base64", after(func(t string) string { return strings.Replace(t, "\tb=", "\tb=!", 1) }), notAuthentic},
		{"8bit-tag", "a byte outside ASCII in a tag", tags(swap("v=1;", "v=1; zz=\u00e9;")), notAuthentic},
		{"v-2", "another version", tags(swap("v=1", "v=2")), notAuthentic},
		{"v-missing", "no version", tags(swap("v=1; ", "")), notAuthentic},
		{"tag-twice", "a tag twice", tags(swap("d=buyer.test;", "d=buyer.test; d=buyer.test;")), notAuthentic},
		{"c-unknown", "an unknown canonicalization", tags(swap("c=relaxed/relaxed", "c=nofws")), notAuthentic},
		{"q-unknown", "only unknown methods in q=", tags(swap("v=1;", "v=1; q=dns/other;")), notAuthentic},
		{"i-foreign", "i= in another domain", tags(swap("v=1;", "v=1; i=@third.test;")), notAuthentic},
		{"i-suffix", "i= that ends in d= as a string", tags(swap("v=1;", "v=1; i=@notbuyer.test;")), notAuthentic},
		{"a-other-than-key", "a= of the other kind of key", sealed(func(s *seal) { s.algorithm = "ed25519-sha256" }), notAuthentic},
		{"ed25519-over-rsa", "and the other way round", sealed(func(s *seal) { s.selector = "ed" }), notAuthentic},
		{"ed25519-plus-order", "S + L in an ed25519 signature", sealed(func(s *seal) {
			s.key, s.selector, s.algorithm, s.value = edKey{seeded("dkim key of buyer")}, "ed", "ed25519-sha256", plusOrder
		}), notAuthentic},
		{"t-no-number", "t= that is no number", tags(func(f string) string { return strings.Replace(f, "t=1", "t=x1", 1) }), notAuthentic},
		{"selector-unknown", "no key at the selector", sealed(func(s *seal) { s.selector = "gone" }), notAuthentic},
		{"selector-nul", "a NUL in s=", after(swap("s=s1;", "s=s1\x00;")), anyPlain},
		{"selector-empty", "an empty s=", sealed(func(s *seal) { s.selector = "" }), notAuthentic},
		{"selector-star", "a star as s=", sealed(func(s *seal) { s.selector = "*" }), notAuthentic},
		{"selector-dots", "s= that would be another name", sealed(func(s *seal) { s.selector = "s1._domainkey.buyer.test." }), notAuthentic},
		{"selector-long", "s= of 300 characters", sealed(func(s *seal) { s.selector = strings.Repeat("s", 300) }), notAuthentic},
	}
}

// structures: the body must not be open to re-cutting (D23).
func structures() []single {
	// open is a signature that leaves Content-Type out, as Gmail's do.
	open := sealed(func(s *seal) { s.names = without(s.names, "Content-Type") })
	swapType := func(to string) change { return after(swap("Content-Type: "+mixed, "Content-Type: "+to)) }
	quoted := "--b0\nContent-Type: text/plain\n\nYou wrote:\n\n--b1\n{machine}\n--b1--\n--b0--\n"
	return []single{
		{"type-unsigned", "Content-Type is not signed, and the body begins with its first delimiter and ends with its last (D23)", open, acted},
		{"type-unsigned-preamble", "a preamble is allowed (D23)", all(open, built(mixed, "This is a message in MIME format.\n\n"+baseBody)), acted},
		{"type-unsigned-empty-lines", "and empty lines at the end (D23)", all(open, built(mixed, baseBody+"\n\n")), acted},
		{"type-unsigned-epilogue", "text behind the close delimiter (D23)", all(open, built(mixed, baseBody+"The end.\n")), notAuthentic},
		{"type-unsigned-swapped", "another Content-Type makes a machine part out of quoted text (D23)", all(open, built(mixed, quoted), swapType("multipart/mixed; boundary=b1")), notAuthentic},
		{"type-unsigned-single-part", "a mail of one part, whose type anybody can change (D23)", all(open, built("application/ld+json", "{json}\n")), notAuthentic},
		{"type-unsigned-dashes-first", "a line that begins with -- before the first delimiter (D23)", all(open, built(mixed, "-- \n"+baseBody)), notAuthentic},
		{"type-unsigned-alternative", "a multipart/alternative, not signed (D23)", all(open, built(`multipart/alternative; boundary="b0"`, baseBody)), acted},
		{"type-unsigned-no-line-end", "the mail ends with its close delimiter (D23)", all(open, built(mixed, strings.TrimSuffix(baseBody, "\n"))), acted},
		{"type-unsigned-parameter", "a parameter changed that says nothing about the structure (D23)", all(open, swapType("multipart/mixed; x=y; boundary=b0")), acted},
		{"type-unsigned-added", "a Content-Type added where the author had none (D23)", all(open, func(l *letter) {
			l.frame = func(l *letter, text string) string {
				return head(l) + "\n" + expand("Hello\n\n--b0\n{machine}\n--b0--\nBye\n", text)
			}
		}, after(swap("MIME-Version: 1.0\r\n", "MIME-Version: 1.0\r\nContent-Type: "+mixed+"\r\n"))), notAuthentic},
		{"type-once-of-two", "Content-Type signed once and there twice", after(before("Content-Type: " + mixed + "\r\n")), none},
		{"type-unsigned-transfer-encoding", "a transfer encoding added to a signed body (D23)", all(open, after(before("Content-Transfer-Encoding: base64\r\n"))), none},
		{"type-signed-quoted", "the same quoted text with Content-Type signed: text", built(mixed, quoted), none},
	}
}

// manySeals: at most the ten topmost signatures are looked at, and one that
// counts is enough (D41).
func manySeals(s *suite) []single {
	third := s.world.third
	foreign := func(l *letter) func(string) string {
		return l.sealWith(func(s *seal) { s.domain, s.key = third.domain(), third.dkim })
	}
	under := func(n int) change {
		return func(l *letter) {
			good, junk := l.sealWith(nil), foreign(l)
			l.seal = func(mail string) string {
				mail = good(mail)
				for range n {
					mail = junk(mail)
				}
				return mail
			}
		}
	}
	over := func(n int) change {
		return func(l *letter) {
			good, junk := l.sealWith(nil), foreign(l)
			l.seal = func(mail string) string {
				for range n {
					mail = junk(mail)
				}
				return good(mail)
			}
		}
	}
	return []single{
		{"under-one-foreign", "a signature of another domain on top of the author's, as a list adds", under(1), acted},
		{"under-nine-foreign", "nine of them: the author's is the tenth (D41)", under(9), acted},
		{"under-ten-foreign", "ten of them: the author's is the eleventh (D41)", under(10), notAuthentic},
		{"over-120-foreign", "the author's on top of 120 others", over(120), acted},
		{"two-good", "two signatures that count", func(l *letter) {
			first, second := l.sealWith(nil), l.sealWith(func(s *seal) { s.form = "simple/simple" })
			l.seal = func(mail string) string { return second(first(mail)) }
		}, acted},
		{"good-under-l", "one with l= on top of one that counts (D22)", func(l *letter) {
			good, limited := l.sealWith(nil), l.sealWith(func(s *seal) { s.tags = swap("v=1;", "v=1; l=10;") })
			l.seal = func(mail string) string { return limited(good(mail)) }
		}, acted},
		{"good-under-expired", "an expired one on top of one that counts", func(l *letter) {
			good, old := l.sealWith(nil), l.sealWith(func(s *seal) { s.tags = swap("v=1;", fmt.Sprintf("v=1; x=%d;", arrivedAt-1)) })
			l.seal = func(mail string) string { return old(good(mail)) }
		}, acted},
		{"good-under-testing", "one by a key in test mode on top of one that counts", func(l *letter) {
			good, testing := l.sealWith(nil), l.sealWith(func(s *seal) { s.selector = "key-testing" })
			l.seal = func(mail string) string { return testing(good(mail)) }
		}, acted},
		{"under-garbled", "a field that is no tag list on top of one that counts", func(l *letter) {
			good := l.sealWith(nil)
			l.seal = func(mail string) string { return "DKIM-Signature: hello\r\n" + good(mail) }
		}, acted},
		{"two-halves", "a signature without From, and one of another domain with it: neither counts", func(l *letter) {
			half, other := l.sealWith(func(s *seal) { s.names = without(s.names, "From") }), foreign(l)
			l.seal = func(mail string) string { return half(other(mail)) }
		}, notAuthentic},
		{"under-broken", "a broken signature of the author's own domain on top of the good one", func(l *letter) {
			good, bad := l.sealWith(nil), l.sealWith(func(s *seal) { s.value = func(b []byte) []byte { b[9] ^= 1; return b } })
			l.seal = func(mail string) string { return bad(good(mail)) }
		}, acted},
		{"under-no-key", "a signature without key on top of the good one", func(l *letter) {
			good, bad := l.sealWith(nil), l.sealWith(func(s *seal) { s.selector = "gone" })
			l.seal = func(mail string) string { return bad(good(mail)) }
		}, acted},
		{"only-foreign", "only a signature of another domain, the mail service's", func(l *letter) { l.seal = foreign(l) }, notAuthentic},
		{"list-changed", "a list changed the mail and signed it itself", func(l *letter) {
			good, list := l.sealWith(nil), foreign(l)
			l.seal = func(mail string) string { return list(swap("Subject: ", "Subject: [deals] ")(good(mail))) }
		}, notAuthentic},
	}
}

// sealTimes: x= is judged at the arrival, and t= may be 300 s ahead (D22).
func sealTimes(s *suite) {
	s.singles(byHand, []single{
		{"t-300-ahead", "t= 300 s ahead of the arrival (D22)", sealed(func(s *seal) { s.made = arrivedAt + 300 }), acted},
		{"t-301-ahead", "t= 301 s ahead (D22)", sealed(func(s *seal) { s.made = arrivedAt + 301 }), notAuthentic},
		{"x-second-after-arrival", "x= a second after the arrival", expiring(arrivedAt + 1), acted},
		{"x-at-arrival", "x= in the second of the arrival (section 5)", expiring(arrivedAt), acted},
		{"x-second-before-arrival", "x= a second before the arrival", expiring(arrivedAt - 1), notAuthentic},
		{"x-before-t", "x= before t=", expiring(signedAt - 1), notAuthentic},
		{"x-at-t", "x= in the second of t=", expiring(signedAt), notAuthentic},
		{"x-long-ago", "x= of 1970", tags(swap("v=1;", "v=1; x=1;")), notAuthentic},
		{"t-long-ago", "t= of a year before: mails may be old", sealed(func(s *seal) { s.made = arrivedAt - 365*day }), acted},
		{"x-without-t", "x= and no t=", tags(func(f string) string {
			return swap("v=1;", fmt.Sprintf("v=1; x=%d;", arrivedAt+1))(f[:strings.Index(f, "; t=")] + f[strings.Index(f, ";\r\n\th="):])
		}), acted},
		{"x-no-number", "x= that is no number", tags(swap("v=1;", "v=1; x=never;")), notAuthentic},
	})
}

func expiring(at int64) change { return tags(swap("v=1;", fmt.Sprintf("v=1; x=%d;", at))) }

// sealKeys: the key record at the selector. Each case has its own.
func sealKeys(s *suite) {
	right := s.world.buyer.dkim.record()
	bare := strings.TrimPrefix(right, "v=DKIM1; k=rsa; ")
	signs := func(name string) (dkimKey, string) { k := loadRSA(name); return k, k.record() }
	for _, c := range []struct {
		name, why string
		records   []string
		key       string // of testdata, the usual one where empty
		tags      func(string) string
		want      expect
	}{
		{"key-bare", "p= alone", []string{bare}, "", nil, acted},
		{"key-service-star", "s=*", []string{"v=DKIM1; s=*; " + bare}, "", nil, acted},
		{"key-service-email", "s=email", []string{"v=DKIM1; s=email; " + bare}, "", nil, acted},
		{"key-service-other", "a key for another service only", []string{"v=DKIM1; s=tlsrpt; " + bare}, "", nil, notAuthentic},
		{"key-hash-sha256", "h=sha256", []string{"v=DKIM1; h=sha256; " + bare}, "", nil, acted},
		{"key-hash-sha1", "h=sha1 only", []string{"v=DKIM1; h=sha1; " + bare}, "", nil, notAuthentic},
		{"key-note", "a note and an unknown tag", []string{"v=DKIM1; n=a note; zz=1; " + bare}, "", nil, acted},
		{"key-granularity-star", "the obsolete g=*", []string{"v=DKIM1; g=*; " + bare}, "", nil, acted},
		{"key-trailing-semicolon", "a semicolon behind the last tag", []string{right + ";"}, "", nil, acted},
		{"key-spaces", "white space in p=", []string{right[:80] + "  " + right[80:120] + "\t" + right[120:]}, "", nil, acted},
		{"key-hashes", "h=sha1:sha256", []string{"v=DKIM1; h=sha1:sha256; " + bare}, "", nil, acted},
		{"key-services", "s=tlsrpt:email", []string{"v=DKIM1; s=tlsrpt:email; " + bare}, "", nil, acted},
		{"key-flag-unknown", "a flag that nobody knows", []string{"v=DKIM1; t=z; " + bare}, "", nil, acted},
		{"key-flags-empty", "no flag in t=", []string{"v=DKIM1; t=; " + bare}, "", nil, acted},
		{"key-strict-no-i", "t=s and no i=", []string{"v=DKIM1; t=s; " + bare}, "", nil, acted},
		{"key-testing-spaces", "t=s : y (D22)", []string{"v=DKIM1; t=s : y; " + bare}, "", nil, notAuthentic},
		{"key-version-last", "a version that does not come first", []string{"k=rsa; " + bare + "; v=DKIM1"}, "", nil, notAuthentic},
		{"key-version-lower", "a version in lower case", []string{"v=dkim1; k=rsa; " + bare}, "", nil, notAuthentic},
		{"key-tag-twice", "p= twice", []string{right + "; " + bare}, "", nil, notAuthentic},
		{"key-p-missing", "no p=", []string{"v=DKIM1; k=rsa"}, "", nil, notAuthentic},
		{"key-p-no-base64", "p= that is no base64", []string{"v=DKIM1; k=rsa; p=!!!!"}, "", nil, notAuthentic},
		{"key-p-no-key", "p= that is no key", []string{"v=DKIM1; k=rsa; p=AAAA"}, "", nil, notAuthentic},
		{"key-p-cut", "a key that is cut off", []string{right[:len(right)-8]}, "", nil, notAuthentic},
		{"key-kind-other", "k=ed25519 of an RSA key", []string{"v=DKIM1; k=ed25519; " + bare}, "", nil, notAuthentic},
		{"key-record-empty", "an empty record", []string{""}, "", nil, notAuthentic},
		{"key-two-with-spf", "a record of another kind beside the key (D41)", []string{"v=spf1 -all", right}, "", nil, notAuthentic},
		{"key-html", "a text that is no tag list", []string{"<html>"}, "", nil, notAuthentic},
		{"key-granularity", "the obsolete g= of certain local parts", []string{"v=DKIM1; g=sales; " + bare}, "", nil, notAuthentic},
		{"key-testing", "t=y: the domain is trying DKIM out (D22)", []string{"v=DKIM1; t=y; " + bare}, "", nil, notAuthentic},
		{"key-testing-and-strict", "t=y:s (D22)", []string{"v=DKIM1; t=y:s; " + bare}, "", nil, notAuthentic},
		{"key-strict", "t=s and i= of the domain itself", []string{"v=DKIM1; t=s; " + bare}, "", swap("v=1;", "v=1; i=agent@buyer.test;"), acted},
		{"key-strict-subdomain", "t=s and i= in a subdomain (D22)", []string{"v=DKIM1; t=s; " + bare}, "", swap("v=1;", "v=1; i=agent@mail.buyer.test;"), notAuthentic},
		{"key-revoked", "an empty p=", []string{"v=DKIM1; k=rsa; p="}, "", nil, notAuthentic},
		{"key-two-records", "two records at the selector (D41)", []string{right, right}, "", nil, notAuthentic},
		{"key-spf", "a record of another kind, as a wildcard gives", []string{"v=spf1 -all"}, "", nil, notAuthentic},
		{"key-v2", "another version", []string{"v=DKIM2; k=rsa; " + bare}, "", nil, notAuthentic},
		{"key-unknown-kind", "an unknown kind of key", []string{"v=DKIM1; k=dsa; " + bare}, "", nil, notAuthentic},
		{"key-record-2048", "a record of 2 048 characters (D41)", []string{padRecord(right, 2048)}, "", nil, acted},
		{"key-record-2049", "a record of 2 049 characters (D41)", []string{padRecord(right, 2049)}, "", nil, notAuthentic},
		{"key-rsa-512", "RSA with 512 bits (D22)", nil, "rsa-512", nil, notAuthentic},
		{"key-rsa-1023", "RSA with 1 023 bits (D22)", nil, "rsa-1023", nil, notAuthentic},
		{"key-rsa-1024", "RSA with 1 024 bits", nil, "rsa-1024", nil, acted},
		{"key-rsa-4096", "RSA with 4 096 bits", nil, "rsa-4096", nil, acted},
		{"key-rsa-5120", "RSA with 5 120 bits (D22)", nil, "rsa-5120", nil, notAuthentic},
	} {
		change := sealed(func(s *seal) { s.selector, s.tags = c.name, c.tags })
		if c.key != "" {
			key, record := signs(c.key)
			c.records = []string{record}
			change = sealed(func(s *seal) { s.selector, s.key = c.name, key })
		}
		s.DNS[c.name+"._domainkey.buyer.test"] = c.records
		s.singles(byHand, []single{{c.name, c.why, change, c.want}})
	}
	s.DNS["identity._domainkey.buyer.test"] = []string{"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(append([]byte{1}, make([]byte, 31)...))}
	s.singles(byHand, []single{{"key-identity", "the identity as ed25519 key, for which anybody can sign", sealed(func(s *seal) {
		s.selector, s.algorithm = "identity", "ed25519-sha256"
		s.value = func([]byte) []byte { return append([]byte{1}, make([]byte, 63)...) }
	}), notAuthentic}})
}

func padRecord(record string, n int) string {
	return record + "; n=" + strings.Repeat("n", n-len(record)-4)
}

// alignments: the domain of the signature and that of From belong to one
// organisation (D21, D41).
func alignments(s *suite) {
	s.singles(byHand, alignmentRows(s, []alignment{
		{"align-from-subdomain", "From in a subdomain of d=", "buyer.test", "mail.buyer.test", true},
		{"align-d-subdomain", "d= in a subdomain of From", "mail.buyer.test", "buyer.test", true},
		{"align-siblings", "two subdomains of one organisation, relaxed (D21)", "a.buyer.test", "b.buyer.test", true},
		{"align-foreign", "another organisation (D21)", "third.test", "buyer.test", false},
		{"align-suffix", "d= that ends in the From domain as a string", "notbuyer.test", "buyer.test", false},
		{"align-prefix", "d= that begins with it", "buyer.test.third.test", "buyer.test", false},
		{"align-tld", "d= is a public suffix (D21)", "test", "buyer.test", false},
		{"align-co-uk", "d= is a public suffix of two labels (D21)", "co.uk", "buyer.co.uk", false},
		{"align-under-co-uk", "two organisations under one suffix", "third.co.uk", "buyer.co.uk", false},
		{"align-own-co-uk", "one organisation under it", "mail.buyer.co.uk", "buyer.co.uk", true},
		{"align-private-suffix", "two tenants of a private suffix (D41)", "third.github.io", "buyer.github.io", false},
		{"align-private-suffix-itself", "the private suffix itself (D41)", "github.io", "buyer.github.io", false},
		{"align-deep", "d= four labels down in the organisation", "a.b.c.buyer.test", "buyer.test", true},
		{"align-parent-of-suffix", "d= above the public suffix", "uk", "buyer.co.uk", false},
		{"align-own-private", "one tenant of a private suffix, and its subdomain (D41)", "mail.buyer.github.io", "buyer.github.io", true},
		{"align-appspot", "two tenants of appspot.com (D41)", "third.appspot.com", "buyer.appspot.com", false},
		{"align-one-label", "d= and From of one label", "localhost", "localhost", false},
		{"align-d-ip", "d= that is an address", "192.0.2.1", "buyer.test", false},
		{"align-d-space", "a space in d=", "buyer.test .third.test", "buyer.test", false},
		{"align-d-slash", "a slash in d=", "buyer.test/.third.test", "buyer.test", false},
		{"align-d-wildcard", "a star in d=", "*.test", "buyer.test", false},
		{"align-d-empty", "an empty d= (D21)", "", "buyer.test", false},
		{"align-d-quote", "a quote in d= (D21)", "buyer.test'.third.test", "buyer.test", false},
		{"align-d-paren", "a parenthesis in d= (D21)", "buyer.test(.third.test", "buyer.test", false},
		{"align-d-dot", "a dot behind d= (D21)", "buyer.test.", "buyer.test", false},
	}))
}

// strictSuite is strict alignment (D21).
func strictSuite() *suite {
	s := newSuite("dkim-strict", "DKIM with strict alignment: the domain of the signature is the domain of From. Messages are unsigned, and allowed to be.")
	s.Inbox.Unsigned, s.Inbox.Auth.Alignment = "allow", "strict"
	s.singles(byHand, alignmentRows(s, []alignment{
		{"equal", "the same domain (D21)", "buyer.test", "buyer.test", true},
		{"equal-capitals", "in other letter case (D21)", "BUYER.test", "buyer.test", true},
		{"from-subdomain", "From in a subdomain of d= (D21)", "buyer.test", "mail.buyer.test", false},
		{"d-subdomain", "d= in a subdomain of From (D21)", "mail.buyer.test", "buyer.test", false},
	}))
	return s
}

type alignment struct {
	name, why, signer, from string
	aligned                 bool
}

func alignmentRows(s *suite, list []alignment) []single {
	var rows []single
	for _, a := range list {
		s.DNS["s1._domainkey."+a.signer] = []string{s.world.buyer.dkim.record()}
		want := notAuthentic
		if a.aligned {
			want = acted
		}
		rows = append(rows, single{a.name, a.why, func(l *letter) {
			by := *l.by
			by.address = "agent@" + a.from
			l.by, l.From.Address, l.From.Party = &by, by.address, ""
			sealed(func(s *seal) { s.domain = a.signer })(l)
		}, want})
	}
	return rows
}

// dnsLater: DNS trouble is not a verdict (section 5, D45).
func dnsLater(s *suite) {
	s.DNSErrors["slow._domainkey.buyer.test"] = "temporary"
	slow := sealed(func(s *seal) { s.selector = "slow" })
	s.singles(byHand, []single{
		{"dns-unanswered", "the key cannot be looked up for now: try again", slow, retry},
		{"dns-unanswered-foreign", "an unaligned signature's key is not even asked for", sealed(func(s *seal) { s.selector, s.domain = "slow", "third.test" }), notAuthentic},
		{"dns-unanswered-beside-good", "a signature whose key cannot be looked up, and a good one", func(l *letter) {
			good, waits := l.sealWith(nil), l.sealWith(func(s *seal) { s.selector = "slow" })
			l.seal = func(mail string) string { return waits(good(mail)) }
		}, acted},
		{"dns-unanswered-beside-broken", "and a broken one: the one that waits may yet count", func(l *letter) {
			bad, waits := l.sealWith(func(s *seal) { s.value = func(b []byte) []byte { b[9] ^= 1; return b } }), l.sealWith(func(s *seal) { s.selector = "slow" })
			l.seal = func(mail string) string { return waits(bad(mail)) }
		}, retry},
	})
	s.DNSErrors["slow._domainkey.third.test"] = "temporary"

	t := s.story("dns-retried-again", "another delivery is retried as well: nothing was remembered (D45)")
	l := byHand(t)
	slow(l)
	t.deliver(l, retry)
	t.deliver(l, retry)

	t = s.story("dns-good-copy-meanwhile", "a copy with a signature that can be checked counts meanwhile (D45)")
	l = byHand(t)
	t.deliver(l.copy(slow), retry)
	t.deliver(l, acted)
	t.tick(t.now + hour)
	t.final(l, "open")

	t = s.story("dns-for-a-day", "after 24 h of trying the mail is plain: the offer of this inbox stays as it was")
	offer := t.sent(t.times(t.seller()))
	decline := t.decline(t.buyer(), offer)
	unsigned(decline)
	slow(decline)
	t.deliver(decline, retry)
	t.tick(t.now + day + hour)
	t.final(offer, "open")
}
