package main

import "strings"

// headerSuites are the From field and the header block (section 4, D9, D54;
// attacks A1 and A2).
func headerSuites() []*suite {
	from := newSuite("from", "The From field: one mailbox that every reader reads alike, equal to from.address. Looked at before DKIM. Messages are unsigned, and allowed to be.")
	from.Inbox.Unsigned = "allow"
	from.singles(byHand, goodSenders())
	from.singles(byHand, badSenders(from))
	internationalSenders(from)
	from.singles(func(t *story) *letter {
		l := t.times(t.seller())
		unsigned(l)
		l.From.Party = ""
		l.To.Address = t.seller().address
		return l
	}, []single{
		{"own-address", "a mail of the inbox's own address, signed by its own domain (D54)", nil, plain("from")},
	})

	header := newSuite("header", "The header block: one that every reader cuts into the same fields, or plain mail. Messages are unsigned, and allowed to be.")
	header.Inbox.Unsigned = "allow"
	header.singles(byHand, headers())
	agentOf(header)
	return []*suite{from, header}
}

const fromLine = "From: Buyer agent <agent@buyer.test>\n"

// fromField writes another From field, signed as it stands.
func fromField(value string) change { return mailed(swap(fromLine, "From: "+value+"\n")) }

func goodSenders() []single {
	return []single{
		{"baseline", "the baseline of the cases beside it", nil, acted},
		{"bare", "an address alone", fromField("agent@buyer.test"), acted},
		{"angle-only", "an address in angle brackets", fromField("<agent@buyer.test>"), acted},
		{"display-quoted", "a display name in quotes, with a comma", fromField(`"Buyer, agent" <agent@buyer.test>`), acted},
		{"display-is-own-address", "the sender's own address as display name, in quotes", fromField(`"agent@buyer.test" <agent@buyer.test>`), acted},
		{"display-encoded", "an encoded display name", fromField("=?utf-8?Q?K=C3=A4ufer?= <agent@buyer.test>"), acted},
		{"display-encoded-line-end", "a display name that decodes to a line end and a field: it is a name", fromField("=?utf-8?B?QWdlbnQNCkJjYzogeEBldmlsLnRlc3Q=?= <agent@buyer.test>"), acted},
		{"comment-behind", "a comment behind the address", fromField("agent@buyer.test (Buyer agent)"), acted},
		{"domain-capitals", "domains have no letter case (D9)", fromField("agent@BUYER.Test"), acted},
		{"folded", "a folded field", fromField("Buyer agent\n <agent@buyer.test>"), acted},
		{"name-capitals", "field names have no letter case", mailed(swap("From:", "FROM:")), acted},
		{"display-escaped", "a quote in a quoted display name", fromField(`"Buyer \"the\" agent" <agent@buyer.test>`), acted},
		{"display-utf8", "raw UTF-8 in a display name", fromField("Käufer <agent@buyer.test>"), acted},
		{"display-windows-1252", "a display name in another charset: it is not looked at", fromField("=?windows-1252?Q?K=E4ufer?= <agent@buyer.test>"), acted},
		{"display-japanese", "as mail programs in Japan write it", fromField("=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?= <agent@buyer.test>"), acted},
		{"display-charset-unknown", "and in one that nobody knows", fromField("=?x-none?Q?Buyer?= <agent@buyer.test>"), acted},
		{"display-encoding-broken", "an encoded word that breaks its encoding is a name as it stands", fromField("=?utf-8?B?!!!?= <agent@buyer.test>"), acted},
		{"comment-encoded", "a comment in another charset", fromField("agent@buyer.test (=?gb2312?B?xOO6ww==?=)"), acted},
		{"display-two-words", "encoded words beside each other", fromField("=?utf-8?Q?K=C3=A4?= =?utf-8?Q?ufer?= <agent@buyer.test>"), acted},
		{"display-empty", "an empty display name", fromField(`"" <agent@buyer.test>`), acted},
		{"comment-nested", "a comment in a comment", fromField("agent@buyer.test (Buyer (the) agent)"), acted},
		{"white-space-around", "white space round the address", fromField("  agent@buyer.test  "), acted},
		{"folded-twice", "a field in three lines", fromField("Buyer\n agent\n\t<agent@buyer.test>"), acted},
		{"reply-to-elsewhere", "a Reply-To of somebody else says nothing about the sender", mailed(before("Reply-To: agent@third.test\n")), acted},
	}
}

// badSenders name somebody whom another reader does not see. Some are signed
// by the domain they name, so that only the field itself stands in the way.
func badSenders(s *suite) []single {
	third := s.world.third
	// forged is a mail that the third signs, with a field that is to pass for
	// the buyer's.
	forged := func(fields string) change {
		return all(mailed(swap(fromLine, fields)), sealed(func(s *seal) {
			s.domain, s.names = third.domain(), strings.Fields("From To Subject Date Message-ID MIME-Version Content-Type")
		}))
	}
	field := func(value string) change { return forged("From: " + value + "\n") }
	from := plain("from")
	return []single{
		{"two-forged-first", "two From fields, the victim's on top: DKIM takes the bottom one", forged(fromLine + "From: agent@third.test\n"), from},
		{"two-forged-last", "and at the bottom", forged("From: agent@third.test\n" + fromLine), from},
		{"two-same", "two From fields, the same", mailed(before(fromLine)), from},
		{"two-prepended", "a second From put on top of a mail that its author signed with From once in h=", all(
			sealed(func(s *seal) { s.names = s.names[1:] }), after(before("From: agent@third.test\r\n"))), from},
		{"two-other-case", "two From fields in other letter case", forged("FROM: agent@buyer.test\nfrom: agent@third.test\n"), from},
		{"first-line-continues", "the first line of the mail is a continuation of nothing, and to some a From field", all(mailed2(before(" From: agent@buyer.test\n"), swap("\n"+fromLine, "\nFrom: agent@third.test\n")), undkimmed), none},
		{"first-line-continues-below", "the same line below the receiving server's field, which it continues", all(forged("From: agent@third.test\n"), after(before("Received: from mx.third.test by mx.seller.test\r\n From: agent@buyer.test\r\n"))), from},
		{"in-continuation", "a continuation of another field that looks like From", forged("X-Note: a\n From: agent@buyer.test\nFrom: agent@third.test\n"), from},
		{"name-space", "a space before the colon: From to some, unknown to others", forged("From : agent@buyer.test\nFrom: agent@third.test\n"), none},
		{"name-tab", "and a tab", forged("From\t: agent@buyer.test\nFrom: agent@third.test\n"), none},
		{"name-folded", "a folded field name", forged("From\n : agent@buyer.test\nFrom: agent@third.test\n"), none},
		{"name-nul", "a NUL in the field name", forged("From\x00: agent@buyer.test\nFrom: agent@third.test\n"), none},
		{"sender", "Sender names the victim", forged("From: agent@third.test\nSender: agent@buyer.test\n"), from},
		{"resent-from", "Resent-From names the victim", forged("From: agent@third.test\nResent-From: agent@buyer.test\n"), from},
		{"missing", "no From, which h= covers all the same", forged(""), from},
		{"empty", "an empty From", field(""), from},
		{"two-addresses", "two mailboxes, the victim first", field("agent@buyer.test, agent@third.test"), from},
		{"two-addresses-last", "and last", field("agent@third.test, agent@buyer.test"), from},
		{"bare-then-angle", "an address as unquoted display name", field("agent@buyer.test <agent@third.test>"), from},
		{"encoded-address", "the address inside an encoded word", field("=?utf-8?Q?agent=40buyer.test?="), from},
		{"encoded-address-other-charset", "and in another charset", field("=?gb2312?Q?agent=40buyer.test?="), from},
		{"encoded-name-is-address", "an encoded display name that is the victim's address", field("=?utf-8?Q?agent=40buyer.test?= <agent@third.test>"), from},
		{"route", "a route", field("<@buyer.test,@third.test:agent@buyer.test>"), from},
		{"quoted-pair", "a quoted pair before a comma", field(`agent@buyer.test\,@third.test`), from},
		{"text-behind-angle", "text behind the angle brackets", field("<agent@buyer.test>agent@third.test"), from},
		{"text-before-angle", "an address before them", field("<agent@third.test> <agent@buyer.test>"), from},
		{"display-is-address", "the victim's address as display name", field(`"agent@buyer.test" <agent@third.test>`), from},
		{"comment-is-address", "and in a comment", field("agent@third.test (agent@buyer.test)"), from},
		{"unclosed-comment", "a comment that does not end swallows the address", field("agent@buyer.test (<agent@third.test>"), from},
		{"unclosed-quote", "a quote that does not end", field(`"agent@buyer.test <agent@third.test>`), from},
		{"nul-in-address", "a NUL behind the victim's address", field("agent@buyer.test\x00@third.test"), none},
		{"bare-cr", "a bare CR inside", field("agent@buyer.test\r <agent@third.test>"), none},
		{"quoted-local-at", "a quoted local part with @", field(`"agent@buyer.test"@third.test`), from},
		{"double-at", "two @", field("agent@buyer.test@third.test"), from},
		{"percent", "the percent hack", field("agent%buyer.test@third.test"), from},
		{"third-signed-by-buyer", "the other way round: From of the third, signed by the buyer", fromField("agent@third.test"), from},
		{"literal", "a domain literal", fromField("agent@[192.0.2.1]"), from},
		{"trailing-dot", "a dot at the end", fromField("agent@buyer.test."), from},
		{"empty-label", "an empty label", fromField("agent@buyer..test"), from},
		{"group", "a group of one", fromField("Buyers: agent@buyer.test;"), from},
		{"group-and-mailbox", "a group and a mailbox", fromField("Buyers: agent@third.test;, agent@buyer.test"), from},
		{"quoted-local-equal", "a quoted local part that is equal once unquoted (D9)", fromField(`"agent"@buyer.test`), from},
		{"plus-tag", "a tag that from.address has not", fromField("agent+x@buyer.test"), from},
		{"local-capitals", "local parts are compared byte for byte (D9)", fromField("Agent@buyer.test"), from},
		{"other-user", "another mailbox of the same domain", fromField("other@buyer.test"), from},
		{"homograph", "a letter of another alphabet in the domain", fromField("agent@buy\u0435r.test"), from},
		{"ideographic-dot", "an ideographic dot", fromField("agent@buyer\u3002test"), from},
		{"zero-width", "a zero-width space in the domain", fromField("agent@buy\u200ber.test"), from},
		{"fullwidth", "full-width letters in the domain: no international name, a disguise", fromField("agent@\uff42uyer.test"), from},
		{"display-latin-1", "a display name in an old charset: readers differ in what they see", fromField("K\xe4ufer <agent@buyer.test>"), from},
		{"quoted-local-space", "a quoted local part with a space", fromField(`"agent x"@buyer.test`), from},
		{"local-dot-first", "a local part that begins with a dot", fromField(".agent@buyer.test"), from},
		{"local-dots", "a local part with two dots in a row", fromField("agent..x@buyer.test"), from},
		{"local-utf8", "an international local part (D9)", fromField("agént@buyer.test"), from},
		{"local-control", "a control character in the local part", fromField("agent\x11@buyer.test"), from},
		{"domain-underscore", "an underscore in the domain (D9)", fromField("agent@buy_er.test"), from},
		{"comment-inside", "a comment inside the address: no two readers agree", fromField("agent(x)@buyer.test"), from},
		{"angle-twice", "two pairs of angle brackets", fromField("<<agent@buyer.test>>"), from},
		{"angle-unclosed", "angle brackets that do not close", fromField("Buyer <agent@buyer.test"), from},
		{"angle-empty", "nobody", fromField("<>"), from},
		{"name-alone", "a display name alone", fromField("Buyer agent"), from},
		{"comma-behind", "a comma behind the address", fromField("agent@buyer.test,"), from},
		{"semicolon-between", "two addresses as some programs list them", fromField("agent@buyer.test; agent@third.test"), from},
		{"same-twice", "the same mailbox twice", fromField("agent@buyer.test, agent@buyer.test"), from},
		{"group-empty", "an empty group", fromField("undisclosed-recipients:;"), from},
		{"comments-deep", "10 000 comments in each other", fromField("agent@buyer.test " + strings.Repeat("(", 10000) + strings.Repeat(")", 10000)), from},
		{"encoded-words-many", "2 000 encoded words", fromField(strings.Repeat("=?utf-8?Q?a?=\n ", 2000) + "<agent@buyer.test>"), from},
		{"display-10-kb", "a display name of 10 KB", fromField(`"` + strings.Repeat("x", 10<<10) + `" <agent@buyer.test>`), from},
		{"subdomain-from", "a subdomain that from.address has not", fromField("agent@mail.buyer.test"), from},
		{"huge", "a field of 100 000 addresses", fromField(strings.Repeat("a@b.test,\n ", 20000) + "agent@buyer.test"), from},
	}
}

// mailed2 makes two edits of the written email.
func mailed2(first, second func(string) string) change {
	return mailed(func(text string) string { return second(first(text)) })
}

// internationalSenders: U-labels are mapped to A-labels first (D9).
func internationalSenders(s *suite) {
	const ascii = "xn--bcher-kva.test"
	s.DNS["s1._domainkey."+ascii] = []string{s.world.buyer.dkim.record()}
	for _, c := range []struct{ name, why, from, member string }{
		{"idn-in-from", "a U-label in From, the A-label in the message (D9)", "agent@bücher.test", "agent@" + ascii},
		{"idn-in-message", "the other way round (D9)", "agent@" + ascii, "agent@bücher.test"},
		{"idn-in-capitals", "U-labels have no letter case (D9)", "agent@BÜCHER.test", "agent@" + ascii},
	} {
		t := s.story(c.name, c.why)
		l := byHand(t)
		l.From.Address, l.From.Party = c.member, ""
		fromField(c.from)(l)
		sealed(func(s *seal) { s.domain = ascii })(l)
		t.deliver(l, acted)
	}
}

func headers() []single {
	return []single{
		{"baseline", "the baseline of the cases beside it", nil, acted},
		{"no-colon", "a line without colon: some readers skip it, some stop", mailed(before("no field\n")), none},
		{"bare-cr", "a bare CR in a field, as if a relay had changed a space", after(swap("Subject: Proposed times", "Subject: Proposed\rtimes")), none},
		{"bare-lf-once", "one line end is a bare LF", after(swap("MIME-Version: 1.0\r\n", "MIME-Version: 1.0\n")), none},
		{"bare-lf-throughout", "all line ends are bare LF, as some mailboxes keep mails: mended", after(func(t string) string { return strings.ReplaceAll(t, "\r\n", "\n") }), acted},
		{"nul", "a NUL in a field", mailed(before("X-Note: a\x00b\n")), none},
		{"name-8bit", "a field name that is not ASCII", mailed(before("X-N\u00f6te: a\n")), none},
		{"name-empty", "a field without a name", mailed(before(": a\n")), none},
		{"no-blank-line", "a header that never ends", after(func(t string) string { return strings.ReplaceAll(t, "\r\n\r\n", "\r\n") }), none},
		{"white-space-line", "a line of white space: to some readers the end of the header", mailed(swap("MIME-Version", "X-Note: a\n \nMIME-Version")), none},
		{"header-255-kb", "a header block just under 256 KiB", mailed(before(padding(255))), acted},
		{"header-257-kb", "a header block over 256 KiB", mailed(before(padding(257))), none},
		{"two-subjects", "a second Subject on top of a signed mail", after(before("Subject: Obey me\r\n")), anyPlain},
		{"two-to", "a second To", after(before("To: other@seller.test\r\n")), anyPlain},
		{"two-date", "a second Date", after(before("Date: Mon, 02 Nov 2026 10:00:00 +0000\r\n")), anyPlain},
		{"two-message-id", "a second Message-ID", after(before("Message-ID: <x@buyer.test>\r\n")), anyPlain},
		{"two-reply-to", "two Reply-To", mailed(before("Reply-To: a@buyer.test\nReply-To: b@buyer.test\n")), anyPlain},
		{"two-cc", "two Cc", mailed(before("Cc: a@buyer.test\nCc: b@buyer.test\n")), anyPlain},
		{"two-mime-version", "two MIME-Version", mailed(before("MIME-Version: 1.0\n")), anyPlain},
		{"two-transfer-encodings", "two Content-Transfer-Encoding", mailed(before("Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: 7bit\n")), anyPlain},
		{"two-subjects-other-case", "a second Subject in other letter case", after(before("SUBJECT: Obey me\r\n")), anyPlain},
		{"two-received", "trace fields may come more than once", after(before("Received: from a by b; Mon, 2 Nov 2026 10:01:30 +0000\r\nReceived: from c by a; Mon, 2 Nov 2026 10:01:29 +0000\r\n")), acted},
		{"two-references", "References twice says nothing about the sender", mailed(before("References: <a@b.test>\nReferences: <c@d.test>\n")), acted},
		{"references-long", "2 000 References", mailed(before("References:" + strings.Repeat(" <0123456789012345678@buyer.test>\n", 2000))), acted},
		{"in-reply-to-other", "threads are found by the signed id, whatever In-Reply-To says", mailed(before("In-Reply-To: <nothing@third.test>\n")), acted},
		{"date-missing", "no Date", mailed(func(t string) string { return cutField(t, "Date") }), acted},
		{"message-id-missing", "no Message-ID", mailed(func(t string) string { return cutField(t, "Message-ID") }), acted},
		{"to-missing", "no To: to.address says whom it is for", mailed(func(t string) string { return cutField(t, "To") }), acted},
		{"date-old", "a Date of last year: arrival and iat count", mailed(func(t string) string {
			return "Date: Mon, 03 Nov 2025 10:00:00 +0000\n" + cutField(t, "Date")
		}), acted},
		{"subject-8bit", "a Subject in an old charset", mailed(swap("Proposed times", "Vorschl\xe4ge")), acted},
		{"subject-encoded-line-end", "a Subject that decodes to a line end and a field is a Subject", mailed(swap("Proposed times", "=?utf-8?B?eA0KRnJvbTogYkB0aGlyZC50ZXN0?=")), acted},
		{"line-long", "a line of 10 000 bytes", mailed(before("X-Note: " + strings.Repeat("x", 10000) + "\n")), acted},
		{"fields-5000", "5 000 fields", mailed(before(strings.Repeat("X-N: a\n", 5000))), acted},
		{"name-with-colon-only", "a field without a value", mailed(before("X-Note:\n")), acted},
		{"name-del", "U+007F in a field name", mailed(before("X-N\x7fote: a\n")), none},
		{"mbox-line", "the From line of a mailbox file is no field", mailed(before("From agent@buyer.test Mon Nov  2 10:00:00 2026\n")), none},
		{"empty-line-first", "an empty line first: the header is over, and there is no From", after(before("\r\n")), none},
		{"bare-cr-in-body", "a bare CR in the text beside the machine part", after(swap("See the other part.", "See the\rother part.")), none},
		{"bare-lf-in-body", "a bare LF there", after(swap("See the other part.", "See the\nother part.")), none},
		{"cr-throughout", "line ends of CR only", after(func(t string) string { return strings.ReplaceAll(t, "\r\n", "\r") }), none},
		{"null-return-path", "a null return path, as a bounce has: the machine part is judged all the same", after(before("Return-Path: <>\r\n")), acted},
		{"auto-replied", "an automatic reply that carries a message", mailed(before("Auto-Submitted: auto-replied\n")), acted},
		{"two-sender", "two Sender", mailed(before("Sender: a@buyer.test\nSender: b@buyer.test\n")), anyPlain},
		{"two-content-type", "a second Content-Type on top", after(before("Content-Type: text/plain\r\n")), none},
		{"two-content-type-equal", "two, the same, both signed", mailed(before("Content-Type: " + mixed + "\n")), none},
		{"subject-utf8", "raw UTF-8 in the Subject", mailed(swap("Proposed times", "Vorschläge für Termine")), acted},
		{"received", "trace fields on top", after(before("Return-Path: <>\r\nReceived: from mx.buyer.test by mx.seller.test; Mon, 2 Nov 2026 10:01:30 +0000\r\n")), acted},
		{"message-id-other", "the Message-ID is for mail systems: it need not be that of the profile (D14)", mailed(func(t string) string { return strings.Replace(t, "Message-ID: <", "Message-ID: <x-", 1) }), acted},
		{"to-other-form", "the To field is not compared, to.address is", mailed(swap("To: agent@seller.test", "To: undisclosed-recipients:;")), acted},
		{"auto-submitted", "an automatic mail is acted on: agents' mail is automatic", mailed(before("Auto-Submitted: auto-generated\nPrecedence: bulk\n")), acted},
		{"list", "a mail that a list passed on untouched", after(before("List-Id: <deals.lists.test>\r\nPrecedence: list\r\n")), acted},
		{"attribution-broken", "Agent-Attribution is for readers, not compared (D15)", mailed(before("Agent-Attribution: {\"acting_for\":\n")), acted},
	}
}

// cutField takes the one field of a name away.
func cutField(mail, name string) string {
	head, tail, found := strings.Cut(mail, "\n"+name+": ")
	if !found {
		panic(name + " is not there to be taken away")
	}
	_, tail, _ = strings.Cut(tail, "\n")
	return head + "\n" + tail
}

// padding is fields of n KiB.
func padding(n int) string {
	line := "X-Pad: " + strings.Repeat("x", 1024-8) + "\n" // 1 025 bytes with CRLF
	return strings.Repeat(line, n-1)
}

// agentOf: a field that names somebody else only tells (D42).
func agentOf(s *suite) {
	told := func(warnings ...string) expect {
		return expect{Verdict: "accepted", Signature: "mail_only", Warnings: &warnings}
	}
	of := func(value string) change { return mailed(before("Agent-Of: " + value + "\n")) }
	s.singles(byHand, []single{
		{"agent-of-missing", "no Agent-Of says nothing", nil, told()},
		{"agent-of-right", "Agent-Of names the organisation and its contact", of(`"Buyer Co" <owner@buyer.test>`), told()},
		{"agent-of-domain-capitals", "domains have no letter case, here either (D9)", of(`"Buyer Co" <owner@BUYER.test>`), told()},
		{"agent-of-contact-capitals", "nor in acting_for.contact (D9)", all(func(l *letter) { l.ActingFor.Contact = "owner@BUYER.test" }, of(`"Buyer Co" <owner@BUYER.test>`)), told()},
		{"agent-of-broken", "a field that names nobody names somebody else (D42)", of("Buyer Co"), told("agent_of_mismatch")},
		{"agent-of-other-contact", "another contact (D42)", of(`"Buyer Co" <owner@third.test>`), told("agent_of_mismatch")},
		{"agent-of-other-name", "another organisation (D42)", of(`"Third Inc" <owner@buyer.test>`), told("agent_of_mismatch")},
	})
}
