package agentmsg

import "time"

// The receiver protections that need nothing but the message (§22), each to be
// asked in the order of the specification: after Parse and the memory of
// duplicates come Freshness, Addressing, Size and Hops.

// Freshness judges ts by the time at which the message is taken in: CodeFuture
// beyond five minutes ahead, CodeStale beyond seven days back, to the
// millisecond (§22, mailbox window).
func (e *Envelope) Freshness(now time.Time) Code {
	now = now.Truncate(time.Millisecond)
	switch {
	case e.Time.After(now.Add(maxAhead)):
		return CodeFuture
	case e.Time.Before(now.Add(-maxAge)):
		return CodeStale
	}
	return ""
}

// Addressing is CodeMisaddressed unless the message is for this agent or for
// no one in particular. Otherwise what one agent was told could be handed to
// another as if it were meant for it. A member to that is empty is for nobody.
func (e *Envelope) Addressing(own string) Code {
	if e.addressed && e.To != own {
		return CodeMisaddressed
	}
	return ""
}

// Size is CodeTooLarge for more than MaxText UTF-16 units of sender text; it
// is answered with ContextTooLarge.
func (e *Envelope) Size() Code {
	if measure(e.Body()) > MaxText {
		return CodeTooLarge
	}
	return ""
}

// Hops is CodeHops for a message relayed more than three times.
func (e *Envelope) Hops() Code {
	if e.Meta.Hops > maxHops {
		return CodeHops
	}
	return ""
}
