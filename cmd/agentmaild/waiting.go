package main

import (
	"strings"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/spf13/cobra"
)

func (a *app) waitingCommand() *cobra.Command {
	return group("waiting", "What waits for your decision in a running daemon", &cobra.Command{
		Use: "list", Short: "List what waits, and why", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Waiting(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showWaiting(cmd, list) })
		},
	}, a.decideCommand("approve", "approved", "Let it go on: count the message, ask the handler again, send the letter again"),
		a.decideCommand("refuse", "refused", "End it; the other side is told nothing"), a.countCommand())
}

func showWaiting(cmd *cobra.Command, list []inbox.Waiting) {
	if len(list) == 0 {
		cmd.Println("nothing waits for you")
		return
	}
	replies := false
	for _, w := range list {
		cmd.Printf("%s\n  %s, since %s: %s\n", w.Key, w.Kind, when(w.At), w.Reason)
		if w.Message != nil {
			cmd.Print(body(w.Message))
		}
		if w.Kind == "reply" {
			cmd.Print(said(w.Text))
			replies = true
		}
		cmd.Println()
	}
	cmd.Println("Decide with `agentmaild waiting approve KEY` or `agentmaild waiting refuse KEY`.")
	if replies {
		cmd.Println("A reply is no accept until you say so, with `agentmaild waiting count KEY`.")
	}
}

// maxLines is how many lines of a person's mail are shown.
const maxLines = 40

// said is what a person wrote, each line set in and escaped, so that none can
// look like ours.
func said(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return "  (it has no plain text: read it in the mailbox)\n"
	}
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for _, line := range lines[:min(len(lines), maxLines)] {
		b.WriteString("  | " + printable(line) + "\n")
	}
	if len(lines) > maxLines {
		b.WriteString("  (and more: read it in the mailbox)\n")
	}
	return b.String()
}

// decideCommand is approve or refuse; done is the word for having done so.
func (a *app) decideCommand(use, done, short string) *cobra.Command {
	return &cobra.Command{
		Use: use + " KEY", Short: short, Args: named("key, as `agentmaild waiting list` shows it", keyForm), ValidArgsFunction: a.completeIDs(waitingKeys),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			if err := client.Decide(cmd.Context(), name, args[0], use == "approve"); err != nil {
				return err
			}
			return a.print(cmd, map[string]string{"key": args[0], "decision": use}, func() { cmd.Println(done, args[0]) })
		},
	}
}

func (a *app) countCommand() *cobra.Command {
	return &cobra.Command{
		Use: "count KEY", Short: "Take a person's reply as the acceptance of your quote, and keep a record of it",
		Args: named("key of a reply, as `agentmaild waiting list` shows it", replyForm), ValidArgsFunction: a.completeIDs(replyKeys),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			made, err := client.Count(cmd.Context(), name, args[0])
			if err != nil {
				return err
			}
			return a.print(cmd, made, func() { cmd.Printf("counted: quote %s is agreed, and record %s is kept of it\n", made.Offer, made.ID) })
		},
	}
}
