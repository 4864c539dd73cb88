package agentmsg

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func vectorRoster(t testing.TB) (signed []byte, owner string) {
	t.Helper()
	v := readVectors(t)
	canonical, err := canon.Strict(v.Roster.Signed, maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	return canonical, v.Identities.Sender
}

func TestVectorRoster(t *testing.T) {
	v := readVectors(t)
	if v.Roster.Prefix != tagRoster || v.Roster.Encoding != "standard base64, padded" {
		t.Errorf("%q, %q", v.Roster.Prefix, v.Roster.Encoding)
	}
	signed, owner := vectorRoster(t)
	r, err := ParseRoster(v.Roster.Signed, owner)
	if err != nil {
		t.Fatal(err)
	}
	want := &Roster{
		Owner: owner, Updated: noon.AddDate(0, 0, 1).Add(3 * 3600e9),
		Defaults: map[Kind]Stance{KindContact: StanceAllow, KindRegistered: StanceHold, KindAnonymous: StanceBlock},
		Limits:   Limits{PerSenderPerHour: new(int64(12)), ModelPerDay: new(int64(500000))},
		Entries:  []Entry{{Subject: v.Identities.Recipient, Stance: StanceAllow, Note: "conformance vector", Updated: noon.AddDate(0, 0, 1).Add(3 * 3600e9)}},
	}
	if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(Roster{}, Limits{}, Entry{})); diff != "" {
		t.Error(diff)
	}
	if again, err := sender(t).SignRoster(*r); err != nil || !bytes.Equal(again, signed) {
		t.Errorf("signed again, %v:\n%s\n%s", err, again, signed)
	}
}

// signRoster signs a roster of any members.
func signRoster(t testing.TB, i Identity, m object) []byte {
	t.Helper()
	delete(m, "sig")
	unsigned, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := i.sign(tagRoster, unsigned)
	if err != nil {
		t.Fatal(err)
	}
	m["sig"] = base64.StdEncoding.EncodeToString(signature)
	data, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Members that are not known are signed, and kept when the roster is signed again.
func TestRosterKeeps(t *testing.T) {
	signed, owner := vectorRoster(t)
	var m object
	if err := json.Unmarshal(signed, &m); err != nil {
		t.Fatal(err)
	}
	set(m, "more", object{"a": []any{1.0}})
	set(m, "limits/more", "x")
	set(m, "defaults/vouched", "hold")
	m["entries"].([]any)[0].(object)["more"] = true
	data := signRoster(t, sender(t), m)
	r, err := ParseRoster(data, owner)
	if err != nil {
		t.Fatal(err)
	}
	again, err := sender(t).SignRoster(*r)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("%v: %s", err, cmp.Diff(string(data), string(again)))
	}
	r.Entries = append(r.Entries, Entry{Subject: owner, Stance: StanceBlock})
	more, err := sender(t).SignRoster(*r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = ParseRoster(more, owner); err != nil || r.Stance(owner, KindContact) != StanceBlock || !strings.Contains(string(more), `"more":{"a":[1]}`) {
		t.Errorf("%v, %s", err, more)
	}
}

func TestParseRosterAccepts(t *testing.T) {
	signed, owner := vectorRoster(t)
	for _, tc := range []mutation{
		{"defaults", nil},
		{"limits", nil},
		{"limits", object{}},
		{"limits/per_sender_per_hour", 0},
		{"limits/per_sender_per_hour", null},
		{"entries", []any{}},
		{"entries", nil},
		{"defaults/bridged", "allow"},
	} {
		var m object
		if err := json.Unmarshal(signed, &m); err != nil {
			t.Fatal(err)
		}
		set(m, tc.path, tc.value)
		if _, err := ParseRoster(signRoster(t, sender(t), m), owner); err != nil {
			t.Errorf("%s = %v: %v", tc.path, tc.value, err)
		}
	}
}

func TestParseRosterRefuses(t *testing.T) {
	signed, owner := vectorRoster(t)
	v := readVectors(t)
	entry := func(changes ...mutation) []any {
		m := object{"subject": v.Identities.Recipient, "stance": "allow"}
		for _, c := range changes {
			set(m, c.path, c.value)
		}
		return []any{m}
	}
	for _, tc := range []mutation{
		{"admission", "v2"},
		{"admission", nil},
		{"owner_key", nil},
		{"owner_key", strings.ToLower(owner)},
		{"updated_at", nil},
		{"updated_at", "today"},
		{"defaults", "allow"},
		{"defaults/contact", "maybe"},
		{"defaults/other", "Allow"},
		{"defaults/contact", null},
		{"limits/per_sender_per_hour", -1},
		{"limits/per_sender_per_hour", 1.5},
		{"limits/per_sender_per_hour", "12"},
		{"limits/inbound_model_budget_per_day", -1},
		{"entries", object{}},
		{"entries", entry(mutation{"subject", "x"})},
		{"entries", entry(mutation{"subject", nil})},
		{"entries", entry(mutation{"stance", "x"})},
		{"entries", entry(mutation{"stance", nil})},
		{"entries", entry(mutation{"updated_at", ""})},
		{"entries", entry(mutation{"note", 1})},
		{"entries", append(entry(), entry(mutation{"stance", "block"})...)}, // which of the two?
	} {
		var m object
		if err := json.Unmarshal(signed, &m); err != nil {
			t.Fatal(err)
		}
		set(m, tc.path, tc.value)
		if r, err := ParseRoster(signRoster(t, sender(t), m), owner); codeOf(err) != CodeJSON || r != nil {
			t.Errorf("%s = %v: %v", tc.path, tc.value, err)
		}
	}
	many := make([]any, maxEntries+1)
	for n := range many {
		many[n] = object{"subject": idOf(t, binary.BigEndian.AppendUint32(make([]byte, 28), uint32(n))), "stance": "hold"}
	}
	m := withoutSig(t, signed)
	m["entries"] = many
	if r, err := ParseRoster(signRoster(t, sender(t), m), owner); codeOf(err) != CodeJSON || r != nil {
		t.Errorf("10001 entries: %v", err)
	}
	m["entries"] = many[1:]
	if r, err := ParseRoster(signRoster(t, sender(t), m), owner); err != nil || len(r.Entries) != maxEntries {
		t.Errorf("10000 entries: %v", err)
	}
	for name, data := range map[string]string{
		"nothing":       "",
		"a list":        "[]",
		"twice":         strings.Replace(string(signed), `"admission"`, `"admission":"v1","admission"`, 1),
		"too long":      string(signed) + strings.Repeat(" ", maxRoster),
		"without a sig": strings.Replace(string(signed), `"sig"`, `"gis"`, 1),
	} {
		if r, err := ParseRoster([]byte(data), owner); codeOf(err) != CodeJSON || r != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRosterSignature(t *testing.T) {
	signed, owner := vectorRoster(t)
	var m object
	if err := json.Unmarshal(signed, &m); err != nil {
		t.Fatal(err)
	}
	for n := 0; !strings.ContainsAny(m["sig"].(string), "+/"); n++ { // a signature that the alphabets spell differently
		m["more"] = n
		signed = signRoster(t, sender(t), m)
	}
	v, text, sig := readVectors(t), string(signed), m["sig"].(string)
	for name, tc := range map[string]string{
		"a stance":          strings.Replace(text, `"stance":"allow"`, `"stance":"block"`, 1),
		"a note":            strings.Replace(text, "conformance", "Conformance", 1),
		"a member more":     strings.Replace(text, `{"admission"`, `{"aa":1,"admission"`, 1),
		"unpadded":          strings.Replace(text, sig, strings.TrimRight(sig, "="), 1),
		"URL alphabet":      strings.Replace(text, sig, strings.NewReplacer("+", "-", "/", "_").Replace(sig), 1),
		"a tag of another":  string(sign(t, sender(t), withoutSig(t, signed))),
		"empty":             strings.Replace(text, sig, "", 1),
		"signed by another": strings.Replace(text, owner, v.Identities.ThirdParty, 1),
	} {
		if tc == text {
			t.Fatalf("%s: nothing was changed", name)
		}
		if r, err := ParseRoster([]byte(tc), owner); codeOf(err) != CodeSignature || r != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := ParseRoster(signed, v.Identities.ThirdParty); !errors.Is(err, ErrOwner) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
	pretty := strings.ReplaceAll(text, `,"`, ",\n  \"")
	if _, err := ParseRoster([]byte(pretty), owner); err != nil {
		t.Errorf("laid out in another way: %v", err)
	}
}

func withoutSig(t *testing.T, data []byte) object {
	t.Helper()
	var m object
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "sig")
	return m
}

func TestSignRosterRefuses(t *testing.T) {
	i := sender(t)
	good := Entry{Subject: i.ID(), Stance: StanceHold}
	for name, r := range map[string]Roster{
		"a subject twice": {Updated: noon, Entries: []Entry{good, good}},
		"no stance":       {Updated: noon, Entries: []Entry{{Subject: i.ID()}}},
		"bad UTF-8":       {Updated: noon, Entries: []Entry{{Subject: i.ID(), Stance: StanceHold, Note: "\xff"}}},
		"a default":       {Updated: noon, Defaults: map[Kind]Stance{KindContact: "x"}},
		"another owner":   {Updated: noon, Owner: readVectors(t).Identities.ThirdParty},
	} {
		if data, err := i.SignRoster(r); err == nil {
			t.Errorf("%s: %s", name, data)
		}
	}
	if data, err := (Identity{}).SignRoster(Roster{Updated: noon}); !errors.Is(err, ErrSeed) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestStance(t *testing.T) {
	const a, b = "a", "b"
	roster := &Roster{Defaults: map[Kind]Stance{KindContact: StanceBlock, KindAnonymous: StanceAllow}, Entries: []Entry{{Subject: a, Stance: StanceAllow}}}
	for _, tc := range []struct {
		roster *Roster
		id     string
		kind   Kind
		want   Stance
	}{
		{nil, a, KindContact, StanceAllow},
		{nil, a, KindRegistered, StanceHold},
		{nil, "", KindAnonymous, StanceBlock},
		{nil, a, KindBridged, StanceHold},
		{nil, a, "unheard of", StanceBlock},
		{&Roster{}, a, KindBridged, StanceHold},
		{roster, a, KindContact, StanceAllow},
		{roster, a, KindBridged, StanceAllow},
		{roster, b, KindContact, StanceBlock},
		{roster, b, KindBridged, StanceHold},
		{roster, b, KindRegistered, StanceHold},
		{roster, "", KindAnonymous, StanceAllow},
	} {
		if got := tc.roster.Stance(tc.id, tc.kind); got != tc.want {
			t.Errorf("%v, %s, %s: %s, want %s", tc.roster != nil, tc.id, tc.kind, got, tc.want)
		}
	}
}

// What is signed is read back whole.
func TestRosterProperty(t *testing.T) {
	i := sender(t)
	ids := []string{i.ID(), readVectors(t).Identities.Recipient, readVectors(t).Identities.ThirdParty}
	stances := rapid.SampledFrom([]Stance{StanceAllow, StanceHold, StanceBlock})
	rapid.Check(t, func(t *rapid.T) {
		r := Roster{Owner: i.ID(), Updated: times.Draw(t, "updated")}
		if rapid.Bool().Draw(t, "defaults") {
			r.Defaults = rapid.MapOf(rapid.Map(rapid.String(), func(s string) Kind { return Kind(s) }), stances).Draw(t, "kinds")
		}
		if rapid.Bool().Draw(t, "limit") {
			r.Limits.PerSenderPerHour = new(rapid.Int64Range(0, 1<<53).Draw(t, "hour"))
		}
		for _, id := range rapid.Permutation(ids).Draw(t, "ids")[:rapid.IntRange(0, len(ids)).Draw(t, "entries")] {
			r.Entries = append(r.Entries, Entry{Subject: id, Stance: stances.Draw(t, "stance"), Note: rapid.String().Draw(t, "note"), Updated: times.Draw(t, "at")})
		}
		data, err := i.SignRoster(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseRoster(data, i.ID())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&r, got, cmpopts.IgnoreUnexported(Roster{}, Limits{}, Entry{}), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDraftRoster has a roster be written by hand, and be signed anew.
func TestDraftRoster(t *testing.T) {
	own, other, named := newAgent(t), newAgent(t), sender(t).ID()
	entry := `{"subject":"` + named + `","stance":"block","note":"spam","colour":"red"}`
	draft, err := DraftRoster([]byte(`{"entries":[` + entry + `],"limits":{"per_sender_per_hour":3},"x":1}`))
	if err != nil || draft.Owner != "" || !draft.Updated.IsZero() || len(draft.Entries) != 1 || *draft.Limits.PerSenderPerHour != 3 {
		t.Fatalf("%+v, %v", draft, err)
	}
	draft.Updated = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	signed, err := own.SignRoster(draft)
	if err != nil || !strings.Contains(string(signed), `"colour":"red"`) {
		t.Fatalf("%s, %v", signed, err)
	}
	again, err := DraftRoster(signed)
	if err != nil {
		t.Fatal(err)
	}
	if signed, err = other.SignRoster(again); err != nil {
		t.Fatal(err)
	}
	if held, err := ParseRoster(signed, other.ID()); err != nil || held.Stance(named, KindContact) != StanceBlock {
		t.Errorf("%+v, %v", held, err)
	}
	for name, text := range map[string]string{
		"no JSON": "x", "another version": `{"admission":"v2","entries":[]}`, "twice": `{"entries":[` + entry + `,` + entry + `]}`,
		"no stance": `{"entries":[{"subject":"` + named + `","stance":"maybe"}]}`, "long": `"` + strings.Repeat("x", maxRoster) + `"`,
	} {
		if _, err := DraftRoster([]byte(text)); codeOf(err) != CodeJSON {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newAgent(t *testing.T) Identity {
	t.Helper()
	seed, err := NewSeed(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := ParseSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}
