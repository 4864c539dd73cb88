package main

import (
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/token"
	"github.com/spf13/cobra"
)

func (a *app) tokenCommand() *cobra.Command {
	return group("token", "Who may ask over HTTP, see docs/api.md", a.tokenNew(), a.tokenList(), a.tokenRevoke())
}

var oneToken = named("name of a token, a-z, 0-9 and hyphens", token.NameForm)

// ring opens the tokens of the configuration; no daemon need run.
func (a *app) ring() (*config.Config, *token.Ring, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	ring, err := token.Open(cfg.TokensPath())
	return cfg, ring, err
}

func (a *app) tokenNew() *cobra.Command {
	var inboxes []string
	var scope string
	cmd := &cobra.Command{
		Use: "new NAME --scope agent|owner [--inbox NAME]…", Short: "Make a token, which is shown this once", Args: oneToken,
		Long: "Make a token, which is shown this once and kept nowhere. With the scope agent it reads and proposes, within\n" +
			"the owner's limits; with the scope owner it acts, and decides what waits. Without --inbox it is for all inboxes,\n" +
			"those to come too. A running daemon knows it at once.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if scope == "" {
				return usage("whose word is it? Give --scope agent, or --scope owner")
			}
			return a.newToken(cmd, args[0], token.Scope(scope), inboxes)
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "", "whose word it is: `agent|owner`")
	cmd.Flags().StringArrayVar(&inboxes, "inbox", nil, "`NAME` of an inbox it is for; may be repeated (default: all)")
	complete(cmd, "scope", cobra.FixedCompletions([]string{string(token.Agent), string(token.Owner)}, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "inbox", a.completeInbox)
	return cmd
}

func (a *app) newToken(cmd *cobra.Command, name string, scope token.Scope, inboxes []string) error {
	cfg, ring, err := a.ring()
	if err != nil {
		return err
	}
	for _, name := range inboxes {
		if !slices.ContainsFunc(cfg.Inboxes, func(in config.Inbox) bool { return in.Name == name }) {
			return usage("there is no inbox %q in the configuration", name)
		}
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return err
	}
	secret, err := ring.Add(name, scope, inboxes, rand.Reader, time.Now())
	if err != nil {
		return mendable(err)
	}
	return a.print(cmd, map[string]string{"name": name, "token": secret}, func() {
		cmd.Println(secret)
		cmd.PrintErrf("Keep it: it is shown this once. `agentmaild token revoke %s` takes it back.\n", name)
	})
}

// mendable marks what the user can mend by another command line.
func mendable(err error) error {
	if errors.Is(err, token.ErrRing) {
		return usage("%w", err)
	}
	return err
}

// shownToken is what is shown of a token: of its secret not even the hash.
type shownToken struct {
	Name    string      `json:"name"`
	Scope   token.Scope `json:"scope"`
	Inboxes []string    `json:"inboxes"` // empty: all
	Made    int64       `json:"made"`
}

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tokens", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, ring, err := a.ring()
			if err != nil {
				return err
			}
			list := []shownToken{}
			for _, t := range ring.List() {
				list = append(list, shownToken{t.Name, t.Scope, t.Inboxes, t.Made})
			}
			return a.print(cmd, list, func() { showTokens(cmd, list) })
		},
	}
}

func showTokens(cmd *cobra.Command, list []shownToken) {
	if len(list) == 0 {
		cmd.Println("no tokens yet")
	}
	for _, t := range list {
		inboxes := "all inboxes"
		if len(t.Inboxes) > 0 {
			inboxes = strings.Join(t.Inboxes, ", ")
		}
		cmd.Printf("%s  %s  %s  made %s\n", t.Name, t.Scope, printable(inboxes), when(t.Made))
	}
}

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Take a token back: nobody is let in by it any more", Args: oneToken, ValidArgsFunction: a.completeToken,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, ring, err := a.ring()
			if err != nil {
				return err
			}
			if err := ring.Remove(args[0]); err != nil {
				return mendable(err)
			}
			return a.print(cmd, map[string]string{"revoked": args[0]}, func() { cmd.Println("revoked:", args[0]) })
		},
	}
}

// completeToken offers the names of the tokens.
func (a *app) completeToken(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	_, ring, err := a.ring()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, t := range ring.List() {
		names = append(names, cobra.CompletionWithDesc(t.Name, string(t.Scope)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
