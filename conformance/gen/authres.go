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
		{"signature-with-l", "a pass for a signature with l= (D22)", all(tags(swap("v=1;", "v=1; l=10;")), onTop(pass)), notAuthentic},
		{"signature-without-from", "a pass for a signature that does not cover From (D22)", all(sealed(func(s *seal) { s.names = without(s.names, "From") }), onTop(pass)), notAuthentic},
	}
}
