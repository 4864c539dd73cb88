package agentmsg

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 7, 26, 12, 0, 0, 0, time.UTC)

// zeros is a source of bytes that are not random.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCompose(t *testing.T) {
	input, err := Chat("hello")
	if err != nil {
		t.Fatal(err)
	}
	i := sender(t)
	e, err := i.Compose(Envelope{To: readVectors(t).Identities.Recipient, Request: &Request{Offering: OfferingChat, Input: input}}, noon, zeros{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"from":"UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP","id":"019f9e4b-de00-7000-8000-000000000000",` +
		`"payload":{"input":{"text":"hello"},"offering":"chat"},` +
		`"to":"UAKQRYZBYFOC65OQZVJ3QPCIERDTRNNZPMOJUYXC3DGPRCDWSKD4HV5A",` +
		`"trace":{"span_id":"0000000000000000","trace_id":"00000000000000000000000000000000"},` +
		`"ts":"2026-07-26T12:00:00.000Z","type":"request","v":"0.2.0"}`
	if got := string(unsigned(t, e.Bytes())); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// A reply goes back to whom it answers, in its trace and its task; a refusal
// is in no task (D103).
func TestReply(t *testing.T) {
	v, i := readVectors(t), sender(t)
	asked := &Envelope{
		ID: "019894f0-0000-7000-8000-000000000001", From: v.Identities.Recipient, To: i.ID(), TaskID: "task", ContextID: "context", InReplyTo: "another",
		Trace: Trace{TraceID: strings.Repeat("a", 32), SpanID: strings.Repeat("b", 16), ParentSpanID: strings.Repeat("c", 16)}, Request: &Request{Offering: OfferingChat},
	}
	want := &Envelope{
		ID: "019f9e4b-de00-7000-8000-000000000000", Type: TypeRespond, Time: noon, From: i.ID(), To: v.Identities.Recipient,
		Trace:  Trace{TraceID: strings.Repeat("a", 32), SpanID: strings.Repeat("0", 16), ParentSpanID: strings.Repeat("b", 16)},
		TaskID: "task", ContextID: "context", InReplyTo: asked.ID, Respond: &Respond{Status: StatusWorking},
	}
	got, err := i.Compose(asked.Reply(Respond{Status: StatusWorking}), noon, zeros{})
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Envelope{})); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, code := range []ErrorCode{InvalidEnvelope, OfferingNotFound, ContextTooLarge, TaskNotFound, TaskNotCancelable, SealingRequired} {
		got, err := i.Compose(asked.Refuse(code), noon, zeros{})
		if err != nil || got.TaskID != "" || got.InReplyTo != asked.ID || got.Respond.Status != StatusFailed || got.Respond.Error.Code != code || got.Respond.Error.Message == "" {
			t.Errorf("%s: %v, %v", code, got, err)
		}
	}
}

// Nothing is made that would be refused.
func TestComposeRefuses(t *testing.T) {
	chat := &Request{Offering: OfferingChat}
	for name, tc := range map[string]struct {
		e      Envelope
		random io.Reader
		code   Code
	}{
		"neither":             {Envelope{}, zeros{}, ""},
		"both":                {Envelope{Request: chat, Respond: &Respond{}}, zeros{}, ""},
		"another's":           {Envelope{From: readVectors(t).Identities.Recipient, Request: chat}, zeros{}, ""},
		"no offering":         {Envelope{Request: &Request{}}, zeros{}, CodeJSON},
		"no UUID":             {Envelope{ID: "1", Request: chat}, zeros{}, CodeJSON},
		"no request answered": {Envelope{Respond: &Respond{Status: StatusCompleted}}, zeros{}, CodeJSON},
		"no task":             {Envelope{InReplyTo: "x", Respond: &Respond{Status: StatusWorking}}, zeros{}, CodeJSON},
		"too long":            {Envelope{Request: &Request{Offering: OfferingChat, Input: jsontext.Value(`"` + strings.Repeat("x", MaxEnvelope) + `"`)}}, zeros{}, CodeJSON},
		"too deep":            {Envelope{Request: &Request{Offering: OfferingChat, Input: jsontext.Value(strings.Repeat("[", 40) + strings.Repeat("]", 40))}}, zeros{}, ""},
		"no JSON":             {Envelope{Request: &Request{Offering: OfferingChat, Input: jsontext.Value(`{`)}}, zeros{}, ""},
		"no double":           {Envelope{Request: &Request{Offering: OfferingChat, Input: jsontext.Value(`1e400`)}}, zeros{}, ""},
		"bad UTF-8":           {Envelope{To: "\xff", Request: chat}, zeros{}, ""},
		"no randomness":       {Envelope{Request: chat}, strings.NewReader(""), ""},
		"some randomness":     {Envelope{Request: chat}, strings.NewReader("0123456789"), ""},
		"no span":             {Envelope{Request: chat}, strings.NewReader("0123456789" + "0123456789abcdef"), ""},
	} {
		if e, err := sender(t).Compose(tc.e, noon, tc.random); err == nil || e != nil || codeOf(err) != tc.code {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	if e, err := (Identity{}).Compose(Envelope{Request: chat}, noon, zeros{}); !errors.Is(err, ErrSeed) || e != nil {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := sender(t).Compose(Envelope{Request: chat}, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), zeros{}); codeOf(err) != CodeJSON {
		t.Errorf("the year 10000: %v", err)
	}
	if text, err := Chat("\xff"); err == nil {
		t.Error(text)
	}
}

func TestNewID(t *testing.T) {
	// RFC 9562 §A.6
	id, err := NewID(time.UnixMilli(0x017F22E279B0), bytes.NewReader([]byte{0xfc, 0xc3, 0xd8, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}))
	if err != nil || id != "017f22e2-79b0-7cc3-98c4-dc0c0c07398f" {
		t.Errorf("%s, %v", id, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := times.Draw(t, "a"), times.Draw(t, "b")
		ids := [2]string{}
		for n, at := range []time.Time{a, b} {
			random := rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "random")
			id, err := NewID(at, bytes.NewReader(random))
			if err != nil || !uuidForm.MatchString(id) || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) {
				t.Fatalf("%s, %v", id, err)
			}
			ids[n] = id
		}
		if a.Before(b) && ids[0] >= ids[1] || b.Before(a) && ids[1] >= ids[0] {
			t.Errorf("%v at %v and %v", ids, a, b)
		}
	})
}

// The generators of the property tests.
var (
	times = rapid.Map(rapid.Int64Range(0, 4e12), func(ms int64) time.Time { return time.UnixMilli(ms).UTC() })
	names = rapid.StringOfN(rapid.SampledFrom([]rune("aZ0-_.:/ü日😀 ")), 1, 20, maxName)
	maybe = rapid.OneOf(rapid.Just(""), names)
	// bodies are JSON values in canonical form.
	bodies = rapid.Map(values(3), func(v any) jsontext.Value {
		data, err := canon.Marshal(v)
		if err != nil {
			panic(err)
		}
		return data
	})
	files = rapid.Custom(func(t *rapid.T) File {
		return File{
			Name: rapid.String().Draw(t, "name"), MediaType: maybe.Draw(t, "type"), Size: rapid.Int64Range(0, 1<<53).Draw(t, "size"),
			Digest: maybe.Draw(t, "digest"), Ref: maybe.Draw(t, "ref"), URI: maybe.Draw(t, "uri"),
		}
	})
	parts = rapid.Custom(func(t *rapid.T) Part {
		return Part{Text: rapid.String().Draw(t, "text"), Data: present(bodies.Draw(t, "data")), File: files.Draw(t, "file")}
	})
	artifacts = rapid.Custom(func(t *rapid.T) Artifact {
		return Artifact{ID: maybe.Draw(t, "id"), Name: maybe.Draw(t, "name"), MediaType: maybe.Draw(t, "type"), Parts: rapid.SliceOfN(parts, 0, 3).Draw(t, "parts")}
	})
	envelopes = rapid.Custom(func(t *rapid.T) Envelope {
		e := Envelope{To: maybe.Draw(t, "to"), TaskID: maybe.Draw(t, "task"), InReplyTo: maybe.Draw(t, "reply"), ContextID: maybe.Draw(t, "context")}
		e.Budget = present(bodies.Draw(t, "budget"))
		e.Meta = Meta{Hops: float64(rapid.Int().Draw(t, "hops")), Email: EmailMeta{maybe.Draw(t, "address")}}
		if rapid.Bool().Draw(t, "bridged") {
			e.Meta.Bridge = &Bridge{rapid.String().Draw(t, "person"), maybe.Draw(t, "domain"), maybe.Draw(t, "auth")}
		}
		if rapid.Bool().Draw(t, "request") {
			e.Request = &Request{Offering: names.Draw(t, "offering"), Input: present(bodies.Draw(t, "input")), Config: present(bodies.Draw(t, "config")), Files: rapid.SliceOfN(files, 0, 3).Draw(t, "files")}
			return e
		}
		e.InReplyTo = names.Draw(t, "answers")
		e.Respond = &Respond{Status: rapid.SampledFrom([]Status{StatusAccepted, StatusCompleted, StatusFailed}).Draw(t, "status"), Output: present(bodies.Draw(t, "output"))}
		if e.TaskID != "" {
			e.Respond.Status = StatusInputRequired
		}
		e.Respond.Artifacts = rapid.SliceOfN(artifacts, 0, 3).Draw(t, "artifacts")
		if rapid.Bool().Draw(t, "error") {
			e.Respond.Error = &Failure{
				Code: ErrorCode(names.Draw(t, "code")), Message: rapid.String().Draw(t, "message"), Details: present(bodies.Draw(t, "details")),
				Retryable: rapid.Bool().Draw(t, "retryable"), RetryAfterMS: rapid.Float64Range(0, 1e9).Draw(t, "after"),
			}
		}
		return e
	})
)

// values are JSON values of some depth.
func values(depth int) *rapid.Generator[any] {
	plain := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Int32().AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(plain...)
	}
	return rapid.OneOf(append(plain, rapid.SliceOfN(values(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.OneOf(rapid.SampledFrom(textNames[:]), rapid.String()), values(depth-1), 0, 4).AsAny())...)
}

// What is composed is read as it was meant, by whoever gets its values.
func TestComposeProperty(t *testing.T) {
	i := sender(t)
	rapid.Check(t, func(t *rapid.T) {
		want := envelopes.Draw(t, "envelope")
		now := times.Draw(t, "now")
		made, err := i.Compose(want, now.Add(999), zeros{})
		if err != nil {
			t.Fatal(err)
		}
		indented := jsontext.Value(made.Bytes())
		if err := indented.Indent(); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(indented)
		if err != nil || !bytes.Equal(got.Bytes(), made.Bytes()) {
			t.Fatalf("%v: %s", err, indented)
		}
		want.ID, want.Type, want.Time, want.From, want.Trace = got.ID, got.Type, now, i.ID(), Trace{TraceID: strings.Repeat("0", 32), SpanID: strings.Repeat("0", 16)}
		if diff := cmp.Diff(&want, got, cmpopts.IgnoreUnexported(Envelope{}), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// One byte changed is never the signature of other values.
func TestFlipProperty(t *testing.T) {
	i := sender(t)
	rapid.Check(t, func(t *rapid.T) {
		made, err := i.Compose(envelopes.Draw(t, "envelope"), noon, zeros{})
		if err != nil {
			t.Fatal(err)
		}
		data := made.Bytes()
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		data[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		if got, err := Parse(data); err == nil && !bytes.Equal(got.Bytes(), made.Bytes()) {
			t.Errorf("%s\n%s", made.Bytes(), data)
		}
	})
}

// A message cannot be changed through the bytes that it gives away.
func TestBytesAreCopies(t *testing.T) {
	e, err := Parse(sign(t, sender(t), valid()))
	if err != nil {
		t.Fatal(err)
	}
	e.Bytes()[0] = 'x'
	if !jsontext.Value(e.Bytes()).IsValid() {
		t.Error(string(e.Bytes()))
	}
}
