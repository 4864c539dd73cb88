package agentmsg

// Code says which rule a message breaks; the empty code is none. Only
// CodeTooLarge is ever answered (§22).
type Code string

// The codes of the rules that need nothing but the message, the receiver's id
// and the time.
const (
	CodeJSON         Code = "json"         // not a well-formed envelope
	CodeSignature    Code = "signature"    // not signed by from
	CodeType         Code = "type"         // neither request nor respond
	CodeStale        Code = "stale"        // signed more than seven days ago
	CodeFuture       Code = "future"       // signed more than five minutes ahead
	CodeMisaddressed Code = "misaddressed" // for another agent
	CodeTooLarge     Code = "too_large"    // more than MaxText UTF-16 units of text
	CodeHops         Code = "hops"         // relayed more than three times
)

// Refusal is the error of Parse. Its text holds nothing that the sender wrote;
// the error it wraps may.
type Refusal struct {
	Code   Code
	Reason string
	cause  error
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Reason }

// Unwrap is the error of the JSON reader, where there is one.
func (r *Refusal) Unwrap() error { return r.cause }
