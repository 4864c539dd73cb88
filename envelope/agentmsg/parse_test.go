package agentmsg

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type object = map[string]any

// valid is the members of a good request, to be broken one at a time and
// signed by the sender of the vectors.
func valid() object {
	return object{
		"v": "0.2.0", "id": "019894f0-0000-7000-8000-000000000001", "type": "request", "ts": "2026-07-26T12:00:00.000Z",
		"from":    "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP",
		"to":      "UAKQRYZBYFOC65OQZVJ3QPCIERDTRNNZPMOJUYXC3DGPRCDWSKD4HV5A",
		"trace":   object{"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"},
		"payload": object{"offering": "chat", "input": object{"text": "hello"}},
	}
}

// validRespond is the members of a good update of a task.
func validRespond() object {
	m := valid()
	m["type"], m["in_reply_to"], m["task_id"] = "respond", m["id"], "task-1"
	m["payload"] = object{"status": "working", "output": object{"text": "half done"}}
	return m
}

// unsigned is an object in canonical form without its sig.
func unsigned(t testing.TB, data []byte) []byte {
	t.Helper()
	var m object
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "sig")
	rest, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return rest
}

// set puts a value at a path such as payload/files; nil deletes.
func set(m object, path string, value any) {
	names := strings.Split(path, "/")
	for _, name := range names[:len(names)-1] {
		m = m[name].(object)
	}
	if last := names[len(names)-1]; value == nil {
		delete(m, last)
	} else {
		m[last] = value
	}
}

// null is what set puts for a null, nil being taken.
var null = jsontext.Value("null")

// codeOf is the code of a refusal; it is empty if err is none.
func codeOf(err error) Code {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Code
	}
	return ""
}

type mutation struct {
	path  string
	value any
}

func TestParseReads(t *testing.T) {
	m := valid()
	set(m, "task_id", "task-1")
	set(m, "in_reply_to", "019894f0-0000-7000-8000-000000000000")
	set(m, "context_id", "ctx")
	set(m, "trace/parent_span_id", "00f067aa0ba902b8")
	set(m, "budget", object{"max": 3.0})
	set(m, "meta", object{
		"hops": 1, "email": object{"address": "agent@buyer.test"},
		"bridge": object{"address": "ann@buyer.test", "domain": "buyer.test", "auth": "dkim"},
	})
	set(m, "payload/config", object{"b": 1, "a": 2})
	set(m, "payload/files", []any{object{"name": "a.txt", "media_type": "text/plain", "size": 3, "digest": "sha256:00", "ref": "cid:1"}, object{"uri": "https://x.test"}})
	got, err := Parse(sign(t, sender(t), m))
	if err != nil {
		t.Fatal(err)
	}
	want := &Envelope{
		ID: "019894f0-0000-7000-8000-000000000001", Type: TypeRequest, Time: noon, From: m["from"].(string), To: m["to"].(string),
		Trace:  Trace{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "00f067aa0ba902b8"},
		TaskID: "task-1", InReplyTo: "019894f0-0000-7000-8000-000000000000", ContextID: "ctx", Budget: []byte(`{"max":3}`),
		Meta: Meta{Hops: 1, Email: EmailMeta{"agent@buyer.test"}, Bridge: &Bridge{"ann@buyer.test", "buyer.test", "dkim"}},
		Request: &Request{Offering: "chat", Input: []byte(`{"text":"hello"}`), Config: []byte(`{"a":2,"b":1}`), Files: []File{
			{Name: "a.txt", MediaType: "text/plain", Size: 3, Digest: "sha256:00", Ref: "cid:1"}, {URI: "https://x.test"},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Envelope{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Request.Files, got.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestParseReadsRespond(t *testing.T) {
	m := validRespond()
	set(m, "artifacts", []any{object{"id": "a", "name": "n", "media_type": "x/y", "parts": []any{
		object{"text": "words"},
		object{"data": object{"b": 1, "a": 1}},
		object{"ref": "cid:f", "media_type": "text/plain", "size": 5, "digest": "sha256:ff", "name": "f.txt"},
		object{"data": nil},
	}}, object{"parts": []any{object{"uri": "https://x.test"}}}})
	set(m, "error", object{"code": "BUSY", "message": "later", "details": object{"n": 1}, "retryable": true, "retry_after_ms": 1500})
	got, err := Parse(sign(t, sender(t), m))
	if err != nil {
		t.Fatal(err)
	}
	file := File{Name: "f.txt", MediaType: "text/plain", Size: 5, Digest: "sha256:ff", Ref: "cid:f"}
	want := &Respond{
		Status: StatusWorking, Output: []byte(`{"text":"half done"}`),
		Artifacts: []Artifact{
			{ID: "a", Name: "n", MediaType: "x/y", Parts: []Part{{Text: "words"}, {Data: []byte(`{"a":1,"b":1}`)}, {File: file}, {}}},
			{Parts: []Part{{File: File{URI: "https://x.test"}}}},
		},
		Error: &Failure{Code: "BUSY", Message: "later", Details: []byte(`{"n":1}`), Retryable: true, RetryAfterMS: 1500},
	}
	if diff := cmp.Diff(want, got.Respond); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]File{file, {URI: "https://x.test"}}, got.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestParseAccepts(t *testing.T) {
	i := sender(t)
	long := strings.Repeat("n", maxName)
	for _, tc := range []mutation{
		{"v", "0.2"},
		{"v", "0.10.3"},
		{"id", "019894F0-0000-4000-8000-00000000000A"}, // v7 is preferred only
		{"ts", "2026-07-26t12:00:00z"},
		{"ts", "2026-07-26T12:00:00.123456789123Z"},
		{"ts", "2026-07-27T11:59:00+23:59"},
		{"to", nil},
		{"to", null},     // E5
		{"to", "nobody"}, // a matter of Addressing
		{"trace/parent_span_id", null},
		{"trace/more", 1},
		{"task_id", long},
		{"task_id", null},
		{"meta", null},
		{"meta", object{"hops": null, "email": null, "bridge": null, "more": 1}},
		{"error", null},
		{"artifacts", null},
		{"budget", null},
		{"payload", object{"skill": "chat"}},
		{"payload", object{"skill": "chat", "offering": "chat"}},
		{"payload", object{"skill": null, "offering": "chat", "input": null, "config": null, "files": null}},
		{"payload", object{"offering": "chat", "input": "text alone"}},
		{"extra", object{"more": []any{null}}},
	} {
		m := valid()
		set(m, tc.path, tc.value)
		if _, err := Parse(sign(t, i, m)); err != nil {
			t.Errorf("%s = %v: %v", tc.path, tc.value, err)
		}
	}
	for _, tc := range []mutation{
		{"payload/status", "accepted"},
		{"payload/output", null},
		{"artifacts", []any{object{"parts": null}}},
		{"error", object{"code": "X", "details": null, "message": null}},
	} {
		m := validRespond()
		set(m, tc.path, tc.value)
		if _, err := Parse(sign(t, i, m)); err != nil {
			t.Errorf("respond, %s = %v: %v", tc.path, tc.value, err)
		}
	}
	for _, status := range []Status{StatusAccepted, StatusCompleted, StatusFailed, StatusCanceled, StatusRejected, StatusExhausted} {
		m := validRespond()
		set(m, "task_id", nil)
		set(m, "payload/status", string(status))
		if _, err := Parse(sign(t, i, m)); err != nil {
			t.Errorf("bare, %s: %v", status, err)
		}
	}
}

// A null is read as if it were not there (E5), wherever a JSON value is kept.
func TestParseNulls(t *testing.T) {
	m := validRespond()
	set(m, "budget", null)
	set(m, "payload/output", null)
	set(m, "artifacts", []any{object{"parts": []any{object{"data": null}}}})
	set(m, "error", object{"code": "X", "details": null})
	e, err := Parse(sign(t, sender(t), m))
	if err != nil || e.Budget != nil || e.Respond.Output != nil || e.Respond.Artifacts[0].Parts[0].Data != nil || e.Respond.Error.Details != nil {
		t.Errorf("%+v, %v", e, err)
	}
	m = valid()
	set(m, "payload/input", null)
	set(m, "payload/config", null)
	if e, err = Parse(sign(t, sender(t), m)); err != nil || e.Request.Input != nil || e.Request.Config != nil {
		t.Errorf("%+v, %v", e, err)
	}
}

// Each case is the baseline with one thing wrong, signed as it stands.
func TestParseRefuses(t *testing.T) {
	i := sender(t)
	long := strings.Repeat("n", maxName+1)
	many := make([]any, maxList+1)
	for n := range many {
		many[n] = object{}
	}
	requests := []mutation{
		{"v", nil},
		{"v", 0.2},
		{"v", "1.0"},
		{"v", "0."},
		{"v", "0.2.0.1"},
		{"v", "0.2\n"},
		{"id", nil},
		{"id", null},
		{"id", "019894f0000070008000000000000001"},
		{"id", "019894f0-0000-7000-8000-00000000000g"},
		{"type", nil},
		{"type", ""},
		{"type", 1},
		{"ts", nil},
		{"ts", ""},
		{"ts", "2026-07-26 12:00:00Z"},
		{"ts", "2026-07-26T12:00:00"},
		{"ts", "2026-07-26T12:00:00,5Z"},
		{"ts", "2026-07-26T12:00:00.Z"},
		{"ts", "2026-07-26T12:00:60Z"},
		{"ts", "2026-02-30T12:00:00Z"},
		{"ts", "2026-07-26T12:00:00+24:00"},
		{"ts", "2026-07-26T12:00:00+01"},
		{"ts", 1785067200000},
		{"from", nil},
		{"from", "agent"},
		{"to", 1},
		{"to", []any{}},
		{"trace", nil},
		{"trace", "x"},
		{"trace/trace_id", nil},
		{"trace/trace_id", "4bf92f3577b34da6a3ce929d0e0e473"},
		{"trace/trace_id", "4bf92f3577b34da6a3ce929d0e0e473g"},
		{"trace/span_id", nil},
		{"trace/span_id", "00f067aa0ba902b70"},
		{"trace/parent_span_id", ""},
		{"trace/parent_span_id", "00f067aa0ba902b"},
		{"task_id", ""},
		{"task_id", long},
		{"task_id", "a\nb"},
		{"task_id", 7},
		{"in_reply_to", ""},
		{"context_id", "\x1b[2J"},
		{"meta", "x"},
		{"meta", object{"hops": "4"}},
		{"meta", object{"email": "a@b.test"}},
		{"payload", nil},
		{"payload", null},
		{"payload", "text"},
		{"payload", []any{}},
		{"payload/offering", nil},
		{"payload/offering", ""},
		{"payload/offering", long},
		{"payload/offering", "cha\tt"},
		{"payload/offering", 1},
		{"payload/skill", "knock"},
		{"payload/skill", ""},
		{"payload/skill", "Chat"},
		{"payload/files", object{}},
		{"payload/files", many},
		{"payload/files", []any{object{"size": 1.5}}},
		{"payload/files", []any{object{"size": "1"}}},
		{"payload/files", []any{object{"size": 1e30}}},
		{"payload/files", []any{"a.txt"}},
	}
	responds := []mutation{
		{"in_reply_to", nil},
		{"in_reply_to", null},
		{"payload/status", nil},
		{"payload/status", "done"},
		{"payload/status", "Working"},
		{"task_id", nil}, // working on nothing
		{"error", object{}},
		{"error", object{"code": ""}},
		{"error", object{"code": "A\nB"}},
		{"error", "failed"},
		{"artifacts", many},
		{"artifacts", object{}},
		{"artifacts", []any{object{"parts": many}}},
		{"artifacts", []any{object{"parts": []any{object{"text": 1}}}}},
	}
	try := func(kind string, baseline func() object, list []mutation) {
		for _, tc := range list {
			m := baseline()
			set(m, tc.path, tc.value)
			e, err := Parse(sign(t, i, m))
			if codeOf(err) != CodeJSON || e != nil {
				t.Errorf("%s, %s = %.40v: %v, want %s", kind, tc.path, tc.value, err, CodeJSON)
			}
		}
	}
	try("request", valid, requests)
	try("respond", validRespond, responds)
}

// What is no strict JSON is refused before anything of it is believed.
func TestParseRefusesText(t *testing.T) {
	good := string(sign(t, sender(t), valid()))
	for name, data := range map[string]string{
		"nothing":          "",
		"a string":         `"x"`,
		"a list":           `[` + good + `]`,
		"null":             `null`,
		"a member twice":   strings.Replace(good, `"type"`, `"from":"x","type"`, 1),
		"a mark":           "\ufeff" + good,
		"bad UTF-8":        strings.Replace(good, "hello", "hel\xff", 1),
		"a lone surrogate": strings.Replace(good, "hello", `\ud800`, 1),
		"text behind":      good + "x",
		"cut off":          good[:len(good)-1],
		"no double":        strings.Replace(good, `"hello"`, "1e400", 1),
		"33 levels":        strings.Replace(good, `"hello"`, strings.Repeat("[", maxDepth-2)+strings.Repeat("]", maxDepth-2), 1),
		"too long":         good + strings.Repeat(" ", MaxEnvelope),
	} {
		if e, err := Parse([]byte(data)); codeOf(err) != CodeJSON || e != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := valid()
	set(m, "payload/input/text", jsontext.Value(strings.Repeat("[", maxDepth-3)+strings.Repeat("]", maxDepth-3)))
	if _, err := Parse(sign(t, sender(t), m)); err != nil {
		t.Errorf("32 levels: %v", err)
	}
	if _, err := Parse([]byte(good + strings.Repeat("\n", MaxEnvelope-len(good)))); err != nil {
		t.Errorf("1 MiB: %v", err)
	}
}

func TestParseSignature(t *testing.T) {
	i := sender(t)
	good := sign(t, i, valid())
	e, err := Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	var m object
	if err := json.Unmarshal(good, &m); err != nil {
		t.Fatal(err)
	}
	sig := m["sig"].(string)
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := unsigned(t, good)
	untagged, err := i.sign("", unsigned)
	if err != nil {
		t.Fatal(err)
	}
	roster, err := i.sign(tagRoster, unsigned)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	last := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", sig[85])
	for name, tc := range map[string]struct {
		path  string
		value any
		code  Code
	}{
		"no sig":                 {"sig", nil, CodeJSON},
		"null":                   {"sig", null, CodeJSON},
		"a number":               {"sig", 1, CodeJSON},
		"empty":                  {"sig", "", CodeSignature},
		"padded":                 {"sig", sig + "==", CodeSignature},
		"standard alphabet":      {"sig", base64.RawStdEncoding.EncodeToString(raw), CodeSignature},
		"a line break in it":     {"sig", sig[:40] + "\n" + sig[40:], CodeSignature},
		"unused bits":            {"sig", sig[:85] + string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[last|1]), CodeSignature},
		"63 bytes":               {"sig", encode(raw[:63]), CodeSignature},
		"S not reduced":          {"sig", encode(plusOrder(raw)), CodeSignature},
		"untagged":               {"sig", encode(untagged), CodeSignature},
		"the tag of a roster":    {"sig", encode(roster), CodeSignature},
		"another value":          {"payload/input/text", "Hello", CodeSignature},
		"another sender":         {"from", readVectors(t).Identities.ThirdParty, CodeSignature},
		"one more member":        {"extra", 1, CodeSignature},
		"a null that was not":    {"context_id", null, CodeSignature},
		"a member less":          {"to", nil, CodeSignature},
		"a type that is not one": {"type", "event", CodeSignature}, // looked at before the type
	} {
		t.Run(name, func(t *testing.T) {
			var m object
			if err := json.Unmarshal(good, &m); err != nil {
				t.Fatal(err)
			}
			set(m, tc.path, tc.value)
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if e, err := Parse(data); codeOf(err) != tc.code || e != nil {
				t.Errorf("%v, want %s", err, tc.code)
			}
		})
	}
	t.Run("other bytes, the same values", func(t *testing.T) {
		for _, data := range []string{
			strings.ReplaceAll(string(good), `,"`, ",\r\n\t\""),
			strings.Replace(string(good), "hello", `\u0068ello`, 1),
			`{"sig":"` + sig + `",` + string(unsigned[1:]),
		} {
			other, err := Parse([]byte(data))
			if err != nil || !bytes.Equal(other.Bytes(), e.Bytes()) {
				t.Errorf("%v: %s", err, data)
			}
		}
	})
}

// plusOrder adds the order of the group to S: the same equation holds.
func plusOrder(signature []byte) []byte {
	order := []byte{
		0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
	}
	sum, carry := bytes.Clone(signature), 0
	for n, b := range order {
		carry += int(sum[32+n]) + int(b)
		sum[32+n], carry = byte(carry), carry>>8
	}
	return sum
}

func TestParseType(t *testing.T) {
	for _, kind := range []string{"event", "REQUEST", "request ", "stream"} {
		m := valid()
		m["type"] = kind
		delete(m, "payload") // whatever it holds there
		if e, err := Parse(sign(t, sender(t), m)); codeOf(err) != CodeType || e != nil {
			t.Errorf("%q: %v", kind, err)
		}
	}
}

// An identity that nobody needs a key for signs nothing.
func TestParseKeyOfSmallOrder(t *testing.T) {
	m := valid()
	m["from"] = idOf(t, append([]byte{1}, make([]byte, 31)...))
	m["sig"] = base64.RawURLEncoding.EncodeToString(append([]byte{1}, make([]byte, 63)...))
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(data); codeOf(err) != CodeSignature {
		t.Error(err)
	}
}

// The words of a refusal are ours; the sender's are in none of them.
func TestRefusalWords(t *testing.T) {
	const evil = "ev1l"
	for _, tc := range []mutation{
		{"type", object{evil: evil}},
		{"id", evil},
		{"payload/offering", evil + "\n"},
		{"payload/files", []any{object{"size": evil}}},
		{"payload/input", jsontext.Value(`{"` + evil + `": 1, "` + evil + `": 1}`)},
	} {
		m := valid()
		set(m, tc.path, tc.value)
		data, err := json.Marshal(m, jsontext.AllowDuplicateNames(true))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(data)
		if err == nil || strings.Contains(err.Error(), evil) || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%s: %v", tc.path, err)
		}
	}
	_, err := Parse([]byte("{"))
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Unwrap() == nil {
		t.Errorf("no cause: %v", err)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-07-26T12:00:00.9999Z":          noon.Add(999 * time.Millisecond), // cut, not rounded
		"2026-07-26T14:30:00+02:30":          noon,
		"2026-07-25T12:01:00-23:59":          noon,
		"2026-07-26T12:00:00.0000000000001z": noon,
	} {
		if got, ok := parseTime(text); !ok || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
}
