package mcp

import (
	"sync"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one thing that a model can do.
type tool struct {
	name, title, description string
	input, output            *jsonschema.Schema
	hints                    sdk.ToolAnnotations
	run                      func(*call) (answer, error)
}

// tools are all of them. They are made when a model asks.
var tools = sync.OnceValue(func() []tool {
	return []tool{
		{
			name: "list_threads", title: "List conversations",
			description: "List negotiations, or with kind the requests or tasks exchanged with other agents: ids, who with, and how each stands. Begin here.",
			input: object(nil, theInbox,
				chosen("kind", "threads are negotiations, which is the default", kindThreads, kindRequests, kindTasks),
				flag("open", "only those that something can still be done about"),
				whole("offset", "how many to leave out at the beginning", 0, 1e9),
				whole("limit", "how many to list; 50 where it is left out", 1, 200),
			),
			output: schemaOf[listing](), hints: looks(false), run: listThreads,
		},
		{
			name: "read_thread", title: "Read a conversation",
			description: "Read one negotiation, request or task with its messages and what was proven about each. Give exactly one of thread, request and task.",
			input: object(nil, theInbox,
				text("thread", "id of a negotiation"), text("request", "id of a request"), text("agent", "id of the agent that sent the request, where two sent one of that id"), text("task", "id of a task"),
				whole("last", "how many of the last messages to show; 10 where it is left out", 1, 100),
			),
			output: schemaOf[conversation](), hints: looks(false), run: readThread,
		},
		{
			name: "ask_quote", title: "Ask for a quote",
			description: "Ask an address for a quote on items, or ask again in a thread. Give to or thread.",
			input: acting([]string{"items"}, theInbox,
				text("to", "email address to ask"), text("thread", "id of a thread to ask in again"),
				several("items", "what is wanted", 100, askedItem), text("wanted_by", "day, as in 2026-11-30"), theNote, valid,
			),
			output: schemaOf[done](), hints: sends(false), run: acts(intent.AskQuote),
		},
		{
			name: "send_quote", title: "Send a quote",
			description: "Give a quote in a thread with an ask, or counter an offer. The other side can accept it: then it binds. Give thread or replaces.",
			input: acting([]string{"items", "total"}, theInbox,
				text("thread", "id of the thread with the ask"), replaces,
				several("items", "what is offered", 100, quotedItem), money("total", "price of all"), text("delivery_by", "day, as in 2026-11-30"), theNote, valid,
			),
			output: schemaOf[done](), hints: sends(false), run: acts(intent.Quote),
		},
		{
			name: "propose_times", title: "Propose times",
			description: "Propose up to five times to an address, or counter proposed times. The other side can accept one. Give to or replaces.",
			input: acting([]string{"slots"}, theInbox,
				text("to", "email address to propose to"), replaces, several("slots", "the times", 5, slot),
				text("purpose", "what for"), text("location", "where"), theNote, valid,
			),
			output: schemaOf[done](), hints: sends(false), run: acts(intent.ProposeTimes),
		},
		{
			name: "accept", title: "Accept an offer",
			description: "Accept an open offer of the other side. It binds, and both sides get a signed record of it.",
			input:       acting([]string{"ref"}, theInbox, text("ref", "id of the quote, or of the proposed times"), whole("slot", "number of the chosen time, from 0", 0, 4), theNote, valid),
			output:      schemaOf[done](), hints: sends(true), run: acts(intent.Accept),
		},
		{
			name: "decline", title: "Decline an offer or an ask",
			description: "Decline what the other side offered or asked for.",
			input: acting([]string{"ref"}, theInbox, text("ref", "id of the offer or ask"),
				chosen("reason", "why", "price", "timing", "not_available", "other"), theNote, valid),
			output: schemaOf[done](), hints: sends(true), run: acts(intent.Decline),
		},
		{
			name: "cancel", title: "Cancel",
			description: "Cancel an own offer or ask, or an agreement (give ref), or a task that was asked of another agent (give task).",
			input: acting(nil, theInbox, text("ref", "id of the offer, ask or record"), text("task", "id of the task"),
				text("reason", "of a task: such as user_requested, which is the default"), theNote,
				whole("valid_seconds", "with ref: how long the message is valid; seven days where it is left out", 1, inbox.MaxValid.Seconds())),
			output: schemaOf[done](), hints: sends(true), run: cancel,
		},
		{
			name: "send_request", title: "Ask another agent for something",
			description: "Send a request to an agent, by its address or id, or go on with a task. Give text or input.",
			input: acting([]string{"offering"}, theInbox,
				text("to", "email address of the agent"), text("agent", "id of the agent"), text("offering", "what it offers, such as chat"),
				text("text", "what is asked, in words"), anyObject("input", "what is asked, as JSON"), text("task", "id of the task to go on with"),
			),
			output: schemaOf[done](), hints: sends(false), run: acts(inbox.ActRequest),
		},
		{
			name: "answer_request", title: "Answer a request",
			description: "Answer a request of another agent, or say how its task is doing. Give text, output or error.",
			input: acting([]string{"request"}, theInbox,
				text("request", "id of the request"), text("agent", "id of the agent that sent it, where two sent one of that id"),
				chosen("status", "completed where it is left out, failed with an error", answers...),
				text("text", "the answer, in words"), anyObject("output", "the answer, as JSON"), field{"error", failure},
			),
			output: schemaOf[done](), hints: sends(false), run: acts(inbox.ActRespond),
		},
		{
			name: "list_waiting", title: "List what waits for the owner",
			description: "List what waits for the owner's decision, such as actions beyond the limits and messages that could not be proven, and what became of actions that waited. Only the owner can decide.",
			input:       object(nil, theInbox), output: schemaOf[waitingList](), hints: looks(false), run: listWaiting,
		},
		{
			name: "check_record", title: "Check an agreement's record",
			description: "Check the signed record of an agreement anew, step by step, with the key pages as they are now.",
			input: object([]string{"id"}, theInbox, text("id", "of the record, or of its accept or offer"),
				flag("theirs", "check the other side's record in place of the own")),
			output: schemaOf[checked](), hints: looks(true), run: checkRecord,
		},
	}
})

// looks are the hints of a tool that changes nothing. openWorld tells that it
// asks other machines.
func looks(openWorld bool) sdk.ToolAnnotations {
	never := false
	return sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &never, OpenWorldHint: &openWorld}
}

// sends are the hints of a tool that writes to somebody else. ends tells that it
// closes what was open; doing that again is refused.
func sends(ends bool) sdk.ToolAnnotations {
	always := true
	return sdk.ToolAnnotations{DestructiveHint: &ends, IdempotentHint: ends, OpenWorldHint: &always}
}

// schemaOf is the schema of an answer.
func schemaOf[T answer]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // of a type that is written here
	}
	return s
}
