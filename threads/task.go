package threads

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// MaxUpdates is how many updates the history of a task holds. Beyond it one
// more is taken, if it ends the task (D111).
const MaxUpdates = 256

// Task is work that one agent asked of another.
type Task struct {
	ID      string          `json:"id"`
	Asker   string          `json:"asker"` // agent id
	Asked   string          `json:"asked"` // agent id
	State   agentmsg.Status `json:"state"` // the fold of Updates (E1)
	Updates []Update        `json:"updates,omitempty"`
}

// Update is one signed word on the state of a task.
type Update struct {
	ID    string          `json:"id"`   // of its envelope
	From  string          `json:"from"` // agent id
	TS    int64           `json:"ts"`   // when it was signed, Unix milliseconds
	State agentmsg.Status `json:"state"`
}

// TaskEffect tells what an update did to its task.
type TaskEffect string

// The effects of an update.
const (
	Advanced  TaskEffect = "advanced"  // it is the latest, and the task is where it says
	Corrected TaskEffect = "corrected" // it came late, and the task stands elsewhere than was believed (E1)
	Noted     TaskEffect = "noted"     // it stands in the history, and the state is as it was
	Known     TaskEffect = "known"     // the same message again: nothing changed
)

// What UpdateTask, CancelTask and Continues refuse.
var (
	ErrStranger  = errors.New("the agent has no say in the task")        // E6, code stranger
	ErrFinished  = errors.New("the task is finished")                    // code cancel, TASK_NOT_CANCELABLE
	ErrTaskFull  = errors.New("the task has had as many updates as fit") // D111
	ErrTaskState = errors.New("no state of a task")
)

// NewTask is a task that its asker has handed over and nobody has spoken of.
func NewTask(id, asker, asked string) Task {
	return Task{ID: id, Asker: asker, Asked: asked, State: submitted}
}

// UpdateTask takes an update from the agent that was asked, whenever it comes.
// The task given is not changed. An update that the task's state does not lead
// to is no error: one that is still under way may change that. Errors:
// ErrStranger, ErrTaskState, ErrTaskFull.
func UpdateTask(t Task, u Update) (Task, TaskEffect, error) {
	switch {
	case u.From != t.Asked:
		return t, "", ErrStranger
	case !isState(u.State):
		return t, "", fmt.Errorf("%w: %q", ErrTaskState, u.State)
	}
	if slices.ContainsFunc(t.Updates, u.sameMessage) {
		return t, Known, nil
	}
	at, _ := slices.BinarySearchFunc(t.Updates, u, compareUpdates)
	next, err := t.with(u, at)
	if err != nil {
		return t, "", err
	}
	switch latest := at == len(t.Updates); {
	case latest && leadsTo(t.State, u.State):
		return next, Advanced, nil
	case next.State != t.State:
		return next, Corrected, nil
	default:
		return next, Noted, nil
	}
}

// CancelTask takes a cancel from the agent that asked, on the side that was
// asked: the task is canceled at once. In the history the cancel stands at its
// own time, like an update (D110); u.State need not be set. Errors:
// ErrStranger, ErrFinished. That there is no such task (TASK_NOT_FOUND) is for
// the caller to see.
func CancelTask(t Task, u Update) (Task, error) {
	if u.From != t.Asker {
		return t, ErrStranger
	}
	if t.State.Final() {
		return t, ErrFinished
	}
	u.State = canceled
	at, _ := slices.BinarySearchFunc(t.Updates, u, compareUpdates)
	return t.with(u, at)
}

// Continues tells whether a request that names the task goes on with it: only
// the agent that asked may (E6), else ErrStranger. It changes no state; what
// becomes of a request for a finished task, the agent that was asked says
// (D112).
func (t Task) Continues(from string) error {
	if from != t.Asker {
		return ErrStranger
	}
	return nil
}

// with is the task with one more update, at its place in the order of the fold.
func (t Task) with(u Update, at int) (Task, error) {
	next := t
	next.Updates = slices.Insert(slices.Clone(t.Updates), at, u)
	next.State = fold(next.Updates)
	if len(t.Updates) >= MaxUpdates && (t.State.Final() || !next.State.Final()) {
		return t, fmt.Errorf("%w: %d", ErrTaskFull, MaxUpdates)
	}
	return next, nil
}

// compareUpdates is the order of the fold: by time, then by id (E1).
func compareUpdates(a, b Update) int {
	return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From))
}

// sameMessage tells whether two updates are one message: the pair of sender
// and id says so (§22).
func (u Update) sameMessage(v Update) bool { return u.From == v.From && u.ID == v.ID }
