package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/agentmaild/agentmaild/api"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// actionFlags are the flags of an action, as they were typed.
type actionFlags struct {
	items []string
	slots []string
	total string
	slot  int
	valid time.Duration
	file  string
}

// actionCommand makes a command that has one action done by the daemon.
func (a *app) actionCommand(use, short string, t intent.Type, flags func(*cobra.Command, *inbox.Action, *actionFlags)) *cobra.Command {
	action, typed := &inbox.Action{Type: t}, &actionFlags{slot: -1}
	args := cobra.NoArgs
	takesRef := t == intent.Accept || t == intent.Decline || t == intent.Cancel
	if takesRef {
		args = named("id of an offer or ask")
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if takesRef {
				action.Ref = args[0]
			}
			if err := typed.into(cmd, action); err != nil {
				return err
			}
			return a.do(cmd, *action)
		},
	}
	cmd.Flags().StringVar(&action.Note, "note", "", "a note for the other side, at most 2000 characters")
	cmd.Flags().DurationVar(&typed.valid, "valid", 0, "how long the message is valid, as in 48h (default: seven days)")
	flags(cmd, action, typed)
	return cmd
}

func (a *app) askCommand() *cobra.Command {
	return a.actionCommand("ask --to ADDRESS --item ITEM…", "Ask for a quote", intent.AskQuote,
		func(cmd *cobra.Command, act *inbox.Action, f *actionFlags) {
			cmd.Flags().StringVar(&act.To, "to", "", "`ADDRESS` to ask")
			cmd.Flags().StringVar(&act.Thread, "thread", "", "`ID` of a thread to ask in again")
			cmd.Flags().StringVar(&act.WantedBy, "wanted-by", "", "`DATE`, as in 2026-11-30")
			f.addItems(cmd)
		})
}

func (a *app) quoteCommand() *cobra.Command {
	return a.actionCommand("quote --thread ID --item ITEM… --total MONEY", "Give a quote, or counter one", intent.Quote,
		func(cmd *cobra.Command, act *inbox.Action, f *actionFlags) {
			cmd.Flags().StringVar(&act.Thread, "thread", "", "`ID` of the thread with the ask that is answered")
			cmd.Flags().StringVar(&act.Replaces, "replaces", "", "`ID` of the offer that is countered")
			cmd.Flags().StringVar(&f.total, "total", "", "`MONEY`, as in \"500.00 EUR\"")
			cmd.Flags().StringVar(&act.DeliveryBy, "delivery-by", "", "`DATE`, as in 2026-11-30")
			f.addItems(cmd)
		})
}

func (a *app) timesCommand() *cobra.Command {
	return a.actionCommand("times --to ADDRESS --slot SLOT…", "Propose times", intent.ProposeTimes,
		func(cmd *cobra.Command, act *inbox.Action, f *actionFlags) {
			cmd.Flags().StringVar(&act.To, "to", "", "`ADDRESS` to propose to")
			cmd.Flags().StringVar(&act.Replaces, "replaces", "", "`ID` of the offer that is countered")
			cmd.Flags().StringArrayVar(&f.slots, "slot", nil, "`SLOT`, as in \"2026-11-12T10:00:00+01:00 2026-11-12T10:30:00+01:00 Europe/Berlin\"; up to five times")
			cmd.Flags().StringVar(&act.Purpose, "purpose", "", "what for")
			cmd.Flags().StringVar(&act.Location, "location", "", "where")
			f.addFile(cmd)
		})
}

func (a *app) acceptCommand() *cobra.Command {
	return a.actionCommand("accept OFFER", "Accept an offer", intent.Accept,
		func(cmd *cobra.Command, _ *inbox.Action, f *actionFlags) {
			cmd.Flags().IntVar(&f.slot, "slot", -1, "`NUMBER` of the chosen time, from 0")
		})
}

func (a *app) declineCommand() *cobra.Command {
	return a.actionCommand("decline OFFER_OR_ASK", "Decline an offer or an ask", intent.Decline,
		func(cmd *cobra.Command, act *inbox.Action, _ *actionFlags) {
			cmd.Flags().StringVar(&act.Reason, "reason", "", "price, timing, not_available or other")
		})
}

func (a *app) cancelCommand() *cobra.Command {
	return a.actionCommand("cancel OFFER_OR_ASK", "Cancel an own offer or ask, or an agreement", intent.Cancel,
		func(*cobra.Command, *inbox.Action, *actionFlags) {})
}

func (f *actionFlags) addItems(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.items, "item", nil, "`ITEM`, as in \"200 piece Ceramic mug, white\" or, in a quote, \"200 piece Ceramic mug, white @ 2.50 EUR\"; a - stands for no unit")
	f.addFile(cmd)
}

func (f *actionFlags) addFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "file", "", "read the action from a JSON `FILE` (- for standard input); flags come on top")
}

// into puts what was typed into the action.
func (f *actionFlags) into(cmd *cobra.Command, act *inbox.Action) error {
	if err := f.read(cmd.InOrStdin(), act); err != nil {
		return err
	}
	for _, text := range f.items {
		item, err := parseItem(text)
		if err != nil {
			return usage("--item %q: %w", text, err)
		}
		act.Items = append(act.Items, item)
	}
	for _, text := range f.slots {
		slot, err := parseSlot(text)
		if err != nil {
			return usage("--slot %q: %w", text, err)
		}
		act.Slots = append(act.Slots, slot)
	}
	if f.total != "" {
		total, err := intent.ParseMoney(f.total)
		if err != nil {
			return usage("--total %q: %w", f.total, err)
		}
		act.Total = &total
	}
	if cmd.Flags().Changed("slot") && act.Type == intent.Accept {
		act.Slot = &f.slot
	}
	act.ValidSeconds += int64(f.valid / time.Second)
	return nil
}

// read takes an action from a file; the flags given beside it come on top.
func (f *actionFlags) read(stdin io.Reader, act *inbox.Action) error {
	if f.file == "" {
		return nil
	}
	in := stdin
	if f.file != "-" {
		file, err := os.Open(f.file)
		if err != nil {
			return usage("--file: %w", err)
		}
		defer file.Close()
		in = file
	}
	kind := act.Type
	if err := json.UnmarshalRead(io.LimitReader(in, 1<<20), act, json.RejectUnknownMembers(true)); err != nil {
		return usage("--file %s: it is no action: %w", f.file, err)
	}
	if act.Type != kind {
		return usage("--file %s: its type is %q, the command is for %q", f.file, act.Type, kind)
	}
	return nil
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
		cmd.Printf("%s %s to %s, in thread %s: in the outbox\n", act.Type, done.ID, done.To, done.Thread)
		for _, c := range done.Changes {
			cmd.Printf("  %s is %s\n", c.Entry, c.State)
		}
	})
}

// client connects to the running daemon and finds the inbox.
func (a *app) client(ctx context.Context) (*api.Client, string, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, "", err
	}
	client := api.NewClient(cfg.SocketPath())
	inboxes, err := client.Inboxes(ctx)
	if err != nil {
		return nil, "", err
	}
	names := make([]string, len(inboxes))
	for i, in := range inboxes {
		names[i] = in.Name
	}
	name, err := a.one(names)
	return client, name, err
}

var errItem = errors.New("it is not of the form QUANTITY UNIT DESCRIPTION [@ UNIT-PRICE]")
