package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/spf13/cobra"
)

func (a *app) taskCommand() *cobra.Command {
	return group("task", "The tasks of a running daemon: work that one agent asked of another", a.taskList(), a.taskShow(), a.taskUpdate(), a.taskCancel())
}

func (a *app) taskList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tasks, and where each stands", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, in, err := a.agentInbox(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Tasks(cmd.Context(), in.Name)
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showTasks(cmd, list, in.Agent) })
		},
	}
}

func showTasks(cmd *cobra.Command, list []inbox.Task, own string) {
	if len(list) == 0 {
		cmd.Println("no tasks yet")
		return
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(cells ...string) { _, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") }
	row("TASK", "OFFERING", "STATE", "LAST", "ASKED BY", "OF")
	for _, t := range list {
		row(printable(t.ID), printable(t.Offering), string(t.State), when(t.At), usOr(t.Asker, own), usOr(t.Asked, own))
	}
}

func usOr(agent, own string) string {
	if agent == own {
		return "us"
	}
	return agent
}

var oneTask = named("id of a task, as `agentmaild task list` shows it", sentForm)

func (a *app) taskShow() *cobra.Command {
	return &cobra.Command{
		Use: "show TASK", Short: "Show a task and its messages", Args: oneTask, ValidArgsFunction: a.completeIDs(taskIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, in, err := a.agentInbox(cmd.Context())
			if err != nil {
				return err
			}
			t, err := client.Task(cmd.Context(), in.Name, args[0])
			if err != nil {
				return err
			}
			return a.print(cmd, t, func() {
				cmd.Printf("Task %s, %s: %s\nAsked by %s of %s\n\n", printable(t.ID), printable(t.Offering), t.State, usOr(t.Asker, in.Agent), usOr(t.Asked, in.Agent))
				showExchange(cmd, t.Messages)
			})
		},
	}
}

func (a *app) taskUpdate() *cobra.Command {
	cmd := exchangeCommand("update TASK --status STATUS", "Say how a task is doing that this agent was asked for", oneTask, a.addAnswer,
		func(cmd *cobra.Command, args []string, typed *actionFlags) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			t, err := client.Task(cmd.Context(), name, args[0])
			if err != nil {
				return err
			}
			for _, m := range slices.Backward(t.Messages) { // the last one is what the asker waits for
				if m.Kind == agentmsg.TypeRequest && m.From == t.Asker && m.Offering != "" {
					return a.answer(cmd, typed, inbox.Action{Request: m.ID, Agent: m.From})
				}
			}
			return usage("task %q has no request that could be answered", args[0])
		})
	cmd.ValidArgsFunction = a.completeIDs(taskIDs)
	return cmd
}

// reasons are those for which a task is canceled.
var reasons = []string{
	"user_requested", "superseded", "deadline_exceeded", "budget_exhausted", "upstream_cancelled", "policy", "needs_not_furnished", "dependency_failed",
}

func (a *app) taskCancel() *cobra.Command {
	cmd := exchangeCommand("cancel TASK", "Ask who does a task to end it", oneTask,
		func(f *actionFlags) {
			member(f, "reason", "`REASON`: "+strings.Join(reasons, ", ")+" (default user_requested)", text, func(a *inbox.Action, v string) { a.Reason = v })
			complete(f.cmd, "reason", cobra.FixedCompletions(reasons, cobra.ShellCompDirectiveNoFileComp))
			member(f, "need", "what was not furnished, as `KIND:VALUE`, with needs_not_furnished", text, func(a *inbox.Action, v string) { a.UnmetNeed = v })
			member(f, "dependency", "the `SERVICE` that failed, with dependency_failed", text, func(a *inbox.Action, v string) { a.Dependency = v })
			member(f, "note", "`TEXT` for people", text, func(a *inbox.Action, v string) { a.Note = v })
		},
		func(cmd *cobra.Command, args []string, typed *actionFlags) error {
			act := inbox.Action{Type: inbox.ActCancelTask, Task: args[0]}
			if err := typed.into(&act); err != nil {
				return err
			}
			return a.do(cmd, act)
		})
	cmd.ValidArgsFunction = a.completeIDs(taskIDs)
	return cmd
}

// taskIDs lists the tasks that have not ended.
func taskIDs(ctx context.Context, client *control.Client, name string) ([]string, error) {
	list, err := client.Tasks(ctx, name)
	var ids []string
	for _, t := range list {
		if !t.State.Final() {
			ids = append(ids, cobra.CompletionWithDesc(t.ID, printable(t.Offering)+", "+string(t.State)))
		}
	}
	return ids, err
}
