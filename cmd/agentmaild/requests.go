package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// sentForm is the id of a message or task of Agent Emailing, which is its sender's to choose.
var sentForm = regexp.MustCompile(`^[!-~][ -~]{0,255}$`)

// exchangeCommand is actionCommand for Agent Emailing.
func exchangeCommand(use, short string, args cobra.PositionalArgs, flags func(*actionFlags), run func(cmd *cobra.Command, args []string, typed *actionFlags) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: args}
	typed := &actionFlags{cmd: cmd}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, args, typed) }
	flags(typed)
	return cmd
}

func (a *app) requestCommand() *cobra.Command {
	cmd := exchangeCommand("request --to ADDRESS|AGENT-ID OFFERING", "Ask another agent for something", named("offering, as chat", sentForm),
		func(f *actionFlags) {
			member(f, "to", "`AGENT`: its id, or the address on its name card", text, func(a *inbox.Action, v string) {
				if a.Agent, a.To = v, ""; !agentmsg.IsID(v) {
					a.Agent, a.To = "", v
				}
			})
			complete(f.cmd, "to", a.completeIDs(agentIDs))
			f.cmd.Flags().StringVar(&f.address, "address", "", "`ADDRESS` of an agent without a name card, beside its id in --to")
			f.addBody("input", func(a *inbox.Action, v jsontext.Value) { a.Input = v })
			member(f, "task", "`ID` of the task to go on with", text, func(a *inbox.Action, v string) { a.Task = v })
			complete(f.cmd, "task", a.completeIDs(taskIDs))
		},
		func(cmd *cobra.Command, args []string, typed *actionFlags) error {
			act := inbox.Action{Type: inbox.ActRequest, Offering: args[0]}
			if err := typed.into(&act); err != nil {
				return err
			}
			if typed.address != "" && act.To != "" {
				return usage("--address is for an agent that --to names by its id")
			}
			if typed.address != "" {
				act.To = typed.address
			}
			return a.do(cmd, act)
		})
	cmd.AddCommand(a.requestList(), a.requestShow())
	return cmd
}

func (a *app) respondCommand() *cobra.Command {
	var agent string
	cmd := exchangeCommand("respond REQUEST-ID", "Answer a request, or say how its task is doing", oneRequest,
		func(f *actionFlags) {
			a.addAnswer(f)
			f.cmd.Flags().StringVar(&agent, "agent", "", "`ID` of the agent whose request it is, where two sent one of the same id")
		},
		func(cmd *cobra.Command, args []string, typed *actionFlags) error {
			return a.answer(cmd, typed, inbox.Action{Request: args[0], Agent: agent})
		})
	cmd.ValidArgsFunction = a.completeIDs(requestIDs(false))
	return cmd
}

var oneRequest = named("id of a request, as `agentmaild request list` shows it", sentForm)

// statuses are what an answer may say of its request, or of the task.
var statuses = []string{"completed", "working", "input_required", "auth_required", "failed", "rejected", "canceled", "exhausted", "submitted", "accepted"}

// addAnswer adds the flags of an answer.
func (a *app) addAnswer(f *actionFlags) {
	member(f, "status", "`STATUS`: "+strings.Join(statuses, ", ")+" (default completed)", text, func(a *inbox.Action, v string) { a.Status = agentmsg.Status(v) })
	complete(f.cmd, "status", cobra.FixedCompletions(statuses, cobra.ShellCompDirectiveNoFileComp))
	f.addBody("output", func(a *inbox.Action, v jsontext.Value) { a.Output = v })
	member(f, "error", "`CODE` of why it is not done; the status is failed then, unless given", text, func(a *inbox.Action, v string) {
		if a.Error = failure(a); a.Status == "" {
			a.Status = agentmsg.StatusFailed
		}
		a.Error.Code = agentmsg.ErrorCode(v)
	})
	member(f, "message", "`TEXT` for people beside --error", text, func(a *inbox.Action, v string) { a.Error = failure(a); a.Error.Message = v })
}

func failure(a *inbox.Action) *agentmsg.Failure {
	if a.Error == nil {
		return &agentmsg.Failure{}
	}
	return a.Error
}

// answer has the daemon respond as was typed.
func (a *app) answer(cmd *cobra.Command, typed *actionFlags, act inbox.Action) error {
	act.Type = inbox.ActRespond
	if err := typed.into(&act); err != nil {
		return err
	}
	if act.Error != nil && act.Error.Code == "" {
		return usage("--message goes with --error CODE: use --text without one")
	}
	return a.do(cmd, act)
}

// addBody adds the ways to say what a message says: words, JSON in a file, files.
func (f *actionFlags) addBody(name string, put func(*inbox.Action, jsontext.Value)) {
	member(f, "text", "what it says, in `TEXT`", text, func(a *inbox.Action, v string) { a.Text = v })
	member(f, name, "JSON `FILE` of the "+name+" in place of --text (- for standard input)", f.json, put)
	member(f, "file", "`PATH` of a file to go along, of at most 20 MiB, which the daemon must be able to read; may be repeated",
		several(&f.files, filepath.Abs), func(a *inbox.Action, v []string) { a.Files = v })
}

// json reads a JSON value from a file.
func (f *actionFlags) json(name string) (jsontext.Value, error) {
	data, err := f.contents(name)
	if err != nil {
		return nil, err
	}
	if value := jsontext.Value(data); value.IsValid() {
		return value, nil
	}
	return nil, errors.New("it is no JSON")
}

func (a *app) requestList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the requests that came and went, and how each was answered", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, in, err := a.agentInbox(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Requests(cmd.Context(), in.Name)
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showRequests(cmd, list, in.Agent) })
		},
	}
}

func (a *app) requestShow() *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use: "show REQUEST-ID", Short: "Show a request and the answers to it", Args: oneRequest, ValidArgsFunction: a.completeIDs(requestIDs(true)),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Request(cmd.Context(), name, agent, args[0])
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showExchange(cmd, list) })
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "`ID` of the agent that sent it, where two sent one of the same id")
	return cmd
}

func showRequests(cmd *cobra.Command, list []inbox.ExchangeMessage, own string) {
	if len(list) == 0 {
		cmd.Println("no requests yet")
		return
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(cells ...string) { _, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") }
	row("REQUEST", "AT", "OFFERING", "BY", "ANSWER", "TASK")
	for _, m := range list {
		row(m.ID, when(m.At), printable(m.Offering), author(m, own), orDash(string(m.Answer)), orDash(printable(m.Task)))
	}
}

// author is who wrote a message.
func author(m inbox.ExchangeMessage, own string) string {
	switch {
	case m.From == own:
		return "us"
	case m.Person != "":
		return m.Person
	}
	return m.From
}

func showExchange(cmd *cobra.Command, list []inbox.ExchangeMessage) {
	for i, m := range list {
		if i > 0 {
			cmd.Println()
		}
		cmd.Printf("%s  %s\n%s", when(m.At), headline(m), contents(m))
	}
}

// headline says in one line what a message is.
func headline(m inbox.ExchangeMessage) string {
	words := []string{string(m.Kind), printable(m.Offering), m.ID, "from", m.From}
	if m.Person != "" {
		words = append(words, "for", m.Person)
	}
	if m.Delivery != nil {
		words = append(words, "("+delivery(m.Delivery)+")")
	}
	return strings.Join(words, " ")
}

// contents is what a message says, each line set in, so that no text of the other side can look like ours.
func contents(m inbox.ExchangeMessage) string {
	e, err := agentmsg.Parse(m.Message)
	if err != nil {
		return "  (the message cannot be shown)\n"
	}
	var b strings.Builder
	if e.Respond != nil {
		b.WriteString("  " + string(e.Respond.Status) + "\n")
		if e.Respond.Error != nil {
			b.WriteString("  error " + printable(string(e.Respond.Error.Code)) + "\n" + quoted(e.Respond.Error.Message))
		}
	}
	switch {
	case m.Text != "":
		b.WriteString(quoted(m.Text))
	case agentmsg.IsSealed(m.Body):
		b.WriteString("  (sealed: only the agent it is for can read it)\n")
	default:
		b.WriteString(quoted(string(m.Body)))
	}
	for _, f := range m.Files {
		b.WriteString("  " + fileLine(f) + "\n")
	}
	if m.Files == nil { // it is from here
		for _, f := range e.Files() {
			fmt.Fprintf(&b, "  file %s, %d bytes\n", printable(f.Name), f.Size)
		}
	}
	return b.String()
}

// fileLine says what became of a file.
func fileLine(f inbox.ReceivedFile) string {
	line := "file " + printable(f.Name) + ": " + string(f.State)
	switch {
	case f.Path != "":
		line += ", " + f.Path
	case f.URI != "":
		line += ", " + printable(f.URI)
	}
	return line
}

// requestIDs lists the requests, or only those from outside that wait for an answer.
func requestIDs(all bool) lister {
	return func(ctx context.Context, client *control.Client, name string) ([]string, error) {
		own, err := ownAgent(ctx, client, name)
		if err != nil {
			return nil, err
		}
		list, err := client.Requests(ctx, name)
		var ids []string
		for _, m := range list {
			if all || m.From != own && !m.Answer.Final() {
				ids = append(ids, cobra.CompletionWithDesc(m.ID, printable(m.Offering)+" by "+author(m, own)))
			}
		}
		return ids, err
	}
}
