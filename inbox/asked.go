package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/store"
	"github.com/go-json-experiment/json"
)

// asking is an action of the agent that its owner is asked about.
type asking struct {
	action   Action
	to       string
	thread   string // "" outside a negotiation, and where it would begin one
	answers  string // id of a message there
	until    int64  // when what it answers ends, Unix seconds; 0: never
	files    attachedFiles
	about    string // digest of the request that it answers
	sealedTo string // key that its body is sealed to; "" for one in clear
	decision limits.Decision
}

// askedRow is an action that waits for the owner.
type askedRow struct {
	Action   Action          `json:"action"`
	To       string          `json:"to"`
	Thread   string          `json:"thread,omitempty"`
	Answers  string          `json:"answers,omitempty"` // id of the message that it answers there
	At       int64           `json:"at"`                // Unix seconds
	Expires  int64           `json:"expires"`           // Unix seconds
	Digests  []string        `json:"digests,omitempty"`
	About    string          `json:"about,omitempty"`     // digest of the request that it answers
	SealedTo string          `json:"sealed_to,omitempty"` // key that its body was to be sealed to
	Decision limits.Decision `json:"decision"`
}

// actionPrefix begins the keys of actions in the waiting list.
const actionPrefix = "action-"

// askLimit is how long an action waits that answers nothing which ends (D158).
const askLimit = 7 * 24 * time.Hour

// askOwner keeps an action until the owner has decided. One that waits already
// is not kept twice: a model that is not sure asks again.
func (j *judge) askOwner(a asking) (Done, error) {
	done := Done{Thread: a.thread, To: a.to, Rules: a.decision.Rules()}
	a.action.Event = "" // it is answered by this
	n, err := j.waitsAlready(&a.action)
	if err != nil || n != "" {
		done.Waiting = actionPrefix + n
		return done, err
	}
	fits, err := j.share(a.to, claim{actionsWaiting, 1})
	if err != nil {
		return done, err
	}
	if !fits {
		return done, cannot("too many actions wait for the owner already, of all or of those to %s: wait until some are decided", a.to)
	}
	if n, err = j.tx.Next(tableActions); err != nil {
		return done, err
	}
	row := askedRow{Action: a.action, To: a.to, Thread: a.thread, Answers: a.answers, At: j.in.srv.Now().Unix(), Decision: a.decision, Digests: a.files.digests(), About: a.about, SealedTo: a.sealedTo}
	row.Expires = row.At + int64(askLimit/time.Second)
	if a.until != 0 {
		row.Expires = a.until
	}
	if err := j.tx.Put(tableDue, dueKey(row.Expires+1, "action/"+n), struct{}{}); err != nil {
		return done, err
	}
	if err := j.tx.Put(tableActions, n, row); err != nil {
		return done, err
	}
	done.Waiting = actionPrefix + n
	e := row.event(KindAsked, n, "the owner is asked: "+ruleNames(done.Rules))
	return done, j.event(e, false)
}

// event tells what became of an action. The owner's numbers are not in it.
func (r *askedRow) event(kind, n, reason string) Event {
	return Event{Kind: kind, Waiting: actionPrefix + n, Result: Result{Type: r.Action.Type, Thread: r.Thread, Reason: reason}}
}

// noLongerAsked ends the same action, where it waits, since the limits of now
// allow it: what is done must not be there to approve (D134).
func (j *judge) noLongerAsked(a Action) error {
	a.Event = ""
	n, err := j.waitsAlready(&a)
	if err != nil || n == "" {
		return err
	}
	return j.dropAction(n, "the agent did it within the limits")
}

// waitsAlready is the number of the same action, "" where it does not wait.
func (j *judge) waitsAlready(a *Action) (same string, err error) {
	want, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("writing an action: %w", err)
	}
	err = eachAction(j.tx, func(n string, row *askedRow) bool {
		have, err := json.Marshal(row.Action)
		if err == nil && string(have) == string(want) {
			same = n
		}
		return same == ""
	})
	return same, err
}

// eachAction calls fn for the actions that wait until it returns false.
func eachAction(tx *store.Tx, fn func(n string, row *askedRow) bool) error {
	return tx.Scan(tableActions, "", "", func(r store.Row) (bool, error) {
		var row askedRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		return fn(r.Key, &row), nil
	})
}

// waitingActions lists the actions that wait.
func waitingActions(tx *store.Tx, list *[]Waiting) error {
	return eachAction(tx, func(n string, row *askedRow) bool {
		*list = append(*list, Waiting{
			Key: actionPrefix + n, Kind: "action", At: row.At, Reason: row.Decision.Line(), Thread: row.Thread, Address: row.To,
			Action: &row.Action, Decision: &row.Decision, Expires: row.Expires,
		})
		return true
	})
}

// ToAgent is what the agent may see of what waits: not the numbers of its
// owner, which it might be talked into telling, nor where files lie that another
// program of the owner wants to send, nor where the owner is told, nor what
// the mail server, the handler or a webhook said, which names hosts, files and
// addresses of the owner.
func (w Waiting) ToAgent() Waiting {
	if w.Action != nil && len(w.Action.Files) > 0 {
		a := *w.Action
		a.Files = slices.Clone(a.Files)
		for i, path := range a.Files {
			a.Files[i] = filepath.Base(path)
		}
		w.Action = &a
	}
	switch {
	case w.ToOwner:
		w.Address, w.Reason = "", "the mail to the owner could not be sent"
	case w.Kind == "letter":
		w.Reason = "the mail to " + w.Address + " waits: see its message"
	case w.Kind == "event":
		w.Reason = "the handler failed"
	case w.Kind == "webhook":
		w.Reason = "a webhook was not told"
	}
	if w.Decision != nil {
		w.Reason, w.Decision = "the owner is asked: "+ruleNames(w.Decision.Rules()), nil
	}
	return w
}

// approveAction does an action that the owner approves, as things stand now.
// Where it cannot be done any more it goes on waiting, and the error says why.
func (in *Inbox) approveAction(n string) error {
	row, err := in.waitingAction(n)
	if err != nil {
		return err
	}
	_, err = in.do(row.Action, mandate{approved: n, answers: row.Answers})
	return err
}

func (in *Inbox) waitingAction(n string) (row askedRow, err error) {
	return row, in.view(func(tx *store.Tx) error {
		known, err := tx.Get(tableActions, n, &row)
		if err == nil && !known {
			err = unknown("nothing waits under %q: see `agentmaild waiting list`", actionPrefix+n)
		}
		return err
	})
}

// approved takes an action that the owner approves off the list, and returns
// the decision that had the owner asked. Whom it is for, what it answers, its
// files and who alone can read it must be those of then (D200).
func (j *judge) approved(a *asking) (limits.Decision, error) {
	var row askedRow
	known, err := j.tx.Get(tableActions, j.by.approved, &row)
	switch {
	case err != nil:
		return row.Decision, err
	case !known:
		return row.Decision, cannot("nothing waits under %q any more", actionPrefix+j.by.approved)
	case row.Expires < j.in.srv.Now().Unix(): // and the clock has not come by yet (D158)
		return row.Decision, cannot("%q has expired: the agent may ask again", actionPrefix+j.by.approved)
	case row.To != a.to: // a name card was changed
		return row.Decision, cannot("to: it would go to %s now, and the agent asked about %s: refuse %q", a.to, row.To, actionPrefix+j.by.approved)
	case !reflect.DeepEqual(row.Digests, a.files.digests()):
		return row.Decision, cannot("files: one has changed since the agent asked: refuse %q", actionPrefix+j.by.approved)
	case row.About != a.about: // ids are their senders' own, and may be used again
		return row.Decision, cannot("request: another one has come under its id since the agent asked: refuse %q", actionPrefix+j.by.approved)
	case row.SealedTo != a.sealedTo:
		return row.Decision, cannot("it would be sealed to another key than when the agent asked, or not at all: refuse %q", actionPrefix+j.by.approved)
	}
	if err := j.endAction(j.by.approved, row.To); err != nil {
		return row.Decision, err
	}
	return row.Decision, j.event(row.event(KindDecided, j.by.approved, "approved by the owner"), false)
}

// dropAction ends an action that waits, if it does.
func (j *judge) dropAction(n, reason string) error {
	var row askedRow
	known, err := j.tx.Get(tableActions, n, &row)
	if err != nil || !known {
		return err
	}
	if err := j.endAction(n, row.To); err != nil {
		return err
	}
	return j.event(row.event(KindExpired, n, reason), false)
}

// refuseAction ends an action as the owner wants it.
func (j *judge) refuseAction(n, reason string) error {
	var row askedRow
	known, err := j.tx.Get(tableActions, n, &row)
	if err == nil && !known {
		err = unknown("nothing waits under %q: see `agentmaild waiting list`", actionPrefix+n)
	}
	if err != nil {
		return err
	}
	if err := j.endAction(n, row.To); err != nil {
		return err
	}
	words := "refused by the owner"
	if reason != "" {
		words += ": " + reason
	}
	return j.event(row.event(KindDecided, n, words), false)
}

func (j *judge) endAction(n, to string) error {
	if err := j.giveBack(to, claim{actionsWaiting, 1}); err != nil {
		return err
	}
	return j.tx.Delete(tableActions, n)
}

// overtaken ends the actions that answer an offer or ask which is closed.
func (j *judge) overtaken(entry string) error {
	var ended []string
	err := eachAction(j.tx, func(n string, row *askedRow) bool {
		if row.Answers == entry || row.Action.Ref == entry {
			ended = append(ended, n)
		}
		return true
	})
	for _, n := range ended {
		if err == nil {
			err = j.dropAction(n, "what it answers is closed")
		}
	}
	return err
}

// digests are those of the files, in their order.
func (f attachedFiles) digests() []string {
	var list []string
	for _, file := range f.named {
		list = append(list, digest(f.bodies[file.Ref]))
	}
	return list
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
