package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/agentmaild/agentmaild/control"
	"github.com/spf13/cobra"
)

// shownInbox is an inbox of a running daemon, or of the configuration alone.
type shownInbox struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Running bool   `json:"running"`

	Agent      string `json:"agent_id,omitempty"`
	SealingKey string `json:"sealing_key,omitempty"` // public
	*control.Health
}

func (a *app) inboxCommand() *cobra.Command {
	return group("inbox", "The inboxes, and what happened in them", a.inboxLog(), &cobra.Command{
		Use: "list", Short: "List the inboxes, how their mailboxes are doing and what waits in each", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.inboxes(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showInboxes(cmd, list) })
		},
	})
}

// inboxes asks the daemon, or takes the configuration where none is running.
func (a *app) inboxes(ctx context.Context) ([]shownInbox, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	var list []shownInbox
	client := control.NewClient(cfg.SocketPath())
	running, err := client.Inboxes(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		for _, in := range cfg.Inboxes {
			list = append(list, shownInbox{Name: in.Name, Address: in.Address})
		}
		return a.chosen(list)
	}
	if err != nil {
		return nil, err
	}
	for _, in := range running {
		health, err := client.Health(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, shownInbox{in.Name, in.Address, true, in.Agent, in.SealingKey, &health})
	}
	return a.chosen(list)
}

// chosen is the one that --inbox names, or all.
func (a *app) chosen(list []shownInbox) ([]shownInbox, error) {
	if a.inbox == "" {
		return list, nil
	}
	names := make([]string, len(list))
	for i, in := range list {
		names[i] = in.Name
		if in.Name == a.inbox {
			return list[i : i+1], nil
		}
	}
	_, err := a.one(names)
	return nil, err
}

func showInboxes(cmd *cobra.Command, list []shownInbox) {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer showAgents(cmd, list)
	defer w.Flush()
	row := func(cells ...string) { _, _ = w.Write([]byte(strings.Join(cells, "\t") + "\n")) }
	row("INBOX", "ADDRESS", "STATE", "LAST LOOK", "LAST MAIL", "WAITING", "LAST ERROR")
	for _, in := range list {
		if !in.Running {
			row(in.Name, in.Address, "not running", "-", "-", "-", "-")
			continue
		}
		row(in.Name, in.Address, state(in.Health), when(in.LastLook), when(in.LastMail), backlog(in.Health), orDash(in.Error))
	}
}

// showAgents tells what others must know to reach the agents.
func showAgents(cmd *cobra.Command, list []shownInbox) {
	for _, in := range list {
		if in.Agent != "" {
			cmd.Printf("%s is agent %s\n", in.Name, in.Agent)
		}
		if in.SealingKey != "" {
			cmd.Printf("%s reads what is sealed to %s\n", in.Name, in.SealingKey)
		}
	}
}

// state says how new mail is noticed, if it is.
func state(h *control.Health) string {
	switch {
	case !h.Connected:
		return "not watched"
	case h.Polling:
		return "polling"
	case h.IdleSince == 0:
		return "looking"
	}
	return "IDLE since " + when(h.IdleSince)
}

func backlog(h *control.Health) string {
	var parts []string
	for _, p := range []struct {
		what string
		n    int
	}{{"held", h.Held}, {"events", h.Events}, {"letters", h.Letters}, {"for DNS or key pages", h.Retries}, {"webhooks", h.Webhooks}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", p.what, p.n))
		}
	}
	return orDash(strings.Join(parts, ", "))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
