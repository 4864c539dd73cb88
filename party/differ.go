package party

import (
	"fmt"
	"slices"
)

// Difference is something that a published key page says and the page that should be there does not, or the other way round.
type Difference struct {
	Kid  string `json:"kid,omitzero"` // "" where it is not about a key
	Text string `json:"text"`         // in words, for people; what comes from outside is quoted
	// Lost says that the published page knows of a key or of its end and ours does not: to publish ours would take back
	// what others were told. Our folder is an old copy, or not the only one of the party.
	Lost bool `json:"lost"`
}

// Differences lists what a published page and ours say otherwise, the party and its name first, then our keys and theirs
// in the order of the pages.
func Differences(published, own *Page) []Difference {
	var d differ
	if published.OrgName != own.OrgName {
		d.note("org_name is %q on the page, and %q here", published.OrgName, own.OrgName)
	}
	d.names("address", published.Addresses, own.Addresses)
	d.names("domain", published.Domains, own.Domains)
	for _, k := range own.Keys {
		p, ok := published.Key(k.Kid)
		if !ok {
			d.key(k.Kid, false, "it is not on the page, or not in a form that can be used: publish the page")
			continue
		}
		if p.CreatedAt != k.CreatedAt {
			d.key(k.Kid, false, "it was created at %s by the page, and at %s here", stamp(p.CreatedAt), stamp(k.CreatedAt))
		}
		d.end(k.Kid, "retired", p.RetiredAt, k.RetiredAt)
		d.end(k.Kid, "revoked", p.RevokedAt, k.RevokedAt)
	}
	for _, p := range published.Keys {
		if _, ok := own.Key(p.Kid); !ok {
			d.key(p.Kid, true, "it is on the page and not here: where is the folder that has it?")
		}
	}
	return d.found
}

type differ struct{ found []Difference }

func (d *differ) note(format string, args ...any) { d.key("", false, format, args...) }

func (d *differ) key(kid string, lost bool, format string, args ...any) {
	d.found = append(d.found, Difference{Kid: kid, Text: fmt.Sprintf(format, args...), Lost: lost})
}

func (d *differ) names(what string, published, own []string) {
	for _, name := range own {
		if !slices.Contains(published, name) {
			d.note("the %s %s is not on the page", what, name)
		}
	}
	for _, name := range published {
		if !slices.Contains(own, name) {
			d.note("the page lists the %s %q, which is none of ours", what, name)
		}
	}
}

// end compares a time after which a key does not sign, 0 where there is none.
func (d *differ) end(kid, what string, published, own int64) {
	switch {
	case published == own:
	case own == 0:
		d.key(kid, true, "it was %s at %s by the page, and is not here", what, stamp(published))
	case published == 0:
		d.key(kid, false, "it was %s at %s, and the page does not say so: publish the page", what, stamp(own))
	default:
		d.key(kid, published < own, "it was %s at %s by the page, and at %s here", what, stamp(published), stamp(own))
	}
}
