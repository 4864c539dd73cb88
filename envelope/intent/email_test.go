package intent

import (
	"bytes"
	"errors"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// letter is a multipart/mixed of parts, each a header and a body with LF ends.
func letter(parts ...string) []byte {
	var b strings.Builder
	b.WriteString("From: agent@buyer.test\nContent-Type: multipart/mixed; boundary=b\n\n")
	for _, p := range parts {
		b.WriteString("--b\n" + p + "\n")
	}
	b.WriteString("--b--\n")
	return []byte(strings.ReplaceAll(b.String(), "\n", "\r\n"))
}

func find(t testing.TB, raw []byte) (*Found, error) {
	t.Helper()
	m, err := envelope.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return Find(m)
}

func machine(body string) string { return "Content-Type: application/ld+json\n\n" + body }

func jose(body string) string { return "Content-Type: application/jose\n\n" + body }

const textPart = "Content-Type: text/plain\n\nHello"

// alternative is a multipart in a part of its own.
func alternative(parts ...string) string {
	return "Content-Type: multipart/alternative; boundary=i\n\n--i\n" + strings.Join(parts, "\n--i\n") + "\n--i--"
}

func good(t testing.TB) string {
	t.Helper()
	data, err := json.Marshal(valid(AskQuote))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFind(t *testing.T) {
	ask := good(t)
	encoded := "Content-Type: Application/LD+JSON; profile=\"" + ProfileURL + "\"; charset=\"UTF-8\"\nContent-Disposition: attachment\n"
	for name, parts := range map[string][]string{
		"beside a text":              {textPart, machine(ask)},
		"in an alternative":          {alternative(textPart, machine(ask)), jose("a.b.c")},
		"in multipart/signed":        {strings.Replace(alternative(machine(ask), textPart), "alternative", "signed", 1)},
		"in base64":                  {encoded + "Content-Transfer-Encoding: base64\n\n" + encode64(ask)},
		"in quoted-printable":        {encoded + "Content-Transfer-Encoding: quoted-printable\n\n" + strings.ReplaceAll(ask, "=", "=3D")},
		"as large as allowed":        {machine(ask + strings.Repeat(" ", MaxSize-len(ask)))},
		"beside another vocabulary":  {machine(`{"@context":"https://schema.org"}`), machine(ask)},
		"beside another version":     {machine(ask), machine(strings.Replace(ask, Profile, "agent-intents/2", 1))},
		"beside a list":              {machine(ask), machine(`[]`)},
		"beside a message inside":    {"Content-Type: message/rfc822\n\n" + machine(ask), machine(ask)},
		"beside JSON of no ld":       {"Content-Type: application/json\n\n" + ask, machine(ask)},
		"a name that says otherwise": {"Content-Type: application/ld+json; name=message.txt\n\n" + ask},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := find(t, letter(parts...))
			if err != nil {
				t.Fatal(err)
			}
			if found.ID != idA || found.Type != AskQuote || found.JWSErr != nil {
				t.Errorf("%+v, %v", found.Message, found.JWSErr)
			}
		})
	}
}

func encode64(s string) string {
	data, _ := json.Marshal([]byte(s)) // base64 in quotes
	return strings.Trim(string(data), `"`)
}

func TestFindSinglePart(t *testing.T) { // the mail itself may be the part
	raw := strings.ReplaceAll("From: agent@buyer.test\nContent-Type: application/ld+json\n\n", "\n", "\r\n") + good(t)
	if found, err := find(t, []byte(raw)); err != nil || found.ID != idA || found.JWS != nil {
		t.Errorf("%v, %v", found, err)
	}
}

func TestFindRefuses(t *testing.T) {
	ask := good(t)
	other := strings.Replace(ask, idA, idB, 1)
	invalid := strings.Replace(ask, `"ask_quote"`, `"order"`, 1)
	tooLarge := machine(ask + strings.Repeat(" ", MaxSize+1-len(ask)))
	junk := "Content-Type: application/ld+json\nContent-Transfer-Encoding: base64\n\n!"
	utf16 := "Content-Type: application/ld+json; charset=utf-16\n\n" + ask
	for name, tc := range map[string]struct {
		parts []string
		want  error
	}{
		"no machine part":               {[]string{textPart, jose("a.b.c")}, ErrProfile},
		"M1, two that differ":           {[]string{machine(ask), machine(other)}, ErrProfile},
		"M1, two that are the same":     {[]string{machine(ask), machine(ask)}, ErrProfile},
		"M1, one nested":                {[]string{alternative(textPart, machine(ask)), machine(other)}, ErrProfile},
		"M1, three":                     {[]string{machine(ask), machine(`{}`), machine(ask)}, ErrProfile},
		"M1, the second is invalid":     {[]string{machine(ask), machine(invalid)}, ErrProfile},
		"M2, in a message inside":       {[]string{"Content-Type: message/rfc822\n\n" + machine(ask)}, ErrProfile},
		"M12, octet-stream":             {[]string{"Content-Type: application/octet-stream; name=message.jsonld\n\n" + ask}, ErrProfile},
		"M12, text/plain":               {[]string{"Content-Type: text/plain\n\n" + ask}, ErrProfile},
		"another vocabulary":            {[]string{machine(`{"@context":"https://schema.org"}`)}, ErrProfile},
		"two of other vocabularies":     {[]string{machine(`{}`), machine(`[]`)}, ErrProfile},
		"another version":               {[]string{machine(strings.Replace(ask, Profile, "agent-intents/2", 1))}, ErrProfile},
		"D45, a second, in junk":        {[]string{machine(ask), junk}, ErrProfile},
		"D45, a second, no JSON":        {[]string{machine(ask), machine(`{`)}, ErrProfile},
		"D45, a second, member twice":   {[]string{machine(`{"a":1,"a":2}`), machine(ask)}, ErrProfile},
		"D45, a second, too large":      {[]string{machine(ask), tooLarge}, ErrProfile},
		"D45, a second, charset":        {[]string{machine(ask), utf16}, ErrProfile},
		"the only one is too large":     {[]string{tooLarge}, ErrSize},
		"the only one, encoded too far": {[]string{"Content-Type: application/ld+json\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("=20", 1<<20)}, ErrSize},
		"the only one is junk":          {[]string{textPart, junk}, ErrUnreadable},
		"the only one is UTF-16":        {[]string{utf16}, ErrUnreadable},
		"the only one is no UTF-8":      {[]string{machine("\"\xff\"")}, ErrUnreadable},
		"M15, the only one is empty":    {[]string{machine("")}, ErrJSON},
		"M15, a NUL behind it":          {[]string{machine(ask + "\x00")}, ErrJSON},
		"the only one is no JSON":       {[]string{machine("Hello")}, ErrJSON},
		"the only one is invalid":       {[]string{machine(invalid), machine(`{}`)}, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := find(t, letter(tc.parts...))
			if !errors.Is(err, tc.want) || found != nil {
				t.Errorf("%v; want %v", err, tc.want)
			}
			for _, other := range []error{ErrProfile, ErrSize, ErrUnreadable, ErrJSON, ErrInvalid} {
				if other != tc.want && errors.Is(err, other) && tc.want != ErrProfile {
					t.Errorf("%v is also %v: it has two codes", err, other)
				}
			}
		})
	}
}

// D36: the message stands whatever the signature is.
func TestFindSignature(t *testing.T) {
	for name, tc := range map[string]struct {
		parts []string
		want  string
		err   error
	}{
		"none":                    {nil, "", nil},
		"one":                     {[]string{jose("a.b.c")}, "a.b.c", nil},
		"one in base64":           {[]string{"Content-Type: application/jose\nContent-Transfer-Encoding: base64\n\n" + encode64("a.b.c")}, "a.b.c", nil},
		"white space at its end":  {[]string{jose("a.b.c \t\n\n")}, "a.b.c", nil},
		"white space before":      {[]string{jose(" a.b.c")}, " a.b.c", nil},
		"white space inside":      {[]string{jose("a.\nb.c")}, "a.\r\nb.c", nil},
		"in a message inside":     {[]string{"Content-Type: message/rfc822\n\n" + jose("a.b.c")}, "", nil},
		"inside and outside":      {[]string{"Content-Type: message/rfc822\n\n" + jose("x.y.z"), jose("a.b.c")}, "a.b.c", nil},
		"two":                     {[]string{jose("a.b.c"), jose("a.b.c")}, "", ErrJWS},
		"two, one of them empty":  {[]string{jose("a.b.c"), jose("")}, "", ErrJWS},
		"an empty one":            {[]string{jose("")}, "", ErrJWS},
		"white space only":        {[]string{jose(" \n\t")}, "", ErrJWS},
		"junk":                    {[]string{"Content-Type: application/jose\nContent-Transfer-Encoding: base64\n\n!"}, "", ErrJWS},
		"one that is too large":   {[]string{jose(strings.Repeat("a", maxJOSE+1))}, "", ErrJWS},
		"one as large as allowed": {[]string{jose(strings.Repeat("a", maxJOSE))}, strings.Repeat("a", maxJOSE), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := find(t, letter(append([]string{machine(good(t))}, tc.parts...)...))
			if err != nil {
				t.Fatal(err)
			}
			if string(found.JWS) != tc.want || !errors.Is(found.JWSErr, tc.err) || found.ID != idA {
				t.Errorf("%.60q, %v; want %.60q, %v", found.JWS, found.JWSErr, tc.want, tc.err)
			}
		})
	}
}

func TestAgentOfDiffers(t *testing.T) { // D42
	p, err := Parse(text(t, valid(AskQuote)))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{
		"":                                false,
		`"Buyer Ltd" <owner@buyer.test>`:  false,
		"owner@buyer.test":                false,
		"<owner@BUYER.test>":              false,
		`"Evil Ltd" <owner@buyer.test>`:   true,
		`"Buyer Ltd" <owner@evil.test>`:   true,
		`"Buyer Ltd" <Owner@buyer.test>`:  true,
		`"Buyer Ltd" <"owner"@[1.2.3.4]>`: true,
		"Buyer Ltd":                       true,
		"a@buyer.test, owner@buyer.test":  true,

		`"Buyer Ltd"` + strings.Repeat(" ", 2000) + "<owner@buyer.test>": false,
		`"Buyer Ltd"` + strings.Repeat(" ", 2048) + "<owner@buyer.test>": true, // what is longer is not parsed
	} {
		var h envelope.Header
		if value != "" {
			h = envelope.Header{{Name: "agent-of", Value: value}}
		}
		if got := p.AgentOfDiffers(h); got != want {
			t.Errorf("%q: %v; want %v", value, got, want)
		}
	}
}

func draftOf(t testing.TB, m object, jws string, references ...string) (*Parsed, *envelope.Mail) {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Draft(jws, references)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := envelope.Compose(d, bytes.NewReader(bytes.Repeat([]byte("01234567"), 9)))
	if err != nil {
		t.Fatal(err)
	}
	mail, err := envelope.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p, mail
}

func TestDraft(t *testing.T) {
	m := valid(Quote)
	set(m, "from/name", "Büro, Einkauf")
	set(m, "acting_for/org_name", `Käufer  "Süd" \ GmbH`)
	set(m, "agent/name", "\U0001f600 Purchasing, with a name so long that the field is folded: "+strings.Repeat("word ", 20))
	p, mail := draftOf(t, m, "a.b.c", "<1@seller.test>", "<2@buyer.test>")
	got := map[string]string{}
	var names []string
	for _, f := range mail.Header {
		names = append(names, f.Name)
		got[f.Name] = f.Value
	}
	wantNames := strings.Fields("From To Subject Date Message-ID In-Reply-To References MIME-Version Auto-Submitted Structured-Data Agent-Of Agent-Attribution Content-Type")
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"To": "<agent@seller.test>", "Subject": "Quote [00000000]", "Date": "Tue, 03 Nov 2026 09:00:00 +0000",
		"Message-ID":  "<" + idA + "@buyer.test>", // D14
		"In-Reply-To": "<2@buyer.test>", "References": "<1@seller.test> <2@buyer.test>",
		"Auto-Submitted": "auto-replied", "Structured-Data": "full", // D13
	} {
		if got[name] != want {
			t.Errorf("%s: %s; want %s", name, got[name], want)
		}
	}
	checkMailbox(t, got["From"], p.From.Name, p.From.Address)
	checkMailbox(t, got["Agent-Of"], p.ActingFor.OrgName, p.ActingFor.Contact)
	checkAttribution(t, p, got["Agent-Attribution"])
	if p.AgentOfDiffers(mail.Header) {
		t.Error("the mail's own Agent-Of differs")
	}
}

func checkMailbox(t testing.TB, value, name, address string) {
	t.Helper()
	if a, err := mail.ParseAddress(value); err != nil || a.Name != name || a.Address != address {
		t.Errorf("%s is read as %v, %v; want %s, %s", value, a, err, name, address)
	}
}

// checkAttribution holds the unfolded field against the message (D15).
func checkAttribution(t testing.TB, p *Parsed, value string) {
	t.Helper()
	var got struct {
		ActingFor ActingFor `json:"acting_for"`
		Agent     Agent     `json:"agent"`
	}
	err := json.Unmarshal([]byte(value), &got, json.RejectUnknownMembers(true))
	if err != nil || got.ActingFor != p.ActingFor || got.Agent != p.Agent {
		t.Errorf("Agent-Attribution: %s\n%v, %+v", value, err, got)
	}
}

// TestDraftWithoutAttribution: no name that the profile allows keeps a mail
// from being written (D186).
func TestDraftWithoutAttribution(t *testing.T) {
	for letter, want := range map[string]int{"x": 1, "鞜": 0, "\U0001f600": 0} {
		m := valid(Quote)
		set(m, "acting_for/org_name", strings.Repeat(letter, 200))
		p, mail := draftOf(t, m, "")
		if got := mail.Header.Count("Agent-Attribution"); got != want {
			t.Errorf("200 of %s: %d fields", letter, got)
		}
		checkMailbox(t, mail.Header.Get("Agent-Of"), p.ActingFor.OrgName, p.ActingFor.Contact)
	}
}

func TestDraftParts(t *testing.T) {
	for _, typ := range types {
		for _, jws := range []string{"", "a.b.c"} {
			p, mail := draftOf(t, valid(typ), jws)
			if got := mail.Header.Get("Auto-Submitted"); got != "auto-generated" || mail.Header.Count("In-Reply-To")+mail.Header.Count("References") != 0 {
				t.Errorf("%s: Auto-Submitted %s, %v", typ, got, mail.Header)
			}
			var got []string
			walkParts(mail.Root, func(part *envelope.Part) {
				got = append(got, part.Type+" "+part.Header.Get("Content-Disposition"))
			})
			want := []string{
				"multipart/mixed ", "multipart/alternative ", "text/plain ", "text/html ",
				`application/ld+json inline; filename="message.jsonld"`, `application/jose attachment; filename="message.jose"`,
			}
			if jws == "" {
				want = want[:5]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", typ, diff)
			}
			for part := range mail.Leaves(machineType) {
				if part.Params["profile"] != ProfileURL { // D13
					t.Errorf("parameters %v", part.Params)
				}
			}
			checkFound(t, p, mail, jws)
		}
	}
}

func walkParts(p *envelope.Part, visit func(*envelope.Part)) {
	visit(p)
	for _, child := range p.Parts {
		walkParts(child, visit)
	}
}

// checkFound reads the composed mail: the message, its signature and its text.
func checkFound(t testing.TB, p *Parsed, mail *envelope.Mail, jws string) {
	t.Helper()
	found, err := Find(mail)
	if err != nil || found.Hash != p.Hash || !bytes.Equal(found.Canonical, p.Canonical) || string(found.JWS) != jws || found.JWSErr != nil {
		t.Fatalf("%v, %+v", err, found)
	}
	for part := range mail.Leaves("text/plain") {
		if got, err := part.Decode(1 << 20); err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != p.Text() {
			t.Errorf("text %q, %v; want %q", got, err, p.Text())
		}
	}
	if from, err := mail.Header.From(); err != nil || from != p.From.Address {
		t.Errorf("From %q, %v", from, err)
	}
}

// line is a string as names and descriptions may hold it (D10).
func line(min, max int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.Rune().Filter(func(c rune) bool {
		return c >= 0x20 && (c < 0x7f || c > 0x9f)
	}), min, max, -1)
}

func TestDraftComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := valid(rapid.SampledFrom(types).Draw(rt, "type"))
		set(m, "from/name", line(0, 200).Draw(rt, "from"))
		set(m, "acting_for/org_name", line(1, 80).Draw(rt, "org"))
		set(m, "agent/name", line(1, 80).Draw(rt, "agent"))
		set(m, "note", rapid.StringOfN(rapid.Rune().Filter(func(c rune) bool {
			return c == '\t' || c == '\n' || c == '\r' || c >= 0x20 && (c < 0x7f || c > 0x9f)
		}), 0, 500, -1).Draw(rt, "note"))
		p, mail := draftOf(t, m, "a.b.c", "<1@seller.test>")
		checkFound(t, p, mail, "a.b.c")
		checkAttribution(t, p, mail.Header.Get("Agent-Attribution"))
		if p.AgentOfDiffers(mail.Header) {
			t.Errorf("Agent-Of %q; want %q", mail.Header.Get("Agent-Of"), p.ActingFor)
		}
	})
}

// Whatever a mail holds, what is found in it is a message that can be found
// again in the mail composed from it.
func FuzzFind(f *testing.F) {
	seeds := map[string]bool{ // whether a message is found
		string(letter(textPart, machine(good(f)), jose("a.b.c"))):    true,
		string(letter(alternative(textPart, machine(good(f))))):      true,
		string(letter(machine(good(f)), machine(`{}`))):              true,
		string(letter(machine(good(f)), machine(good(f)))):           false,
		string(letter("Content-Type: message/rfc822\n\n" + good(f))): false,
	}
	for _, seed := range slices.Sorted(maps.Keys(seeds)) {
		if _, err := find(f, []byte(seed)); (err == nil) != seeds[seed] {
			f.Fatalf("seed %q: %v", seed, err)
		}
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := envelope.Read(data)
		if err != nil {
			return
		}
		found, err := Find(m)
		if err != nil {
			return
		}
		if found.Hash != canon.Hash(found.Canonical) || found.JWS != nil && found.JWSErr != nil {
			t.Errorf("hash %s, signature %q, %v", found.Hash, found.JWS, found.JWSErr)
		}
		d, err := found.Draft(string(found.JWS), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := envelope.Compose(d, bytes.NewReader(bytes.Repeat([]byte("01234567"), 9)))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := find(t, raw); err != nil || again.Hash != found.Hash {
			t.Errorf("composed and found again: %v", err)
		}
	})
}
