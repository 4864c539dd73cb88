package mailbox_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentmaild/agentmaild/mailbox"
)

// What a man in the middle may do before TLS: whatever it is, the password is
// not said, and the watcher gives up within bounds (I12).
func TestStartTLSAttacks(t *testing.T) {
	answer := func(answers ...string) func(*bufio.Reader, net.Conn) {
		return func(r *bufio.Reader, c net.Conn) {
			for _, a := range answers {
				if _, err := io.WriteString(c, a); err != nil {
					return
				}
				if _, err := r.ReadString('\n'); err != nil {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		serve func(*bufio.Reader, net.Conn)
		want  string
	}{
		"STARTTLS not known": {answer("* OK hi\r\n", "S1 BAD unknown\x1b\r\n"), `asking for STARTTLS at 127.0.0.1:143: the server says: BAD unknown\x1b`},
		"STARTTLS refused":   {answer("* OK hi\r\n", "* CAPABILITY IMAP4rev1\r\nS1 NO not now\r\n"), "NO not now"},
		"PREAUTH":            {answer("* PREAUTH welcome\r\n"), "PREAUTH welcome"},
		"BYE":                {answer("* BYE busy\r\n"), "BYE busy"},
		"closed":             {answer(), "EOF"},
		"closed later":       {answer("* OK hi\r\n"), "EOF"},
		"injected plaintext": {answer("* OK hi\r\n", "S1 OK go\r\n* OK [CAPABILITY AUTH=PLAIN] x\r\nT1 OK x\r\n"), "starting TLS with"},
		"no TLS behind it":   {answer("* OK hi\r\n", "S1 OK go\r\n"), "starting TLS with"},
		"endless line":       {func(_ *bufio.Reader, c net.Conn) { flood(c, strings.Repeat("x", 1000)) }, "too much"},
		"endless lines": {func(r *bufio.Reader, c net.Conn) {
			answer("* OK hi\r\n")(r, c)
			flood(c, "* OK hi\r\n")
		}, "does not come to the point"},
		"silence": {func(r *bufio.Reader, _ net.Conn) { _, _ = io.Copy(io.Discard, r) }, "did not answer in time"},
		"silence in TLS": {func(r *bufio.Reader, c net.Conn) {
			answer("* OK hi\r\n", "S1 OK go\r\n")(r, c)
			_, _ = io.Copy(io.Discard, r)
		}, "starting TLS with"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				w := f.watcher()
				w.Account.TLS = mailbox.StartTLS
				var said strings.Builder
				w.Dial = func(context.Context, string, string) (net.Conn, error) {
					client, server := net.Pipe()
					f.serving.Go(func() {
						defer server.Close()
						c.serve(bufio.NewReader(io.TeeReader(server, &said)), server)
					})
					return client, nil
				}
				start := time.Now()
				err := w.Probe(t.Context())
				f.serving.Wait()
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q in it", err, c.want)
				}
				if time.Since(start) > time.Minute {
					t.Errorf("gave up after %v", time.Since(start))
				}
				if out := said.String(); strings.Contains(out, "AUTHENTICATE") || strings.Contains(out, "LOGIN") {
					t.Errorf("said %q", out)
				}
			})
		})
	}
}

func flood(w io.Writer, piece string) {
	for {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}
