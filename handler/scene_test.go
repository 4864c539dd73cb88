package handler

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// scene is a buyer who writes and a seller whose events a program answers, in
// a world held in memory. The same scene gives the same ids.
type scene struct {
	t     *testing.T
	now   time.Time
	dice  *rand.ChaCha8
	path  string
	store *store.Store
	txt   map[string]string
	pages map[string]*party.Page

	settings      map[string]inbox.Settings
	spool         *os.Root // of the seller, if it has an agent
	signers       map[string]*dkim.Signer
	buyer, seller *inbox.Inbox
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		t: t, now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), dice: rand.NewChaCha8([32]byte{1}),
		path: filepath.Join(t.TempDir(), "store.db"), txt: map[string]string{}, pages: map[string]*party.Page{},
		settings: map[string]inbox.Settings{}, signers: map[string]*dkim.Signer{},
	}
	s.prepare("buyer")
	s.prepare("seller")
	s.open()
	t.Cleanup(func() { s.close() })
	return s
}

// prepare makes the keys of one side and publishes them.
func (s *scene) prepare(name string) {
	public, private, err := ed25519.GenerateKey(s.dice)
	check(s.t, err)
	s.signers[name], err = dkim.NewSigner(name+".test", "s1", private)
	check(s.t, err)
	s.txt["s1._domainkey."+name+".test"] = dkim.KeyRecord(public)
	id := "pty_" + (name + "00000000000000000000")[:20]
	key, err := party.NewKey(filepath.Join(s.t.TempDir(), "keys"), s.dice, s.now.Add(-time.Hour))
	check(s.t, err)
	data, err := party.BuildPage(id, name+" Ltd", []string{"agent@" + name + ".test"}, nil, []party.OwnKey{key})
	check(s.t, err)
	url := party.PageURL("keys.test", id)
	s.pages[url], err = party.ParsePage(data, id)
	check(s.t, err)
	s.settings[name] = inbox.Settings{
		Name: name, Address: "agent@" + name + ".test", Party: id, OrgName: name + " Ltd",
		Contact: "owner@" + name + ".test", AgentName: name, AgentKind: "api", Keys: party.NewRing(key), JKU: url,
		Handled: name == "seller",
	}
}

// open opens the store and both inboxes on it; it is called again to restart.
func (s *scene) open() {
	s.t.Helper()
	var err error
	s.store, err = store.Open(s.path)
	check(s.t, err)
	s.buyer, s.seller = s.inbox("buyer"), s.inbox("seller")
}

// close closes the store, once.
func (s *scene) close() {
	s.t.Helper()
	if s.store != nil {
		check(s.t, s.store.Close())
	}
	s.store = nil
}

func (s *scene) restart() {
	s.t.Helper()
	s.close()
	s.open()
}

func (s *scene) inbox(name string) *inbox.Inbox {
	s.t.Helper()
	in, err := inbox.Open(s.settings[name], inbox.Services{
		Store: s.store, DKIM: &dkim.Checker{Resolver: s}, Signer: s.signers[name],
		Keys: &party.Verifier{Trust: party.Trust{Hosts: []string{"keys.test"}}, Pages: s, TXT: s},
		Now:  func() time.Time { return s.now }, Random: s.dice, Log: slog.New(slog.DiscardHandler), Spool: s.spool,
	})
	check(s.t, err)
	return in
}

// newAgentScene is a scene whose sides have an agent each. The seller has
// admitted the buyer's, reads what is sealed, and bridges.
func newAgentScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	var err error
	s.spool, err = os.OpenRoot(t.TempDir())
	check(t, err)
	t.Cleanup(func() { check(t, s.spool.Close()) })
	for _, name := range []string{"buyer", "seller"} {
		set := s.settings[name]
		seed, err := agentmsg.NewSeed(s.dice)
		check(t, err)
		identity, err := agentmsg.ParseSeed(seed)
		check(t, err)
		set.Agent = &inbox.Agent{Identity: identity, Offerings: []string{"translate"}, Bridge: true}
		if name == "seller" {
			key, err := agentmsg.NewSealingKey(s.dice)
			check(t, err)
			set.Agent.Sealing, err = agentmsg.ParseSealingKey(key)
			check(t, err)
		}
		s.settings[name] = set
	}
	s.restart()
	check(t, s.seller.Decide(s.buyer.AgentID(), agentmsg.StanceAllow, ""))
	check(t, s.buyer.PutContact(inbox.Contact{Agent: s.seller.AgentID(), Addresses: []string{"agent@seller.test"}}))
	return s
}

// LookupTXT is the scene's DNS.
func (s *scene) LookupTXT(_ context.Context, name string) ([]string, error) {
	if record, ok := s.txt[name]; ok {
		return []string{record}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Page is the scene's key pages.
func (s *scene) Page(_ context.Context, url, _ string, _ bool) (*party.Page, error) {
	if page, ok := s.pages[url]; ok {
		return page, nil
	}
	return nil, party.ErrNoPage
}

// post has the buyer send something, which the seller takes.
func (s *scene) post(a inbox.Action) inbox.Done {
	s.t.Helper()
	if a.Thread == "" && a.Ref == "" && a.Replaces == "" && a.Type != inbox.ActCancelTask {
		a.To = "agent@seller.test"
	}
	done, err := s.buyer.Do(a)
	check(s.t, err)
	s.carry(s.buyer, s.seller)
	return done
}

// fetch has the buyer take what the seller answered.
func (s *scene) fetch() { s.t.Helper(); s.carry(s.seller, s.buyer) }

// carry takes the one letter that waits from one side to the other.
func (s *scene) carry(from, to *inbox.Inbox) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	err := from.SendLetters(ctx, transport(func(raw []byte) error {
		defer stop()
		results, err := to.Deliver(s.t.Context(), []inbox.Mail{{Raw: raw, Arrival: s.now}}, nil)
		if err == nil && results[0].Verdict != inbox.Accepted {
			s.t.Errorf("the %s did not take it: %s %s", to.Name(), results[0].Verdict, results[0].Reason)
		}
		return err
	}))
	if !errors.Is(err, context.Canceled) {
		s.t.Fatal(err)
	}
}

type transport func(raw []byte) error

func (f transport) Send(_ context.Context, _, _ string, raw []byte) error { return f(raw) }

// ask posts an ask for a quote.
func (s *scene) ask() inbox.Done {
	s.t.Helper()
	return s.post(inbox.Action{Type: intent.AskQuote, Items: []intent.Item{{Description: "Mug", Quantity: 200, Unit: "piece"}}, Note: "Ikeja."})
}

// handler answers the seller's events with a shell script.
func (s *scene) handler(script string, args ...string) *Handler {
	return &Handler{
		Inbox: s.seller, Command: append([]string{"sh", "-c", script, "handler"}, args...), Timeout: time.Minute,
		Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler),
	}
}

// answer has a handler asked about the one event that is pending.
func (s *scene) answer(h *Handler) {
	s.t.Helper()
	event := s.pending()
	if event == nil {
		s.t.Fatal("no event is pending")
	}
	check(s.t, h.answer(s.t.Context(), event))
}

func (s *scene) pending() *inbox.Event {
	s.t.Helper()
	event, _, _, err := s.seller.Pending()
	check(s.t, err)
	return event
}

// trouble is why the seller's owner is shown an event, or "".
func (s *scene) trouble() string {
	s.t.Helper()
	list, err := s.seller.Waiting()
	check(s.t, err)
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0].Reason
	}
	s.t.Fatalf("%d things wait", len(list))
	return ""
}

// state is the state of an offer or ask at the seller.
func (s *scene) state(d inbox.Done) string {
	s.t.Helper()
	thread, err := s.seller.Thread(d.Thread)
	check(s.t, err)
	for _, e := range thread.Entries {
		if e.ID == d.ID {
			return string(e.State)
		}
	}
	return "unknown"
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
