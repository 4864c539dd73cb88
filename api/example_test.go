package api

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/limits"
)

// TestExample has the example ask for a quote and be given one, and docs/api.md show it and its output.
func TestExample(t *testing.T) {
	page, err := os.ReadFile("../docs/api.md")
	check(t, err)
	program, err := os.ReadFile("../examples/api.py")
	check(t, err)
	if !strings.Contains(string(page), "```python\n"+string(program)+"```\n") {
		t.Error("docs/api.md shows another examples/api.py")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed: apt-get install python3, then go test ./api")
	}
	r := newRig(t, func(s *inbox.Settings) {
		s.Limits = &limits.Limits{Auto: limits.WithinLimits, OpenOffers: 20, HourlyMessages: 60}
	})
	server := httptest.NewServer(r.handler)
	defer server.Close()
	r.carry(t)
	sold := make(chan error, 1)
	go func() { // east quotes what it is asked
		after := ""
		for {
			events, more, err := r.sides["east"].Events(after, 1)
			if err != nil {
				sold <- err
				return
			}
			if len(events) == 0 {
				<-more
				continue
			}
			if after = events[0].Seq; events[0].Kind == inbox.KindReceived {
				response := httptest.NewRecorder()
				r.handler.ServeHTTP(response, r.request("POST", "/inboxes/east/actions", r.owner, quoteOf(events[0].Thread)))
				sold <- nil
				return
			}
		}
	}()
	command := exec.CommandContext(t.Context(), "../examples/api.py", "west", "agent@east.test")
	command.Env = append(os.Environ(), "AGENTMAILD_API="+server.URL, "AGENTMAILD_TOKEN="+r.agent)
	out, err := command.CombinedOutput()
	check(t, err)
	check(t, <-sold)
	if want := "asked agent@east.test\nquoted 55000 EUR by agent@east.test signed east.test\n"; string(out) != want {
		t.Errorf("it says %q, not %q", out, want)
	}
	if shown := strings.ReplaceAll(string(out), "east.test", "seller.example"); !strings.Contains(string(page), "\n"+shown+"```\n") {
		t.Errorf("docs/api.md shows another output than\n%s", shown)
	}
}
