package control

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// rig is a served inbox.
type rig struct {
	t      *testing.T
	socket string
	store  *store.Store
	client *Client
	ended  chan error
	stop   context.CancelFunc

	mailbox mailbox.Health // set before the question
	backup  func(io.Writer) error
}

// noDNS knows no name.
type noDNS struct{}

func (noDNS) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// serve serves an inbox of the name sales until the test ends. Others may be
// served beside it.
func serve(t *testing.T, others ...func(*store.Store) *inbox.Inbox) *rig {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "store.db"))
	check(t, err)
	in, err := inbox.Open(inbox.Settings{
		Name: "sales", Address: "agent@seller.test", OrgName: "Seller Ltd", Contact: "owner@seller.test", AgentName: "Seller", AgentKind: "api",
	}, inbox.Services{
		Store: s, DKIM: &dkim.Checker{Resolver: noDNS{}}, Keys: &party.Verifier{}, Now: time.Now, Random: rand.Reader,
		Log: slog.New(slog.DiscardHandler),
	})
	check(t, err)
	r := &rig{t: t, socket: filepath.Join(dir, "sock"), store: s, ended: make(chan error, 1), backup: s.Backup}
	served := []Served{{in, func() mailbox.Health { return r.mailbox }}}
	for _, open := range others {
		served = append(served, Served{Inbox: open(s)})
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	server := &Server{Inboxes: func() []Served { return served }, Backup: func(w io.Writer) error { return r.backup(w) }, Log: slog.New(slog.DiscardHandler)}
	check(t, os.WriteFile(r.socket, []byte("left behind"), 0o644)) // replaced
	listener, err := Listen(ctx, r.socket)
	check(t, err)
	go func() { r.ended <- server.Serve(ctx, listener) }()
	r.client = NewClient(r.socket)
	r.ready()
	t.Cleanup(func() {
		stop()
		if err := <-r.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return r
}

// ready asks until the server answers; a server that failed ends the test.
func (r *rig) ready() {
	r.t.Helper()
	for {
		_, err := r.client.Inboxes(r.t.Context())
		if err == nil {
			return
		}
		select {
		case err := <-r.ended:
			r.t.Fatalf("Serve returned %v", err)
		default:
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask() inbox.Action {
	return inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}}
}

// TestSocket opens the socket to the daemon's user alone, in the place of
// what was left there, and takes it away at the end.
func TestSocket(t *testing.T) {
	r := serve(t)
	info, err := os.Stat(r.socket)
	check(t, err)
	if info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	r.stop()
	err = <-r.ended
	r.ended <- err
	if _, err := os.Stat(r.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := r.client.Inboxes(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("the client says %v", err)
	}
}

func TestListenRefuses(t *testing.T) {
	full := t.TempDir()
	check(t, os.WriteFile(filepath.Join(full, "file"), nil, 0o600))
	for path, want := range map[string]string{
		full:                                     "removing an old control socket: ",
		filepath.Join(t.TempDir(), "no", "sock"): "opening the control socket: ",
		filepath.Join(t.TempDir(), strings.Repeat("long", 50)): "opening the control socket: ",
	} {
		if _, err := Listen(t.Context(), path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: Listen returned %v", path, err)
		}
	}
}

// TestClient has everything done that a client can ask for.
func TestClient(t *testing.T) {
	r, ctx := serve(t), t.Context()
	inboxes, err := r.client.Inboxes(ctx)
	check(t, err)
	if len(inboxes) != 1 || inboxes[0] != (Inbox{Name: "sales", Address: "agent@seller.test"}) {
		t.Errorf("inboxes: %v", inboxes)
	}
	done, err := r.client.Do(ctx, "sales", ask())
	check(t, err)
	threads, err := r.client.Threads(ctx, "sales")
	check(t, err)
	if len(threads) != 1 || threads[0].ID != done.Thread || threads[0].Messages != nil {
		t.Errorf("threads: %v", threads)
	}
	thread, err := r.client.Thread(ctx, "sales", done.Thread)
	check(t, err)
	if len(thread.Messages) != 1 || thread.Messages[0].ID != done.ID {
		t.Errorf("thread: %v", thread)
	}
	if u, err := r.client.Usage(ctx, "sales"); err != nil || u.Set || u.Limits.HourlyMessages != 60 {
		t.Errorf("limits: %+v, %v", u, err)
	}
	proposed, err := r.client.Propose(ctx, "sales", ask())
	check(t, err)
	if proposed.Waiting == "" {
		t.Errorf("an agent without limits: %+v", proposed)
	}
	check(t, r.client.Refuse(ctx, "sales", proposed.Waiting, "no"))
	once := ask()
	once.Once = &inbox.Once{Key: "k", Hash: "1"}
	first, err := r.client.Propose(ctx, "sales", once)
	check(t, err)
	check(t, r.client.Refuse(ctx, "sales", first.Waiting, "no"))
	if again, err := r.client.Propose(ctx, "sales", once); err != nil || again.Waiting != first.Waiting {
		t.Errorf("by the same key: %+v, %v", again, err)
	}
	once.Once.Hash = "2"
	if _, err := r.client.Propose(ctx, "sales", once); !errors.Is(err, inbox.ErrAction) || !strings.Contains(err.Error(), "take a new key") {
		t.Errorf("another action by the key: %v", err)
	}
	waiting, err := r.client.Waiting(ctx, "sales")
	check(t, err)
	if len(waiting) != 0 {
		t.Errorf("waiting: %v", waiting)
	}
}

// TestHealth tells what the mailbox says and what waits; an error of the
// mailbox comes before one of a letter.
func TestHealth(t *testing.T) {
	r, ctx := serve(t), t.Context()
	never, err := r.client.Health(ctx, "sales")
	check(t, err)
	if never != (Health{}) {
		t.Errorf("before anything happened: %+v", never)
	}
	_, err = r.client.Do(ctx, "sales", ask())
	check(t, err)
	r.mailbox = mailbox.Health{
		Connected: true, LastLook: time.Unix(3, 0), IdleSince: time.Unix(4, 0), Polling: true, LastMail: time.Unix(2, 0), LastError: "connecting to mail.test:993: refused",
	}
	h, err := r.client.Health(ctx, "sales")
	check(t, err)
	want := Health{Connected: true, LastLook: 3, IdleSince: 4, Polling: true, LastMail: 2, Error: "connecting to mail.test:993: refused", Backlog: inbox.Backlog{Letters: 1}}
	if h != want {
		t.Errorf("got %+v, want %+v", h, want)
	}
}

// TestRefusals tells the caller what it can mend, in one line.
func TestRefusals(t *testing.T) {
	r, ctx := serve(t), t.Context()
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"inbox":   {func() error { _, err := r.client.Threads(ctx, "no/../such"); return err }, `there is no inbox "no/../such"`},
		"thread":  {func() error { _, err := r.client.Thread(ctx, "sales", "no such"); return err }, `thread "no such" is not known here`},
		"approve": {func() error { return r.client.Approve(ctx, "sales", "x?y#z") }, `no message waits under "x?y#z"`},
		"refuse":  {func() error { return r.client.Refuse(ctx, "sales", "event-1", "a & b") }, `nothing waits under "event-1"`},
		"record":  {func() error { _, err := r.client.Record(ctx, "sales", "x/y", true); return err }, `no record of this side is kept of "x/y"`},
		"theirs":  {func() error { _, err := r.client.CheckRecord(ctx, "sales", "x", false); return err }, `no record of the other side is kept of "x"`},
		"count":   {func() error { _, err := r.client.Count(ctx, "sales", "reply-x/1"); return err }, `no reply waits under "reply-x/1"`},
		"request": {func() error { _, err := r.client.Request(ctx, "sales", "", "x/y"); return err }, `request "x/y" is not known here`},
		"task":    {func() error { _, err := r.client.Task(ctx, "sales", "x/y"); return err }, `task "x/y" is not known here`},
		"contact": {func() error { return r.client.PutContact(ctx, "sales", inbox.Contact{}) }, "the inbox has no agent: give it an agent_key in the configuration"},
		"remove":  {func() error { return r.client.RemoveContact(ctx, "sales", "x/y") }, `agent "x/y" has no name card`},
		"roster":  {func() error { return r.client.SetRoster(ctx, "sales", []byte("{}")) }, "the inbox has no agent"},
		"ruling":  {func() error { return r.client.Rule(ctx, "sales", Ruling{}) }, "the inbox has no agent"},
		"action":  {func() error { _, err := r.client.Do(ctx, "sales", inbox.Action{Type: "sell"}); return err }, `type: "sell" is none of`},
	} {
		if err := c.do(); !errors.As(err, new(*RefusedError)) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestRequests sends what the client would not.
func TestRequests(t *testing.T) {
	r := serve(t)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"good", "POST", "/sales/actions", `{"type":"ask_quote","to":"agent@buyer.test","items":[{"description":"Mug","quantity":1}]}`, 200, `"thread":"`},
		{"no JSON", "POST", "/sales/actions", `sell`, 400, "the request is no action"},
		{"empty", "POST", "/sales/actions", ``, 400, "the request is no action"},
		{"unknown member", "POST", "/sales/actions", `{"type":"ask_quote","price":1}`, 400, `\"price\"`},
		{"two documents", "POST", "/sales/actions", `{"type":"ask_quote"}{}`, 400, "the request is no action"},
		{"too large", "POST", "/sales/actions", `{"note":"` + strings.Repeat("x", maxBody) + `"}`, 400, "request body too large"},
		{"no card", "POST", "/sales/contacts", `{"agent":"x"}`, 400, "the request is no name card"},
		{"no ruling", "POST", "/sales/rulings", `[]`, 400, "the request is no word on an agent"},
		{"no roster", "POST", "/sales/roster", strings.Repeat("x", maxBody+1), 400, "the roster cannot be read"},
		{"other method", "GET", "/sales/actions", ``, 405, "Method Not Allowed"},
		{"other path", "GET", "/sales/keys", ``, 404, "not found"},
		{"other side", "GET", "/sales/records/both/x", ``, 400, "a record is ours or theirs"},
		{"other side to check", "GET", "/sales/records/both/x/check", ``, 400, "a record is ours or theirs"},
		{"count by looking", "GET", "/sales/waiting/reply-x/count", ``, 405, "Method Not Allowed"},
		{"other inbox", "GET", "/support/threads", ``, 400, "there is no inbox"},
	} {
		t.Run(c.name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), c.method, "http://agentmaild/v1/inboxes"+c.path, strings.NewReader(c.body))
			check(t, err)
			answer, err := r.client.http.Do(request)
			check(t, err)
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			check(t, err)
			if answer.StatusCode != c.status || !strings.Contains(string(body), c.want) {
				t.Errorf("status %d, want %d: %s", answer.StatusCode, c.status, body)
			}
		})
	}
}

// TestInternal keeps from the caller what it cannot mend: it stands in the
// log.
func TestInternal(t *testing.T) {
	r := serve(t)
	check(t, r.store.Close())
	_, err := r.client.Threads(t.Context(), "sales")
	if err == nil || err.Error() != "the daemon failed to do it; its log says why" || errors.As(err, new(*RefusedError)) {
		t.Errorf("got %v", err)
	}
}

// TestStrangeServer has the client talk to something else.
func TestStrangeServer(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{"no JSON", "hello", "reading the daemon's answer: ", 200},
		{"failure without words", "{}", "the daemon answered with status 500", 500},
		{"failure that is no JSON", "<html>", "the daemon answered with status 502", 502},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sock")
			listener, err := net.Listen("unix", path)
			check(t, err)
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})}
			go func() { _ = server.Serve(listener) }()
			defer server.Close()
			if _, err := NewClient(path).Inboxes(t.Context()); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "sock")
	listener, err := net.Listen("unix", path)
	check(t, err)
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_ = conn.Close()
		}
	}()
	defer listener.Close()
	if _, err := NewClient(path).Inboxes(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "asking the daemon: ") {
		t.Errorf("a closed connection: %v", err)
	}
}
