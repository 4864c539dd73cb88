package main

import "strings"

// authresSuites are the Authentication-Results of a trusted server (section
// 5, D53; attacks A6).
func authresSuites() []*suite {
	topmost := authresSuite("authres", "Authentication-Results of mx.seller.test, the topmost field: read by its grammar. Mails have no DKIM signature where not said otherwise; messages are unsigned, and allowed to be.", "topmost")
	topmost.singles(byReport, goodReports())
	topmost.singles(byReport, badReports())
	topmost.singles(byReport, placedReports(false))
	topmost.singles(byHand, weakServers())

	all := authresSuite("authres-all", "Authentication-Results of mx.seller.test, every field of it (D53).", "all")
	all.singles(byReport, placedReports(true))

	verify := newSuite("authres-ignored", "An inbox that verifies DKIM itself does not look at Authentication-Results.")
	verify.singles(byReport, []single{{"ignored", "a report of a pass, and no signature", reported(pass), notAuthentic}})
	return []*suite{topmost, all, verify}
}

func authresSuite(name, about, trust string) *suite {
	s := newSuite(name, about)
	s.Inbox.Unsigned, s.Inbox.Auth = "allow", auth{Mode: "authres", AuthservID: "mx.seller.test", Trust: trust}
	return s
}

const (
	server  = "mx.seller.test"
	pass    = server + "; dkim=pass header.d=buyer.test header.s=s1"
	failing = server + "; dkim=fail header.d=buyer.test"
	foreign = server + "; dkim=pass header.d=third.test"
	trace   = "Received: from mx.buyer.test by " + server + "; Mon, 2 Nov 2026 10:01:30 +0000\n"
)

// byReport is a mail without DKIM signature.
func byReport(t *story) *letter {
	l := byHand(t)
	undkimmed(l)
	return l
}

// reported puts fields on top of the mail, topmost first.
func reported(values ...string) change {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(report(v))
	}
	return mailed(before(b.String()))
}

func report(value string) string { return "Authentication-Results: " + value + "\n" }

func goodReports() []single {
	good := func(name, why, value string) single { return single{name, why, reported(value), acted} }
	return []single{
		good("baseline", "the baseline of the cases beside it", pass),
		good("comments", "comments where there may be some", "(a) "+server+" (b) ; (c) dkim (d) = (e) pass (f; dkim=fail) header.d=buyer.test (g)"),
		good("version", "the version", server+" 1; dkim=pass header.d=buyer.test"),
		good("folded", "a folded field", server+";\n\tdkim=pass\n\theader.d=buyer.test"),
		good("identity-only", "only header.i", server+"; dkim=pass header.i=@buyer.test"),
		good("identity-with-local-part", "header.i with a local part", server+"; dkim=pass header.i=agent@buyer.test"),
		good("quoted-value", "a quoted property", server+`; dkim=pass header.d=buyer.test header.b="ab/c="`),
		good("reason", "a quoted reason", server+`; dkim=pass reason="2048-bit key" header.d=buyer.test`),
		good("capitals", "methods and results have no letter case", "MX.seller.test; DKIM=Pass Header.D=Buyer.test"),
		good("method-version", "a version of the method", server+"; dkim/1=pass header.d=buyer.test"),
		good("several-methods", "a result among others", server+"; spf=pass smtp.mailfrom=agent@buyer.test; dkim=pass header.d=buyer.test; dmarc=pass header.from=buyer.test"),
		good("two-signatures", "a failure of another domain beside the pass", server+"; dkim=fail header.d=third.test; dkim=pass header.d=buyer.test"),
		good("semicolon-last", "a semicolon behind the last result, as large providers write", pass+";"),
		good("comment-last", "a comment behind it", pass+" (a; dkim=fail)"),
		good("comment-escaped", "a parenthesis that is escaped in a comment", pass+` (a \) ; dkim=fail b)`),
		good("id-quoted", "a quoted id", `"mx.seller.test"; dkim=pass header.d=buyer.test`),
		good("no-space", "no white space where none is needed", server+";dkim=pass header.d=buyer.test"),
		good("identity-and-domain", "both, of one domain", server+"; dkim=pass header.i=@buyer.test header.d=buyer.test"),
		good("identity-subdomain", "header.i in a subdomain of header.d", server+"; dkim=pass header.i=@mail.buyer.test header.d=buyer.test"),
		good("algorithm", "algorithm and selector beside it", server+"; dkim=pass header.d=buyer.test header.a=rsa-sha256 header.s=s1 header.b=abc+/DEF="),
		good("domain-quoted", "a quoted domain", server+`; dkim=pass header.d="buyer.test"`),
		good("pass-beside-fail-same", "two signatures of the domain, one of them broken on the way", server+"; dkim=fail header.d=buyer.test header.s=s2; dkim=pass header.d=buyer.test header.s=s1"),
		good("arc-beside", "the results of other methods with properties of their own", server+`; arc=pass (i=1 dkim=pass); iprev=pass policy.iprev=192.0.2.1; auth=none smtp.auth=x; dkim=pass header.d=buyer.test`),
		good("passes-many", "the fiftieth pass is that of the domain", server+"; "+strings.Repeat("dkim=pass header.d=third.test; ", 49)+"dkim=pass header.d=buyer.test"),
		good("subdomain", "a domain of the same organisation (D21)", server+"; dkim=pass header.d=mail.buyer.test"),
	}
}

func badReports() []single {
	bad := func(name, why, value string) single { return single{name, why, reported(value), notAuthentic} }
	return []single{
		{"nothing", "no field", nil, notAuthentic},
		bad("no-id", "a field without an id (D53)", "dkim=pass header.d=buyer.test"),
		bad("empty", "an empty field (D53)", ""),
		bad("other-server", "a field of another server", "mx.third.test; dkim=pass header.d=buyer.test"),
		bad("id-as-suffix", "an id that ends in the right one", "evil.mx.seller.test; dkim=pass header.d=buyer.test"),
		bad("id-as-prefix", "an id that begins with it", "mx.seller.test.evil.test; dkim=pass header.d=buyer.test"),
		bad("id-in-comment", "the id in a comment", "(mx.seller.test) mx.evil.test; dkim=pass header.d=buyer.test"),
		bad("version-2", "another version of the field", server+" 2; dkim=pass header.d=buyer.test"),
		bad("id-only", "an id and nothing else", server),
		bad("id-semicolon", "an id and a semicolon", server+";"),
		bad("id-trailing-dot", "a dot behind the id", server+".; dkim=pass header.d=buyer.test"),
		bad("id-quoted-more", "a quoted id that goes on", `"mx.seller.test "; dkim=pass header.d=buyer.test`),
		bad("id-kelvin", "a letter that some tables fold into one of the id", "mx.\u017feller.test; dkim=pass header.d=buyer.test"),
		bad("id-list", "two ids", "mx.seller.test, mx.evil.test; dkim=pass header.d=buyer.test"),
		bad("id-behind", "the id behind another", "mx.evil.test mx.seller.test; dkim=pass header.d=buyer.test"),
		bad("version-10", "a version that begins with 1", server+" 10; dkim=pass header.d=buyer.test"),
		bad("version-of-method-2", "another version of the method", server+"; dkim/2=pass header.d=buyer.test"),
		bad("permerror", "a permanent error", server+"; dkim=permerror header.d=buyer.test"),
		bad("softfail", "a result that dkim has not", server+"; dkim=softfail header.d=buyer.test"),
		bad("pass-quoted", "a quoted result", server+`; dkim="pass" header.d=buyer.test`),
		bad("result-empty", "no result", server+"; dkim= header.d=buyer.test"),
		bad("results-without-semicolon", "two results without a semicolon between them", server+"; spf=pass dkim=pass header.d=buyer.test"),
		bad("result-in-result", "a result as the value of a property", server+"; dkim=fail header.d=buyer.test x.y=;dkim=pass.header.d=buyer.test"),
		bad("property-of-other-type", "the domain at another type of property", server+"; dkim=pass smtp.d=buyer.test"),
		bad("property-without-type", "a property without its type", server+"; dkim=pass d=buyer.test"),
		bad("property-from", "header.from is what was claimed, not what was proven", server+"; dkim=pass header.from=buyer.test"),
		bad("property-twice-equal", "a property twice, the same", server+"; dkim=pass header.d=buyer.test header.d=buyer.test"),
		bad("property-twice-case", "and once in capitals", server+"; dkim=pass header.d=third.test HEADER.D=buyer.test"),
		bad("domain-empty", "an empty domain", server+`; dkim=pass header.d=""`),
		bad("domain-suffix", "a domain that ends in the right one as a string", server+"; dkim=pass header.d=notbuyer.test"),
		bad("domain-prefix", "one that begins with it", server+"; dkim=pass header.d=buyer.test.third.test"),
		bad("domain-dot", "a dot behind the domain", server+"; dkim=pass header.d=buyer.test."),
		bad("domain-list", "two domains", server+"; dkim=pass header.d=third.test,buyer.test"),
		bad("identity-without-at", "header.i that is a domain", server+"; dkim=pass header.i=buyer.test"),
		bad("identity-foreign", "header.i of another domain", server+"; dkim=pass header.i=agent@third.test"),
		bad("identity-at-in-local", "header.i with the domain in its quoted local part", server+`; dkim=pass header.i="x@buyer.test"@third.test`),
		bad("identity-parent", "header.i above header.d", server+"; dkim=pass header.i=@buyer.test header.d=mail.third.test"),
		bad("comment-unopened", "a parenthesis that nothing opened", server+"; dkim=pass) header.d=buyer.test"),
		bad("quote-in-domain", "a quote that begins within a value", server+`; dkim=pass header.d=buyer.test"x"`),
		bad("line-end-quoted", "a fold inside a quoted reason, with a result behind it", server+"; dkim=fail reason=\"x\n ; dkim=pass header.d=buyer.test\" header.d=buyer.test"),
		bad("fail", "the server's own failure", failing),
		bad("none", "the server found none", server+"; none"),
		bad("dkim-none", "and says so by method", server+"; dkim=none"),
		bad("foreign", "a pass of another domain", foreign),
		bad("foreign-and-fail", "a pass of another domain and a failure of the right one", server+"; dkim=pass header.d=third.test; dkim=fail header.d=buyer.test"),
		bad("comment-injection", "a result inside a comment", server+"; dkim=fail (; dkim=pass header.d=buyer.test) header.d=buyer.test"),
		bad("comment-after-id", "a result inside a comment behind the id", server+" (; dkim=pass header.d=buyer.test); dkim=fail header.d=buyer.test"),
		bad("comment-property", "a property inside a comment", server+"; dkim=pass (header.d=buyer.test) header.d=third.test"),
		bad("quoted-reason", "a result inside a quoted reason", server+`; dkim=fail reason="; dkim=pass header.d=buyer.test " header.d=buyer.test`),
		bad("quoted-property", "a result inside a quoted property", server+`; spf=fail smtp.mailfrom="x; dkim=pass header.d=buyer.test "`),
		bad("property-twice", "a property twice", server+"; dkim=pass header.d=third.test header.d=buyer.test"),
		bad("identity-contradicts", "header.i of another domain than header.d", server+"; dkim=pass header.d=third.test header.i=@buyer.test"),
		bad("domain-quote", "a quote in the domain", server+"; dkim=pass header.d=buyer.test'.third.test"),
		bad("domain-paren", "a parenthesis in the domain", server+"; dkim=pass header.d=buyer.test(.third.test"),
		bad("domain-public-suffix", "a public suffix (D21)", server+"; dkim=pass header.d=test"),
		bad("domain-missing", "a pass of nobody", server+"; dkim=pass"),
		bad("domain-of-another-method", "the domain stands at another method", server+"; dkim=pass; spf=pass header.d=buyer.test"),
		bad("dmarc-only", "dmarc=pass is no dkim=pass", server+"; dmarc=pass header.from=buyer.test"),
		bad("spf-only", "nor is spf=pass", server+"; spf=pass smtp.mailfrom=agent@buyer.test"),
		bad("arc", "nor arc=pass", server+"; arc=pass header.d=buyer.test"),
		bad("x-dkim", "nor x-dkim=pass", server+"; x-dkim=pass header.d=buyer.test"),
		bad("dkim-atps", "nor dkim-atps=pass", server+"; dkim-atps=pass header.d=buyer.test"),
		bad("policy", "policy is no pass", server+"; dkim=policy header.d=buyer.test"),
		bad("neutral", "nor neutral", server+"; dkim=neutral header.d=buyer.test"),
		bad("temperror", "nor a temporary error, and the field will not change: no retry", server+"; dkim=temperror header.d=buyer.test"),
		bad("passed", "nor passed", server+"; dkim=passed header.d=buyer.test"),
		bad("glued", "text glued to the result", server+"; dkim=pass.header.d=buyer.test"),
		bad("unclosed-quote", "a quote that does not end", server+`; dkim=pass reason="x header.d=buyer.test`),
		bad("unclosed-comment", "a comment that does not end", server+"; dkim=pass header.d=buyer.test (x"),
		bad("encoded-word", "a field as an encoded word", "=?us-ascii?Q?mx.seller.test=3B_dkim=3Dpass_header.d=3Dbuyer.test?="),
		{"arc-field", "a field of another name", mailed(before("ARC-Authentication-Results: i=1; " + pass + "\n")), notAuthentic},
		{"in-part", "a field in the head of a part", built(mixed, "--b0\n"+report(pass)+"{text}\n--b0\n{machine}\n--b0--\n"), notAuthentic},
		{"name-with-space", "a space before the colon", mailed(before("Authentication-Results : " + pass + "\n")), none},
		{"two-from", "a pass, and two From fields", mailed2(before(report(pass)), swap(fromLine, fromLine+fromLine)), plain("from")},
		{"from-other", "a pass, and From of another domain", mailed2(before(report(pass)), swap(fromLine, "From: agent@third.test\n")), plain("from")},
	}
}

// placedReports: which of several fields count (section 5, D53).
func placedReports(all bool) []single {
	either := func(topmost, every expect) expect {
		if all {
			return every
		}
		return topmost
	}
	return []single{
		{"above-received", "the field above the topmost Received", mailed(before(report(pass) + trace)), acted},
		{"below-received", "the only one below it: the topmost of its id", mailed(before(trace + report(pass))), acted},
		{"two-above-received", "two of the id above the topmost Received: both count", mailed(before(report(server+"; spf=pass smtp.mailfrom=buyer.test") + report(pass) + trace)), acted},
		{
			"second-below-received", "a second one below the topmost Received, where a sender can write (D53)",
			mailed(before(report(failing) + trace + report(pass))), either(notAuthentic, acted),
		},
		{
			"second-below-received-foreign", "and when the server's own passes another domain (D53)",
			mailed(before(report(foreign) + trace + report(pass))), either(notAuthentic, acted),
		},
		{
			"split-by-received", "a server that splits its results over its hops (D53)",
			mailed(before(report(server+"; spf=pass smtp.mailfrom=buyer.test") + trace + report(pass))), either(notAuthentic, acted),
		},
		{"forged-above-by-other-id", "a field of another server on top, and the server's own failure", mailed(before(report("mx.third.test; dkim=pass header.d=buyer.test") + report(failing) + trace)), notAuthentic},
		{"fail-then-pass-above", "the server's failure, and a pass of its id that stands above Received too: both count", mailed(before(report(failing) + report(pass) + trace)), acted},
		{"pass-then-fail-below", "the server's pass, and an older failure below Received", mailed(before(report(pass) + trace + report(failing))), acted},
		{"garbled-on-top", "a field of the id on top that cannot be read: what stands below may be forged", mailed(before(report(server+"; dkim=pass (") + trace + report(pass))), either(notAuthentic, notAuthentic)},
		{"no-id-on-top", "a field without an id on top (D53)", mailed(before(report("dkim=pass header.d=buyer.test") + trace)), notAuthentic},
		{"below-two-received", "the only one of the id, below two hops", mailed(before(trace + trace + report(pass))), acted},
		{"two-below-received", "two of the id below the topmost Received: the upper one alone counts (D53)", mailed(before(trace + report(failing) + report(pass))), either(notAuthentic, acted)},
		{"other-server-above", "a field of another server above: not of the id", mailed(before(report("mx.third.test; dkim=fail header.d=buyer.test") + report(pass) + trace)), acted},
	}
}

// weakServers: where the signature is still in the mail it must cover From and
// have no l=, whatever the server says of it.
func weakServers() []single {
	onTop := func(value string) change {
		return func(l *letter) {
			seal := l.seal
			l.seal = func(mail string) string { return strings.ReplaceAll(report(value), "\n", "\r\n") + seal(mail) }
		}
	}
	return []single{
		{"signature-there", "a pass, and the signature it speaks of", onTop(pass), acted},
		{"signature-of-another-with-l", "a pass, and a signature of another domain with l=, which it does not speak of", all(onTop(pass), func(l *letter) {
			whole := l.seal
			other := l.sealWith(func(s *seal) {
				s.domain, s.key, s.tags = "third.test", l.story.suite.world.third.dkim, swap("v=1;", "v=1; l=10;")
			})
			l.seal = func(mail string) string { return whole(other(mail)) }
		}), acted},
		{"signature-broken", "a pass for a signature that is broken by now: the server saw it whole", all(sealed(func(s *seal) { s.value = func(b []byte) []byte { b[9] ^= 1; return b } }), onTop(pass)), acted},
		{"signature-with-l-among-two", "one with l= beside a good one of the domain: which of them passed is not said (D22)", all(func(l *letter) {
			good, limited := l.sealWith(nil), l.sealWith(func(s *seal) { s.tags = swap("v=1;", "v=1; l=10;") })
			l.seal = func(mail string) string { return limited(good(mail)) }
		}, onTop(pass)), notAuthentic},
		{"signature-with-l", "a pass for a signature with l= (D22)", all(tags(swap("v=1;", "v=1; l=10;")), onTop(pass)), notAuthentic},
		{"signature-without-from", "a pass for a signature that does not cover From (D22)", all(sealed(func(s *seal) { s.names = without(s.names, "From") }), onTop(pass)), notAuthentic},
	}
}
