package mailtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

const (
	alice = "alice@buyer.test"
	bob   = "bob@seller.test"
)

var arrival = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func start(t *testing.T) *mailtest.Server {
	t.Helper()
	s, err := mailtest.Start(mailtest.Options{
		Users: map[string]string{alice: "a", bob: "b"},
		Clock: func() time.Time { return arrival },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func client(t *testing.T, s *mailtest.Server, options *imapclient.Options) *imapclient.Client {
	t.Helper()
	c, err := imapclient.DialInsecure(fmt.Sprintf("127.0.0.1:%d", s.IMAP().Port), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Login(bob, "b").Wait(); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t *testing.T, s *mailtest.Server, to string) error {
	t.Helper()
	account := mailbox.Account{Endpoint: s.SMTP(), User: alice, Password: func(context.Context) (string, error) { return "a", nil }}
	sender := &mailbox.Sender{Account: account, LocalName: "buyer.test"}
	return sender.Send(t.Context(), mailbox.Letter{From: alice, To: to, Raw: []byte("Subject: hi\r\n\r\nhello\r\n")})
}

// Every byte comes back as it was put in, also of what is no mail.
func TestRawMail(t *testing.T) {
	s := start(t)
	for _, raw := range []string{"", "no header", " : \r\n\r\n", "A: b\n\nc\r\x00\xff"} {
		if err := s.Append(bob, []byte(raw), arrival); err != nil {
			t.Fatal(err)
		}
	}
	c := client(t, s, nil)
	data, err := c.Select("INBOX", nil).Wait()
	if err != nil || data.NumMessages != 4 || data.UIDNext != 5 {
		t.Fatalf("%+v, %v", data, err)
	}
	got, err := c.Fetch(imap.SeqSet{{Start: 1, Stop: 0}}, &imap.FetchOptions{
		UID: true, RFC822Size: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{{}},
	}).Collect()
	if err != nil {
		t.Fatal(err)
	}
	var raws []string
	for i, m := range got {
		raws = append(raws, string(m.BodySection[0].Bytes))
		if m.UID != imap.UID(i+1) || m.RFC822Size != int64(len(raws[i])) || !m.InternalDate.Equal(arrival) {
			t.Errorf("mail %d: %+v", i, m)
		}
	}
	if diff := cmp.Diff([]string{"", "no header", " : \r\n\r\n", "A: b\n\nc\r\x00\xff"}, raws); diff != "" {
		t.Error(diff)
	}
}

func TestDelivery(t *testing.T) {
	s := start(t)
	if err := send(t, s, bob); err != nil {
		t.Fatal(err)
	}
	c := client(t, s, nil)
	if _, err := c.Select("INBOX", nil).Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Fetch(imap.UIDSetNum(1), &imap.FetchOptions{BodySection: []*imap.FetchItemBodySection{{}}}).Collect()
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want := "Return-Path: <alice@buyer.test>\r\n" +
		"Received: from buyer.test ([127.0.0.1]) by mailtest.invalid with ESMTPA id 1\r\n" +
		"\tfor <bob@seller.test>; Wed, 04 Mar 2026 05:06:07 +0000\r\n" +
		"Subject: hi\r\n\r\nhello\r\n"
	if diff := cmp.Diff(want, string(got[0].BodySection[0].Bytes)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		command string
		code    int
	}{{"mail", 451}, {"RCPT", 450}, {"RCPT", 550}, {"DATA", 452}} {
		s.Refuse(c.command, c.code, "as told")
		var refused *mailbox.SendError
		if err := send(t, s, bob); !errors.As(err, &refused) || refused.Code != c.code || !strings.Contains(refused.Text, "as told") {
			t.Errorf("%s %d: %v", c.command, c.code, err)
		}
		if err := send(t, s, bob); err != nil {
			t.Errorf("after %s %d: %v", c.command, c.code, err)
		}
	}
	var refused *mailbox.SendError
	if err := send(t, s, "nobody@seller.test"); !errors.As(err, &refused) || refused.Code != 550 {
		t.Errorf("unknown recipient: %v", err)
	}
	if got := len(s.Sent()); got != 4 {
		t.Errorf("%d mails accepted", got)
	}
	if err := s.Append("nobody@seller.test", nil, arrival); err == nil {
		t.Error("mail of nobody")
	}
}

func TestTLS(t *testing.T) {
	for mode, options := range map[mailbox.TLSMode]mailtest.Options{
		mailbox.ImplicitTLS: {TLS: true}, mailbox.StartTLS: {StartTLS: true},
	} {
		t.Run(string(mode), func(t *testing.T) {
			options.Users = map[string]string{alice: "a"}
			s, err := mailtest.Start(options)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, e := range []mailbox.Endpoint{s.IMAP(), s.SMTP()} {
				if e.TLS != mode || e.RootCAs != s.RootCAs() || e.RootCAs == nil {
					t.Errorf("endpoint %+v", e)
				}
			}
			if err := send(t, s, alice); err != nil {
				t.Error(err)
			}
			// Without TLS nobody gets in.
			clear := mailbox.Account{Endpoint: s.SMTP(), User: alice, Password: func(context.Context) (string, error) { return "a", nil }}
			clear.TLS = mailbox.NoTLS
			if options.TLS {
				return // where a clear greeting never comes
			}
			if err := (&mailbox.Sender{Account: clear}).Probe(t.Context()); err == nil {
				t.Error("SMTP took a password in clear")
			}
			clear.Endpoint.Port = s.IMAP().Port
			if err := (&mailbox.Watcher{Account: clear}).Probe(t.Context()); err == nil {
				t.Error("IMAP took a password in clear")
			}
		})
	}
}

func TestCloseAtOnce(t *testing.T) {
	for range 50 {
		s, err := mailtest.Start(mailtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// No arrival falls between two commands: who idles is told of every one, also
// of what came just before.
func TestIdleTellsAll(t *testing.T) {
	s := start(t)
	exists := make(chan uint32, 1000)
	c := client(t, s, &imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				exists <- *data.NumMessages
			}
		},
	}})
	if _, err := c.Select("INBOX", nil).Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(50) {
		var appending sync.WaitGroup
		appending.Go(func() {
			if err := s.Append(bob, []byte("x"), arrival); err != nil {
				t.Error(err)
			}
		})
		idle, err := c.Idle()
		if err != nil {
			t.Fatal(err)
		}
		if got := <-exists; got != i+1 {
			t.Fatalf("told of %d mails, want %d", got, i+1)
		}
		if err := errors.Join(idle.Close(), idle.Wait()); err != nil {
			t.Fatal(err)
		}
		appending.Wait()
	}
}

func TestIMAPCommands(t *testing.T) {
	s := start(t)
	c := client(t, s, nil)
	old := arrival.AddDate(0, 0, -3)
	for _, at := range []time.Time{old, arrival, {}} {
		cmd := c.Append("INBOX", 1, &imap.AppendOptions{Time: at})
		_, err := cmd.Write([]byte("x"))
		if err := errors.Join(err, cmd.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Select("INBOX", nil).Wait(); err != nil {
		t.Fatal(err)
	}
	found, err := c.UIDSearch(&imap.SearchCriteria{Since: arrival.Truncate(24 * time.Hour)}, nil).Wait()
	if diff := cmp.Diff([]imap.UID{2, 3}, found.AllUIDs()); err != nil || diff != "" {
		t.Error(diff, err)
	}
	nowhere := c.Append("Work", 1, nil)
	_, _ = nowhere.Write([]byte("x"))
	_ = nowhere.Close()
	_, appendErr := nowhere.Wait()
	one := imap.UIDSetNum(1)
	_, copyErr := c.Copy(one, "Sent").Wait()
	storeErr := c.Store(one, &imap.StoreFlags{Op: imap.StoreFlagsAdd, Flags: []imap.Flag{imap.FlagSeen}}, nil).Close()
	_, expungeErr := c.Expunge().Collect()
	if err := c.Unselect().Wait(); err != nil {
		t.Error(err)
	}
	_, selectErr := c.Select("Work", nil).Wait()
	_, statusErr := c.Status("INBOX", &imap.StatusOptions{NumMessages: true}).Wait()
	_, listErr := c.List("", "*", nil).Collect()
	for name, err := range map[string]error{
		"COPY": copyErr, "STORE": storeErr, "EXPUNGE": expungeErr, "APPEND": appendErr, "SELECT": selectErr, "STATUS": statusErr, "LIST": listErr,
		"CREATE": c.Create("Work", nil).Wait(), "DELETE": c.Delete("INBOX").Wait(), "RENAME": c.Rename("INBOX", "Work", nil).Wait(),
		"SUBSCRIBE": c.Subscribe("INBOX").Wait(), "UNSUBSCRIBE": c.Unsubscribe("INBOX").Wait(),
	} {
		var no *imap.Error
		if !errors.As(err, &no) || no.Type != imap.StatusResponseTypeNo {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongLogins(t *testing.T) {
	s := start(t)
	for _, login := range [][2]string{{bob, "a"}, {"nobody@seller.test", ""}} {
		account := mailbox.Account{User: login[0], Password: func(context.Context) (string, error) { return login[1] + "x", nil }}
		account.Endpoint = s.IMAP()
		if err := (&mailbox.Watcher{Account: account}).Probe(t.Context()); err == nil {
			t.Errorf("IMAP let %q in", login)
		}
		account.Endpoint = s.SMTP()
		if err := (&mailbox.Sender{Account: account}).Probe(t.Context()); err == nil {
			t.Errorf("SMTP let %q in", login)
		}
	}
}
