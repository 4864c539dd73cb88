package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/keypage"
	"github.com/agentmaild/agentmaild/party"
	"github.com/spf13/cobra"
)

func (a *app) keysCommand() *cobra.Command {
	return group("keys", "The keys of an inbox, see docs/keys.md and, of its agent, docs/agents.md",
		a.keysNew(), a.keysList(), a.keysRetire(), a.keysRevoke(), a.keysPage(), a.keysCheck())
}

// keyFolder is the inbox whose keys a command is about, and where they are.
type keyFolder struct {
	cfg *config.Config
	in  config.Inbox
	dir string
}

// url is where the page of the party is published.
func (f keyFolder) url() string { return party.PageURL(f.in.KeyHost, f.in.Party) }

// page is the page to publish. An inbox without any key has none.
func (f keyFolder) page() ([]byte, error) {
	if _, err := loadKeys(f.dir); err != nil {
		return nil, err
	}
	return keypage.Build(f.cfg, f.in.Party)
}

// keyFolder finds the inbox in the configuration; no daemon need run.
func (a *app) keyFolder() (keyFolder, error) {
	cfg, in, err := a.configured()
	if err != nil {
		return keyFolder{}, err
	}
	if in.Party == "" {
		return keyFolder{}, usage("inbox %s has no party: set party in its configuration first", in.Name)
	}
	return keyFolder{cfg, in, in.KeysDir(cfg.StateDir)}, nil
}

// configured is the inbox that a command is about, as the configuration has it.
func (a *app) configured() (*config.Config, config.Inbox, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, config.Inbox{}, err
	}
	names := make([]string, len(cfg.Inboxes))
	for i, in := range cfg.Inboxes {
		names[i] = in.Name
	}
	name, err := a.one(names)
	if err != nil {
		return nil, config.Inbox{}, err
	}
	return cfg, cfg.Inboxes[slices.Index(names, name)], nil
}

// shownKey is what is shown of a key; the private half stays where it is.
type shownKey struct {
	Kid       string `json:"kid"`
	CreatedAt int64  `json:"created_at"`
	RetiredAt int64  `json:"retired_at,omitzero"`
	RevokedAt int64  `json:"revoked_at,omitzero"`
	Signs     bool   `json:"signs"`
	Here      bool   `json:"here"` // with its private half
}

// shown is the keys in the folder, oldest first.
func (f keyFolder) shown() ([]shownKey, error) {
	keys, err := loadKeys(f.dir)
	if err != nil {
		return nil, err
	}
	active, _ := party.Active(keys, time.Now())
	var list []shownKey
	for _, k := range keys {
		list = append(list, shownKey{k.Kid, k.CreatedAt, k.RetiredAt, k.RevokedAt, k.Kid == active.Kid, k.Private != nil})
	}
	return list, nil
}

func loadKeys(dir string) ([]party.OwnKey, error) {
	keys, err := party.LoadKeys(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(keys) == 0 {
		return nil, fmt.Errorf("there is no key in %s: make one with `agentmaild keys new`", dir)
	}
	return keys, err
}

func (a *app) keysNew() *cobra.Command {
	var agent, sealing string
	cmd := &cobra.Command{
		Use: "new [--agent FILE | --sealing FILE]", Short: "Make a key of the party, or one of the agent", Args: cobra.NoArgs,
		Long: "Make a key of the party. Beside one that signs already it waits until that one is retired or revoked,\n" +
			"and meanwhile becomes known to others on the key page. With a flag it is a key of the agent, in a file\n" +
			"that the configuration then names, see docs/agents.md.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case cmd.Flags().Changed("agent") && cmd.Flags().Changed("sealing"):
				return usage("--agent and --sealing make a key each: give one of them at a time")
			case cmd.Flags().Changed("agent"):
				return a.newAgentKey(cmd, agent)
			case cmd.Flags().Changed("sealing"):
				return a.newSealingKey(cmd, sealing)
			default:
				return a.newPartyKey(cmd)
			}
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "make the key that an agent signs with, in a new `FILE`")
	cmd.Flags().StringVar(&sealing, "sealing", "", "make a key that others seal messages to, in a new `FILE`")
	return cmd
}

func (a *app) newPartyKey(cmd *cobra.Command) error {
	f, err := a.keyFolder()
	if err != nil {
		return err
	}
	key, err := party.NewKey(f.dir, rand.Reader, time.Now())
	if err != nil {
		return err
	}
	keys, err := f.shown()
	if err != nil {
		return err
	}
	return a.print(cmd, map[string]string{"kid": key.Kid, "folder": f.dir}, func() {
		cmd.Printf("made key %s in %s\n", key.Kid, f.dir)
		for _, k := range keys {
			if k.Signs && k.Kid != key.Kid {
				cmd.Printf("%s signs until it is retired\n", k.Kid)
			}
		}
		cmd.Printf("Publish the page of `agentmaild keys page --inbox %s` at\n  %s\n", f.in.Name, f.url())
	})
}

func (a *app) keysList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.keyFolder()
			if err != nil {
				return err
			}
			list, err := f.shown()
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() {
				for _, k := range list {
					cmd.Printf("%s  created %s  retired %s  revoked %s  signs: %t", k.Kid, when(k.CreatedAt), when(k.RetiredAt), when(k.RevokedAt), k.Signs)
					if !k.Here {
						cmd.Print("  its private half is not here")
					}
					cmd.Println()
				}
			})
		},
	}
}

// kidForm is what a key is called: an RFC 7638 thumbprint.
var kidForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

var oneKey = named("key, as `agentmaild keys list` shows it", kidForm)

// completeKids offers the keys that can still be changed.
func (a *app) completeKids(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var kids []string
	if f, err := a.keyFolder(); err == nil && len(args) == 0 {
		list, _ := f.shown()
		for _, k := range list {
			if k.RevokedAt == 0 {
				kids = append(kids, cobra.CompletionWithDesc(k.Kid, "created "+when(k.CreatedAt)))
			}
		}
	}
	return kids, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) keysRetire() *cobra.Command {
	return &cobra.Command{
		Use: "retire KID", Short: "Have a key sign no more; what it signed stays good", Args: oneKey, ValidArgsFunction: a.completeKids,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeKey(cmd, args[0], "retired", func(dir string) (party.OwnKey, error) {
				return party.Retire(dir, args[0], time.Now())
			})
		},
	}
}

func (a *app) keysRevoke() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use: "revoke KID --at TIME", Short: "Have nothing count that a key signed from a time on", Args: oneKey, ValidArgsFunction: a.completeKids,
		Long: "Have nothing count that a key signed at a time or later: the time since when somebody\n" +
			"else may have had it. What it signed before still checks out, with a warning.",
		RunE: func(cmd *cobra.Command, args []string) error {
			since, err := parseTime(at)
			if err != nil {
				return usage("--at: %w", err)
			}
			return a.changeKey(cmd, args[0], "revoked", func(dir string) (party.OwnKey, error) {
				return party.Revoke(dir, args[0], since, time.Now())
			})
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "nothing counts from `TIME` on, as 2026-11-01T09:00:00Z, or now")
	return cmd
}

// parseTime takes a time of RFC 3339, as this program prints it, or the word now.
func parseTime(typed string) (time.Time, error) {
	if typed == "now" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.RFC3339, shownTime} {
		if at, err := time.Parse(layout, typed); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time such as 2026-11-01T09:00:00Z, and not the word now", typed)
}

// changeKey retires or revokes a key, and says what signs from then on.
func (a *app) changeKey(cmd *cobra.Command, kid, done string, change func(dir string) (party.OwnKey, error)) error {
	f, err := a.keyFolder()
	if err != nil {
		return err
	}
	if _, err := loadKeys(f.dir); err != nil {
		return err
	}
	signer, err := change(f.dir)
	switch {
	case errors.Is(err, party.ErrStays):
		return usage("%w", err)
	case err != nil:
		return err
	}
	if _, err := f.page(); err != nil { // D94
		return fmt.Errorf("the key was %s, and there can be no page that says so: %w", done, err)
	}
	return a.print(cmd, map[string]string{done: kid, "signs": signer.Kid}, func() {
		cmd.Printf("%s %s\n", done, kid)
		if signer.Kid != "" {
			cmd.Printf("%s signs from now on\n", signer.Kid)
		}
		cmd.Printf("Publish the page of `agentmaild keys page --inbox %s` at\n  %s\nunless the daemon shows it, and see that it is there with `agentmaild keys check`.\n", f.in.Name, f.url())
	})
}
