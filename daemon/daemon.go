// Package daemon puts the parts together: for each configured inbox a watcher
// that delivers, a sender that drains the outbox, a clock that lets time pass
// and, where there is one, a handler; and the control socket for all.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/api"
	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/store"
)

const (
	tickEvery = 5 * time.Second
	stopLimit = 10 * time.Second
)

// Daemon is a set of inboxes on one store, not yet connected to anything.
type Daemon struct {
	cfg   *config.Config
	world World
	store *store.Store
	units []*unit
}

// New opens the store and the keys. It connects to nothing; what it refuses
// is a matter of files and settings.
func New(cfg *config.Config, w World) (*Daemon, error) {
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making state_dir: %w", err)
	}
	d := &Daemon{cfg: cfg, world: w}
	plans, err := plan(cfg, w)
	if err != nil {
		return nil, err
	}
	if d.store, err = store.Open(cfg.StorePath()); err != nil {
		return nil, err
	}
	for _, p := range plans {
		u, err := p.open(d.store)
		if err != nil {
			return nil, errors.Join(err, d.store.Close())
		}
		d.units = append(d.units, u)
	}
	return d, nil
}

// Check does what New does with keys and settings, and leaves the store alone.
func Check(cfg *config.Config, w World) error {
	_, err := plan(cfg, w)
	return err
}

// Inboxes returns the inboxes in the order of the configuration.
func (d *Daemon) Inboxes() []*inbox.Inbox {
	list := make([]*inbox.Inbox, len(d.units))
	for i, u := range d.units {
		list[i] = u.inbox
	}
	return list
}

// Close closes the store of a daemon that is not running.
func (d *Daemon) Close() error { return d.store.Close() }

// Run runs until ctx ends, then returns when everything has stopped, or after
// ten seconds with an error that names what has not. One inbox that cannot be
// reached does not hold up another; each is retried for ever.
func (d *Daemon) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &group{running: map[string]bool{}}
	g.start("control socket", func() error {
		server := &api.Server{Inboxes: d.Inboxes(), Log: d.world.Log}
		err := server.Serve(ctx, d.cfg.SocketPath())
		if ctx.Err() == nil {
			cancel(err) // without it nobody can see or decide anything
		}
		return err
	})
	for _, u := range d.units {
		g.start(u.inbox.Name()+" watcher", func() error { return u.watch(ctx) })
		g.start(u.inbox.Name()+" sender", func() error { return u.inbox.SendLetters(ctx, u) })
		g.start(u.inbox.Name()+" clock", func() error { return u.tick(ctx) })
		if u.handler != nil {
			g.start(u.inbox.Name()+" handler", func() error { return u.handler.Run(ctx) })
		}
	}
	d.world.Log.Info("running", "inboxes", len(d.units), "state_dir", d.cfg.StateDir)
	<-ctx.Done()
	d.world.Log.Info("stopping")
	return d.stop(g, context.Cause(ctx), stopLimit)
}

// stop waits for all goroutines and closes the store. A store that somebody
// still uses is left to the end of the process.
func (d *Daemon) stop(g *group, cause error, limit time.Duration) error {
	if left := g.wait(limit); len(left) > 0 {
		return fmt.Errorf("did not stop within %s: %s", limit, strings.Join(left, ", "))
	}
	if errors.Is(cause, context.Canceled) {
		cause = nil
	}
	return errors.Join(cause, d.store.Close())
}

// group knows by name which goroutines run.
type group struct {
	mu      sync.Mutex
	running map[string]bool
	all     sync.WaitGroup
}

func (g *group) start(name string, run func() error) {
	g.mu.Lock()
	g.running[name] = true
	g.mu.Unlock()
	g.all.Go(func() {
		_ = run() // each logs its own troubles; it ends because ctx did
		g.mu.Lock()
		delete(g.running, name)
		g.mu.Unlock()
	})
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
