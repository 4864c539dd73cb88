//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/go-json-experiment/json"
)

// try runs one command of the command line for the inbox.
func (d *side) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("AGENTMAILD_BIN"), append([]string{"--config", d.config, "--inbox", d.name}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

func (d *side) run(args ...string) string {
	d.t.Helper()
	out, err := d.try(args...)
	if err != nil {
		d.t.Fatalf("the %s: %v\n%s", d.name, err, d.tail())
	}
	return out
}

// do runs a command that acts, and returns the id of its message.
func (d *side) do(args ...string) (id, thread string) {
	d.t.Helper()
	var done struct{ ID, Thread string }
	d.decode(d.run(append(args, "--json")...), &done)
	return done.ID, done.Thread
}

// ask asks an address for a quote.
func (d *side) ask(to string) (id, thread string) {
	d.t.Helper()
	return d.do("ask", "--to", to, "--item", "200 piece Ceramic mug")
}

func (d *side) decode(text string, value any) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(text), value, json.MatchCaseInsensitiveNames(true)); err != nil {
		d.t.Fatalf("%v in %s", err, text)
	}
}

// thread is what the tests look at.
type thread struct {
	ID       string
	Entries  []struct{ ID, State string }
	Record   string
	Messages []message
}

type message struct {
	ID, Type, Fate, Signature string
	Proof                     struct{ Domain, Selector, Party string }
}

// thread returns a thread, or one without anything in it.
func (d *side) thread(id string) thread {
	d.t.Helper()
	var t thread
	if out, err := d.try("threads", "show", id, "--json"); err == nil {
		d.decode(out, &t)
	}
	return t
}

// has waits until a side holds a message in a thread, and checks what was
// proven about it.
func (d *side) has(id, in, from string) {
	d.t.Helper()
	d.until("message "+id, func() bool {
		for _, m := range d.thread(in).Messages {
			if m.ID != id {
				continue
			}
			if m.Fate != "accepted" || m.Signature != "signed" || m.Proof.Domain != from+".test" || m.Proof.Selector != "s1" || m.Proof.Party != party(from) {
				d.t.Fatalf("the %s holds it as %+v", d.name, m)
			}
			return true
		}
		return false
	})
}

// ends compares how a thread ended.
func (d *side) ends(in string, states map[string]string, record string) {
	d.t.Helper()
	t := d.thread(in)
	if t.Record != record || len(t.Entries) != len(states) {
		d.t.Errorf("the %s: record %q, %d offers and asks", d.name, t.Record, len(t.Entries))
	}
	for _, e := range t.Entries {
		if states[e.ID] != e.State {
			d.t.Errorf("the %s: %s is %s, want %s", d.name, e.ID, e.State, states[e.ID])
		}
	}
}

// waiting lists what waits for the owner.
type waiting struct {
	Key, Kind, Reason, Thread string
}

func (d *side) waiting() []waiting {
	d.t.Helper()
	var list []waiting
	d.decode(d.run("waiting", "list", "--json"), &list)
	return list
}
