package inbox

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// scene is two inboxes, a buyer and a seller, in a world held in memory: DNS,
// key pages, a clock, and mail that goes where it is carried.
type scene struct {
	t     testing.TB
	now   time.Time
	store *store.Store
	path  string
	txt   map[string]string
	dns   error // when set, the answer to every question
	pages map[string]*party.Page
	page  error // when set, the answer for every page

	doctored bool // a row was changed by the test

	buyer, seller *Inbox
	settings      map[string]Settings
	services      map[string]Services
}

const (
	buyerAddress  = "agent@buyer.test"
	sellerAddress = "agent@seller.test"
)

func newScene(t testing.TB, change ...func(*Settings)) *scene {
	t.Helper()
	s := &scene{
		t: t, now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), path: filepath.Join(t.TempDir(), "store.db"),
		txt: map[string]string{}, pages: map[string]*party.Page{},
		settings: map[string]Settings{}, services: map[string]Services{},
	}
	for _, name := range []string{"buyer", "seller"} {
		s.prepare(name, change)
	}
	s.open()
	t.Cleanup(func() {
		for _, in := range []*Inbox{s.buyer, s.seller} {
			if !s.doctored {
				s.recount(in)
			}
		}
		_ = s.store.Close()
	})
	return s
}

// prepare makes the keys of one side and publishes them.
func (s *scene) prepare(name string, change []func(*Settings)) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	signer, err := dkim.NewSigner(name+".test", "s1", private)
	if err != nil {
		s.t.Fatal(err)
	}
	s.txt["s1._domainkey."+name+".test"] = dkim.KeyRecord(public)
	id := "pty_" + (name + "00000000000000000000")[:20]
	key, err := party.NewKey(filepath.Join(s.t.TempDir(), "keys"), rand.Reader, s.now.Add(-time.Hour))
	if err != nil {
		s.t.Fatal(err)
	}
	data, err := party.BuildPage(id, name+" Ltd", []string{"agent@" + name + ".test"}, nil, []party.OwnKey{key})
	if err != nil {
		s.t.Fatal(err)
	}
	url := party.PageURL("keys.test", id)
	if s.pages[url], err = party.ParsePage(data, id); err != nil {
		s.t.Fatal(err)
	}
	set := Settings{
		Name: name, Address: "agent@" + name + ".test", Sender: name + " agent", Party: id, OrgName: name + " Ltd",
		Contact: "owner@" + name + ".test", AgentName: name, AgentKind: "api", Keys: party.NewRing(key), JKU: url, HourlyLimit: 1 << 20,
	}
	for _, c := range change {
		c(&set)
	}
	s.settings[name] = set
	s.services[name] = Services{
		DKIM: &dkim.Checker{Resolver: s}, Signer: signer,
		Keys: &party.Verifier{Trust: party.Trust{Hosts: []string{"keys.test"}}, Pages: s, TXT: s},
		Now:  func() time.Time { return s.now }, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	}
}

// open opens the store and both inboxes on it; it is called again to restart.
func (s *scene) open() {
	s.t.Helper()
	var err error
	if s.store, err = store.Open(s.path); err != nil {
		s.t.Fatal(err)
	}
	if _, timed := s.t.(*testing.B); !timed && !raced {
		s.store.Rehearse(func(err error) { s.t.Errorf("a row that failed was passed over: %v", err) })
	}
	s.buyer, s.seller = s.inbox("buyer"), s.inbox("seller")
}

func (s *scene) inbox(name string) *Inbox {
	s.t.Helper()
	services := s.services[name]
	services.Store = s.store
	in, err := Open(s.settings[name], services)
	if err != nil {
		s.t.Fatal(err)
	}
	return in
}

func (s *scene) restart() {
	s.t.Helper()
	if err := s.store.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

// LookupTXT is the scene's DNS.
func (s *scene) LookupTXT(_ context.Context, name string) ([]string, error) {
	if s.dns != nil {
		return nil, s.dns
	}
	if record, ok := s.txt[name]; ok {
		return []string{record}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Page is the scene's key pages.
func (s *scene) Page(_ context.Context, url, _ string, _ bool) (*party.Page, error) {
	if s.page != nil {
		return nil, s.page
	}
	if page, ok := s.pages[url]; ok {
		return page, nil
	}
	return nil, party.ErrNoPage
}

var errServfail = &net.DNSError{Err: "server misbehaving", IsTemporary: true}

// do has an inbox act, and takes the mail out of its outbox.
func (s *scene) do(in *Inbox, a Action) (Done, []byte) {
	s.t.Helper()
	done, err := in.Do(a)
	if err != nil {
		s.t.Fatalf("%s: %v", a.Type, err)
	}
	return done, s.letter(in)
}

// letter takes the one letter that is due out of an outbox, as a mail server
// that accepts it does.
func (s *scene) letter(in *Inbox) []byte {
	s.t.Helper()
	var got [][]byte
	if _, err := in.sendDue(context.Background(), transport(func(_, _ string, raw []byte) error {
		got = append(got, raw)
		return nil
	})); err != nil {
		s.t.Fatal(err)
	}
	if len(got) != 1 {
		s.t.Fatalf("%d letters were in the outbox", len(got))
	}
	return got[0]
}

// outbox is the letters in it.
func outbox(t testing.TB, in *Inbox) []letterRow {
	t.Helper()
	var letters []letterRow
	if err := in.view(func(tx *store.Tx) error {
		return tx.Scan(tableOutbox, "", "", func(r store.Row) (bool, error) {
			var l letterRow
			err := r.Decode(&l)
			letters = append(letters, l)
			return true, err
		})
	}); err != nil {
		t.Fatal(err)
	}
	return letters
}

type transport func(from, to string, raw []byte) error

func (f transport) Send(_ context.Context, from, to string, raw []byte) error {
	return f(from, to, raw)
}

// deliver gives an inbox a mail now and returns the outcome.
func (s *scene) deliver(in *Inbox, raw []byte) Result {
	s.t.Helper()
	results, err := in.Deliver(context.Background(), []Mail{{Raw: raw, Arrival: s.now}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return results[0]
}

// expect delivers and compares verdict, code and signature, as in
// "refused state signed".
func (s *scene) expect(in *Inbox, raw []byte, want string) Result {
	s.t.Helper()
	r := s.deliver(in, raw)
	got := string(r.Verdict)
	if r.Code != "" {
		got += " " + string(r.Code)
	}
	if r.Signature != "" {
		got += " " + string(r.Signature)
	}
	if got != want {
		s.t.Fatalf("got %q (%s), want %q", got, r.Reason, want)
	}
	return r
}

// state is the state of an offer or ask at an inbox.
func (s *scene) state(in *Inbox, thread, id string) string {
	s.t.Helper()
	t, err := in.Thread(thread)
	if errors.Is(err, ErrAction) {
		return "unknown"
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range t.Entries {
		if e.ID == id {
			return string(e.State)
		}
	}
	return "unknown"
}

func (s *scene) tick(in *Inbox, later time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(later)
	if err := errors.Join(in.Tick(), in.Retry(context.Background())); err != nil {
		s.t.Fatal(err)
	}
}

func askAction() Action {
	return Action{Type: intent.AskQuote, To: sellerAddress, Items: []intent.Item{{Description: "Mug", Quantity: 200, Unit: "piece"}}, Note: "Ikeja."}
}

func quoteAction(thread, replaces string, total int) Action {
	return Action{
		Type: intent.Quote, Thread: thread, Replaces: replaces,
		Items: []intent.Item{{Description: "Mug", Quantity: 200, Unit: "piece"}},
		Total: &intent.Money{Amount: fmt.Sprint(total), Currency: "EUR"},
	}
}

func timesAction() Action {
	return Action{Type: intent.ProposeTimes, To: sellerAddress, Purpose: "Visit", Slots: []intent.Slot{
		{Start: "2026-11-12T10:00:00+01:00", End: "2026-11-12T10:30:00+01:00", TimeZone: "Africa/Lagos"},
		{Start: "2026-11-13T10:00:00+01:00", End: "2026-11-13T10:30:00+01:00", TimeZone: "Africa/Lagos"},
	}}
}

// quoted plays ask and quote, and returns both.
func (s *scene) quoted() (ask, quote Done) {
	s.t.Helper()
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	quote, raw = s.do(s.seller, quoteAction(ask.Thread, "", 55000))
	s.expect(s.buyer, raw, "accepted signed")
	return ask, quote
}
