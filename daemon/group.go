package daemon

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// group knows by name which goroutines run. A reload starts one while another
// of its name is about to end.
type group struct {
	mu      sync.Mutex
	running map[string]int
	all     sync.WaitGroup
}

func newGroup() *group { return &group{running: map[string]int{}} }

// start returns a channel that is closed when the goroutine has ended and is named no more.
func (g *group) start(name string, run func() error) <-chan struct{} {
	ended := make(chan struct{})
	g.mu.Lock()
	g.running[name]++
	g.mu.Unlock()
	g.all.Go(func() {
		defer close(ended)
		_ = run() // each logs its own troubles; it ends because ctx did
		g.mu.Lock()
		if g.running[name]--; g.running[name] == 0 {
			delete(g.running, name)
		}
		g.mu.Unlock()
	})
	return ended
}

// wait returns the names of those that have not ended in time.
func (g *group) wait(limit time.Duration) []string {
	done := make(chan struct{})
	go func() { g.all.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(limit):
	}
	return g.names()
}

// names are those that run, sorted.
func (g *group) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.running))
}
