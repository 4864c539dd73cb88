package intent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/schema"
	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	idA = "00000000-0000-4000-8000-00000000000a"
	idB = "00000000-0000-4000-8000-00000000000b"
	idT = "00000000-0000-4000-8000-0000000000ff"
)

type object = map[string]any

// valid is a good message of each type; the tests break one thing at a time.
func valid(t Type) object {
	m := object{
		"@context": []any{"https://schema.org", ProfileURL},
		"profile":  Profile, "id": idA, "thread": idT, "type": string(t),
		"from":  object{"address": "agent@buyer.test", "party": "pty_buyer000000000000000", "name": "Buyer"},
		"to":    object{"address": "agent@seller.test"},
		"nonce": "UYgX6BRG-rUqbbKRrxzaZQ", "iat": 1793696400, "exp": 1794301200,
		"acting_for": object{"org_name": "Buyer Ltd", "contact": "owner@buyer.test"},
		"agent":      object{"name": "Purchasing", "kind": "connected"},
	}
	switch t {
	case AskQuote:
		m["items"] = []any{object{"description": "Mug", "quantity": 200, "unit": "piece"}}
		m["wanted_by"] = "2026-11-30"
	case Quote:
		m["items"] = []any{object{"description": "Mug", "quantity": 200, "unit_price": object{"amount": "250", "currency": "EUR"}}}
		m["total"] = object{"amount": "50000", "currency": "EUR"}
		m["delivery_by"] = "2026-11-30"
		m["replaces"] = idB
	case ProposeTimes:
		m["slots"] = []any{object{"start": "2026-11-12T10:00:00+01:00", "end": "2026-11-12T10:30:00+01:00", "time_zone": "Africa/Lagos"}}
		m["purpose"] = "Visit"
	case Accept:
		m["ref"], m["slot"] = idB, 0
	case Decline:
		m["ref"], m["reason"] = idB, "price"
	case Cancel:
		m["ref"] = idB
	}
	return m
}

// set puts a value at a path such as "items/0/quantity"; nil deletes.
func set(m object, path string, value any) {
	names := strings.Split(path, "/")
	var at any = m
	for _, name := range names[:len(names)-1] {
		if list, ok := at.([]any); ok {
			at = list[name[0]-'0']
			continue
		}
		at = at.(object)[name]
	}
	last := names[len(names)-1]
	if value == nil {
		delete(at.(object), last)
		return
	}
	at.(object)[last] = value
}

func text(t *testing.T, m object) []byte {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var types = []Type{AskQuote, Quote, ProposeTimes, Accept, Decline, Cancel}

func TestParseValid(t *testing.T) {
	for _, typ := range types {
		p, err := Parse(text(t, valid(typ)))
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		again, err := Seal(p.Message)
		if err != nil || !bytes.Equal(again.Canonical, p.Canonical) || again.Hash != p.Hash || p.Unknown {
			t.Errorf("%s: written again: %v\n%s\n%s", typ, err, again.Canonical, p.Canonical)
		}
	}
}

type mutation struct {
	typ   Type
	path  string
	value any
}

func TestParseAccepts(t *testing.T) {
	for _, m := range []mutation{
		{AskQuote, "note", strings.Repeat("ü", 2000)},      // D5
		{AskQuote, "note", "tab\tand\r\nline \u202e bidi"}, // D10, D37
		{AskQuote, "from/name", ""},                        // D37
		{AskQuote, "items/0/quantity", 0.000001},           // D8
		{AskQuote, "items/0/quantity", 1e9},
		{AskQuote, "wanted_by", "2028-02-29"},
		{AskQuote, "exp", MaxTime},
		{AskQuote, "id", "00000000-0000-0000-0000-000000000000"}, // D38: any version
		{AskQuote, "from/address", "agent@bücher.test"},
		{AskQuote, "from/card", "https://buyer.test/.well-known/agent-card.json"},
		{AskQuote, "authority", object{"decided_by": "limits", "level": "", "limits_version": 3}}, // D4
		{AskQuote, "authority", object{"decided_by": "person", "limits_version": "v2"}},
		{AskQuote, "authority", object{"decided_by": "owner"}},
		{Quote, "total/amount", "0"},
		{Quote, "total/amount", "999999999999999999"},
		{ProposeTimes, "slots/0/start", "2026-11-12t09:00:00.25z"}, // D38
		{ProposeTimes, "slots/0/time_zone", "Europe/Berlin"},       // D38: the offset need not fit
		{ProposeTimes, "slots/0/time_zone", "America/Port-au-Prince"},
		{ProposeTimes, "slots/0/time_zone", "Etc/GMT+1"},
		{Accept, "slot", 1e19}, // D39
		{Accept, "slot", -1},   // D39: a matter of state
		{Accept, "slot", nil},
		{Decline, "reason", nil},
	} {
		msg := valid(m.typ)
		set(msg, m.path, m.value)
		if _, err := Parse(text(t, msg)); err != nil {
			t.Errorf("%s %s = %v: %v", m.typ, m.path, m.value, err)
		}
	}
}

func broken() []mutation {
	control := func(s string) string { return "a" + s }
	list := []mutation{
		{AskQuote, "@context", []any{ProfileURL, "https://schema.org"}},
		{AskQuote, "type", "order"},
		{AskQuote, "type", nil},
		{AskQuote, "id", strings.ToUpper(idA)},
		{AskQuote, "thread", "x"},
		{AskQuote, "in_reply_to", idB}, // D2: without prev
		{AskQuote, "prev", strings.Repeat("0", 64)},
		{AskQuote, "from/address", "Agent <agent@buyer.test>"},
		{AskQuote, "from/address", "agent@buyer.test."},
		{AskQuote, "from/party", "pty_short"},
		{AskQuote, "from/name", strings.Repeat("a", 201)},
		{AskQuote, "from/card", "http://buyer.test"},
		{AskQuote, "from/card", "https://"},
		{AskQuote, "from/card", "https://buyer.test/" + strings.Repeat("a", 2048)},
		{AskQuote, "to/address", []any{"agent@seller.test"}},
		{AskQuote, "nonce", "UYgX6BRG-rUqbbKRrxzaZR"}, // D1
		{AskQuote, "nonce", "UYgX6BRG-rUqbbKRrxzaZ"},
		{AskQuote, "nonce", ""},
		{AskQuote, "nonce", 5},
		{AskQuote, "iat", 0},
		{AskQuote, "iat", 1.5},
		{AskQuote, "exp", 1793696400}, // equal to iat
		{AskQuote, "exp", MaxTime + 1},
		{AskQuote, "exp", "1794301200"},
		{AskQuote, "acting_for/org_name", ""},
		{AskQuote, "acting_for/contact", "owner"},
		{AskQuote, "agent/kind", "robot"},
		{AskQuote, "authority", object{"decided_by": "nobody"}},
		{AskQuote, "authority", object{"decided_by": "limits", "limits_version": -1}},
		{AskQuote, "authority", object{"decided_by": "limits", "level": strings.Repeat("a", 65)}},
		{AskQuote, "note", strings.Repeat("ü", 2001)},
		{AskQuote, "items", []any{}},
		{AskQuote, "items/0/description", ""},
		{AskQuote, "items/0/description", strings.Repeat("a", 501)},
		{AskQuote, "items/0/quantity", 0},
		{AskQuote, "items/0/quantity", 1e9 + 1},
		{AskQuote, "items/0/quantity", 0.0000001},
		{AskQuote, "items/0/quantity", "2"},
		{AskQuote, "items/0/unit", strings.Repeat("a", 33)},
		{AskQuote, "wanted_by", "2026-02-29"},
		{AskQuote, "wanted_by", "2026-2-9"},
		{Quote, "total/amount", "01"},
		{Quote, "total/amount", "-1"},
		{Quote, "total/amount", "1000000000000000000"},
		{Quote, "total/amount", 5},
		{Quote, "total/currency", "eur"},
		{Quote, "total/currency", "XXX"},
		{Quote, "total/currency", "DEM"},
		{Quote, "items/0/unit_price/currency", "USD"}, // D38
		{Quote, "delivery_by", "2026-13-01"},
		{Quote, "replaces", "x"},
		{ProposeTimes, "slots/0/start", "2026-11-12T10:00:00"},
		{ProposeTimes, "slots/0/start", "2026-11-12T10:00:60+01:00"}, // D38
		{ProposeTimes, "slots/0/start", "2026-02-30T10:00:00+01:00"},
		{ProposeTimes, "slots/0/end", "2026-02-30T10:00:00+01:00"},
		{ProposeTimes, "slots/0/end", "2026-11-12T10:00:00+01:00"},
		{ProposeTimes, "slots/0/time_zone", "Mars/Olympus"},
		{ProposeTimes, "slots/0/time_zone", "posix/Europe/Berlin"},
		{ProposeTimes, "slots/0/time_zone", "../Europe/Berlin"},
		{ProposeTimes, "slots/0/time_zone", "Local"},
		{ProposeTimes, "slots/0/time_zone", ""},
		{ProposeTimes, "purpose", strings.Repeat("a", 501)},
		{Accept, "ref", nil},
		{Accept, "slot", 0.5},
		{Decline, "reason", "rude"},
		{Cancel, "ref", 5},
	}
	for _, c := range []string{"\x00", "\n", "\t", "\x1b", "\x7f", "\u0085"} { // D10, D37
		list = append(list, mutation{AskQuote, "from/name", control(c)}, mutation{AskQuote, "items/0/description", control(c)})
	}
	list = append(list, mutation{AskQuote, "note", "\x1b[2J"}, mutation{AskQuote, "note", "\u0085"})
	for name := range maps.Keys(valid(AskQuote)) {
		if name != "wanted_by" && name != "profile" {
			list = append(list, mutation{AskQuote, name, nil})
		}
	}
	return append(list, mutation{Quote, "total", nil}, mutation{ProposeTimes, "slots", nil}, mutation{Decline, "ref", nil})
}

func TestParseRefuses(t *testing.T) {
	for _, m := range broken() {
		msg := valid(m.typ)
		set(msg, m.path, m.value)
		_, err := Parse(text(t, msg))
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s %s = %.40v: %v; want ErrInvalid", m.typ, m.path, m.value, err)
			continue
		}
		if strings.ContainsAny(err.Error(), "\x00\x1b\x7f\n\t") {
			t.Errorf("%s %s: the error repeats what the sender wrote: %q", m.typ, m.path, err)
		}
	}
}

// The published schema, with its conditions on the type, must say what the
// schema of the one type says.
func TestWholeSchemaAgrees(t *testing.T) {
	whole, err := schema.Compile(schema.MessageID)
	if err != nil {
		t.Fatal(err)
	}
	cases := broken()
	for _, typ := range types {
		cases = append(cases, mutation{typ, "note", "fine"})
	}
	for _, m := range cases {
		msg := valid(m.typ)
		set(msg, m.path, m.value)
		tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text(t, msg)))
		if err != nil {
			t.Fatal(err)
		}
		var same any
		if err := json.Unmarshal(text(t, msg), &same); err != nil {
			t.Fatal(err)
		}
		kind, _ := msg["type"].(string)
		one := validate(Type(kind), same.(object))
		if all := whole.Validate(tree); (all == nil) != (one == nil) {
			t.Errorf("%s %s = %.40v: whole schema: %v; schema of the type: %v", m.typ, m.path, m.value, all, one)
		}
	}
}

func TestParseForms(t *testing.T) {
	good := string(text(t, valid(AskQuote)))
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"empty":             {"", ErrJSON},
		"not an object":     {`["agent-intents/1"]`, ErrProfile},
		"null":              {`null`, ErrProfile},
		"another version":   {strings.Replace(good, "agent-intents/1", "agent-intents/2", 1), ErrProfile},
		"no profile":        {`{}`, ErrProfile},
		"member twice":      {strings.Replace(good, `"type"`, `"type":"quote","type"`, 1), ErrJSON},
		"escaped twice":     {strings.Replace(good, `"type"`, `"t\u0079pe":"quote","type"`, 1), ErrJSON},
		"mark":              {"\ufeff" + good, ErrJSON},
		"trailing data":     {good + "x", ErrJSON},
		"two objects":       {good + good, ErrJSON},
		"bad UTF-8":         {strings.Replace(good, "Mug", "M\xffg", 1), ErrJSON},
		"lone surrogate":    {strings.Replace(good, "Mug", `M\ud800g`, 1), ErrJSON},
		"too great":         {strings.Replace(good, ":200", ":1e400", 1), ErrJSON},
		"comment":           {good + "// x", ErrJSON},
		"nested 17 deep":    {`{"a":` + strings.Repeat("[", 16) + strings.Repeat("]", 16) + "}", ErrJSON},
		"nested 16 deep":    {`{"a":` + strings.Repeat("[", 15) + strings.Repeat("]", 15) + "}", ErrProfile},
		"32 769 bytes":      {good + strings.Repeat(" ", MaxSize+1-len(good)), ErrSize},
		"32 768 bytes":      {good + strings.Repeat(" ", MaxSize-len(good)), nil},
		"white space round": {" \r\n" + good + "\n", nil},
		"numbers by value":  {strings.Replace(good, "1794301200", "17943012.00e2", 1), nil}, // D37
	} {
		if _, err := Parse([]byte(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
}

func TestUnknownMembersAreDropped(t *testing.T) {
	want, err := Parse(text(t, valid(Quote)))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x", "FROM", "slot", "from/NAME", "items/0/x", "total/x", "items/0/unit_price/x", "to/name"} {
		msg := valid(Quote)
		set(msg, path, object{"address": "agent@evil.test"})
		got, err := Parse(text(t, msg))
		if err != nil || !got.Unknown || got.Hash != want.Hash {
			t.Errorf("%s: %v, unknown %v", path, err, got != nil && got.Unknown)
		}
	}
	ask := valid(AskQuote)
	set(ask, "items/0/unit_price", object{"amount": "1", "currency": "EUR"}) // a member of another type (D35)
	if p, err := Parse(text(t, ask)); err != nil || !p.Unknown || p.Items[0].UnitPrice != nil {
		t.Errorf("unit_price in an ask: %v %+v", err, p)
	}
}

func TestAddressesAreComparable(t *testing.T) {
	msg := valid(AskQuote)
	set(msg, "from/address", "agent@BUYER.test")
	p, err := Parse(text(t, msg))
	if err != nil || p.From.Address != "agent@buyer.test" || !bytes.Contains(p.Canonical, []byte("BUYER")) {
		t.Errorf("%v %s", err, p.Canonical)
	}
}

func TestHash(t *testing.T) {
	if got := canon.Hash(nil); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	for _, typ := range types {
		data, err := json.Marshal(valid(typ))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"profile":"agent-intents/1","type":"cancel"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse(p.Canonical)
		if err != nil || !bytes.Equal(again.Canonical, p.Canonical) || again.Unknown {
			t.Errorf("canonical form read again: %v\n%s", err, p.Canonical)
		}
		p.Text()
		if _, err := p.HTML(); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data, err := json.Marshal(valid(Quote))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleMoney_String() {
	fmt.Println(Money{"125000", "EUR"}, Money{"5", "EUR"}, Money{"1500", "JPY"}, Money{"1", "KWD"})
	// Output: 1250.00 EUR 0.05 EUR 1500 JPY 0.001 KWD
}
