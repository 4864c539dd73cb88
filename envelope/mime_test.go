package envelope

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestReadRefusesMIME(t *testing.T) {
	for name, c := range map[string]change{
		"M3, boundary twice":                   {`boundary="outer"`, `boundary="outer"; boundary="other"`},
		"M3, boundary twice, the same":         {`boundary="outer"`, `boundary="outer"; boundary="outer"`},
		"M11, charset twice, the same":         {"charset=utf-8", "charset=utf-8; charset=utf-8"},
		"M3, continued beside plain":           {`boundary="outer"`, `boundary*0="out"; boundary*1="er"; boundary="outer"`},
		"M3, continued":                        {`boundary="outer"`, `boundary*0="out"; boundary*1="er"`},
		"M3, with a charset":                   {`boundary="outer"`, `boundary*=utf-8''outer`},
		"M3, with a charset, capitals":         {`boundary="outer"`, `BOUNDARY*=utf-8''outer`},
		"M3, none":                             {`; boundary="outer"`, ``},
		"M3, an empty one":                     {`boundary="outer"`, `boundary=""`},
		"M4, no close delimiter":               {"--outer--\r\n", ""},
		"M4, cut off within it":                {"--outer--\r\n", "--outer-"},
		"M4, no inner close delimiter":         {"--inner--\r\n", ""},
		"M4, no delimiter at all":              {`boundary="outer"`, `boundary="elsewhere"`},
		"a delimiter with text behind it":      {"\r\n--outer\r\nContent-Type: application/jose", "\r\n--outer x\r\nContent-Type: application/jose"},
		"a close delimiter with text behind":   {"--outer--", "--outer--x"},
		"a line like a delimiter":              {"Hello", "--innermost"},
		"M6, a delimiter behind the close":     {"--outer--\r\n", "--outer--\r\n--outer\r\n\r\n{}\r\n--outer--\r\n"},
		"M6, a second close delimiter":         {"--outer--\r\n", "--outer--\r\n--outer--\r\n"},
		"no parts":                             {"--inner\r\n", "--inner--\r\n"},
		"M8, a part header without a colon":    {"Content-Type: application/ld+json", "Content-Type application/ld+json"},
		"M8, a part header that never ends":    {"Content-Type: application/ld+json\r\n\r\n", "Content-Type: application/ld+json\r\n"},
		"M8, white space before a part header": {"Content-Type: application/ld+json", " Content-Type: application/ld+json"},
		"M8, a space before a colon":           {"Content-Type: application/ld+json", "Content-Type : application/ld+json"},
		"a NUL in a part header":               {"Content-Type: application/ld+json", "Content-Type: application/ld+json\x00"},
		"M9, two Content-Types in a part":      {"Content-Type: application/ld+json", "Content-Type: text/plain\r\nContent-Type: application/ld+json"},
		"M11, charset twice":                   {"charset=utf-8", "charset=utf-8; charset=utf-16"},
		"M12, a comment in the type":           {"application/ld+json", "application/ld+json (x)"},
		"M12, a comment within the type":       {"application/ld+json", "application/(x)ld+json"},
		"M12, an encoded word in the type":     {"application/ld+json", "=?utf-8?Q?application/ld+json?="},
		"a type without a name":                {"application/ld+json", "/ld+json"},
		"a parameter without a value":          {"application/ld+json", "application/ld+json; profile"},
		"a multipart in base64":                {"Content-Type: multipart/alternative", "Content-Transfer-Encoding: base64\r\nContent-Type: multipart/alternative"},
		"a multipart in quoted-printable":      {"MIME-Version: 1.0", "Content-Transfer-Encoding: quoted-printable"},
		"M9, a multipart with two encodings":   {"Content-Type: multipart/alternative", "Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: 8bit\r\nContent-Type: multipart/alternative"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := Read(c.of(t, baseline)); !errors.Is(err, ErrUnsafe) {
				t.Errorf("%s, %v; want ErrUnsafe", tree(m.Root), err)
			}
		})
	}
}

// M1, M2, M6, M7, M12 to M14, M19: what is legal is read, and only what is a part.
func TestReadAcceptsMIME(t *testing.T) {
	message := "From: a@evil.test\r\nContent-Type: application/ld+json\r\n\r\n{}"
	for name, tc := range map[string]struct {
		change
		want string
	}{
		"a preamble":           {change{"\r\n\r\n--outer", "\r\n\r\nThis is MIME.\r\n--outer"}, baselineTree},
		"a preamble with --":   {change{"\r\n\r\n--outer", "\r\n\r\n-- \r\n--out\r\n--outer"}, baselineTree},
		"an epilogue":          {change{"--outer--\r\n", "--outer--\r\nbye\r\n-- \r\n"}, baselineTree},
		"nothing behind":       {change{"--outer--\r\n", "--outer--"}, baselineTree},
		"M6, JSON in preamble": {change{"\r\n\r\n--outer", "\r\n\r\nContent-Type: application/ld+json\r\n\r\n{}\r\n--outer"}, baselineTree},
		"M6, JSON in epilogue": {change{"--outer--\r\n", "--outer--\r\nContent-Type: application/ld+json\r\n\r\n{}\r\n"}, baselineTree},
		"M7, delimiters in a comment": {
			change{"Hello", "<!--\r\n--inner\r\n\r\n-->"},
			"multipart/mixed[multipart/alternative[text/plain text/plain application/ld+json] application/jose]",
		},
		"white space behind":       {change{"--outer\r\n", "--outer \t\r\n"}, baselineTree},
		"white space at close":     {change{"--inner--", "--inner-- \t"}, baselineTree},
		"a boundary of 70":         {change{"", ""}, baselineTree},
		"a part of a header alone": {change{"\r\n--inner--", "\r\n--inner\r\nContent-Type: text/plain\r\n\r\n--inner--"}, "multipart/mixed[multipart/alternative[text/plain application/ld+json text/plain] application/jose]"},
		"a boundary unquoted":      {change{`boundary="outer"`, `boundary=outer`}, baselineTree},
		"an odd boundary":          {change{"", ""}, baselineTree},
		"capitals in a type":       {change{"application/ld+json", "Application/LD+JSON"}, baselineTree},
		"parameters":               {change{"application/ld+json", `application/ld+json; profile="https://a.test/v1"; charset=UTF-8`}, baselineTree},
		"a part without header":    {change{"Content-Type: text/plain; charset=utf-8\r\n\r\n", "\r\n"}, baselineTree},
		"an empty part":            {change{"Content-Type: text/plain; charset=utf-8\r\n\r\nHello\r\n", "\r\n"}, baselineTree},
		"an empty body":            {change{"\r\nHello\r\n", "\r\n\r\n"}, baselineTree},
		"M2, a message inside":     {change{"application/jose\r\nContent-Transfer-Encoding: 7bit\r\n\r\ntoken", "message/rfc822\r\n\r\n" + message}, strings.Replace(baselineTree, "application/jose", "message/rfc822", 1)},
		"M12, another type":        {change{"application/ld+json", "application/octet-stream; name=message.jsonld"}, strings.Replace(baselineTree, "application/ld+json", "application/octet-stream", 1)},
		"M13, external body":       {change{"application/ld+json", `message/external-body; access-type=URL; URL="https://a.test/"`}, strings.Replace(baselineTree, "application/ld+json", "message/external-body", 1)},
		"M13, partial":             {change{"application/ld+json", `message/partial; id="x"; number=1; total=1`}, strings.Replace(baselineTree, "application/ld+json", "message/partial", 1)},
		"M18, multipart/signed":    {change{"multipart/mixed", "multipart/signed; protocol=\"application/pgp-signature\""}, strings.Replace(baselineTree, "mixed", "signed", 1)},
		"the same boundary side":   {change{"Content-Type: application/jose\r\nContent-Transfer-Encoding: 7bit\r\n\r\ntoken", "Content-Type: multipart/related; boundary=inner\r\n\r\n--inner\r\n\r\nx\r\n--inner--"}, strings.Replace(baselineTree, "application/jose", "multipart/related[text/plain]", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			raw := string(tc.change.of(t, baseline))
			switch name {
			case "a boundary of 70":
				raw = strings.ReplaceAll(raw, "outer", strings.Repeat("o", maxBoundary))
			case "an odd boundary":
				raw = strings.ReplaceAll(raw, "outer", "'()+_,-./:?= x")
			}
			if got := tree(read(t, []byte(raw)).Root); got != tc.want {
				t.Errorf("tree %s; want %s", got, tc.want)
			}
		})
	}
}

// These boundaries stand in the delimiters too, so that nothing but the rule
// refuses them.
func TestReadRefusesBoundary(t *testing.T) {
	for name, tc := range map[string]struct{ outer, inner string }{
		"M3, an encoded word":             {"=?utf-8?Q?outer?=", "inner"},
		"M3, 71 characters":               {strings.Repeat("o", maxBoundary+1), "inner"},
		"M3, a space at its end":          {"outer ", "inner"},
		"M3, an illegal character":        {"out;er", "inner"},
		"M3, a character outside ASCII":   {"öuter", "inner"},
		"M5, the inner one is the outer":  {"outer", "outer"},
		"M5, the inner one is its prefix": {"outer", "out"},
		"M5, the inner one extends it":    {"outer", "outer2"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := strings.NewReplacer("outer", tc.outer, "inner", tc.inner).Replace(baseline)
			if m, err := Read([]byte(raw)); !errors.Is(err, ErrUnsafe) {
				t.Errorf("%v, %v; want ErrUnsafe", m, err)
			}
		})
	}
}

// A message inside a message speaks for somebody else (M2).
func TestLeavesStayOutOfMessages(t *testing.T) {
	m := read(t, []byte("Content-Type: message/rfc822\r\n\r\nContent-Type: application/ld+json\r\n\r\n{}"))
	for range m.Leaves("application/ld+json") {
		t.Error("a part of the message inside")
	}
	for p := range m.Leaves("message/rfc822") {
		if len(p.Parts) > 0 {
			t.Error("the message inside was opened")
		}
	}
}

// A message in a mail is read like one, whatever a carrier did to it.
func TestMessage(t *testing.T) {
	mended := strings.ReplaceAll(baseline, "\r\n", "\n")
	for name, body := range map[string]string{
		"7bit":             baseline,
		"base64":           wrap(base64.StdEncoding.EncodeToString([]byte(baseline)), 76, "\r\n"),
		"BASE64":           base64.StdEncoding.EncodeToString([]byte(mended)),
		"quoted-printable": strings.ReplaceAll(baseline, "=", "=3D"),
	} {
		p := &Part{Type: "message/rfc822", Header: Header{{"Content-Transfer-Encoding", name}}, body: []byte(body)}
		if m, err := p.Message(); err != nil || tree(m.Root) != baselineTree {
			t.Errorf("%s: %v", name, err)
		}
	}
	for encoding, want := range map[string]error{"7bit": ErrUnsafe, "x-gzip": ErrEncoding} {
		p := &Part{Type: "message/rfc822", Header: Header{{"Content-Transfer-Encoding", encoding}}, body: []byte("no header")}
		if m, err := p.Message(); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v; want %v", encoding, m, err, want)
		}
	}
}
