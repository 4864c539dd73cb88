package mailbox

import (
	"sync"
	"time"
)

// Health is how a Watcher is doing. Times are zero until the first occasion.
type Health struct {
	Connected bool
	LastLook  time.Time // last look at the folder that succeeded
	IdleSince time.Time // begin of the running IDLE; zero when polling or connecting
	Polling   bool      // the server has no IDLE, so that mail is found only by looking
	LastMail  time.Time // last mail handed over
	LastError string    // phase, server and its own words, printable, no credentials; empty after a successful look
	Retries   int       // failures since the last successful look
	Sessions  int       // begun since the Watcher runs: each after the first is a reconnect
}

// healthRecord is a Health shared between the watcher and who asks.
type healthRecord struct {
	mu sync.Mutex
	h  Health
}

func (r *healthRecord) get() Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.h
}

func (r *healthRecord) change(f func(*Health)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.h)
}

// failed records an error and reports whether it is another than before.
func (r *healthRecord) failed(text string) (news bool) {
	r.change(func(h *Health) {
		news = h.LastError != text
		h.Connected, h.IdleSince, h.LastError = false, time.Time{}, text
		h.Retries++
	})
	return news
}

// looked records a successful look and reports whether it ends a failure.
func (r *healthRecord) looked(now time.Time) (recovered bool) {
	r.change(func(h *Health) {
		recovered = h.LastError != ""
		h.Connected, h.LastLook, h.LastError, h.Retries = true, now, "", 0
	})
	return recovered
}
