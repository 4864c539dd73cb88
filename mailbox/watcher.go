package mailbox

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Watcher hands over every new mail of one folder. The fields are set before
// Run and not changed; all but Account may be left zero. A Watcher is not
// copied.
type Watcher struct {
	Account Account
	Folder  string // INBOX if empty

	IdleRefresh time.Duration // between looks while IDLE is silent; 5 min if 0, 25 min at most
	Poll        time.Duration // between looks at a server without IDLE; 1 min if 0

	Log   *slog.Logger     // changes of health only, no content; nil: none
	Clock func() time.Time // nil: time.Now
	Rand  func() float64   // in [0, 1), for the jitter; nil: math/rand
	Dial  DialFunc         // nil: net.Dialer

	health healthRecord
}

// Load gives the last durable position, the zero Position before the first.
type Load func(context.Context) (Position, error)

// Deliver takes mails in UID order, at most 64 and 32 MiB at once, and returns
// nil only when they and the last one's Position are durable. The same mail
// may come again and must then do no harm.
type Deliver func(context.Context, []Incoming) error

const (
	minBackoff = time.Second
	maxBackoff = 5 * time.Minute
	// steady is how long a session must last for the backoff to start over, so
	// that a server that drops every session is not called every second.
	steady = time.Minute
	// minBetween keeps a server that announces mail without end from being
	// looked at without end (I11).
	minBetween = 50 * time.Millisecond
)

// Run watches until ctx ends and returns its error, never another: it
// reconnects for ever, with backoff and jitter from 1 s to 5 min.
//
// At first (load gives the zero Position) what is in the folder is left alone,
// and only its end is delivered as a position. When UIDVALIDITY has changed,
// everything from the first mail on that arrived two days before
// Position.Seen or later is delivered again. After an error of load or deliver
// Run goes on as after one of the connection: it backs off and begins at the
// position that load gives.
//
// A mail that cannot be fetched, twice, is delivered with its Problem and
// stepped over. Nothing in the mailbox is changed.
func (w *Watcher) Run(ctx context.Context, load Load, deliver Deliver) error {
	looker := &looker{watcher: w, load: load, deliver: deliver}
	for backoff := minBackoff; ; backoff = min(2*backoff, maxBackoff) {
		began := w.now()
		err := w.session(ctx, looker)
		if ctx.Err() != nil {
			w.health.change(func(h *Health) { h.Connected, h.IdleSince = false, time.Time{} })
			return ctx.Err()
		}
		if w.health.failed(visible(err.Error())) {
			w.log().Warn("mailbox is not being watched", "error", w.Health().LastError)
		}
		if w.now().Sub(began) >= steady {
			backoff = minBackoff
		}
		if err := pause(ctx, w.jitter(backoff)); err != nil {
			return err
		}
	}
}

// session looks, waits and looks again until something fails.
func (w *Watcher) session(ctx context.Context, looker *looker) error {
	s, err := newSession(ctx, w.Account, w.Dial)
	if err != nil {
		return err
	}
	defer s.close()
	w.health.change(func(h *Health) { h.Polling, h.Sessions = !s.idle, h.Sessions+1 })
	for {
		if err := looker.look(ctx, s); err != nil {
			return err
		}
		if w.health.looked(w.now()) {
			w.log().Info("mailbox is being watched again", "server", s.addr)
		}
		if err := pause(ctx, minBetween); err != nil {
			return err
		}
		err := s.await(ctx, w.refresh(), cmp.Or(w.Poll, time.Minute), func() {
			w.health.change(func(h *Health) { h.IdleSince = w.now() })
		})
		w.health.change(func(h *Health) { h.IdleSince = time.Time{} })
		if err != nil {
			return err
		}
	}
}

// Probe connects, logs in, opens the folder and logs out again.
func (w *Watcher) Probe(ctx context.Context) error {
	s, err := newSession(ctx, w.Account, w.Dial)
	if err != nil {
		return err
	}
	if _, err = s.examine(ctx, w.folder()); err != nil {
		s.close()
		return err
	}
	s.logOut(ctx)
	return nil
}

// Health may be called at any time, from any goroutine.
func (w *Watcher) Health() Health { return w.health.get() }

func (w *Watcher) folder() string { return cmp.Or(w.Folder, "INBOX") }

// refresh stays below the 29 minutes of RFC 2177.
func (w *Watcher) refresh() time.Duration {
	return min(cmp.Or(w.IdleRefresh, 5*time.Minute), 25*time.Minute)
}

func (w *Watcher) now() time.Time {
	if w.Clock != nil {
		return w.Clock()
	}
	return time.Now()
}

func (w *Watcher) log() *slog.Logger {
	if w.Log != nil {
		return w.Log
	}
	return slog.New(slog.DiscardHandler)
}

// jitter gives 75 to 125 % of d, so that many watchers of one server do not
// come back together.
func (w *Watcher) jitter(d time.Duration) time.Duration {
	random := rand.Float64
	if w.Rand != nil {
		random = w.Rand
	}
	return time.Duration(float64(d) * (0.75 + random()/2))
}
