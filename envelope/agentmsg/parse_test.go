package agentmsg

import (
	"errors"
	"testing"
)

// valid is the members of a good request, to be broken one at a time and
// signed by the sender of the vectors.
func valid() map[string]any {
	return map[string]any{
		"v": "0.2.0", "id": "019894f0-0000-7000-8000-000000000001", "type": "request", "ts": "2026-07-26T12:00:00.000Z",
		"from":    "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP",
		"to":      "UAKQRYZBYFOC65OQZVJ3QPCIERDTRNNZPMOJUYXC3DGPRCDWSKD4HV5A",
		"trace":   map[string]any{"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"},
		"payload": map[string]any{"offering": "chat", "input": map[string]any{"text": "hello"}},
	}
}

// codeOf is the code of a refusal, and whether err is one.
func codeOf(err error) Code {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Code
	}
	return ""
}

func TestParseValid(t *testing.T) {
	if _, err := Parse(sign(t, sender(t), valid())); err != nil {
		t.Error(err)
	}
}

// Each case is the baseline with one thing wrong.
func TestParseRefuses(t *testing.T) {
	i := sender(t)
	for name, tc := range map[string]struct {
		code Code
		set  func(m map[string]any)
	}{
		"no version":       {CodeJSON, func(m map[string]any) { delete(m, "v") }},
		"version 1":        {CodeJSON, func(m map[string]any) { m["v"] = "1.0" }},
		"no UUID":          {CodeJSON, func(m map[string]any) { m["id"] = "1" }},
		"an event":         {CodeType, func(m map[string]any) { m["type"] = "event" }},
		"no type":          {CodeJSON, func(m map[string]any) { delete(m, "type") }},
		"no offering":      {CodeJSON, func(m map[string]any) { m["payload"] = map[string]any{} }},
		"two offerings":    {CodeJSON, func(m map[string]any) { m["payload"].(map[string]any)["skill"] = "knock" }},
		"an empty task_id": {CodeJSON, func(m map[string]any) { m["task_id"] = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			m := valid()
			tc.set(m)
			if _, err := Parse(sign(t, i, m)); codeOf(err) != tc.code {
				t.Errorf("%v, want %s", err, tc.code)
			}
		})
	}
}
