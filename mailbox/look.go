package mailbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	maxBatch      = 64
	maxBatchBytes = 32 << 20
	rescanMargin  = 48 * time.Hour // SEARCH SINCE knows days only, of any zone
)

// looker brings a folder's new mail to the caller, look by look, and knows
// across sessions which mail made the last one fail.
type looker struct {
	watcher *Watcher
	load    Load
	deliver Deliver

	suspect suspect
	rewound uint32 // the UIDNEXT that a rescan was done for
}

// suspect is the mail whose fetch failed last.
type suspect struct{ uidValidity, uid uint32 }

// look fetches and delivers everything above the durable position. The folder
// is opened anew each time, which shows a changed UIDVALIDITY (I7).
func (l *looker) look(ctx context.Context, s *session) error {
	drain(s.wake) // before, not after: what is announced during the look counts
	pos, err := l.load(ctx)
	if err != nil {
		return fmt.Errorf("loading the mailbox position: %w", err)
	}
	pos, err = l.start(ctx, s, pos)
	if err != nil {
		return err
	}
	for more := true; more; {
		var mails []listed
		if mails, more, err = s.list(ctx, pos.UID); err != nil {
			return err
		}
		if pos, err = l.take(ctx, s, pos, mails); err != nil {
			return err
		}
	}
	return nil
}

// start gives the position to go on from in the folder as it is now. What lies
// in it at the first start is left alone (D56).
func (l *looker) start(ctx context.Context, s *session, pos Position) (Position, error) {
	folder, err := s.examine(ctx, l.watcher.folder())
	if err != nil {
		return Position{}, err
	}
	end := Position{folder.UIDValidity, uint32(folder.UIDNext) - 1, pos.Seen}
	switch {
	case folder.UIDNext == 0 && pos.UIDValidity != folder.UIDValidity:
		return Position{}, failed("opening folder at", s.addr, errors.New("the server gives no UIDNEXT"))
	case pos == Position{}:
		end.Seen = l.watcher.now()
		return end, l.hand(ctx, []Incoming{{Position: end}})
	case pos.UIDValidity != folder.UIDValidity:
		return l.rescan(ctx, s, end)
	case folder.UIDNext != 0 && end.UID < pos.UID && l.rewound != uint32(folder.UIDNext):
		// Restored from an older copy: new mail gets numbers already passed.
		// Once for each UIDNEXT, or a server that makes it up is never left (I8).
		l.rewound = uint32(folder.UIDNext)
		return l.rescan(ctx, s, end)
	}
	return pos, nil
}

// rescan goes back in a folder whose UIDs mean nothing any more. What is
// delivered again is known to the receiver by its ids and nonces.
func (l *looker) rescan(ctx context.Context, s *session, end Position) (Position, error) {
	since := end.Seen.Add(-rescanMargin).UTC()
	if since.Year() < 1970 { // nothing was seen yet
		since = time.Unix(0, 0).UTC()
	}
	first, err := s.firstSince(ctx, since)
	switch {
	case err != nil:
		return Position{}, err
	case first == 0:
		return end, l.hand(ctx, []Incoming{{Position: end}})
	}
	return Position{end.UIDValidity, first - 1, end.Seen}, nil
}

// take fetches the listed mails and hands them over in batches. It returns the
// position behind the last of them.
func (l *looker) take(ctx context.Context, s *session, pos Position, mails []listed) (Position, error) {
	var batch []Incoming
	size := 0
	for _, m := range mails {
		in, err := l.one(ctx, s, m, pos)
		news := in.Raw != nil || in.Problem != "" // or deleted meanwhile
		if full := len(batch) == maxBatch || size+len(in.Raw) > maxBatchBytes; full && news {
			if err := l.hand(ctx, batch); err != nil {
				return pos, err
			}
			batch, size = nil, 0
		}
		if news {
			batch, size = append(batch, in), size+len(in.Raw)
		}
		if err != nil {
			// What came before is not held back by a bad mail.
			return pos, cmp.Or(l.hand(ctx, batch), err)
		}
		pos = in.Position
	}
	return pos, l.hand(ctx, batch)
}

// one fetches a mail. With the second failure at the same mail it gives both
// an error and the mail with its problem, so that one mail does not stop the
// inbox.
func (l *looker) one(ctx context.Context, s *session, m listed, pos Position) (Incoming, error) {
	in := Incoming{Arrival: m.arrival, Position: Position{pos.UIDValidity, m.uid, l.seen(pos.Seen, m.arrival)}}
	var err error
	in.Raw, in.Problem, err = s.fetch(ctx, m)
	if err == nil || ctx.Err() != nil {
		return in, err
	}
	again := suspect{pos.UIDValidity, m.uid} == l.suspect
	l.suspect = suspect{pos.UIDValidity, m.uid}
	if again {
		in.Problem = problemFailed + visible(err.Error())
	}
	return in, err
}

// seen moves on with the arrival of a mail, but not beyond now: a date far
// ahead would leave nothing to find in a later rescan.
func (l *looker) seen(before, arrival time.Time) time.Time {
	if now := l.watcher.now(); arrival.After(now) {
		arrival = now
	}
	if arrival.After(before) {
		return arrival
	}
	return before
}

// hand delivers a batch, unless it is empty.
func (l *looker) hand(ctx context.Context, batch []Incoming) error {
	if len(batch) == 0 {
		return nil
	}
	if err := l.deliver(ctx, batch); err != nil {
		return fmt.Errorf("delivering mail: %w", err)
	}
	last := batch[len(batch)-1]
	if last.Raw != nil || last.Problem != "" {
		l.watcher.health.change(func(h *Health) { h.LastMail = l.watcher.now() })
	}
	return nil
}
