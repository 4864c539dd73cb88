package main

import (
	"context"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/spf13/cobra"
)

// complete offers values for a flag.
func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag is not there, or completed twice: a mistake in this program
	}
}

// completeInbox offers the inboxes of the configuration.
func (a *app) completeInbox(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := a.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, len(cfg.Inboxes))
	for i, in := range cfg.Inboxes {
		names[i] = in.Name
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// lister finds what can be completed in one inbox of a running daemon.
type lister func(ctx context.Context, client *control.Client, inbox string) ([]string, error)

// completeIDs offers what the daemon has for a flag or the one argument of a
// command, and nothing where no daemon answers.
func (a *app) completeIDs(list lister) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, name, err := a.client(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ids, err := list(cmd.Context(), client, name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// answerable lists the offers and asks that an action of a type may name.
func answerable(t intent.Type) lister {
	return func(ctx context.Context, client *control.Client, inbox string) ([]string, error) {
		list, err := client.Threads(ctx, inbox)
		var ids []string
		for _, thread := range list {
			for _, e := range thread.Entries {
				theirs := e.By == thread.With
				open := e.State == threads.Open && theirs == (t != intent.Cancel) && (t != intent.Accept || e.Type.Offers())
				if open || t == intent.Cancel && e.State == threads.Agreed {
					ids = append(ids, cobra.CompletionWithDesc(e.ID, string(e.Type)+" by "+e.By))
				}
			}
		}
		return ids, err
	}
}

func threadIDs(ctx context.Context, client *control.Client, inbox string) ([]string, error) {
	list, err := client.Threads(ctx, inbox)
	var ids []string
	for _, t := range list {
		ids = append(ids, cobra.CompletionWithDesc(t.ID, "with "+t.With))
	}
	return ids, err
}

// recordIDs lists the ids of this side's records, or of the other's.
func recordIDs(theirs *bool) lister {
	return func(ctx context.Context, client *control.Client, inbox string) ([]string, error) {
		list, err := client.Records(ctx, inbox)
		var ids []string
		for _, r := range list {
			if r.Ours != *theirs {
				ids = append(ids, cobra.CompletionWithDesc(recordName(r), "with "+r.With))
			}
		}
		return ids, err
	}
}

func replyKeys(ctx context.Context, client *control.Client, inbox string) ([]string, error) {
	keys, err := waitingKeys(ctx, client, inbox)
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, "reply-") }), err
}

func waitingKeys(ctx context.Context, client *control.Client, inbox string) ([]string, error) {
	list, err := client.Waiting(ctx, inbox)
	var keys []string
	for _, w := range list {
		keys = append(keys, cobra.CompletionWithDesc(w.Key, w.Kind))
	}
	return keys, err
}
