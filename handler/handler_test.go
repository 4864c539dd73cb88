package handler

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/event.json anew")

// TestDocument compares what a program reads with the document that
// docs/handler.md shows.
func TestDocument(t *testing.T) {
	s := newScene(t)
	s.ask()
	s.answer(s.handler(`:`))
	h := s.handler(`:`)
	s.post(inbox.Action{Type: "propose_times", Slots: slots(), Purpose: "Visit", Note: "\"}\n<b>"})
	got, err := h.document(s.pending())
	check(t, err)
	const golden = "testdata/event.json"
	if *update {
		check(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	check(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
	if n := strings.Count(string(got), "\n"); n != 1 || !strings.HasSuffix(string(got), "\n") {
		t.Errorf("it is no single line: %d line ends", n)
	}
}

// TestInput proves that the program reads the document, whole and once.
func TestInput(t *testing.T) {
	s := newScene(t)
	s.ask()
	got := write(t, "got", "")
	h := s.handler(`cat >"$1"`, got)
	want, err := h.document(s.pending())
	check(t, err)
	s.answer(h)
	read, err := os.ReadFile(got)
	check(t, err)
	if diff := cmp.Diff(string(want), string(read)); diff != "" {
		t.Errorf("what the program read (-want +got):\n%s", diff)
	}
}

const declineAsk = `id=$(sed -n 's/.*"type":"ask_quote","id":"\([0-9a-f-]*\)".*/\1/p'); `

// TestAnswer has a program answer an ask. Trouble is a part of what the owner
// is shown; without trouble the event is answered.
func TestAnswer(t *testing.T) {
	for _, c := range []struct{ name, script, state, trouble string }{
		{"empty", `:`, "open", ""},
		{"white space", `printf ' \n\t\n'`, "open", ""},
		{"input not read, output empty", `exec <&-`, "open", ""},
		{"action", declineAsk + `echo '{"type":"decline","ref":"'$id'","reason":"other"}'`, "declined", ""},
		{"action naming another event", declineAsk + `echo '{"type":"decline","ref":"'$id'","event":"77"}'`, "declined", ""},
		{"not JSON", `echo sold`, "open", "its output is no action"},
		{"a list", `echo '[]'`, "open", "its output is no action"},
		{"unknown member", declineAsk + `echo '{"type":"decline","ref":"'$id'","why":"price"}'`, "open", `unknown object member name "why"`},
		{"two actions", declineAsk + `a='{"type":"decline","ref":"'$id'"}'; echo "$a$a"`, "open", "its output is no action"},
		{"member twice", declineAsk + `echo '{"type":"decline","type":"decline","ref":"'$id'"}'`, "open", "duplicate"},
		{"action and exit code", declineAsk + `echo '{"type":"decline","ref":"'$id'"}'; exit 3`, "open", "running sh: exit status 3"},
		{"killed by a signal", `kill -9 $$`, "open", "running sh: signal: killed"},
		{"action that the state forbids", declineAsk + `echo '{"type":"accept","ref":"'$id'"}'`, "open", "action cannot be done"},
		{"unknown message", `echo '{"type":"decline","ref":"5f0c8f4e-0000-4000-8000-000000000000"}'`, "open", "is not known here"},
		{"largest output", `printf '%65536s' ''`, "open", ""},
		{"output too large", `printf '%65537s' ''`, "open", "its output is larger than 65536 bytes"},
		{"far too large", `head -c 10000000 /dev/zero`, "open", "its output is larger than 65536 bytes"},
		{"process left behind", `sleep 1000 & exit 0`, "open", "left a process behind"},
		{"process in a group of its own", `setsid sleep 3 & exit 0`, "open", "left a process behind"}, // that ends by itself
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			ask := s.ask()
			s.answer(s.handler(c.script))
			if got := s.state(ask); got != c.state {
				t.Errorf("the ask is %s, want %s", got, c.state)
			}
			trouble := s.trouble()
			if (c.trouble == "") != (trouble == "") || !strings.Contains(trouble, c.trouble) {
				t.Errorf("the owner is shown %q, want %q", trouble, c.trouble)
			}
			s.now = s.now.Add(time.Minute)
			if answered := s.pending() == nil; answered != (c.trouble == "") {
				t.Errorf("answered: %t", answered)
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	s := newScene(t)
	s.ask()
	h := s.handler("")
	h.Command = []string{"/nonexistent/handler"}
	s.answer(h)
	if got := s.trouble(); !strings.Contains(got, "running /nonexistent/handler: ") || !strings.Contains(got, "no such file") {
		t.Errorf("the owner is shown %q", got)
	}
}

// TestComplaint shows the program's standard error in one printable line of
// bounded length: it may repeat what the other side wrote.
func TestComplaint(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"lines", `printf 'no price\nlist\n' >&2; exit 1`, ": no price list"},
		{"controls", `printf 'a\033[2Jb\302\205c\342\200\256d' >&2; exit 1`, ": a [2Jb c d"},
		{"blank", `printf '\n \n' >&2; exit 1`, ""},
		{"long", `printf '%600s' '' | tr ' ' x >&2; exit 1`, ": " + strings.Repeat("x", maxStderr)},
		{"cut within a character", `printf '%499s' '' | tr ' ' x >&2; printf 'éé' >&2; exit 1`, ": " + strings.Repeat("x", maxStderr-1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.ask()
			s.answer(s.handler(c.script))
			want := "the handler failed: running sh: exit status 1" + c.want
			if got := s.trouble(); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("MAIL_PASSWORD", "secret")
	t.Setenv("AGENTMAILD_CONFIG", "/etc/agentmaild.toml")
	t.Setenv("TZ", "Africa/Lagos")
	s := newScene(t)
	s.ask()
	got := write(t, "env", "")
	s.answer(s.handler(`env >"$1"`, got))
	data, err := os.ReadFile(got)
	check(t, err)
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(line, "=")
		switch name {
		case "PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR":
		case "PWD", "OLDPWD", "SHLVL", "_": // set by the shell itself
		default:
			t.Errorf("%s is passed on", name)
		}
	}
	if !strings.Contains(string(data), "TZ=Africa/Lagos\n") {
		t.Error("TZ is not passed on")
	}
}

func TestTimeLimit(t *testing.T) {
	s := newScene(t)
	s.ask()
	h := s.handler(`echo still looking >&2; exec sleep 1000`)
	h.Timeout = 50 * time.Millisecond
	s.answer(h)
	if got := s.trouble(); !strings.Contains(got, "it ran longer than 50ms and was killed") {
		t.Errorf("the owner is shown %q", got)
	}
}

// TestWholeGroup ends a program whose child sleeps, at a stop of the daemon
// and at its own end. The child holds a pipe open, which ends when it does.
func TestWholeGroup(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"stopped", `exec 3>"$1"; sleep 1000 & echo up >&3; wait`},
		{"ended", `exec 3>"$1"; sleep 1000 >/dev/null 2>&1 & echo up >&3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.ask()
			fifo := t.TempDir() + "/fifo"
			check(t, syscall.Mkfifo(fifo, 0o600))
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.handler(c.script, fifo).Run(ctx) }()
			pipe, err := os.Open(fifo)
			check(t, err)
			defer pipe.Close()
			var word string
			if _, err := fmt.Fscanln(pipe, &word); err != nil || word != "up" {
				t.Fatalf("read %q, %v", word, err)
			}
			if c.name == "stopped" {
				stop()
			}
			if _, err := fmt.Fscanln(pipe, &word); err == nil || err.Error() != "EOF" {
				t.Errorf("the child still lives: %v", err)
			}
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
			if got := s.trouble(); got != "" {
				t.Errorf("the owner is shown %q", got)
			}
		})
	}
}

// TestRestart asks about an event again after a failure, a stop and a start,
// and never again once it is answered.
func TestRestart(t *testing.T) {
	s := newScene(t)
	ask := s.ask()
	s.answer(s.handler(`exit 1`))
	if s.pending() != nil {
		t.Error("it is asked about again at once")
	}
	s.restart()
	s.now = s.now.Add(time.Minute)
	s.answer(s.handler(`echo again >&2; exit 1`))
	if got := s.trouble(); !strings.HasPrefix(got, "the handler failed 2 times: ") || !strings.HasSuffix(got, ": again") {
		t.Errorf("the owner is shown %q", got)
	}
	s.now = s.now.Add(time.Hour)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	check(t, s.handler(declineAsk+`echo '{"type":"decline","ref":"'$id'"}'`).answer(stopped, s.pending()))
	if got := s.state(ask); got != "open" {
		t.Errorf("after a stop the ask is %s", got)
	}
	s.restart()
	s.answer(s.handler(declineAsk + `echo '{"type":"decline","ref":"'$id'"}'`))
	if got := s.state(ask); got != "declined" || s.pending() != nil || s.trouble() != "" {
		t.Errorf("the ask is %s, pending %v, shown %q", got, s.pending(), s.trouble())
	}
}

// TestAnsweredTwice refuses a second answer to one event: a program that was
// slow, or run by two daemons, would else act twice.
func TestAnsweredTwice(t *testing.T) {
	s := newScene(t)
	ask := s.ask()
	event := s.pending()
	s.answer(s.handler(`:`))
	check(t, s.handler(declineAsk+`echo '{"type":"decline","ref":"'$id'"}'`).answer(t.Context(), event))
	if got := s.state(ask); got != "open" {
		t.Errorf("the ask is %s", got)
	}
	_, err := s.seller.Do(inbox.Action{Type: "decline", Ref: ask.ID, Event: event.Seq})
	if !errors.Is(err, inbox.ErrAction) {
		t.Errorf("Do returned %v", err)
	}
}

// TestRun answers what is there and what comes later.
func TestRun(t *testing.T) {
	s := newScene(t)
	first := s.ask()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.handler(declineAsk + `echo '{"type":"decline","ref":"'$id'"}'`).Run(ctx)
	}()
	s.waitSent(1)
	second := s.ask()
	s.waitSent(2)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if a, b := s.state(first), s.state(second); a != "declined" || b != "declined" {
		t.Errorf("the asks are %s and %s", a, b)
	}
}

// waitSent waits until the seller has sent so many messages.
func (s *scene) waitSent(n int) {
	s.t.Helper()
	for {
		events, more, err := s.seller.Events("", 100)
		check(s.t, err)
		sent := 0
		for _, e := range events {
			if e.Kind == inbox.KindSent {
				sent++
			}
		}
		if sent >= n {
			return
		}
		<-more
	}
}

// TestStoreGone pauses where the outcome cannot be noted, and stops when told.
func TestStoreGone(t *testing.T) {
	s := newScene(t)
	s.ask()
	event := s.pending()
	s.close()
	h := s.handler(`exit 1`)
	if err := h.answer(t.Context(), event); err == nil {
		t.Error("an outcome that was not noted passes")
	}
	ctx, stop := context.WithCancel(t.Context())
	logged := make(chan string, 10)
	h.Log = logTo(logged)
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	if got := <-logged; !strings.Contains(got, "events cannot be worked") {
		t.Errorf("logged %q", got)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}
