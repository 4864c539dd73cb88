package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

func (a *app) rosterCommand() *cobra.Command {
	return group("roster", "Who may reach an agent, see docs/agents.md",
		a.rosterShow(), a.rule(agentmsg.StanceAllow, "Let in what an agent writes, and what waits of it"),
		a.rule(agentmsg.StanceHold, "Have all that an agent writes wait for you"),
		a.rule(agentmsg.StanceBlock, "Refuse what an agent writes, and what waits of it; it hears nothing"),
		a.rosterSign(), a.rosterImport(), a.rosterExport())
}

// rule makes a command that puts the owner's word on an agent into the roster.
func (a *app) rule(stance agentmsg.Stance, short string) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: string(stance) + " AGENT-ID", Short: short, Args: oneAgent, ValidArgsFunction: a.completeIDs(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			ruling := control.Ruling{Agent: args[0], Stance: stance, Note: note}
			if err := client.Rule(cmd.Context(), name, ruling); err != nil {
				return err
			}
			return a.print(cmd, ruling, func() { cmd.Printf("%s: %s\n", args[0], stance) })
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "`TEXT` for yourself (default: the one of before)")
	return cmd
}

func (a *app) rosterShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the roster in force", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, in, err := a.agentInbox(cmd.Context())
			if err != nil {
				return err
			}
			document, err := client.Roster(cmd.Context(), in.Name)
			if err != nil {
				return err
			}
			var roster *agentmsg.Roster // none: the defaults hold
			if document.Kind() != jsontext.KindNull {
				if roster, err = agentmsg.ParseRoster(document, in.Agent); err != nil {
					return err
				}
			}
			return a.print(cmd, document, func() { showRoster(cmd, roster) })
		},
	}
}

func showRoster(cmd *cobra.Command, r *agentmsg.Roster) {
	if r == nil {
		cmd.Println("There is no roster yet.")
	} else {
		cmd.Printf("Signed %s.\n", when(r.Updated.Unix()))
	}
	for _, k := range []struct {
		kind agentmsg.Kind
		who  string
	}{{agentmsg.KindContact, "agents in the contact book"}, {agentmsg.KindRegistered, "other agents"}, {agentmsg.KindBridged, "people whose mail is bridged"}} {
		cmd.Printf("%-5s  %s\n", r.Stance("", k.kind), k.who)
	}
	if r == nil {
		return
	}
	if n := r.Limits.PerSenderPerHour; n != nil {
		cmd.Printf("At most %d messages of one sender an hour.\n", *n)
	}
	for _, e := range r.Entries {
		at := int64(0)
		if !e.Updated.IsZero() {
			at = e.Updated.Unix()
		}
		cmd.Printf("%-5s  %s  %s  %s\n", e.Stance, e.Subject, when(at), printable(e.Note))
	}
}

func (a *app) rosterSign() *cobra.Command {
	return &cobra.Command{
		Use: "sign FILE", Short: "Sign a roster that you wrote or changed, and print it; no daemon need run", Args: cobra.ExactArgs(1),
		Long: "Sign a roster that you wrote or changed, and print it. In force it is only after `agentmaild roster import`.\n" +
			"owner_key, updated_at and sig are written anew.",
		RunE: func(cmd *cobra.Command, args []string) error {
			agent, err := a.ownKey()
			if err != nil {
				return err
			}
			data, err := readRoster(cmd, args[0])
			if err != nil {
				return err
			}
			roster, err := agentmsg.DraftRoster(data)
			if err != nil {
				return usage("%s: %w", args[0], err)
			}
			roster.Updated = time.Now()
			signed, err := agent.SignRoster(roster)
			if err != nil {
				return usage("%s: %w", args[0], err)
			}
			cmd.Println(string(signed)) // JSON with or without --json
			return nil
		},
	}
}

// ownKey is the key of the agent of the inbox.
func (a *app) ownKey() (agentmsg.Identity, error) {
	_, in, err := a.configured()
	if err != nil {
		return agentmsg.Identity{}, err
	}
	if in.AgentKey == "" {
		return agentmsg.Identity{}, usage("inbox %s has no agent: give it an agent_key in the configuration", in.Name)
	}
	return agentmsg.LoadIdentity(in.AgentKey)
}

// maxRoster bounds a roster in a file, in bytes; the daemon refuses one byte less.
const maxRoster = 4<<20 + 1

func readRoster(cmd *cobra.Command, name string) ([]byte, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, usage("the roster cannot be read: %w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRoster))
	if err != nil {
		return nil, usage("the roster cannot be read: %w", err)
	}
	return data, nil
}

func (a *app) rosterImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Put a signed roster in force, in the place of the one before (- for standard input)", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readRoster(cmd, args[0])
			if err != nil {
				return err
			}
			if !jsontext.Value(data).IsValid() {
				return usage("%s: it is no JSON", args[0])
			}
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			if err := client.SetRoster(cmd.Context(), name, data); err != nil {
				return err
			}
			return a.print(cmd, map[string]bool{"in_force": true}, func() { cmd.Println("in force") })
		},
	}
}

func (a *app) rosterExport() *cobra.Command {
	return &cobra.Command{
		Use: "export [FILE]", Short: "Write the signed roster to a new file or to standard output", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			document, err := client.Roster(cmd.Context(), name)
			if err != nil {
				return err
			}
			if document.Kind() == jsontext.KindNull {
				return usage("there is no roster yet: `agentmaild roster allow`, `hold` or `block` begins one")
			}
			if len(args) == 0 {
				cmd.Println(string(document))
				return nil
			}
			err = create(args[0], func(w io.Writer) error {
				_, err := fmt.Fprintln(w, string(document))
				return err
			})
			if err != nil {
				return err
			}
			return a.print(cmd, map[string]string{"file": args[0]}, func() { cmd.Println("wrote", args[0]) })
		},
	}
}
