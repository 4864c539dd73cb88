package main

import (
	"strings"
	"time"
)

// taskSuites: the states of a task, whatever order its updates come in (E1),
// and who has a say in it (E6).
func taskSuites() []*suite {
	s := newEmailing("tasks", "Tasks: their states, the order of their updates (E1), whose word counts (E6), and answers.")
	legalPaths(s)
	illegalSteps(s)
	lateUpdates(s)
	responds(s)
	whoseTask(s)
	continuing(s)
	return []*suite{s}
}

// updates is a task of the helper, moved by updates in the order of their
// signatures.
func (t *story) updates(states ...string) (task string, list []*exchange) {
	task = t.task("one")
	asked := t.posted(t.request(t.suite.agents.own))
	for _, state := range states {
		list = append(list, t.respond(t.suite.agents.helper, asked, state, ofTask(task)))
	}
	return task, list
}

func legalPaths(s *suite) {
	for _, path := range []string{
		"submitted", "submitted working", "submitted canceled", "submitted rejected", "submitted exhausted",
		"working completed", "working failed", "working input_required", "working auth_required", "working canceled", "working exhausted",
		"input_required working", "input_required canceled", "input_required exhausted",
		"auth_required working", "auth_required canceled", "auth_required exhausted",
		"submitted working input_required working auth_required working completed",
		"working working", "rejected", "exhausted", "canceled",
		// States that a path could have passed are skipped.
		"completed", "failed", "submitted completed", "submitted input_required", "input_required completed", "auth_required failed", "input_required auth_required",
	} {
		t := s.story(name("path", path), "each update is a step, or skips steps that a path could have passed (§7, E1)")
		states := strings.Fields(path)
		task, list := t.updates(states...)
		for i, x := range list {
			t.arrives(x, taken.at(task, states[i]))
		}
		t.stands(task, states[len(states)-1])
	}
}

func illegalSteps(s *suite) {
	for _, c := range []struct{ path, why, end string }{
		{"working rejected", "what is worked on cannot be declined: no path leads there", "working"},
		{"working submitted", "no path leads back", "working"},
		{"input_required rejected", "no path leads there", "input_required"},
		{"input_required submitted", "no path leads back", "input_required"},
		{"completed failed", "the first final state ends it", "completed"},
		{"completed working", "nothing follows a final state", "completed"},
		{"failed completed", "the first final state ends it", "failed"},
		{"rejected working", "nothing follows a final state", "rejected"},
		{"canceled completed", "the first final state ends it", "canceled"},
		{"exhausted completed", "the first final state ends it", "exhausted"},
		{"working rejected completed", "a word that no path leads to is passed over, and the next counts", "completed"},
	} {
		t := s.story(name("passed-over", c.path), c.why+" (E1)")
		states := strings.Fields(c.path)
		task, list := t.updates(states...)
		for _, x := range list {
			t.arrives(x, taken)
		}
		t.stands(task, c.end)
	}
}

func lateUpdates(s *suite) {
	late := func(name, why string, states, order, seen string) {
		t := s.story(name, why+" (E1)")
		task, list := t.updates(strings.Fields(states)...)
		stood := strings.Fields(seen)
		for i, c := range order {
			t.arrives(list[c-'0'], taken.at(task, stood[i]))
		}
		t.stands(task, stood[len(stood)-1])
	}
	late("late-working", "a late word on the way changes nothing", "working completed", "10", "completed completed")
	late("late-final", "a late final word was the first", "failed completed", "10", "completed failed")
	late("late-undoes-rejected", "what was declined was worked on before", "working rejected", "10", "rejected working")
	late("late-counts-passed-over", "a word that was passed over counts after a late one", "working rejected completed", "120", "rejected rejected completed")
	late("late-input", "of three words the second comes last", "submitted working input_required", "021", "submitted input_required input_required")
	late("late-all", "the four words of a task, the last first", "submitted working input_required completed", "3210", "completed completed completed completed")
	late("late-canceled", "canceled before it was done", "working canceled completed", "021", "working completed canceled")

	t := s.story("late-after-restart", "the history outlives the program (E1)")
	task, list := t.updates("failed", "completed")
	t.arrives(list[1], taken.at(task, "completed"))
	t.restart()
	t.arrives(list[0], taken.at(task, "failed"))
	t.stands(task, "failed")

	for _, c := range []struct {
		name, why  string
		low, high  string // the states of the lower and of the higher id
		lowIsFirst bool   // to arrive
	}{
		{"same-time-low-first", "at the same time the lower id comes first", "failed", "completed", true},
		{"same-time-high-first", "whichever arrives first", "failed", "completed", false},
	} {
		t := s.story(c.name, c.why+" (E1)")
		task, list := t.updates(c.low, c.high)
		low, high := list[0], list[1]
		give("id", "10000000-0000-7000-8000-000000000001")(low)
		give("id", "10000000-0000-7000-8000-000000000002")(high)
		give("ts", low.message["ts"])(high)
		if c.lowIsFirst {
			t.arrives(low, taken.at(task, c.low))
			t.arrives(high, taken.at(task, c.low))
		} else {
			t.arrives(high, taken.at(task, c.high))
			t.arrives(low, taken.at(task, c.low))
		}
		t.stands(task, c.low)
	}

	t = s.story("time-by-value", "times are compared by value, whatever their zone (E1)")
	task, list = t.updates("failed", "completed")
	first, then := list[0], list[1]
	give("ts", first.ts().In(time.FixedZone("", 5*3600)).Format("2006-01-02T15:04:05.000Z07:00"))(first)
	t.arrives(then, taken.at(task, "completed"))
	t.arrives(first, taken.at(task, "failed"))
	t.stands(task, "failed")

	t = s.story("time-by-millisecond", "a millisecond earlier is earlier (E1)")
	task, list = t.updates("failed", "completed")
	first, then = list[0], list[1]
	give("ts", then.ts().Add(-millisecond).Format(milliseconds))(first)
	give("id", "f0000000-0000-7000-8000-000000000002")(first)
	give("id", "10000000-0000-7000-8000-000000000002")(then)
	t.arrives(then, taken.at(task, "completed"))
	t.arrives(first, taken.at(task, "failed"))
	t.stands(task, "failed")
}

func responds(s *suite) {
	own, helper, third := s.agents.own, s.agents.helper, s.agents.third
	for _, status := range []string{"completed", "failed"} {
		t := s.story(name("bare", status), "an answer without a task (§7)")
		asked := t.posted(t.request(own))
		t.arrives(t.respond(helper, asked, status), taken.asks(helper, "chat"))
	}
	for _, status := range []string{"rejected", "canceled", "exhausted"} {
		t := s.story(name("bare", status), "an answer without a task may end in any way (D151)")
		asked := t.posted(t.request(own))
		t.arrives(t.respond(helper, asked, status), taken)
	}
	for _, status := range []string{"submitted", "working", "input_required", "auth_required"} {
		t := s.story(name("bare", status), "a state on the way is of a task")
		asked := t.posted(t.request(own))
		t.arrives(t.respond(helper, asked, status), noEnvelope)
	}
	t := s.story("bare-accepted", "that a request has arrived changes nothing")
	asked := t.posted(t.request(own))
	t.arrives(t.respond(helper, asked, "accepted"), taken)
	t.arrives(t.respond(helper, asked, "completed"), taken)

	t = s.story("task-accepted", "nor does it in a task")
	task := t.task("one")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(helper, asked, "working", ofTask(task)), taken.at(task, "working"))
	t.arrives(t.respond(helper, asked, "accepted", ofTask(task)), taken)
	t.stands(task, "working")

	t = s.story("unsolicited", "an answer to a request that was never sent")
	t.arrives(t.respond(helper, t.request(own), "completed"), silent("unsolicited"))

	t = s.story("unsolicited-task", "and one that says it is of a task")
	t.arrives(t.respond(helper, t.request(own), "working", ofTask(t.task("one"))), silent("unsolicited"))

	t = s.story("unsolicited-allowed", "nor is one of an agent that is admitted")
	t.arrives(t.respond(s.agents.buyer, t.request(own), "completed"), silent("unsolicited"))

	t = s.story("unsolicited-to-theirs", "an answer to a request that this inbox received")
	x := t.comes(t.request(s.agents.buyer))
	t.arrives(t.respond(s.agents.buyer, x, "completed", give("to", own.id)), silent("unsolicited"))

	t = s.story("unsolicited-to-respond", "an answer to an answer of this inbox")
	x = t.comes(t.request(s.agents.buyer))
	answer := t.posted(t.respond(own, x, "completed"))
	t.arrives(t.respond(s.agents.buyer, answer, "completed"), silent("unsolicited"))

	t = s.story("unsolicited-again", "what answers nothing is remembered")
	x = t.respond(helper, t.request(own), "completed")
	t.arrives(x, silent("unsolicited"))
	t.arrives(x, silent("duplicate"))

	t = s.story("respond-stranger", "an answer of an agent that was not asked (E6)")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(third, asked, "completed"), silent("stranger"))

	t = s.story("respond-stranger-allowed", "nor one that is admitted (E6)")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(s.agents.buyer, asked, "completed"), silent("stranger"))

	t = s.story("respond-anyone", "a request to nobody in particular is answered by whoever does first")
	asked = t.posted(t.request(own, omit("to")))
	t.arrives(t.respond(helper, asked, "completed"), taken)
	t.arrives(t.respond(third, asked, "completed"), silent("stranger"))

	t = s.story("respond-not-admitted", "who was asked need not be admitted to answer (D121)")
	t.arrives(t.respond(helper, t.posted(t.request(own)), "completed"), taken.asks(helper, "chat"))

	t = s.story("respond-held", "nor be of the stance allow (D121)")
	asked = t.posted(t.request(own, give("to", s.agents.kept.id)))
	t.arrives(t.respond(s.agents.kept, asked, "completed"), taken)

	t = s.story("respond-blocked", "but a block holds (D121)")
	asked = t.posted(t.request(own, give("to", s.agents.blocked.id)))
	t.arrives(t.respond(s.agents.blocked, asked, "completed"), blocked)

	t = s.story("respond-after-restart", "what was asked is known after a restart")
	asked = t.posted(t.request(own))
	t.restart()
	t.arrives(t.respond(helper, asked, "completed"), taken)

	t = s.story("respond-error", "an answer that says why not")
	asked = t.posted(t.request(own))
	t.arrives(t.respond(helper, asked, "failed", give("error", map[string]any{"code": "OFFERING_NOT_FOUND", "message": "No."})), taken.asks(helper, "chat"))
}

func whoseTask(s *suite) {
	own, helper, third, buyer := s.agents.own, s.agents.helper, s.agents.third, s.agents.buyer
	t := s.story("update-stranger", "an update of a third agent (E6)")
	task, list := t.updates("working")
	t.arrives(list[0], taken.at(task, "working"))
	x := t.respond(third, list[0], "completed", ofTask(task), give("in_reply_to", list[0].message["in_reply_to"]), give("to", own.id))
	t.arrives(x, silent("stranger"))
	t.stands(task, "working")

	t = s.story("update-of-another-task", "an agent that was asked for something else has no say in it (E6)")
	task, list = t.updates("working")
	t.arrives(list[0], taken.at(task, "working"))
	asked := t.posted(t.request(own, give("to", third.id)))
	t.arrives(t.respond(third, asked, "completed", ofTask(task)), silent("stranger"))
	t.stands(task, "working")

	t = s.story("update-by-asker", "nor the agent that asked: it has no update to give (E6)")
	task = t.task("one")
	x = t.comes(t.request(buyer, ofTask(task)))
	t.arrives(t.respond(buyer, x, "completed", ofTask(task), give("to", own.id)), silent("unsolicited"))
	t.stands(task, "submitted")

	t = s.story("two-tasks", "two tasks of one agent move each for itself")
	one, two := t.task("one"), t.task("two")
	first, then := t.posted(t.request(own)), t.posted(t.request(own))
	t.arrives(t.respond(helper, first, "working", ofTask(one)), taken.at(one, "working"))
	t.arrives(t.respond(helper, then, "failed", ofTask(two)), taken.at(two, "failed"))
	t.arrives(t.respond(helper, first, "completed", ofTask(one)), taken.at(one, "completed"))
	t.stands(one, "completed")
	t.stands(two, "failed")
}

func continuing(s *suite) {
	own, buyer := s.agents.own, s.agents.buyer
	t := s.story("begins-task", "a request may name its task, which it begins (D123)")
	task := t.task("one")
	t.arrives(t.request(buyer, ofTask(task)), taken.at(task, "submitted"))
	t.stands(task, "submitted")

	t = s.story("goes-on", "a request with a task_id goes on with that task (§6.4)")
	task = t.task("one")
	first := t.comes(t.request(buyer))
	t.posted(t.respond(own, first, "input_required", ofTask(task)))
	t.arrives(t.request(buyer, ofTask(task)), taken.at(task, "input_required"))
	t.posted(t.respond(own, first, "completed", ofTask(task)))
	t.stands(task, "completed")

	t = s.story("goes-on-finished", "a request for a finished task is handed on, and changes nothing (D112)")
	task = t.task("one")
	first = t.comes(t.request(buyer))
	t.posted(t.respond(own, first, "completed", ofTask(task)))
	t.arrives(t.request(buyer, ofTask(task)), taken.at(task, "completed"))
	t.stands(task, "completed")

	t = s.story("goes-on-stranger", "another agent cannot go on with it (E6)")
	task = t.task("one")
	t.comes(t.request(buyer, ofTask(task)))
	t.arrives(t.request(s.agents.friend, ofTask(task)), silent("stranger"))
	t.stands(task, "submitted")

	t = s.story("goes-on-stranger-unknown", "one that is not admitted does not wait for it (D119)")
	task = t.task("one")
	t.comes(t.request(buyer, ofTask(task)))
	t.arrives(t.request(s.agents.third, ofTask(task)), silent("stranger"))

	t = s.story("goes-on-asked", "the agent that was asked cannot ask for its own task (E6)")
	task, list := t.updates("working")
	t.arrives(list[0], taken)
	t.arrives(t.request(s.agents.helper, ofTask(task)), silent("stranger"))
	t.stands(task, "working")
}
