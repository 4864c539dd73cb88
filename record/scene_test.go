package record_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
)

const (
	host  = "keys.test"
	start = 1793613600 // 2026-11-02T10:00:00Z
	day   = 24 * 3600
)

// side is one of those who agree.
type side struct {
	address, party, org string
	key                 ed25519.PrivateKey
}

func newSide(name string) side {
	return side{
		"agent@" + name + ".test", "pty_" + (name + "00000000000000000000")[:20], "The " + name,
		ed25519.NewKeyFromSeed(bytes.Repeat([]byte{name[0]}, 32)),
	}
}

func (s side) jku() string { return party.PageURL(host, s.party) }
func (s side) kid() string { return jws.Thumbprint(s.key.Public().(ed25519.PublicKey)) }

// world is where records are made and checked. It is a key source with one page a side.
type world struct {
	tb            testing.TB
	buyer, seller side
	third         side
	pages         map[string][]byte // by party
	vouches       record.Vouches
	cached        map[string][]byte // older pages, by party, that are given unless a fresh one is asked for
	freshDown     bool              // fresh pages cannot be had
	dnsDown       bool
	asked         map[string]int // pages, by address
	parsed        map[string]*party.Page
}

func newWorld(tb testing.TB) *world {
	w := &world{
		tb: tb, buyer: newSide("buyer"), seller: newSide("seller"), third: newSide("third"),
		pages: map[string][]byte{}, vouches: record.Vouches{}, asked: map[string]int{}, parsed: map[string]*party.Page{},
	}
	for _, s := range []side{w.buyer, w.seller, w.third} {
		w.publish(s, party.OwnKey{})
	}
	return w
}

// publish puts the page of a side up, with the times of its key.
func (w *world) publish(s side, times party.OwnKey, addresses ...string) {
	times.Private, times.Kid = s.key, s.kid()
	if times.CreatedAt == 0 {
		times.CreatedAt = start - 30*day
	}
	if addresses == nil {
		addresses = []string{s.address}
	}
	page, err := party.BuildPage(s.party, s.org, addresses, nil, []party.OwnKey{times})
	w.ok(err)
	w.pages[s.party] = page
}

func (w *world) ok(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) Page(_ context.Context, url, id string, fresh bool) (*party.Page, error) {
	w.asked[url]++
	if page := w.parsed[id]; page != nil {
		return page, nil
	}
	page, there := w.pages[id]
	switch old := w.cached[id]; {
	case old != nil && !fresh:
		page = old
	case old != nil && w.freshDown:
		return nil, party.ErrTemporary
	case !there:
		return nil, party.ErrNoPage
	}
	return party.ParsePage(page, id)
}

func (w *world) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if w.dnsDown {
		return nil, &net.DNSError{Err: "no answer", IsTemporary: true}
	}
	return w.vouches.LookupTXT(ctx, name)
}

func (w *world) keys() record.KeySource {
	return record.KeySource{Trust: party.Trust{Hosts: []string{host}}, Pages: w, TXT: w}
}

func (w *world) check(data []byte) record.Report { return record.Check(w.tb.Context(), data, w.keys()) }

func uuid(label string) string {
	b := sha256.Sum256([]byte(label))
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// thread is a negotiation, one message a minute.
type thread struct {
	*world
	sent []record.Held
	at   string // host of the key pages
}

func (w *world) thread() *thread { return &thread{world: w, at: host} }

// say sends a message that answers the last one. Without a key it is not signed.
func (t *thread) say(from side, kind intent.Type, edit func(*intent.Message)) *record.Held {
	t.tb.Helper()
	to := t.buyer.address
	if from.party == t.buyer.party {
		to = t.seller.address
	}
	n := len(t.sent)
	sum := sha256.Sum256(fmt.Append(nil, n))
	m := intent.Message{
		Context: intent.Context(), Profile: intent.Profile, ID: uuid(fmt.Sprint("message ", n)), Thread: uuid("thread"), Type: kind,
		From: intent.Sender{Address: from.address, Party: from.party}, To: intent.Recipient{Address: to},
		Nonce: base64.RawURLEncoding.EncodeToString(sum[:16]), Iat: start + int64(n)*60, Exp: start + int64(n)*60 + day,
		ActingFor: intent.ActingFor{OrgName: from.org, Contact: "owner@" + from.address[6:]},
		Agent:     intent.Agent{Name: "Desk", Kind: "api"},
	}
	if n > 0 {
		last := t.sent[n-1].Message
		m.InReplyTo, m.Prev = last.ID, last.Hash
	}
	if edit != nil {
		edit(&m)
	}
	parsed, err := intent.Seal(m)
	t.ok(err)
	held := record.Held{Message: parsed}
	if from.key != nil {
		held.JWS, err = jws.Sign(from.key, party.PageURL(t.at, from.party), jws.TypMessage, parsed.Canonical)
		t.ok(err)
		held.Party, held.OrgName = from.party, from.org
	}
	t.sent = append(t.sent, held)
	return &t.sent[n]
}

func priced(m *intent.Message) {
	m.Items = []intent.Item{{Description: "Ceramic mug", Quantity: 200, UnitPrice: &intent.Money{Amount: "150000", Currency: "NGN"}}}
	m.Total, m.DeliveryBy = &intent.Money{Amount: "30000000", Currency: "NGN"}, "2026-11-27"
}

func timed(m *intent.Message) {
	m.Slots = []intent.Slot{
		{Start: "2026-11-20T10:00:00+01:00", End: "2026-11-20T11:00:00+01:00", TimeZone: "Africa/Lagos"},
		{Start: "2026-11-21T10:00:00Z", End: "2026-11-21T11:00:00Z", TimeZone: "Europe/London"},
	}
	m.Purpose = "Tasting"
}

func (t *thread) ask(by side) {
	t.say(by, intent.AskQuote, func(m *intent.Message) {
		m.Items = []intent.Item{{Description: "Ceramic mug", Quantity: 200}}
	})
}

func (t *thread) accept(by side) *record.Held {
	offer := t.sent[len(t.sent)-1].Message
	return t.say(by, intent.Accept, func(m *intent.Message) {
		if m.Ref = offer.ID; offer.Type == intent.ProposeTimes {
			m.Slot = new(1)
		}
	})
}

// deal is the record of the thread, which ends with its acceptance.
func (t *thread) deal() record.Deal {
	n := len(t.sent)
	return record.Deal{ID: uuid("record"), Offer: t.sent[n-2], Acceptance: &t.sent[n-1], Chain: t.chain()}
}

func (t *thread) chain() []string {
	var chain []string
	for _, held := range t.sent {
		chain = append(chain, held.Message.Hash)
	}
	return chain
}

func (t *thread) build(d record.Deal) *record.Record {
	t.tb.Helper()
	r, err := record.Build(d)
	t.ok(err)
	return r
}

func (w *world) seal(r *record.Record, by side) []byte {
	w.tb.Helper()
	data, err := record.Seal(r, by.key, by.jku())
	w.ok(err)
	return data
}

// twoSigned is the record of a quote, both messages signed, sealed by the accepter.
func (w *world) twoSigned() []byte {
	t := w.thread()
	t.ask(w.buyer)
	t.say(w.seller, intent.Quote, priced)
	t.accept(w.buyer)
	return w.seal(t.build(t.deal()), w.buyer)
}

// replied is the record of a person's reply to a quote.
func (w *world) replied() []byte {
	t := w.thread()
	t.say(w.seller, intent.Quote, priced)
	reply := &record.Reply{Hash: canon.Hash([]byte("Yes, please.")), AuthResults: "mx.seller.test; dkim=pass header.d=buyer.test", ReceivedAt: start + 600}
	return w.seal(t.build(record.Deal{ID: uuid("record"), Offer: t.sent[0], Reply: reply, Replier: "Ann", Chain: t.chain()}), w.seller)
}

// oneSigned is the record of times that the seller offered without a signature.
func (w *world) oneSigned() []byte {
	t := w.thread()
	unsigned := w.seller
	unsigned.key = nil
	t.say(unsigned, intent.ProposeTimes, timed)
	t.accept(w.buyer)
	return w.seal(t.build(t.deal()), w.buyer)
}

// unchecked is the record of a quote, sealed by the side that could not check the other's signature.
func (w *world) unchecked(other side) []byte {
	t := w.thread()
	t.ask(w.buyer)
	t.say(w.seller, intent.Quote, priced)
	t.accept(w.buyer)
	hidden, by := &t.sent[1], w.buyer
	if other.party == w.buyer.party {
		hidden, by = &t.sent[2], w.seller
	}
	hidden.Party = ""
	var err error
	hidden.JWS, err = jws.Sign(other.key, party.PageURL("keys.elsewhere.test", other.party), jws.TypMessage, hidden.Message.Canonical)
	w.ok(err)
	return w.seal(t.build(t.deal()), by)
}

// change edits a record and seals it anew, with whatever is in it.
func (w *world) change(data []byte, by side, edit func(map[string]any)) []byte {
	w.tb.Helper()
	var tree map[string]any
	w.ok(json.Unmarshal(data, &tree))
	edit(tree)
	delete(tree, "seal")
	payload, err := canon.Marshal(tree)
	w.ok(err)
	tree["seal"], err = jws.Sign(by.key, by.jku(), jws.TypRecord, payload)
	w.ok(err)
	data, err = canon.Marshal(tree)
	w.ok(err)
	return data
}

// keyOf is the key of a number.
func keyOf(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }
