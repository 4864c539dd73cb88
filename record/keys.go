package record

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/plainfile"
)

// KeySource is where key pages and the vouches of domains come from: the network (party.Fetcher and a resolver), a folder
// (Folder and Vouches), or whatever else has the methods.
type KeySource struct {
	Trust party.Trust // which hosts are believed
	Pages party.Pages
	TXT   party.TXT
}

// Folder is key pages in a folder, each in a file {party}.json: what was published at the time, kept with the records. A
// file that is not there is a page that is not there (D49). One that is no regular file in the folder is not read (D132):
// a folder that came with a record could have the check wait for a pipe, or read what is elsewhere.
type Folder struct{ Root *os.Root }

// Page reads the page of a party, wherever it was published.
func (f Folder) Page(_ context.Context, _, id string, _ bool) (*party.Page, error) {
	data, _, err := plainfile.ReadWith(f.Root.OpenFile, id+".json", maxPage)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, plainfile.ErrLarge) { // D49
		return nil, fmt.Errorf("%w: %w", party.ErrNoPage, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", party.ErrTemporary, err)
	}
	return party.ParsePage(data, id)
}

// maxPage is what party.ParsePage takes, in bytes.
const maxPage = 64 << 10

// Vouches are the parties that each domain vouches for, given instead of looked up. Domains are in the form of
// address.Domain.
type Vouches map[string][]string

// LookupTXT answers as DNS would.
func (v Vouches) LookupTXT(_ context.Context, name string) ([]string, error) {
	parties := v[strings.TrimPrefix(name, party.VouchName(""))]
	if len(parties) == 0 {
		return nil, &net.DNSError{Err: "no vouch was given", Name: name, IsNotFound: true}
	}
	return parties, nil
}

// errNotListed says that a page does not speak for an address.
var errNotListed = errors.New("the party does not list the address")

// pageKey is what is asked of a key source, and answer what it said, kept so that a record asks for each page once.
type (
	pageKey struct {
		url   string
		fresh bool
	}
	answer struct {
		page *party.Page
		err  error
	}
)

// speaking returns the page that a token names, if it speaks for who signed. Errors: party.ErrNoPage, errNotListed; any
// other is temporary.
func (c *check) speaking(ctx context.Context, s *signing, fresh bool) (*party.Page, error) {
	key := pageKey{s.token.Header.Jku, fresh}
	a, known := c.pages[key]
	if !known {
		a.page, a.err = c.keys.Pages.Page(ctx, key.url, s.party, fresh)
		c.pages[key] = a
	}
	if a.err != nil || a.page.Lists(s.address) {
		return a.page, a.err
	}
	return a.page, c.vouched(ctx, s)
}

// vouched is nil when the domain of who signed vouches for the party.
func (c *check) vouched(ctx context.Context, s *signing) error {
	sender, err := address.Parse(s.address)
	if err != nil {
		return errNotListed
	}
	vouched, err := party.Vouched(ctx, c.keys.TXT, address.Of(sender), s.party)
	if err == nil && !vouched {
		return errNotListed
	}
	return err
}
