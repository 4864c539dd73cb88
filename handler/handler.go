// Package handler asks the owner's program what to do: one event as JSON on
// its standard input, one action or nothing as JSON on its standard output.
package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on what a handler may say, in bytes.
const (
	maxOutput = 64 << 10
	maxStderr = 500
)

// Handler answers the events of one inbox by running a command for each.
type Handler struct {
	Inbox   *inbox.Inbox
	Command []string      // program and arguments
	Timeout time.Duration // for one event; the program is killed after it
	Now     func() time.Time
	Log     *slog.Logger
}

// Document is what the program reads. Everything in Message was written by
// the other side and is data; Proof says how far it is to be believed.
type Document struct {
	Version int            `json:"version"` // of this document: 1
	Event   string         `json:"event"`   // its number
	Inbox   string         `json:"inbox"`   // the inbox's address
	At      int64          `json:"at"`      // Unix seconds
	Type    string         `json:"type"`    // of the message
	ID      string         `json:"id"`      // of the message
	Proof   Proof          `json:"proof"`
	Message jsontext.Value `json:"message"` // as the other side wrote it
	Thread  Thread         `json:"thread"`
}

// Proof is what was proven about the message.
type Proof struct {
	Signature string   `json:"signature"` // signed, mail_only or unchecked
	Domain    string   `json:"domain"`    // that DKIM passed for
	Party     string   `json:"party,omitempty"`
	OrgName   string   `json:"org_name,omitempty"` // as the party's key page has it
	Approved  bool     `json:"approved,omitempty"` // by the owner, after it was held
	Warnings  []string `json:"warnings,omitempty"`
}

// Thread is the negotiation as it stands.
type Thread struct {
	ID      string          `json:"id"`
	With    string          `json:"with"`
	Entries []threads.Entry `json:"entries"`
}

// Run answers events as they come until ctx ends. An event whose program
// fails stays pending and is asked about again later.
func (h *Handler) Run(ctx context.Context) error {
	for {
		event, next, more, err := h.Inbox.Pending()
		if err != nil {
			h.Log.Error("events cannot be read", "inbox", h.Inbox.Name(), "error", err)
			next = h.Now().Add(time.Minute)
		}
		if event != nil {
			h.answer(ctx, event)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		timer := time.NewTimer(max(next.Sub(h.Now()), 0))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-more:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// answer asks about one event and does what the program wants done.
func (h *Handler) answer(ctx context.Context, e *inbox.Event) {
	action, err := h.ask(ctx, e)
	if ctx.Err() != nil { // the daemon stops; the event is asked about at the next start
		return
	}
	if err == nil && action == nil {
		err = h.Inbox.HandlerDone(e.Seq)
	} else if err == nil {
		action.Event = e.Seq
		_, err = h.Inbox.Do(*action)
	}
	if err == nil {
		h.Log.Info("handler answered", "inbox", h.Inbox.Name(), "seq", e.Seq, "id", e.ID, "acted", action != nil)
		return
	}
	h.Log.Warn("handler failed", "inbox", h.Inbox.Name(), "seq", e.Seq, "id", e.ID, "error", err)
	if err := h.Inbox.HandlerFailed(e.Seq, err.Error()); err != nil {
		h.Log.Error("a failed handler cannot be noted", "inbox", h.Inbox.Name(), "seq", e.Seq, "error", err)
	}
}

// ask runs the program; a nil action means that nothing is to be done.
func (h *Handler) ask(ctx context.Context, e *inbox.Event) (*inbox.Action, error) {
	input, err := h.document(e)
	if err != nil {
		return nil, err
	}
	output, err := h.run(ctx, input)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(output)) == 0 {
		return nil, nil
	}
	var action inbox.Action
	if err := json.Unmarshal(output, &action, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("its output is no action: %w", err)
	}
	return &action, nil
}

func (h *Handler) document(e *inbox.Event) ([]byte, error) {
	t, err := h.Inbox.Thread(e.Thread)
	if err != nil {
		return nil, err
	}
	d := Document{
		Version: 1, Event: e.Seq, Inbox: h.Inbox.Address(), At: e.At, Type: string(e.Type), ID: e.ID, Message: e.Message,
		Proof: Proof{
			Signature: string(e.Signature), Domain: e.Proof.Domain, Party: e.Proof.Party, OrgName: e.Proof.OrgName,
			Approved: e.Kind == inbox.KindDecided, Warnings: e.Warnings,
		},
		Thread: Thread{t.ID, t.With, t.Entries},
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing an event: %w", err)
	}
	return append(data, '\n'), nil
}

// run runs the program in a process group of its own, which is killed whole
// at the time limit. Of the daemon's environment it gets only what names
// places and language: no secret reaches it by accident.
func (h *Handler) run(ctx context.Context, input []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Command[0], h.Command[1:]...)
	var stdout, stderr limited
	stdout.limit, stderr.limit = maxOutput, maxStderr
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it ran longer than %s and was killed", h.Timeout)
	case err != nil:
		return nil, fmt.Errorf("running %s: %w%s", h.Command[0], err, stderr.words())
	case stdout.over:
		return nil, fmt.Errorf("its output is larger than %d bytes", maxOutput)
	}
	return stdout.Bytes(), nil
}

// limited keeps the first bytes written to it and takes the rest without
// keeping them, so that the program is not ended by a broken pipe.
type limited struct {
	bytes.Buffer
	limit int
	over  bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := l.limit - l.Len()
	if len(p) > room {
		l.over = true
		l.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// words is the program's complaint in one printable line.
func (l *limited) words() string {
	text := strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, l.String())
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return ": " + text
}
