package handler

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/threads"
)

// TestDocumented compares docs/handler.md with the code: every member is
// named, and the events shown are those of the tests.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/handler.md")
	check(t, err)
	event, err := os.ReadFile("testdata/event.json")
	check(t, err)
	exchange, err := os.ReadFile("testdata/exchange.json")
	check(t, err)
	for _, shown := range [][]byte{event, exchange} {
		if !strings.Contains(string(page), "```json\n"+string(shown)+"```\n") {
			t.Errorf("the page does not show %s", shown)
		}
	}
	for _, v := range []any{Document{}, Proof{}, Exchange{}, File{}, agentmsg.Failure{}, inbox.Standing{}, Thread{}, inbox.Entry{}, threads.Entry{}, inbox.Delivery{}, inbox.Action{}} {
		for field := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "-" && !strings.Contains(string(page), "`"+name+"`") { // with - it is no member
				t.Errorf("the page does not name %s of %T", name, v)
			}
		}
	}
}

// TestStreamDocumented holds that the page shows the example as it is.
func TestStreamDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/handler.md")
	check(t, err)
	example, err := os.ReadFile("../examples/stream.py")
	check(t, err)
	if !strings.Contains(string(page), "```python\n"+string(example)+"```\n") {
		t.Error("the page shows another program")
	}
}
