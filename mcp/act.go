package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// done is what came of an action.
type done struct {
	Sent    bool     `json:"sent" jsonschema:"false: nothing was sent, and the owner is asked"`
	Type    string   `json:"type"`
	ID      string   `json:"id,omitempty" jsonschema:"of the message that was sent"`
	Thread  string   `json:"thread,omitempty"`
	Task    string   `json:"task,omitempty"`
	To      string   `json:"to,omitempty"`
	Changes []change `json:"changes,omitempty"`
	Waiting string   `json:"waiting,omitempty" jsonschema:"under what the owner is asked"`
	Rules   []string `json:"rules,omitempty" jsonschema:"rules of the owner because of which the owner is asked"`
}

// change is what became of an offer or ask.
type change struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// Text says whether it was sent.
func (d done) Text() string {
	if !d.Sent {
		return fmt.Sprintf("Nothing was sent: the owner is asked about this %s under %s, because of: %s. It is sent if the owner approves; list_waiting shows what became of it. Do not send it again.",
			d.Type, d.Waiting, strings.Join(d.Rules, ", "))
	}
	text := fmt.Sprintf("Sent: %s %s to %s", d.Type, d.ID, d.To)
	if d.Thread != "" {
		text += ", in thread " + d.Thread
	}
	if d.Task != "" {
		text += ", in task " + d.Task
	}
	text += "."
	for _, c := range d.Changes {
		text += fmt.Sprintf(" %s is %s.", c.ID, c.State)
	}
	return text
}

// acts has an action done whose members the arguments are.
func acts(t intent.Type) func(*call) (answer, error) {
	return func(c *call) (answer, error) { return c.propose(t) }
}

// cancel is of a negotiation or of a task.
func cancel(c *call) (answer, error) {
	var named struct {
		Ref  string `json:"ref"`
		Task string `json:"task"`
	}
	if err := json.Unmarshal(c.args, &named); err != nil {
		return nil, err
	}
	switch {
	case (named.Ref == "") == (named.Task == ""):
		return nil, mistake("ref, task: give exactly one of them")
	case named.Task != "":
		return c.propose(inbox.ActCancelTask)
	}
	return c.propose(intent.Cancel)
}

func (c *call) propose(t intent.Type) (answer, error) {
	a := inbox.Action{Type: t}
	var err error
	if a.Once, err = c.once(t); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(c.args, &a, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if a.Error != nil && a.Status == "" {
		a.Status = agentmsg.StatusFailed
	}
	d, err := c.inbox.Propose(a)
	if err != nil {
		return nil, err
	}
	result := done{Sent: d.Waiting == "", Type: string(t), ID: d.ID, Thread: d.Thread, Task: plain(d.Task), To: d.To, Waiting: d.Waiting}
	for _, e := range d.Changes {
		result.Changes = append(result.Changes, change{e.Entry, string(e.State)})
	}
	for _, r := range d.Rules {
		result.Rules = append(result.Rules, string(r))
	}
	return result, nil
}

const (
	keyName = "idempotency_key"
	maxKey  = 64 // bytes
)

// once takes the idempotency key out of the arguments; nil without one. Each
// token has its own keys, as in the API (D161), and those of the tools are none of
// the API's: what is asked for is written otherwise there.
func (c *call) once(t intent.Type) (*inbox.Once, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(c.args, &members); err != nil {
		return nil, err
	}
	given, known := members[keyName]
	if !known {
		return nil, nil
	}
	key := unquoted(given)
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, mistake("%s: must be 1 to %d visible ASCII characters without a space", keyName, maxKey)
	}
	delete(members, keyName)
	var err error
	if c.args, err = json.Marshal(members, json.Deterministic(true)); err != nil {
		return nil, err
	}
	whose, _ := tokenOf(c)
	return &inbox.Once{Key: hashed("mcp", string(whose.Hash[:]), key), Hash: hashed(string(t), string(c.args))}, nil
}

// hashed stands for some texts.
func hashed(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
