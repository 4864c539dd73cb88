package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

const (
	alice    = "alice@buyer.test"
	bob      = "bob@seller.test"
	password = "correct horse"
)

// ledger is a receiver that keeps mails and the position, as a store would.
type ledger struct {
	mu       sync.Mutex
	position mailbox.Position
	mails    []mailbox.Incoming
	calls    int
	refuse   func(call int) error
	changed  chan struct{} // a token after every call
	broken   []string      // promises of Deliver
}

func newLedger() *ledger { return &ledger{changed: make(chan struct{}, 1000)} }

func (l *ledger) load(context.Context) (mailbox.Position, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.position, nil
}

func (l *ledger) deliver(_ context.Context, batch []mailbox.Incoming) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.changed <- struct{}{} }()
	l.calls++
	l.check(batch)
	if l.refuse != nil {
		if err := l.refuse(l.calls); err != nil {
			return err
		}
	}
	for _, in := range batch {
		l.position = in.Position
		if in.Raw != nil || in.Problem != "" {
			l.mails = append(l.mails, in)
		}
	}
	return nil
}

// check holds the watcher to what Deliver promises.
func (l *ledger) check(batch []mailbox.Incoming) {
	size := 0
	for i, in := range batch {
		size += len(in.Raw)
		if i > 0 && in.Position.UID <= batch[i-1].Position.UID {
			l.broken = append(l.broken, fmt.Sprintf("UID %d after %d", in.Position.UID, batch[i-1].Position.UID))
		}
		if in.Position.UIDValidity == 0 || len(in.Raw) > mailbox.MaxMail || in.Raw != nil && in.Problem != "" {
			l.broken = append(l.broken, fmt.Sprintf("mail %+v", in))
		}
	}
	if len(batch) == 0 || len(batch) > 64 || size > 32<<20 {
		l.broken = append(l.broken, fmt.Sprintf("%d mails of %d bytes", len(batch), size))
	}
}

// raws gives the mails, or problems in brackets, held so far.
func (l *ledger) raws() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, in := range l.mails {
		if in.Problem != "" {
			out = append(out, "["+in.Problem+"]")
			continue
		}
		out = append(out, string(in.Raw))
	}
	return out
}

// await returns once n mails are held.
func (l *ledger) await(t *testing.T, n int) []string {
	t.Helper()
	for {
		if raws := l.raws(); len(raws) >= n {
			return raws
		}
		select {
		case <-l.changed:
		case <-t.Context().Done():
			t.Fatalf("waiting for %d mails: %v", n, t.Context().Err())
		}
	}
}

func secret(context.Context) (string, error) { return password, nil }

func account(e mailbox.Endpoint, user string) mailbox.Account {
	return mailbox.Account{Endpoint: e, User: user, Password: secret}
}

func startServer(t *testing.T, options mailtest.Options) *mailtest.Server {
	t.Helper()
	options.Users = map[string]string{alice: password, bob: password}
	s, err := mailtest.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// watch runs a watcher until the test or the returned function ends it.
func watch(t *testing.T, w *mailbox.Watcher, l *ledger) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx, l.load, l.deliver) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v, want %v", err, context.Canceled)
		}
	})
	t.Cleanup(stop)
	return stop
}

func TestMailGoesThrough(t *testing.T) {
	for name, options := range map[string]mailtest.Options{
		"implicit TLS": {TLS: true}, "STARTTLS": {StartTLS: true}, "no TLS on loopback": {},
	} {
		t.Run(name, func(t *testing.T) {
			arrival := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			options.Clock = func() time.Time { return arrival }
			server := startServer(t, options)
			l := newLedger()
			w := &mailbox.Watcher{Account: account(server.IMAP(), bob)}
			stop := watch(t, w, l)
			<-l.changed // the first position

			s := &mailbox.Sender{Account: account(server.SMTP(), alice), LocalName: "buyer.test"}
			letter := mailbox.Letter{From: alice, To: bob, Raw: []byte("Subject: hi\r\n\r\n.\r\n..\r\nend\r\n")}
			if err := s.Send(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
			l.await(t, 1)
			got := l.mails[0]
			want := "Return-Path: <" + alice + ">\r\nReceived: from buyer.test "
			if !strings.HasPrefix(string(got.Raw), want) || !strings.HasSuffix(string(got.Raw), string(letter.Raw)) {
				t.Errorf("mail arrived as %q", got.Raw)
			}
			if !got.Arrival.Equal(arrival) || !got.Position.Seen.After(arrival) {
				// Seen began at the first look, by the real clock.
				t.Errorf("arrival %v, seen %v", got.Arrival, got.Position.Seen)
			}
			sent := []mailtest.Received{{From: alice, To: []string{bob}, Raw: letter.Raw}}
			if diff := cmp.Diff(sent, server.Sent()); diff != "" {
				t.Error(diff)
			}
			stop()
			if h := w.Health(); h.Connected || h.LastMail.IsZero() || h.LastLook.IsZero() || h.LastError != "" {
				t.Errorf("health %+v", h)
			}
		})
	}
}

func TestFirstStartLeavesOldMailAlone(t *testing.T) {
	server := startServer(t, mailtest.Options{})
	if err := server.Append(bob, []byte("old\r\n"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	l := newLedger()
	watch(t, &mailbox.Watcher{Account: account(server.IMAP(), bob)}, l)
	<-l.changed
	if l.position.UID != 1 || l.position.UIDValidity == 0 {
		t.Errorf("position %+v", l.position)
	}
	if err := server.Append(bob, []byte("new\r\n"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := l.await(t, 1); got[0] != "new\r\n" {
		t.Errorf("delivered %q", got)
	}
}

// Many mails, appended while the watcher looks and idles: none is lost, none
// comes twice, all in order, in batches.
func TestManyMails(t *testing.T) {
	server := startServer(t, mailtest.Options{})
	l := newLedger()
	watch(t, &mailbox.Watcher{Account: account(server.IMAP(), bob)}, l)
	<-l.changed
	var want []string
	for i := range 300 {
		want = append(want, fmt.Sprintf("mail %d\r\n", i))
		if err := server.Append(bob, []byte(want[i]), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, l.await(t, len(want))); diff != "" {
		t.Error(diff)
	}
	if l.broken != nil {
		t.Error(l.broken)
	}
}

func TestWatcherResumes(t *testing.T) {
	server := startServer(t, mailtest.Options{})
	l := newLedger()
	w := &mailbox.Watcher{Account: account(server.IMAP(), bob)}
	stop := watch(t, w, l)
	<-l.changed
	stop()
	if w.Health().Connected {
		t.Error("connected after Run")
	}
	for i := range 3 {
		if err := server.Append(bob, fmt.Appendf(nil, "mail %d\r\n", i), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	watch(t, &mailbox.Watcher{Account: account(server.IMAP(), bob)}, l)
	if diff := cmp.Diff([]string{"mail 0\r\n", "mail 1\r\n", "mail 2\r\n"}, l.await(t, 3)); diff != "" {
		t.Error(diff)
	}
}

func TestProbe(t *testing.T) {
	server := startServer(t, mailtest.Options{TLS: true})
	noCA := server.IMAP()
	noCA.RootCAs = nil
	otherName := server.IMAP()
	otherName.Host = "127.0.0.2"
	open := server.IMAP()
	open.TLS, open.Host = mailbox.NoTLS, "192.0.2.1"
	odd := server.IMAP()
	odd.TLS = "TLS"
	wrong := account(server.IMAP(), bob)
	wrong.Password = func(context.Context) (string, error) { return "hunter2", nil }
	none := account(server.IMAP(), bob)
	none.Password = nil

	for name, c := range map[string]struct {
		account mailbox.Account
		folder  string
		want    string // of the error; empty: none
	}{
		"good":                {account(server.IMAP(), bob), "", ""},
		"wrong password":      {wrong, "", "Authentication failed"},
		"no password":         {none, "", "no password is configured"},
		"no such folder":      {account(server.IMAP(), bob), "Work\r\nX", "No such mailbox"}, // I17
		"unknown CA":          {account(noCA, bob), "", "certificate"},
		"certificate's name":  {account(otherName, bob), "", "certificate"}, // I13
		"password in clear":   {account(open, bob), "", "loopback"},
		"misspelled TLS mode": {account(odd, bob), "", "unknown TLS mode"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &mailbox.Watcher{Account: c.account, Folder: c.folder}
			if c.account.Host == "127.0.0.2" {
				w.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", c.account.Port))
				}
			}
			err := w.Probe(t.Context())
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.account.Host) {
				t.Errorf("error %v, want %q and the host in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("password in error %v", err)
			}
		})
	}
}
