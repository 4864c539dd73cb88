package monitor

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/agentmaild/agentmaild/inbox"
)

// Counts counts the events of inboxes. It may be used by several goroutines.
type Counts struct {
	since   int64 // Unix seconds
	mu      sync.Mutex
	inboxes map[string]*counted
}

// counted is the events of one inbox.
type counted struct {
	last  string // number of the last event that was looked at
	mails map[outcome]int64
	kinds map[string]int64
}

type outcome struct {
	verdict inbox.Verdict
	code    inbox.Code
}

// NewCounts counts events from a time on, Unix seconds.
func NewCounts(since int64) *Counts {
	return &Counts{since: since, inboxes: map[string]*counted{}}
}

// batch is how many events are read at once.
const batch = 256

// Follow counts the events of an inbox until ctx ends, and goes on where the
// one before it for that inbox has ended. Errors: that of ctx, or of the store.
func (c *Counts) Follow(ctx context.Context, in *inbox.Inbox) error {
	for {
		events, more, err := in.Events(c.last(in.Name()), batch)
		if err != nil {
			return err
		}
		c.add(in.Name(), events)
		if len(events) > 0 {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Counts) last(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of(name).last
}

// of is what was counted of an inbox. The lock is held.
func (c *Counts) of(name string) *counted {
	n := c.inboxes[name]
	if n == nil {
		n = &counted{mails: map[outcome]int64{}, kinds: map[string]int64{}}
		c.inboxes[name] = n
	}
	return n
}

func (c *Counts) add(name string, events []inbox.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of(name)
	for _, e := range events {
		n.last = e.Seq
		if e.At < c.since {
			continue
		}
		n.kinds[e.Kind]++
		if e.Kind == inbox.KindReceived {
			n.mails[outcome{e.Verdict, e.Code}]++
		}
	}
}

// write puts what was counted of an inbox on a page.
func (c *Counts) write(p page, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of(name)
	for _, o := range slices.SortedFunc(maps.Keys(n.mails), func(a, b outcome) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.code, b.code))
	}) {
		p.set("agentmaild_mails_total", float64(n.mails[o]), "inbox", name, "verdict", string(o.verdict), "code", string(o.code))
	}
	for _, kind := range slices.Sorted(maps.Keys(n.kinds)) {
		p.set("agentmaild_events_total", float64(n.kinds[kind]), "inbox", name, "kind", kind)
	}
}
