// Package inboxtest is two inboxes that write to each other, in memory, for the
// tests of what stands above them.
package inboxtest

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// Pair is a buyer and a seller, with an agent each, that have admitted each
// other. Mail goes from one to the other when it is carried. The same calls give
// the same ids.
type Pair struct {
	Buyer, Seller *inbox.Inbox
	Now           time.Time

	t       testing.TB
	dice    *dice
	signers map[string]*dkim.Signer // by the name of the inbox
	txt     map[string]string
	pages   map[string]*party.Page // by its address
	store   *store.Store
}

// New makes the pair. change, where it is not nil, changes the settings of each
// before it is opened, and log may be nil.
func New(t testing.TB, change func(*inbox.Settings), log *slog.Logger) *Pair {
	t.Helper()
	p := &Pair{
		Now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC),
		t:   t, dice: &dice{source: rand.NewChaCha8([32]byte{1})}, signers: map[string]*dkim.Signer{}, txt: map[string]string{}, pages: map[string]*party.Page{},
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var err error
	p.store, err = store.Open(filepath.Join(t.TempDir(), "store.db"))
	p.check(err)
	t.Cleanup(func() { p.check(p.store.Close()) })
	p.Buyer, p.Seller = p.open("buyer", change, log), p.open("seller", change, log)
	for _, side := range [][2]*inbox.Inbox{{p.Buyer, p.Seller}, {p.Seller, p.Buyer}} {
		p.check(side[0].Decide(side[1].AgentID(), agentmsg.StanceAllow, ""))
		p.check(side[0].PutContact(inbox.Contact{Agent: side[1].AgentID(), Addresses: []string{side[1].Address()}}))
	}
	return p
}

// open makes the keys of one side, publishes them, and opens it.
func (p *Pair) open(name string, change func(*inbox.Settings), log *slog.Logger) *inbox.Inbox {
	p.t.Helper()
	public, private, err := ed25519.GenerateKey(p.dice)
	p.check(err)
	signer, err := dkim.NewSigner(name+".test", "s1", private)
	p.check(err)
	p.signers[name] = signer
	p.txt["s1._domainkey."+name+".test"] = dkim.KeyRecord(public)
	id := partyID(name)
	key, err := party.NewKey(filepath.Join(p.t.TempDir(), "keys"), p.dice, p.Now.Add(-time.Hour))
	p.check(err)
	seed, err := agentmsg.NewSeed(p.dice)
	p.check(err)
	identity, err := agentmsg.ParseSeed(seed)
	p.check(err)
	spool, err := os.OpenRoot(p.t.TempDir())
	p.check(err)
	p.t.Cleanup(func() { p.check(spool.Close()) })
	set := inbox.Settings{
		Name: name, Address: "agent@" + name + ".test", Party: id, OrgName: name + " Ltd",
		Contact: "owner@" + name + ".test", AgentName: name, AgentKind: "api", Keys: party.NewRing(key), JKU: party.PageURL("keys.test", id),
		Agent: &inbox.Agent{Identity: identity, Offerings: []string{"translate"}, Bridge: true},
	}
	if change != nil {
		change(&set)
	}
	page, err := party.BuildPage(id, set.OrgName, []string{set.Address}, nil, []party.OwnKey{key})
	p.check(err)
	p.pages[set.JKU], err = party.ParsePage(page, id)
	p.check(err)
	in, err := inbox.Open(set, inbox.Services{
		Store: p.store, DKIM: &dkim.Checker{Resolver: p}, Signer: signer,
		Keys: &party.Verifier{Trust: party.Trust{Hosts: []string{"keys.test"}}, Pages: p, TXT: p},
		Now:  func() time.Time { return p.Now }, Random: p.dice, Log: log, Spool: spool,
	})
	p.check(err)
	return in
}

// dice are the same random bytes each time, for several actions at once.
type dice struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (d *dice) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.source.Read(p)
}

func partyID(name string) string { return "pty_" + (name + "00000000000000000000")[:20] }

// LookupTXT is the DNS of both.
func (p *Pair) LookupTXT(_ context.Context, name string) ([]string, error) {
	if record, ok := p.txt[name]; ok {
		return []string{record}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Page is the key pages of both.
func (p *Pair) Page(_ context.Context, url, _ string, _ bool) (*party.Page, error) {
	if page, ok := p.pages[url]; ok {
		return page, nil
	}
	return nil, party.ErrNoPage
}

// Withdraw takes the key page of one side away, until what it returns is called.
func (p *Pair) Withdraw(in *inbox.Inbox) (restore func()) {
	address := party.PageURL("keys.test", partyID(in.Name()))
	page := p.pages[address]
	delete(p.pages, address)
	return func() { p.pages[address] = page }
}

// Sign signs a mail for the domain of one side.
func (p *Pair) Sign(from *inbox.Inbox, raw []byte) []byte {
	p.t.Helper()
	signed, err := p.signers[from.Name()].Sign(raw, p.Now)
	p.check(err)
	return signed
}

// Carry takes the one mail that waits from one side to the other, and returns it
// with what became of it there.
func (p *Pair) Carry(from, to *inbox.Inbox) (raw []byte, result inbox.Result) {
	p.t.Helper()
	waits, err := from.Backlog()
	p.check(err)
	if waits.Letters == 0 {
		p.t.Fatalf("no mail waits at the %s", from.Name())
	}
	ctx, stop := context.WithCancel(p.t.Context())
	err = from.SendLetters(ctx, transport(func(mail []byte) error {
		defer stop()
		raw, result = mail, p.Deliver(to, mail)
		return nil
	}))
	if !errors.Is(err, context.Canceled) {
		p.t.Fatal(err)
	}
	return raw, result
}

// Deliver hands a mail to one side.
func (p *Pair) Deliver(to *inbox.Inbox, raw []byte) inbox.Result {
	p.t.Helper()
	results, err := to.Deliver(p.t.Context(), []inbox.Mail{{Raw: raw, Arrival: p.Now}}, nil)
	p.check(err)
	return results[0]
}

type transport func(raw []byte) error

func (f transport) Send(_ context.Context, _, _ string, raw []byte) error { return f(raw) }

func (p *Pair) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
