// Package keypage makes the key pages of the parties that a configuration names, and shows them to everybody on a listener
// of its own.
//
// Source: profile, "Party keys and the trust rule".
package keypage

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/party"
)

// Build makes the page of a party: the keys, addresses and name of all inboxes that have it, since a party has one page
// (D94). The name is that of the first of them. An inbox that has no keys yet adds none.
func Build(cfg *config.Config, id string) ([]byte, error) {
	var addresses []string
	var keys []party.OwnKey
	name := ""
	for _, in := range cfg.Inboxes {
		if in.Party != id {
			continue
		}
		if addresses == nil {
			name = in.OrgName
		}
		addresses = append(addresses, in.Address)
		more, err := party.LoadKeys(in.KeysDir(cfg.StateDir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if keys, err = join(keys, more); err != nil {
			return nil, err
		}
	}
	return party.BuildPage(id, name, addresses, nil, keys)
}

// join puts keys together, each once: a key may stand in the folders of two inboxes, if both say the same of it. Were one
// to win, a key that was revoked in one folder would be good again by the other.
func join(keys, more []party.OwnKey) ([]party.OwnKey, error) {
	for _, k := range more {
		i := slices.IndexFunc(keys, func(o party.OwnKey) bool { return o.Kid == k.Kid })
		switch {
		case i < 0:
			keys = append(keys, k)
		case keys[i].CreatedAt != k.CreatedAt || keys[i].RetiredAt != k.RetiredAt || keys[i].RevokedAt != k.RevokedAt:
			return nil, fmt.Errorf("key %s stands in the folders of two inboxes with different times: copy its .json from one to the other", k.Kid)
		}
	}
	return keys, nil
}

// parties lists those of a configuration, each once.
func parties(cfg *config.Config) []string {
	var ids []string
	for _, in := range cfg.Inboxes {
		if in.Party != "" && !slices.Contains(ids, in.Party) {
			ids = append(ids, in.Party)
		}
	}
	return ids
}
