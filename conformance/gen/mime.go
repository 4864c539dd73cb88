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
