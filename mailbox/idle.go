package mailbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/emersion/go-imap/v2/imapclient"
)

var errIdleEnded = errors.New("the server ended IDLE")

// await returns when there may be new mail: the server said so, or the time is
// up. Any other end is an error and the end of the session.
func (s *session) await(ctx context.Context, refresh, poll time.Duration, idling func()) error {
	if !s.idle {
		return pause(ctx, poll)
	}
	drain(s.guard.tagged)
	var cmd *imapclient.IdleCommand
	err := s.exchange(ctx, "idling at", budgetSmall, func() (err error) {
		cmd, err = s.client.Idle()
		return err
	})
	if err != nil {
		return err
	}
	idling()
	stopped := s.idleUntil(ctx, refresh)
	// Always closed: an open one keeps the library's goroutines.
	err = s.exchange(ctx, "ending IDLE at", budgetSmall, func() error {
		return errors.Join(cmd.Close(), cmd.Wait())
	})
	if stopped != nil {
		return failed("idling at", s.addr, stopped)
	}
	return err
}

func (s *session) idleUntil(ctx context.Context, refresh time.Duration) error {
	timer := time.NewTimer(refresh)
	defer timer.Stop()
	select {
	case <-s.wake:
		return nil
	case <-timer.C:
		return nil
	case <-s.guard.tagged: // the library does not notice it
		s.guard.Close()
		return errIdleEnded
	case <-s.client.Closed():
		if err := s.guard.failure(); err != nil {
			return err
		}
		return cmp.Or(s.client.Close(), io.ErrUnexpectedEOF)
	case <-ctx.Done():
		s.guard.Close()
		return ctx.Err()
	}
}

func drain(token chan struct{}) {
	select {
	case <-token:
	default:
	}
}

// pause waits, or returns the context's error when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
