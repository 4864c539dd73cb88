package handler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
)

// eachLine answers every event with a command of the shell, which has its
// number in $n and the id of its message in $id.
func eachLine(command string) string {
	return `while read -r line; do
	n=$(printf '%s' "$line" | sed -n 's/^{"version":1,"event":"\([0-9a-f]*\)".*/\1/p')
	id=$(printf '%s' "$line" | sed -n 's/.*"type":"ask_quote","id":"\([0-9a-f-]*\)".*/\1/p')
	` + command + `
	done`
}

const (
	declines = `echo '{"event":"'$n'","action":{"type":"decline","ref":"'$id'","reason":"other"}}'`
	leaves   = `echo '{"event":"'$n'"}'`
)

// stays is a handler whose program stays, and is ended with the test.
func (s *scene) stays(script string, args ...string) *Handler {
	s.t.Helper()
	h := s.handler(script, args...)
	h.Stream = true
	s.t.Cleanup(func() { h.dismiss(0) })
	return h
}

// TestStream has one program answer several events.
func TestStream(t *testing.T) {
	s := newScene(t)
	starts := write(t, "starts", "")
	h := s.stays(`echo up >>"$1"; `+eachLine(`if [ -e "$2" ]; then `+leaves+`; else `+declines+`; fi`), starts, filepath.Join(t.TempDir(), "leave"))
	first := s.ask()
	s.answer(h)
	check(t, os.WriteFile(h.Command[len(h.Command)-1], nil, 0o600))
	second := s.ask()
	s.answer(h)
	if a, b := s.state(first), s.state(second); a != "declined" || b != "open" || s.pending() != nil || s.trouble() != "" {
		t.Errorf("the asks are %s and %s, pending %v, shown %q", a, b, s.pending(), s.trouble())
	}
	if up, err := os.ReadFile(starts); err != nil || string(up) != "up\n" {
		t.Errorf("it was started: %q, %v", up, err)
	}
}

// TestStreamAnswers has a program answer wrongly. Whoever is out of step is
// ended, and there is another one for the next event.
func TestStreamAnswers(t *testing.T) {
	for _, c := range []struct {
		name, script, trouble string
		ended                 bool
	}{
		{"null", eachLine(`echo '{"event":"'$n'","action":null}'`), "", false},
		{"no action", eachLine(`echo '{"event":"'$n'","action":{"kind":"decline"}}'`), "its output is no action", false},
		{"action that the state forbids", eachLine(`echo '{"event":"'$n'","action":{"type":"accept","ref":"'$id'"}}'`), "action cannot be done", false},
		{"action alone", eachLine(`echo '{"type":"decline","ref":"'$id'"}'`), "its line is no answer", true},
		{"no JSON", eachLine(`echo no`), "its line is no answer", true},
		{"two in a line", eachLine(`printf '{"event":"%s"}{"event":"%s"}\n' $n $n`), "its line is no answer", true},
		{"a member twice", eachLine(`printf '{"event":"%s","event":"%s"}\n' $n $n`), "its line is no answer", true},
		{"another event", eachLine(`echo '{"event":"0000000000000077"}'`), `it answered event "0000000000000077" and was asked about `, true},
		{"no event", eachLine(`echo '{}'`), `it answered event ""`, true},
		{"longest line", eachLine(`printf '%65514s{"event":"%s"}\n' '' $n | tail -c 65537`), "", false},
		{"line too long", eachLine(`printf '%70000s\n' ''`), "its answer is longer than 65536 bytes", true},
		{"line without end", `head -c 10000000 /dev/zero; sleep 1000`, "its answer is longer than 65536 bytes", true},
		{"ends", `read -r line; echo no more >&2; exit 3`, "it ended without an answer: exit status 3: no more", true},
		{"ends well", `read -r line`, "it ended without an answer: exit status 0", true},
		{"half a line", `read -r line; printf '{"event":'`, "it ended without an answer: exit status 0", true},
		{"killed", `kill -9 $$`, "it ended without an answer: signal: killed", true},
		{"closes its output", `exec >&-; sleep 1000`, "it ended without an answer: EOF", true},
		{"leaves a process behind", `sleep 1000 & read -r line; exit 4`, "it ended without an answer: exit status 4", true},
		{"leaves one in a group of its own", `setsid sleep 3 & read -r line; exit 4`, "it ended without an answer: exit status 4", true},
		{"complains without end", `yes >&2 & ` + eachLine(leaves), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			ask := s.ask()
			h := s.stays(c.script)
			s.answer(h)
			trouble := s.trouble()
			if (c.trouble == "") != (trouble == "") || !strings.Contains(trouble, c.trouble) {
				t.Errorf("the owner is shown %q, want %q", trouble, c.trouble)
			}
			if s.state(ask) != "open" || (h.resident == nil) != c.ended {
				t.Errorf("the ask is %s, the program is there: %t", s.state(ask), h.resident != nil)
			}
			if c.trouble == "" {
				return
			}
			s.now = s.now.Add(time.Minute)
			h.Command = s.handler(eachLine(declines)).Command
			h.dismiss(0)
			s.answer(h)
			if s.state(ask) != "declined" || h.failures != 0 {
				t.Errorf("asked again, the ask is %s, %d failures", s.state(ask), h.failures)
			}
		})
	}
}

// TestStreamTwoAnswers has a program answer once too often: it is found out at
// the next event, which the answer is not about.
func TestStreamTwoAnswers(t *testing.T) {
	s := newScene(t)
	h := s.stays(eachLine(leaves + "; " + leaves))
	s.ask()
	s.answer(h)
	s.ask()
	s.answer(h)
	if got := s.trouble(); !strings.Contains(got, "it answered event ") {
		t.Errorf("the owner is shown %q", got)
	}
}

func TestStreamTimeLimit(t *testing.T) {
	for name, script := range map[string]string{"reads and is silent": `read -r line; echo thinking >&2; exec sleep 1000`, "reads nothing": `exec sleep 1000`} {
		s := newScene(t)
		s.ask()
		h := s.stays(script)
		h.Timeout = 50 * time.Millisecond
		s.answer(h)
		if got := s.trouble(); !strings.Contains(got, "it gave no answer within 50ms and was killed") || h.resident != nil {
			t.Errorf("%s: the owner is shown %q", name, got)
		}
	}
}

// TestStreamEndsBetween starts a program again that ended after its answer.
func TestStreamEndsBetween(t *testing.T) {
	s := newScene(t)
	h := s.stays(eachLine(declines + `; exit 0`))
	logged := make(chan string, 10)
	h.Log = logTo(logged)
	for range 2 {
		ask := s.ask()
		s.answer(h)
		if s.state(ask) != "declined" {
			t.Errorf("the ask is %s, shown %q", s.state(ask), s.trouble())
		}
		<-h.resident.ended
	}
	<-logged // handler answered
	if got := <-logged; !strings.Contains(got, "the handler ended and is started again") {
		t.Errorf("logged %q", got)
	}
}

// TestStreamRests has a program that fails be started less and less often.
func TestStreamRests(t *testing.T) {
	s := newScene(t)
	h := s.stays("")
	h.Command = []string{"/nonexistent/handler"}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if _, err := h.converse(t.Context(), "1", nil); err == nil || !strings.Contains(err.Error(), "running /nonexistent/handler: ") {
			t.Fatalf("started: %v", err)
		}
		if rest := h.notBefore.Sub(s.now); rest != want*time.Second {
			t.Errorf("after %d failures it rests %s, want %ds", h.failures, rest, want)
		}
		s.now = h.notBefore
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	s.now = s.now.Add(-time.Hour)
	if _, err := h.converse(stopped, "1", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop while it rests: %v", err)
	}
}

// TestStreamSays has what a program complains of logged, line by line,
// printable and bounded.
func TestStreamSays(t *testing.T) {
	s := newScene(t)
	s.ask()
	h := s.stays(`printf 'a\033[2Jb\n\n%700s\n' '' | tr ' ' x >&2; for n in $(seq 30); do echo $n >&2; done; ` + eachLine(declines))
	logged := make(chan string, 100)
	h.Log = logTo(logged)
	s.answer(h)
	h.dismiss(endWait)
	close(logged)
	var said []string
	for line := range logged {
		if _, text, ok := strings.Cut(line, "the handler says"); ok {
			_, text, _ = strings.Cut(text, "text=")
			said = append(said, strings.TrimSpace(text))
		}
	}
	if len(said) != maxSaid+1 || said[0] != `"a [2Jb"` || said[1] != strings.Repeat("x", maxStderr) || said[2] != "1" || !strings.Contains(said[maxSaid], "and more") {
		t.Errorf("logged %d lines: %.700q", len(said), said)
	}
}

// TestStreamStops ends a program with Run: it may end by itself once its input
// is closed, and else it is killed with its children, which hold a pipe open.
func TestStreamStops(t *testing.T) {
	for _, c := range []struct{ name, script, bye string }{
		{"by itself", `exec 3>"$1"; ` + eachLine(declines) + `; echo bye >&3`, "bye"},
		{"killed", `exec 3>"$1"; (sleep 1000; :) & ` + eachLine(declines) + `; while :; do sleep 1000; done`, ""},
		{"in the middle of an event", `exec 3>"$1"; sleep 1000 & read -r line; echo bye >&3; wait`, "bye"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			ask := s.ask()
			fifo := t.TempDir() + "/fifo"
			check(t, syscall.Mkfifo(fifo, 0o600))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			h := s.stays(c.script, fifo)
			go func() { ended <- h.Run(ctx) }()
			pipe, err := os.Open(fifo)
			check(t, err)
			defer pipe.Close()
			var word string
			if strings.HasPrefix(c.name, "in") {
				_, err = fmt.Fscanln(pipe, &word)
				check(t, err)
				stop()
			} else {
				s.waitSent(1)
				stop()
				_, _ = fmt.Fscanln(pipe, &word)
			}
			if word != c.bye {
				t.Errorf("it said %q, want %q", word, c.bye)
			}
			if _, err := fmt.Fscanln(pipe, &word); err == nil || err.Error() != "EOF" && err.Error() != "unexpected newline" {
				t.Errorf("something still lives: %v", err)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
			if got := s.trouble(); got != "" || h.resident != nil {
				t.Errorf("the owner is shown %q, the ask is %s", got, s.state(ask))
			}
		})
	}
}

// TestStreamExamples has the examples answer chats and leave the rest.
func TestStreamExamples(t *testing.T) {
	program := filepath.Join(t.TempDir(), "stream-go")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/stream-go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, example := range []string{"../examples/stream.py", program} {
		if strings.HasSuffix(example, ".py") {
			if _, err := exec.LookPath("python3"); err != nil {
				t.Log("stream.py is not looked at: python3 is not installed: apt-get install python3, then go test ./handler")
				continue
			}
		}
		s := newAgentScene(t)
		h := s.stays("")
		h.Command = []string{example}
		for input, offering := range map[string]string{`{"text":"\"}\n{\"event\":\"1\"}"}`: "chat", `{"text":"Hello."}`: "chat", `"\u2028"`: "chat", `{"text":"\",\"offering\":\"chat\""}`: "translate"} {
			asked := s.post(inbox.Action{Type: inbox.ActRequest, Offering: offering, Input: []byte(input)})
			s.answer(h)
			if trouble := s.trouble(); trouble != "" {
				t.Fatalf("%s: %s: shown %q", example, input, trouble)
			}
			said, err := s.seller.Request("", asked.ID)
			check(t, err)
			if (len(said) == 2) != (offering == "chat") {
				t.Errorf("%s: %s: %d answers", example, input, len(said)-1)
			}
		}
		if h.failures != 0 || h.resident == nil {
			t.Errorf("%s: it did not stay", example)
		}
	}
}
