package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
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
	_, _, _, err := r.inbox.NextForHook(hookID(r.sender.URL))
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
	for n := 2; n < 5; n++ {
		r.act()
		got := <-r.told
		seq := fmt.Sprintf("%016x", n)
		if got.id != "evt_sales_"+seq || got.timestamp != fmt.Sprint(start.Unix()) {
			t.Errorf("%+v, not of %s", got, seq)
		}
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
	id := hookID(r.sender.URL)
	r.begin()
	r.act()
	for _, code := range []int{500, 302, 410} { // none is followed: whoever is told is in the configuration
		r.answers(status(code))
		e, _, _, err := r.inbox.NextForHook(id)
		check(t, err)
		if e == nil {
			t.Fatalf("before %d there is nothing to tell", code)
		}
		done := make(chan error, 1)
		go func() { done <- r.tryOnce() }()
		<-r.told
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
	if len(waiting) != 1 || waiting[0].Kind != "webhook" || !strings.HasSuffix(waiting[0].Reason, "was not told of event 0000000000000001: it answered with the status 410") ||
		strings.Contains(waiting[0].Reason, "in-the-address") {
		t.Fatalf("%+v", waiting)
	}
	r.answers(func(http.ResponseWriter) {})
	r.run()
	r.act() // what is behind it goes on
	if got := <-r.told; got.id != "evt_sales_0000000000000002" {
		t.Errorf("%+v", got)
	}
	check(t, r.inbox.Approve(waiting[0].Key))
	if err := r.inbox.Approve(waiting[0].Key); !errors.Is(err, inbox.ErrUnknown) {
		t.Errorf("approved twice: %v", err)
	}
	if got := <-r.told; got.id != "evt_sales_0000000000000001" {
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
	id := hookID(r.sender.URL)
	e, _, _, err := r.inbox.NextForHook(id)
	if err != nil || e == nil {
		return fmt.Errorf("nothing is due: %w", err)
	}
	client := newClient()
	defer client.CloseIdleConnections()
	return r.sender.tell(r.t.Context(), client, id, e)
}

// TestGone puts aside what the owner refuses, and keeps a bounded number.
func TestGone(t *testing.T) {
	r := newRig(t)
	id := hookID(r.sender.URL)
	r.begin()
	const most = 100
	for range most + 5 {
		r.act()
	}
	r.pass(24 * time.Hour)
	for range most + 5 {
		e, _, _, err := r.inbox.NextForHook(id)
		check(t, err)
		check(t, r.inbox.HookFailed(id, "shop.test", e, "connection refused"))
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
		check(t, r.inbox.HookFailed(id, "shop.test", e, "again")) // waits once more
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
