package daemon

import (
	"bytes"
	"fmt"
	"os"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// readAgent reads the keys and the public block of the inbox's agent.
func (p *inboxPlan) readAgent(cfg *config.Config) (err error) {
	c := p.cfg.Agent
	if c.AgentKey == "" {
		return nil
	}
	agent := &inbox.Agent{Sealed: c.Sealing == "required", Offerings: c.Offerings, Bridge: c.Bridge}
	if agent.Identity, err = agentmsg.LoadIdentity(c.AgentKey); err != nil {
		return cfg.Wrong(p.cfg.Name, "agent_key", err)
	}
	if c.SealingKey != "" {
		if agent.Sealing, err = agentmsg.LoadSealingKey(c.SealingKey); err != nil {
			return cfg.Wrong(p.cfg.Name, "sealing_key", err)
		}
	}
	if c.Describe != "" {
		if agent.Describe, err = config.ReadDescribe(c.Describe); err != nil {
			return cfg.Wrong(p.cfg.Name, "describe", err)
		}
	}
	p.settings.Agent, p.spool = agent, p.cfg.SpoolDir(cfg.StateDir)
	return nil
}

// sameAgent compares what stands in files; the rest is in the configuration.
// Keys cannot be compared but by their public halves.
func sameAgent(a, b *inbox.Agent) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Identity.ID() == b.Identity.ID() && a.Sealing.Public() == b.Sealing.Public() && bytes.Equal(a.Describe, b.Describe)
}

// openSpool opens the folder for files of messages, and makes it where there
// is none. It stays open as long as the inbox is used.
func (p *inboxPlan) openSpool() (err error) {
	if p.spool == "" {
		return nil
	}
	if err := os.MkdirAll(p.spool, 0o700); err != nil {
		return fmt.Errorf("making the spool: %w", err)
	}
	if p.services.Spool, err = os.OpenRoot(p.spool); err != nil {
		return fmt.Errorf("opening the spool: %w", err)
	}
	return nil
}
