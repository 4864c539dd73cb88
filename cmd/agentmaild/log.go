package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// seqForm is the number of an event.
var seqForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (a *app) inboxLog() *cobra.Command {
	var after string
	var follow bool
	cmd := &cobra.Command{
		Use: "log", Short: "Show what happened: each mail that came, what became of it and why, and all that went out", Args: cobra.NoArgs,
		Long: "Show what happened: each mail that came, what became of it and why, and all that went out. The last 10000\n" +
			"events are kept. With --json each is one line.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if after != "" && !seqForm.MatchString(after) {
				return usage("--after: %q is no number of an event, as the first column has them", after)
			}
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			err = a.log(cmd, client, name, after, follow)
			if follow && cmd.Context().Err() != nil { // told to stop, which is how it ends
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&after, "after", "", "begin behind the event of this `NUMBER`")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what happens next, until stopped")
	return cmd
}

// log prints events until there is none left, or for ever.
func (a *app) log(cmd *cobra.Command, client *control.Client, name, after string, follow bool) error {
	for {
		events, err := client.Events(cmd.Context(), name, after, follow)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := a.printEvent(cmd, e); err != nil {
				return err
			}
			after = e.Seq
		}
		if len(events) == 0 && !follow {
			return nil
		}
	}
}

func (a *app) printEvent(cmd *cobra.Command, e inbox.Event) error {
	if !a.json {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), eventLine(e))
		return err
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), string(line))
	return err
}

// eventLine is an event in one line: its number, when, what, and why.
func eventLine(e inbox.Event) string {
	words := []string{e.Seq, when(e.At), e.Kind}
	for _, word := range []string{string(e.Verdict), string(e.Code), about(e), e.ID} {
		if word != "" {
			words = append(words, printable(word))
		}
	}
	if from := origin(e); from != "" {
		words = append(words, "from "+printable(from))
	}
	line := strings.Join(words, "  ")
	if e.Reason != "" {
		line += ": " + printable(e.Reason)
	}
	if x := e.Exchange; x != nil && x.Answered != "" {
		line += "; answered " + printable(x.Answered) + " to " + printable(x.AnsweredTo)
	}
	if len(e.Warnings) > 0 {
		line += "; warnings: " + printable(strings.Join(e.Warnings, " "))
	}
	return line
}

// about is what kind of message it was.
func about(e inbox.Event) string {
	if x := e.Exchange; x != nil {
		return strings.TrimSpace(string(x.Kind) + " " + x.Offering)
	}
	return string(e.Type)
}

// origin is whom a message came from, as far as that is proven.
func origin(e inbox.Event) string {
	switch x := e.Exchange; {
	case e.Kind == inbox.KindSent:
		return ""
	case x != nil && x.Person != "":
		return x.Person
	case x != nil:
		return x.From
	}
	return e.Proof.Domain
}
