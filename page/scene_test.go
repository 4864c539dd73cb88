package page

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/inbox/inboxtest"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/token"
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
// daemon that has both.
type scene struct {
	*inboxtest.Pair
	t       testing.TB
	mailbox mailbox.Health
	log     bytes.Buffer

	tokens  *token.Ring
	secret  string // of the token "owner"
	handler http.Handler
}

func newScene(t testing.TB, change ...func(*inbox.Settings)) *scene {
	t.Helper()
	s := &scene{t: t}
	s.Pair = inboxtest.New(t, func(set *inbox.Settings) {
		set.HourlyLimit, set.Handled = 1<<20, true
		for _, c := range change {
			c(set)
		}
	}, nil)
	for _, side := range []*inbox.Inbox{s.Buyer, s.Seller} { // nobody is known yet
		for _, other := range []*inbox.Inbox{s.Buyer, s.Seller} {
			check(t, side.Decide(other.AgentID(), agentmsg.StanceHold, ""))
		}
	}
	s.mailbox = mailbox.Health{Connected: true, LastLook: s.Now, IdleSince: s.Now}
	s.tokens = got[*token.Ring](t)(token.Open(filepath.Join(t.TempDir(), "tokens.json")))
	s.secret = s.newToken("owner", token.Owner)
	s.handler = New(Services{
		Inboxes: func() []Source {
			return []Source{{s.Buyer, func() mailbox.Health { return s.mailbox }}, {s.Seller, func() mailbox.Health { return s.mailbox }}}
		},
		Tokens: s.tokens, Now: func() time.Time { return s.Now }, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	return s
}

func (s *scene) newToken(name string, scope token.Scope, inboxes ...string) string {
	s.t.Helper()
	return got[string](s.t)(s.tokens.Add(name, scope, inboxes, rand.Reader, s.Now))
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
	to := s.Buyer
	if from == s.Buyer {
		to = s.Seller
	}
	s.drain(from, func(raw []byte) error { s.Deliver(to, raw); return nil })
}

// do has one side act, and carries its mail.
func (s *scene) do(in *inbox.Inbox, a inbox.Action) inbox.Done {
	s.t.Helper()
	s.Now = s.Now.Add(time.Minute)
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

// bounded gives the buyer limits.
func bounded(set *inbox.Settings) {
	if set.Name != "buyer" {
		return
	}
	day, month := int64(60000), int64(200000)
	set.Limits = &limits.Limits{
		Auto: limits.WithinLimits, OpenOffers: 10, HourlyMessages: 60, Allow: []string{limits.Known, "seller.test"}, Block: []string{"rival.test"},
		Money: map[string]limits.Amounts{"EUR": {Deal: 50000, CounterpartDay: &day, Month: &month}},
		Quote: &limits.Quote{MostDiscount: 10, Lowest: []limits.Lowest{{Name: "mug", Unit: "piece", Price: 240, Currency: "EUR"}}},
		Times: &limits.Times{Days: []time.Weekday{time.Monday, time.Friday}, From: 9 * 3600, Until: 17*3600 + 1800, Notice: 86400},
	}
}

// quoted plays ask and quote.
func (s *scene) quoted() (ask, quote inbox.Done) {
	s.t.Helper()
	ask = s.do(s.Buyer, askAction("We would like delivery to Ikeja."))
	return ask, s.do(s.Seller, quoteAction(ask.Thread, "55000", "275"))
}

// agreed plays a whole deal and returns its accept.
func (s *scene) agreed() inbox.Done {
	s.t.Helper()
	_, quote := s.quoted()
	return s.do(s.Buyer, inbox.Action{Type: intent.Accept, Ref: quote.ID})
}

// unsigned has a message of the buyer come without its signature, and returns
// the key under which it is held.
func (s *scene) unsigned(a inbox.Action) string {
	s.t.Helper()
	s.Now = s.Now.Add(time.Minute)
	got[inbox.Done](s.t)(s.Buyer.Do(a))
	var r inbox.Result
	s.drain(s.Buyer, func(raw []byte) error { r = s.Deliver(s.Seller, s.stripped(raw)); return nil })
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
	return s.Sign(s.Buyer, []byte(rest[:begin]+rest[end:]))
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
	ask := s.do(s.Buyer, askAction("A second order, if the first one arrives in time.\nPlease quote with transport."))
	quote := s.do(s.Seller, quoteAction(ask.Thread, "60000", "300"))
	s.do(s.Buyer, inbox.Action{Type: intent.ProposeTimes, To: sellerAddress, Purpose: "Visit of the works", Location: "Ikeja, gate 7", Slots: []intent.Slot{
		{Start: "2026-11-12T10:00:00+01:00", End: "2026-11-12T10:30:00+01:00", TimeZone: "Africa/Lagos"},
		{Start: "2026-11-13T10:00:00+01:00", End: "2026-11-13T10:30:00+01:00", TimeZone: "Africa/Lagos"},
	}})
	// What waits of agent-intents: unsigned, of a handler, in words, never sent.
	s.held()
	s.Now = s.Now.Add(time.Minute)
	event, _, _, err := s.Seller.Pending()
	check(s.t, err)
	check(s.t, s.Seller.HandlerFailed(event.Seq, "it ended with status 1: no price list"))
	s.replied(quote)
	s.Now = s.Now.Add(time.Minute)
	got[inbox.Done](s.t)(s.Seller.Do(inbox.Action{Type: intent.AskQuote, To: "nobody@buyer.test", Items: []intent.Item{{Description: "Clay, 50 kg", Quantity: 12}}}))
	s.drain(s.Seller, func([]byte) error { return refusedError{} })
	// Agent Emailing: at the door, knocking, let in, with a task.
	s.do(s.Buyer, s.request("chat", "Good morning. May my agent write to yours?"))
	check(s.t, s.Seller.Decide(s.Buyer.AgentID(), agentmsg.StanceAllow, ""))
	s.task("translate", "Please translate: the kiln is cold.")
	check(s.t, s.Seller.Decide(s.Buyer.AgentID(), agentmsg.StanceHold, ""))
	s.do(s.Buyer, s.withFile(s.request("chat", "And one more question.")))
	s.do(s.Buyer, s.request("knock", "We are the purchasing agent of Buyer Ltd."))
	s.mail("From: Ada <ada@elsewhere.test>\r\nTo: " + sellerAddress + "\r\nSubject: Do you ship to Lagos?\r\n\r\nDo you?\r\n")
}

// withFile has a file go along.
func (s *scene) withFile(a inbox.Action) inbox.Action {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "letter.txt")
	check(s.t, os.WriteFile(path, []byte("The kiln is cold."), 0o600))
	a.Files = []string{path}
	return a
}

func (s *scene) request(offering, text string) inbox.Action {
	return inbox.Action{Type: inbox.ActRequest, To: sellerAddress, Agent: s.Seller.AgentID(), Offering: offering, Text: text}
}

// task has the seller's agent take on what the buyer's asks for.
func (s *scene) task(offering, text string) {
	s.t.Helper()
	asked := s.do(s.Buyer, s.request(offering, text))
	s.do(s.Seller, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Agent: s.Buyer.AgentID(), Status: "working"})
	s.do(s.Seller, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Agent: s.Buyer.AgentID(), Text: "Der Ofen ist kalt."})
}

// mail has the seller get a mail that nobody signed.
func (s *scene) mail(raw string) inbox.Result {
	s.t.Helper()
	return s.Deliver(s.Seller, []byte(raw))
}

// replied has a person at the buyer answer a quote in words.
func (s *scene) replied(quote inbox.Done) {
	s.t.Helper()
	s.repliedWith(quote, "Yes, we take it. Kind regards, Ada")
}

func (s *scene) repliedWith(quote inbox.Done, words string) {
	s.t.Helper()
	raw := "From: " + buyerAddress + "\r\nTo: " + sellerAddress + "\r\nSubject: Re: Quote\r\nDate: " + s.Now.Format(time.RFC1123Z) +
		"\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nMessage-ID: <words@buyer.test>\r\nIn-Reply-To: <" + quote.ID + "@seller.test>\r\n\r\n" + words + "\r\n"
	s.mail(string(s.Sign(s.Buyer, []byte(raw))))
}

// everyPage is a path to each kind of page that a session can show.
func (s *scene) everyPage() map[string]string {
	s.t.Helper()
	tasks := got[[]inbox.Task](s.t)(s.Seller.Tasks())
	requests := got[[]inbox.ExchangeMessage](s.t)(s.Seller.Requests())
	if len(tasks) == 0 || len(requests) == 0 {
		s.t.Fatalf("%d tasks, %d requests", len(tasks), len(requests))
	}
	return map[string]string{
		"overview": "/", "inbox": "/inboxes/seller", "waiting": "/inboxes/seller/waiting", "threads": "/inboxes/seller/threads",
		"requests": "/inboxes/seller/requests", "request": "/inboxes/seller/request?" + url.Values{"id": {requests[0].ID}, "agent": {requests[0].From}}.Encode(),
		"tasks": "/inboxes/seller/tasks", "task": "/inboxes/seller/task?" + url.Values{"id": {tasks[0].ID}}.Encode(),
		"records": "/inboxes/seller/records", "limits": "/inboxes/seller/limits", "not-found": "/inboxes/seller/nothing", "none": "/inboxes/buyer/waiting",
	}
}
