package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/spf13/cobra"
)

// agentForm is an agent id; whether it is a key the daemon knows.
var agentForm = regexp.MustCompile(`^U[A-Z2-7]{55}$`)

var oneAgent = named("agent id, U and 55 letters and digits", agentForm)

func (a *app) contactsCommand() *cobra.Command {
	return group("contacts", "The name cards of agents that an inbox knows, see docs/agents.md", a.contactsList(), a.contactsPut(), a.contactsRemove())
}

func (a *app) contactsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the name cards", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Contacts(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showContacts(cmd, list) })
		},
	}
}

func showContacts(cmd *cobra.Command, list []inbox.Contact) {
	if len(list) == 0 {
		cmd.Println("no name cards yet")
	}
	for _, c := range list {
		whose := "written by you"
		if c.Pinned {
			whose = "as the agent gave it first, and no word of yours"
		}
		cmd.Printf("%s  %s\n  %s\n", c.Agent, orDash(printable(c.Name)), whose)
		if len(c.Addresses) > 0 {
			cmd.Println("  at", strings.Join(c.Addresses, ", "))
		}
		if c.SealingKey != "" {
			cmd.Println("  sealing key", c.SealingKey)
		}
	}
}

func (a *app) contactsPut() *cobra.Command {
	var card inbox.Contact
	cmd := &cobra.Command{
		Use: "put AGENT-ID --address ADDRESS…", Short: "Write the name card of an agent, in the place of the one before", Args: oneAgent,
		ValidArgsFunction: a.completeIDs(agentIDs),
		Long: "Write the name card of an agent, in the place of the one before. Answers go to its first address, messages\n" +
			"are sealed to its key, and who is in the contact book is let in, unless the roster says otherwise.",
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			card.Agent = args[0]
			if err := client.PutContact(cmd.Context(), name, card); err != nil {
				return err
			}
			return a.print(cmd, card, func() { cmd.Println("written:", card.Agent) })
		},
	}
	cmd.Flags().StringArrayVar(&card.Addresses, "address", nil, "`ADDRESS` where the agent has its mail; may be repeated")
	cmd.Flags().StringVar(&card.Name, "name", "", "`NAME` by which you know it")
	cmd.Flags().StringVar(&card.SealingKey, "sealing-key", "", "public `KEY` that is sealed to, as its owner tells it")
	return cmd
}

func (a *app) contactsRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove AGENT-ID", Short: "Take a name card out", Args: oneAgent, ValidArgsFunction: a.completeIDs(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			if err := client.RemoveContact(cmd.Context(), name, args[0]); err != nil {
				return err
			}
			return a.print(cmd, map[string]string{"removed": args[0]}, func() { cmd.Println("removed:", args[0]) })
		},
	}
}

// agentIDs lists the agents with a name card.
func agentIDs(ctx context.Context, client *control.Client, name string) ([]string, error) {
	list, err := client.Contacts(ctx, name)
	var ids []string
	for _, c := range list {
		ids = append(ids, cobra.CompletionWithDesc(c.Agent, printable(c.Name)+" "+strings.Join(c.Addresses, " ")))
	}
	return ids, err
}

// ownAgent is the agent id of an inbox.
func ownAgent(ctx context.Context, client *control.Client, name string) (string, error) {
	inboxes, err := client.Inboxes(ctx)
	for _, in := range inboxes {
		if in.Name == name {
			return in.Agent, err
		}
	}
	return "", err
}
