package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
)

// Outcome is how a case went: Step, Expected and Got speak of the first
// difference.
type Outcome struct {
	Suite    string `json:"suite"`
	Case     string `json:"case"`
	OK       bool   `json:"ok"`
	Step     string `json:"step,omitempty"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
}

// Run runs the suite's cases, or the one named, and reports each. The error
// is not nil where the suite itself cannot be run; it wraps ErrSuite.
func (s *Suite) Run(ctx context.Context, only string, report func(Outcome)) error {
	for i := range s.Cases {
		c := &s.Cases[i]
		if only != "" && c.Name != only {
			continue
		}
		run := s.run
		if s.Profile == record.Profile {
			run = s.runRecord
		}
		diff, err := run(ctx, c)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		o := Outcome{Suite: s.Dir, Case: c.Name, OK: diff == nil}
		if diff != nil {
			o.Step, o.Expected, o.Got = diff.step, diff.expected, diff.got
		}
		report(o)
	}
	return nil
}

// difference is where a case went another way.
type difference struct{ step, expected, got string }

// story is a case that is being told.
type story struct {
	suite *Suite
	path  string // of the store
	store *store.Store
	spool *os.Root
	inbox *inbox.Inbox
	now   time.Time
}

func (s *Suite) run(ctx context.Context, c *Case) (diff *difference, err error) {
	dir, err := os.MkdirTemp("", "agentmaild-conformance-")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	defer os.RemoveAll(dir)
	t := &story{suite: s, path: filepath.Join(dir, "store.db")}
	if err := t.open(); err != nil {
		return nil, err
	}
	if err := t.introduce(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for i, step := range c.Steps {
		d, err := t.step(ctx, step)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if d != nil {
			d.step = fmt.Sprintf("%d %s", i+1, d.step)
			return d, nil
		}
	}
	return t.final(c.Final)
}

// open opens the store and the inbox on it.
func (t *story) open() error {
	s := t.suite
	settings := inbox.Settings{
		Name: "suite", Address: s.Inbox.Address, Party: s.Inbox.Party, OrgName: s.Inbox.OrgName, Contact: s.Inbox.Contact,
		AgentName: "suite", AgentKind: "api", JKU: s.Inbox.JKU, Unsigned: s.Inbox.Unsigned,
	}
	checker, err := s.checker()
	if err != nil {
		return err
	}
	if s.Inbox.SigningKey != nil {
		key, err := s.Inbox.SigningKey.private()
		if err != nil {
			return err
		}
		settings.Keys = party.NewRing(party.OwnKey{Private: key})
	}
	if settings.Agent, err = s.agent(); err != nil {
		return err
	}
	if t.spool, err = t.openSpool(); err != nil {
		return err
	}
	if t.store, err = store.Open(t.path); err != nil {
		return fmt.Errorf("%w: %w", ErrSuite, err)
	}
	t.inbox, err = inbox.Open(settings, inbox.Services{
		Store: t.store, DKIM: checker,
		Keys: &party.Verifier{Trust: party.Trust{Hosts: s.TrustedHosts}, Pages: s, TXT: s.names()},
		Now:  func() time.Time { return t.now }, Random: rand.Reader, Log: slog.New(slog.DiscardHandler), Spool: t.spool,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrSuite, err), t.close())
	}
	return nil
}

func (t *story) close() error {
	if err := errors.Join(t.store.Close(), t.spool.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrSuite, err)
	}
	return nil
}

func (s *Suite) checker() (*dkim.Checker, error) {
	auth := s.Inbox.Auth
	c := &dkim.Checker{Resolver: s.names(), AuthservID: auth.AuthservID}
	switch auth.Mode {
	case "", "verify":
		c.Mode = dkim.Verify
	case "authres":
		c.Mode = dkim.AuthRes
	default:
		return nil, fmt.Errorf("%w: auth: %q is no mode", ErrSuite, auth.Mode)
	}
	switch auth.Trust {
	case "", "topmost":
	case "all":
		c.TrustAll = true // D53
	default:
		return nil, fmt.Errorf("%w: auth: %q is no trust", ErrSuite, auth.Trust)
	}
	switch auth.Alignment {
	case "", "relaxed":
	case "strict":
		c.Strict = true // D21
	default:
		return nil, fmt.Errorf("%w: auth: %q is no alignment", ErrSuite, auth.Alignment)
	}
	return c, nil
}

func (t *story) step(ctx context.Context, step Step) (*difference, error) {
	if err := t.until(ctx, step.At); err != nil {
		return nil, err
	}
	switch {
	case step.Restart:
		if err := t.close(); err != nil {
			return nil, err
		}
		return nil, t.open()
	case step.Tick: // all is done
		return nil, nil
	case step.Admit != "":
		if err := t.inbox.Decide(step.Admit, agentmsg.StanceAllow, ""); err != nil {
			return &difference{"admit", step.Admit, err.Error()}, nil
		}
		return nil, nil
	case step.Sent != "":
		raw, err := t.suite.read(step.Sent)
		if err != nil {
			return nil, err
		}
		if err := t.inbox.Sent(raw, step.At); err != nil {
			return &difference{"sent " + step.Sent, "taken into the store", err.Error()}, nil
		}
		return nil, nil
	default:
		return t.deliver(ctx, step)
	}
}

// until lets time pass. The daemon's clock ticks every few seconds, so what is
// due at a step has happened before it, whether a tick says so or not.
func (t *story) until(ctx context.Context, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	t.now = at
	return errors.Join(t.inbox.Tick(), t.inbox.Retry(ctx))
}

func (t *story) deliver(ctx context.Context, step Step) (*difference, error) {
	raw, err := t.suite.read(step.Deliver)
	if err != nil {
		return nil, err
	}
	results, err := t.inbox.Deliver(ctx, []inbox.Mail{{Raw: raw, Arrival: step.At}}, nil)
	if err != nil {
		return nil, err
	}
	if step.Expect == nil {
		return nil, nil
	}
	if d := step.Expect.compare(results[0]); d != nil {
		d.step = "deliver " + step.Deliver
		if results[0].Reason != "" {
			d.got += " (" + results[0].Reason + ")"
		}
		return d, nil
	}
	return nil, nil
}

// compare returns the first member that differs.
func (e *Expect) compare(r inbox.Result) *difference {
	for _, m := range []struct {
		name string
		want *string
		got  string
	}{
		{"verdict", e.Verdict, string(r.Verdict)},
		{"code", e.Code, string(r.Code)},
		{"signature", e.Signature, string(r.Signature)},
		{"type", e.Type, string(r.Type)},
		{"thread", e.Thread, r.Thread},
		{"id", e.ID, r.ID},
	} {
		if m.want != nil && *m.want != m.got {
			got := m.got
			if m.name == "verdict" && r.Code != "" {
				got += "/" + string(r.Code)
			}
			return &difference{"", m.name + " " + *m.want, m.name + " " + got}
		}
	}
	if d := e.compareExchange(r); d != nil || e.Warnings == nil {
		return d
	}
	want, got := slices.Sorted(slices.Values(*e.Warnings)), slices.Sorted(slices.Values(r.Warnings))
	if !slices.Equal(want, got) {
		return &difference{"", fmt.Sprint("warnings ", want), fmt.Sprint("warnings ", got)}
	}
	return nil
}

// final compares the states after the last step.
func (t *story) final(f Final) (*difference, error) {
	list, err := t.inbox.Threads()
	if err != nil {
		return nil, err
	}
	states, records, stands := map[string]string{}, map[string]string{}, map[string]string{}
	for _, thread := range list {
		records[thread.ID] = string(thread.Record)
		for _, entry := range thread.Entries {
			states[entry.ID] = string(entry.State)
		}
	}
	tasks, err := t.inbox.Tasks()
	if err != nil {
		return nil, err
	}
	for _, task := range tasks {
		stands[task.ID] = string(task.State)
	}
	var d bytes.Buffer
	want := map[string]string{}
	for id, state := range f.Offers {
		if states[id] != state {
			want["offer "+id] = state
		}
	}
	for id, kind := range f.Records {
		expected := ""
		if kind != nil {
			expected = *kind
		}
		if records[id] != expected {
			want["record "+id] = expected
		}
	}
	for id, state := range f.Tasks {
		if stands[id] != state {
			want["task "+id] = state
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	keys := make([]string, 0, len(want))
	for key := range want {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	kind, id, _ := strings.Cut(keys[0], " ")
	got := states[id]
	switch kind {
	case "record":
		got = records[id]
	case "task":
		got = stands[id]
	}
	fmt.Fprintf(&d, "%s %q", keys[0], got)
	return &difference{"final", fmt.Sprintf("%s %q", keys[0], want[keys[0]]), d.String()}, nil
}
