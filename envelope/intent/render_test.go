package intent

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/inert/inerttest"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	nethtml "golang.org/x/net/html"
	"pgregory.net/rapid"
)

// full is a message with every member that its type may have.
func full(typ Type) object {
	m := valid(typ)
	m["in_reply_to"], m["prev"] = idB, strings.Repeat("ab", 32)
	m["authority"] = object{"decided_by": "limits", "level": "gold", "limits_version": 3}
	m["note"] = "First line\r\nsecond line"
	set(m, "from/card", "https://buyer.test/card.json")
	switch typ {
	case Quote:
		set(m, "items/0/unit", "box")
	case ProposeTimes:
		m["location"], m["replaces"] = "Berlin, gate 7", idB
	case Decline:
		m["reason"] = "not_available"
	}
	return m
}

func rendered(t testing.TB, m object) (p *Parsed, text, page string) {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Parse(data); err != nil {
		t.Fatal(err)
	}
	if page, err = p.HTML(); err != nil {
		t.Fatal(err)
	}
	return p, p.Text(), page
}

// strange are the members whose words a person reads are not the value itself.
var strange = map[string][]string{
	"@context": nil, "profile": nil, "type": nil, "amount": nil, "currency": nil, "start": nil, "end": nil, "slot": nil, "note": nil,
	"iat": {"Tue 3 Nov 2026 09:00:00 UTC"}, "exp": {"Tue 10 Nov 2026 09:00:00 UTC"}, "reason": {"not available"},
}

// leaves lists what a person must find of a value and of all in it.
func leaves(name string, value any) []string {
	if words, ok := strange[name]; ok {
		return words
	}
	var list []string
	switch v := value.(type) {
	case object:
		for name, member := range v {
			list = append(list, leaves(name, member)...)
		}
	case []any:
		for _, element := range v {
			list = append(list, leaves(name, element)...)
		}
	case string:
		list = append(list, v)
	case float64:
		list = append(list, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return list
}

func TestEverythingIsShown(t *testing.T) {
	extra := map[Type][]string{
		AskQuote: {"Request for a quote", "First line", "second line"}, Quote: {"Quote", "500.00 EUR", "at 2.50 EUR each"},
		ProposeTimes: {"Proposed times", "Thu 12 Nov 2026 10:00:00 +01:00 to Thu 12 Nov 2026 10:30:00 +01:00, Africa/Lagos"},
		Accept:       {"Acceptance", "Chosen time: number 1 of those offered"}, Decline: {"Decline"}, Cancel: {"Cancellation"},
	}
	for _, typ := range types {
		p, text, page := rendered(t, full(typ))
		var tree any
		if err := json.Unmarshal(p.Canonical, &tree); err != nil {
			t.Fatal(err)
		}
		shown := html.UnescapeString(page)
		for _, want := range append(leaves("", tree), extra[typ]...) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text lacks %q", typ, want)
			}
			if label, value, ok := strings.Cut(want, ": "); ok && typ == Accept {
				want = label + "</th><td>" + value
			}
			if !strings.Contains(shown, want) {
				t.Errorf("%s: the page lacks %q", typ, want)
			}
		}
	}
}

func TestText(t *testing.T) {
	_, got, _ := rendered(t, full(Quote))
	want := `Quote

From: Buyer <agent@buyer.test>
For: Buyer Ltd (owner@buyer.test)
Agent: Purchasing (connected)
Decided by: limits, level gold, limits version 3
To: agent@seller.test
Total: 500.00 EUR
Delivery by: 2026-11-30
Sent: Tue 3 Nov 2026 09:00:00 UTC
Valid until: Tue 10 Nov 2026 09:00:00 UTC

Items:
  1. 200 box × Mug at 2.50 EUR each

Note from the sender's agent:
> First line
> second line

Replaces: ` + idB + `
Answers: ` + idB + `
Hash of the answered message: ` + strings.Repeat("ab", 32) + `
Message: ` + idA + `
Thread: ` + idT + `
Party: pty_buyer000000000000000
Agent card: https://buyer.test/card.json
Nonce: UYgX6BRG-rUqbbKRrxzaZQ
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSubjectHoldsNothingOfTheSender(t *testing.T) {
	m := valid(AskQuote)
	set(m, "from/name", "Urgent")
	if p, _, _ := rendered(t, m); p.Subject() != "Request for a quote [00000000]" {
		t.Error(p.Subject())
	}
}

func TestSlotInItsZone(t *testing.T) {
	for _, tc := range []struct {
		slot Slot
		want string
	}{
		{Slot{"2026-07-01T10:00:00Z", "2026-07-01T23:30:00z", "Europe/Berlin"}, "Wed 1 Jul 2026 12:00:00 +02:00 to Thu 2 Jul 2026 01:30:00 +02:00, Europe/Berlin"},
		{Slot{"2026-10-25T00:30:00Z", "2026-10-25t01:30:00Z", "Europe/Berlin"}, "Sun 25 Oct 2026 02:30:00 +02:00 to Sun 25 Oct 2026 02:30:00 +01:00, Europe/Berlin"},
		{Slot{"soon", "later", "Europe/Berlin"}, "a time that does not parse"},
		{Slot{"2026-07-01T10:00:00Z", "2026-07-01T23:30:00Z", "Mars/Olympus"}, "a time that does not parse"},
	} {
		if got := tc.slot.String(); got != tc.want {
			t.Errorf("%v: %s; want %s", tc.slot, got, tc.want)
		}
	}
}

// attacks are texts that have done harm where text from outside was shown (O4 to O6, J18).
var attacks = []string{
	`<script>alert(1)</script>`, `<img src="https://evil.test/x.png" onerror=alert(1)>`, `</pre></td></table><h1>Total</h1>`, `"><a href="javascript:x">`,
	`<!-- `, `-->`, `&lt;script&gt;`, `&#60;b&#62;`, `+ADw-script+AD4-`, `{{.Nonce}}`, `%s%n`, `<style>*{display:none}</style>`, "\u202eRUE 1 :latoT\u2066",
	"a\u2028Total: 1.00 EUR\u2029b", `'); DROP TABLE offers; --`, "=?utf-8?Q?=3Cb=3E?=", "\u200b\ufeff",
}

// hostileMessage has one attack in every member that is free text.
func hostileMessage(typ Type, attack string) object {
	m := full(typ)
	m["note"] = attack
	for _, path := range []string{"from/name", "acting_for/org_name", "agent/name", "authority/level"} {
		set(m, path, attack)
	}
	set(m, "authority/limits_version", attack)
	switch typ {
	case AskQuote, Quote:
		set(m, "items/0/description", attack)
		set(m, "items/0/unit", string([]rune(attack)[:min(len([]rune(attack)), 9)]))
	case ProposeTimes:
		m["purpose"], m["location"] = attack, attack
	}
	return m
}

// skeleton is the tags of a page with their attributes, and its text.
func skeleton(t *testing.T, page string) (tags []string, text string) {
	t.Helper()
	z := nethtml.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case nethtml.ErrorToken:
			return tags, text
		case nethtml.TextToken:
			text += z.Token().Data
		default:
			tags = append(tags, z.Token().String())
		}
	}
}

func TestHostileTextIsInert(t *testing.T) {
	for _, typ := range []Type{AskQuote, Quote, ProposeTimes, Decline} {
		benign := hostileMessage(typ, "word")
		_, benignText, benignPage := rendered(t, benign)
		wantTags, _ := skeleton(t, benignPage)
		for _, attack := range attacks {
			_, text, page := rendered(t, hostileMessage(typ, attack))
			tags, shown := skeleton(t, page)
			extra := strings.Count(attack, "\u2028") + strings.Count(attack, "\u2029") // lines of the note
			if slices.Equal(tags, wantTags) != (extra == 0) || len(tags) != len(wantTags)+extra {
				t.Errorf("%s, %q: other tags: %s", typ, attack, cmp.Diff(wantTags, tags))
			}
			if !strings.Contains(inerttest.WithoutControls(shown), inerttest.WithoutControls(attack)) || !strings.Contains(inerttest.WithoutControls(text), inerttest.WithoutControls(attack)) {
				t.Errorf("%s, %q is not shown as it stands", typ, attack)
			}
			if got, want := strings.Count(text, "\n"), strings.Count(benignText, "\n")+extra; got != want {
				t.Errorf("%s, %q: %d lines; want %d", typ, attack, got, want)
			}
			checkInert(t, text)
			checkInert(t, shown)
		}
	}
}

// checkInert asserts that no line reaches beyond itself, and that nothing but
// LF ends a line or moves a terminal's cursor.
func checkInert(t interface{ Errorf(string, ...any) }, text string) {
	for l := range strings.Lines(text) {
		if fault := inerttest.Unbalanced(l); fault != "" {
			t.Errorf("the line %+q %s", l, fault)
		}
	}
	if strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || 0x7f <= c && c < 0xa0 || c == '\u2028' || c == '\u2029'
	}) {
		t.Errorf("a control character in %+q", text)
	}
}

// A note cannot leave its lines: without those that are marked as its own, the
// text is that of the message without a note.
func TestNoteStaysInItsLines(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\r", "\r\n", "\u2028", "\u2029", "\n\n", "\nTotal: 1.00 EUR\n", "> ", noteLabel + ":", "\u202e", "\u2069", "\u202c", "\t", "</blockquote>", "<br>",
			"\n\nMessage: " + idB + "\n",
		}),
		line(0, 10),
	)
	_, want, _ := rendered(t, valid(Quote))
	rapid.Check(t, func(rt *rapid.T) {
		m := valid(Quote)
		note := strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(rt, "note"), "")
		m["note"] = note
		_, text, page := rendered(t, m)
		checkInert(rt, text)
		var rest, own strings.Builder
		for l := range strings.Lines(text) {
			if said, ok := strings.CutPrefix(l, "> "); ok {
				own.WriteString(said)
			} else {
				rest.WriteString(l)
			}
		}
		if note == "" {
			return // no note, no label
		}
		if got := strings.Replace(rest.String(), "\n"+noteLabel+":\n", "", 1); got != want {
			rt.Errorf("outside the note: %s", cmp.Diff(want, got))
		}
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(note)
		if got := inerttest.WithoutControls(own.String()); got != inerttest.WithoutControls(lines)+"\n" {
			rt.Errorf("note %+q is shown as %+q", note, got)
		}
		if strings.Count(page, "<blockquote>") != 1 || strings.Count(page, "</blockquote>") != 1 {
			rt.Errorf("page %s", page)
		}
	})
}
