package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/agentmaild/agentmaild/daemon"
	"github.com/agentmaild/agentmaild/party"
	"github.com/spf13/cobra"
)

func (a *app) keysCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Fetch the key page as a stranger does, and tell what differs from the keys here", Args: cobra.NoArgs,
		Long: "Fetch the published key page as a stranger does, and tell what differs from the keys here.\n" +
			"Exit code 0: nothing; 1: something; 2: there is no page that could be used, or it could not be fetched.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.keyFolder()
			if err != nil {
				return err
			}
			world, err := daemon.NewWorld(f.cfg, os.Stderr)
			if err != nil {
				return usage("%w", err)
			}
			return a.checkPage(cmd, f, world.Pages)
		},
	}
}

// pageCheck is what was found of a published page.
type pageCheck struct {
	URL         string             `json:"url"`
	Same        bool               `json:"same"`
	Differences []party.Difference `json:"differences"`
}

// checkPage compares the published page, fetched anew, with the one that should be there.
func (a *app) checkPage(cmd *cobra.Command, f keyFolder, pages party.Pages) error {
	data, err := f.page()
	if err != nil {
		return err
	}
	own, err := party.ParsePage(data, f.in.Party)
	if err != nil {
		return err
	}
	published, err := pages.Page(cmd.Context(), f.url(), f.in.Party, true)
	if err != nil {
		return usage("%s could not be checked: %w", f.url(), err)
	}
	differences := party.Differences(published, own)
	found := pageCheck{f.url(), len(differences) == 0, append([]party.Difference{}, differences...)}
	if err := a.print(cmd, found, func() { showDifferences(cmd, f, differences) }); err != nil {
		return err
	}
	lost := slices.ContainsFunc(differences, func(d party.Difference) bool { return d.Lost })
	switch {
	case lost:
		return fmt.Errorf("%s knows what %s does not: find out why before you publish another page, or what others were told of keys is taken back", f.url(), f.dir)
	case !found.Same:
		return fmt.Errorf("%s is not the page of the keys in %s: publish that of `agentmaild keys page --inbox %s`", f.url(), f.dir, f.in.Name)
	}
	return nil
}

func showDifferences(cmd *cobra.Command, f keyFolder, differences []party.Difference) {
	if len(differences) == 0 {
		cmd.Printf("%s is the page of the keys in %s\n", f.url(), f.dir)
		if f.in.KeyHost != defaultHost {
			cmd.Printf("Others believe it who have %s among the hosts that they trust.\n", f.in.KeyHost)
		}
	}
	for _, d := range differences {
		if d.Kid != "" {
			cmd.Printf("key %s: ", d.Kid)
		}
		cmd.Println(d.Text)
	}
}
