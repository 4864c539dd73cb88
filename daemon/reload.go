package daemon

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/party"
)

// ReloadOn has Run read the configuration again at each signal. It is called
// before Run. A configuration that is wrong in anything changes nothing.
// Otherwise the inboxes that it changes, adds or removes are stopped and
// started, and no others; their deals stay in the store (D77).
func (d *Daemon) ReloadOn(signals <-chan os.Signal, load func() (*config.Config, error)) {
	d.hup, d.load = signals, load
}

func (d *Daemon) reload(ctx context.Context) {
	cfg, err := d.load()
	var units []*unit
	var late []string
	if err == nil {
		cfg, late = keepFixed(d.cfg, cfg)
		units, err = d.planned(cfg)
	}
	if err == nil {
		err = d.reloadPublic(cfg)
	}
	if err != nil {
		d.world.Log.Error("the configuration was not reloaded, the one before goes on", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	if len(late) > 0 {
		d.world.Log.Warn("changed in the configuration and in force after a restart only", "keys", strings.Join(late, ", "))
	}
	d.cfg = cfg
	d.keepOwn(cfg)
	d.exchange(ctx, units)
}

// planned makes the units of a configuration, of which none is started.
func (d *Daemon) planned(cfg *config.Config) ([]*unit, error) {
	plans, err := plan(cfg, d.world)
	if err != nil {
		return nil, err
	}
	return d.open(plans)
}

// keepFixed returns the new configuration with those values of the old one
// that hold for the life of the process, and the keys of them that differ.
func keepFixed(old, cfg *config.Config) (*config.Config, []string) {
	kept := *cfg
	kept.StateDir, kept.Log, kept.DNS, kept.Trust, kept.Public, kept.Metrics, kept.API = old.StateDir, old.Log, old.DNS, old.Trust, old.Public, old.Metrics, old.API
	kept.Trust.Hosts = cfg.Trust.Hosts
	var late []string
	for _, key := range []struct {
		name     string
		old, new any
	}{
		{"state_dir", old.StateDir, cfg.StateDir},
		{"log", old.Log, cfg.Log},
		{"dns", old.DNS, cfg.DNS},
		{"trust.allow_private", old.Trust.AllowPrivate, cfg.Trust.AllowPrivate},
		{"trust.ca_file", old.Trust.CAFile, cfg.Trust.CAFile},
		{"public", old.Public, cfg.Public},
		{"metrics", old.Metrics, cfg.Metrics},
		{"api", old.API, cfg.API},
	} {
		if !reflect.DeepEqual(key.old, key.new) {
			late = append(late, key.name)
		}
	}
	return &kept, late
}

// exchange stops the units that are not among the next, then starts those
// that do not run yet: no inbox has two of a part at any time.
func (d *Daemon) exchange(ctx context.Context, next []*unit) {
	var stopped, started []string
	ending := slices.DeleteFunc(slices.Clone(d.units), func(u *unit) bool { return slices.Contains(next, u) })
	for _, u := range ending {
		u.cancel()
		stopped = append(stopped, u.inbox.Name())
	}
	for _, u := range ending {
		for _, ended := range u.parts {
			<-ended
		}
	}
	d.mu.Lock()
	d.units, d.trust = next, party.Trust{Hosts: d.cfg.Trust.Hosts}
	d.mu.Unlock()
	for _, u := range next {
		if u.cancel == nil {
			u.start(ctx, d.group)
			started = append(started, u.inbox.Name())
		}
	}
	d.world.Log.Info("configuration reloaded", "stopped", strings.Join(stopped, ", "), "started", strings.Join(started, ", "), "inboxes", len(next))
}
