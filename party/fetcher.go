package party

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	maxEntries   = 1000 // pages kept
	maxPerMinute = 60   // fetches from one host in a minute, whatever the mail asks for
)

// Fetcher gets key pages over HTTPS and keeps them for as long as their Cache-Control says, between a minute and a day.
// It follows no redirect, uses no proxy, sends no cookie and connects to public addresses only. It may be used by
// several goroutines; it has none of its own.
type Fetcher struct {
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	entries map[entryKey]*entry
	windows map[string]*window // by host; only trusted hosts get here, so they are few
	made    Fetches
}

// entryKey is the exact address and the party asked for: no two spellings, and no two parties, share a page.
type entryKey struct{ url, party string }

type entry struct {
	page    *Page
	err     error // permanent
	fetched time.Time
	expires time.Time // zero: nothing is held
	flight  *flight   // the fetch under way, if any
}

// flight is a fetch that several callers may wait for. page and err may be read once done is closed.
type flight struct {
	done chan struct{}
	page *Page
	err  error
}

type window struct {
	start time.Time
	count int
}

// NewFetcher makes a Fetcher with an empty cache whose clock is now.
func NewFetcher(now func() time.Time, o Options) *Fetcher {
	return &Fetcher{client: newClient(o), now: now, entries: map[entryKey]*entry{}, windows: map[string]*window{}}
}

// Page implements Pages. A page that is not there is remembered for a minute. With fresh the cache is passed over for
// a page that is older than a minute. More than 60 fetches a minute from one host are ErrTemporary. Callers who ask for
// one page at the same time share one fetch, and its end when the context of the first of them ends. The page is shared
// too and must not be changed.
func (f *Fetcher) Page(ctx context.Context, address, party string, fresh bool) (*Page, error) {
	key := entryKey{address, party}
	f.mu.Lock()
	e := f.entry(key)
	if e.flight == nil && e.holds(f.now(), fresh) {
		defer f.mu.Unlock()
		return e.page, e.err
	}
	if other := e.flight; other != nil {
		f.mu.Unlock()
		return other.wait(ctx)
	}
	if !f.admit(address) {
		f.mu.Unlock()
		return nil, fmt.Errorf("%w: over %d fetches in a minute", ErrTemporary, maxPerMinute)
	}
	e.flight = &flight{done: make(chan struct{})}
	f.mu.Unlock()
	return f.fly(ctx, key, e, fresh)
}

// Fetches counts the fetches of key pages by what came of them, those that a cache answered left out.
type Fetches struct {
	Pages  int64 // a page
	None   int64 // no usable page
	Failed int64 // nothing for now: ErrTemporary
}

// Fetches counts what was fetched so far.
func (f *Fetcher) Fetches() Fetches {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made
}

// fly makes the fetch of e. It lands even out of a panic, so that nobody waits for ever.
func (f *Fetcher) fly(ctx context.Context, key entryKey, e *entry, fresh bool) (*Page, error) {
	var page *Page
	var life time.Duration
	err := fmt.Errorf("%w: the fetch broke off", ErrTemporary)
	defer func() { f.land(e, page, life, err) }()
	page, life, err = get(ctx, f.client, key, fresh)
	return page, err
}

func (fl *flight) wait(ctx context.Context) (*Page, error) {
	select {
	case <-fl.done:
		return fl.page, fl.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrTemporary, ctx.Err())
	}
}

// holds reports whether the entry answers the question without a fetch. Mail with a made-up kid asks for a fresh page
// each time, so a page is fetched again once a minute at most.
func (e *entry) holds(now time.Time, fresh bool) bool {
	if fresh {
		return now.Before(e.fetched.Add(minAge))
	}
	return now.Before(e.expires)
}

// land keeps the outcome of a fetch. A temporary failure changes nothing: what is held stays until it expires.
func (f *Fetcher) land(e *entry, page *Page, life time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e.flight.page, e.flight.err = page, err
	close(e.flight.done)
	e.flight = nil
	switch {
	case errors.Is(err, ErrTemporary):
		f.made.Failed++
		return
	case err != nil:
		f.made.None++
		life = minAge
	default:
		f.made.Pages++
	}
	e.page, e.err, e.fetched, e.expires = page, err, f.now(), f.now().Add(life)
}

// entry returns the entry of a key, making room for it where it is new.
func (f *Fetcher) entry(key entryKey) *entry {
	e := f.entries[key]
	if e == nil {
		if len(f.entries) >= maxEntries {
			f.evict()
		}
		e = &entry{}
		f.entries[key] = e
	}
	return e
}

// evict drops the entry that expires first: pages that are not there go before those that are.
func (f *Fetcher) evict() {
	var first entryKey
	var found *entry
	for key, e := range f.entries {
		if e.flight == nil && (found == nil || e.expires.Before(found.expires)) {
			first, found = key, e
		}
	}
	if found != nil {
		delete(f.entries, first)
	}
}

// admit counts a fetch from the host of address and reports whether it may be made.
func (f *Fetcher) admit(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true // get refuses it without a connection
	}
	w := f.windows[u.Host]
	if w == nil || !f.now().Before(w.start.Add(time.Minute)) {
		w = &window{start: f.now()}
		f.windows[u.Host] = w
	}
	w.count++
	return w.count <= maxPerMinute
}
