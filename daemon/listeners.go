package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/monitor"
)

// service is a listener and what answers on it.
type service struct {
	name  string
	open  func(context.Context) (net.Listener, error)
	serve func(context.Context, net.Listener) error
}

// services are those that are configured.
func (d *Daemon) services() []service {
	socket := d.cfg.SocketPath() // a reload changes d.cfg
	commands := &control.Server{Inboxes: d.served, Backup: d.store.Backup, Log: d.world.Log}
	all := []service{{
		"control socket",
		func(ctx context.Context) (net.Listener, error) { return control.Listen(ctx, socket) },
		commands.Serve,
	}}
	if d.public != nil {
		all = append(all, service{"public listener", d.tcp("public.listen", d.cfg.Public.Listen), d.servePublic})
	}
	if d.monitor != nil {
		all = append(all, service{"metrics listener", d.tcp("metrics.listen", d.cfg.Metrics.Listen), d.serveMonitor})
	}
	if d.web != nil {
		all = append(all, service{"API listener", d.tcp("api.listen", d.cfg.API.Listen), d.serveWeb})
	}
	return all
}

// serve opens all listeners, so that who is told that the daemon is ready can
// use them, and answers on them until ctx ends. One that fails ends the daemon:
// without the control socket nobody can decide anything, without the key pages
// others hold our messages back, without the metrics nobody is alarmed.
func (d *Daemon) serve(ctx context.Context, cancel context.CancelCauseFunc) error {
	services := d.services()
	var listeners []net.Listener
	for _, s := range services {
		l, err := s.open(ctx)
		if err != nil {
			for _, l := range listeners {
				_ = l.Close()
			}
			return err
		}
		listeners = append(listeners, l)
	}
	for i, s := range services {
		d.group.start(s.name, func() error {
			err := s.serve(ctx, listeners[i])
			if ctx.Err() == nil {
				cancel(err)
			}
			return err
		})
	}
	return nil
}

// tcp opens the listener that a key of the configuration names.
func (d *Daemon) tcp(key, address string) func(context.Context) (net.Listener, error) {
	return func(ctx context.Context) (net.Listener, error) {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			return nil, fmt.Errorf("opening %s: %s is taken by another program, stop it or name another port", key, address)
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			return nil, fmt.Errorf("opening %s: %s is no address of this machine", key, address)
		case err != nil:
			return nil, fmt.Errorf("opening %s: %w", key, err)
		}
		return l, nil
	}
}

// servePublic shows the key pages.
func (d *Daemon) servePublic(ctx context.Context, l net.Listener) error {
	d.world.Log.Info("key pages are shown", "address", l.Addr().String(), "tls", d.cfg.Public.CertFile != "")
	return d.public.Serve(ctx, l)
}

// serveMonitor answers a supervisor and Prometheus.
func (d *Daemon) serveMonitor(ctx context.Context, l net.Listener) error {
	d.world.Log.Info("metrics are shown", "address", l.Addr().String())
	return d.monitor.Serve(ctx, l)
}

// openMonitor makes what answers on the metrics listener, if there is one.
func (d *Daemon) openMonitor() {
	if d.cfg.Metrics.Listen == "" {
		return
	}
	d.monitor = &monitor.Server{
		Inboxes: d.watched, Counts: monitor.NewCounts(d.world.Now().Unix()), Store: d.store,
		Fetches: d.world.Fetches, Now: d.world.Now, Log: d.world.Log,
	}
}

// watched is the inboxes as the monitor shows them.
func (d *Daemon) watched() []monitor.Source {
	var list []monitor.Source
	for _, in := range d.served() {
		list = append(list, monitor.Source{Inbox: in.Inbox, Mailbox: in.Mailbox})
	}
	return list
}
