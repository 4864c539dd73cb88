package main

import (
	"fmt"
	"strings"
)

// carriageSuites: where the envelope may stand in a mail, and what a carrier
// may do to it (E3).
func carriageSuites() []*suite {
	s := newEmailing("carriage", "Where the envelope stands in a mail, under which name, in which encoding (E3).")
	partNames(s)
	partEncodings(s)
	places(s)
	severals(s)
	depths(s)
	mailsOfNobody(s)
	return []*suite{s}
}

// body is a mail of two parts, the second with a header of its own.
func body(header, content string) edit {
	return in(mixed, "--b0\n{text}\n--b0\n"+header+"\n\n"+content+"\n--b0--\n")
}

func partNames(s *suite) {
	named := func(header string) edit { return body(header+"\n"+inBase64, "{base64}") }
	const octets = "Content-Type: application/octet-stream"
	none := review
	s.postings(s.agents.buyer, []posting{
		{"name-disposition", "the name in Content-Disposition alone", named("Content-Type: application/json\n" + envelopeDisp), taken},
		{"name-type", "the name in Content-Type alone", named(envelopeType), taken},
		{"name-inline", "an attachment or not is no matter", named("Content-Type: application/json\nContent-Disposition: inline; filename=envelope.json"), taken},
		{"name-upper-case", "the name in upper case", named(octets + "\nContent-Disposition: attachment; filename=\"ENVELOPE.JSON\""), taken},
		{"name-unquoted", "a name without quotes", named(octets + "; NAME=Envelope.Json"), taken},
		{"name-folded", "a field in several lines", named("Content-Type: application/json\nContent-Disposition: attachment;\n\tfilename=\"envelope.json\";\n size=700"), taken},
		{"name-2231", "a name in the form of RFC 2231", named(octets + "\nContent-Disposition: attachment; filename*=utf-8''envelope%2Ejson"), taken},
		{"name-2231-pieces", "a name in pieces (RFC 2231 §3)", named(octets + "\nContent-Disposition: attachment; filename*0=\"enve\"; filename*1=\"lope.json\""), taken},
		{"name-2231-mixed", "pieces of which some are encoded, in another order", named(octets + "\nContent-Disposition: attachment; filename*1=\"lope.json\"; filename*0*=utf-8'en'env%65"), taken},
		{"name-2231-type", "the name in Content-Type, encoded", named(octets + "; name*=us-ascii'en'envelope.json"), taken},
		{"name-2047-q", "a name in the form of RFC 2047", named(octets + "\nContent-Disposition: attachment; filename=\"=?utf-8?Q?envelope=2Ejson?=\""), taken},
		{"name-2047-b", "and in base64", named(octets + "; name=\"=?UTF-8?B?ZW52ZWxvcGUuanNvbg==?=\""), taken},
		{"name-escaped", "a quoted pair in the name", named(octets + "\nContent-Disposition: attachment; filename=\"envelope\\.json\""), taken},
		{"name-type-other", "two names, of which one counts", named("Content-Type: application/json; name=\"data.json\"\n" + envelopeDisp), taken},
		{"name-disposition-other", "and the other way round", named(envelopeType + "\nContent-Disposition: attachment; filename=\"attachment.dat\""), taken},
		{"name-other", "another name: no message", named("Content-Type: application/json\nContent-Disposition: attachment; filename=\"envelope-1.json\""), none},
		{"name-longer", "a name that ends so", named("Content-Type: application/json; name=\"my-envelope.json\""), none},
		{"name-path", "a path is another name", named("Content-Type: application/json; name=\"x/envelope.json\""), none},
		{"name-extension", "a name that goes on", named("Content-Type: application/json; name=\"envelope.json.txt\""), none},
		{"name-space", "a name with a space", named("Content-Type: application/json; name=\"envelope .json\""), none},
		{"name-none", "no name: a type says nothing", named("Content-Type: application/json"), none},
		{"name-kelvin", "a letter that is like another one", named("Content-Type: application/json; name*=utf-8''envelope.j%C5%BFon"), none},
		{"name-text", "the words of the mail say envelope.json", in("text/plain", "envelope.json\n{json}\n"), none},
	})
}

func partEncodings(s *suite) {
	head := func(more string) string { return envelopeDisp + "\n" + more }
	crlf := func(width int) edit {
		return func(x *exchange) {
			x.frame = func(x *exchange) string {
				return carried(mixed, "--b0\n{text}\n--b0\n"+envelopeType+"\n"+inBase64+"\n\n"+wrapped(x.envelope(), width)+"\n--b0--\n")(x)
			}
		}
	}
	s.postings(s.agents.buyer, []posting{
		{"encoded-7bit", "as it is", body(head("Content-Type: application/json"), "{json}"), taken},
		{"encoded-8bit", "as it is, in UTF-8", both(says("Haben Sie Krüge, größere?"), body(head("Content-Type: application/json; charset=utf-8\nContent-Transfer-Encoding: 8bit"), "{json}")), taken},
		{"encoded-binary", "as it is, and said to be binary", body(head("Content-Type: application/json\nContent-Transfer-Encoding: BINARY"), "{json}"), taken},
		{"encoded-lines", "indented, in CRLF lines", both(onItsWay(indented), body(head("Content-Type: application/json"), "{json}")), taken},
		{"encoded-qp", "quoted-printable", both(says("Haben Sie Krüge?"), body(head("Content-Type: application/json\nContent-Transfer-Encoding: quoted-printable"), "{qp}")), taken},
		{"encoded-base64-60", "base64 in lines of 60", crlf(60), taken},
		{"encoded-base64-line", "base64 in one line", crlf(9999), taken},
		{"encoded-base64-spaces", "base64 in lines that a carrier indented and padded (RFC 2045 §6.8, D190)", func(x *exchange) {
			x.frame = func(x *exchange) string {
				body := strings.ReplaceAll(wrapped(x.envelope(), 60), "\n", " \t\n  ")
				return carried(mixed, "--b0\n{text}\n--b0\n"+envelopeType+"\n"+inBase64+"\n\n  "+body+"\n--b0--\n")(x)
			}
		}, taken},
		{"encoded-bare-lf", "a mail with LF line ends throughout", func(x *exchange) { x.after = func(raw string) string { return strings.ReplaceAll(raw, "\r\n", "\n") } }, taken},
		{"type-octets", "a type that a carrier put there", body(head("Content-Type: application/octet-stream\n"+inBase64), "{base64}"), taken},
		{"type-text", "a type that a carrier put there", body(head("Content-Type: text/plain; charset=us-ascii; format=flowed"), "{json}"), taken},
		{"type-none", "no type at all", body(head(inBase64), "{base64}"), taken},
		{"type-xml", "the name counts, not the type", body(head("Content-Type: application/xml\n"+inBase64), "{base64}"), taken},
		{"charset-latin-1", "a charset that a carrier put there has no effect on JSON (RFC 8259 §11)", both(says("Haben Sie Krüge?"), body(head("Content-Type: text/plain; charset=iso-8859-1\n"+inBase64), "{base64}")), taken},
		{"charset-us-ascii", "nor has US-ASCII beside bytes that are none", both(says("Haben Sie Krüge?"), body(head("Content-Type: application/json; charset=us-ascii\nContent-Transfer-Encoding: 8bit"), "{json}")), taken},
		{"broken-base64", "base64 that is cut off", body(head("Content-Type: application/json\n"+inBase64), "eyJ2IjoiMC4yLjAiLCJpZ"), noEnvelope},
		{"broken-qp", "a lone = in quoted-printable", both(body(head("Content-Type: application/json\nContent-Transfer-Encoding: quoted-printable"), "{qp}"), inMail(swap("mugs?", "mugs=?"))), noEnvelope},
		{"broken-encoding", "an encoding that there is not", body(head("Content-Type: application/json\nContent-Transfer-Encoding: x-uuencode"), "{json}"), noEnvelope},
		{"broken-8bit", "bytes in another charset than UTF-8", both(says("Krüge"), body(head("Content-Type: application/json\nContent-Transfer-Encoding: 8bit"), "{json}"), inMail(func(mail string) string { return strings.Replace(mail, "ü", "\xfc", 1) })), noEnvelope},
	})
}

// forward is a mail in the mail, of which the inner part is the body.
func forward(boundary, inner string) string {
	return "Content-Type: message/rfc822\n\nFrom: somebody@third.test\nSubject: Fwd\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n--" + boundary + "\n" + inner + "\n--" + boundary + "--\n"
}

func places(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"place-root", "the mail is the envelope and nothing else", in("application/json; name=\"envelope.json\"\n"+envelopeDisp+"\n"+inBase64, "{base64}\n"), taken},
		{"place-root-7bit", "and not encoded", in("application/json; name=envelope.json", "{json}\n"), taken},
		{"place-first", "before the words", in(mixed, "--b0\n{envelope}\n--b0\n{text}\n--b0--\n"), taken},
		{"place-alternative", "in multipart/alternative", in("multipart/alternative; boundary=\"b0\"", "--b0\n{text}\n--b0\n{envelope}\n--b0--\n"), taken},
		{"place-related", "in a multipart in a multipart", in(mixed, "--b0\nContent-Type: multipart/related; boundary=\"c1\"\n\n--c1\n{text}\n--c1\n{envelope}\n--c1--\n--b0--\n"), taken},
		{"place-signed", "in a mail that a gateway signed", in("multipart/signed; protocol=\"application/pgp-signature\"; micalg=pgp-sha256; boundary=\"b0\"", "--b0\nContent-Type: multipart/mixed; boundary=\"c1\"\n\n--c1\n{text}\n--c1\n{envelope}\n--c1--\n--b0\nContent-Type: application/pgp-signature\n\nnone\n--b0--\n"), taken},
		{"place-forward", "in a forward", in(mixed, "--b0\n{text}\n--b0\n"+forward("f1", "{envelope}")+"--b0--\n"), taken},
		{"place-forward-alone", "the root is a forward", in("message/rfc822", "From: somebody@third.test\nMIME-Version: 1.0\n"+envelopeType+"\n"+inBase64+"\n\n{base64}\n"), taken},
		{"place-forward-base64", "a forward that a carrier encoded", func(x *exchange) {
			x.frame = func(x *exchange) string {
				inner := strings.ReplaceAll(x.expand("MIME-Version: 1.0\n{envelope}\n", x.envelope()), "\n", "\r\n")
				return carried(mixed, "--b0\n{text}\n--b0\nContent-Type: message/rfc822\n"+inBase64+"\n\n"+wrapped(inner, 76)+"\n--b0--\n")(x)
			}
		}, taken},
		{"place-forward-in-forward", "in a forward of a forward", in(mixed, "--b0\n{text}\n--b0\n"+forward("f1", forward("g2", "{envelope}"))+"--b0--\n"), taken},
		{"place-digest", "in a digest", in("multipart/digest; boundary=\"b0\"", "--b0\n"+forward("f1", "{envelope}")+"--b0--\n"), taken},
		{"place-html", "with words in HTML beside it", in(mixed, "--b0\nContent-Type: text/html\n\n<p>envelope.json</p>\n--b0\n{envelope}\n--b0--\n"), taken},
		{"place-signature-behind", "with a footer that a list put behind it", in(mixed, "--b0\n{text}\n--b0\n{envelope}\n--b0\nContent-Type: text/plain\n\n-- \nbuyers list\n--b0--\n"), taken},
		{"place-container", "a multipart of that name is no message, but is looked into (D113)", in(mixed, "--b0\n{text}\n--b0\nContent-Type: multipart/mixed; boundary=\"c1\"; name=\"envelope.json\"\n\n--c1\n{envelope}\n--c1--\n--b0--\n"), taken},
		{"place-forward-named", "a forward of that name is no message, but is looked into (D113)", in(mixed, "--b0\n{text}\n--b0\n"+strings.Replace(forward("f1", "{envelope}"), "message/rfc822", "message/rfc822; name=\"envelope.json\"", 1)+"--b0--\n"), taken},
		{"place-forward-unreadable", "a forward that cannot be read is an attachment like any other (D113)", in(mixed, "--b0\n{envelope}\n--b0\nContent-Type: message/rfc822\n\nSubject: one\nSubject: two\n\n\n--b0--\n"), taken},
		{"place-none", "no message at all", in(mixed, "--b0\n{text}\n--b0\nContent-Type: application/json; name=\"data.json\"\n\n{}\n--b0--\n"), review},
		{"place-text", "the envelope in the words is none", in("text/plain; charset=utf-8", "{json}\n"), review},
	})
}

func severals(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"two-same", "the same twice: two are two", in(mixed, "--b0\n{envelope}\n--b0\n{envelope}\n--b0--\n"), review},
		{"two-one-broken", "one of which is no JSON", in(mixed, "--b0\n{envelope}\n--b0\n"+envelopeType+"\n\nno\n--b0--\n"), review},
		{"two-in-forward", "one of which is in a forward", in(mixed, "--b0\n{envelope}\n--b0\n"+forward("f1", "{envelope}")+"--b0--\n"), review},
		{"two-in-two-forwards", "each in a forward", in(mixed, "--b0\n"+forward("f1", "{envelope}")+"--b0\n"+forward("g2", "{envelope}")+"--b0--\n"), review},
		{"two-hidden-name", "one under a name that is encoded", in(mixed, "--b0\n{envelope}\n--b0\nContent-Type: application/json; name*=utf-8''%65nvelope.json\n\n{json}\n--b0--\n"), review},
		{"three", "three", in(mixed, "--b0\n{envelope}\n--b0\n{envelope}\n--b0\n{envelope}\n--b0--\n"), review},
		{"two-then-one", "of which one has another name", in(mixed, "--b0\n{envelope}\n--b0\nContent-Type: application/json; name=\"envelope2.json\"\n\n{json}\n--b0--\n"), taken},
	})
	t := s.story("two-leave-no-trace", "a mail of two messages is none of them: each may come alone")
	x := t.request(s.agents.buyer)
	t.arrives(x.again(in(mixed, "--b0\n{envelope}\n--b0\n{envelope}\n--b0--\n")), review)
	t.arrives(x, taken)
}

// depths: the root is 0, and every node counts.
func depths(s *suite) {
	multiparts := func(depth int) (kind, content string) {
		content = "{envelope}"
		for n := depth - 1; n > 0; n-- {
			content = fmt.Sprintf("Content-Type: multipart/mixed; boundary=\"m%d\"\n\n--m%d\n%s\n--m%d--", n, n, content, n)
		}
		return mixed, "--b0\n" + content + "\n--b0--\n"
	}
	forwards := func(depth int) (kind, content string) {
		content = envelopeType + "\n" + inBase64 + "\n\n{base64}\n"
		for range depth - 1 {
			content = "Content-Type: message/rfc822\n\nSubject: Fwd\nMIME-Version: 1.0\n" + content
		}
		return "message/rfc822", "Subject: Fwd\nMIME-Version: 1.0\n" + content
	}
	for _, c := range []struct {
		name string
		at   func(int) (string, string)
	}{{"multiparts", multiparts}, {"forwards", forwards}} {
		s.postings(s.agents.buyer, []posting{
			{c.name + "-depth-8", "at depth 8, the root being 0 (E3)", in(c.at(8)), taken},
			{c.name + "-depth-9", "at depth 9: none (E3)", in(c.at(9)), review},
		})
	}
	kind, content := multiparts(9)
	s.postings(s.agents.buyer, []posting{
		{"depth-9-beside-1", "a second one below depth 8 does not count (E3)", in(kind, strings.Replace(content, "--b0\n", "--b0\n{envelope}\n--b0\n", 1)), taken},
		{"forwards-in-multiparts-7", "three forwards of multiparts: depth 7", in(mixed, "--b0\n"+forward("f1", forward("g2", forward("h3", "{envelope}")))+"--b0--\n"), taken},
		{"forwards-in-multiparts-9", "four: depth 9", in(mixed, "--b0\n"+forward("f1", forward("g2", forward("h3", forward("i4", "{envelope}"))))+"--b0--\n"), review},
	})
}

// mailsOfNobody: a valid message counts in whatever mail it comes.
func mailsOfNobody(s *suite) {
	s.postings(s.agents.buyer, []posting{
		{"in-list-mail", "a list carried it", headed("List-Id: <buyers.lists.test>\nPrecedence: list\nList-Post: <mailto:buyers@lists.test>\n"), taken},
		{"in-auto-reply", "an auto-reply carries it", headed("Auto-Submitted: auto-replied\n"), taken},
		{"in-bulk", "a bulk mail carries it", headed("Precedence: bulk\n"), taken},
		{"in-null-path", "a mail that nobody may answer carries it", headed("Return-Path: <>\n"), taken},
		{"in-report-of-nothing", "a report about nothing that was sent from here returns it", in("multipart/report; report-type=delivery-status; boundary=\"b0\"", "--b0\n{text}\n--b0\nContent-Type: message/delivery-status\n\nAction: failed\nStatus: 5.1.1\n\n--b0\n"+forward("f1", "{envelope}")+"--b0--\n"), taken},
		{"from-itself", "the mail says it is from this inbox: who sent it plays no part", func(x *exchange) { x.from = "agent@seller.test" }, taken},
		{"from-nobody", "a mail without From", inMail(func(mail string) string { return strings.Replace(mail, "From: <agent@buyer.test>\n", "", 1) }), taken},
		{"two-froms", "a mail with two From fields", inMail(before("From: owner@seller.test\n")), taken},
		{"answered-list", "what is asked in a list mail is answered to where the signed request says", both(headed("List-Id: <buyers.lists.test>\nReply-To: buyers@lists.test\n"), asksFor("describe", nil)), taken.answered("ok", buyerTold)},
	})

	t := s.story("in-delayed-report", "a report that a mail from here is late is ignored")
	asked := t.posted(t.request(s.agents.own, asComposed("chat")))
	t.arrives(t.report(asked, "delayed", "4.4.1"), ignored)

	t = s.story("in-failed-report", "a report that a mail from here came back is a bounce, whatever it returns (D127)")
	asked = t.posted(t.request(s.agents.own, asComposed("chat")))
	other := t.request(s.agents.buyer)
	t.arrives(t.report(asked, "failed", "5.1.1", inMail(func(mail string) string {
		return strings.Replace(mail, "\n--r0--\n", "\n--r0\n"+other.expand("{envelope}", other.envelope())+"\n--r0--\n", 1)
	})), bounce)

	t = s.story("in-late-report", "a valid message counts in a report that a mail from here is late")
	asked = t.posted(t.request(s.agents.own))
	other = t.request(s.agents.buyer)
	report := t.report(asked, "delayed", "4.4.1", func(x *exchange) {
		x.frame = func(x *exchange) string {
			return x.fields() + "Content-Type: multipart/report; report-type=delivery-status; boundary=\"r0\"\n\n" +
				"--r0\n" + textPart + "Late.\n--r0\nContent-Type: message/delivery-status\n\nAction: delayed\nStatus: 4.4.1\n\n" +
				"--r0\nContent-Type: text/rfc822-headers\n\nMessage-ID: " + asked.messageID + "\n\n" +
				"--r0\n" + other.expand("{envelope}", other.envelope()) + "\n--r0--\n"
		}
	})
	t.arrives(report, taken.asks(s.agents.buyer, "chat"))
}
