package agentmsg

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Reason says why a task is canceled. There are eight, in this spelling only.
type Reason string

// The reasons of the offering task.cancel (§10.8).
const (
	ReasonUserRequested     Reason = "user_requested"
	ReasonSuperseded        Reason = "superseded"
	ReasonDeadlineExceeded  Reason = "deadline_exceeded"
	ReasonBudgetExhausted   Reason = "budget_exhausted"
	ReasonUpstreamCancelled Reason = "upstream_cancelled"
	ReasonPolicy            Reason = "policy"
	ReasonNeedsNotFurnished Reason = "needs_not_furnished"
	ReasonDependencyFailed  Reason = "dependency_failed"
)

func (r Reason) known() bool {
	return slices.Contains([]Reason{
		ReasonUserRequested, ReasonSuperseded, ReasonDeadlineExceeded, ReasonBudgetExhausted,
		ReasonUpstreamCancelled, ReasonPolicy, ReasonNeedsNotFurnished, ReasonDependencyFailed,
	}, r)
}

// Cancel is what a request for task.cancel asks. Empty is absent.
type Cancel struct {
	TaskID     string
	Reason     Reason
	Note       string // for people
	UnmetNeed  string // kind:value; with ReasonNeedsNotFurnished, and there only
	Dependency string // the service that failed; with ReasonDependencyFailed only
}

// cancelInput is the input of task.cancel as it stands in JSON.
type cancelInput struct {
	TaskID     *string `json:"task_id,omitzero"`
	Reason     Reason  `json:"reason"`
	Note       *string `json:"note,omitzero"`
	UnmetNeed  *string `json:"unmet_need,omitzero"`
	Dependency *string `json:"dependency,omitzero"`
}

// ErrCancel is returned for a cancel that breaks the rules of its offering; it
// is answered with InvalidEnvelope.
var ErrCancel = errors.New("not a valid cancel")

// needForm is the form of an unmet need. Which kinds there are the offering says.
var needForm = regexp.MustCompile(`^[a-z][a-z0-9_]*:.*\S`)

// ParseCancel reads a request for task.cancel. The task is that of the input,
// or of the envelope where the input names none; two that differ are refused
// (D106). Error: ErrCancel.
func ParseCancel(e *Envelope) (Cancel, error) {
	if e.Request == nil || e.Request.Offering != OfferingCancel {
		return Cancel{}, fmt.Errorf("%w: it asks for something else", ErrCancel)
	}
	return parseCancel(e.Request.Input, optional(e.TaskID))
}

// parseCancel reads the input of a cancel whose envelope names a task, or none.
func parseCancel(input jsontext.Value, task *string) (Cancel, error) {
	var in cancelInput
	if err := json.Unmarshal(input, &in); err != nil {
		return Cancel{}, fmt.Errorf("%w: the input is not of its form: %w", ErrCancel, err)
	}
	if in.TaskID == nil {
		in.TaskID = task
	}
	if task != nil && *task != *in.TaskID { // the one would be answered for, the other canceled
		return Cancel{}, fmt.Errorf("%w: it names two tasks", ErrCancel)
	}
	if fault := in.fault(); fault != "" {
		return Cancel{}, fmt.Errorf("%w: %s", ErrCancel, fault)
	}
	return Cancel{TaskID: *in.TaskID, Reason: in.Reason, Note: text(in.Note), UnmetNeed: text(in.UnmetNeed), Dependency: text(in.Dependency)}, nil
}

// fault says what is wrong with the input; it is empty if nothing is. A
// qualifier beside a reason that it does not belong to would be a claim about
// the other side that nobody weighs.
func (in *cancelInput) fault() string {
	switch {
	case in.TaskID == nil || !isName(*in.TaskID):
		return "task_id is missing, empty, longer than 256 bytes or has control characters"
	case !in.Reason.known():
		return "reason is none of the eight"
	case (in.UnmetNeed != nil) != (in.Reason == ReasonNeedsNotFurnished):
		return "unmet_need belongs to needs_not_furnished, which must have it"
	case in.UnmetNeed != nil && !(isName(*in.UnmetNeed) && needForm.MatchString(*in.UnmetNeed)):
		return "unmet_need is not kind:value"
	case in.Dependency != nil && in.Reason != ReasonDependencyFailed:
		return "dependency belongs to dependency_failed"
	case !named(in.Dependency):
		return "dependency" + unnamed
	}
	return ""
}

// Request is the request that asks for the cancel. Error: ErrCancel.
func (c Cancel) Request() (*Request, error) {
	input, err := canon.Marshal(cancelInput{
		TaskID: optional(c.TaskID), Reason: c.Reason, Note: optional(c.Note),
		UnmetNeed: optional(c.UnmetNeed), Dependency: optional(c.Dependency),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCancel, err)
	}
	if _, err := parseCancel(input, nil); err != nil {
		return nil, err
	}
	return &Request{Offering: OfferingCancel, Input: input}, nil
}

// Forward is the cancel of a task that was asked of another agent for the sake
// of the one that c cancels. Its note keeps why.
func (c Cancel) Forward(task string) Cancel {
	note := string(c.Reason)
	if c.Note != "" {
		note += ": " + c.Note
	}
	return Cancel{TaskID: task, Reason: ReasonUpstreamCancelled, Note: note}
}
