package record

import "context"

// Result is what came of a check.
type Result string

// The results (profile: "Results of a check"), and NotMade: a key page or DNS gave no answer.
const (
	TwoSigned       Result = "two_signatures"
	OneSigned       Result = "one_signature"
	ReplyRecorded   Result = "their_reply"
	DoesNotCheckOut Result = "does_not_check_out"
	NotMade         Result = "not_made"
)

// Code is the kind of a failure (D50).
type Code string

// The codes, in the order of the steps that give them.
const (
	CodeSize      Code = "size"
	CodeJSON      Code = "json"
	CodeProfile   Code = "profile"
	CodeSchema    Code = "schema"
	CodeSignature Code = "signature"
	CodeCanonical Code = "canonical"
	CodeHash      Code = "hash"
	CodeChain     Code = "chain"
	CodeBinding   Code = "binding"
	CodeTerms     Code = "terms"
	CodeReplaced  Code = "replaced"
	CodeLate      Code = "late"
	CodeTrust     Code = "trust"
	CodeKid       Code = "kid"
	CodeRevoked   Code = "revoked"
	CodeRetired   Code = "retired"
	CodeSeal      Code = "seal"
	CodeKind      Code = "kind"
)

// StepResult is what came of one step.
type StepResult string

// The results of a step. A step is skipped when there is nothing for it to look at, or one that it needs did not pass.
const (
	Pass    StepResult = "pass"
	Fail    StepResult = "fail"
	Skipped StepResult = "skipped"
)

// Report is the outcome of a check; its JSON is described in docs/records.md.
type Report struct {
	Result   Result   `json:"result"`
	Code     Code     `json:"code"`   // "" unless it does not check out
	Reason   string   `json:"reason"` // plain words, "" where it checks out
	Warnings []string `json:"warnings"`
	Steps    []Step   `json:"steps"` // all of them, in the order of the check
}

// Step is one rule of the check.
type Step struct {
	Name     string     `json:"step"`
	Result   StepResult `json:"result"`
	Compared string     `json:"compared"` // what was compared, for people; holds no text of the record but hashes, ids and addresses
}

// ChecksOut tells whether the record is good for what its kind says.
func (r *Report) ChecksOut() bool { return r.Result != DoesNotCheckOut && r.Result != NotMade }

// Unread is the report on a record that could not be read at all, or is too large to be: size tells the two apart.
func Unread(size int64, reason string) Report {
	c := newCheck(nil, KeySource{}, nil)
	c.size = size
	c.run(context.Background(), "size")
	report := c.finish()
	if report.Code != CodeSize {
		report.Result, report.Code, report.Reason = NotMade, "", reason
		report.Steps[0] = Step{"size", Skipped, "the record could not be read"}
	}
	return report
}
