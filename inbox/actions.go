package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Action is what the agent or the owner wants sent. Which members an action
// may have depends on Type; one that has another is refused, and so is one
// whose To, Thread and Replaces do not name the same negotiation (D70).
type Action struct {
	Type   intent.Type `json:"type"`
	To     string      `json:"to,omitempty"`     // ask_quote, propose_times, request: the address that is asked
	Thread string      `json:"thread,omitempty"` // ask_quote, quote: the thread to go on with
	Ref    string      `json:"ref,omitempty"`    // accept, decline, cancel: the id of an offer or ask

	Items      []intent.Item `json:"items,omitempty"`
	WantedBy   string        `json:"wanted_by,omitempty"`
	Total      *intent.Money `json:"total,omitempty"`
	DeliveryBy string        `json:"delivery_by,omitempty"`
	Replaces   string        `json:"replaces,omitempty"` // quote, propose_times: the offer to counter
	Slots      []intent.Slot `json:"slots,omitempty"`
	Purpose    string        `json:"purpose,omitempty"`
	Location   string        `json:"location,omitempty"`
	Slot       *int          `json:"slot,omitzero"`
	Reason     string        `json:"reason,omitempty"`
	Note       string        `json:"note,omitempty"`

	ValidSeconds int64  `json:"valid_seconds,omitzero"` // from now to exp; 0 means seven days
	Event        string `json:"event,omitempty"`        // the number of the event this answers

	Once *Once `json:"-"` // nil: done each time it is asked for

	// Of Agent Emailing.
	Agent    string            `json:"agent,omitempty"`    // request: agent id, where its name card does not say it; respond: whose request it is
	Offering string            `json:"offering,omitempty"` // request
	Input    jsontext.Value    `json:"input,omitempty"`    // request
	Output   jsontext.Value    `json:"output,omitempty"`   // respond
	Text     string            `json:"text,omitempty"`     // request, respond: short for an input or output of {"text": …}
	Files    []string          `json:"files,omitempty"`    // request, respond: paths that the daemon can read
	Request  string            `json:"request,omitempty"`  // respond: the id of the request, where no event says it
	Status   agentmsg.Status   `json:"status,omitempty"`   // respond; empty: completed
	Error    *agentmsg.Failure `json:"error,omitempty"`    // respond
	Task     string            `json:"task,omitempty"`     // request: the task to go on with; cancel_task

	UnmetNeed  string `json:"unmet_need,omitempty"` // cancel_task with needs_not_furnished: kind:value
	Dependency string `json:"dependency,omitempty"` // cancel_task with dependency_failed: the service that failed
}

func (a *Action) isExchange() bool {
	return a.Type == ActRequest || a.Type == ActRespond || a.Type == ActCancelTask
}

// members are those that the actions of each type may have beside type and
// event, and in a negotiation note and valid_seconds.
var members = map[intent.Type][]string{
	intent.AskQuote:     {"to", "thread", "items", "wanted_by"},
	intent.Quote:        {"thread", "replaces", "items", "total", "delivery_by"},
	intent.ProposeTimes: {"to", "replaces", "slots", "purpose", "location"},
	intent.Accept:       {"ref", "slot"},
	intent.Decline:      {"ref", "reason"},
	intent.Cancel:       {"ref"},

	ActRequest:    {"to", "agent", "offering", "input", "text", "files", "task"},
	ActRespond:    {"agent", "request", "status", "output", "text", "files", "error"},
	ActCancelTask: {"task", "reason", "note", "unmet_need", "dependency"},
}

// defaultValid is how long a message is valid when the action does not say.
const defaultValid = 7 * 24 * time.Hour

// MaxValid is how long the message of an action may be valid at most (D71).
const MaxValid = 366 * 24 * time.Hour

// ErrAction is wrapped by every refusal of Do that the caller can mend: a
// member missing, unknown or not allowed, or a thread whose state does not
// allow the action (which is threads.ErrState too).
var ErrAction = errors.New("action cannot be done")

func cannot(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrAction, fmt.Errorf(format, args...))
}

// ErrUnknown is wrapped, beside ErrAction, when what is named is not here.
var ErrUnknown = errors.New("not here")

func unknown(format string, args ...any) error { return &unknownError{cannot(format, args...)} }

type unknownError struct{ error }

// Is makes it an ErrUnknown without showing the words.
func (*unknownError) Is(target error) bool { return target == ErrUnknown }

// Unwrap gives the error itself.
func (e *unknownError) Unwrap() error { return e.error }

// check refuses what is wrong in itself, whatever state the thread is in. The
// form of the members is looked at when the message is sealed.
func (a *Action) check(now time.Time) error {
	if err := a.checkMembers(); err != nil {
		return err
	}
	// Compared in seconds: as a Duration, a large number would wrap.
	if most := int64(MaxValid / time.Second); a.ValidSeconds < 0 || a.ValidSeconds > most {
		return cannot("valid_seconds: must be from 1 to %d (366 days), is %d", most, a.ValidSeconds)
	}
	if err := checkDays(now, map[string]string{"wanted_by": a.WantedBy, "delivery_by": a.DeliveryBy}); err != nil {
		return err
	}
	for i, slot := range a.Slots {
		if start, _, err := slot.Times(); err == nil && !start.After(now) { // D69
			return cannot("slots[%d].start: %s has passed: propose a time to come", i, slot.Start)
		}
	}
	return nil
}

// checkMembers refuses members that the type does not have.
func (a *Action) checkMembers() error {
	allowed, ok := members[a.Type]
	if !ok {
		return cannot("type: %q is none of ask_quote, quote, propose_times, accept, decline, cancel, request, respond and cancel_task", a.Type)
	}
	text, err := json.Marshal(a)
	if err != nil {
		return cannot("%w", err)
	}
	var set map[string]jsontext.Value
	if err := json.Unmarshal(text, &set); err != nil {
		return cannot("%w", err)
	}
	everywhere := []string{"type", "event", "note", "valid_seconds"}
	if a.isExchange() {
		everywhere = everywhere[:2]
	}
	var foreign []string
	for name := range set {
		if !slices.Contains(allowed, name) && !slices.Contains(everywhere, name) {
			foreign = append(foreign, name)
		}
	}
	for i, item := range a.Items {
		if item.UnitPrice != nil && a.Type == intent.AskQuote {
			foreign = append(foreign, fmt.Sprintf("items[%d].unit_price", i))
		}
	}
	if len(foreign) > 0 {
		slices.Sort(foreign)
		return cannot("%s: leave it out, no %s has it", strings.Join(foreign, ", "), a.Type)
	}
	return nil
}

// checkDays refuses a day that is over everywhere, at UTC-12 last (D69).
func checkDays(now time.Time, days map[string]string) error {
	for name, day := range days {
		if begin, err := time.Parse(time.DateOnly, day); err == nil && !begin.Add(36*time.Hour).After(now) {
			return cannot("%s: %s has passed: name a day to come, or leave it out", name, day)
		}
	}
	return nil
}
