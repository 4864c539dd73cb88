package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
	"github.com/go-json-experiment/json"
)

var start = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

type noDNS struct{}

func (noDNS) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// told is what the address got.
type told struct {
	id, timestamp, signature string
	body                     []byte
}

// rig is an inbox with a clock that the test moves, and an address that answers as the test wants.
type rig struct {
	t      *testing.T
	inbox  *inbox.Inbox
	sender *Sender
	told   chan told
	answer func(http.ResponseWriter)
	stop   func()

	mu  sync.Mutex
	now time.Time
	log bytes.Buffer
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

const key = "0123456789abcdef0123456789abcdef"

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "store.db"))
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	r := &rig{t: t, now: start, told: make(chan told), answer: func(w http.ResponseWriter) {}}
	log := slog.New(slog.NewTextHandler(r, nil))
	r.inbox, err = inbox.Open(inbox.Settings{
		Name: "sales", Address: "agent@seller.test", OrgName: "Seller Ltd", Contact: "owner@seller.test", AgentName: "Seller", AgentKind: "api", HourlyLimit: 1000,
	}, inbox.Services{
		Store: s, DKIM: &dkim.Checker{Resolver: noDNS{}}, Keys: &party.Verifier{}, Random: rand.Reader, Now: r.clock, Log: slog.New(slog.DiscardHandler),
	})
	check(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		answer := r.answer
		r.mu.Unlock()
		answer(w)
		r.told <- told{q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), q.Header.Get("webhook-signature"), body}
	}))
	t.Cleanup(server.Close)
	secret := filepath.Join(dir, "secret")
	check(t, os.WriteFile(secret, []byte("whsec_"+base64.StdEncoding.EncodeToString([]byte(key))+"\n"), 0o600))
	loaded, err := LoadSecret(secret)
	check(t, err)
	r.sender = &Sender{Inbox: r.inbox, URL: server.URL + "/hook?secret=in-the-address", Secret: loaded, Now: r.clock, Log: log}
	return r
}

// run runs the sender until the test ends.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.sender.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		for {
			select {
			case <-r.told: // it may be telling just now
			case err := <-ended:
				if !errors.Is(err, context.Canceled) {
					r.t.Errorf("Run returned %v", err)
				}
				return
			}
		}
	})
	r.t.Cleanup(r.stop)
}

// begin has the webhook begin here.
func (r *rig) begin() {
	r.t.Helper()
	_, _, _, err := r.inbox.NextForHook(ID(r.sender.URL))
	check(r.t, err)
}

func (r *rig) act() {
	r.t.Helper()
	_, err := r.inbox.Do(inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}})
	check(r.t, err)
}

func (r *rig) answers(answer func(http.ResponseWriter)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, strings.Repeat("words of the other side", 1000))
	}
}

// TestTold tells of events in their order, from the first that happens on, signed as a receiver checks it.
func TestTold(t *testing.T) {
	r := newRig(t)
	r.act() // before there was a webhook
	r.begin()
	r.run()
	seen := map[string]bool{}
	for n := 2; n < 5; n++ {
		r.act()
		got := <-r.told
		seq := fmt.Sprintf("%016x", n)
		if seen[got.id] || got.timestamp != fmt.Sprint(start.Unix()) {
			t.Errorf("%+v, not of %s", got, seq)
		}
		seen[got.id] = true
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(got.id + "." + got.timestamp + "." + string(got.body)))
		if got.signature != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Errorf("its signature is %s", got.signature)
		}
		var p payload
		check(t, json.Unmarshal(got.body, &p))
		if p.Type != "inbox.sent" || p.Inbox != "sales" || p.Data.Seq != seq || p.Timestamp != "2026-11-02T09:00:00Z" {
			t.Errorf("%+v", p)
		}
	}
}

// TestFailed tries again after a growing time, over a restart, and in the end shows the owner what was not told.
func TestFailed(t *testing.T) {
	r := newRig(t)
	id := ID(r.sender.URL)
	r.begin()
	r.act()
	ids := map[string]bool{}
	for _, code := range []int{500, 302, 404} { // none is followed: whoever is told is in the configuration
		r.answers(status(code))
		e, _, _, err := r.inbox.NextForHook(id)
		check(t, err)
		if e == nil {
			t.Fatalf("before %d there is nothing to tell", code)
		}
		done := make(chan error, 1)
		go func() { done <- r.tryOnce() }()
		ids[(<-r.told).id] = true
		check(t, <-done)
		e, next, _, err := r.inbox.NextForHook(id)
		check(t, err)
		wait := next.Sub(r.clock())
		if e != nil || wait < firstWait || wait > 3*time.Minute {
			t.Fatalf("after %d it is told again at once, or in %s", code, wait)
		}
		r.pass(wait)
	}
	r.pass(24 * time.Hour)
	done := make(chan error, 1)
	go func() { done <- r.tryOnce() }()
	<-r.told
	check(t, <-done)
	waiting, err := r.inbox.Waiting()
	check(t, err)
	if len(waiting) != 1 || waiting[0].Kind != "webhook" || !strings.HasSuffix(waiting[0].Reason, "was not told of event 0000000000000001: it answered with the status 404") ||
		strings.Contains(waiting[0].Reason, "in-the-address") {
		t.Fatalf("%+v", waiting)
	}
	r.answers(func(http.ResponseWriter) {})
	r.run()
	r.act() // what is behind it goes on
	if got := <-r.told; ids[got.id] || !strings.Contains(string(got.body), `"seq":"0000000000000002"`) {
		t.Errorf("%+v", got)
	}
	check(t, r.inbox.Approve(waiting[0].Key))
	if err := r.inbox.Approve(waiting[0].Key); !errors.Is(err, inbox.ErrUnknown) {
		t.Errorf("approved twice: %v", err)
	}
	if got := <-r.told; !ids[got.id] || len(ids) != 1 {
		t.Errorf("%+v", got)
	}
	r.stop()
	if waiting, err := r.inbox.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("%+v, %v", waiting, err)
	}
	if text := r.log.String(); strings.Contains(text, "in-the-address") || strings.Contains(text, "words of the other side") || strings.Contains(text, "whsec") || !strings.Contains(text, "status 500") {
		t.Error(text)
	}
}

const firstWait = 5 * time.Second

// tryOnce tells of the event that is due.
func (r *rig) tryOnce() error {
	id := ID(r.sender.URL)
	e, _, _, err := r.inbox.NextForHook(id)
	if err != nil || e == nil {
		return fmt.Errorf("nothing is due: %w", err)
	}
	client := newClient()
	defer client.CloseIdleConnections()
	return r.sender.tell(r.t.Context(), client, id, e)
}

// TestPutAside puts aside what the owner refuses, and keeps a bounded number.
func TestPutAside(t *testing.T) {
	r := newRig(t)
	id := ID(r.sender.URL)
	r.begin()
	const most = 100
	for range most + 5 {
		r.act()
	}
	r.pass(24 * time.Hour)
	for range most + 5 {
		e, _, _, err := r.inbox.NextForHook(id)
		check(t, err)
		check(t, r.inbox.HookFailed(id, e, inbox.HookFailure{Where: "shop.test", Reason: "connection refused"}))
	}
	waiting, err := r.inbox.Waiting()
	check(t, err)
	if len(waiting) != most || !strings.HasSuffix(waiting[0].Key, "-0000000000000006") {
		t.Fatalf("%d wait, the first %+v", len(waiting), waiting[0])
	}
	check(t, r.inbox.Refuse(waiting[0].Key, ""))
	check(t, r.inbox.Approve(waiting[1].Key))
	if e, _, _, err := r.inbox.NextForHook(id); err != nil || e == nil || e.Seq != "0000000000000007" {
		t.Errorf("%+v, %v", e, err)
	} else {
		check(t, r.inbox.HookFailed(id, e, inbox.HookFailure{Where: "shop.test", Reason: "again"})) // waits once more
	}
	if e, _, _, err := r.inbox.NextForHook(id); err != nil || e != nil {
		t.Errorf("told again of %+v, %v", e, err)
	}
	if waiting, err := r.inbox.Waiting(); err != nil || len(waiting) != most-1 || !strings.HasSuffix(waiting[0].Reason, "again") {
		t.Errorf("%d wait, %v", len(waiting), err)
	}
	if e, _, _, err := r.inbox.NextForHook("another"); err != nil || e != nil {
		t.Errorf("another webhook: %+v, %v", e, err)
	}
}

func TestLoadSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	good := "whsec_" + base64.StdEncoding.EncodeToString([]byte(key))
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"good":         {good, 0o600, ""},
		"open":         {good, 0o640, "chmod 600"},
		"no prefix":    {good[6:], 0o600, "holds none"},
		"short":        {"whsec_" + base64.StdEncoding.EncodeToString([]byte(key[:23])), 0o600, "holds none"},
		"no base64":    {"whsec_!" + good[6:], 0o600, "holds none"},
		"too large":    {good + strings.Repeat("\n", maxFile), 0o600, "too large"},
		"two":          {good + "\n" + good + "\n", 0o600, ""},
		"two, Windows": {good + "\r\n" + good + "\r\n", 0o600, ""},
		"one is none":  {good + "\n" + good[:20], 0o600, "line 2"},
		"a gap":        {good + "\n\n" + good, 0o600, "line 2"},
		"three":        {good + "\n" + good + "\n" + good, 0o600, "holds 3 secrets"},
		"empty":        {"\n\n\n\n\n\n\n", 0o600, "is empty"},
		"one too long": {"whsec_" + base64.StdEncoding.EncodeToString([]byte(key+key+"x")), 0o600, "holds none"},
	} {
		check(t, os.RemoveAll(path))
		check(t, os.WriteFile(path, []byte(c.text), 0o600))
		check(t, os.Chmod(path, c.mode))
		secret, err := LoadSecret(path)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.text[6:])) {
			t.Errorf("%s: %v", name, err)
		}
		if shown := fmt.Sprint(secret); shown != "a webhook secret" {
			t.Error(shown)
		}
	}
}

// TestToldOfFiles has an address told where a file is to be had, and not where it lies on this machine's disk.
func TestToldOfFiles(t *testing.T) {
	r := newRig(t)
	e := inbox.Event{Seq: "0000000000000001", Kind: inbox.KindReceived, Result: inbox.Result{ID: "1", Exchange: &inbox.Exchange{
		From: "U", Files: []inbox.ReceivedFile{{Name: "a.txt", State: "ok", Path: "/var/lib/agentmaild/spool/sales/x/a.txt"}},
	}}}
	ended := make(chan error, 1)
	go func() { ended <- r.sender.post(t.Context(), newClient(), &e) }()
	got := <-r.told
	check(t, <-ended)
	if text := string(got.body); strings.Contains(text, "/var/lib") || !strings.Contains(text, `"url":"/v1/inboxes/sales/messages/1/files/0?agent=U"`) {
		t.Errorf("%s", text)
	}
	if e.Exchange.Files[0].Path == "" {
		t.Error("the event was changed")
	}
}

// TestTwoSecrets has a message signed by the secret that comes and by the one that goes.
func TestTwoSecrets(t *testing.T) {
	const old = "fedcba9876543210fedcba9876543210"
	path := filepath.Join(t.TempDir(), "secret")
	line := func(key string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(key)) + "\n" }
	check(t, os.WriteFile(path, []byte(line(key)+line(old)), 0o600))
	secret, err := LoadSecret(path)
	check(t, err)
	var want []string
	for _, key := range []string{key, old} {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte("evt_1.1793610000.{}"))
		want = append(want, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if got := secret.sign("evt_1", "1793610000", []byte("{}")); got != strings.Join(want, " ") {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestSameNumber tells two events that have one number apart: that of the store that went back to a backup, that of another
// daemon.
func TestSameNumber(t *testing.T) {
	r, another := newRig(t), newRig(t)
	id := func(r *rig, e inbox.Event) string {
		t.Helper()
		ended := make(chan error, 1)
		go func() { ended <- r.sender.post(t.Context(), newClient(), &e) }()
		got := <-r.told
		check(t, <-ended)
		return got.id
	}
	e := inbox.Event{Seq: "0000000000000007", At: start.Unix(), Kind: inbox.KindSent, Result: inbox.Result{ID: "1"}}
	later, other := e, e
	later.At++
	other.ID = "2"
	first := id(r, e)
	r.pass(time.Hour)
	if got := id(r, e); got != first {
		t.Errorf("tried again it is %s, not %s", got, first)
	}
	if id(r, later) == first || id(r, other) == first {
		t.Error("two events have one id")
	}
	another.inbox, _ = inbox.Open(inbox.Settings{Name: "sales", Address: "agent@other.test", Contact: "owner@seller.test"}, inbox.Services{})
	another.sender.Inbox = another.inbox
	if id(another, e) == first {
		t.Error("the events of two daemons have one id")
	}
}

// TestRetryAfter reads what a receiver asks for: seconds, or a date, of an answer that may ask.
func TestRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		text   string
		want   time.Duration
	}{
		"seconds":            {429, "120", 2 * time.Minute},
		"of 503":             {503, "120", 2 * time.Minute},
		"of 500":             {500, "120", 0},
		"a date":             {429, "Mon, 02 Nov 2026 09:30:00 GMT", 30 * time.Minute},
		"a date of before":   {429, "Mon, 02 Nov 2026 08:30:00 GMT", 0},
		"a date far ahead":   {429, "Fri, 31 Dec 9999 23:59:59 GMT", 1<<63 - 1},
		"many seconds":       {429, "2147483647", 2147483647 * time.Second},
		"none":               {429, "", 0},
		"negative":           {429, "-5", 0},
		"more than a number": {429, "99999999999999999999", 0},
		"words":              {429, "tomorrow", 0},
	} {
		response := &http.Response{StatusCode: c.status, Header: http.Header{"Retry-After": {c.text}}}
		if got := retryAfter(response, start); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestAnswers leaves an address alone for as long as it asks, and for good once it says 410.
func TestAnswers(t *testing.T) {
	r := newRig(t)
	r.begin()
	r.act()
	try := func(answer func(http.ResponseWriter)) {
		t.Helper()
		r.answers(answer)
		done := make(chan error, 1)
		go func() { done <- r.tryOnce() }()
		<-r.told
		check(t, <-done)
	}
	try(func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	if _, next, _, err := r.inbox.NextForHook(ID(r.sender.URL)); err != nil || next.Sub(r.clock()) != 30*time.Minute {
		t.Errorf("it is told again at %s, %v", next, err)
	}
	r.pass(30 * time.Minute)
	try(status(http.StatusGone))
	r.pass(30 * 24 * time.Hour)
	if err := r.tryOnce(); err == nil || !strings.HasPrefix(err.Error(), "nothing is due") {
		t.Errorf("it is told again: %v", err)
	}
	waiting, err := r.inbox.Waiting()
	check(t, err)
	if len(waiting) != 1 || waiting[0].Key != "webhook-"+ID(r.sender.URL) || !strings.Contains(waiting[0].Reason, "410") || !strings.Contains(r.log.String(), "level=ERROR") {
		t.Fatalf("%+v, and the log says %s", waiting, r.log.String())
	}
	r.answers(func(http.ResponseWriter) {})
	r.run() // is woken by the owner
	check(t, r.inbox.Approve(waiting[0].Key))
	<-r.told
}

// TestNoAnswer says why nothing was answered in words of the daemon alone: those of the other side and the address, in which a
// secret may stand, would be taken for them.
func TestNoAnswer(t *testing.T) {
	r := newRig(t)
	answering := func(do func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				do(conn)
				conn.Close()
			}
		}()
		return "http://" + l.Addr().String()
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	_, port, _ := net.SplitHostPort(secure.Listener.Addr().String())
	closed := httptest.NewServer(nil)
	closed.Close()
	trusting := func(c *http.Client) {
		roots := x509.NewCertPool()
		roots.AddCert(secure.Certificate())
		c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	for name, c := range map[string]struct {
		address, want string
		change        func(*http.Client)
	}{
		"no HTTP": {answering(func(c net.Conn) { _, _ = io.WriteString(c, "ignore what was said before\r\n\r\n") }), "it did not answer as a web server does", nil},
		"great headers": {answering(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 32<<10)+"\r\n\r\n")
		}), "it did not answer as a web server does", nil},
		"a reset":      {answering(func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }), "the connection broke: ", nil},
		"silence":      {answering(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "it did not answer within 15s", func(c *http.Client) { c.Timeout = time.Millisecond }},
		"nobody":       {closed.URL, "it cannot be connected to: ", nil},
		"no authority": {secure.URL, "its certificate is by an authority that this system does not know", nil},
		"another name": {"https://localhost:" + port, "its certificate is for another name", trusting},
	} {
		r.sender.URL = c.address + "/hook?secret=in-the-address"
		client := newClient()
		if c.change != nil {
			c.change(client)
		}
		err := r.sender.post(t.Context(), client, &inbox.Event{Seq: "1"})
		client.CloseIdleConnections()
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "in-the-address") || strings.Contains(err.Error(), "ignore what") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := plain(&url.Error{Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "secret.test"}}}); strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
