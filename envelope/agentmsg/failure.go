package agentmsg

import "github.com/go-json-experiment/json/jsontext"

// Failure is the member error of a respond.
type Failure struct {
	Code         ErrorCode      `json:"code"`
	Message      string         `json:"message,omitzero"` // the sender's words, for people
	Details      jsontext.Value `json:"details,omitzero"`
	Retryable    bool           `json:"retryable,omitzero"`
	RetryAfterMS float64        `json:"retry_after_ms,omitzero"` // milliseconds
}

// ErrorCode says why a request was not done. Other agents have others.
type ErrorCode string

// The error codes that are answered from here.
const (
	InvalidEnvelope   ErrorCode = "INVALID_ENVELOPE"
	OfferingNotFound  ErrorCode = "OFFERING_NOT_FOUND"
	ContextTooLarge   ErrorCode = "CONTEXT_TOO_LARGE"
	TaskNotFound      ErrorCode = "TASK_NOT_FOUND"
	TaskNotCancelable ErrorCode = "TASK_NOT_CANCELABLE"
	SealingRequired   ErrorCode = "SEALING_REQUIRED"
)

// Fail is the failure for one of our codes, in fixed words: nothing of a
// request goes back in its refusal. None of them is worth trying again as it
// is.
func Fail(code ErrorCode) *Failure {
	return &Failure{Code: code, Message: map[ErrorCode]string{
		InvalidEnvelope:   "The request is not one that this agent can read.",
		OfferingNotFound:  "This agent does not offer that.",
		ContextTooLarge:   "The text is longer than 65536 UTF-16 units.",
		TaskNotFound:      "There is no such task between you and this agent.",
		TaskNotCancelable: "The task has ended already.",
		SealingRequired:   "This agent takes sealed requests only.",
	}[code]}
}
