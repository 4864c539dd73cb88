package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
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
	}, a.decideCommand("approve", "approved", "Let it go on: count the message, ask the handler again, send the letter again",
		agentRuling{"admit", "admit its agent, and let in all that waits of it", agentmsg.StanceAllow}),
		a.decideCommand("refuse", "refused", "End it; the other side is told nothing",
			agentRuling{"block", "block its agent, and refuse all that waits of it", agentmsg.StanceBlock}), a.countCommand())
}

func showWaiting(cmd *cobra.Command, list []inbox.Waiting) {
	if len(list) == 0 {
		cmd.Println("nothing waits for you")
		return
	}
	replies, agents := false, false
	for _, w := range list {
		cmd.Printf("%s\n  %s, since %s: %s\n%s\n", w.Key, w.Kind, when(w.At), printable(w.Reason), waits(w))
		replies = replies || w.Kind == "reply"
		agents = agents || w.Agent != ""
	}
	cmd.Println("Decide with `agentmaild waiting approve KEY` or `agentmaild waiting refuse KEY`.")
	if agents {
		cmd.Println("`approve --admit` lets in all that its agent writes from now on, `refuse --block` nothing.")
	}
	if replies {
		cmd.Println("A reply is no accept until you say so, with `agentmaild waiting count KEY`.")
	}
}

// waits is what somebody wrote that waits.
func waits(w inbox.Waiting) string {
	switch {
	case w.Kind == "agent":
		return "  agent " + w.Agent + "\n" + waitingMessage(w)
	case w.Kind == "knock":
		return "  agent " + w.Agent + ", which gives " + orDash(w.Address) + " as its address\n" + quoted(w.Text)
	case w.Kind == "mail":
		return quoted(w.Text)
	case w.Kind == "action":
		return proposed(w)
	case w.Kind == "reply":
		return said(w.Text)
	case w.Message == nil:
		return ""
	}
	if _, err := agentmsg.Parse(w.Message); err == nil { // an event that the handler failed on
		return waitingMessage(w)
	}
	return body(w.Message)
}

// proposed is what the agent wants done. What stands in it may be a model's.
func proposed(w inbox.Waiting) string {
	a := w.Action
	what := string(a.Type)
	if about := cmp.Or(a.Ref, a.Replaces, a.Request, a.Task, a.Offering); about != "" {
		what += " of " + about
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  %s\n", printable(fmt.Sprintf(format, args...))) }
	line("%s, to %s, until %s", what, w.Address, when(w.Expires))
	for _, i := range a.Items {
		line("%s", itemLine(i))
	}
	if a.Total != nil {
		line("total %s", a.Total)
	}
	for _, s := range a.Slots {
		line("%s to %s (%s)", s.Start, s.End, s.TimeZone)
	}
	for _, f := range a.Files {
		line("file %s", f)
	}
	return b.String() + quoted(cmp.Or(a.Note, a.Text, string(a.Input), string(a.Output)))
}

// waitingMessage is a message of an agent that waits at the door.
func waitingMessage(w inbox.Waiting) string {
	e, err := agentmsg.Parse(w.Message)
	if err != nil {
		return contents(inbox.ExchangeMessage{})
	}
	about := ""
	if e.Request != nil {
		about = "  request " + printable(e.Request.Offering) + "\n"
	}
	if w.Person != "" {
		about = "  for " + w.Person + "\n" + about
	}
	return about + contents(inbox.ExchangeMessage{Message: w.Message, Body: e.Body(), Text: cmp.Or(w.Text, e.Text()), Files: w.Files})
}

// maxLines is how many lines of a text from outside are shown.
const maxLines = 40

// said is what a person wrote in a mail.
func said(text string) string {
	if strings.TrimSpace(text) == "" {
		return "  (it has no plain text: read it in the mailbox)\n"
	}
	return setIn(text, "read it in the mailbox")
}

// quoted is what a message says.
func quoted(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return setIn(text, "--json shows it all")
}

// setIn sets each line of a text from outside in and escapes it, so that none
// can look like ours.
func setIn(text, rest string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	var b strings.Builder
	for _, line := range lines[:min(len(lines), maxLines)] {
		b.WriteString("  | " + printable(line) + "\n")
	}
	if len(lines) > maxLines {
		b.WriteString("  (and more: " + rest + ")\n")
	}
	return b.String()
}

// decideCommand is approve or refuse; done is the word for having done so.
func (a *app) decideCommand(use, done, short string, ruling agentRuling) *cobra.Command {
	var rules bool
	var reason string
	cmd := &cobra.Command{
		Use: use + " KEY", Short: short, Args: named("key, as `agentmaild waiting list` shows it", keyForm), ValidArgsFunction: a.completeIDs(waitingKeys),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case rules:
				err = ruling.on(cmd.Context(), client, name, args[0])
			case use == "approve":
				err = client.Approve(cmd.Context(), name, args[0])
			default:
				err = client.Refuse(cmd.Context(), name, args[0], reason)
			}
			if err != nil {
				return err
			}
			return a.print(cmd, map[string]string{"key": args[0], "decision": use}, func() { cmd.Println(done, args[0]) })
		},
	}
	cmd.Flags().BoolVar(&rules, ruling.flag, false, ruling.usage)
	if use == "refuse" {
		cmd.Flags().StringVar(&reason, "reason", "", "why, for the agent")
	}
	return cmd
}

// agentRuling is a decision on all that an agent writes, which is put into the roster.
type agentRuling struct {
	flag, usage string
	stance      agentmsg.Stance
}

// on decides over the agent of which something waits under a key: of that agent all goes the same way.
func (r agentRuling) on(ctx context.Context, client *control.Client, name, key string) error {
	list, err := client.Waiting(ctx, name)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.Key == key && w.Agent != "" {
			return client.Rule(ctx, name, control.Ruling{Agent: w.Agent, Stance: r.stance})
		}
	}
	return usage("--%s: nothing of an agent waits under %q: see `agentmaild waiting list`", r.flag, key)
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
