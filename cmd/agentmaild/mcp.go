package main

import (
	"context"
	"crypto/rand"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mcp"
	"github.com/agentmaild/agentmaild/record"
	"github.com/spf13/cobra"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Let a model use the inboxes of a running daemon, by MCP on standard input and output", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			client := control.NewClient(cfg.SocketPath())
			server := mcp.Server{
				Inboxes: func(ctx context.Context) ([]mcp.Inbox, error) { return a.distant(ctx, client) },
				Random:  rand.Reader,
			}
			return server.Run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// distant are the daemon's inboxes, or the one that --inbox names. The daemon is
// asked for each call of a model: it may be started after the model's program.
func (a *app) distant(ctx context.Context, client *control.Client) ([]mcp.Inbox, error) {
	all, err := client.Inboxes(ctx)
	var list []mcp.Inbox
	for _, in := range all {
		if a.inbox == "" || a.inbox == in.Name {
			list = append(list, distantInbox{ctx, client, in})
		}
	}
	return list, err
}

// distantInbox is an inbox of the daemon for one call of a model.
type distantInbox struct {
	ctx    context.Context
	client *control.Client
	in     control.Inbox
}

func (d distantInbox) Name() string    { return d.in.Name }
func (d distantInbox) Address() string { return d.in.Address }
func (d distantInbox) AgentID() string { return d.in.Agent }

func (d distantInbox) Threads() ([]inbox.Thread, error) { return d.client.Threads(d.ctx, d.in.Name) }

func (d distantInbox) Thread(id string) (inbox.Thread, error) {
	return d.client.Thread(d.ctx, d.in.Name, id)
}

func (d distantInbox) Requests() ([]inbox.ExchangeMessage, error) {
	return d.client.Requests(d.ctx, d.in.Name)
}

func (d distantInbox) Request(agent, id string) ([]inbox.ExchangeMessage, error) {
	return d.client.Request(d.ctx, d.in.Name, agent, id)
}

func (d distantInbox) Tasks() ([]inbox.Task, error) { return d.client.Tasks(d.ctx, d.in.Name) }

func (d distantInbox) Task(id string) (inbox.Task, error) { return d.client.Task(d.ctx, d.in.Name, id) }

func (d distantInbox) Waiting() ([]inbox.Waiting, error) { return d.client.Waiting(d.ctx, d.in.Name) }

func (d distantInbox) Propose(act inbox.Action) (inbox.Done, error) {
	return d.client.Propose(d.ctx, d.in.Name, act)
}

func (d distantInbox) Settled() ([]inbox.Event, error) {
	return d.client.Settled(d.ctx, d.in.Name)
}

func (d distantInbox) CheckRecord(ctx context.Context, id string, ours bool) (inbox.Record, []byte, record.Report, error) {
	kept, err := d.client.CheckRecord(ctx, d.in.Name, id, ours)
	return kept.Record, kept.File, kept.Report, err
}
