package monitor

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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

// rig is a server with one inbox, whose mailbox and clock the test changes.
type rig struct {
	t       *testing.T
	server  *Server
	inbox   *inbox.Inbox
	mailbox mailbox.Health
	now     time.Time
	log     bytes.Buffer
	path    string // of the store
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, now: start, path: filepath.Join(t.TempDir(), "store.db")}
	s, err := store.Open(r.path)
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	r.inbox, err = inbox.Open(inbox.Settings{
		Name: "sales", Address: "agent@seller.test", OrgName: "Seller Ltd", Contact: "owner@seller.test", AgentName: "Seller", AgentKind: "api",
	}, inbox.Services{
		Store: s, DKIM: &dkim.Checker{Resolver: noDNS{}}, Keys: &party.Verifier{}, Random: rand.Reader,
		Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler),
	})
	check(t, err)
	r.server = &Server{
		Inboxes: func() []Source { return []Source{{r.inbox, func() mailbox.Health { return r.mailbox }}} },
		Counts:  NewCounts(start.Unix()), Store: s, Now: func() time.Time { return r.now }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Fetches: func() party.Fetches { return party.Fetches{Pages: 3, None: 2, Failed: 1} },
	}
	return r
}

func (r *rig) ask(method, path string) (int, string) {
	w := httptest.NewRecorder()
	r.server.routes().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code, w.Body.String()
}

// want compares an answer to GET.
func (r *rig) want(path string, status int, text string) {
	r.t.Helper()
	if got, body := r.ask(http.MethodGet, path); got != status || body != text {
		r.t.Errorf("%s: %d %q, not %d %q", path, got, body, status, text)
	}
}

// follow counts what there is and stops.
func (r *rig) follow() {
	r.t.Helper()
	events, _, err := r.inbox.Events("", 10000)
	check(r.t, err)
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error)
	go func() { ended <- r.server.Counts.Follow(ctx, r.inbox) }()
	for r.server.Counts.last("sales") != events[len(events)-1].Seq {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		r.t.Error(err)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	r := newRig(t)
	r.want("/healthz", 200, "ok\n")
	r.want("/readyz", 503, "inbox sales: the mailbox is not connected\n")
	r.mailbox.Connected = true
	r.want("/readyz", 200, "ok\n")

	commits := r.server.Store.Commits()
	r.now = r.now.Add(probeTime - 1)
	r.want("/readyz", 200, "ok\n")
	if n := r.server.Store.Commits() - commits; n != 0 {
		t.Errorf("the store was written %d times within %s", n, probeTime)
	}
	check(t, r.server.Store.Close())
	r.want("/readyz", 200, "ok\n")
	r.now = r.now.Add(1)
	r.want("/readyz", 503, "the store cannot be written; the log says why\n")
	if !strings.Contains(r.log.String(), store.ErrClosed.Error()) {
		t.Error(r.log.String())
	}
	check(t, os.Remove(r.path))
	r.want("/healthz", 503, "the store cannot be used; the log says why\n")
	if status, body := r.ask(http.MethodGet, "/metrics"); status != 500 || body != "" {
		t.Errorf("metrics without a store: %d %q", status, body)
	}
}

func TestMetrics(t *testing.T) {
	r := newRig(t)
	mails := []inbox.Mail{{Raw: []byte("From: a@b.test\r\nSubject: Hello\r\n\r\nHello.\r\n"), Arrival: start}, {Raw: []byte("no mail"), Arrival: start}}
	_, err := r.inbox.Deliver(t.Context(), mails, []byte("{}"))
	check(t, err)
	r.follow()
	_, err = r.inbox.Do(inbox.Action{Type: intent.AskQuote, To: "agent@buyer.test", Items: []intent.Item{{Description: "Mug", Quantity: 1}}})
	check(t, err)
	r.follow() // goes on where it ended
	r.mailbox = mailbox.Health{Connected: true, LastLook: start, IdleSince: start, Sessions: 2}
	r.now = start.Add(90 * time.Second)
	_, got := r.ask(http.MethodGet, "/metrics")
	for _, line := range []string{
		`agentmaild_mails_total{inbox="sales",verdict="plain",code="none"} 2`,
		`agentmaild_events_total{inbox="sales",kind="received"} 2`,
		`agentmaild_events_total{inbox="sales",kind="sent"} 1`,
		`agentmaild_mailbox_connected{inbox="sales"} 1`,
		`agentmaild_mailbox_idle{inbox="sales"} 1`,
		`agentmaild_mailbox_last_look_timestamp_seconds{inbox="sales"} 1793610000`,
		`agentmaild_mailbox_sessions_total{inbox="sales"} 2`,
		`agentmaild_outbox_letters{inbox="sales"} 1`,
		`agentmaild_outbox_oldest_seconds{inbox="sales"} 90`,
		`agentmaild_pending_events{inbox="sales"} 0`,
		`agentmaild_retries{inbox="sales"} 0`,
		`agentmaild_waiting{inbox="sales",kind="message"} 0`,
		`agentmaild_key_page_fetches_total{result="page"} 3`,
		`agentmaild_key_page_fetches_total{result="none"} 2`,
		`agentmaild_key_page_fetches_total{result="failed"} 1`,
		`agentmaild_store_commits_total 2`,
		`agentmaild_store_failed_commits_total 0`,
	} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
	checkFormat(t, got)
	if t.Failed() {
		t.Log(got)
	}
}

// Before anything has happened there is a number for all but what is counted
// by its kind.
func TestMetricsAtFirst(t *testing.T) {
	_, got := newRig(t).ask(http.MethodGet, "/metrics")
	checkFormat(t, got)
	for _, f := range families {
		counted := f.name == "agentmaild_mails_total" || f.name == "agentmaild_events_total"
		if strings.Contains(got, "\n"+f.name) == counted {
			t.Errorf("%s: a number is there or is not\n%s", f.name, got)
		}
	}
	if !strings.Contains(got, "last_look_timestamp_seconds{inbox=\"sales\"} 0\n") {
		t.Error("there was a look")
	}
}

// Events of before the start are not counted.
func TestCountsBegin(t *testing.T) {
	r := newRig(t)
	r.now = start.Add(-time.Second)
	for range batch { // more than are read at once
		_, err := r.inbox.Deliver(t.Context(), []inbox.Mail{{Raw: []byte("From: a@b.test\r\n\r\n"), Arrival: r.now}}, nil)
		check(t, err)
	}
	r.now = start
	_, err := r.inbox.Deliver(t.Context(), []inbox.Mail{{Raw: []byte("From: a@b.test\r\n\r\n"), Arrival: start}}, nil)
	check(t, err)
	r.follow()
	p := page{}
	r.server.Counts.write(p, "sales")
	want := []string{`agentmaild_mails_total{inbox="sales",verdict="plain",code="none"} 1` + "\n"}
	if !slices.Equal(p["agentmaild_mails_total"], want) {
		t.Errorf("%q", p)
	}
	check(t, r.server.Store.Close())
	if err := r.server.Counts.Follow(t.Context(), r.inbox); !errors.Is(err, store.ErrClosed) {
		t.Error(err)
	}
}

// checkFormat holds every line to the text format, and each name to its
// family: HELP, TYPE, then its numbers, each with labels of its own.
func checkFormat(t *testing.T, text string) {
	t.Helper()
	value := regexp.MustCompile(`^(agentmaild_[a-z_]+)((?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})?) [0-9]+(?:\.[0-9]+)?$`)
	head := regexp.MustCompile(`^# (?:HELP|TYPE) (agentmaild_[a-z_]+) (.+)$`)
	if !strings.HasSuffix(text, "\n") {
		t.Error("the last line has no end")
	}
	family, seen := "", map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := head.FindStringSubmatch(line); m != nil {
			family = m[1]
			if seen[line] {
				t.Errorf("twice: %s", line)
			}
			seen[line] = true
			continue
		}
		m := value.FindStringSubmatch(line)
		if m == nil || m[1] != family || seen[m[1]+m[2]] {
			t.Errorf("not of the format, out of place or twice: %s", line)
			continue
		}
		seen[m[1]+m[2]] = true
	}
	for _, f := range families {
		if strings.HasSuffix(f.name, "_total") != (f.kind == counter) {
			t.Errorf("%s is a %s", f.name, f.kind)
		}
	}
}

func TestLabels(t *testing.T) {
	p := page{}
	p.set("x", 1.5, "a", "\"\\\n", "b", "c")
	if got, want := p["x"][0], `x{a="\"\\\n",b="c"} 1.5`+"\n"; got != want {
		t.Errorf("%q", got)
	}
}

// Nothing else is answered, and no other method.
func TestRoutes(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{http.MethodHead, "/metrics", 200},
		{http.MethodPost, "/metrics", 405},
		{http.MethodGet, "/", 404},
		{http.MethodGet, "/debug/pprof", 404},
	} {
		if got, _ := r.ask(c.method, c.path); got != c.want {
			t.Errorf("%s %s: %d, not %d", c.method, c.path, got, c.want)
		}
	}
}

func TestServe(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.server.Serve(ctx, l) }()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + l.Addr().String() + "/healthz")
	check(t, err)
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "ok\n" {
		t.Errorf("%q %v", text, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = l.Close()
	if err := r.server.Serve(t.Context(), l); err == nil || !strings.HasPrefix(err.Error(), "serving metrics: ") {
		t.Error(err)
	}
}

// The dashboard asks for metrics that there are, and for all of them; the
// page about running names each.
func TestDashboardAndPage(t *testing.T) {
	name := regexp.MustCompile(`agentmaild_[a-z_]+`)
	known := map[string]bool{}
	for _, f := range families {
		known[f.name] = true
	}
	for _, path := range []string{"../contrib/grafana.json", "../docs/running.md"} {
		text, err := os.ReadFile(path)
		check(t, err)
		named := map[string]bool{}
		for _, n := range name.FindAllString(string(text), -1) {
			if named[n] = true; !known[n] {
				t.Errorf("%s names %s, which there is not", path, n)
			}
		}
		for n := range known {
			if !named[n] {
				t.Errorf("%s does not name %s", path, n)
			}
		}
	}
}
