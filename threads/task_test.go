package threads

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	asker = "UASKER"
	doer  = "UDOER"
)

// update is a word of the agent that was asked, with an id that follows its time.
func update(ts int64, s agentmsg.Status) Update {
	return Update{ID: fmt.Sprintf("%03d", ts), From: doer, TS: ts, State: s}
}

func task(t *testing.T, updates ...Update) Task {
	t.Helper()
	task := NewTask("T", asker, doer)
	for _, u := range updates {
		var err error
		if task, _, err = UpdateTask(task, u); err != nil {
			t.Fatal(err)
		}
	}
	return task
}

func TestUpdateTask(t *testing.T) {
	working := update(10, agentmsg.StatusWorking)
	for name, c := range map[string]struct {
		past   []Update
		update Update
		effect TaskEffect
		state  agentmsg.Status
	}{
		"the first word":                            {nil, update(1, agentmsg.StatusSubmitted), Advanced, agentmsg.StatusSubmitted},
		"a step":                                    {nil, working, Advanced, agentmsg.StatusWorking},
		"work goes on":                              {[]Update{working}, update(11, agentmsg.StatusWorking), Advanced, agentmsg.StatusWorking},
		"a state that a path passes is skipped":     {nil, update(1, agentmsg.StatusCompleted), Advanced, agentmsg.StatusCompleted},
		"input, then input again":                   {[]Update{working, update(11, agentmsg.StatusInputRequired)}, update(12, agentmsg.StatusInputRequired), Advanced, agentmsg.StatusInputRequired},
		"input, then authorisation":                 {[]Update{update(11, agentmsg.StatusInputRequired)}, update(12, agentmsg.StatusAuthRequired), Advanced, agentmsg.StatusAuthRequired},
		"authorisation, then done":                  {[]Update{update(11, agentmsg.StatusAuthRequired)}, update(12, agentmsg.StatusCompleted), Advanced, agentmsg.StatusCompleted},
		"no path leads back":                        {[]Update{working}, update(11, agentmsg.StatusSubmitted), Noted, agentmsg.StatusWorking},
		"no path leads to a refusal":                {[]Update{working}, update(11, agentmsg.StatusRejected), Noted, agentmsg.StatusWorking},
		"the first final state stands":              {[]Update{update(10, agentmsg.StatusFailed)}, update(11, agentmsg.StatusCompleted), Noted, agentmsg.StatusFailed},
		"late, and nothing is changed":              {[]Update{update(10, agentmsg.StatusCompleted)}, update(9, agentmsg.StatusWorking), Noted, agentmsg.StatusCompleted},
		"late, and ended before":                    {[]Update{update(10, agentmsg.StatusCompleted)}, update(9, agentmsg.StatusFailed), Corrected, agentmsg.StatusFailed},
		"late, and the refusal was none":            {[]Update{update(20, agentmsg.StatusRejected)}, working, Corrected, agentmsg.StatusWorking},
		"late, and what was passed over counts":     {[]Update{update(20, agentmsg.StatusRejected), update(30, agentmsg.StatusCompleted)}, working, Corrected, agentmsg.StatusCompleted},
		"at the same time, the lower id was before": {[]Update{update(10, agentmsg.StatusCompleted)}, Update{"009", doer, 10, agentmsg.StatusFailed}, Corrected, agentmsg.StatusFailed},
		"at the same time, the higher id is behind": {[]Update{update(10, agentmsg.StatusCompleted)}, Update{"011", doer, 10, agentmsg.StatusFailed}, Noted, agentmsg.StatusCompleted},
		"the same again":                            {[]Update{working}, working, Known, agentmsg.StatusWorking},
		"the same id with another word":             {[]Update{working}, Update{"010", doer, 11, agentmsg.StatusFailed}, Known, agentmsg.StatusWorking},
	} {
		t.Run(name, func(t *testing.T) {
			before := task(t, c.past...)
			kept := slices.Clone(before.Updates)
			next, effect, err := UpdateTask(before, c.update)
			if err != nil || effect != c.effect || next.State != c.state {
				t.Errorf("%s, %s, %v; want %s, %s", next.State, effect, err, c.state, c.effect)
			}
			if !cmp.Equal(kept, before.Updates) {
				t.Error("the task given was changed")
			}
			added := 1
			if c.effect == Known {
				added = 0
			}
			if len(next.Updates) != len(kept)+added || !slices.IsSortedFunc(next.Updates, compareUpdates) {
				t.Errorf("history %v", next.Updates)
			}
		})
	}
}

// The nine states and their steps, as the table of §7 has them: what a single
// update behind another does.
func TestTaskTable(t *testing.T) {
	open := []agentmsg.Status{agentmsg.StatusSubmitted, agentmsg.StatusWorking, agentmsg.StatusInputRequired, agentmsg.StatusAuthRequired}
	final := []agentmsg.Status{agentmsg.StatusCompleted, agentmsg.StatusFailed, agentmsg.StatusCanceled, agentmsg.StatusRejected, agentmsg.StatusExhausted}
	for _, from := range append(open[:4:4], final...) {
		for _, to := range append(open[:4:4], final...) {
			want := to
			begun := from != agentmsg.StatusSubmitted
			if slices.Contains(final, from) || begun && (to == agentmsg.StatusSubmitted || to == agentmsg.StatusRejected) {
				want = from
			}
			if got := task(t, update(1, from), update(2, to)).State; got != want {
				t.Errorf("%s, then %s: %s; want %s", from, to, got, want)
			}
		}
		if from.Final() != slices.Contains(final, from) || from.Final() != (len(steps[from]) == 0) {
			t.Errorf("%s is final: %v", from, from.Final())
		}
	}
	if isState(agentmsg.StatusAccepted) {
		t.Error("accepted is no state")
	}
}

func TestUpdateTaskRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Update)
		want   error
	}{
		"the agent that asked":   {func(u *Update) { u.From = asker }, ErrStranger},
		"a third agent":          {func(u *Update) { u.From = "UTHIRD" }, ErrStranger},
		"another letter case":    {func(u *Update) { u.From = "Udoer" }, ErrStranger},
		"no state":               {func(u *Update) { u.State = "" }, ErrTaskState},
		"accepted is no state":   {func(u *Update) { u.State = "accepted" }, ErrTaskState},
		"another spelling of it": {func(u *Update) { u.State = "cancelled" }, ErrTaskState},
	} {
		t.Run(name, func(t *testing.T) {
			before := task(t, update(1, agentmsg.StatusWorking))
			u := update(2, agentmsg.StatusCompleted)
			c.change(&u)
			next, effect, err := UpdateTask(before, u)
			if !errors.Is(err, c.want) || effect != "" || !cmp.Equal(next, before) {
				t.Errorf("%v, %q, %v", next, effect, err)
			}
		})
	}
}

func TestCancelTask(t *testing.T) {
	cancel := Update{ID: "c", From: asker, TS: 100}
	for name, c := range map[string]struct {
		past   []Update
		change func(*Update)
		want   error
	}{
		"a task nobody spoke of":     {nil, nil, nil},
		"one that is worked on":      {[]Update{update(1, agentmsg.StatusWorking)}, nil, nil},
		"one that waits":             {[]Update{update(1, agentmsg.StatusAuthRequired)}, nil, nil},
		"signed before what we said": {[]Update{update(200, agentmsg.StatusWorking)}, nil, nil},
		"one that is done":           {[]Update{update(1, agentmsg.StatusCompleted)}, nil, ErrFinished},
		"done after it was signed":   {[]Update{update(200, agentmsg.StatusCompleted)}, nil, ErrFinished},
		"by the agent that works":    {nil, func(u *Update) { u.From = doer }, ErrStranger},
		"by a third agent":           {nil, func(u *Update) { u.From = "UTHIRD" }, ErrStranger},
	} {
		t.Run(name, func(t *testing.T) {
			before := task(t, c.past...)
			u := cancel
			if c.change != nil {
				c.change(&u)
			}
			next, err := CancelTask(before, u)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v; want %v", err, c.want)
			}
			if c.want != nil {
				if !cmp.Equal(next, before) {
					t.Errorf("%v", next)
				}
				return
			}
			if next.State != agentmsg.StatusCanceled || len(next.Updates) != len(before.Updates)+1 {
				t.Errorf("%v", next)
			}
			if _, err := CancelTask(next, u); !errors.Is(err, ErrFinished) {
				t.Errorf("canceled twice: %v", err)
			}
		})
	}
}

func TestContinues(t *testing.T) {
	for from, want := range map[string]error{asker: nil, doer: ErrStranger, "UTHIRD": ErrStranger} {
		if err := task(t, update(1, agentmsg.StatusInputRequired)).Continues(from); !errors.Is(err, want) {
			t.Errorf("%s: %v", from, err)
		}
	}
}

// The history is bounded, and a full one can still end, once (D111).
func TestTaskHistoryIsBounded(t *testing.T) {
	full := NewTask("T", asker, doer)
	for i := range int64(MaxUpdates) {
		full, _, _ = UpdateTask(full, update(i+1, agentmsg.StatusWorking))
	}
	if len(full.Updates) != MaxUpdates {
		t.Fatalf("%d updates", len(full.Updates))
	}
	for _, s := range []agentmsg.Status{agentmsg.StatusWorking, agentmsg.StatusRejected} {
		if next, _, err := UpdateTask(full, update(1000, s)); !errors.Is(err, ErrTaskFull) || len(next.Updates) != MaxUpdates {
			t.Errorf("%s: %v", s, err)
		}
	}
	if canceled, err := CancelTask(full, Update{ID: "c", From: asker, TS: 1}); err != nil || canceled.State != agentmsg.StatusCanceled {
		t.Errorf("cancel: %v", err)
	}
	done, effect, err := UpdateTask(full, update(1000, agentmsg.StatusCompleted))
	if err != nil || effect != Advanced || done.State != agentmsg.StatusCompleted {
		t.Fatalf("%s, %v", effect, err)
	}
	if next, _, err := UpdateTask(done, update(0, agentmsg.StatusFailed)); !errors.Is(err, ErrTaskFull) || next.State != agentmsg.StatusCompleted {
		t.Errorf("beyond the end: %v", err)
	}
}

// E1: up to six updates give one task in every order of their arrival, with
// whatever comes twice; and a task moves without a late word only as its
// latest update says.
func TestEveryOrderOfArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		updates := make([]Update, rapid.IntRange(1, 6).Draw(t, "updates"))
		for i := range updates {
			updates[i] = Update{
				ID: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id")*10 + i), From: doer,
				TS:    rapid.Int64Range(1, 4).Draw(t, "ts"), // so that some are equal
				State: rapid.SampledFrom([]agentmsg.Status{agentmsg.StatusSubmitted, agentmsg.StatusWorking, agentmsg.StatusInputRequired, agentmsg.StatusAuthRequired, agentmsg.StatusCompleted, agentmsg.StatusFailed, agentmsg.StatusCanceled, agentmsg.StatusRejected, agentmsg.StatusExhausted}).Draw(t, "state"),
			}
		}
		twice := rapid.IntRange(0, len(updates)-1).Draw(t, "twice")
		want := arrive(t, updates)
		permute(updates, func(order []Update) {
			if got := arrive(t, order); !same(got, want) {
				t.Fatalf("%v gives %v; want %v", order, got, want)
			}
			if got := arrive(t, append(order[:len(order):len(order)], order[twice])); !same(got, want) {
				t.Fatalf("%v and one of them again gives %v; want %v", order, got, want)
			}
		})
	})
}

func same(a, b Task) bool { return a.State == b.State && slices.Equal(a.Updates, b.Updates) }

func arrive(t *rapid.T, updates []Update) Task {
	task := NewTask("T", asker, doer)
	for _, u := range updates {
		next, effect, err := UpdateTask(task, u)
		if err != nil {
			t.Fatal(err)
		}
		late := slices.ContainsFunc(task.Updates, func(v Update) bool { return compareUpdates(v, u) > 0 })
		switch {
		case effect == Advanced && (late || next.State != u.State),
			effect == Corrected && (!late || next.State == task.State),
			(effect == Noted || effect == Known) && next.State != task.State:
			t.Fatalf("%v in %v is %s, and gives %s", u, task, effect, next.State)
		}
		task = next
	}
	return task
}

// permute gives every order of a list (Heap's algorithm); the one given to
// visit is not kept.
func permute(list []Update, visit func([]Update)) {
	var run func(n int)
	list = slices.Clone(list)
	run = func(n int) {
		if n <= 1 {
			visit(list)
			return
		}
		for i := range n {
			run(n - 1)
			if n%2 == 0 {
				list[i], list[n-1] = list[n-1], list[i]
			} else {
				list[0], list[n-1] = list[n-1], list[0]
			}
		}
	}
	run(len(list))
}
