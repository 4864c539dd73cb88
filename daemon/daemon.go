// Package daemon puts the parts together: for each configured inbox a watcher
// that delivers, a sender that drains the outbox, a clock that lets time pass
// and, where there is one, a handler; and the control socket for all.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/keypage"
	"github.com/agentmaild/agentmaild/monitor"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
	systemd "github.com/coreos/go-systemd/v22/daemon"
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
	group *group

	public  *keypage.Server // nil without one
	monitor *monitor.Server // nil without one
	web     *web            // nil without one

	hup  <-chan os.Signal // nil: never
	load func() (*config.Config, error)

	mu    sync.Mutex // guards what follows, which only Run changes
	units []*unit
	own   []string // files that no message may carry (D193)
	trust party.Trust
}

// New opens the store and the keys. It connects to nothing; what it refuses
// is a matter of files and settings.
func New(cfg *config.Config, w World) (*Daemon, error) {
	if err := cfg.Wrong("", "state_dir", checkState(cfg.StateDir)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making state_dir: %w", err)
	}
	d := &Daemon{cfg: cfg, world: w, group: newGroup(), trust: party.Trust{Hosts: cfg.Trust.Hosts}}
	d.keepOwn(cfg)
	plans, err := plan(cfg, w)
	if err != nil {
		return nil, err
	}
	if d.public, err = openPublic(cfg, w); err != nil {
		return nil, err
	}
	if d.web, err = openWeb(cfg); err != nil {
		return nil, err
	}
	if d.store, err = store.Open(cfg.StorePath()); err != nil {
		return nil, err
	}
	d.openMonitor()
	if d.units, err = d.open(plans); err != nil {
		return nil, errors.Join(err, d.store.Close())
	}
	return d, nil
}

// open makes the units of a configuration. Those that run already and are to
// change in nothing stay as they are.
func (d *Daemon) open(plans []*inboxPlan) ([]*unit, error) {
	var units []*unit
	for _, p := range plans {
		u := d.find(p)
		if u == nil {
			var err error
			p.services.Private = d.ownFiles
			if u, err = p.open(d.store); err != nil {
				return nil, err
			}
			if d.monitor != nil {
				u.counts = d.monitor.Counts
			}
		}
		units = append(units, u)
	}
	return units, nil
}

// keepOwn adds what a configuration names to the daemon's own files: what was
// one of them stays so, since a listener may use it still.
func (d *Daemon) keepOwn(cfg *config.Config) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Concat(d.own, []string{cfg.StateDir}, cfg.Files())
	slices.Sort(all)
	d.own = slices.Compact(all)
}

// ownFiles are the daemon's own files and folders.
func (d *Daemon) ownFiles() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.own
}

// find returns the unit that does what is planned, or nil.
func (d *Daemon) find(p *inboxPlan) *unit {
	for _, u := range d.units {
		if u.plan.same(p) {
			return u
		}
	}
	return nil
}

// Check does what New does with folders, keys and settings; it changes nothing
// and leaves the store alone.
func Check(cfg *config.Config, w World) error {
	_, err := plan(cfg, w)
	if err == nil { // or it would name the same key file again
		_, err = openPublic(cfg, w)
	}
	_, webErr := openWeb(cfg)
	return errors.Join(cfg.Wrong("", "state_dir", checkState(cfg.StateDir)), err, webErr)
}

// Inboxes returns the inboxes in the order of the configuration.
func (d *Daemon) Inboxes() []*inbox.Inbox {
	var list []*inbox.Inbox
	for _, s := range d.served() {
		list = append(list, s.Inbox)
	}
	return list
}

// served is the inboxes as the control socket shows them.
func (d *Daemon) served() []control.Served {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]control.Served, len(d.units))
	for i, u := range d.units {
		list[i] = control.Served{Inbox: u.inbox, Mailbox: u.watcher.Health}
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
	if err := d.serve(ctx, cancel); err != nil {
		cancel(err)
		return d.stop(err, stopLimit)
	}
	for _, u := range d.units {
		u.start(ctx, d.group)
	}
	d.world.Log.Info("running", "inboxes", len(d.units), "state_dir", d.cfg.StateDir)
	d.tell(systemd.SdNotifyReady)
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	started := time.After(tickEvery)
	alive, stop := d.watchdog()
	defer stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-d.hup:
			d.tell(systemd.SdNotifyReloading + "\n" + systemd.SdNotifyMonotonicUsec())
			d.reload(ctx)
			d.tell(systemd.SdNotifyReady)
		case <-ticker.C:
			if err := d.store.Sound(); err != nil {
				cancel(err)
			}
		case <-started: // certificates, keys and sessions took twice what is needed from here on
			debug.FreeOSMemory()
		case <-alive:
			d.tell(systemd.SdNotifyWatchdog)
		}
	}
	d.tell(systemd.SdNotifyStopping)
	d.world.Log.Info("stopping")
	return d.stop(context.Cause(ctx), stopLimit)
}

// stop waits for all goroutines and closes the store. A store that somebody
// still uses is left to the end of the process.
func (d *Daemon) stop(cause error, limit time.Duration) error {
	if left := d.group.wait(limit); len(left) > 0 {
		return fmt.Errorf("did not stop within %s: %s", limit, strings.Join(left, ", "))
	}
	if errors.Is(cause, context.Canceled) {
		cause = nil
	}
	return errors.Join(cause, d.store.Close())
}
