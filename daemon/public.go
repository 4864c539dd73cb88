package daemon

import (
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

// reloadPublic shows the pages of another configuration.
func (d *Daemon) reloadPublic(cfg *config.Config) error {
	if d.public == nil {
		return nil
	}
	return d.public.Reload(cfg)
}
