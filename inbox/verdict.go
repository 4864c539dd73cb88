package inbox

import (
	"github.com/agentmaild/agentmaild/envelope/intent"
)

// Verdict is what becomes of a delivered mail.
type Verdict string

// The verdicts (conformance format).
const (
	Accepted  Verdict = "accepted"  // processed: the thread changed
	Held      Verdict = "held"      // valid, waits for the owner
	Plain     Verdict = "plain"     // a normal email
	Refused   Verdict = "refused"   // a message of the profile that may not count
	Duplicate Verdict = "duplicate" // the same message again
	Parked    Verdict = "parked"    // waits for the message it answers
	Retry     Verdict = "retry"     // DNS or a key page cannot be reached for now
)

// Code names the check that a mail failed, in the order of the checks.
type Code string

// The codes of Plain and Refused (section 4 of the profile's reading).
const (
	CodeNone     Code = "none"
	CodeSize     Code = "size"
	CodeJSON     Code = "json"
	CodeSchema   Code = "schema"
	CodeFrom     Code = "from"
	CodeDKIM     Code = "dkim"
	CodeUnsigned Code = "unsigned" // D43
	CodeTo       Code = "to"
	CodeExpired  Code = "expired"
	CodeReplay   Code = "replay"
	CodePrev     Code = "prev"
	CodeJWS      Code = "jws"
	CodeState    Code = "state"
	CodeOverfull Code = "overfull" // its sender's share of the store is taken (D72)
)

// Signature is what is known of a message's JWS.
type Signature string

// The results of the signature; "" where a mail did not get that far.
const (
	Signed    Signature = "signed"
	MailOnly  Signature = "mail_only" // no JWS
	Unchecked Signature = "unchecked" // a JWS that could not be checked
	Invalid   Signature = "invalid"   // a JWS that is wrong
)

// Warnings that come with a verdict (D42).
const (
	WarnRevokedLater = "key_revoked_later"
	WarnRetired      = "key_retired"
	WarnAgentOf      = "agent_of_mismatch" // tells, holds nothing
)

// Result is the outcome of one delivery.
type Result struct {
	Verdict   Verdict     `json:"verdict"`
	Code      Code        `json:"code,omitempty"`
	Reason    string      `json:"reason,omitempty"` // plain words, chosen here
	Signature Signature   `json:"signature,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
	Type      intent.Type `json:"type,omitempty"`
	Thread    string      `json:"thread,omitempty"`
	ID        string      `json:"id,omitempty"`
	Exchange  *Exchange   `json:"exchange,omitempty"` // of a message of Agent Emailing
}

func plain(code Code, reason string) Result {
	return Result{Verdict: Plain, Code: code, Reason: reason}
}

func refused(code Code, reason string) Result {
	return Result{Verdict: Refused, Code: code, Reason: reason}
}
