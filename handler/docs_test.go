package handler

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/threads"
)

// TestDocumented compares docs/handler.md with the code: every member is
// named, and the event shown is the one of the tests.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/handler.md")
	check(t, err)
	event, err := os.ReadFile("testdata/event.json")
	check(t, err)
	if !strings.Contains(string(page), "```json\n"+string(event)+"```\n") {
		t.Error("the page does not show testdata/event.json")
	}
	for _, v := range []any{Document{}, Proof{}, Thread{}, inbox.Entry{}, threads.Entry{}, inbox.Delivery{}, inbox.Action{}} {
		for field := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("the page does not name %s of %T", name, v)
			}
		}
	}
}
