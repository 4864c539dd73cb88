package agentmsg

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func TestFreshness(t *testing.T) {
	for _, tc := range []struct {
		age  time.Duration
		want Code
	}{
		{0, ""},
		{maxAge, ""},
		{maxAge + 999*time.Microsecond, ""}, // now is cut to milliseconds like ts
		{maxAge + time.Millisecond, CodeStale},
		{-maxAhead, ""},
		{-maxAhead - time.Millisecond, CodeFuture},
	} {
		e := &Envelope{Time: noon}
		if got := e.Freshness(noon.Add(tc.age)); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.age, got, tc.want)
		}
	}
	for year, want := range map[int]Code{1: CodeStale, 9999: CodeFuture} {
		e := &Envelope{Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
		if got := e.Freshness(noon); got != want {
			t.Errorf("year %d: %q", year, got)
		}
	}
}

func TestAddressing(t *testing.T) {
	i, own := sender(t), readVectors(t).Identities.Recipient
	for name, tc := range map[string]struct {
		to   any
		want Code
	}{
		"us": {own, ""}, "nobody named": {nil, ""}, "null": {null, ""}, "another": {i.ID(), CodeMisaddressed},
		"empty": {"", CodeMisaddressed}, "a space behind": {own + " ", CodeMisaddressed}, "lower case": {strings.ToLower(own), CodeMisaddressed},
	} {
		m := valid()
		set(m, "to", tc.to)
		e, err := Parse(sign(t, i, m))
		if err != nil || e.Addressing(own) != tc.want {
			t.Errorf("%s: %v, %q, want %q", name, err, e.Addressing(own), tc.want)
		}
	}
}

func TestSize(t *testing.T) {
	text := func(s string) jsontext.Value {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	fits, over := strings.Repeat("ü", MaxText), strings.Repeat("😀", MaxText/2)+"x"
	for name, tc := range map[string]struct {
		body jsontext.Value
		want Code
	}{
		"nothing":                 {nil, ""},
		"a string that fits":      {text(fits), ""},
		"one unit more":           {text(over), CodeTooLarge},
		"in text":                 {jsontext.Value(`{"text":` + string(text(over)) + `}`), CodeTooLarge},
		"text first":              {jsontext.Value(`{"message":` + string(text(over)) + `,"text":"x"}`), ""},
		"text is null":            {jsontext.Value(`{"message":` + string(text(over)) + `,"text":null}`), CodeTooLarge},
		"prompt last":             {jsontext.Value(`{"prompt":` + string(text(over)) + `}`), CodeTooLarge},
		"text is a list (D102)":   {jsontext.Value(`{"text":[` + string(text(over)) + `]}`), CodeTooLarge},
		"text is a number (D102)": {jsontext.Value(`{"message":` + string(text(over)) + `,"text":0}`), ""},
		"another member":          {jsontext.Value(`{"body":` + string(text(over)) + `}`), CodeTooLarge},
		"a list":                  {jsontext.Value(`[` + string(text(over)) + `]`), CodeTooLarge},
	} {
		for _, e := range []*Envelope{{Request: &Request{Input: tc.body}}, {Respond: &Respond{Output: tc.body}}} {
			if got := e.Size(); got != tc.want {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
		}
	}
}

func TestHops(t *testing.T) {
	for hops, want := range map[float64]Code{-1: "", 0: "", 3: "", 3.5: CodeHops, 4: CodeHops, 1e300: CodeHops} {
		if got := (&Envelope{Meta: Meta{Hops: hops}}).Hops(); got != want {
			t.Errorf("%v: %q", hops, got)
		}
	}
}
