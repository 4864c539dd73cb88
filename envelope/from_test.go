package envelope

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/address"
)

// fromOf reads a mail with these lines in place of its From field.
func fromOf(t *testing.T, lines string) (string, error) {
	t.Helper()
	m, err := Read(change{"From: Agent <agent@buyer.test>\r\n", lines + "\r\n"}.of(t, baseline))
	if err != nil {
		return "", err
	}
	return m.Header.From()
}

// The legal odd forms (F30, H8), and those whose address is simply another
// than the one the display name, a comment or another field shows.
func TestFrom(t *testing.T) {
	for name, tc := range map[string]struct{ lines, want string }{
		"bare":                     {"From: agent@buyer.test", "agent@buyer.test"},
		"in angle brackets":        {"From: <agent@buyer.test>", "agent@buyer.test"},
		"with a name":              {"From: Agent <agent@buyer.test>", "agent@buyer.test"},
		"without a space":          {"From:Agent<agent@buyer.test>", "agent@buyer.test"},
		"odd quoted name":          {`From: "Agent, of: \"Buyer\" <x@y>; (1" <agent@buyer.test>`, "agent@buyer.test"},
		"encoded name":             {"From: =?utf-8?Q?B=C3=BCro?= <agent@buyer.test>", "agent@buyer.test"},
		"name of another charset":  {"From: =?windows-1252?Q?K=E4ufer?= <agent@buyer.test>", "agent@buyer.test"},
		"name in Japanese":         {"From: =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?= <agent@buyer.test>", "agent@buyer.test"},
		"name of no charset":       {"From: =?x-none?Q?a?= <agent@buyer.test>", "agent@buyer.test"},
		"comment in Chinese":       {"From: agent@buyer.test (=?gb2312?B?xOO6ww==?=)", "agent@buyer.test"},
		"raw UTF-8 name":           {"From: Büro <agent@buyer.test>", "agent@buyer.test"},
		"a comment after":          {"From: agent@buyer.test (Agent)", "agent@buyer.test"},
		"a comment after brackets": {"From: Agent <agent@buyer.test> (of \\) Buyer)", "agent@buyer.test"},
		"folded":                   {"From: Agent\r\n <agent@buyer.test>", "agent@buyer.test"},
		"capitals in the name":     {"FROM: agent@buyer.test", "agent@buyer.test"},
		"case of the domain":       {"From: Agent <agent@BUYER.Test>", "agent@buyer.test"},
		"a subdomain":              {"From: agent@mail.buyer.test", "agent@mail.buyer.test"},
		"an international domain":  {"From: agent@bücher.test", "agent@xn--bcher-kva.test"},
		"every character of atoms": {"From: a!#$%&'*+-/=?^_`{|}~@buyer.test", "a!#$%&'*+-/=?^_`{|}~@buyer.test"},

		"F9, Sender":                   {"Sender: agent@buyer.test\r\nFrom: agent@evil.test", "agent@evil.test"},
		"F9, Resent-From":              {"Resent-From: agent@buyer.test\r\nFrom: agent@evil.test", "agent@evil.test"},
		"F6, hidden in a continuation": {"X-Note: a\r\n From: agent@buyer.test\r\nFrom: agent@evil.test", "agent@evil.test"},
		"F12, the name is encoded":     {"From: =?utf-8?Q?agent=40buyer.test?= <agent@evil.test>", "agent@evil.test"},
		"F12, encoded local part":      {"From: =?utf-8?Q?agent?=@buyer.test", "=?utf-8?Q?agent?=@buyer.test"},
		"F16, name":                    {`From: "agent@buyer.test" <agent@evil.test>`, "agent@evil.test"},
		"F16, comment":                 {"From: <agent@evil.test> (agent@buyer.test)", "agent@evil.test"},
		"F19, percent hack":            {"From: agent%buyer.test@evil.test", "agent%buyer.test@evil.test"},
		"F21, homograph":               {"From: agent@buy\u0435r.test", "agent@xn--buyr-x4d.test"},
		"F26, another user":            {"From: ceo@buyer.test", "ceo@buyer.test"},
		"F27, a tag":                   {"From: agent+x@buyer.test", "agent+x@buyer.test"},
		"F27, case of the local part":  {"From: Agent@buyer.test", "Agent@buyer.test"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := fromOf(t, tc.lines); err != nil || got != tc.want {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestFromRefuses(t *testing.T) {
	for name, lines := range map[string]string{
		"F1, evil first":               "From: agent@evil.test\r\nFrom: agent@buyer.test",
		"F1, evil last":                "From: agent@buyer.test\r\nFrom: agent@evil.test",
		"F1, the same twice":           "From: agent@buyer.test\r\nFrom: agent@buyer.test",
		"F2, far apart":                "From: agent@buyer.test\r\nX: y\r\nFrom: agent@evil.test",
		"F3, another case":             "From: agent@buyer.test\r\nfrom: agent@evil.test",
		"F10, none":                    "X: y",
		"F10, empty":                   "From:",
		"F10, white space":             "From: \t ",
		"F10, empty brackets":          "From: Agent <>",
		"F11, two":                     "From: agent@evil.test, agent@buyer.test",
		"F11, two, names":              "From: Agent <agent@buyer.test>, Evil <agent@evil.test>",
		"F11, bare then angle":         "From: agent@buyer.test <agent@evil.test>",
		"F11, a trailing comma":        "From: agent@buyer.test,",
		"F12, encoded address":         "From: =?utf-8?Q?agent=40buyer.test?=",
		"F12, in another charset":      "From: =?gb2312?Q?agent=40buyer.test?=",
		"F12, encoded in brackets":     "From: <=?utf-8?Q?agent=40buyer.test?=>",
		"F13, a route":                 "From: <@evil.test,@relay.test:agent@buyer.test>",
		"F13, a short route":           "From: <@evil.test:agent@buyer.test>",
		"F14, a quoted pair":           `From: agent@buyer.test\,agent@evil.test`,
		"F14, within a name":           `From: <agent@buyer.test>\, <agent@evil.test>`,
		"F15, text after the angle":    "From: <agent@buyer.test> agent@evil.test",
		"F15, text before the angle":   "From: agent@evil.test Agent <agent@buyer.test>",
		"F15, two angles":              "From: <agent@buyer.test><agent@evil.test>",
		"F17, an open comment":         "From: agent@evil.test (<agent@buyer.test>",
		"F17, an open quote":           `From: "Agent <agent@buyer.test>`,
		"F17, an open angle":           "From: <agent@buyer.test",
		"F18, a NUL":                   "From: agent@buyer.test\x00",
		"F19, a quoted @":              `From: "agent@buyer.test"@evil.test`,
		"F19, a quoted @ in brackets":  `From: <"agent@evil.test"@buyer.test>`,
		"F19, two @":                   "From: agent@evil.test@buyer.test",
		"F20, a domain literal":        "From: agent@[192.0.2.1]",
		"F20, a trailing dot":          "From: agent@buyer.test.",
		"F20, an empty label":          "From: agent@buyer..test",
		"F20, dots in the local part":  "From: agent.@buyer.test",
		"F20, no domain":               "From: agent",
		"F21, an ideographic dot":      "From: agent@buyer\u3002test",
		"F21, a zero-width space":      "From: agent@bu\u200byer.test",
		"F21, full-width letters":      "From: agent@\uff42uyer.test",
		"F21, a local part outside":    "From: \u0430gent@buyer.test",
		"F22, a bare CR":               "From: agent@buyer.test\rX: y",
		"F23, a group of one":          "From: Buyers: agent@buyer.test;",
		"F23, an empty group":          "From: Buyers:;",
		"F23, a group and a mailbox":   "From: Buyers: agent@buyer.test;, agent@evil.test",
		"F28, quoted local part":       `From: "agent"@buyer.test`,
		"F28, in brackets":             `From: <"agent"@buyer.test>`,
		"F28, partly quoted":           `From: <a."gen"t@buyer.test>`,
		"F29, word then comment":       "From: =?utf-8?Q?Agent?= (x) <agent@buyer.test>",
		"F29, a leading comment":       "From: (x) agent@buyer.test",
		"F29, a comment inside":        "From: agent(x)@buyer.test",
		"F29, a comment in the domain": "From: <agent@buyer.(x)test>",
		"white space inside":           "From: agent @ buyer.test",
		"a semicolon":                  "From: agent@buyer.test;",
		"a folded address":             "From: <agent@buyer\r\n .test>",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fromOf(t, lines)
			if got != "" || !errors.Is(err, ErrFrom) && !errors.Is(err, ErrUnsafe) {
				t.Errorf("%q, %v; want ErrFrom or ErrUnsafe", got, err)
			}
		})
	}
}

// B7: the bound comes before the parser.
func TestFromIsBounded(t *testing.T) {
	fits := strings.Repeat("a", maxFrom-len(" <agent@buyer.test>")) + " <agent@buyer.test>"
	if got, err := (Header{{"From", fits}}).From(); err != nil || got != "agent@buyer.test" {
		t.Errorf("%d bytes: %q, %v", len(fits), got, err)
	}
	for name, value := range map[string]string{
		"a byte more":            "a" + fits,
		"100 000 addresses":      strings.Repeat("a@b.test, ", 100_000) + "a@b.test",
		"a name of 1 MB":         strings.Repeat("a", 1<<20) + " <agent@buyer.test>",
		"10 000 nested comments": "agent@buyer.test " + strings.Repeat("(", 10_000) + strings.Repeat(")", 10_000),
		"50 000 encoded words":   strings.Repeat("=?utf-8?Q?a?= ", 50_000) + "<agent@buyer.test>",
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if n := allocated(func() { _, err = (Header{{"From", value}}).From() }); n > 64<<10 {
				t.Errorf("%d bytes allocated", n)
			}
			if !errors.Is(err, ErrFrom) {
				t.Errorf("%v; want ErrFrom", err)
			}
		})
	}
}

// An accepted address has one spelling, and is the one that stands there.
func FuzzFrom(f *testing.F) {
	for _, seed := range []string{
		"agent@buyer.test", "Agent <agent@BUYER.test> (x)", `"a, b" <agent@buyer.test>`, "Buyers: agent@buyer.test;",
		`"agent@buyer.test"@evil.test`, "agent@bücher.test", "<@evil.test:agent@buyer.test>", "=?utf-8?Q?a?= <a@b.c>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := Header{{"From", value}}.From()
		if err != nil {
			if !errors.Is(err, ErrFrom) || got != "" {
				t.Errorf("%q, %v", got, err)
			}
			return
		}
		if again, err := address.Parse(got); err != nil || again != got {
			t.Errorf("%q is read again as %q, %v", got, again, err)
		}
		local := got[:strings.LastIndexByte(got, '@')+1]
		ascii := !strings.ContainsFunc(value, func(c rune) bool { return c >= 0x80 })
		if !strings.Contains(value, local) || ascii && !strings.Contains(strings.ToLower(value), strings.ToLower(got)) {
			t.Errorf("%q does not stand in %q", got, value)
		}
	})
}
