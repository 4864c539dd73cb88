package envelope

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// baseline is a good mail; the tests break one thing at a time.
const baseline = "Received: from relay.test by mx.seller.test; Mon, 2 Nov 2026 10:00:00 +0000\r\n" +
	"From: Agent <agent@buyer.test>\r\n" +
	"To: agent@seller.test\r\n" +
	"Subject: a quote,\r\n please\r\n" +
	"MIME-Version: 1.0\r\n" +
	"Content-Type: multipart/mixed; boundary=\"outer\"\r\n" +
	"\r\n" +
	"--outer\r\n" +
	"Content-Type: multipart/alternative; boundary=\"inner\"\r\n" +
	"\r\n" +
	"--inner\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\n" +
	"\r\n" +
	"Hello\r\n" +
	"--inner\r\n" +
	"Content-Type: application/ld+json\r\n" +
	"\r\n" +
	"{}\r\n" +
	"--inner--\r\n" +
	"\r\n" +
	"--outer\r\n" +
	"Content-Type: application/jose\r\n" +
	"Content-Transfer-Encoding: 7bit\r\n" +
	"\r\n" +
	"token\r\n" +
	"--outer--\r\n"

const baselineTree = "multipart/mixed[multipart/alternative[text/plain application/ld+json] application/jose]"

// tree writes the types of a part and the parts in it.
func tree(p *Part) string {
	var inner []string
	for _, child := range p.Parts {
		inner = append(inner, tree(child))
	}
	if len(inner) == 0 {
		return p.Type
	}
	return p.Type + "[" + strings.Join(inner, " ") + "]"
}

// change is one mutation: the first old, which must be there, becomes new.
type change struct{ old, new string }

func (c change) of(t *testing.T, mail string) []byte {
	t.Helper()
	if !strings.Contains(mail, c.old) {
		t.Fatalf("the baseline does not hold %q", c.old)
	}
	return []byte(strings.Replace(mail, c.old, c.new, 1))
}

func read(t *testing.T, raw []byte) *Mail {
	t.Helper()
	m, err := Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRead(t *testing.T) {
	m := read(t, []byte(baseline))
	if got := tree(m.Root); got != baselineTree {
		t.Errorf("tree %s; want %s", got, baselineTree)
	}
	want := Header{
		{"Received", "from relay.test by mx.seller.test; Mon, 2 Nov 2026 10:00:00 +0000"},
		{"From", "Agent <agent@buyer.test>"},
		{"To", "agent@seller.test"},
		{"Subject", "a quote, please"},
		{"MIME-Version", "1.0"},
		{"Content-Type", `multipart/mixed; boundary="outer"`},
	}
	if diff := cmp.Diff(want, m.Header); diff != "" {
		t.Error(diff)
	}
	for mediaType, want := range map[string]string{"text/plain": "Hello", "application/ld+json": "{}", "application/jose": "token"} {
		n := 0
		for p := range m.Leaves(mediaType) {
			n++
			if got, err := p.Decode(100); err != nil || string(got) != want {
				t.Errorf("%s holds %q, %v", mediaType, got, err)
			}
		}
		if n != 1 {
			t.Errorf("%d parts of type %s", n, mediaType)
		}
	}
}

func TestLeavesStopsWhenToldTo(t *testing.T) {
	m := read(t, change{"application/jose", "text/plain"}.of(t, baseline))
	n := 0
	for range m.Leaves("text/plain") {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d parts", n)
	}
}

func TestHeaderNames(t *testing.T) {
	h := Header{{"from", "top"}, {"FROM", "bottom"}, {"To", "x"}}
	if h.Get("From") != "top" || h.Count("From") != 2 || h.Get("Cc") != "" || h.Count("Cc") != 0 {
		t.Errorf("Get %q and %q, Count %d and %d", h.Get("From"), h.Get("Cc"), h.Count("From"), h.Count("Cc"))
	}
}

// What readers of mail differ over is not read at all (D54).
func TestReadRefusesHeader(t *testing.T) {
	for name, c := range map[string]change{
		"F4, a bare LF before a second From":   {"To:", "X: y\nFrom: agent@evil.test\r\nTo:"},
		"F5, a first line of white space":      {"Received:", " From: agent@evil.test\r\nReceived:"},
		"F5, a first line after a tab":         {"Received:", "\tFrom: agent@evil.test\r\nReceived:"},
		"F7, a space before the colon":         {"From:", "From :"},
		"F7, a tab before the colon":           {"From:", "From\t:"},
		"F8, a folded name":                    {"From:", "From\r\n :"},
		"F18, a NUL in an address":             {"agent@buyer", "agent\x00@buyer"},
		"F18, a NUL in a name":                 {"From:", "From\x00:"},
		"F22, a bare CR":                       {"Agent <", "Agent\r<"},
		"H1, a line without a colon":           {"To:", "no colon here\r\nTo:"},
		"H2, a bare CR in a signed field":      {"a quote", "a\rquote"},
		"H3, no end":                           {"\r\n\r\n", "\r\n"},
		"H5, mixed line ends":                  {"\r\nTo:", "\nTo:"},
		"H5, one bare LF in the body":          {"Hello\r\n", "Hello\n"},
		"H5, one bare CR in the body":          {"Hello\r\n", "Hello\r"},
		"H6, a second Subject":                 {"To:", "Subject: x\r\nTo:"},
		"H6, a second To in another case":      {"To:", "TO: x\r\nTo:"},
		"H6, two Dates":                        {"To:", "Date: x\r\nDate: y\r\nTo:"},
		"H6, two Message-IDs":                  {"To:", "Message-ID: x\r\nMessage-ID: y\r\nTo:"},
		"H6, two Reply-Tos":                    {"To:", "Reply-To: x\r\nReply-To: y\r\nTo:"},
		"two Senders":                          {"To:", "Sender: x\r\nSender: y\r\nTo:"},
		"two Ccs":                              {"To:", "Cc: x\r\nCc: y\r\nTo:"},
		"two MIME-Versions":                    {"To:", "MIME-Version: 1.0\r\nTo:"},
		"H7, a second Content-Type":            {"To:", "Content-Type: text/plain\r\nTo:"},
		"H7, the same Content-Type again":      {"To:", "Content-Type: multipart/mixed; boundary=\"outer\"\r\nTo:"},
		"two Content-Transfer-Encodings":       {"To:", "Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: 7bit\r\nTo:"},
		"a field without a name":               {"To:", ": x\r\nTo:"},
		"a name outside ASCII":                 {"To:", "Tö: x\r\nTo:"},
		"a name with a DEL":                    {"To:", "T\x7fo: x\r\nTo:"},
		"a line of white space within a field": {"a quote,\r\n", "a quote,\r\n \t\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := Read(c.of(t, baseline)); !errors.Is(err, ErrUnsafe) || m != nil {
				t.Errorf("%v, %v; want ErrUnsafe", m, err)
			}
		})
	}
}

// Two From fields are counted where the sender is judged: their mail gets a
// code of its own. Everything else here is legal.
func TestReadAcceptsHeader(t *testing.T) {
	for name, c := range map[string]change{
		"two From fields":                {"To:", "From: x\r\nTo:"},
		"two Received":                   {"To:", "Received: x\r\nTo:"},
		"H8, raw UTF-8 in Subject":       {"a quote", "ein Büro"},
		"no space behind the colon":      {"To: ", "To:"},
		"a field without a value":        {"To:", "X:\r\nTo:"},
		"a value on the second line":     {"From: Agent", "From:\r\n Agent"},
		"a fold with a tab":              {"\r\n please", "\r\n\tplease"},
		"a From-like continuation (F6)":  {"a quote,\r\n please", "a quote,\r\n From: agent@evil.test"},
		"capitals":                       {"Content-Type: multipart/mixed; boundary", "CONTENT-TYPE: MULTIPART/Mixed; BOUNDARY"},
		"no MIME-Version (M20)":          {"MIME-Version: 1.0\r\n", ""},
		"a comment in MIME-Version, M20": {"1.0", "(x) 1.0 (y)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tree(read(t, c.of(t, baseline)).Root); got != baselineTree {
				t.Errorf("tree %s", got)
			}
		})
	}
}

func TestReadBareLF(t *testing.T) { // H5: as some stores keep it
	m := read(t, []byte(strings.ReplaceAll(baseline, "\r\n", "\n")))
	if string(m.Raw) != baseline || tree(m.Root) != baselineTree {
		t.Errorf("mended to %q", m.Raw)
	}
	if m := read(t, []byte(baseline)); string(m.Raw) != baseline {
		t.Errorf("changed to %q", m.Raw)
	}
}

func TestReadShort(t *testing.T) {
	for in, ok := range map[string]bool{
		"": false, "\r\n": true, "\n": true, "\r": false, "From: a@b": false, "From: a@b\r\n": false,
		"From: a@b\r\n\r\n": true, "\r\nbody": true, ":": false, "\r\n\r\n": true,
	} {
		if m, err := Read([]byte(in)); (err == nil) != ok || ok && tree(m.Root) != "text/plain" {
			t.Errorf("Read(%q): %v", in, err)
		}
	}
}
