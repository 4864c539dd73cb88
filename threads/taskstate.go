package threads

import "github.com/agentmaild/agentmaild/envelope/agentmsg"

// The nine states of a task, by short names.
const (
	submitted  = agentmsg.StatusSubmitted
	working    = agentmsg.StatusWorking
	needsInput = agentmsg.StatusInputRequired
	needsAuth  = agentmsg.StatusAuthRequired
	completed  = agentmsg.StatusCompleted
	failed     = agentmsg.StatusFailed
	canceled   = agentmsg.StatusCanceled
	rejected   = agentmsg.StatusRejected
	exhausted  = agentmsg.StatusExhausted
)

// steps are the transitions of a task (§7). A final state has none.
var steps = map[agentmsg.Status][]agentmsg.Status{
	submitted:  {working, canceled, rejected, exhausted},
	working:    {completed, failed, needsInput, needsAuth, canceled, exhausted},
	needsInput: {working, canceled, exhausted},
	needsAuth:  {working, canceled, exhausted},
	completed:  nil,
	failed:     nil,
	canceled:   nil,
	rejected:   nil,
	exhausted:  nil,
}

// isState tells whether a status is one of the nine states: StatusAccepted is
// none.
func isState(s agentmsg.Status) bool {
	_, ok := steps[s]
	return ok
}

// fold is the state after all updates, in the order of compareUpdates (E1).
// One that no path leads to is passed over; the first final state ends it.
func fold(updates []Update) agentmsg.Status {
	state := submitted
	for _, u := range updates {
		if leadsTo(state, u.State) {
			state = u.State
		}
	}
	return state
}

// leadsTo tells whether a path of steps, which email may have lost or
// overtaken in part, goes from one state to another. An open state leads to
// itself; a final one leads nowhere.
func leadsTo(from, to agentmsg.Status) bool {
	return !from.Final() && reaches(from, to, map[agentmsg.Status]bool{})
}

func reaches(from, to agentmsg.Status, seen map[agentmsg.Status]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, next := range steps[from] {
		if !seen[next] && reaches(next, to, seen) {
			return true
		}
	}
	return false
}
