package agentmsg

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wire is an envelope as it stands in JSON (§5). Reading it, a null is the
// zero value and so absent (E5); members that it does not have are ignored.
// Where an empty string would not be the same as none, there is a pointer.
type wire struct {
	V         string         `json:"v"`
	ID        string         `json:"id"`
	Type      Type           `json:"type"`
	TS        string         `json:"ts"`
	From      string         `json:"from"`
	To        *string        `json:"to,omitzero"`
	Trace     wireTrace      `json:"trace"`
	TaskID    *string        `json:"task_id,omitzero"`
	InReplyTo *string        `json:"in_reply_to,omitzero"`
	ContextID *string        `json:"context_id,omitzero"`
	Budget    jsontext.Value `json:"budget,omitzero"`
	Error     *Failure       `json:"error,omitzero"`
	Payload   payload        `json:"payload"`
	Artifacts []Artifact     `json:"artifacts,omitzero"`
	Meta      Meta           `json:"meta,omitzero"`
	Sig       signature      `json:"sig,omitzero"`
}

// signature is the member sig of an object. Read from canonical form it knows
// the place of the whole member, comma included, so that the text need not be
// gone through again for what was signed.
type signature struct {
	text       *string
	start, end int64
}

// UnmarshalJSONFrom reads sig behind its name. A comma stands before the name,
// since members that every object has are sorted before it; were it not there,
// nothing would verify.
func (s *signature) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	s.start = dec.InputOffset() - int64(len(`,"sig"`))
	err := json.UnmarshalDecode(dec, &s.text)
	s.end = dec.InputOffset()
	return err
}

// MarshalJSONTo writes sig.
func (s signature) MarshalJSONTo(enc *jsontext.Encoder) error { return json.MarshalEncode(enc, s.text) }

// IsZero tells that there is none.
func (s signature) IsZero() bool { return s.text == nil }

type wireTrace struct {
	TraceID      string  `json:"trace_id"`
	SpanID       string  `json:"span_id"`
	ParentSpanID *string `json:"parent_span_id,omitzero"`
}

// UnmarshalJSONFrom takes the members as they stand, in the one pass through the
// text that all of the envelope takes: what they hold is for the type to say.
// What is no object has none.
func (p *payload) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return dec.SkipValue()
	}
	type members payload
	return json.UnmarshalDecode(dec, (*members)(p))
}

var (
	versionForm = regexp.MustCompile(`^0\.[0-9]{1,9}(\.[0-9]{1,9})?$`)
	uuidForm    = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	traceForm   = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	spanForm    = regexp.MustCompile(`^[0-9a-fA-F]{16}$`)
	timeForm    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)
)

// fault says which member that every envelope has is not well formed; it is
// empty if all are.
func (w *wire) fault() string {
	_, timely := parseTime(w.TS)
	switch {
	case !versionForm.MatchString(w.V):
		return "v is not 0.x or 0.x.y"
	case !uuidForm.MatchString(w.ID):
		return "id is not a UUID"
	case w.Type == "":
		return "type is missing"
	case !timely:
		return "ts is not an RFC 3339 time"
	case !IsID(w.From):
		return "from is not an agent id"
	case !traceForm.MatchString(w.Trace.TraceID):
		return "trace.trace_id is not 32 hex digits"
	case !spanForm.MatchString(w.Trace.SpanID):
		return "trace.span_id is not 16 hex digits"
	case w.Trace.ParentSpanID != nil && !spanForm.MatchString(*w.Trace.ParentSpanID):
		return "trace.parent_span_id is not 16 hex digits"
	case !named(w.TaskID):
		return "task_id" + unnamed
	case !named(w.InReplyTo):
		return "in_reply_to" + unnamed
	case !named(w.ContextID):
		return "context_id" + unnamed
	case w.Sig.text == nil:
		return "sig is missing"
	}
	return ""
}

const unnamed = " is empty, longer than 256 bytes or has control characters"

// named tells whether an optional member is absent or a name. An empty one is
// neither (D108): a reader that takes it for absent and one that does not would see
// two messages.
func named(name *string) bool { return name == nil || isName(*name) }

// isName tells whether text is short and printable: it becomes a key of the
// store and a word of the log (D101).
func isName(text string) bool {
	return text != "" && len(text) <= maxName && !strings.ContainsFunc(text, unicode.IsControl)
}

// parseTime reads a ts (§5): RFC 3339, T and Z in either case, fractions cut
// to milliseconds. The library alone would take a comma and any offset.
func parseTime(text string) (time.Time, bool) {
	if !timeForm.MatchString(text) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	return t.UTC().Truncate(time.Millisecond), err == nil
}

// formatTime writes a time as §5 prefers it.
func formatTime(t time.Time) string {
	return t.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// present is a JSON value, nil for null (E5).
func present(value jsontext.Value) jsontext.Value {
	if value.Kind() == jsontext.KindNull {
		return nil
	}
	return value
}

// text is an optional string, empty where absent.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// optional is a string that is absent where empty.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
