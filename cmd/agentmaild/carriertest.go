package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/carrier"
	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/daemon"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/spf13/cobra"
)

// errCarrier marks a carrier that does not carry what it must.
var errCarrier = errors.New("the carrier does not carry signed messages and files unharmed")

func (a *app) carrierTestCommand() *cobra.Command {
	var to string
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "carrier-test", Short: "Send a signed test message with files through the mailbox, and compare what arrives", Args: cobra.NoArgs,
		Long: "The message goes from the mailbox of the inbox to itself, or to that of another inbox of the\n" +
			"configuration. No daemon is needed, and one that runs passes the message over. The mail stays in\n" +
			"the mailbox.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, receiver, err := a.carrierEnds(to)
			if err != nil {
				return err
			}
			ctx, stop := context.WithTimeout(cmd.Context(), wait)
			defer stop()
			checks, err := carry(ctx, from, receiver)
			if errors.Is(err, carrier.ErrNotArrived) {
				return fmt.Errorf("%w within %s in the mailbox of %s: look for it among the spam, or give it longer with --wait", err, wait, receiver.Address)
			}
			if err != nil {
				return err
			}
			passed := carrier.Passed(checks)
			err = a.print(cmd, map[string]any{"passed": passed, "checks": checks}, func() { showCarried(cmd, checks) })
			if err == nil && !passed {
				err = errCarrier
			}
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "`NAME` of the inbox that the message goes to (default: the same)")
	cmd.Flags().DurationVar(&wait, "wait", 2*time.Minute, "how long the message may take")
	complete(cmd, "to", a.completeInbox)
	return cmd
}

// carrierEnds are the inboxes that the message goes from and to.
func (a *app) carrierEnds(to string) (from, receiver config.Inbox, err error) {
	cfg, err := a.load()
	if err != nil {
		return from, receiver, err
	}
	var names []string
	for _, in := range cfg.Inboxes {
		names = append(names, in.Name)
	}
	name, err := a.one(names)
	if err != nil {
		return from, receiver, err
	}
	if to == "" {
		to = name
	}
	i := slices.Index(names, to)
	if i < 0 {
		return from, receiver, usage("--to: there is no inbox %q", to)
	}
	return cfg.Inboxes[slices.Index(names, name)], cfg.Inboxes[i], nil
}

// carry sends a test message from one inbox to another and compares.
func carry(ctx context.Context, from, to config.Inbox) ([]carrier.Check, error) {
	quiet := slog.New(slog.DiscardHandler) // what goes wrong is told by the error
	out, err := daemon.NewMailbox(from, quiet)
	if err != nil {
		return nil, err
	}
	in, err := daemon.NewMailbox(to, quiet)
	if err != nil {
		return nil, err
	}
	defer out.Sender.Close()
	now := time.Now()
	probe, err := carrier.New(mail.Address{Name: from.DisplayName, Address: from.Address}, mail.Address{Address: to.Address}, now, rand.Reader)
	if err != nil {
		return nil, err
	}
	raw := probe.Raw
	if out.Signer != nil {
		if raw, err = out.Signer.Sign(raw, now); err != nil {
			return nil, fmt.Errorf("signing the test mail: %w", err)
		}
	}
	arrived, err := carrier.Send(ctx, probe, out.Sender, mailbox.Letter{From: from.Address, To: to.Address, Raw: raw}, in.Watcher)
	if err != nil {
		return nil, err
	}
	return probe.Compare(arrived), nil
}

func showCarried(cmd *cobra.Command, checks []carrier.Check) {
	for _, c := range checks {
		result := "ok    "
		if !c.OK {
			result = "BROKEN"
		}
		if c.Detail != "" {
			c.Detail = ": " + c.Detail
		}
		cmd.Println(result, c.What+c.Detail)
	}
	if carrier.Passed(checks) {
		cmd.Println("the carrier passes: values and files arrive as they were signed")
	}
}
