package api

import (
	"errors"
	"net/http"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/threads"
)

// code names a problem for programs. It stays what it is.
type code string

const (
	codeBadRequest   code = "bad_request"
	codeUnauthorized code = "unauthorized"
	codeForbidden    code = "forbidden"
	codeLimits       code = "limits" // the owner's limits forbid it, and the owner is not asked
	codeNotFound     code = "not_found"
	codeMethod       code = "method_not_allowed"
	codeGone         code = "gone"  // it was here
	codeState        code = "state" // the thread's state does not allow it
	codeTooLarge     code = "too_large"
	codeMediaType    code = "media_type"
	codeAction       code = "action" // it cannot be done as it is asked for
	codeReused       code = "idempotency_key_reused"
	codeBusy         code = "busy" // too much at once: later
	codeInternal     code = "internal"
)

// problem is the body of every answer that is no success (RFC 9457). Its type is that of its status; code tells more.
type problem struct {
	Type   string        `json:"type"`
	Title  string        `json:"title"`
	Status int           `json:"status"`
	Detail string        `json:"detail"`
	Code   code          `json:"code"`
	Rules  []limits.Rule `json:"rules,omitempty"` // with the code limits
}

// refusal is a problem that is made here.
type refusal struct {
	status int
	code   code
	detail string
	header [2]string // name and value of a field that goes with it; empty: none
}

// Error is for people.
func (r *refusal) Error() string { return r.detail }

func bad(detail string) error {
	return &refusal{status: http.StatusBadRequest, code: codeBadRequest, detail: detail}
}

// tooMuch is the refusal of what may be asked for later.
func tooMuch(status int, detail string) error {
	return &refusal{status: status, code: codeBusy, detail: detail, header: [2]string{"Retry-After", "10"}}
}

// fail answers with a problem. What the caller cannot mend is told to the log, not to the caller.
func (h *Handler) fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	if p.Code == codeInternal {
		h.Log.Error("a request over the API failed", "error", err)
	}
	var r *refusal
	if errors.As(err, &r) && r.header[0] != "" {
		w.Header().Set(r.header[0], r.header[1])
	}
	switch p.Status { // who is not answered may not keep a place that the owner's browser would find taken
	case http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Connection", "close")
	}
	h.send(w, p.Status, "application/problem+json", p)
}

// problemOf is an error as it is told.
func problemOf(err error) problem {
	status, code, detail := http.StatusInternalServerError, codeInternal, "the daemon failed to do it; its log says why"
	var rules []limits.Rule
	var r *refusal
	var large *http.MaxBytesError
	var limited *inbox.LimitsError
	switch {
	case errors.As(err, &r):
		status, code, detail = r.status, r.code, r.detail
	case errors.As(err, &large):
		status, code, detail = http.StatusRequestEntityTooLarge, codeTooLarge, "the body is too large: 1 MiB is the most"
	case errors.As(err, &limited):
		status, code, detail, rules = http.StatusForbidden, codeLimits, err.Error(), limited.Rules
	case errors.Is(err, inbox.ErrReused):
		status, code, detail = http.StatusUnprocessableEntity, codeReused, "this Idempotency-Key was used for another action: take a new key for a new action"
	case errors.Is(err, inbox.ErrUnknown):
		status, code, detail = http.StatusNotFound, codeNotFound, err.Error()
	case errors.Is(err, inbox.ErrGone):
		status, code, detail = http.StatusGone, codeGone, err.Error()
	case errors.Is(err, threads.ErrState):
		status, code, detail = http.StatusConflict, codeState, err.Error()
	case errors.Is(err, inbox.ErrAction):
		status, code, detail = http.StatusUnprocessableEntity, codeAction, err.Error()
	}
	return problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code, Rules: rules}
}
