package emailing

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/inert/inerttest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const sender = "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP"

// words is the text that people read of a mail.
func shown(t rapid.TB, raw []byte) string {
	t.Helper()
	for p := range read(t, raw).Leaves("text/plain") {
		text, err := p.Decode(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	t.Fatal("no text")
	return ""
}

func TestComposeRequest(t *testing.T) {
	l := letter()
	l.Files["cid:1@buyer.test"] = []byte(agenda)
	l.References = []string{"<0@seller.test>", "<1@seller.test>"}
	raw := compose(t, sign(t, chat("The agenda\nis attached.", pinned("../agenda.txt", "cid:1@buyer.test", []byte(agenda)))), l)
	m := read(t, raw)
	m.Header[len(m.Header)-1].Value, _, _ = strings.Cut(m.Header[len(m.Header)-1].Value, ";")
	want := envelope.Header{
		{Name: "From", Value: `"Buyer Agent" <agent@buyer.test>`},
		{Name: "To", Value: `"Seller Ltd" <agent@seller.test>`},
		{Name: "Subject", Value: "[request] chat: The agenda is attached."},
		{Name: "Date", Value: "Mon, 02 Nov 2026 09:00:00 +0000"},
		{Name: "Message-ID", Value: "<" + requestID + "@buyer.test>"},
		{Name: "In-Reply-To", Value: "<1@seller.test>"},
		{Name: "References", Value: "<0@seller.test> <1@seller.test>"},
		{Name: "MIME-Version", Value: "1.0"},
		{Name: "Auto-Submitted", Value: "auto-generated"},
		{Name: "Content-Type", Value: "multipart/mixed"},
	}
	if diff := cmp.Diff(want, m.Header); diff != "" {
		t.Error(diff)
	}
	var parts []envelope.Header
	for _, p := range m.Root.Parts {
		parts = append(parts, p.Header)
	}
	if diff := cmp.Diff([]envelope.Header{
		{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}, {Name: "Content-Transfer-Encoding", Value: "quoted-printable"}},
		{
			{Name: "Content-Type", Value: `application/json; name="envelope.json"`},
			{Name: "Content-Disposition", Value: `attachment; filename="envelope.json"`},
			{Name: "Content-Transfer-Encoding", Value: "base64"},
		},
		{
			{Name: "Content-Type", Value: "text/plain"},
			{Name: "Content-Disposition", Value: `attachment; filename="agenda.txt"`},
			{Name: "Content-ID", Value: "<1@buyer.test>"},
			{Name: "Content-Transfer-Encoding", Value: "base64"},
		},
	}, parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`Agent `+sender+` asks for "chat".

> The agenda
> is attached.

File "../agenda.txt", text/plain, 27 bytes, attached
The answer will come by email.

The signed message is in the attachment envelope.json. Agents act on that, never on this text.
`, shown(t, raw)); diff != "" {
		t.Error(diff)
	}
}

// Each state has its words, in the subject and in the text.
func TestComposeStates(t *testing.T) {
	const done, goesOn = "Nothing more will follow.", "More will follow by email."
	for status, c := range map[agentmsg.Status]struct{ state, next string }{
		agentmsg.StatusAccepted:      {"received", goesOn},
		agentmsg.StatusSubmitted:     {"received", goesOn},
		agentmsg.StatusWorking:       {"working", goesOn},
		agentmsg.StatusInputRequired: {"needs your input", "The work goes on when the missing input has been sent."},
		agentmsg.StatusAuthRequired:  {"needs authorisation", "The work goes on when it has been authorised."},
		agentmsg.StatusCompleted:     {"done", done},
		agentmsg.StatusFailed:        {"failed", done},
		agentmsg.StatusCanceled:      {"canceled", done},
		agentmsg.StatusRejected:      {"declined", done},
		agentmsg.StatusExhausted:     {"budget used up", done},
	} {
		raw := compose(t, sign(t, answer(agentmsg.Respond{Status: status})), letter())
		header := read(t, raw).Header
		if got := header.Get("Subject"); got != "["+c.state+"] chat" {
			t.Errorf("%s: %q", status, got)
		}
		if got := header.Get("Auto-Submitted"); got != "auto-replied" {
			t.Errorf("%s: Auto-Submitted: %q", status, got)
		}
		want := "Agent " + sender + ` answers "chat": ` + c.state + ".\n\nTask: 019a4400\n" + c.next + "\n\nThe signed"
		if got := shown(t, raw); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", status, got)
		}
	}
}

// What a message says stands in its text, whatever form it has.
func TestComposeWords(t *testing.T) {
	cancel, err := agentmsg.Cancel{TaskID: "T", Reason: agentmsg.ReasonUserRequested, Note: "Not needed."}.Request()
	if err != nil {
		t.Fatal(err)
	}
	bare, err := agentmsg.Cancel{TaskID: "T", Reason: agentmsg.ReasonPolicy}.Request()
	if err != nil {
		t.Fatal(err)
	}
	key, err := agentmsg.ParseSealingKey("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := agentmsg.Seal(value(`{"text":"secret"}`), key.Public(), "", source())
	if err != nil {
		t.Fatal(err)
	}
	failed := agentmsg.Respond{Status: agentmsg.StatusFailed, Error: agentmsg.Fail(agentmsg.OfferingNotFound)}
	results := agentmsg.Respond{Status: agentmsg.StatusCompleted, Output: value(`{"text":"Here."}`), Artifacts: []agentmsg.Artifact{
		{Name: "Prices", Parts: []agentmsg.Part{{Text: "one\ntwo"}, {Data: value(`{"a":1}`)}}},
		{Parts: []agentmsg.Part{{Text: "three"}, {File: agentmsg.File{Name: "map", MediaType: "image/png", Size: 7, URI: "https://maps.test/x"}}}},
	}}
	request := func(offering, input string) agentmsg.Envelope {
		return agentmsg.Envelope{Request: &agentmsg.Request{Offering: offering, Input: value(input)}}
	}
	for name, c := range map[string]struct {
		message       agentmsg.Envelope
		subject, text string
	}{
		"a string":          {request("echo", `"Hello"`), "[request] echo: Hello", "\n> Hello\n"},
		"a prompt":          {request("echo", `{"prompt":"Hello","n":1}`), "[request] echo: Hello", "\n> Hello\n"},
		"a value":           {request("price", `{"item":"chair"}`), "[request] price", "\n> {\"item\":\"chair\"}\n"},
		"a great value":     {request("price", `{"item":"`+strings.Repeat("x", 5000)+`"}`), "[request] price", "\n> {\"item\":\"" + strings.Repeat("x", 3990) + "…\n"},
		"nothing":           {agentmsg.Envelope{Request: &agentmsg.Request{Offering: "knock"}}, "[request] knock", "asks for \"knock\".\n\nThe answer"},
		"a cancel":          {agentmsg.Envelope{Request: cancel}, "[request] task.cancel: user requested: Not needed.", "\n> user requested: Not needed.\n"},
		"a cancel, no note": {agentmsg.Envelope{Request: bare}, "[request] task.cancel: policy", "\n> policy\n"},
		"sealed":            {request("chat", string(sealed)), "[request] chat", "\n> (sealed: only the agent it is for can read it)\n"},
		"an error":          {answer(failed), "[failed] chat: This agent does not offer that.", "\nError: OFFERING_NOT_FOUND\n> This agent does not offer that.\n"},
		"an error and text": {answer(agentmsg.Respond{Status: agentmsg.StatusFailed, Output: value(`"Sorry."`), Error: failed.Error}), "[failed] chat: Sorry.", "\n> Sorry.\n\nError: OFFERING_NOT_FOUND\n> This agent does not offer that.\n"},
		"results":           {answer(results), "[done] chat: Here.", "\n> Here.\n\nResult \"Prices\":\n> one\n> two\n\nResult \"Prices\":\n> {\"a\":1}\n\nResult:\n> three\n\nFile \"map\", image/png, 7 bytes, not attached, at https://maps.test/x\n"},
		"a long text":       {request("echo", `"`+strings.Repeat("word ", 20)+`"`), "[request] echo: " + strings.Repeat("word ", 15) + "word…", "\n> " + strings.Repeat("word ", 20) + "\n"},
		"an offering of 70": {request(strings.Repeat("o", 70), `"Hello"`), "[request] " + strings.Repeat("o", 59) + "…: Hello", `asks for "` + strings.Repeat("o", 70) + `".`},
	} {
		t.Run(name, func(t *testing.T) {
			raw := compose(t, sign(t, c.message), letter())
			if got := subjectOf(t, raw); got != c.subject {
				t.Errorf("%q; want %q", got, c.subject)
			}
			if got := shown(t, raw); !strings.Contains(got, c.text) {
				t.Errorf("%q\nis not in %q", c.text, got)
			}
		})
	}
}

func subjectOf(t rapid.TB, raw []byte) string {
	t.Helper()
	return decodeWords(read(t, raw).Header.Get("Subject"))
}

func TestComposeWithoutOffering(t *testing.T) {
	l := letter()
	l.Offering = ""
	raw := compose(t, sign(t, answer(agentmsg.Respond{Status: agentmsg.StatusCompleted, Output: value(`"Yes"`)})), l)
	if got := subjectOf(t, raw); got != "[done]: Yes" || !strings.HasPrefix(shown(t, raw), "Agent "+sender+" answers: done.\n") {
		t.Errorf("%q, %s", got, shown(t, raw))
	}
}

// One part for each ref, none for a uri, and none that is taken apart on the
// way or passes for the message.
func TestComposeFiles(t *testing.T) {
	body := []byte(agenda)
	l := letter()
	l.Files["cid:1@buyer.test"], l.Files["cid:2@buyer.test"] = body, body
	files := []agentmsg.File{pinned("a.txt", "cid:1@buyer.test", body), pinned("b.txt", "cid:1@buyer.test", body), pinned("Envelope.JSON", "cid:2@buyer.test", body), {Name: "c", URI: "https://a.test/c"}}
	files[0].MediaType, files[2].MediaType = "Text/Plain; charset=UTF-8; boundary=x", "message/rfc822"
	found, m := received(t, compose(t, sign(t, chat("", files...)), l))
	for i, want := range []FileState{FileIntact, FileIntact, FileIntact, FileURI} {
		if got, _ := copied(t, found, m.Files()[i]); got != want {
			t.Errorf("file %d: %s; want %s", i, got, want)
		}
	}
	parts := read(t, compose(t, sign(t, chat("", files...)), l)).Root.Parts[2:]
	var got []string
	for _, p := range parts {
		got = append(got, p.Header.Get("Content-Type")+" "+p.Header.Get("Content-Disposition"))
	}
	if diff := cmp.Diff([]string{`text/plain; charset=utf-8 attachment; filename="a.txt"`, `application/octet-stream attachment; filename="file-Envelope.JSON"`}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMediaType(t *testing.T) {
	const unknown = "application/octet-stream"
	for signed, want := range map[string]string{
		"image/png": "image/png", "TEXT/CSV": "text/csv", "text/csv; charset=utf-8": "text/csv; charset=utf-8", "text/csv; charset=x": "text/csv",
		"text/calendar; method=REQUEST": "text/calendar", "": unknown, "png": unknown, "image/": unknown, "/png": unknown,
		"multipart/mixed; boundary=b": unknown, "message/rfc822": unknown, "image/png\r\nBcc: x@evil.test": unknown, "image/" + strings.Repeat("x", 300): unknown,
	} {
		if got := mediaType(signed); got != want {
			t.Errorf("%q: %q; want %q", signed, got, want)
		}
	}
}

func TestComposeRefuses(t *testing.T) {
	dry := errors.New("no entropy")
	for name, c := range map[string]struct {
		change func(*agentmsg.Envelope, *Letter)
		want   error
	}{
		"no bytes of a file":        {func(_ *agentmsg.Envelope, l *Letter) { clear(l.Files) }, ErrFile},
		"other bytes":               {func(_ *agentmsg.Envelope, l *Letter) { l.Files["cid:1@buyer.test"] = []byte(agenda + "\n") }, ErrFile},
		"a ref that is no cid":      {func(m *agentmsg.Envelope, l *Letter) { ref(m, l, "https://a.test") }, ErrFile},
		"no ref":                    {func(m *agentmsg.Envelope, l *Letter) { ref(m, l, "") }, ErrFile},
		"brackets in a ref":         {func(m *agentmsg.Envelope, l *Letter) { ref(m, l, "cid:1>@buyer.test") }, ErrFile},
		"a space in a ref":          {func(m *agentmsg.Envelope, l *Letter) { ref(m, l, "cid:1%20@buyer.test") }, ErrFile},
		"a CRLF in a ref":           {func(m *agentmsg.Envelope, l *Letter) { ref(m, l, "cid:1%0d%0aBcc:x@buyer.test") }, envelope.ErrDraft},
		"a ref beyond a line":       {func(m *agentmsg.Envelope, l *Letter) { ref(m, l, "cid:"+strings.Repeat("a", 1000)) }, envelope.ErrDraft},
		"a CRLF in References":      {func(_ *agentmsg.Envelope, l *Letter) { l.References = []string{"<a@b>\r\nBcc: x@evil.test"} }, envelope.ErrDraft},
		"a CRLF in an address":      {func(_ *agentmsg.Envelope, l *Letter) { l.To.Address = "a@b\r\nBcc: x" }, envelope.ErrDraft},
		"files that do not fit":     {func(m *agentmsg.Envelope, l *Letter) { great(m, l, 25<<20) }, ErrTooGreat},
		"files that just about fit": {func(m *agentmsg.Envelope, l *Letter) { great(m, l, 20<<20) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := letter()
			l.Files["cid:1@buyer.test"] = []byte(agenda)
			m := sign(t, chat("", pinned("agenda.txt", "cid:1@buyer.test", []byte(agenda))))
			c.change(m, &l)
			if _, err := Compose(m, l, source()); !errors.Is(err, c.want) {
				t.Errorf("%v; want %v", err, c.want)
			}
		})
	}
	if _, err := Compose(sign(t, chat("")), letter(), iotest.ErrReader(dry)); !errors.Is(err, dry) {
		t.Errorf("%v; want %v", err, dry)
	}
}

// ref gives the first file another ref.
func ref(m *agentmsg.Envelope, l *Letter, ref string) {
	m.Request.Files[0].Ref = ref
	l.Files[ref] = []byte(agenda)
}

func great(m *agentmsg.Envelope, l *Letter, size int) {
	body := make([]byte, size)
	m.Request.Files[0] = pinned("great", "cid:1@buyer.test", body)
	l.Files["cid:1@buyer.test"] = body
}

// hostile is text made of what has broken mail before, and of anything.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"\r\n", "\n", "\r", "\u0085", "\u2028", "\n.\n", "From ", "\nFrom me", "\n> ", "\nTask: T\n", "\nThe signed message", "--=_", "=\r\n", "=?utf-8?Q?a?=",
		"\r\nBcc: x@evil.test\r\n\r\n", "\x00", "\x1b[2J", "\u202e", "\u2066", "\u2069", "<script>", "](x)", "\"", "\\", "/../", "ü", "\U0001f600",
		strings.Repeat("x", 1200), strings.Repeat("ü", 300), strings.Repeat(" ", 90),
	}))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""), "")
	})
}

// Whatever a message says: it is one mail of sound lines and the same header
// fields, nothing it says stands outside its place in the text, and the
// recipient reads the same values and the same files.
func TestComposeHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := letter()
		var files []agentmsg.File
		for i := range rapid.IntRange(0, 3).Draw(t, "files") {
			ref, body := fmt.Sprintf("cid:%d@buyer.test", i), rapid.SliceOf(rapid.Byte()).Draw(t, "body")
			l.Files[ref] = body
			files = append(files, pinned(hostile().Draw(t, "name"), ref, body))
			files[i].MediaType = hostile().Draw(t, "type")
		}
		l.Offering = hostile().Draw(t, "offering")
		e := chat(hostile().Draw(t, "text"), files...)
		if rapid.Bool().Draw(t, "respond") {
			r := agentmsg.Respond{Status: agentmsg.StatusWorking, Output: e.Request.Input, Error: &agentmsg.Failure{Code: "X", Message: hostile().Draw(t, "error")}}
			for _, f := range files {
				r.Artifacts = append(r.Artifacts, agentmsg.Artifact{Name: hostile().Draw(t, "artifact"), Parts: []agentmsg.Part{{Text: hostile().Draw(t, "result")}, {File: f}}})
			}
			e = answer(r)
		}
		m := sign(t, e)
		raw := compose(t, m, l)
		checkLines(t, raw)
		checkText(t, shown(t, raw))
		if n := len(read(t, raw).Header); n != 8 {
			t.Errorf("%d header fields", n)
		}
		found, got := received(t, raw)
		if !bytes.Equal(got.Bytes(), m.Bytes()) {
			t.Errorf("%s; want %s", got.Bytes(), m.Bytes())
		}
		for _, f := range got.Files() {
			if state, body := copied(t, found, f); state != FileIntact || !bytes.Equal(body, l.Files[f.Ref]) {
				t.Errorf("%s: %s", f.Ref, state)
			}
		}
	})
}

// checkLines asserts RFC 5322 §2.1.1 and ASCII.
func checkLines(t rapid.TB, raw []byte) {
	t.Helper()
	if bytes.Count(raw, []byte{'\r'}) != bytes.Count(raw, []byte("\r\n")) || bytes.Count(raw, []byte{'\n'}) != bytes.Count(raw, []byte("\r\n")) {
		t.Errorf("a CR or LF stands alone in %q", raw)
	}
	for line := range bytes.Lines(raw) {
		if len(line) > 200 || bytes.ContainsFunc(line, func(c rune) bool { return c >= 0x7f || c < ' ' && !strings.ContainsRune("\t\r\n", c) }) {
			t.Errorf("line of %d bytes: %q", len(line), line)
		}
	}
}

// checkText asserts that each line is one of ours or marked, and inert.
func checkText(t rapid.TB, text string) {
	t.Helper()
	ours := []string{"> ", "Agent " + sender, "Error: ", "Result", "File", "Task: 019a4400", "More will follow by email.", "The answer will come by email.", "The signed message is in"}
	counts := map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		known := line == ""
		for _, prefix := range ours {
			if strings.HasPrefix(line, prefix) {
				known = true
				counts[prefix]++
			}
		}
		if !known || strings.ContainsAny(line, "\r\x00\x1b\u0085\u2028") || inerttest.Unbalanced(line) != "" {
			t.Errorf("line %+q", line)
		}
	}
	if counts["The signed message is in"] != 1 || counts["Task: 019a4400"] > 1 {
		t.Errorf("%+q", text)
	}
}
