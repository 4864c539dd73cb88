package main

import (
	"context"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/spf13/cobra"
)

// actionCommand makes a command that has one action done by the daemon.
func (a *app) actionCommand(use, short string, t intent.Type, flags func(*actionFlags)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	typed := &actionFlags{cmd: cmd}
	if t == intent.Accept || t == intent.Decline || t == intent.Cancel {
		cmd.Args = named("id of an offer or ask, as `agentmaild threads show` has it", idForm)
		cmd.ValidArgsFunction = a.completeIDs(answerable(t))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		action := inbox.Action{Type: t}
		if err := typed.into(&action); err != nil {
			return err
		}
		if len(args) == 1 {
			action.Ref = args[0]
		}
		return a.do(cmd, action)
	}
	member(typed, "note", "`TEXT` for the other side, at most 2000 characters", text, func(a *inbox.Action, v string) { a.Note = v })
	member(typed, "valid", "how long the message is valid, as in 48h, at most 8784h (default: seven days)", parseValid,
		func(a *inbox.Action, v time.Duration) { a.ValidSeconds = int64(v / time.Second) })
	flags(typed)
	return cmd
}

func (a *app) askCommand() *cobra.Command {
	return a.actionCommand("ask --to ADDRESS --item ITEM…", "Ask for a quote", intent.AskQuote, func(f *actionFlags) {
		member(f, "to", "`ADDRESS` to ask", text, func(a *inbox.Action, v string) { a.To = v })
		member(f, "thread", "`ID` of a thread to ask in again", parseID, func(a *inbox.Action, v string) { a.Thread = v })
		complete(f.cmd, "thread", a.completeIDs(threadIDs))
		member(f, "wanted-by", "`DATE`, as in 2026-11-30", text, func(a *inbox.Action, v string) { a.WantedBy = v })
		f.addItems()
		f.addFile()
	})
}

func (a *app) quoteCommand() *cobra.Command {
	return a.actionCommand("quote --thread ID --item ITEM… --total MONEY", "Give a quote, or counter one", intent.Quote, func(f *actionFlags) {
		member(f, "thread", "`ID` of the thread with the ask that is answered", parseID, func(a *inbox.Action, v string) { a.Thread = v })
		member(f, "replaces", "`ID` of the offer that is countered", parseID, func(a *inbox.Action, v string) { a.Replaces = v })
		complete(f.cmd, "thread", a.completeIDs(threadIDs))
		complete(f.cmd, "replaces", a.completeIDs(answerable(intent.Accept)))
		member(f, "total", "`MONEY`, as in \"500.00 EUR\"", intent.ParseMoney, func(a *inbox.Action, v intent.Money) { a.Total = &v })
		member(f, "delivery-by", "`DATE`, as in 2026-11-30", text, func(a *inbox.Action, v string) { a.DeliveryBy = v })
		f.addItems()
		f.addFile()
	})
}

func (a *app) timesCommand() *cobra.Command {
	return a.actionCommand("times --to ADDRESS --slot SLOT…", "Propose times", intent.ProposeTimes, func(f *actionFlags) {
		member(f, "to", "`ADDRESS` to propose to", text, func(a *inbox.Action, v string) { a.To = v })
		member(f, "replaces", "`ID` of the offer that is countered", parseID, func(a *inbox.Action, v string) { a.Replaces = v })
		complete(f.cmd, "replaces", a.completeIDs(answerable(intent.Accept)))
		member(f, "slot", "`SLOT`, as in \"2026-11-12T10:00:00+01:00 2026-11-12T10:30:00+01:00 Europe/Berlin\"; up to five times",
			several(&f.slots, parseSlot), func(a *inbox.Action, v []intent.Slot) { a.Slots = v })
		member(f, "purpose", "what for, in `TEXT`", text, func(a *inbox.Action, v string) { a.Purpose = v })
		member(f, "location", "where, in `TEXT`", text, func(a *inbox.Action, v string) { a.Location = v })
		f.addFile()
	})
}

func (a *app) acceptCommand() *cobra.Command {
	return a.actionCommand("accept OFFER", "Accept an offer", intent.Accept, func(f *actionFlags) {
		member(f, "slot", "`NUMBER` of the chosen time, from 0", parseSlotNumber, func(a *inbox.Action, v int) { a.Slot = &v })
	})
}

func (a *app) declineCommand() *cobra.Command {
	return a.actionCommand("decline OFFER_OR_ASK", "Decline an offer or an ask", intent.Decline, func(f *actionFlags) {
		member(f, "reason", "`REASON`: price, timing, not_available or other", text, func(a *inbox.Action, v string) { a.Reason = v })
		complete(f.cmd, "reason", cobra.FixedCompletions([]string{"price", "timing", "not_available", "other"}, cobra.ShellCompDirectiveNoFileComp))
	})
}

func (a *app) cancelCommand() *cobra.Command {
	return a.actionCommand("cancel OFFER_OR_ASK", "Cancel an own offer or ask, or an agreement", intent.Cancel, func(*actionFlags) {})
}

// do asks the daemon for an action.
func (a *app) do(cmd *cobra.Command, act inbox.Action) error {
	client, name, err := a.client(cmd.Context())
	if err != nil {
		return err
	}
	done, err := client.Do(cmd.Context(), name, act)
	if err != nil {
		return err
	}
	return a.print(cmd, done, func() {
		cmd.Printf("%s %s to %s%s: in the outbox\n", act.Type, done.ID, done.To, place(done))
		for _, c := range done.Changes {
			cmd.Printf("  %s is %s\n", c.Entry, c.State)
		}
	})
}

// place is the thread or the task of what was done.
func place(d inbox.Done) string {
	switch {
	case d.Thread != "":
		return ", in thread " + d.Thread
	case d.Task != "":
		return ", in task " + printable(d.Task)
	}
	return ""
}

// client connects to the running daemon and finds the inbox.
func (a *app) client(ctx context.Context) (*control.Client, string, error) {
	client, in, err := a.agentInbox(ctx)
	return client, in.Name, err
}

// agentInbox is client for who must know the inbox's agent.
func (a *app) agentInbox(ctx context.Context) (*control.Client, control.Inbox, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, control.Inbox{}, err
	}
	client := control.NewClient(cfg.SocketPath())
	inboxes, err := client.Inboxes(ctx)
	if err != nil {
		return nil, control.Inbox{}, err
	}
	names := make([]string, len(inboxes))
	for i, in := range inboxes {
		names[i] = in.Name
	}
	name, err := a.one(names)
	if err != nil {
		return nil, control.Inbox{}, err
	}
	return client, inboxes[slices.Index(names, name)], nil
}
