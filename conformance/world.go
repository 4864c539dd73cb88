package conformance

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/agentmaild/agentmaild/party"
)

// names is the suite's DNS. It is the same for DKIM keys and vouches.
type names struct {
	txt    map[string][]string
	errors map[string]string
}

func (s *Suite) names() names {
	n := names{map[string][]string{}, map[string]string{}}
	for name, records := range s.DNS {
		n.txt[fold(name)] = records
	}
	for name, class := range s.DNSErrors {
		n.errors[fold(name)] = class
	}
	return n
}

func fold(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// LookupTXT answers as a resolver would.
func (n names) LookupTXT(_ context.Context, name string) ([]string, error) {
	if n.errors[fold(name)] != "" {
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	records := n.txt[fold(name)]
	if len(records) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return records, nil
}

// Page answers for the suite's key pages as the HTTPS fetcher would (D44).
func (s *Suite) Page(_ context.Context, url, name string, _ bool) (*party.Page, error) {
	page, ok := s.KeyPages[url]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: the suite has none at that address", party.ErrNoPage)
	case page.Status == 429 || page.Status >= 500 || page.Status == 0:
		return nil, fmt.Errorf("%w: status %d", party.ErrTemporary, page.Status)
	case page.Status != 200:
		return nil, fmt.Errorf("%w: status %d", party.ErrNoPage, page.Status)
	}
	data, err := s.read(page.File)
	if err != nil {
		return nil, err
	}
	return party.ParsePage(data, name)
}
