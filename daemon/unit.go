package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/agentmaild/agentmaild/handler"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/monitor"
	"github.com/agentmaild/agentmaild/webhook"
	"github.com/go-json-experiment/json"
)

// unit is the running parts of one inbox.
type unit struct {
	plan    *inboxPlan // that it was made by
	inbox   *inbox.Inbox
	watcher *mailbox.Watcher
	sender  *mailbox.Sender
	handler *handler.Handler // nil without one
	hooks   []*webhook.Sender
	counts  *monitor.Counts // nil where nobody asks
	log     *slog.Logger

	cancel context.CancelFunc // nil before start
	parts  []<-chan struct{}  // each is closed when one has ended
}

// start starts the goroutines of the inbox, until ctx ends or stop is called.
func (u *unit) start(ctx context.Context, g *group) {
	ctx, u.cancel = context.WithCancel(ctx)
	if err := u.inbox.Begin(); err != nil {
		u.log.Error("what was left behind cannot be put in order", "error", err)
	}
	part := func(name string, run func(context.Context) error) {
		u.parts = append(u.parts, g.start(u.inbox.Name()+" "+name, func() error { return run(ctx) }))
	}
	part("watcher", u.watch)
	part("sender", func(ctx context.Context) error {
		defer u.sender.Close()
		return u.inbox.SendLetters(ctx, u)
	})
	part("clock", func(ctx context.Context) error {
		return u.every(ctx, "time does not pass", func(context.Context) error { return u.inbox.Tick() })
	})
	part("retries", func(ctx context.Context) error { return u.every(ctx, "mails cannot be tried again", u.inbox.Retry) })
	if u.handler != nil {
		part("handler", u.handler.Run)
	}
	for i, hook := range u.hooks {
		part(fmt.Sprintf("webhook %d", i+1), hook.Run)
	}
	if u.counts != nil {
		part("counts", u.count)
	}
}

// count counts the events of the inbox.
func (u *unit) count(ctx context.Context) error {
	err := u.counts.Follow(ctx, u.inbox)
	if ctx.Err() == nil {
		u.log.Error("events are counted no more", "error", err)
	}
	return err
}

// watch delivers what comes into the mailbox.
func (u *unit) watch(ctx context.Context) error {
	return u.watcher.Run(ctx, u.position, u.deliver)
}

// position reads how far the mailbox was read; the zero Position for a new
// inbox.
func (u *unit) position(context.Context) (mailbox.Position, error) {
	var p mailbox.Position
	data, err := u.inbox.Position()
	if err != nil || data == nil {
		return p, err
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("reading the mailbox position: %w", err)
	}
	return p, nil
}

// deliver hands mails on with the position behind the last of them; an
// Incoming without mail only moves the position.
func (u *unit) deliver(ctx context.Context, incoming []mailbox.Incoming) error {
	if len(incoming) == 0 {
		return nil
	}
	var mails []inbox.Mail
	for _, m := range incoming {
		if m.Raw != nil || m.Problem != "" {
			mails = append(mails, inbox.Mail{Raw: m.Raw, Arrival: m.Arrival, Problem: m.Problem})
		}
	}
	position, err := json.Marshal(incoming[len(incoming)-1].Position)
	if err != nil {
		return fmt.Errorf("writing the mailbox position: %w", err)
	}
	_, err = u.inbox.Deliver(ctx, mails, position)
	if err == nil && len(mails) == 0 {
		u.log.Info("mailbox is watched from here on")
	}
	return err
}

// Send is the inbox's transport.
func (u *unit) Send(ctx context.Context, from, to string, raw []byte) error {
	err := u.sender.Send(ctx, mailbox.Letter{From: from, To: to, Raw: raw})
	if sent := new(mailbox.SendError); errors.As(err, &sent) && (sent.Temporary || !aboutLetter(sent.Phase)) {
		return temporary{err}
	}
	return err
}

// aboutLetter tells whether a refusal in a phase concerns the letter. A wrong
// password says nothing about what waits to be sent.
func aboutLetter(p mailbox.Phase) bool { return p != mailbox.PhaseConnect && p != mailbox.PhaseLogin }

// temporary marks an error after which the same letter may go through.
type temporary struct{ error }

// Temporary says so to the outbox.
func (temporary) Temporary() bool { return true }

// Unwrap gives the marked error.
func (t temporary) Unwrap() error { return t.error }

// every does something at each tick, and logs in a few words that it failed.
func (u *unit) every(ctx context.Context, failed string, do func(context.Context) error) error {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		if err := do(ctx); err != nil && !errors.Is(err, context.Canceled) {
			u.log.Error(failed, "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
