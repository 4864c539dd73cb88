package page

import (
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// choice is one thing that the owner may decide.
type choice struct {
	Do, Label string
	Style     string // of its button
	commits   bool   // may bind the owner to a sum
	act       func(in *inbox.Inbox, w inbox.Waiting, reason string) error
}

// kind is what there is to say and decide about all of a kind that waits.
type kind struct {
	title      string
	asksReason bool
	choices    []choice
}

func approve(label string) choice {
	return choice{Do: "approve", Label: label, act: func(in *inbox.Inbox, w inbox.Waiting, _ string) error { return in.Approve(w.Key) }}
}

func refuse(label string) choice {
	return choice{Do: "refuse", Label: label, Style: "refuse", act: func(in *inbox.Inbox, w inbox.Waiting, reason string) error { return in.Refuse(w.Key, reason) }}
}

// binding is a choice that may bind the owner to a sum.
func binding(c choice) choice {
	c.commits = true
	return c
}

var count = binding(choice{Do: "count", Label: "Take it for an acceptance", act: func(in *inbox.Inbox, w inbox.Waiting, _ string) error {
	_, err := in.Count(w.Key)
	return err
}})

// kinds are those of inbox.Waiting.
var kinds = map[string]kind{
	"action":  {"Your agent wants to do this", true, []choice{binding(approve("Approve and send")), refuse("Refuse")}},
	"message": {"A message is held", true, []choice{binding(approve("Let it count")), refuse("Reject")}},
	"event":   {"The handler failed", false, []choice{approve("Ask the handler again"), refuse("Leave it unanswered")}},
	"left":    {"Nobody answers this but you", false, []choice{refuse("Put it aside")}},
	"letter":  {"A mail was not sent", false, []choice{approve("Send it again"), refuse("Give it up")}},
	"bounce":  {"A mail came back", false, []choice{refuse("Put the report aside")}},
	"record":  {"A record is in doubt", false, []choice{refuse("Put it aside")}},
	"reply":   {"A person answered a quote", false, []choice{count, refuse("Put it aside")}},
	"agent":   {"An agent is not admitted", false, []choice{approve("Let this in"), refuse("Turn it away")}},
	"knock":   {"An agent asks to be admitted", false, []choice{approve("Admit the agent"), refuse("Put the knock aside")}},
	"mail":    {"A mail is for your eyes", false, []choice{refuse("Put it aside")}},
	"webhook": {"A webhook was not told", false, []choice{approve("Tell it again"), refuse("Put it aside")}},
}

// ruling decides about all that an agent writes.
func ruling(do, label string, stance agentmsg.Stance) choice {
	style := "second"
	if stance == agentmsg.StanceBlock {
		style = "refuse"
	}
	return choice{Do: do, Label: label, Style: style, act: func(in *inbox.Inbox, w inbox.Waiting, reason string) error {
		return in.Decide(w.Agent, stance, reason)
	}}
}

func kindOf(w inbox.Waiting) kind {
	k, ok := kinds[w.Kind]
	if !ok {
		return kind{title: "Something waits: " + w.Kind}
	}
	return k
}

// choicesFor are what may be decided about one thing.
func choicesFor(w inbox.Waiting) []choice {
	choices := kindOf(w).choices
	switch {
	case w.Agent == "":
	case w.Kind == "knock":
		choices = append(choices[:len(choices):len(choices)], ruling("block", "Block the agent", agentmsg.StanceBlock))
	default:
		choices = append(choices[:len(choices):len(choices)],
			ruling("admit", "Admit the agent, with all that waits of it", agentmsg.StanceAllow), ruling("block", "Block the agent", agentmsg.StanceBlock))
	}
	return choices
}

// done is what a decision did, in words, by the name that the address after it
// carries.
var done = map[string]string{
	"approve": "Done: it goes on.",
	"refuse":  "Done: it is off the list.",
	"count":   "Done: the reply counts as an acceptance, and a record of it is kept.",
	"admit":   "Done: the agent is admitted.",
	"block":   "Done: the agent is blocked.",
}
