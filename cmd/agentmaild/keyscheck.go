package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/agentmaild/agentmaild/daemon"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/party"
	"github.com/spf13/cobra"
)

func (a *app) keysCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Fetch the key page as a stranger does, and tell what differs from the keys here", Args: cobra.NoArgs,
		Long: "Fetch the published key page as a stranger does, and tell what differs from the keys here.\n" +
			"An address that is not on the page is no difference where its domain vouches for the party in DNS.\n" +
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
			return a.checkPage(cmd, f, world.Pages, world.TXT)
		},
	}
}

// pageCheck is what was found of a published page.
type pageCheck struct {
	URL         string             `json:"url"`
	Same        bool               `json:"same"`
	Differences []party.Difference `json:"differences"`
	Vouches     []domainVouch      `json:"vouches"`
}

// domainVouch is what DNS says of a domain that the party has an inbox in.
type domainVouch struct {
	Domain  string `json:"domain"`
	Vouches bool   `json:"vouches"`        // for the party
	Error   string `json:"error,omitzero"` // DNS did not say
	Needed  bool   `json:"needed"`         // an inbox's address there is not on the page
}

// checkPage compares the published page, fetched anew, with the one that should be there.
func (a *app) checkPage(cmd *cobra.Command, f keyFolder, pages party.Pages, txt party.TXT) error {
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
	vouches, err := f.lookUp(cmd.Context(), published, txt)
	if err != nil {
		return err
	}
	own.Addresses = slices.DeleteFunc(own.Addresses, func(at string) bool {
		return !published.Lists(at) && slices.ContainsFunc(vouches, func(v domainVouch) bool { return v.Vouches && v.Domain == address.Of(at) })
	})
	differences := party.Differences(published, own)
	found := pageCheck{f.url(), len(differences) == 0, append([]party.Difference{}, differences...), vouches}
	if err := a.print(cmd, found, func() { showDifferences(cmd, f, found) }); err != nil {
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

// lookUp asks DNS which of the party's domains vouch for it. Only for an address that is not on the page must there be an
// answer.
func (f keyFolder) lookUp(ctx context.Context, published *party.Page, txt party.TXT) ([]domainVouch, error) {
	var list []domainVouch
	for _, in := range f.cfg.Inboxes {
		if in.Party != f.in.Party {
			continue
		}
		domain, needed := address.Of(in.Address), !published.Lists(in.Address)
		i := slices.IndexFunc(list, func(v domainVouch) bool { return v.Domain == domain })
		if i < 0 {
			v := domainVouch{Domain: domain}
			var err error
			if v.Vouches, err = party.Vouched(ctx, txt, domain, f.in.Party); err != nil {
				v.Error = err.Error()
			}
			i, list = len(list), append(list, v)
		}
		list[i].Needed = list[i].Needed || needed
		if needed && list[i].Error != "" {
			return nil, usage("%s is not on %s, and whether its domain vouches for %s could not be checked: %s", in.Address, f.url(), f.in.Party, list[i].Error)
		}
	}
	return list, nil
}

func showDifferences(cmd *cobra.Command, f keyFolder, found pageCheck) {
	if found.Same {
		cmd.Printf("%s is the page of the keys in %s\n", f.url(), f.dir)
		if f.in.KeyHost != defaultHost {
			cmd.Printf("Others believe it who have %s among the hosts that they trust.\n", f.in.KeyHost)
		}
	}
	for _, d := range found.Differences {
		if d.Kid != "" {
			cmd.Printf("key %s: ", d.Kid)
		}
		cmd.Println(d.Text)
	}
	for _, v := range found.Vouches {
		switch {
		case v.Error != "":
			cmd.Printf("whether %s vouches for %s could not be looked up, and need not be known: its addresses are on the page\n", v.Domain, f.in.Party)
		case v.Vouches:
			cmd.Printf("%s vouches for %s in DNS\n", v.Domain, f.in.Party)
		case v.Needed:
			cmd.Printf("%s does not vouch for %s in DNS either: `agentmaild keys page --dns` prints the record\n", v.Domain, f.in.Party)
		default:
			cmd.Printf("%s does not vouch for %s in DNS, and need not: its addresses are on the page\n", v.Domain, f.in.Party)
		}
	}
}
