package daemon

import (
	"context"
	"fmt"
	"net"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/keypage"
)

// openPublic makes the listener for strangers, nil where none is configured.
// Nothing is bound yet.
func openPublic(cfg *config.Config, w World) (*keypage.Server, error) {
	if cfg.Public.Listen == "" {
		return nil, nil
	}
	return keypage.New(cfg, w.Now, w.Log)
}

// servePublic shows the key pages until ctx ends. Others hold our messages
// back while they cannot reach the page, so it is no small matter when it
// fails.
func (d *Daemon) servePublic(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.cfg.Public.Listen)
	if err != nil {
		return fmt.Errorf("opening public.listen: %w", err)
	}
	d.world.Log.Info("key pages are shown", "address", listener.Addr().String(), "tls", d.cfg.Public.CertFile != "")
	return d.public.Serve(ctx, listener)
}

// reloadPublic shows the pages of another configuration.
func (d *Daemon) reloadPublic(cfg *config.Config) error {
	if d.public == nil {
		return nil
	}
	return d.public.Reload(cfg)
}
