package api

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rig is an API for two inboxes, east and west, that sign and have an agent each, with the DNS and the key pages of both.
type rig struct {
	t       *testing.T
	txt     map[string]string
	pages   map[string]*party.Page
	sides   map[string]*inbox.Inbox
	spools  map[string]*os.Root
	store   *store.Store
	ring    *token.Ring
	path    string // of the tokens
	handler *Handler
	log     lines

	owner, agent string // secrets of tokens for all inboxes
}

func newRig(t *testing.T, changes ...func(*inbox.Settings)) *rig {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "store.db"))
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	r := &rig{t: t, txt: map[string]string{}, pages: map[string]*party.Page{}, sides: map[string]*inbox.Inbox{}, spools: map[string]*os.Root{}, store: s, path: filepath.Join(dir, "tokens.json")}
	r.open("east", changes)
	r.open("west", changes)
	r.ring, err = token.Open(r.path)
	check(t, err)
	r.owner, r.agent = r.secret("owner", token.Owner), r.secret("agent", token.Agent)
	r.handler = New(Services{
		Inboxes: func() []Source {
			return []Source{{r.sides["east"], r.mailbox}, {r.sides["west"], r.mailbox}}
		},
		Tokens: r.ring, Keys: func() record.KeySource { return record.KeySource{Trust: trust, Pages: r, TXT: r} },
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	return r
}

var trust = party.Trust{Hosts: []string{"keys.test"}}

func (r *rig) mailbox() mailbox.Health {
	return mailbox.Health{Connected: true, LastLook: time.Unix(3, 0), LastError: "running the password command /etc/mail/secret: exit status 1"}
}

func (r *rig) secret(name string, scope token.Scope, inboxes ...string) string {
	r.t.Helper()
	secret, err := r.ring.Add(name, scope, inboxes, rand.Reader, time.Now())
	check(r.t, err)
	return secret
}

func (r *rig) LookupTXT(_ context.Context, name string) ([]string, error) {
	if text, ok := r.txt[name]; ok {
		return []string{text}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (r *rig) Page(_ context.Context, url, _ string, _ bool) (*party.Page, error) {
	if page, ok := r.pages[url]; ok {
		return page, nil
	}
	return nil, party.ErrNoPage
}

// open opens an inbox.
func (r *rig) open(name string, changes []func(*inbox.Settings)) {
	r.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(r.t, err)
	signer, err := dkim.NewSigner(name+".test", "s1", private)
	check(r.t, err)
	r.txt["s1._domainkey."+name+".test"] = dkim.KeyRecord(public)
	id, address := "pty_"+(name + "00000000000000000000")[:20], "agent@"+name+".test"
	key, err := party.NewKey(r.t.TempDir()+"/keys", rand.Reader, time.Now())
	check(r.t, err)
	data, err := party.BuildPage(id, name, []string{address}, nil, []party.OwnKey{key})
	check(r.t, err)
	url := party.PageURL("keys.test", id)
	r.pages[url], err = party.ParsePage(data, id)
	check(r.t, err)
	seed, err := agentmsg.NewSeed(rand.Reader)
	check(r.t, err)
	identity, err := agentmsg.ParseSeed(seed)
	check(r.t, err)
	settings := inbox.Settings{
		Name: name, Address: address, Party: id, OrgName: name, Contact: "owner@" + name + ".test", AgentName: name, AgentKind: "api",
		Keys: party.NewRing(key), JKU: url, Agent: &inbox.Agent{Identity: identity}, HourlyLimit: 1000,
	}
	for _, change := range changes {
		change(&settings)
	}
	spool, err := os.OpenRoot(r.t.TempDir())
	check(r.t, err)
	r.t.Cleanup(func() { _ = spool.Close() })
	r.spools[name] = spool
	r.sides[name], err = inbox.Open(settings, inbox.Services{
		Store: r.store, DKIM: &dkim.Checker{Resolver: r}, Signer: signer, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
		Keys: &party.Verifier{Trust: trust, Pages: r, TXT: r}, Spool: spool,
	})
	check(r.t, err)
}

func withoutAgent(s *inbox.Settings) { s.Agent = nil }

// deliver has an inbox get a mail.
func (r *rig) deliver(to string, raw []byte) error {
	_, err := r.sides[to].Deliver(context.WithoutCancel(r.t.Context()), []inbox.Mail{{Raw: raw, Arrival: time.Now()}}, nil)
	return err
}

type carrier func(raw []byte) error

func (f carrier) Send(_ context.Context, _, _ string, raw []byte) error { return f(raw) }

// mail carries what one side has in its outbox to the other.
func (r *rig) mail(from, to string) {
	r.t.Helper()
	backlog, err := r.sides[from].Backlog()
	check(r.t, err)
	ctx, stop := context.WithCancel(r.t.Context())
	left := backlog.Letters
	err = r.sides[from].SendLetters(ctx, carrier(func(raw []byte) error {
		if left--; left == 0 {
			defer stop()
		}
		return r.deliver(to, raw)
	}))
	if !errors.Is(err, context.Canceled) {
		r.t.Fatal(err)
	}
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// answer is what a request was answered.
type answer struct {
	*httptest.ResponseRecorder
	t *testing.T
}

// into reads the answer, which must have a status.
func (a answer) into(status int, value any) {
	a.t.Helper()
	if a.Code != status {
		a.t.Fatalf("%d %s", a.Code, a.Body)
	}
	if value != nil {
		check(a.t, json.Unmarshal(a.Body.Bytes(), value))
	}
}

// refused wants a problem with a status, a code and words in its detail.
func (a answer) refused(status int, code code, detail string) {
	a.t.Helper()
	var p problem
	err := json.Unmarshal(a.Body.Bytes(), &p)
	if err != nil || a.Code != status || p.Status != status || p.Code != code || p.Type != "about:blank" || p.Title != http.StatusText(status) ||
		!strings.Contains(p.Detail, detail) || strings.Contains(p.Detail, "\n") || a.Header().Get("Content-Type") != "application/problem+json" {
		a.t.Errorf("got %d %s, not %d %s with %q", a.Code, a.Body, status, code, detail)
	}
}

// request makes one; a body is JSON unless it is text.
func (r *rig) request(method, path, secret string, body any) *http.Request {
	r.t.Helper()
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	case []byte:
		text = b
	default:
		var err error
		text, err = json.Marshal(b)
		check(r.t, err)
	}
	q := httptest.NewRequestWithContext(r.t.Context(), method, "/v1"+path, bytes.NewReader(text))
	if text == nil {
		q = httptest.NewRequestWithContext(r.t.Context(), method, "/v1"+path, nil)
	}
	q.Header.Set("Content-Type", "application/json")
	if secret != "" {
		q.Header.Set("Authorization", "Bearer "+secret)
	}
	return q
}

// do has a request answered, and holds the answer against the document.
func (r *rig) do(q *http.Request) answer {
	r.t.Helper()
	a := answer{httptest.NewRecorder(), r.t}
	r.handler.ServeHTTP(a, q)
	documented(r.t, q, a.ResponseRecorder)
	return a
}

func (r *rig) ask(method, path, secret string, body any) answer {
	r.t.Helper()
	return r.do(r.request(method, path, secret, body))
}

var mug = []any{map[string]any{"description": "Mug", "quantity": 200}}

// askQuote is an action that asks east.
func askQuote() map[string]any {
	return map[string]any{"type": "ask_quote", "to": "agent@east.test", "items": mug}
}

// quoted plays an ask by west and the quote that east gives.
func (r *rig) quoted() (thread, quote string) {
	r.t.Helper()
	var asked, given inbox.Done
	r.ask("POST", "/inboxes/west/actions", r.owner, askQuote()).into(200, &asked)
	r.mail("west", "east")
	r.ask("POST", "/inboxes/east/actions", r.owner, quoteOf(asked.Thread)).into(200, &given)
	r.mail("east", "west")
	return asked.Thread, given.ID
}

func quoteOf(thread string) map[string]any {
	return map[string]any{"type": "quote", "thread": thread, "items": mug, "total": map[string]any{"amount": "55000", "currency": "EUR"}}
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	check(t, err)
	return string(text)
}
