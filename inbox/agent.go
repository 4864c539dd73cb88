package inbox

import (
	"slices"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// Agent is who the inbox is under Agent Emailing.
type Agent struct {
	Identity  agentmsg.Identity
	Sealing   agentmsg.SealingKey // bodies are sealed to it; the zero value opens none
	Sealed    bool                // requests in clear are refused (EXT-7, required)
	Offerings []string            // that the agent answers, beside chat
	Describe  jsontext.Value      // the public answer to describe, an object; nil: names, addresses and offerings
	Bridge    bool                // the mail of a person whose domain proves it becomes a request
}

// knows tells whether an offering is one of the agent's, or of every agent.
func (a *Agent) knows(offering string) bool {
	return a.offers(offering) || offering == agentmsg.OfferingDescribe || offering == agentmsg.OfferingKnock || offering == agentmsg.OfferingCancel
}

func (a *Agent) offers(offering string) bool {
	return offering == agentmsg.OfferingChat || slices.Contains(a.Offerings, offering)
}

var errNoAgent = cannot("the inbox has no agent: give it an agent_key in the configuration")

// Exchange is what is known of a message of Agent Emailing. From is proven by
// the signature; Text and the names of files are text from outside.
type Exchange struct {
	From     string         `json:"from,omitempty"` // agent id
	Kind     agentmsg.Type  `json:"kind,omitempty"`
	Offering string         `json:"offering,omitempty"`
	Person   string         `json:"person,omitempty"` // whose mail it is, in bridged mode; proven by DKIM
	Task     *Standing      `json:"task,omitempty"`
	Files    []ReceivedFile `json:"files,omitempty"`
	Text     string         `json:"text,omitempty"` // of the sender, fenced and framed for a model (§22.6)

	Answered   string `json:"answered,omitempty"`    // what the daemon mailed back by itself: an error code, or ok
	AnsweredTo string `json:"answered_to,omitempty"` // address
}

// Standing is where a task stands.
type Standing struct {
	ID    string          `json:"id"`
	State agentmsg.Status `json:"state"`
}

// ReceivedFile is a file that a message names.
type ReceivedFile struct {
	Name      string             `json:"name"`
	State     emailing.FileState `json:"state"`
	MediaType string             `json:"media_type,omitempty"`
	Size      int64              `json:"size,omitzero"`  // bytes, as signed
	URI       string             `json:"uri,omitempty"`  // never fetched
	Path      string             `json:"path,omitempty"` // on the daemon's disk
	URL       string             `json:"url,omitempty"`  // in the HTTP API, from its root, in place of Path
}

// Codes of Agent Emailing, beside those of agentmsg. Only CodeTooLarge,
// CodeCancel and CodeSealing are ever answered.
const (
	CodeDuplicate   Code = "duplicate"   // the pair (from, id) was met before
	CodeCancel      Code = "cancel"      // a cancel that cannot be done
	CodeStranger    Code = "stranger"    // an agent that has no say in the task (E6)
	CodeUnsolicited Code = "unsolicited" // answers no request of this inbox
	CodeSealing     Code = "sealing"     // not sealed though it must be, or to another key
	CodeRate        Code = "rate"        // of a held message: beyond its sender's hourly limit
)

// Verdicts of Agent Emailing, beside Accepted, Held, Refused and Retry.
const (
	Blocked Verdict = "blocked" // by the roster; its sender hears nothing
	Review  Verdict = "review"  // carries no message, or several: for the owner's eyes
	Bridged Verdict = "bridged" // a person's mail that became a request, held unless the roster allows it
	Bounce  Verdict = "bounce"  // a report that a mail from here came back
	Ignored Verdict = "ignored" // written by no person, and no message
)

// WarnCard marks a message that disagrees with a name card.
const WarnCard = "name_card_mismatch"

// exchangeRow is a message of Agent Emailing held here, by sender and id.
type exchangeRow struct {
	Kind     agentmsg.Type  `json:"kind"`
	Envelope string         `json:"envelope"` // in canonical form, as signed
	At       int64          `json:"at"`       // arrival, or when it was sent; Unix milliseconds
	Task     string         `json:"task,omitempty"`
	Offering string         `json:"offering,omitempty"` // asked for, or answered
	Files    []ReceivedFile `json:"files,omitempty"`

	// Of a request from outside: what its answer needs.
	Ref    mailRef         `json:"ref,omitzero"`
	Person string          `json:"person,omitempty"`
	Answer agentmsg.Status `json:"answer,omitempty"` // the last; of a request from here too

	// Of a message from here.
	To      string    `json:"to,omitempty"`      // agent id
	Address string    `json:"address,omitempty"` // that it was mailed to
	SentAt  int64     `json:"sent_at,omitzero"`  // when the mail server took it, Unix seconds
	Stuck   *Delivery `json:"stuck,omitempty"`   // its mail did not go out as it should
}

// exchangeKey is the pair that makes a message one (§22): ids are the sender's
// own.
func exchangeKey(from, id string) string { return from + "\x00" + id }

// taskRow is a task with what its mails need.
type taskRow struct {
	threads.Task
	Offering string   `json:"offering"`
	At       int64    `json:"at"`       // of its last message, Unix seconds
	Messages []string `json:"messages"` // exchange keys, in the order of their commits
}

// begunBy adds the request that a task came of, which did not name it.
func (t *taskRow) begunBy(key string) {
	if !slices.Contains(t.Messages, key) {
		t.Messages = append(t.Messages, key)
	}
}
