package carrier

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentmaild/agentmaild/mailbox"
)

// ErrNotArrived is returned where the mail server took the probe, and the
// mailbox did not get it in time.
var ErrNotArrived = errors.New("the mail was sent and has not arrived")

// Send sends a probe and returns what arrives of it, as the mailbox gives it.
// Nothing in the mailbox is changed: the probe stays there. Errors: that of the
// sender and of the mailbox, ErrNotArrived where ctx ends before.
func Send(ctx context.Context, p *Probe, sender *mailbox.Sender, l mailbox.Letter, watcher *mailbox.Watcher) ([]byte, error) {
	if err := watcher.Probe(ctx); err != nil { // or it would be tried until ctx ends
		return nil, fmt.Errorf("looking into the mailbox: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := way{probe: p, sender: sender, letter: l, stop: stop}
	// From the zero position the watcher first says where the folder ends:
	// whatever comes after that is new.
	err := watcher.Run(ctx, func(context.Context) (mailbox.Position, error) { return w.position, nil }, w.deliver)
	switch {
	case w.failed != nil:
		return nil, fmt.Errorf("sending the test mail: %w", w.failed)
	case w.arrived != nil:
		return w.arrived, nil
	case !w.sent:
		return nil, fmt.Errorf("looking into the mailbox: %s", orNothing(watcher.Health().LastError, err))
	default:
		return nil, ErrNotArrived
	}
}

func orNothing(text string, err error) string {
	if text == "" {
		return fmt.Sprint(err)
	}
	return text
}

// way is a probe on its way. The watcher calls it from one goroutine.
type way struct {
	probe    *Probe
	sender   *mailbox.Sender
	letter   mailbox.Letter
	position mailbox.Position
	sent     bool
	failed   error
	arrived  []byte
	stop     func()
}

func (w *way) deliver(ctx context.Context, incoming []mailbox.Incoming) error {
	for _, m := range incoming {
		if m.Raw != nil && w.probe.Is(m.Raw) {
			w.arrived = m.Raw
			w.stop()
			return nil
		}
		w.position = m.Position
	}
	if w.sent {
		return nil
	}
	w.sent = true
	if w.failed = w.sender.Send(ctx, w.letter); w.failed != nil {
		w.stop()
	}
	return nil
}
