package main

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// bridgeSuites: mail without a message, of people and of machines.
func bridgeSuites() []*suite {
	s := newEmailing("bridge", "Mail without a message, in an inbox that hosts a bridge: people, machines, reports.")
	people(s)
	machines(s)
	reports(s)

	off := newEmailing("bridge-off", "Mail without a message, in an inbox that hosts no bridge.")
	off.Inbox.Bridge = new(bool)
	unbridged(off)

	allowed := newEmailing("bridge-allow", "A bridge whose roster allows people.")
	allowed.roster(func(r *agentmsg.Roster) { r.Defaults[agentmsg.KindBridged] = "allow" })
	t := allowed.story("person", "is let in")
	t.arrives(t.plainMail("ida@buyer.test", proven), bridged)
	t = allowed.story("unproven", "who is not proven is not")
	t.arrives(t.plainMail("ida@buyer.test"), review)
	t = allowed.story("agent", "another agent waits as before")
	t.arrives(t.request(allowed.agents.third), waits)
	t = allowed.story("bridged-elsewhere", "a person of another bridge is one as well")
	t.arrives(t.request(allowed.agents.third, give("meta.bridge", map[string]any{"address": "ida@buyer.test", "domain": "buyer.test", "auth": "dkim"})), taken)

	blocking := newEmailing("bridge-block", "A bridge whose roster blocks people.")
	blocking.roster(func(r *agentmsg.Roster) { r.Defaults[agentmsg.KindBridged] = "block" })
	t = blocking.story("person", "hears nothing")
	t.arrives(t.plainMail("ida@buyer.test", proven), blocked)
	t = blocking.story("too-large", "nor that the text is too long (D129)")
	t.arrives(t.plainMail("ida@buyer.test", wordy, proven), outcome{Answered: silence})
	t = blocking.story("knock", "a person who writes knock asks for chat")
	t.arrives(t.plainMail("ida@buyer.test", proven, func(x *exchange) { x.words = "knock\n" }), blocked)

	return []*suite{s, off, allowed, blocking, bridgeByServer()}
}

// wordy is a text of too many units.
func wordy(x *exchange) { x.words = strings.Repeat(strings.Repeat("x", 62)+"\n", 1025) }

// identityOf is whom the bridge signs for (D125).
func (s *suite) identityOf(address string) string {
	return must(s.agents.own.identity().ForPerson(address)).ID()
}

func people(s *suite) {
	ida := "ida@buyer.test"
	of := func(address string) outcome {
		o := bridged.shows("")
		o.From = s.identityOf(address)
		return o
	}
	for _, c := range []struct {
		name, why string
		from      string
		change    edit
		want      outcome
	}{
		{"person", "becomes a request for chat, which waits for the owner", ida, proven, of(ida)},
		{"other-person", "each person has an identity (D125)", "eve@buyer.test", proven, of("eve@buyer.test")},
		{"domain-case", "a domain has no case", "ida@Buyer.TEST", func(x *exchange) { x.dkim = s.world.buyer }, of(ida)},
		{"organisation", "DKIM of the domain above aligns (relaxed)", "ida@mail.buyer.test", func(x *exchange) { x.dkim = s.world.buyer }, of("ida@mail.buyer.test")},
		{"unproven", "no DKIM signature", ida, nil, review},
		{"other-domain", "a signature of another domain", ida, func(x *exchange) { x.dkim = s.world.third }, review},
		{"changed", "a mail that was changed after it was signed", ida, both(proven, func(x *exchange) { x.after = swap("blue", "best") }), review},
		{"no-key", "a domain without a key", "ida@nobody.test", proven, review},
		{"dns-trouble", "DNS gives no answer for now", "ida@slow.test", proven, later},
		{"own-address", "a mail from this inbox itself", "agent@seller.test", func(x *exchange) { x.dkim = s.world.seller }, ignored},
		{"own-address-unproven", "or one that says so", "agent@seller.test", nil, outcome{Answered: silence}},
		{"two-froms", "two From fields: nobody's", ida, both(proven, func(x *exchange) { x.after = before("From: eve@buyer.test\r\n") }), review},
		{"no-from", "no From field", ida, both(inMail(func(mail string) string { return strings.Replace(mail, "From: <ida@buyer.test>\n", "", 1) })), review},
		{"group-from", "From is no address", ida, both(inMail(swap("From: <ida@buyer.test>", "From: Sales: ida@buyer.test, eve@buyer.test;"))), review},
		{"unreadable", "a mail that cannot be read safely (D153)", ida, both(inMail(before("Subject: two\n"))), review},
		{"html-only", "a mail without plain text (D153)", ida, both(inMail(func(mail string) string { return strings.Replace(mail, "text/plain", "text/html", 1) }), proven), review},
		{"empty", "a mail without words (D153)", ida, both(func(x *exchange) { x.words = "" }, proven), review},
		{"alternative", "the plain of two forms", ida, both(in("multipart/alternative; boundary=\"b0\"", "--b0\n{text}\n--b0\nContent-Type: text/html\n\n<p>Hi</p>\n--b0--\n"), func(x *exchange) { x.by = s.agents.third; x.dkim = s.world.buyer }), of(ida)},
		{"too-large", "too many words are answered, by mail as people write it", ida, both(wordy, proven), outcome{Verdict: "refused", Code: "too_large"}.answered("CONTEXT_TOO_LARGE", ida)},
		{"too-large-reply-to", "to From, which is proven, and not to Reply-To", ida, both(wordy, headed("Reply-To: eve@third.test\n"), proven), outcome{Verdict: "refused", Code: "too_large"}.answered("CONTEXT_TOO_LARGE", ida)},
		{"too-large-unproven", "nobody is told who is not proven", ida, wordy, review},
		{"latin-1", "words in another charset", ida, both(proven, inMail(func(mail string) string {
			return strings.Replace(strings.Replace(mail, "charset=utf-8", "charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable", 1), "blue", "gr=FCnen", 1)
		})), of(ida)},
		{"attachment-other", "a file of another name is no message", ida, both(in(mixed, "--b0\n{text}\n--b0\nContent-Type: application/json; name=\"data.json\"\n\n{}\n--b0--\n"), func(x *exchange) { x.by = s.agents.third; x.dkim = s.world.buyer }), of(ida)},
		{"two-envelopes", "two messages are for the owner, though the person is proven", ida, both(func(x *exchange) { x.by = s.agents.third; x.from, x.dkim = ida, s.world.buyer }, in(mixed, "--b0\n{envelope}\n--b0\n{envelope}\n--b0--\n")), review},
		{"broken-envelope", "a message that is none is no person's mail", ida, both(in(mixed, "--b0\n{text}\n--b0\n"+envelopeType+"\n\n{}\n--b0--\n"), func(x *exchange) { x.by = s.agents.third; x.dkim = s.world.buyer }), noEnvelope},
	} {
		t := s.story(c.name, c.why)
		t.arrives(t.plainMail(c.from, c.change), c.want)
	}
	s.DNSErrors["s1._domainkey.slow.test"] = "temporary"

	t := s.story("again", "the same mail again is a duplicate (D125)")
	x := t.plainMail(ida, proven)
	t.arrives(x, of(ida))
	t.arrives(x, silent("duplicate"))

	t = s.story("again-after-restart", "also after a restart (D125)")
	x = t.plainMail(ida, proven)
	t.arrives(x, of(ida))
	t.restart()
	t.arrives(x, silent("duplicate"))

	t = s.story("again-other-words", "by its Message-ID, whatever it says (D125)")
	x = t.plainMail(ida, proven)
	t.arrives(x, of(ida))
	other := t.plainMail(ida, proven, func(y *exchange) { y.words, y.messageID = "Or green ones?\n", x.messageID })
	t.arrives(other, silent("duplicate"))

	t = s.story("same-words", "the same words in another mail are another request (D125)")
	t.arrives(t.plainMail(ida, proven), of(ida))
	t.arrives(t.plainMail(ida, proven), of(ida))

	t = s.story("same-id-of-another", "a Message-ID of another person is no duplicate (D125)")
	x = t.plainMail(ida, proven)
	t.arrives(x, of(ida))
	t.arrives(t.plainMail("eve@third.test", func(y *exchange) { y.messageID, y.dkim = x.messageID, s.world.third }), of("eve@third.test"))

	t = s.story("unproven-then-proven", "a copy without proof does not shut out the mail")
	x = t.plainMail(ida)
	t.arrives(x, review)
	t.arrives(x.again(proven), of(ida))

	t = s.story("retry-not-remembered", "nothing is remembered while DNS gives no answer")
	x = t.plainMail("ida@slow.test", proven)
	t.arrives(x, later)
	t.arrives(x, later)
}

func machines(s *suite) {
	for _, c := range []struct {
		name, why, field string
		want             outcome
	}{
		{"auto-replied", "an automatic reply", "Auto-Submitted: auto-replied\n", ignored},
		{"auto-generated", "an automatic notice", "Auto-Submitted: auto-generated\n", ignored},
		{"auto-other", "any other word", "Auto-Submitted: auto-notified; owner-email=\"x\"\n", ignored},
		{"auto-no", "a person's own mail may say so", "Auto-Submitted: no\n", bridged},
		{"auto-no-case", "in any letter case", "Auto-Submitted: No\n", bridged},
		{"precedence-bulk", "bulk mail", "Precedence: bulk\n", ignored},
		{"precedence-list", "list mail", "Precedence: list\n", ignored},
		{"precedence-junk", "junk", "Precedence: junk\n", ignored},
		{"precedence-case", "in any letter case", "Precedence: Bulk\n", ignored},
		{"precedence-first-class", "another precedence is none", "Precedence: first-class\n", bridged},
		{"list-id", "list mail", "List-Id: <buyers.lists.test>\n", ignored},
		{"list-unsubscribe", "a newsletter", "List-Unsubscribe: <mailto:off@lists.test>\n", ignored},
		{"null-path", "a mail that nobody may answer", "Return-Path: <>\n", ignored},
	} {
		t := s.story(c.name, c.why)
		t.arrives(t.plainMail("ida@buyer.test", headed(c.field), proven), c.want)
		if c.want.Verdict != "bridged" {
			t = s.story(c.name+"-unproven", c.why+", of whomever")
			t.arrives(t.plainMail("ida@nobody.test", headed(c.field)), c.want)
		}
	}
}

func reports(s *suite) {
	t := s.story("report-failed", "a mail from here came back")
	asked := t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "failed", "5.1.1"), bounce)

	t = s.story("report-failed-answer", "so did an answer")
	x := t.comes(t.request(s.agents.buyer))
	answer := t.posted(t.respond(s.agents.own, x, "completed"))
	t.arrives(t.report(answer, "failed", "5.2.2"), bounce)

	t = s.story("report-failed-headers", "a report that returns the header alone")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "failed", "5.1.1", headersOnly), bounce)

	t = s.story("report-delayed", "a mail from here is late")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "delayed", "4.4.1"), ignored)

	t = s.story("report-delivered", "a mail from here has arrived")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "delivered", "2.0.0"), ignored)

	t = s.story("report-relayed", "or was passed on")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "relayed", "2.0.0"), ignored)

	t = s.story("report-unknown", "about a mail that was never sent from here")
	x = t.request(s.agents.own)
	t.arrives(t.report(x, "failed", "5.1.1", headersOnly), ignored)

	t = s.story("report-of-another", "about a mail of somebody else")
	x = t.request(s.agents.own)
	x.messageID = "<" + x.id() + "@third.test>"
	t.arrives(t.report(x, "failed", "5.1.1", headersOnly), ignored)

	t = s.story("report-read", "a report that somebody has read a mail is none of these")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "failed", "5.1.1", headersOnly, inMail(swap("report-type=delivery-status", "report-type=disposition-notification"))), ignored)

	t = s.story("report-in-words", "a mail of a server that says so in words is no report")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.plainMail("mailer-daemon@helper.test", headed("Auto-Submitted: auto-replied\nIn-Reply-To: "+asked.messageID+"\n")), ignored)

	t = s.story("report-then-answer", "what came back may be answered all the same: anybody can write a report")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "failed", "5.1.1"), bounce)
	t.arrives(t.respond(s.agents.helper, asked, "completed"), taken)

	t = s.story("report-upper-case", "in any letter case")
	asked = t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "FAILED", "5.1.1"), bounce)
}

// headersOnly returns the header of the mail that a report is about.
func headersOnly(x *exchange) {
	whole := x.frame
	x.frame = func(x *exchange) string {
		head, returned, _ := strings.Cut(whole(x), "Content-Type: message/rfc822\n\n")
		fields, _, _ := strings.Cut(returned, "\n\n")
		return head + "Content-Type: text/rfc822-headers\n\n" + fields + "\n\n--r0--\n"
	}
}

func unbridged(s *suite) {
	ida := "ida@buyer.test"
	for _, c := range []struct {
		name, why string
		from      string
		change    edit
		want      outcome
	}{
		{"person", "a person's mail is for the owner's review", ida, proven, review},
		{"unproven", "proven or not", ida, nil, review},
		{"dns-trouble", "where nothing is proven DNS is not asked", "ida@slow.test", proven, review},
		{"too-large", "nor is its length answered", ida, both(wordy, proven), review},
		{"auto-reply", "what no person wrote is ignored", ida, both(headed("Auto-Submitted: auto-replied\n"), proven), ignored},
		{"list", "so is list mail", ida, headed("List-Id: <buyers.lists.test>\n"), ignored},
	} {
		t := s.story(c.name, c.why)
		t.arrives(t.plainMail(c.from, c.change), c.want)
	}
	s.DNSErrors["s1._domainkey.slow.test"] = "temporary"

	t := s.story("again", "the same mail again is for review as well: nothing of it was a message")
	x := t.plainMail(ida, proven)
	t.arrives(x, review)
	t.arrives(x, review)

	t = s.story("message", "a message is taken as ever")
	t.arrives(t.request(s.agents.buyer), taken)

	t = s.story("report", "and so is a report")
	asked := t.posted(t.request(s.agents.own))
	t.arrives(t.report(asked, "failed", "5.1.1"), bounce)

	t = s.story("bridged-elsewhere", "a message that another bridge signed is a message: it waits for the owner")
	t.arrives(t.request(s.agents.third, give("meta.bridge", map[string]any{"address": ida, "domain": "buyer.test", "auth": "dkim"})), waits)
}

// bridgeByServer: who wrote a mail is what the own mail server says.
func bridgeByServer() *suite {
	s := newEmailing("bridge-authres", "A bridge that believes the Authentication-Results of its mail server.")
	s.Inbox.Auth = auth{Mode: "authres", AuthservID: "mx.seller.test"}
	result := func(text string) edit {
		return func(x *exchange) { x.after = before("Authentication-Results: " + text + "\r\n") }
	}
	for _, c := range []struct {
		name, why string
		change    edit
		want      outcome
	}{
		{"pass", "the server says that DKIM of the domain passed", result("mx.seller.test; dkim=pass header.d=buyer.test"), bridged},
		{"fail", "that it failed", result("mx.seller.test; dkim=fail header.d=buyer.test"), review},
		{"other-domain", "that another domain signed", result("mx.seller.test; dkim=pass header.d=third.test"), review},
		{"other-server", "another server says so", result("mx.third.test; dkim=pass header.d=buyer.test"), review},
		{"nothing", "nobody says anything: the signature alone proves nothing here", proven, review},
	} {
		t := s.story(c.name, c.why)
		t.arrives(t.plainMail("ida@buyer.test", c.change), c.want)
	}
	t := s.story("answer-from", "where an answer may go is proven alike (E4)")
	t.arrives(t.request(s.agents.buyer, asksFor("describe", nil), unaddressed, result("mx.seller.test; dkim=pass header.d=buyer.test")), taken.answered("ok", buyerTold))

	t = s.story("answer-from-fail", "or not (E4)")
	t.arrives(t.request(s.agents.buyer, asksFor("describe", nil), unaddressed, result("mx.seller.test; dkim=fail header.d=buyer.test")), taken)
	return s
}
