package main

import (
	"strings"
)

// fileSuites: the files that a message names (§7.5, E2).
func fileSuites() []*suite {
	s := newEmailing("files", "Files: bytes, size and digest are those that were signed, or the file is not handed on (E2).")
	requestFiles(s)
	fileParts(s)
	respondFiles(s)
	forwardedFiles(s)
	return []*suite{s}
}

var invite = enclosure{"invite.ics", "text/calendar", "invite.2@buyer.test", "BEGIN:VCALENDAR\nEND:VCALENDAR\n"}

// namesFile is a request whose one file is described with another value.
func namesFile(member string, value any) edit {
	return both(enclosing(agenda), give("payload.files."+member, value))
}

func agendaIs(state string) outcome { return taken.with(map[string]string{"agenda.txt": state}) }

func requestFiles(s *suite) {
	digestOf := pinned(agenda)["digest"].(string)
	s.postings(s.agents.buyer, []posting{
		{"one", "bytes, size and digest agree", enclosing(agenda), agendaIs("ok")},
		{"two", "each is judged for itself", both(enclosing(agenda, invite), func(x *exchange) { x.files[1].body += " " }), taken.with(map[string]string{"agenda.txt": "ok", "invite.ics": "digest"})},
		{"two-one-missing", "one of two is not there", both(enclosing(agenda, invite), func(x *exchange) { x.files = x.files[:1] }), taken.with(map[string]string{"agenda.txt": "ok", "invite.ics": "missing"})},
		{"none", "a message without files", nil, taken.with(map[string]string{})},
		{"not-named", "a file that the message does not name is no file of it", func(x *exchange) { x.files = []enclosure{agenda} }, taken.with(map[string]string{})},
		{"empty", "a file of no bytes", enclosing(enclosure{"empty.txt", "text/plain", "e@buyer.test", ""}), taken.with(map[string]string{"empty.txt": "ok"})},
		{"digest-other", "a digit of the digest is another one", namesFile("digest", digestOf[:70]+flip(digestOf[70:])), agendaIs("digest")},
		{"digest-upper-case", "hex digits have no case", namesFile("digest", "sha256:"+strings.ToUpper(digestOf[7:])), agendaIs("ok")},
		{"digest-other-hash", "another hash function", namesFile("digest", "sha512:"+digestOf[7:]), agendaIs("digest")},
		{"digest-bare", "a digest that does not say of what", namesFile("digest", digestOf[7:]), agendaIs("digest")},
		{"digest-short", "the first half of the digest", namesFile("digest", digestOf[:39]), agendaIs("digest")},
		{"digest-missing", "bytes without a digest were not signed", both(enclosing(agenda), omit("payload.files.digest")), agendaIs("digest")},
		{"size-less", "a byte less than there are", namesFile("size", 26), agendaIs("digest")},
		{"size-more", "a byte more", namesFile("size", 28), agendaIs("digest")},
		{"size-missing", "no size", both(enclosing(agenda), omit("payload.files.size")), agendaIs("digest")},
		{"size-negative", "less than nothing", namesFile("size", -1), agendaIs("digest")},
		{"type-other", "the type in the mail is a matter of the carrier", both(enclosing(agenda), func(x *exchange) { x.files[0].mediaType = "application/octet-stream" }), agendaIs("ok")},
		{"name-other", "so is the name", both(enclosing(agenda), func(x *exchange) { x.files[0].name = "ATT00001.txt" }), agendaIs("ok")},
		{"ref-upper-case", "a scheme has no case", namesFile("ref", "CID:agenda.1@buyer.test"), agendaIs("ok")},
		{"ref-percent", "a ref is percent-decoded", namesFile("ref", "cid:agenda%2E1%40buyer.test"), agendaIs("ok")},
		{"ref-percent-twice", "once", namesFile("ref", "cid:agenda%252E1@buyer.test"), agendaIs("missing")},
		{"ref-percent-plus", "a plus is a plus", both(enclosing(enclosure{"a.txt", "text/plain", "a+b@buyer.test", "a"}), give("payload.files.ref", "cid:a%2Bb@buyer.test")), taken.with(map[string]string{"a.txt": "ok"})},
		{"ref-percent-broken", "a percent sign that is none", namesFile("ref", "cid:agenda%2@buyer.test"), agendaIs("missing")},
		{"ref-case", "a Content-ID has case", namesFile("ref", "cid:Agenda.1@buyer.test"), agendaIs("missing")},
		{"ref-brackets", "the brackets are not of the Content-ID", namesFile("ref", "cid:<agenda.1@buyer.test>"), agendaIs("missing")},
		{"ref-bare", "a ref without a scheme (D114)", namesFile("ref", "agenda.1@buyer.test"), agendaIs("missing")},
		{"ref-https", "a ref to somewhere else (D114): nothing is fetched", namesFile("ref", "https://buyer.test/agenda.txt"), agendaIs("missing")},
		{"ref-empty", "an empty Content-ID", namesFile("ref", "cid:"), agendaIs("missing")},
		{"uri", "a file elsewhere is shown as such", both(enclosing(agenda), omit("payload.files.ref"), give("payload.files.uri", "https://buyer.test/agenda.txt")), agendaIs("uri")},
		{"uri-and-ref", "a file that is here is taken from here", namesFile("uri", "https://buyer.test/agenda.txt"), agendaIs("ok")},
		{"uri-and-ref-missing", "and not fetched where it is not", both(namesFile("uri", "https://buyer.test/agenda.txt"), func(x *exchange) { x.files = nil }), agendaIs("missing")},
		{"neither", "a file that is nowhere", both(enclosing(agenda), omit("payload.files.ref")), agendaIs("missing")},
		{"named-twice", "two names for one part", both(enclosing(agenda), func(x *exchange) {
			again := pinned(agenda)
			again["name"] = "copy.txt"
			give("payload.files", []any{pinned(agenda), again})(x)
		}), taken.with(map[string]string{"agenda.txt": "ok", "copy.txt": "ok"})},
		{"same-twice", "one file named twice", both(enclosing(agenda), give("payload.files", []any{pinned(agenda), pinned(agenda)})), agendaIs("ok")},
		{"one-part-two-digests", "two files in one part cannot both be it", both(enclosing(agenda), func(x *exchange) {
			other := pinned(invite)
			other["ref"] = "cid:" + agenda.id
			give("payload.files", []any{pinned(agenda), other})(x)
		}), taken.with(map[string]string{"agenda.txt": "ok", "invite.ics": "digest"})},
		{"hostile-name", "a name is text from outside", both(enclosing(enclosure{"a.txt", "text/plain", "a@buyer.test", "a"}), give("payload.files.name", "../../etc/cron.d/a")), taken.with(map[string]string{"../../etc/cron.d/a": "ok"})},
		{"held", "the files of a message that waits are judged as well", both(sign(s.agents.third), enclosing(agenda)), waits.with(map[string]string{"agenda.txt": "ok"})},
	})
}

// flip is a hex digit that is another one.
func flip(digit string) string {
	if digit == "0" {
		return "1"
	}
	return "0"
}

func fileParts(s *suite) {
	part := func(header, content string) edit {
		return both(enclosing(agenda), in(mixed, "--b0\n{envelope}\n--b0\nContent-Type: text/plain\n"+header+"\n\n"+content+"\n--b0--\n"))
	}
	const id = "Content-ID: <agenda.1@buyer.test>"
	encoded := wrapped(agenda.body, 76)
	s.postings(s.agents.buyer, []posting{
		{"part-qp", "a carrier may encode it anew", part(id+"\nContent-Transfer-Encoding: quoted-printable", "09:00 Welcome=0A09:30 P=\nrices=0A="), agendaIs("digest")},
		{"part-qp-exact", "as long as every byte is there", part(id+"\nContent-Transfer-Encoding: quoted-printable", "09:00 Welcome=0A09:30=20P=\nrices=0A"), agendaIs("ok")},
		{"part-line-ends", "line ends are bytes of a file: as text they are other ones", part(id, strings.TrimSuffix(agenda.body, "\n")), agendaIs("digest")},
		{"part-id-bare", "a Content-ID without brackets", part("Content-ID: agenda.1@buyer.test\n"+inBase64, encoded), agendaIs("ok")},
		{"part-id-missing", "a part without a Content-ID is nobody's", part(inBase64, encoded), agendaIs("missing")},
		{"part-id-twice", "a part with two Content-IDs has none", part(id+"\nContent-ID: <other@buyer.test>\n"+inBase64, encoded), agendaIs("missing")},
		{"part-broken", "a part that breaks its encoding differs (D114)", part(id+"\n"+inBase64, encoded[:len(encoded)-3]), agendaIs("digest")},
		{"part-behind-padding", "text behind the end of base64 (D114)", part(id+"\n"+inBase64, encoded+"\nYQ=="), agendaIs("digest")},
		{"part-encoding", "an encoding that there is not (D114)", part(id+"\nContent-Transfer-Encoding: x-zip", encoded), agendaIs("digest")},
		{"part-inline", "an inline part is a part", part(id+"\nContent-Disposition: inline\n"+inBase64, encoded), agendaIs("ok")},
		{"two-parts", "two parts of one Content-ID: one reader would take the first, another the last (D114)", both(enclosing(agenda), func(x *exchange) { x.files = append(x.files, x.files[0]) }), agendaIs("missing")},
		{"two-parts-other", "of which one is the file (D114)", both(enclosing(agenda), func(x *exchange) {
			x.files = append(x.files, enclosure{"b.txt", "text/plain", agenda.id, "other"})
		}), agendaIs("missing")},
		{"envelope-as-file", "the envelope's own part is no file that it could have signed", both(enclosing(agenda), in(mixed, "--b0\n"+id+"\n{envelope}\n--b0--\n")), agendaIs("digest")},
		{"part-in-multipart", "a part in a multipart of the same mail", both(enclosing(agenda), in(mixed, "--b0\n{envelope}\n--b0\nContent-Type: multipart/mixed; boundary=\"c1\"\n\n--c1\nContent-Type: text/plain\n"+id+"\n"+inBase64+"\n\n"+encoded+"\n--c1--\n--b0--\n")), agendaIs("ok")},
	})
}

func respondFiles(s *suite) {
	for _, c := range []struct {
		name, why string
		change    edit
		files     map[string]string
	}{
		{"artifact", "a file among the results", artifact(agenda), map[string]string{"agenda.txt": "ok"}},
		{"artifact-digest", "one that differs", both(artifact(agenda), func(x *exchange) { x.files[0].body = "other" }), map[string]string{"agenda.txt": "digest"}},
		{"artifact-missing", "one that is not there", both(artifact(agenda), func(x *exchange) { x.files = nil }), map[string]string{"agenda.txt": "missing"}},
		{"artifact-uri", "one that lies elsewhere", give("artifacts", []any{map[string]any{"id": "a", "parts": []any{map[string]any{"name": "big.zip", "uri": "https://helper.test/big.zip"}}}}), map[string]string{"big.zip": "uri"}},
		{"artifact-texts", "texts and values are no files", give("artifacts", []any{map[string]any{"id": "a", "parts": []any{map[string]any{"text": "x"}, map[string]any{"data": map[string]any{"ref": "cid:x"}}}}}), map[string]string{}},
		{"artifact-two", "files of two results", both(artifact(agenda), func(x *exchange) {
			x.files = append(x.files, invite)
			list := x.message["artifacts"].([]any)
			x.message["artifacts"] = append(list, map[string]any{"id": "a2", "parts": []any{pinned(invite)}})
		}), map[string]string{"agenda.txt": "ok", "invite.ics": "ok"}},
		{"artifact-null", "results that are null (E5)", give("artifacts", nil), map[string]string{}},
	} {
		t := s.story(c.name, c.why)
		asked := t.posted(t.request(s.agents.own))
		t.arrives(t.respond(s.agents.helper, asked, "completed", c.change), taken.with(c.files))
	}
}

// forwardedFiles: a file belongs to the innermost message round it.
func forwardedFiles(s *suite) {
	file := "Content-Type: text/plain\nContent-ID: <" + agenda.id + ">\n" + inBase64 + "\n\n" + wrapped(agenda.body, 76) + "\n"
	within := func(inner, outer string) edit {
		return both(enclosing(agenda), in(mixed, "--b0\n{text}\n"+outer+"--b0\n"+forward("f1", inner)+"--b0--\n"))
	}
	s.postings(s.agents.buyer, []posting{
		{"forward-with-file", "file and envelope in the same forward", within("{envelope}\n--f1\n"+file, ""), agendaIs("ok")},
		{"forward-file-outside", "a file beside the forward is not its own", within("{envelope}", "--b0\n"+file), agendaIs("missing")},
		{"forward-file-both", "one beside the forward does not make two", within("{envelope}\n--f1\n"+file, "--b0\n"+file), agendaIs("ok")},
		{"forward-file-deeper", "a file in a forward within it is another mail's", within("{envelope}\n--f1\n"+forward("g2", file), ""), agendaIs("missing")},
		{"file-in-forward", "the envelope in the mail, its file in a forward", both(enclosing(agenda), in(mixed, "--b0\n{envelope}\n--b0\n"+forward("f1", file)+"--b0--\n")), agendaIs("missing")},
		{"file-is-forward", "a forward may be a file", both(enclosing(enclosure{"mail.eml", "message/rfc822", "mail@buyer.test", "Subject: x\r\n\r\nhi\r\n"}), in(mixed, "--b0\n{envelope}\n--b0\nContent-Type: message/rfc822\nContent-ID: <mail@buyer.test>\n"+inBase64+"\n\n"+wrapped("Subject: x\r\n\r\nhi\r\n", 76)+"\n--b0--\n")), taken.with(map[string]string{"mail.eml": "ok"})},
	})
}
