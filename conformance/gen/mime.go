package main

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// mimeSuites are the MIME tree and the encodings of its parts (section 3,
// D13, D45, D54; attacks A7).
func mimeSuites() []*suite {
	s := newSuite("mime", "The MIME tree: one machine part that every reader finds in the same bytes, or plain mail. Messages are unsigned, and allowed to be.")
	s.Inbox.Unsigned = "allow"
	s.singles(byHand, goodTrees())
	s.singles(byHand, badTrees())
	s.singles(byHand, encodings())
	return []*suite{s}
}

var none = plain("none")

func goodTrees() []single {
	return []single{
		{"baseline", "the baseline of the cases beside it", nil, acted},
		{"single-part", "the mail itself is the machine part (section 4)", built(`application/ld+json; profile="x"`, "{json}\n"), acted},
		{"alternative", "a multipart/alternative at the top", built(`multipart/alternative; boundary="b0"`, baseBody), acted},
		{"nested", "the machine part two multiparts down", built(mixed, "--b0\nContent-Type: multipart/related; boundary=b1\n\n--b1\nContent-Type: multipart/alternative; boundary=b2\n\n--b2\n{text}\n--b2\n{machine}\n--b2--\n--b1--\n--b0--\n"), acted},
		{"multipart-signed", "inside multipart/signed: multipart/* is walked", built(`multipart/signed; boundary="b0"; protocol="application/pgp-signature"; micalg=pgp-sha256`, "--b0\n{machine}\n--b0\nContent-Type: application/pgp-signature\n\nx\n--b0--\n"), acted},
		{"profile-parameter-missing", "the parameter of the part is not looked at, the member of the message is (D13)", withType("application/ld+json"), acted},
		{"profile-parameter-other", "whatever it says (D13)", withType(`application/ld+json; profile="https://example.test/x"`), acted},
		{"type-capitals", "media types have no letter case", withType("Application/LD+JSON"), acted},
		{"disposition-attachment", "the disposition says nothing", withHead(`Content-Disposition: attachment; filename="../../x"`), acted},
		{"beside-other-ld-json", "another ld+json part, of another vocabulary, is ignored", built(mixed, "--b0\nContent-Type: application/ld+json\n\n{\"@context\":\"https://schema.org\",\"@type\":\"Order\"}\n--b0\n{machine}\n--b0--\n"), acted},
		{"beside-other-profile", "and one of another version of the profile", built(mixed, "--b0\nContent-Type: application/ld+json\n\n{\"profile\":\"agent-intents/2\"}\n--b0\n{machine}\n--b0--\n"), acted},
		{"preamble-and-epilogue", "text before the first delimiter and behind the last", built(mixed, "This is a message in MIME format.\n\n"+baseBody+"\nThe end.\n"), acted},
		{"white-space-behind-delimiter", "white space behind a delimiter (RFC 2046 §5.1.1)", built(mixed, strings.Replace(baseBody, "--b0\n{machine}", "--b0  \n{machine}", 1)), acted},
		{"boundary-70", "a boundary of 70 characters", built("multipart/mixed; boundary="+strings.Repeat("b", 70), strings.ReplaceAll(baseBody, "b0", strings.Repeat("b", 70))), acted},
		{"boundary-odd", "a boundary of all the odd characters there may be", built(`multipart/mixed; boundary="'()+_,-./:?=x y"`, strings.ReplaceAll(baseBody, "b0", "'()+_,-./:?=x y")), acted},
		{"boundary-like-encoded-word", "a boundary that begins like an encoded word and is none", built(`multipart/mixed; boundary="=?x"`, strings.ReplaceAll(baseBody, "b0", "=?x")), acted},
		{"parts-100", "a hundred parts", built(mixed, strings.Repeat("--b0\n{text}\n", 99)+"--b0\n{machine}\n--b0--\n"), acted},
		{"depth-16", "sixteen multiparts in each other", built(deep(16)), acted},
		{"part-header-63-kb", "the head of a part just under 64 KiB", withHead("X-Pad: " + strings.Repeat("x", 63<<10)), acted},
		{"boundary-folded", "a boundary on a line of its own", built("multipart/mixed;\n\tboundary=\"b0\"", baseBody), acted},
		{"boundary-bare", "a boundary without quotes", built("multipart/mixed; boundary=b0", baseBody), acted},
		{"boundary-capitals", "names of parameters have no letter case", built(`Multipart/Mixed; BOUNDARY="b0"`, baseBody), acted},
		{"boundary-others-beside", "other parameters beside it", built(`multipart/mixed; charset=utf-8; boundary="b0"; format=flowed`, baseBody), acted},
		{"boundary-other-case", "a line in other letter case is no delimiter", built(`multipart/mixed; boundary="Bb"`, strings.ReplaceAll(strings.Replace(baseBody, "{text}", "{text}\n--bb", 1), "b0", "Bb")), acted},
		{"close-without-line-end", "the mail ends with the close delimiter itself", built(mixed, strings.TrimSuffix(baseBody, "\n")), acted},
		{"machine-part-first", "the machine part before the text", built(mixed, "--b0\n{machine}\n--b0\n{text}\n--b0--\n"), acted},
		{"part-empty-beside", "an empty part beside it", built(mixed, "--b0\n\n\n--b0\n{machine}\n--b0--\n"), acted},
		{"part-without-type-beside", "a part without a type is text", built(mixed, "--b0\n\nHello\n--b0\n{machine}\n--b0--\n"), acted},
		{"attachment-beside", "a file beside it", built(mixed, "--b0\n{machine}\n--b0\nContent-Type: application/pdf\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=a.pdf\n\nJVBERi0=\n--b0--\n"), acted},
		{"message-beside", "a forwarded message beside it", built(mixed, "--b0\n{machine}\n--b0\nContent-Type: message/rfc822\n\nFrom: x@third.test\n\nHello\n--b0--\n"), acted},
		{"siblings-same-boundary", "two multiparts beside each other with one boundary", built(mixed, "--b0\nContent-Type: multipart/alternative; boundary=x\n\n--x\n{text}\n--x--\n--b0\nContent-Type: multipart/alternative; boundary=x\n\n--x\n{machine}\n--x--\n--b0--\n"), acted},
		{"part-header-folded", "a folded field in the head of the part", withType("application/ld+json;\n\tprofile=\"https://example.test/x\";\n charset=utf-8"), acted},
		{"part-header-8bit", "raw UTF-8 in the head of the part", withHead("Content-Description: Nachricht für Agenten"), acted},
		{"encoding-on-multipart-8bit", "a multipart that says 8bit", all(built(mixed, baseBody), mailed(before("Content-Transfer-Encoding: 8bit\n"))), acted},
		{"dashes-in-text", "lines of dashes in the text are no delimiters", built(mixed, strings.Replace(baseBody, "{text}", "{text}\n-- \nBuyer\n--b\n---b0\n", 1)), acted},
		{"no-mime-version", "no MIME-Version", mailed(swap("MIME-Version: 1.0\n", "")), acted},
		{"parts-90", "ninety parts", built(mixed, strings.Repeat("--b0\n{text}\n", 89)+"--b0\n{machine}\n--b0--\n"), acted},
		{"depth-12", "twelve multiparts in each other", built(deep(12)), acted},
	}
}

// deep is the machine part inside n multiparts.
func deep(n int) (contentType, body string) {
	body = "{machine}"
	for i := n; i > 0; i-- {
		multipart := fmt.Sprintf("multipart/mixed; boundary=level-%03d-", i)
		body = fmt.Sprintf("--level-%03d-\n%s\n--level-%03d---\n", i, body, i)
		if i == 1 {
			return multipart, body
		}
		body = "Content-Type: " + multipart + "\n\n" + body
	}
	return "", ""
}

func badTrees() []single {
	two := func(second string) change { return built(mixed, "--b0\n{machine}\n--b0\n"+second+"\n--b0--\n") }
	return []single{
		{"no-machine-part", "a mail of a person", built("text/plain", "Hello, can we meet?\n"), none},
		{"two-machine-parts", "two machine parts, the same", two("{machine}"), none},
		{"two-machine-parts-nested", "two, one of them further down", two("Content-Type: multipart/mixed; boundary=x\n\n--x\n{machine}\n--x--"), none},
		{"second-part-unreadable", "a second ld+json part that cannot be read could be a second message (D45)", two(machineHead + "\nContent-Transfer-Encoding: base64\n\n!!!"), none},
		{"second-part-too-large", "and one that is too large to be read (D45)", two(machineHead + "\n\n{}" + strings.Repeat(" ", 33<<10)), none},
		{"second-part-no-json", "and one that is no JSON (D45)", two(machineHead + "\n\n{"), none},
		{"in-message", "a machine part in a message inside the mail speaks for somebody else", built(mixed, "--b0\n{text}\n--b0\nContent-Type: message/rfc822\n\nFrom: agent@buyer.test\n{machine}\n--b0--\n"), none},
		{"in-message-base64", "also in base64", built(mixed, "--b0\n{text}\n--b0\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte(machineHead+"\r\n\r\n{}"))+"\n--b0--\n"), none},
		{"partial", "a message in pieces is not put together", built(`message/partial; id="x"; number=1; total=1`, "{machine}\n"), none},
		{"external-body", "a part that stands elsewhere is not fetched", withType(`message/external-body; access-type=URL; URL="https://evil.test/x"`), none},
		{"octet-stream", "another type with the right name", withType(`application/octet-stream; name="message.jsonld"`), none},
		{"text-plain", "a text with the message", withType("text/plain"), none},
		{"json", "application/json is not application/ld+json", withType("application/json"), none},
		{"boundary-twice", "boundary given twice: readers differ", built("multipart/mixed; boundary=b0; boundary=b1", baseBody), none},
		{"boundary-continued", "boundary*0 beside boundary: readers differ", built("multipart/mixed; boundary=b0; boundary*0=b1", baseBody), none},
		{"boundary-extended", "boundary* with a charset", built("multipart/mixed; boundary*=us-ascii''b0", baseBody), none},
		{"boundary-encoded-word", "a boundary as an encoded word, which some decode", built(`multipart/mixed; boundary="=?us-ascii?Q?b0?="`, strings.ReplaceAll(baseBody, "b0", "=?us-ascii?Q?b0?=")), none},
		{"parts-101", "a hundred and one parts", built(mixed, strings.Repeat("--b0\n{text}\n", 100)+"--b0\n{machine}\n--b0--\n"), none},
		{"depth-17", "seventeen multiparts in each other", built(deep(17)), none},
		{"multipart-encoded", "a multipart that is itself in base64 (RFC 2045 §6.4)", all(built(mixed, baseBody), mailed(before("Content-Transfer-Encoding: base64\n"))), none},
		{"multipart-encoded-inside", "and one further down in quoted-printable", built(mixed, "--b0\nContent-Type: multipart/mixed; boundary=x\nContent-Transfer-Encoding: quoted-printable\n\n--x\n{machine}\n--x--\n--b0--\n"), none},
		{"multipart-type-broken", "a multipart whose type does not parse", built("multipart/mixed; boundary", baseBody), none},
		{"multipart-comment", "a comment in the type: readers differ", built(`multipart/mixed (x); boundary="b0"`, baseBody), none},
		{"type-comment", "and in that of the part", withType("application/ld+json (x)"), none},
		{"type-encoded-word", "an encoded word in the place of the type", withType("=?utf-8?Q?application/ld+json?="), none},
		{"type-empty", "an empty type", withType(""), none},
		{"type-structured", "a type that only begins alike", withType("application/ld+json-seq"), none},
		{"parameter-twice", "a parameter twice, with two values", withType(`application/ld+json; profile="a"; profile="b"`), none},
		{"boundary-wrong", "no delimiter of the boundary there is", built(`multipart/mixed; boundary="b1"`, baseBody), none},
		{"boundary-space-last", "a boundary that ends in a space (RFC 2046 §5.1.1)", built(`multipart/mixed; boundary="b0 "`, strings.ReplaceAll(baseBody, "b0", "b0 ")), none},
		{"boundary-slash-escaped", "a boundary with a character that none may have", built(`multipart/mixed; boundary="b<0"`, strings.ReplaceAll(baseBody, "b0", "b<0")), none},
		{"boundary-8bit", "a boundary outside ASCII", built(`multipart/mixed; boundary="bö0"`, strings.ReplaceAll(baseBody, "b0", "bö0")), none},
		{"delimiter-extended", "a line that begins with the delimiter and goes on", built(mixed, strings.Replace(baseBody, "{text}", "{text}\n--b0x\n", 1)), none},
		{"close-delimiter-only", "a multipart without a part", built(mixed, "--b0--\n"), none},
		{"two-machine-parts-of-message", "two that differ in one member", func(l *letter) {
			l.frame = func(l *letter, text string) string {
				return head(l) + "Content-Type: " + mixed + "\n\n" + expand("--b0\n{machine}\n", text) + expand("--b0\n{machine}\n--b0--\n", swap("Tasting", "Meeting")(text))
			}
		}, none},
		{"in-digest", "in a digest each part is a message", built(`multipart/digest; boundary="b0"`, "--b0\nContent-Type: message/rfc822\n\n{machine}\n--b0--\n"), none},
		{"in-report", "a bounce that brings a message back", built(`multipart/report; report-type=delivery-status; boundary="b0"`, "--b0\n{text}\n--b0\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.buyer.test\n\nFinal-Recipient: rfc822; x@buyer.test\nAction: failed\nStatus: 5.1.1\n--b0\nContent-Type: message/rfc822\n\nFrom: agent@buyer.test\n{machine}\n--b0--\n"), none},
		{"in-text", "a machine part with its head quoted in a text", built("text/plain", "--b0\n{machine}\n--b0--\n"), none},
		{"in-encrypted", "nothing inside what is encrypted", built(`multipart/encrypted; protocol="application/pgp-encrypted"; boundary="b0"`, "--b0\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--b0\nContent-Type: application/octet-stream\n\nx\n--b0--\n"), none},
		{"boundary-missing", "a multipart without boundary", built("multipart/mixed", baseBody), none},
		{"boundary-empty", "an empty one", built(`multipart/mixed; boundary=""`, strings.ReplaceAll(baseBody, "b0", "")), none},
		{"boundary-71", "a boundary of 71 characters", built("multipart/mixed; boundary="+strings.Repeat("b", 71), strings.ReplaceAll(baseBody, "b0", strings.Repeat("b", 71))), none},
		{"no-close-delimiter", "cut off before the close delimiter", built(mixed, strings.TrimSuffix(baseBody, "--b0--\n")), none},
		{"no-close-delimiter-later", "cut off in a part behind the machine part: who knows what came there", built(mixed, "--b0\n{machine}\n--b0\n{text}\n"), none},
		{"inner-boundary-same", "an inner multipart with the boundary of the outer one", built(mixed, "--b0\n{text}\n--b0\nContent-Type: multipart/mixed; boundary=b0\n\n--b0\n{machine}\n--b0--\n--b0--\n"), none},
		{"inner-boundary-extends", "an inner boundary that begins with the outer one", built(mixed, "--b0\nContent-Type: multipart/mixed; boundary=b01\n\n--b01\n{machine}\n--b01--\n--b0--\n"), none},
		{"inner-boundary-prefix", "an inner boundary that the outer one begins with", built("multipart/mixed; boundary=b01", "--b01\nContent-Type: multipart/mixed; boundary=b0\n\n--b0\n{machine}\n--b0--\n--b01--\n"), none},
		{"in-preamble", "a machine part before the first delimiter", built(mixed, "{machine}\n--b0\n{text}\n--b0--\n"), none},
		{"in-epilogue", "one behind the close delimiter", built(mixed, "--b0\n{text}\n--b0--\n{machine}\n"), none},
		{"delimiter-behind-close", "a delimiter behind the close delimiter", built(mixed, "--b0\n{text}\n--b0--\n--b0\n{machine}\n--b0--\n"), none},
		{"in-html-comment", "delimiters inside a comment of HTML, and the real machine part behind it", built(mixed, "--b0\nContent-Type: text/html\n\n<p>Hello<!--\n--b0\n{machine}\n--b0\nContent-Type: text/html\n\n-->\n--b0\n{machine}\n--b0--\n"), none},
		{"part-header-no-colon", "a line without colon in the head of a part", withHead("no field"), none},
		{"part-header-no-end", "the head of a part that does not end", built(mixed, "--b0\n{text}\n--b0\n"+machineHead+"\n--b0--\n"), none},
		{"part-type-twice", "a part with two types", withHead("Content-Type: text/plain"), none},
		{"part-type-broken", "a type that does not parse", withType("application/ld+json; profile="), none},
		{"parts-150", "150 parts", built(mixed, strings.Repeat("--b0\n{text}\n", 149)+"--b0\n{machine}\n--b0--\n"), none},
		{"parts-20000", "20 000 empty parts", built(mixed, strings.Repeat("--b0\n\n\n", 20000)+"--b0\n{machine}\n--b0--\n"), none},
		{"depth-200", "200 multiparts in each other", built(deep(200)), none},
		{"part-header-65-kb", "the head of a part over 64 KiB", withHead("X-Pad: " + strings.Repeat("x", 65<<10)), none},
	}
}

func encodings() []single {
	encoded := func(encoding string, edit func(string) string) change {
		return func(l *letter) {
			l.part = edit
			withHead("Content-Transfer-Encoding: " + encoding)(l)
		}
	}
	in64 := func(text string) string { return lines(base64.StdEncoding.EncodeToString([]byte(text))) }
	charset := func(name string) change { return withType("application/ld+json; charset=" + name) }
	return []single{
		{"base64", "base64", encoded("base64", in64), acted},
		{"base64-capitals", "encodings have no letter case", encoded("BASE64", in64), acted},
		{"quoted-printable", "quoted-printable", encoded("quoted-printable", swap("Tasting", "Ta=73ti=\nng")), acted},
		{"8bit", "8bit, with a letter of two bytes", encoded("8bit", swap("Tasting", "Dégustation")), acted},
		{"binary", "binary", encoded("binary", nil), acted},
		{"7bit", "7bit, said", encoded("7bit", nil), acted},
		{"base64-one-line", "base64 in one line", encoded("base64", func(t string) string { return base64.StdEncoding.EncodeToString([]byte(t)) }), acted},
		{"base64-short-lines", "base64 in lines of four", encoded("base64", func(t string) string {
			t, b := base64.StdEncoding.EncodeToString([]byte(t)), ""
			for len(t) > 0 {
				b, t = b+t[:4]+"\n", t[4:]
			}
			return b
		}), acted},
		{"base64-empty-lines", "base64 with empty lines behind it", encoded("base64", func(t string) string { return in64(t) + "\n\n\n" }), acted},
		{"base64-padding-twice", "padding in the middle", encoded("base64", func(t string) string { t = in64(t); return t[:10] + "==" + t[12:] }), notJSON},
		{"base64-extra-padding", "more padding than there may be", encoded("base64", func(t string) string { return in64(t) + "====" }), notJSON},
		{"base64-mixed-alphabets", "both alphabets", encoded("base64", func(t string) string {
			t = base64.StdEncoding.EncodeToString([]byte(strings.Replace(t, "Tasting", "???>>>???>>>", 1)))
			return lines(strings.Replace(t, "/", "_", 1))
		}), notJSON},
		{"base64-of-too-much", "32 769 bytes once they are decoded", encoded("base64", func(t string) string { return in64(padTo(32769)(t)) }), plain("size")},
		{"base64-of-32768", "32 768 bytes once they are decoded", encoded("base64", func(t string) string { return in64(padTo(32768)(t)) }), acted},
		{"quoted-printable-lower", "lower-case digits in an escape", encoded("quoted-printable", swap("Tasting", "Tast=69n=67")), acted},
		{"quoted-printable-space-behind-soft", "white space added behind a soft break on the way", encoded("quoted-printable", swap("Tasting", "Tast=  \ning")), acted},
		{"quoted-printable-utf8", "a letter of two bytes", encoded("quoted-printable", swap("Tasting", "D=C3=A9gustation")), acted},
		{"quoted-printable-half-letter", "half of one", encoded("quoted-printable", swap("Tasting", "D=C3gustation")), notJSON},
		{"quoted-printable-raw", "a raw byte outside ASCII", encoded("quoted-printable", swap("Tasting", "Dégustation")), notJSON},
		{"quoted-printable-control", "a raw control character", encoded("quoted-printable", swap("Tasting", "Tast\x01ing")), notJSON},
		{"encoding-empty", "an encoding without a name", encoded("", nil), anyPlain},
		{"encoding-uuencode", "uuencode", encoded("uuencode", nil), notJSON},
		{"encoding-two-words", "two names of encodings", encoded("base64 7bit", in64), notJSON},
		{"encoding-unknown", "an encoding that nobody knows", encoded("x-uuencode", nil), notJSON},
		{"encoding-twice", "two encodings", withHead("Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64"), anyPlain},
		{"base64-junk", "base64 with a character of no alphabet", encoded("base64", func(t string) string { return "!" + in64(t) }), notJSON},
		{"base64-url", "base64 with the other alphabet", encoded("base64", func(t string) string {
			return lines(base64.URLEncoding.EncodeToString([]byte(strings.Replace(t, "Tasting", "???>>>???>>>", 1))))
		}), notJSON},
		{"base64-unpadded", "base64 without its padding", encoded("base64", func(t string) string {
			return lines(base64.RawStdEncoding.EncodeToString([]byte(t + strings.Repeat(" ", 1+(3-len(t)%3)%3))))
		}), notJSON},
		{"base64-unused-bits", "a last character with bits that no byte needs: a second spelling", encoded("base64", func(t string) string {
			t = lines(base64.StdEncoding.EncodeToString([]byte(t + strings.Repeat(" ", (4-len(t)%3)%3)))) // one byte in the last group
			return strings.TrimSuffix(t, "A==") + "B=="
		}), notJSON},
		{"base64-goes-on", "base64 that goes on behind its padding", encoded("base64", func(t string) string {
			return in64(t+strings.Repeat(" ", 1+(3-len(t)%3)%3)) + "\n" + in64("{}")
		}), notJSON},
		{"base64-cut", "base64 that is cut off", encoded("base64", func(t string) string { t = in64(t); return t[:len(t)-6] + "A" }), notJSON},
		{"quoted-printable-broken", "a = that is no escape", encoded("quoted-printable", swap("Tasting", "Tast=ZZing")), notJSON},
		{"quoted-printable-cut", "an escape that is cut off", encoded("quoted-printable", func(t string) string { return t + "=7" }), notJSON},
		{"charset-utf-8", "charset utf-8", charset("utf-8"), acted},
		{"charset-capitals", "and in capitals", charset(`"UTF-8"`), acted},
		{"charset-us-ascii", "charset us-ascii", charset("us-ascii"), acted},
		{"charset-empty", "an empty charset says nothing else than none", charset(`""`), acted},
		{"charset-utf8", "utf8 is no name of a charset", charset("utf8"), notJSON},
		{"charset-utf-8-bad", "utf-8 that is none", all(part(swap("Tasting", "D\xe9gustation")), charset("utf-8")), notJSON},
		{"charset-utf-32", "a charset of four bytes", charset("utf-32"), notJSON},
		{"charset-windows-1252", "what bytes of Windows mean", charset("windows-1252"), notJSON},
		{"charset-ebcdic", "and of mainframes", charset("ibm037"), notJSON},
		{"charset-unknown", "a charset that nobody knows", charset("x-unknown"), notJSON},
		{"charset-extended", "a charset in the form of RFC 2231", withType("application/ld+json; charset*=us-ascii'en'utf-7"), anyPlain},
		{"charset-utf-16", "another charset", charset("utf-16"), notJSON},
		{"charset-utf-7", "and one in which ASCII means something else", charset("utf-7"), notJSON},
		{"charset-latin-1", "and one of bytes", charset("iso-8859-1"), notJSON},
		{"charset-twice", "charset given twice", charset("utf-8; charset=utf-16"), anyPlain},
		{"charset-lies", "us-ascii that is not", all(part(swap("Tasting", "Dégustation")), charset("us-ascii")), anyPlain},
		{"nul-behind", "a NUL behind the message", part(behind("\x00")), notJSON},
		{"empty-part", "an empty machine part", part(only("")), notJSON},
		{"gzip", "a Content-Encoding is not undone", all(part(only("\x1f\x8b\x08")), withHead("Content-Encoding: gzip")), notJSON},
		{"quoted-printable-long", "35 000 spaces in quoted-printable, decoded longer than allowed", encoded("quoted-printable", func(t string) string { return t + strings.Repeat(strings.Repeat("=20", 25)+"=\n", 1400) }), plain("size")},
	}
}

// lines cuts text into lines of 76 characters.
func lines(text string) string {
	var all []string
	for len(text) > 76 {
		all, text = append(all, text[:76]), text[76:]
	}
	return strings.Join(append(all, text), "\n")
}
