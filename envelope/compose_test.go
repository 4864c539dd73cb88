package envelope

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/mail"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// counter stands for a source of randomness; the boundaries it leads to are
// known: each of its reads is one byte over and over.
type counter struct{ next byte }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = c.next
	}
	c.next++
	return len(b), nil
}

const (
	outer = "=_AAAAAAAAAAAAAAAAAAAAAAAA"
	inner = "=_AQEBAQEBAQEBAQEBAQEBAQEB"
)

func draft() Draft {
	return Draft{
		From: mail.Address{Name: "Agent", Address: "agent@buyer.test"}, To: mail.Address{Address: "agent@seller.test"},
		Subject: "Quote [00000000]", Date: time.Date(2026, 11, 2, 11, 0, 0, 0, time.FixedZone("CET", 3600)),
		MessageID: "<2@buyer.test>", InReplyTo: "<1@seller.test>", References: []string{"<0@buyer.test>", "<1@seller.test>"},
		Extra: []Field{{"Auto-Submitted", "auto-replied"}},
		Text:  "Hello\n", HTML: "<p>Hello</p>\n",
		Machine:     &Attachment{Type: `application/ld+json; profile="https://a.test/v1"`, Filename: "message.jsonld", Body: []byte(`{"a":"ü"}`)},
		Attachments: []Attachment{{Type: "application/jose", Filename: "message.jose", Body: []byte("a.b.c")}},
	}
}

func compose(t testing.TB, d Draft) []byte {
	t.Helper()
	raw, err := Compose(d, &counter{})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCompose(t *testing.T) {
	m := read(t, compose(t, draft()))
	want := Header{
		{"From", `"Agent" <agent@buyer.test>`},
		{"To", "<agent@seller.test>"},
		{"Subject", "Quote [00000000]"},
		{"Date", "Mon, 02 Nov 2026 10:00:00 +0000"},
		{"Message-ID", "<2@buyer.test>"},
		{"In-Reply-To", "<1@seller.test>"},
		{"References", "<0@buyer.test> <1@seller.test>"},
		{"MIME-Version", "1.0"},
		{"Auto-Submitted", "auto-replied"},
		{"Content-Type", `multipart/mixed; boundary="` + outer + `"`},
	}
	if diff := cmp.Diff(want, m.Header); diff != "" {
		t.Error(diff)
	}
	if got, want := tree(m.Root), "multipart/mixed[multipart/alternative[text/plain text/html application/ld+json] application/jose]"; got != want {
		t.Errorf("tree %s; want %s", got, want)
	}
	for mediaType, want := range map[string][2]string{
		"application/ld+json": {`{"a":"ü"}`, `inline; filename="message.jsonld"`},
		"application/jose":    {"a.b.c", `attachment; filename="message.jose"`},
		"text/plain":          {"Hello\r\n", ""},
		"text/html":           {"<p>Hello</p>\r\n", ""},
	} {
		for p := range m.Leaves(mediaType) {
			body, err := p.Decode(1000)
			if got := [2]string{string(body), p.Header.Get("Content-Disposition")}; err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", mediaType, got, err, want)
			}
		}
	}
}

// A text and files without HTML need no alternative, and a file is what it
// was, byte for byte.
func TestComposeFiles(t *testing.T) {
	all := make([]byte, 3*base64Line)
	for i := range all {
		all[i] = byte(i)
	}
	for name, body := range map[string][]byte{
		"nothing": {}, "a line": all[:base64Line], "a line and a byte": all[:base64Line+1], "lines": all, "CRs and LFs": []byte("\r\n\r\r\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			raw := compose(t, Draft{Text: "Hello", Attachments: []Attachment{{Type: "image/png", Filename: "Größe.png", ID: "1@buyer.test", Body: body, Base64: true}}})
			checkLines(t, raw)
			m := read(t, raw)
			if got := tree(m.Root); got != "multipart/mixed[text/plain image/png]" {
				t.Fatal(got)
			}
			file := m.Root.Parts[1]
			var got bytes.Buffer
			if err := file.DecodeTo(&got, int64(len(body))); err != nil || !bytes.Equal(got.Bytes(), body) {
				t.Errorf("%q, %v; want %q", got.Bytes(), err, body)
			}
			if id := file.Header.Get("Content-ID"); id != "<1@buyer.test>" {
				t.Errorf("Content-ID %q", id)
			}
			if got := file.Header.Get("Content-Disposition"); got != "attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.png" {
				t.Error(got)
			}
		})
	}
}

// A file's name comes back as it was, whatever stands in it, and no line of it
// is long (RFC 2231).
func TestFilenames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := hostile().Draw(t, "name")
		raw, err := Compose(Draft{Attachments: []Attachment{{Type: "image/png", Filename: name}}}, &counter{})
		if err != nil {
			t.Fatal(err)
		}
		checkLines(t, raw)
		for line := range bytes.Lines(raw) {
			if len(line) > 80 {
				t.Errorf("line of %d bytes: %q", len(line), line)
			}
		}
		m, err := Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		_, params, err := mime.ParseMediaType(m.Root.Parts[1].Header.Get("Content-Disposition"))
		if want := strings.ToValidUTF8(name, "\ufffd"); err != nil || params["filename"] != want {
			t.Errorf("%q, %v; want %q", params["filename"], err, want)
		}
	})
}

func TestComposeTextOnly(t *testing.T) {
	raw := compose(t, Draft{Text: "Hello\nthere", Subject: "Büro\r\nBcc: x@evil.test"})
	m := read(t, raw)
	if got, err := m.Root.Decode(100); err != nil || string(got) != "Hello\r\nthere" || tree(m.Root) != "text/plain" {
		t.Errorf("%q, %v, %s", got, err, tree(m.Root))
	}
	if m.Header.Count("Bcc")+m.Header.Count("In-Reply-To")+m.Header.Count("References") != 0 {
		t.Errorf("%s", raw)
	}
}

// O12, and a thread that goes on for ever.
func TestComposeReferences(t *testing.T) {
	d := draft()
	for i := range 5000 {
		d.References = append(d.References, fmt.Sprintf("<%d@buyer.test>", i))
	}
	got := strings.Fields(read(t, compose(t, d)).Header.Get("References"))
	if diff := cmp.Diff(d.References[len(d.References)-maxReferences:], got); diff != "" {
		t.Error(diff)
	}
}

// O1, O2, O12: what would start another field is no header.
func TestComposeRefuses(t *testing.T) {
	for name, change := range map[string]func(*Draft){
		"CRLF in a Message-ID":    func(d *Draft) { d.MessageID = "<a@b>\r\nBcc: x@evil.test" },
		"a CR in In-Reply-To":     func(d *Draft) { d.InReplyTo = "<a@b>\rBcc: x@evil.test" },
		"an LF in References":     func(d *Draft) { d.References = []string{"<a@b>\nBcc: x@evil.test"} },
		"CRLF in an address":      func(d *Draft) { d.To.Address = "a@b\r\nBcc: x" },
		"a NUL in a field":        func(d *Draft) { d.Extra[0].Value = "a\x00" },
		"an ESC in a field":       func(d *Draft) { d.Extra[0].Value = "\x1b[2J" },
		"a DEL in a field":        func(d *Draft) { d.Extra[0].Value = "\x7f" },
		"raw UTF-8 in a field":    func(d *Draft) { d.Extra[0].Value = "ü" },
		"CRLF in a type":          func(d *Draft) { d.Machine.Type = "text/plain\r\nX: y" },
		"a CRLF in a Content-ID":  func(d *Draft) { d.Attachments[0].ID = "a>\r\nX: y" },
		"a word beyond a line":    func(d *Draft) { d.Extra[0].Value = strings.Repeat("a", 1000) },
		"a word and its name":     func(d *Draft) { d.Extra[0].Value = strings.Repeat("a", 990) },
		"spaces beyond a line":    func(d *Draft) { d.Extra[0].Value = "a" + strings.Repeat(" ", 1000) + "b" },
		"references beyond lines": func(d *Draft) { d.References = []string{"<" + strings.Repeat("a", 200<<10) + "@b>"} },
	} {
		t.Run(name, func(t *testing.T) {
			d := draft()
			change(&d)
			if _, err := Compose(d, &counter{}); !errors.Is(err, ErrDraft) {
				t.Errorf("%v; want ErrDraft", err)
			}
		})
	}
}

func TestComposeWithoutRandomness(t *testing.T) {
	want := errors.New("no entropy")
	if _, err := Compose(draft(), iotest.ErrReader(want)); !errors.Is(err, want) {
		t.Errorf("%v; want %v", err, want)
	}
}

// A field comes back as it was, folded or not: a name with two spaces in a
// row, or a JSON string, is the same name.
func TestFieldsComeBack(t *testing.T) {
	for name, value := range map[string]string{
		"empty":              "",
		"two spaces":         "a  b",
		"spaces at the fold": strings.Repeat("a", 60) + strings.Repeat(" ", 100) + "b",
		"tabs":               "a \t " + strings.Repeat("b", 80) + " \t " + strings.Repeat("c", 80),
		"a long word":        strings.Repeat("a", maxLine-len("X-Field: ")),
		"long words":         "a " + strings.Repeat("b", maxLine-1) + " c " + strings.Repeat("d", 900),
		"a short word first": "ab " + strings.Repeat("c", maxLine-1),
		"many words":         strings.TrimRight(strings.Repeat("word ", 100), " "),
	} {
		t.Run(name, func(t *testing.T) {
			d := draft()
			d.Extra = []Field{{"X-Field", value}}
			raw := compose(t, d)
			checkLines(t, raw)
			if got := read(t, raw).Header.Get("X-Field"); got != value {
				t.Errorf("%q\nwant %q", got, value)
			}
		})
	}
}

// checkLines asserts what every mail written here keeps to: CRLF only, no
// line over 998 bytes or that a relay would change, no raw byte outside ASCII.
func checkLines(t rapid.TB, raw []byte) {
	t.Helper()
	if bytes.Count(raw, []byte{'\r'}) != bytes.Count(raw, []byte("\r\n")) || bytes.Count(raw, []byte{'\n'}) != bytes.Count(raw, []byte("\r\n")) {
		t.Errorf("a CR or LF stands alone in %q", raw)
	}
	_, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	for line := range bytes.Lines(raw) {
		if len(line) > maxLine+2 || bytes.ContainsFunc(line, func(c rune) bool { return c >= 0x7f || c < ' ' && !strings.ContainsRune("\t\r\n", c) }) {
			t.Errorf("line of %d bytes: %q", len(line), line)
		}
	}
	for line := range bytes.Lines(body) {
		if bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(".")) {
			t.Errorf("line %q", line)
		}
	}
}

// hostile is text made of what has broken mail before (O5), and of anything.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\r\n", "\n", "\r", "\n.\n", ".", "..", "From ", "\nFrom me", ">From ", "--" + outer, "\n--" + outer + "\n", "\n--" + inner + "\n",
			"\r\n--" + outer + "--\r\n", "=", "=\r\n", "=3D", " \n", "\t\n", "\x00", "\x1b[2J", "\u2028", "\u0085", "\u202e", "\ufeff",
			"Bcc: x@evil.test", "\r\n\r\n", "<script>", "=?utf-8?Q?a?=", "ü", "\U0001f600", strings.Repeat("x", 1200), strings.Repeat("ü", 300), strings.Repeat(" ", 80),
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func unixLines(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

func TestComposeReadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draft()
		d.Text, d.HTML = hostile().Draw(t, "text"), hostile().Draw(t, "html")
		d.Subject, d.From.Name = rapid.StringN(0, 200, -1).Draw(t, "subject"), rapid.StringN(0, 200, -1).Draw(t, "name")
		d.Machine.Body, d.Attachments[0].Body = []byte(hostile().Draw(t, "machine")), []byte(hostile().Draw(t, "attachment"))
		raw, err := Compose(d, &counter{})
		if err != nil {
			t.Fatal(err)
		}
		checkLines(t, raw)
		m, err := Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		for mediaType, want := range map[string]string{
			"text/plain": d.Text, "text/html": d.HTML, "application/ld+json": string(d.Machine.Body), "application/jose": string(d.Attachments[0].Body),
		} {
			checkLeaf(t, m, mediaType, want)
		}
		from, err := m.Header.From()
		if err != nil || from != d.From.Address || len(m.Header) != 10 {
			t.Errorf("From %q, %v, in %q", from, err, m.Header)
		}
		if a, err := mail.ParseAddress(m.Header.Get("From")); err != nil || a.Name != d.From.Name {
			t.Errorf("name %q, %v; want %q", a.Name, err, d.From.Name)
		}
		_, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
		if !bytes.HasPrefix(body, []byte("--"+outer)) || !bytes.HasSuffix(body, []byte("\r\n--"+outer+"--\r\n")) { // D23
			t.Errorf("body %q", body)
		}
	})
}

func checkLeaf(t *rapid.T, m *Mail, mediaType, want string) {
	n := 0
	for p := range m.Leaves(mediaType) {
		n++
		if got, err := p.Decode(1 << 20); err != nil || unixLines(string(got)) != unixLines(want) {
			t.Errorf("%s is %q, %v; want %q", mediaType, got, err, want)
		}
	}
	if n != 1 {
		t.Errorf("%d parts of type %s", n, mediaType)
	}
}
