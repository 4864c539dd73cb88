// Package party knows who signs: the key pages of other parties, when to believe them, and the keys of our own.
// It knows nothing of what is signed.
//
// Source: profile, "Party keys and the trust rule".
package party

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
)

const (
	pagePath   = "/.well-known/agent-agreements/"
	pageSuffix = ".json"
)

var partyID = regexp.MustCompile(`^pty_[a-z0-9]{20}$`)

// PageURL is the address of the key page of a party on a host.
func PageURL(host, party string) string {
	return "https://" + host + pagePath + party + pageSuffix
}

// Trust is the trust rule: a key is believed only from a key page on one of these hosts.
type Trust struct {
	Hosts []string // host names in lower case without port, as they stand in an address
}

// Party returns the party whose key page jku is, and whether jku is the address of a key page on a trusted host.
//
// The address is compared as text and never parsed: user names, ports, capitals, escapes, dot segments, queries and
// look-alike letters are each another text, and what two URL parsers read differently does not arise.
func (t Trust) Party(jku string) (party string, ok bool) {
	for _, host := range t.Hosts {
		rest, _ := strings.CutPrefix(jku, "https://"+host+pagePath)
		party, _ := strings.CutSuffix(rest, pageSuffix)
		if partyID.MatchString(party) && jku == PageURL(host, party) {
			return party, true
		}
	}
	return "", false
}

// VouchName is where in DNS a domain vouches for parties: a TXT record with the id of one.
func VouchName(domain string) string { return "_agent-agreements." + domain }

// Vouched tells whether a domain, in the form of address.Domain, vouches for a party. When DNS does not say, the error wraps
// ErrTemporary.
func Vouched(ctx context.Context, txt TXT, domain, party string) (bool, error) {
	records, err := txt.LookupTXT(ctx, VouchName(domain))
	if dns, ok := errors.AsType[*net.DNSError](err); err != nil && !(ok && dns.IsNotFound) {
		return false, fmt.Errorf("vouch of the domain: %w: %w", ErrTemporary, err)
	}
	return slices.Contains(records, party), nil // D44: any of several
}
