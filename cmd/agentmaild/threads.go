package main

import (
	"strings"
	"text/tabwriter"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/spf13/cobra"
)

func (a *app) threadsCommand() *cobra.Command {
	return group("threads", "The negotiations of a running daemon", &cobra.Command{
		Use: "list", Short: "List the threads", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Threads(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showThreads(cmd, list) })
		},
	}, &cobra.Command{
		Use: "show THREAD", Short: "Show a thread, its messages and what was proven about each",
		Args: named("id of a thread, as `agentmaild threads list` shows it", idForm), ValidArgsFunction: a.completeIDs(threadIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			t, err := client.Thread(cmd.Context(), name, args[0])
			if err != nil {
				return err
			}
			return a.print(cmd, t, func() { showThread(cmd, t) })
		},
	})
}

func showThreads(cmd *cobra.Command, list []inbox.Thread) {
	if len(list) == 0 {
		cmd.Println("no threads yet")
		return
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(cells ...string) { _, _ = w.Write([]byte(strings.Join(cells, "\t") + "\n")) }
	row("THREAD", "WITH", "LAST", "BY", "STATE", "ID")
	for _, t := range list {
		last, by := t.Entries[len(t.Entries)-1], "us"
		if last.By == t.With {
			by = "them"
		}
		row(t.ID, t.With, string(last.Type), by, stands(last), last.ID)
	}
}

func showThread(cmd *cobra.Command, t inbox.Thread) {
	cmd.Printf("Thread %s with %s\n\n", t.ID, t.With)
	for _, e := range t.Entries {
		cmd.Printf("  %-13s %s by %s: %s\n", e.Type, e.ID, e.By, stands(e))
	}
	for _, r := range t.Records {
		cmd.Printf("  %-13s %s of %s: %s\n", "record", recordName(r), whose(r), mark(r))
	}
	for _, m := range t.Messages {
		cmd.Printf("\n%s  %s from %s, %s, %s\n", when(m.At), m.Type, m.From, m.Fate, proof(m))
		cmd.Print(body(m.Message))
	}
}

// stands is where an offer or ask stands, and whether the other side can know.
func stands(e inbox.Entry) string {
	if e.Undelivered == nil {
		return string(e.State)
	}
	return string(e.State) + " here alone, " + delivery(e.Undelivered)
}

// delivery says in one line where the mail of a message from here stands.
func delivery(d *inbox.Delivery) string {
	switch {
	case d.State == inbox.DeliverySent:
		return "taken by the mail server " + when(d.At)
	case d.State == inbox.DeliveryQueued:
		return "in the outbox"
	case d.State.Never():
		return "never delivered: " + d.Reason
	default:
		return "not delivered yet: " + d.Reason
	}
}

// proof says in one line what is known about a message.
func proof(m inbox.Message) string {
	if m.Fate == inbox.FateSent {
		return delivery(m.Delivery)
	}
	words := "DKIM " + m.Proof.Domain + ", " + string(m.Signature)
	if m.Proof.Party != "" {
		words += " by " + m.Proof.Party
	}
	if len(m.Warnings) > 0 {
		words += ", warnings: " + strings.Join(m.Warnings, " ")
	}
	return words
}

// body is a message as a person reads it, each line set in, so that no text
// of the other side can look like ours.
func body(canonical []byte) string {
	m, err := intent.Parse(canonical)
	if err != nil {
		return "  (the message cannot be shown)\n"
	}
	return "  | " + strings.ReplaceAll(strings.TrimSpace(m.Text()), "\n", "\n  | ") + "\n"
}
