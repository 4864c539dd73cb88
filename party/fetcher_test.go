package party

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// changing is a host whose one page, status and lifetime the test changes as it goes, and a clock.
type changing struct {
	*pageHost
	fetcher *Fetcher
	now     time.Time
	status  int
	control string
	age     string
	asked   string // Cache-Control of the last request
	text    string
}

func newChanging(t *testing.T) *changing {
	c := &changing{now: fixedClock(), status: http.StatusOK, control: "max-age=3600", text: pageText(keyText(testKey(1), ""))}
	c.pageHost = newPageHost(t, func(w http.ResponseWriter, r *http.Request) {
		c.asked = r.Header.Get("Cache-Control")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", c.control)
		w.Header().Set("Age", c.age)
		w.WriteHeader(c.status)
		io.WriteString(w, c.text)
	})
	c.StartTLS()
	c.fetcher = c.pageHost.fetcher(func() time.Time { return c.now })
	return c
}

// want asks for the page and compares the error and how often the host has been asked by then.
func (c *changing) want(t *testing.T, fresh bool, want error, hits int32) *Page {
	t.Helper()
	page, err := c.fetcher.Page(t.Context(), c.url(buyer), buyer, fresh)
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if n := c.hits.Load(); n != hits {
		t.Errorf("%d fetches, want %d", n, hits)
	}
	return page
}

// P7: a page is held for as long as it says, and what cannot be fetched after that is not believed.
func TestCacheExpires(t *testing.T) {
	c := newChanging(t)
	c.want(t, false, nil, 1)
	c.text = pageText(keyText(testKey(1), `,"revoked_at":1700000001`))
	c.now = c.now.Add(time.Hour - time.Second)
	if page := c.want(t, false, nil, 1); page.Keys[0].RevokedAt != 0 {
		t.Error("not the page that was held")
	}
	c.now = c.now.Add(time.Second)
	c.status = http.StatusServiceUnavailable
	c.want(t, false, ErrTemporary, 2)
	c.want(t, false, ErrTemporary, 3) // not remembered
	c.status = http.StatusOK
	if page := c.want(t, false, nil, 4); page.Keys[0].RevokedAt == 0 {
		t.Error("the revocation is not seen")
	}
	c.now, c.status = c.now.Add(time.Hour), http.StatusNotFound
	c.want(t, false, ErrNoPage, 5)
	if got, want := c.fetcher.Fetches(), (Fetches{Pages: 2, None: 1, Failed: 2}); got != want {
		t.Errorf("counted %+v", got)
	}
}

// A cache on the way has held the page for most of its time: it is not held for as long again.
func TestCacheBehindCache(t *testing.T) {
	c := newChanging(t)
	c.age = "3000"
	c.want(t, false, nil, 1)
	if c.asked != "" {
		t.Errorf("asked with Cache-Control %q", c.asked)
	}
	c.now = c.now.Add(599 * time.Second)
	c.want(t, false, nil, 1)
	c.now = c.now.Add(time.Second)
	c.want(t, false, nil, 2)
	c.now = c.now.Add(minAge)
	if c.want(t, true, nil, 3); c.asked != "no-cache" {
		t.Errorf("a fresh page is asked for with Cache-Control %q", c.asked)
	}
}

func TestCacheNoPage(t *testing.T) {
	c := newChanging(t)
	c.status = http.StatusNotFound
	c.want(t, false, ErrNoPage, 1)
	c.status = http.StatusOK
	c.now = c.now.Add(minAge - time.Second)
	c.want(t, false, ErrNoPage, 1)
	c.want(t, true, ErrNoPage, 1)
	c.now = c.now.Add(time.Second)
	c.want(t, false, nil, 2)
}

func TestCacheFresh(t *testing.T) {
	c := newChanging(t)
	c.want(t, false, nil, 1)
	c.want(t, true, nil, 1) // just fetched
	c.now = c.now.Add(minAge)
	c.want(t, false, nil, 1)
	c.status = http.StatusInternalServerError
	c.want(t, true, ErrTemporary, 2)
	c.want(t, false, nil, 2) // what is held stays
	c.status = http.StatusOK
	c.want(t, true, nil, 3)
	c.want(t, true, nil, 3)
	c.now = c.now.Add(minAge)
	c.status = http.StatusNotFound
	c.want(t, true, ErrNoPage, 4)
	c.want(t, false, ErrNoPage, 4) // P9: the page is gone
}

// P11: no two addresses and no two parties share what is held.
func TestCacheKey(t *testing.T) {
	c := newChanging(t)
	c.want(t, false, nil, 1)
	if _, err := c.fetcher.Page(t.Context(), c.url(buyer), seller, false); !errors.Is(err, ErrNoPage) {
		t.Errorf("the page of another party: %v", err)
	}
	if _, err := c.fetcher.Page(t.Context(), c.url(buyer)+"?", buyer, false); err != nil {
		t.Error(err)
	}
	c.want(t, false, nil, 3)
}

// U14: however many pages mail asks for, a host is asked 60 times a minute.
func TestRateOfHost(t *testing.T) {
	c := newChanging(t)
	c.text = strings.Replace(c.text, buyer, partyNumber(1), 1)
	refused := 0
	for n := range 1000 {
		_, err := c.fetcher.Page(t.Context(), c.url(partyNumber(n)), partyNumber(n), false)
		if errors.Is(err, ErrTemporary) {
			refused++
		} else if (n == 1) != (err == nil) {
			t.Errorf("page %d: %v", n, err)
		}
	}
	if c.hits.Load() != maxPerMinute || refused != 1000-maxPerMinute {
		t.Errorf("%d fetches, %d refused", c.hits.Load(), refused)
	}
	if _, err := c.fetcher.Page(t.Context(), c.url(partyNumber(1)), partyNumber(1), false); err != nil {
		t.Errorf("what is held is not given: %v", err)
	}
	c.now = c.now.Add(time.Minute)
	c.text = pageText(keyText(testKey(1), ""))
	c.want(t, false, nil, maxPerMinute+1)
}

func TestCacheIsBounded(t *testing.T) {
	c := newChanging(t)
	c.want(t, false, nil, 1) // held for an hour
	for n := range maxEntries + 100 {
		c.fetcher.mu.Lock()
		e := c.fetcher.entry(entryKey{c.url(partyNumber(n)), partyNumber(n)})
		e.expires = c.now.Add(time.Second)
		c.fetcher.mu.Unlock()
	}
	if n := len(c.fetcher.entries); n != maxEntries {
		t.Errorf("%d entries", n)
	}
	c.want(t, false, nil, 1) // the page that lasts longest is still there
}

// Callers who ask at the same time share one fetch.
func TestOneFetchForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		host := newPageHost(t, func(w http.ResponseWriter, r *http.Request) {
			<-answer
			serveGood(w, r)
		})
		f := host.onPipes(time.Now)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if page, err := f.Page(t.Context(), host.url(buyer), buyer, false); err != nil || page.Party != buyer {
					t.Errorf("got %v, %v", page, err)
				}
			})
		}
		impatient, cancel := context.WithCancel(t.Context())
		synctest.Wait()
		all.Go(func() {
			if _, err := f.Page(impatient, host.url(buyer), buyer, false); !errors.Is(err, ErrTemporary) {
				t.Errorf("who does not wait got %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(answer)
		all.Wait()
		if n := host.hits.Load(); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

// A fetch that ends in a panic lets go of those who wait.
func TestFetchPanics(t *testing.T) {
	f := NewFetcher(fixedClock, Options{})
	f.client = nil
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic: the case tests nothing")
			}
		}()
		f.Page(t.Context(), PageURL(testHost, buyer), buyer, false)
	}()
	if e := f.entries[entryKey{PageURL(testHost, buyer), buyer}]; e == nil || e.flight != nil {
		t.Error("the fetch is still under way")
	}
}
