package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/party"
	"github.com/spf13/cobra"
)

func (a *app) keysCommand() *cobra.Command {
	return group("keys", "The keys that sign an inbox's messages", a.keysNew(), a.keysList(), a.keysPage())
}

// keyInbox finds the inbox in the configuration; no daemon need run.
func (a *app) keyInbox() (config.Inbox, string, error) {
	cfg, err := a.load()
	if err != nil {
		return config.Inbox{}, "", err
	}
	names := make([]string, len(cfg.Inboxes))
	for i, in := range cfg.Inboxes {
		names[i] = in.Name
	}
	name, err := a.one(names)
	if err != nil {
		return config.Inbox{}, "", err
	}
	for _, in := range cfg.Inboxes {
		if in.Name == name && in.Party == "" {
			return in, "", usage("inbox %s has no party: set party in its configuration first", name)
		} else if in.Name == name {
			return in, in.KeysDir(cfg.StateDir), nil
		}
	}
	return config.Inbox{}, "", fmt.Errorf("inbox %s vanished", name)
}

func (a *app) keysNew() *cobra.Command {
	return &cobra.Command{
		Use: "new", Short: "Make a key", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, dir, err := a.keyInbox()
			if err != nil {
				return err
			}
			key, err := party.NewKey(dir, rand.Reader, time.Now())
			if err != nil {
				return err
			}
			return a.print(cmd, map[string]string{"kid": key.Kid, "folder": dir}, func() {
				cmd.Printf("made key %s in %s\nPublish the page of `agentmaild keys page --inbox %s` at\n  %s\n", key.Kid, dir, in.Name, party.PageURL(in.KeyHost, in.Party))
			})
		},
	}
}

// shownKey is what keys list shows; the private part stays where it is.
type shownKey struct {
	Kid       string `json:"kid"`
	CreatedAt int64  `json:"created_at"`
	RetiredAt int64  `json:"retired_at,omitzero"`
	RevokedAt int64  `json:"revoked_at,omitzero"`
	Signs     bool   `json:"signs"`
}

func (a *app) keysList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, dir, err := a.keyInbox()
			if err != nil {
				return err
			}
			keys, err := loadKeys(dir)
			if err != nil {
				return err
			}
			active, _ := party.Active(keys, time.Now())
			list := []shownKey{}
			for _, k := range keys {
				list = append(list, shownKey{k.Kid, k.CreatedAt, k.RetiredAt, k.RevokedAt, k.Kid == active.Kid})
			}
			return a.print(cmd, list, func() {
				for _, k := range list {
					cmd.Printf("%s  created %s  retired %s  revoked %s  signs: %t\n", k.Kid, when(k.CreatedAt), when(k.RetiredAt), when(k.RevokedAt), k.Signs)
				}
			})
		},
	}
}

func (a *app) keysPage() *cobra.Command {
	return &cobra.Command{
		Use: "page", Short: "Print the key page to publish", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, dir, err := a.keyInbox()
			if err != nil {
				return err
			}
			keys, err := loadKeys(dir)
			if err != nil {
				return err
			}
			page, err := party.BuildPage(in.Party, in.OrgName, []string{in.Address}, nil, keys)
			if err != nil {
				return err
			}
			cmd.Println(string(page)) // JSON with or without --json
			fmt.Fprintf(cmd.ErrOrStderr(), "publish it at %s; a TXT record _agent-agreements.%s with the value %s vouches for the party too\n",
				party.PageURL(in.KeyHost, in.Party), address.Of(in.Address), in.Party)
			return nil
		},
	}
}

func loadKeys(dir string) ([]party.OwnKey, error) {
	keys, err := party.LoadKeys(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(keys) == 0 {
		return nil, fmt.Errorf("there is no key in %s: make one with `agentmaild keys new`", dir)
	}
	return keys, err
}
