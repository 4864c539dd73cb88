package main

// cancelSuites: the offering task.cancel (§10.8), of whom and in which form.
func cancelSuites() []*suite {
	s := newEmailing("cancel", "Canceling a task: whose, in which state, for which reason.")
	cancelReasons(s)
	cancelForms(s)
	cancelStates(s)
	cancelWho(s)
	return []*suite{s}
}

// begun is a task of the buyer that this inbox works on.
func (t *story) begun(states ...string) string {
	task := t.task("one")
	first := t.comes(t.request(t.suite.agents.buyer))
	for _, state := range states {
		t.posted(t.respond(t.suite.agents.own, first, state, ofTask(task)))
	}
	return task
}

var (
	noCancel = told("cancel", "INVALID_ENVELOPE", buyerTold)
	canceled = taken.answered("ok", buyerTold)
)

func cancelReasons(s *suite) {
	for _, c := range []struct {
		name, why string
		input     map[string]any
		ok        bool
	}{
		{"user-requested", "one of the eight", map[string]any{"reason": "user_requested"}, true},
		{"superseded", "one of the eight", map[string]any{"reason": "superseded"}, true},
		{"deadline-exceeded", "one of the eight", map[string]any{"reason": "deadline_exceeded"}, true},
		{"budget-exhausted", "one of the eight", map[string]any{"reason": "budget_exhausted"}, true},
		{"upstream-cancelled", "one of the eight, with its note", map[string]any{"reason": "upstream_cancelled", "note": "deadline_exceeded: overdue"}, true},
		{"policy", "one of the eight", map[string]any{"reason": "policy", "note": "No."}, true},
		{"needs-not-furnished", "one of the eight, which says what was needed", map[string]any{"reason": "needs_not_furnished", "unmet_need": "credential:stripe"}, true},
		{"dependency-failed", "one of the eight", map[string]any{"reason": "dependency_failed"}, true},
		{"dependency-failed-named", "which may say what failed", map[string]any{"reason": "dependency_failed", "dependency": "payments"}, true},
		{"note-null", "a note that is null is absent (E5)", map[string]any{"reason": "policy", "note": nil}, true},
		{"reason-other", "no reason of the eight", map[string]any{"reason": "bored"}, false},
		{"reason-case", "in another spelling", map[string]any{"reason": "User_Requested"}, false},
		{"reason-american", "in another spelling", map[string]any{"reason": "upstream_canceled"}, false},
		{"reason-missing", "without a reason", map[string]any{}, false},
		{"reason-null", "with a reason that is null", map[string]any{"reason": nil}, false},
		{"reason-empty", "with an empty reason", map[string]any{"reason": ""}, false},
		{"reason-number", "with a number", map[string]any{"reason": 1}, false},
		{"note-number", "with a note that is no text", map[string]any{"reason": "policy", "note": 42}, false},
		{"need-missing", "needs_not_furnished without the need", map[string]any{"reason": "needs_not_furnished"}, false},
		{"need-no-value", "a need without a value", map[string]any{"reason": "needs_not_furnished", "unmet_need": "credential:"}, false},
		{"need-no-kind", "a need without a kind", map[string]any{"reason": "needs_not_furnished", "unmet_need": ":stripe"}, false},
		{"need-no-colon", "a need that is neither", map[string]any{"reason": "needs_not_furnished", "unmet_need": "stripe"}, false},
	} {
		t := s.story("reason-"+c.name, c.why)
		task := t.begun("working")
		c.input["task_id"] = task
		want, end := noCancel, "working"
		if c.ok {
			want, end = canceled.at(task, "canceled"), "canceled"
		}
		t.arrives(t.request(s.agents.buyer, asksFor("task.cancel", c.input)), want)
		t.stands(task, end)
	}
}

func cancelForms(s *suite) {
	form := func(name, why string, change func(task string) edit, want func(task string) outcome, end string) {
		t := s.story(name, why)
		task := t.begun("working")
		t.arrives(t.cancelTask(s.agents.buyer, task, "policy", change(task)), want(task))
		t.stands(task, end)
	}
	is := func(o outcome) func(string) outcome { return func(string) outcome { return o } }
	done := func(task string) outcome { return canceled.at(task, "canceled") }
	form("task-in-both", "the task stands in the envelope and in the input", func(string) edit { return nil }, done, "canceled")
	form("task-in-input", "in the input alone", func(string) edit { return omit("task_id") }, done, "canceled")
	form("task-in-envelope", "in the envelope alone (D106)", func(string) edit { return omit("payload.input.task_id") }, done, "canceled")
	form("task-null-in-input", "null in the input is absent (E5, D106)", func(string) edit { return give("payload.input.task_id", nil) }, done, "canceled")
	form("two-tasks", "two tasks: one would be answered for, the other canceled (D106)", func(string) edit { return give("payload.input.task_id", "other") }, is(noCancel), "working")
	form("task-empty", "an empty task", func(string) edit { return give("payload.input.task_id", "") }, is(noCancel), "working")
	form("task-number", "a task that is no text", func(string) edit { return give("payload.input.task_id", 1) }, is(noCancel), "working")
	form("no-task", "no task at all", func(string) edit { return both(omit("task_id"), omit("payload.input.task_id")) }, is(noCancel), "working")
	form("no-input", "no input", func(string) edit { return omit("payload.input") }, is(noCancel), "working")
	form("input-text", "an input that is a text", func(string) edit { return give("payload.input", "policy") }, is(noCancel), "working")
	form("as-skill", "under the earlier name of offering", func(task string) edit {
		return give("payload", map[string]any{"skill": "task.cancel", "input": map[string]any{"task_id": task, "reason": "policy"}})
	}, done, "canceled")
	form("other-offering", "a chat that looks like a cancel is a chat", func(string) edit { return give("payload.offering", "chat") }, func(task string) outcome {
		return taken.at(task, "working")
	}, "working")
}

func cancelStates(s *suite) {
	for _, state := range []string{"submitted", "working", "input_required", "auth_required"} {
		t := s.story(name("from", state), "a task that has not ended can be canceled")
		task := t.begun(state)
		t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), canceled.at(task, "canceled"))
		t.stands(task, "canceled")
	}
	for _, state := range []string{"completed", "failed", "canceled", "rejected", "exhausted"} {
		t := s.story(name("from", state), "one that has ended cannot")
		task := t.begun(state)
		t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), told("cancel", "TASK_NOT_CANCELABLE", buyerTold))
		t.stands(task, state)
	}
	t := s.story("twice", "nor can it be canceled twice")
	task := t.begun("working")
	t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), canceled.at(task, "canceled"))
	t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), told("cancel", "TASK_NOT_CANCELABLE", buyerTold))
	t.stands(task, "canceled")

	t = s.story("signed-before", "it is judged by the state of the task when it comes, not when it was signed (D110)")
	task = t.task("one")
	first := t.comes(t.request(s.agents.buyer))
	cancel := t.cancelTask(s.agents.buyer, task, "policy")
	t.posted(t.respond(s.agents.own, first, "completed", ofTask(task)))
	t.arrives(cancel, told("cancel", "TASK_NOT_CANCELABLE", buyerTold))
	t.stands(task, "completed")

	t = s.story("signed-before-working", "a cancel that was signed before the last word ends the task all the same (D110)")
	task = t.task("one")
	first = t.comes(t.request(s.agents.buyer))
	t.posted(t.respond(s.agents.own, first, "working", ofTask(task)))
	cancel = t.cancelTask(s.agents.buyer, task, "policy")
	t.posted(t.respond(s.agents.own, first, "input_required", ofTask(task)))
	t.arrives(cancel, canceled.at(task, "canceled"))
	t.stands(task, "canceled")

	t = s.story("begun-by-request", "a task that its request began, and nobody spoke of")
	task = t.task("one")
	t.comes(t.request(s.agents.buyer, ofTask(task)))
	t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), canceled.at(task, "canceled"))
	t.stands(task, "canceled")

	t = s.story("after-restart", "tasks outlive the program")
	task = t.begun("working")
	t.restart()
	t.arrives(t.cancelTask(s.agents.buyer, task, "policy"), canceled.at(task, "canceled"))
	t.stands(task, "canceled")
}

func cancelWho(s *suite) {
	t := s.story("unknown-task", "there is no such task")
	t.arrives(t.cancelTask(s.agents.buyer, t.task("none"), "policy"), told("cancel", "TASK_NOT_FOUND", buyerTold))

	t = s.story("unknown-task-bad-reason", "a cancel that is none is not looked up")
	t.arrives(t.cancelTask(s.agents.buyer, t.task("none"), "bored"), noCancel)

	t = s.story("request-id", "the id of a request is no task")
	x := t.comes(t.request(s.agents.buyer))
	t.arrives(t.cancelTask(s.agents.buyer, x.id(), "policy"), told("cancel", "TASK_NOT_FOUND", buyerTold))

	t = s.story("stranger", "a task of another agent (E6): not answered")
	task := t.begun("working")
	t.arrives(t.cancelTask(s.agents.friend, task, "policy"), silent("stranger"))
	t.stands(task, "working")

	t = s.story("stranger-finished", "nor is it told that the task has ended (E6)")
	task = t.begun("completed")
	t.arrives(t.cancelTask(s.agents.friend, task, "policy"), silent("stranger"))
	t.stands(task, "completed")

	t = s.story("stranger-in-input", "named in the input alone (E6)")
	task = t.begun("working")
	t.arrives(t.cancelTask(s.agents.friend, task, "policy", omit("task_id")), silent("stranger"))
	t.stands(task, "working")

	t = s.story("stranger-unknown", "an agent that is not admitted does not wait for it (D119)")
	task = t.begun("working")
	t.arrives(t.cancelTask(s.agents.third, task, "policy"), silent("stranger"))
	t.stands(task, "working")

	t = s.story("stranger-blocked", "a block comes first")
	task = t.begun("working")
	t.arrives(t.cancelTask(s.agents.blocked, task, "policy"), blocked)
	t.stands(task, "working")

	t = s.story("asked-agent", "the agent that was asked does not cancel: it answers (E6)")
	task, list := t.updates("working")
	t.arrives(list[0], taken.at(task, "working"))
	t.arrives(t.cancelTask(s.agents.helper, task, "policy"), silent("stranger"))
	t.stands(task, "working")

	t = s.story("not-admitted", "a cancel of an unknown task by an agent that is not admitted waits")
	t.arrives(t.cancelTask(s.agents.third, t.task("none"), "policy"), waits)

	t = s.story("again", "the same cancel again is a duplicate, and answered once")
	task = t.begun("working")
	x = t.cancelTask(s.agents.buyer, task, "policy")
	t.arrives(x, canceled.at(task, "canceled"))
	t.arrives(x, silent("duplicate"))
	t.stands(task, "canceled")
}
