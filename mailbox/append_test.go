package mailbox_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

func TestAppendSent(t *testing.T) {
	server := startServer(t, mailtest.Options{TLS: true})
	l := newLedger()
	watch(t, &mailbox.Watcher{Account: account(server.IMAP(), alice), Folder: "Sent"}, l)
	<-l.changed
	raw := strings.Repeat("Subject: sent\r\n\r\n", 1000)
	if err := mailbox.AppendSent(t.Context(), account(server.IMAP(), alice), "Sent", []byte(raw), nil); err != nil {
		t.Fatal(err)
	}
	if got := l.await(t, 1); got[0] != raw {
		t.Errorf("%d bytes in the folder", len(got[0]))
	}
}

func TestAppendSentFails(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		act  func(c *fakeConn, tag, args string)
		want string
	}{
		"no such folder": {"x\r\n", func(c *fakeConn, tag, _ string) { c.say("%s NO [TRYCREATE] none\r\n", tag) }, `copying to folder "Sent" at 127.0.0.1:143: the server says: NO [TRYCREATE] none`},
		"silence":        {"x\r\n", func(c *fakeConn, _, _ string) { c.hang() }, "in time"},
		"silence later":  {"x\r\n", func(c *fakeConn, _, _ string) { c.say("+ go\r\n"); c.hang() }, "in time"},
		"lost":           {"x\r\n", func(c *fakeConn, _, _ string) { c.Close() }, "copying to folder"},
		"empty":          {"", nil, "empty"},
		"large":          {strings.Repeat("x", mailbox.MaxMail+1), nil, "larger"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.act["APPEND"] = c.act
				start := time.Now()
				err := mailbox.AppendSent(t.Context(), f.watcher().Account, "Sent", []byte(c.raw), f.dial)
				f.serving.Wait()
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q in it", err, c.want)
				}
				if time.Since(start) > 11*time.Minute {
					t.Errorf("gave up after %v", time.Since(start))
				}
			})
		})
	}
}
