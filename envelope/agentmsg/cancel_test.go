package agentmsg

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// cancelOf is a request for task.cancel.
func cancelOf(t *testing.T, input any, task string) *Envelope {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return &Envelope{TaskID: task, Request: &Request{Offering: OfferingCancel, Input: present(data)}}
}

func TestVectorCancel(t *testing.T) {
	v := readVectors(t)
	for _, input := range v.Cancel.Invalid {
		if c, err := ParseCancel(cancelOf(t, input, "")); !errors.Is(err, ErrCancel) {
			t.Errorf("%s: %v, %v", input, c, err)
		}
	}
	for _, vector := range v.Cancel.Propagated {
		var original cancelInput
		if err := json.Unmarshal(vector.Original, &original); err != nil {
			t.Fatal(err)
		}
		got := Cancel{TaskID: "a", Reason: original.Reason, Note: text(original.Note)}.Forward("b")
		if diff := cmp.Diff(Cancel{TaskID: "b", Reason: ReasonUpstreamCancelled, Note: vector.Note}, got); diff != "" {
			t.Errorf("%s: %s", vector.Original, diff)
		}
	}
	for _, status := range v.Cancel.From {
		if !status.known() || status.Final() {
			t.Errorf("%s is final", status)
		}
	}
	for _, status := range v.Cancel.NotFrom {
		if !status.Final() {
			t.Errorf("%s is not final", status)
		}
	}
	for _, vector := range v.Envelopes {
		if vector.Name != "task_cancel_request" {
			continue
		}
		e, err := Parse(vector.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseCancel(e)
		want := Cancel{TaskID: "0198c001-0000-7000-8000-00000000cafe", Reason: ReasonSuperseded, Note: "re-planned; a broader query replaces this one"}
		if err != nil || c != want {
			t.Errorf("%v, %v", c, err)
		}
		if r, err := c.Request(); err != nil || string(r.Input) != string(e.Request.Input) {
			t.Errorf("made again: %v, %v", r, err)
		}
	}
}

func TestParseCancel(t *testing.T) {
	for name, tc := range map[string]struct {
		set   object // over {task_id: a, reason: policy}
		task  string
		valid bool
	}{
		"baseline":                  {object{}, "", true},
		"nulls (E5)":                {object{"note": null, "unmet_need": null, "dependency": null}, "", true},
		"another member":            {object{"more": 1}, "", true},
		"a note":                    {object{"note": "why\nnot"}, "", true},
		"the task of the envelope":  {object{"task_id": nil}, "a", true},
		"both the same":             {object{}, "a", true},
		"two tasks":                 {object{}, "b", false},
		"no task":                   {object{"task_id": nil}, "", false},
		"an empty task":             {object{"task_id": ""}, "", false},
		"a task with a line break":  {object{"task_id": "a\n"}, "", false},
		"a number for a task":       {object{"task_id": 1}, "", false},
		"no reason":                 {object{"reason": nil}, "", false},
		"an unmet need":             {object{"reason": "needs_not_furnished", "unmet_need": "credential:Salesforce"}, "", true},
		"a need with a colon":       {object{"reason": "needs_not_furnished", "unmet_need": "file:text/csv: all"}, "", true},
		"no unmet need":             {object{"reason": "needs_not_furnished"}, "", false},
		"a need of no kind":         {object{"reason": "needs_not_furnished", "unmet_need": ":x"}, "", false},
		"a need of no value":        {object{"reason": "needs_not_furnished", "unmet_need": "file: "}, "", false},
		"a need without a colon":    {object{"reason": "needs_not_furnished", "unmet_need": "file"}, "", false},
		"a need with a line break":  {object{"reason": "needs_not_furnished", "unmet_need": "file:a\nb"}, "", false},
		"an empty need":             {object{"reason": "needs_not_furnished", "unmet_need": ""}, "", false},
		"a need of another reason":  {object{"unmet_need": "file:x"}, "", false},
		"an empty one":              {object{"unmet_need": ""}, "", false},
		"a dependency":              {object{"reason": "dependency_failed", "dependency": "DMV"}, "", true},
		"none":                      {object{"reason": "dependency_failed"}, "", true},
		"an empty dependency":       {object{"reason": "dependency_failed", "dependency": ""}, "", false},
		"a dependency elsewhere":    {object{"dependency": "DMV"}, "", false},
		"a dependency that is long": {object{"reason": "dependency_failed", "dependency": strings.Repeat("x", maxName+1)}, "", false},
		"a dependency of an object": {object{"reason": "dependency_failed", "dependency": object{}}, "", false},
	} {
		input := object{"task_id": "a", "reason": "policy"}
		for path, value := range tc.set {
			set(input, path, value)
		}
		c, err := ParseCancel(cancelOf(t, input, tc.task))
		if (err == nil) != tc.valid || !tc.valid && !errors.Is(err, ErrCancel) || tc.valid && c.TaskID != "a" {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	for _, e := range []*Envelope{
		cancelOf(t, null, "a"), cancelOf(t, "a", "a"), cancelOf(t, []any{}, "a"),
		{Request: &Request{Offering: "chat", Input: jsontext.Value(`{"task_id":"a","reason":"policy"}`)}},
		{Respond: &Respond{}},
	} {
		if c, err := ParseCancel(e); !errors.Is(err, ErrCancel) {
			t.Errorf("%v, %v", c, err)
		}
	}
}

// What is asked is read as it was meant, and nothing is asked that would be refused.
func TestCancelRequest(t *testing.T) {
	for _, c := range []Cancel{
		{TaskID: "a", Reason: ReasonUserRequested},
		{TaskID: "a", Reason: ReasonNeedsNotFurnished, UnmetNeed: "file:x", Note: "n"},
		{TaskID: "a", Reason: ReasonDependencyFailed, Dependency: "d"},
	} {
		r, err := c.Request()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseCancel(&Envelope{Request: r}); err != nil || got != c {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, c := range []Cancel{{}, {TaskID: "a", Reason: "bored"}, {TaskID: "a", Reason: ReasonPolicy, UnmetNeed: "file:x"}, {TaskID: "a", Reason: ReasonPolicy, Note: "\xff"}} {
		if r, err := c.Request(); !errors.Is(err, ErrCancel) {
			t.Errorf("%v, %v", r, err)
		}
	}
}

func TestReasons(t *testing.T) {
	want := strings.Fields("user_requested superseded deadline_exceeded budget_exhausted upstream_cancelled policy needs_not_furnished dependency_failed")
	for _, reason := range append(want, "", "canceled", "Policy") {
		if Reason(reason).known() != slices.Contains(want, reason) {
			t.Error(reason)
		}
	}
}
