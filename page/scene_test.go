package page

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/token"
	"github.com/nats-io/nkeys"
)

const (
	buyerAddress  = "agent@buyer.test"
	sellerAddress = "agent@seller.test"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func got[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		check(t, err)
		return value
	}
}

// scene is a buyer and a seller who mail one another, and the page of the
// daemon that has both, in a world held in memory.
type scene struct {
	t       testing.TB
	now     time.Time
	store   *store.Store
	txt     map[string]string
	pages   map[string]*party.Page
	signers map[string]*dkim.Signer
	mailbox mailbox.Health
	log     bytes.Buffer

	buyer, seller *inbox.Inbox
	tokens        *token.Ring
	secret        string // of the token "owner"
	handler       http.Handler
}

func newScene(t testing.TB, change ...func(*inbox.Settings)) *scene {
	t.Helper()
	dir := t.TempDir()
	s := &scene{t: t, now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), txt: map[string]string{}, pages: map[string]*party.Page{}, signers: map[string]*dkim.Signer{}}
	s.mailbox = mailbox.Health{Connected: true, LastLook: s.now, IdleSince: s.now}
	s.store = got[*store.Store](t)(store.Open(filepath.Join(dir, "store.db")))
	t.Cleanup(func() { _ = s.store.Close() })
	s.buyer, s.seller = s.inbox(dir, "buyer", change), s.inbox(dir, "seller", change)
	s.tokens = got[*token.Ring](t)(token.Open(filepath.Join(dir, "tokens.json")))
	s.secret = s.newToken("owner", token.Owner)
	s.handler = New(Services{
		Inboxes: func() []Source {
			return []Source{{s.buyer, func() mailbox.Health { return s.mailbox }}, {s.seller, func() mailbox.Health { return s.mailbox }}}
		},
		Tokens: s.tokens, Now: func() time.Time { return s.now }, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	return s
}

func (s *scene) newToken(name string, scope token.Scope, inboxes ...string) string {
	s.t.Helper()
	return got[string](s.t)(s.tokens.Add(name, scope, inboxes, rand.Reader, s.now))
}

// inbox makes one side, with its keys published.
func (s *scene) inbox(dir, name string, change []func(*inbox.Settings)) *inbox.Inbox {
	s.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(s.t, err)
	s.signers[name] = got[*dkim.Signer](s.t)(dkim.NewSigner(name+".test", "s1", private))
	s.txt["s1._domainkey."+name+".test"] = dkim.KeyRecord(public)
	id := "pty_" + (name + "00000000000000000000")[:20]
	key := got[party.OwnKey](s.t)(party.NewKey(filepath.Join(dir, name), rand.Reader, s.now.Add(-time.Hour)))
	data, err := party.BuildPage(id, name+" Ltd", []string{"agent@" + name + ".test"}, nil, []party.OwnKey{key})
	check(s.t, err)
	address := party.PageURL("keys.test", id)
	s.pages[address] = got[*party.Page](s.t)(party.ParsePage(data, id))
	spool := filepath.Join(dir, name+"-spool")
	check(s.t, os.Mkdir(spool, 0o700))
	root := got[*os.Root](s.t)(os.OpenRoot(spool))
	s.t.Cleanup(func() { _ = root.Close() })
	set := inbox.Settings{
		Name: name, Address: "agent@" + name + ".test", Sender: name + " agent", Party: id, OrgName: name + " Ltd", Contact: "owner@" + name + ".test",
		AgentName: name, AgentKind: "api", Keys: party.NewRing(key), JKU: address, HourlyLimit: 1 << 20, Handled: true,
		Agent: &inbox.Agent{Identity: newIdentity(s.t), Offerings: []string{"translate"}, Bridge: true},
	}
	for _, c := range change {
		c(&set)
	}
	return got[*inbox.Inbox](s.t)(inbox.Open(set, inbox.Services{
		Store: s.store, DKIM: &dkim.Checker{Resolver: s}, Signer: s.signers[name], Spool: root,
		Keys: &party.Verifier{Trust: party.Trust{Hosts: []string{"keys.test"}}, Pages: s, TXT: s},
		Now:  func() time.Time { return s.now }, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	}))
}

func newIdentity(t testing.TB) agentmsg.Identity {
	t.Helper()
	pair := got[nkeys.KeyPair](t)(nkeys.CreateUser())
	seed := got[[]byte](t)(pair.Seed())
	return got[agentmsg.Identity](t)(agentmsg.ParseSeed(string(seed)))
}

// LookupTXT is the scene's DNS.
func (s *scene) LookupTXT(_ context.Context, name string) ([]string, error) {
	if record, ok := s.txt[name]; ok {
		return []string{record}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Page is the scene's key pages.
func (s *scene) Page(_ context.Context, address, _ string, _ bool) (*party.Page, error) {
	if page, ok := s.pages[address]; ok {
		return page, nil
	}
	return nil, party.ErrNoPage
}

// transport takes the mails of an outbox.
type transport func(raw []byte) error

func (f transport) Send(_ context.Context, _, _ string, raw []byte) error { return f(raw) }

// refusedError is the word of a mail server that takes a mail never.
type refusedError struct{}

func (refusedError) Error() string { return "550 no such user" }

// drain empties the outbox of an inbox through f.
func (s *scene) drain(in *inbox.Inbox, f transport) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error)
	asked := 0
	go func() { ended <- in.SendLetters(ctx, transport(func(raw []byte) error { asked++; return f(raw) })) }()
	for {
		waiting := got[[]inbox.Waiting](s.t)(in.Waiting())
		stuck := 0
		for _, w := range waiting {
			if w.Kind == "letter" {
				stuck++
			}
		}
		if got[inbox.Backlog](s.t)(in.Backlog()).Letters == stuck {
			break
		}
		runtime.Gosched()
	}
	cancel()
	<-ended
}

// carry takes the mails of one side to the other.
func (s *scene) carry(from *inbox.Inbox) {
	s.t.Helper()
	to := s.buyer
	if from == s.buyer {
		to = s.seller
	}
	var mails []inbox.Mail
	s.drain(from, func(raw []byte) error {
		mails = append(mails, inbox.Mail{Raw: raw, Arrival: s.now})
		return nil
	})
	s.deliver(to, mails...)
}

func (s *scene) deliver(to *inbox.Inbox, mails ...inbox.Mail) []inbox.Result {
	s.t.Helper()
	return got[[]inbox.Result](s.t)(to.Deliver(s.t.Context(), mails, nil))
}

// do has one side act, and carries its mail.
func (s *scene) do(in *inbox.Inbox, a inbox.Action) inbox.Done {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	done := got[inbox.Done](s.t)(in.Do(a))
	s.carry(in)
	return done
}

func askAction(note string) inbox.Action {
	return inbox.Action{
		Type: intent.AskQuote, To: sellerAddress, Note: note, WantedBy: "2026-12-20",
		Items: []intent.Item{{Description: "Ceramic mug, 350 ml, white", Quantity: 200, Unit: "piece"}},
	}
}

func quoteAction(thread, total, each string) inbox.Action {
	return inbox.Action{
		Type: intent.Quote, Thread: thread, Total: &intent.Money{Amount: total, Currency: "EUR"}, DeliveryBy: "2026-12-18",
		Items: []intent.Item{{Description: "Ceramic mug, 350 ml, white", Quantity: 200, Unit: "piece", UnitPrice: &intent.Money{Amount: each, Currency: "EUR"}}},
	}
}

// quoted plays ask and quote.
func (s *scene) quoted() (ask, quote inbox.Done) {
	s.t.Helper()
	ask = s.do(s.buyer, askAction("We would like delivery to Ikeja."))
	return ask, s.do(s.seller, quoteAction(ask.Thread, "55000", "275"))
}

// agreed plays a whole deal and returns its accept.
func (s *scene) agreed() inbox.Done {
	s.t.Helper()
	_, quote := s.quoted()
	return s.do(s.buyer, inbox.Action{Type: intent.Accept, Ref: quote.ID})
}

// unsigned has a message of the buyer come without its signature, and returns
// the key under which it is held.
func (s *scene) unsigned(a inbox.Action) string {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	got[inbox.Done](s.t)(s.buyer.Do(a))
	var mails []inbox.Mail
	s.drain(s.buyer, func(raw []byte) error {
		mails = append(mails, inbox.Mail{Raw: s.stripped(raw), Arrival: s.now})
		return nil
	})
	r := s.deliver(s.seller, mails...)[0]
	if r.Verdict != inbox.Held {
		s.t.Fatalf("it is %s %s: %s", r.Verdict, r.Code, r.Reason)
	}
	return r.ID
}

// stripped is a mail of the buyer without the part that signs its message.
func (s *scene) stripped(raw []byte) []byte {
	s.t.Helper()
	text := string(raw)
	_, rest, _ := strings.Cut(text, "\r\nFrom: ") // without its DKIM-Signature
	rest = "From: " + rest
	at := strings.Index(rest, "application/jose")
	if at < 0 {
		s.t.Fatalf("the mail has no signature:\n%s", text)
	}
	begin := strings.LastIndex(rest[:at], "\r\n--")
	end := at + strings.Index(rest[at:], "\r\n--")
	return got[[]byte](s.t)(s.signers["buyer"].Sign([]byte(rest[:begin]+rest[end:]), s.now))
}

// held has an ask wait for the seller's owner, and returns its key.
func (s *scene) held() string {
	s.t.Helper()
	return s.unsigned(askAction("Hello."))
}

// browser is somebody with the page open: it keeps cookies, sends what a
// browser sends, and follows no redirect.
type browser struct {
	s      *scene
	cookie string
	header http.Header
	from   string
}

func (s *scene) browser() *browser {
	return &browser{s: s, header: http.Header{"Sec-Fetch-Site": {"same-origin"}}, from: "192.0.2.7:4000"}
}

// signedIn is a browser with a session of the token "owner".
func (s *scene) signedIn() *browser {
	s.t.Helper()
	b := s.browser()
	if a := b.signIn(s.secret); a.Code != http.StatusSeeOther {
		s.t.Fatalf("the sign-in was answered with %d: %s", a.Code, a.Body)
	}
	return b
}

func (b *browser) signIn(secret string) *httptest.ResponseRecorder {
	b.s.t.Helper()
	return b.send(http.MethodPost, "/signin", url.Values{"token": {secret}})
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	b.s.t.Helper()
	return b.send(http.MethodGet, path, nil)
}

// post sends a form with the session's own secret, taken from a page.
func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	b.s.t.Helper()
	form.Set("form", b.secret())
	return b.send(http.MethodPost, path, form)
}

// secret is what the forms of the session carry.
func (b *browser) secret() string {
	b.s.t.Helper()
	for _, field := range read(b.s.t, b.get("/")).all("input") {
		if attr(field, "name") == "form" {
			return attr(field, "value")
		}
	}
	b.s.t.Fatal("no form on the page has the session's secret")
	return ""
}

func (b *browser) send(method, path string, form url.Values) *httptest.ResponseRecorder {
	b.s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, "http://daemon.test"+path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range b.header {
		r.Header[name] = values
	}
	if b.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "agentmaild", Value: b.cookie})
	}
	r.RemoteAddr = b.from
	w := httptest.NewRecorder()
	b.s.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.cookie = c.Value
	}
	return w
}

// furnish fills both inboxes with one of everything that the pages show.
func (s *scene) furnish() {
	s.t.Helper()
	// A deal with a record on both sides, and negotiations that stand elsewhere.
	s.agreed()
	ask := s.do(s.buyer, askAction("A second order, if the first one arrives in time.\nPlease quote with transport."))
	quote := s.do(s.seller, quoteAction(ask.Thread, "60000", "300"))
	s.do(s.buyer, inbox.Action{Type: intent.ProposeTimes, To: sellerAddress, Purpose: "Visit of the works", Location: "Ikeja, gate 7", Slots: []intent.Slot{
		{Start: "2026-11-12T10:00:00+01:00", End: "2026-11-12T10:30:00+01:00", TimeZone: "Africa/Lagos"},
		{Start: "2026-11-13T10:00:00+01:00", End: "2026-11-13T10:30:00+01:00", TimeZone: "Africa/Lagos"},
	}})
	// What waits of agent-intents: unsigned, of a handler, in words, never sent.
	s.held()
	s.now = s.now.Add(time.Minute)
	event, _, _, err := s.seller.Pending()
	check(s.t, err)
	check(s.t, s.seller.HandlerFailed(event.Seq, "it ended with status 1: no price list"))
	s.replied(quote)
	s.now = s.now.Add(time.Minute)
	got[inbox.Done](s.t)(s.seller.Do(inbox.Action{Type: intent.AskQuote, To: "nobody@buyer.test", Items: []intent.Item{{Description: "Clay, 50 kg", Quantity: 12}}}))
	s.drain(s.seller, func([]byte) error { return refusedError{} })
	// Agent Emailing: at the door, knocking, let in, with a task.
	s.do(s.buyer, s.request("chat", "Good morning. May my agent write to yours?"))
	s.do(s.buyer, s.request("knock", "We are the purchasing agent of Buyer Ltd."))
	check(s.t, s.seller.Decide(s.buyer.AgentID(), agentmsg.StanceAllow, ""))
	s.task("translate", "Please translate: the kiln is cold.")
	check(s.t, s.seller.Decide(s.buyer.AgentID(), agentmsg.StanceHold, ""))
	s.do(s.buyer, s.request("chat", "And one more question."))
	s.mail("From: Ada <ada@elsewhere.test>\r\nTo: " + sellerAddress + "\r\nSubject: Do you ship to Lagos?\r\n\r\nDo you?\r\n")
}

func (s *scene) request(offering, text string) inbox.Action {
	return inbox.Action{Type: inbox.ActRequest, To: sellerAddress, Agent: s.seller.AgentID(), Offering: offering, Text: text}
}

// task has the seller's agent take on what the buyer's asks for.
func (s *scene) task(offering, text string) {
	s.t.Helper()
	asked := s.do(s.buyer, s.request(offering, text))
	s.do(s.seller, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Agent: s.buyer.AgentID(), Status: "working"})
	s.do(s.seller, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Agent: s.buyer.AgentID(), Text: "Der Ofen ist kalt."})
}

// mail has the seller get a mail that nobody signed.
func (s *scene) mail(raw string) inbox.Result {
	s.t.Helper()
	return s.deliver(s.seller, inbox.Mail{Raw: []byte(raw), Arrival: s.now})[0]
}

// replied has a person at the buyer answer a quote in words.
func (s *scene) replied(quote inbox.Done) {
	s.t.Helper()
	raw := "From: " + buyerAddress + "\r\nTo: " + sellerAddress + "\r\nSubject: Re: Quote\r\nDate: " + s.now.Format(time.RFC1123Z) +
		"\r\nMessage-ID: <words@buyer.test>\r\nIn-Reply-To: <" + quote.ID + "@seller.test>\r\n\r\nYes, we take it. Kind regards, Ada\r\n"
	s.mail(string(got[[]byte](s.t)(s.signers["buyer"].Sign([]byte(raw), s.now))))
}

// everyPage is a path to each kind of page that a session can show.
func (s *scene) everyPage() map[string]string {
	s.t.Helper()
	tasks := got[[]inbox.Task](s.t)(s.seller.Tasks())
	requests := got[[]inbox.ExchangeMessage](s.t)(s.seller.Requests())
	if len(tasks) == 0 || len(requests) == 0 {
		s.t.Fatalf("%d tasks, %d requests", len(tasks), len(requests))
	}
	return map[string]string{
		"overview": "/", "inbox": "/inboxes/seller", "waiting": "/inboxes/seller/waiting", "threads": "/inboxes/seller/threads",
		"requests": "/inboxes/seller/requests", "request": "/inboxes/seller/request?" + url.Values{"id": {requests[0].ID}, "agent": {requests[0].From}}.Encode(),
		"tasks": "/inboxes/seller/tasks", "task": "/inboxes/seller/task?" + url.Values{"id": {tasks[0].ID}}.Encode(),
		"records": "/inboxes/seller/records", "not-found": "/inboxes/seller/nothing", "none": "/inboxes/buyer/waiting",
	}
}
