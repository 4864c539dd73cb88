package threads

// steps are the transitions of a task (§7). A final state has none.
var steps = map[TaskState][]TaskState{
	TaskSubmitted:     {TaskWorking, TaskCanceled, TaskRejected, TaskExhausted},
	TaskWorking:       {TaskCompleted, TaskFailed, TaskInputRequired, TaskAuthRequired, TaskCanceled, TaskExhausted},
	TaskInputRequired: {TaskWorking, TaskCanceled, TaskExhausted},
	TaskAuthRequired:  {TaskWorking, TaskCanceled, TaskExhausted},
	TaskCompleted:     nil,
	TaskFailed:        nil,
	TaskCanceled:      nil,
	TaskRejected:      nil,
	TaskExhausted:     nil,
}

// valid tells whether it is one of the nine states.
func (s TaskState) valid() bool {
	_, ok := steps[s]
	return ok
}

// Final tells whether nothing follows the state.
func (s TaskState) Final() bool { return s.valid() && len(steps[s]) == 0 }

// fold is the state after all updates, in the order of compareUpdates (E1).
// One that no path leads to is passed over; the first final state ends it.
func fold(updates []Update) TaskState {
	state := TaskSubmitted
	for _, u := range updates {
		if state.leadsTo(u.State) {
			state = u.State
		}
	}
	return state
}

// leadsTo tells whether a path of steps, which email may have lost or
// overtaken in part, goes from one state to another. An open state leads to
// itself; a final one leads nowhere.
func (s TaskState) leadsTo(to TaskState) bool {
	return !s.Final() && reaches(s, to, map[TaskState]bool{})
}

func reaches(from, to TaskState, seen map[TaskState]bool) bool {
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
