package envelope

import (
	"encoding/base64"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"testing"
)

const limit = 32768

// decodePart decodes a part with these header lines and this body.
func decodePart(t *testing.T, header, body string) ([]byte, error) {
	t.Helper()
	m, err := Read([]byte(strings.ReplaceAll(header+"\n\n", "\n", "\r\n") + body))
	if err != nil {
		t.Fatal(err)
	}
	return m.Root.Decode(limit)
}

const (
	inBase64 = "Content-Type: application/ld+json\nContent-Transfer-Encoding: base64"
	inQuoted = "Content-Type: application/ld+json\nContent-Transfer-Encoding: quoted-printable"
	as       = "Content-Type: application/ld+json; charset="
)

func TestDecode(t *testing.T) {
	for name, tc := range map[string]struct{ header, body, want string }{
		"no encoding":             {"Content-Type: text/plain", "héllo\r\n", "héllo\r\n"},
		"7bit":                    {"Content-Transfer-Encoding: 7bit", "a=20", "a=20"},
		"8bit, capitals":          {"Content-Transfer-Encoding: 8BIT", "ü", "ü"},
		"binary":                  {"Content-Transfer-Encoding: binary", "ü", "ü"},
		"nothing":                 {inBase64, "", ""},
		"base64":                  {inBase64, "e30=", "{}"},
		"base64, capitals":        {"Content-Transfer-Encoding: BASE64", "e30=", "{}"},
		"base64 in lines":         {inBase64, "e3\r\n0=\r\n\r\n", "{}"},
		"quoted-printable":        {inQuoted, "=7B=7d", "{}"},
		"a soft break":            {inQuoted, "{=\r\n}", "{}"},
		"a soft break, padded":    {inQuoted, "{= \t\r\n}", "{}"},
		"a line end":              {inQuoted, "{\r\n}", "{\r\n}"},
		"white space at its end":  {inQuoted, "{ \t\r\n}", "{\r\n}"},
		"UTF-8 in it":             {inQuoted, "=C3=BC", "ü"},
		"charset utf-8":           {as + `"UTF-8"`, "ü", "ü"},
		"charset us-ascii":        {as + "US-ASCII", "{}", "{}"},
		"an empty charset":        {as + `""`, "ü", "ü"},
		"a content encoding, M14": {"Content-Encoding: gzip", "\x1f\b\x00", "\x1f\b\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := decodePart(t, tc.header, tc.body); err != nil || string(got) != tc.want {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// A file and an envelope are read with the white space that a carrier left in
// base64 (D190); nothing else is passed over.
func TestDecodeToSpaces(t *testing.T) {
	for body, want := range map[string]string{
		" e 3\t0= \t\r\n \r\n": "{}", "e3\r\n 0=\r\n": "{}", "e30 =": "{}",
		"e3\u00a00=": "", "e3\v0=": "", "e30= e30=": "", "e30 ": "",
	} {
		m, err := Read([]byte(strings.ReplaceAll(inBase64+"\n\n", "\n", "\r\n") + body))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := m.Root.DecodeTo(&got, limit); (err == nil) != (want != "") || err == nil && got.String() != want || err != nil && !errors.Is(err, ErrEncoding) {
			t.Errorf("%q: %q, %v", body, got.String(), err)
		}
	}
}

// M9 to M11: readers that go on behind a fault see another message.
func TestDecodeRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ header, body string }{
		"an unknown encoding":             {"Content-Transfer-Encoding: x-gzip", "{}"},
		"an empty encoding":               {"Content-Transfer-Encoding:", "{}"},
		"an encoding with a comment":      {"Content-Transfer-Encoding: 7bit (x)", "{}"},
		"base64, junk":                    {inBase64, "e3*0="},
		"base64, junk between lines":      {inBase64, "e3\r\n!\r\n0="},
		"base64, a space":                 {inBase64, "e3 0="},
		"base64, text after the padding":  {inBase64, "e30=e30="},
		"base64, a line after it":         {inBase64, "e30=\r\ne30="},
		"base64, no padding":              {inBase64, "e30"},
		"base64, too much padding":        {inBase64, "e30=="},
		"base64, padding only":            {inBase64, "===="},
		"base64, bits left over":          {inBase64, "e31="},
		"base64, the alphabet for URLs":   {inBase64, "__-_"},
		"base64, one letter":              {inBase64, "e"},
		"quoted-printable, no hex":        {inQuoted, "=ZZ{}"},
		"quoted-printable, one digit":     {inQuoted, "=7"},
		"quoted-printable, = at the end":  {inQuoted, "{}="},
		"quoted-printable, = and a space": {inQuoted, "{}= "},
		"quoted-printable, = then text":   {inQuoted, "{= }\r\n"},
		"quoted-printable, raw UTF-8":     {inQuoted, "ü"},
		"quoted-printable, a NUL":         {inQuoted, "{}\x00"},
		"quoted-printable, a DEL":         {inQuoted, "{}\x7f"},
		"no UTF-8":                        {"Content-Type: text/plain", "\xff"},
		"no UTF-8 in base64":              {inBase64, "/w=="},
		"no UTF-8 in quoted-printable":    {inQuoted, "=FF"},
		"a lying charset utf-8":           {as + "utf-8", "\xe4"},
		"a lying us-ascii":                {as + "us-ascii", "ü"},
		"a lying us-ascii, no UTF-8":      {as + "us-ascii", "\xe4"},
		"UTF-16":                          {as + "utf-16", "{}"},
		"UTF-7":                           {as + "utf-7", "{}"},
		"Latin 1":                         {as + "iso-8859-1", "{}"},
		"a space in the charset":          {as + `" utf-8"`, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := decodePart(t, tc.header, tc.body); !errors.Is(err, ErrEncoding) || got != nil {
				t.Errorf("%q, %v; want ErrEncoding", got, err)
			}
		})
	}
}

func TestDecodeTwoEncodings(t *testing.T) { // M9
	m := read(t, change{"Content-Transfer-Encoding: 7bit", "Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: 7bit"}.of(t, baseline))
	for p := range m.Leaves("application/jose") {
		if got, err := p.Decode(limit); !errors.Is(err, ErrEncoding) {
			t.Errorf("%q, %v; want ErrEncoding", got, err)
		}
	}
}

// wrap cuts text into lines of at most n bytes that end in end.
func wrap(text string, n int, end string) string {
	var b strings.Builder
	for len(text) > n {
		b.WriteString(text[:n] + end)
		text = text[n:]
	}
	return b.String() + text
}

func TestDecodeLimit(t *testing.T) { // M16
	for name, encode := range map[string]func(string) string{
		"7bit":             func(s string) string { return s },
		"base64":           func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte(s)), 76, "\r\n") },
		"quoted-printable": func(s string) string { return wrap(strings.Repeat("=61", len(s)), 75, "=\r\n") },
	} {
		header := "Content-Transfer-Encoding: " + name
		got, err := decodePart(t, header, encode(strings.Repeat("a", limit)))
		if err != nil || len(got) != limit {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if _, err := decodePart(t, header, encode(strings.Repeat("a", limit+1))); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v; want ErrTooLarge", name, err)
		}
	}
}

func TestDecodeDoesNotDecodeWhatCannotFit(t *testing.T) {
	m := read(t, []byte("Content-Transfer-Encoding: quoted-printable\r\n\r\n"+strings.Repeat("=61", 1<<20)))
	var err error
	if n := allocated(func() { _, err = m.Root.Decode(limit) }); n > 64<<10 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes allocated, %v", n, err)
	}
}

// A file is decoded a piece at a time: in any encoding, whatever its charset,
// without memory of its size.
func TestDecodeTo(t *testing.T) {
	const size = 10*pieceSize + 1
	text := strings.Repeat("a", size)
	for name, body := range map[string]string{
		"7bit":             text,
		"base64":           wrap(base64.StdEncoding.EncodeToString([]byte(text)), 76, "\r\n"),
		"Base64":           base64.StdEncoding.EncodeToString([]byte(text)),
		"quoted-printable": wrap(text, 75, "=\r\n"),
		"Quoted-Printable": text,
	} {
		p := &Part{Params: map[string]string{"charset": "utf-16"}, Header: Header{{"Content-Transfer-Encoding", name}}, body: []byte(body)}
		sum := crc32.NewIEEE()
		var err error
		n := allocated(func() { err = p.DecodeTo(sum, size) })
		if err != nil || n > 4*pieceSize || sum.Sum32() != crc32.ChecksumIEEE([]byte(text)) {
			t.Errorf("%s: %d bytes allocated, %v", name, n, err)
		}
		if err := p.DecodeTo(io.Discard, size-1); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v; want ErrTooLarge", name, err)
		}
		if err := p.DecodeTo(io.Discard, -1); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v; want ErrTooLarge", name, err)
		}
		full := errors.New("no room")
		if err := p.DecodeTo(writeFails{full}, math.MaxInt64); !errors.Is(err, full) {
			t.Errorf("%s: %v; want %v", name, err, full)
		}
	}
}

type writeFails struct{ err error }

func (w writeFails) Write([]byte) (int, error) { return 0, w.err }

// M10: padding that ends a piece ends the part.
func TestDecodePaddingBetweenPieces(t *testing.T) {
	piece := strings.Repeat("e30K", pieceSize/4-1) + "e30="
	for body, want := range map[string]error{piece: nil, piece + "\r\n": nil, piece + "e30=": ErrEncoding, piece + piece: ErrEncoding} {
		p := &Part{Header: Header{{"Content-Transfer-Encoding", "base64"}}, body: []byte(body)}
		if err := p.DecodeTo(io.Discard, int64(len(body))); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v; want %v", len(body), err, want)
		}
	}
}

// Whatever stands in a part, it is decoded within the limit and to UTF-8, or
// not at all; and base64 and plain text have one spelling.
func FuzzDecode(f *testing.F) {
	for _, seed := range []struct{ encoding, charset, body string }{
		{"base64", "utf-8", "e30="},
		{"base64", "utf-8", "e30=\r\ne30="},
		{"base64", "utf-8", "d300\ne30="},
		{"quoted-printable", "us-ascii", "=7B=\r\n}"},
		{"quoted-printable", "", "{}="},
		{"7bit", "utf-16", "{}"},
		{"8bit", "utf-8", "\xff"},
	} {
		f.Add(seed.encoding, seed.charset, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, encoding, charset string, body []byte) {
		body, err := crlf(body) // as Read hands it on
		if err != nil {
			return
		}
		const limit = 100
		p := &Part{
			Params: map[string]string{"charset": charset},
			Header: Header{{"Content-Transfer-Encoding", encoding}}, body: body,
		}
		got, err := p.Decode(limit)
		if err != nil {
			if got != nil || !errors.Is(err, ErrEncoding) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%q, %v", got, err)
			}
			return
		}
		if len(got) > limit || strings.ToValidUTF8(string(got), "") != string(got) {
			t.Errorf("%q", got)
		}
		if p.encoding() == "base64" && base64.StdEncoding.EncodeToString(got) != strings.ReplaceAll(string(body), "\r\n", "") {
			t.Errorf("%q is another spelling of %q", body, got)
		}
	})
}
