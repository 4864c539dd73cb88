package mailbox_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

// fakeSMTP takes letters and records every byte.
type fakeSMTP struct {
	// reply is what is said after a verb, GREETING, CONTENT or a line of the
	// login dialogue; without CRLF. Empty: nothing, and the connection is kept
	// open. "close": the connection is closed.
	reply map[string]string
	once  map[string]string // the same, for the next time alone

	dials   int
	lines   []string
	content []byte
	serving sync.WaitGroup
}

func newFakeSMTP() *fakeSMTP {
	return &fakeSMTP{reply: map[string]string{
		"GREETING": "220 ready", "EHLO": "250-fake\r\n250-SIZE 100\r\n250 AUTH PLAIN LOGIN", "AUTH": "235 in",
		"MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go", "CONTENT": "250 taken", "QUIT": "221 bye",
	}}
}

func (f *fakeSMTP) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	f.dials++
	f.serving.Go(func() { f.serve(server) })
	return client, nil
}

func (f *fakeSMTP) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	verb := "GREETING"
	for {
		reply, ok := f.once[verb]
		if delete(f.once, verb); !ok {
			reply = f.reply[verb]
		}
		if reply == "close" {
			return
		}
		if _, err := io.WriteString(c, reply+strings.Repeat("\r\n", min(1, len(reply)))); err != nil {
			return
		}
		if verb == "DATA" && strings.HasPrefix(reply, "354") {
			f.content = untilDot(r)
			verb = "CONTENT"
			continue
		}
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		f.lines = append(f.lines, line)
		verb, _, _ = strings.Cut(line, " ")
	}
}

// untilDot reads to the only end of data there is, RFC 5321 §4.1.1.4.
func untilDot(r *bufio.Reader) []byte {
	var b []byte
	for !bytes.HasSuffix(b, []byte("\r\n.\r\n")) {
		one, err := r.ReadByte()
		if err != nil {
			break
		}
		b = append(b, one)
	}
	return b
}

func (f *fakeSMTP) sender() *mailbox.Sender {
	e := mailbox.Endpoint{Host: "127.0.0.1", Port: 587, TLS: mailbox.NoTLS}
	return &mailbox.Sender{Account: account(e, alice), LocalName: "buyer.test", Dial: f.dial}
}

func baselineLetter() mailbox.Letter {
	return mailbox.Letter{From: alice, To: bob, Raw: []byte("Subject: hi\r\n\r\nhello\r\n")}
}

func TestSendDialogue(t *testing.T) {
	f := newFakeSMTP()
	s := f.sender()
	if err := s.Send(t.Context(), baselineLetter()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	f.serving.Wait()
	want := []string{
		"EHLO buyer.test", "AUTH PLAIN AGFsaWNlQGJ1eWVyLnRlc3QAY29ycmVjdCBob3JzZQ==",
		"MAIL FROM:<alice@buyer.test> SIZE=22", "RCPT TO:<bob@seller.test>", "DATA", "QUIT",
	}
	if diff := cmp.Diff(want, f.lines); diff != "" {
		t.Error(diff)
	}
	if got := string(f.content); got != "Subject: hi\r\n\r\nhello\r\n.\r\n" {
		t.Errorf("content %q", got)
	}
}

// Whatever looks like the end of the data inside a letter: refused before
// connecting, or stuffed so that the server reads one letter, ours (X3).
func TestEndOfDataLookalikes(t *testing.T) {
	for _, middle := range []string{
		"\r\n.\r\n", "\r\n..\r\n", "\r\n.", "\r\n.x\r\n", "\r\n.\r\nQUIT\r\n.\r\n", "\r\n\r\n.\r\n\r\n",
		"\n.\n", "\n.\r\n", "\r.\r", "\r\n.\n", "\r\n.\r", "\r.\r\n", "\n.\r", "\x00\r\n.\r\n", "\r\r\n.\r\n", ".\r\n\n",
	} {
		t.Run(fmt.Sprintf("%q", middle), func(t *testing.T) {
			f := newFakeSMTP()
			letter := baselineLetter()
			letter.Raw = []byte("Subject: hi\r\n\r\nbefore" + middle + "MAIL FROM:<evil@evil.test>\r\n")
			s := f.sender()
			err := s.Send(t.Context(), letter)
			s.Close()
			f.serving.Wait()
			bare := strings.ContainsAny(strings.ReplaceAll(middle, "\r\n", ""), "\r\n\x00")
			if bare {
				var refused *mailbox.SendError
				if !errors.As(err, &refused) || refused.Phase != mailbox.PhaseLetter || refused.Temporary || f.dials != 0 {
					t.Errorf("error %v after %d connections", err, f.dials)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.TrimSuffix(string(f.content), ".\r\n"), "\r\n.", "\r\n")
			if got != string(letter.Raw) || f.lines[len(f.lines)-1] != "QUIT" || len(f.lines) != 6 {
				t.Errorf("content %q, commands %q", f.content, f.lines)
			}
		})
	}
}

func TestLetterRefused(t *testing.T) {
	for name, change := range map[string]func(*mailbox.Letter){
		"X4 command in address": func(l *mailbox.Letter) { l.To = "a@b>\r\nRCPT TO:<c@d" },
		"bracket":               func(l *mailbox.Letter) { l.To = "a@b>" },
		"parameter":             func(l *mailbox.Letter) { l.From = "a@b SIZE=1" },
		"control character":     func(l *mailbox.Letter) { l.From = "a\x7f@b" },
		"not ASCII":             func(l *mailbox.Letter) { l.To = "ä@b" },
		"no domain":             func(l *mailbox.Letter) { l.To = "a@" },
		"no local part":         func(l *mailbox.Letter) { l.To = "@b" },
		"null recipient":        func(l *mailbox.Letter) { l.To = "" },
		"long address":          func(l *mailbox.Letter) { l.To = strings.Repeat("a", 253) + "@b" },
		"empty":                 func(l *mailbox.Letter) { l.Raw = nil },
		"large":                 func(l *mailbox.Letter) { l.Raw = bytes.Repeat([]byte("x\r\n"), mailbox.MaxMail/3+1) },
		"long line":             func(l *mailbox.Letter) { l.Raw = append(bytes.Repeat([]byte("x"), 999), "\r\n"...) },
	} {
		t.Run(name, func(t *testing.T) {
			f, letter := newFakeSMTP(), baselineLetter()
			change(&letter)
			err := f.sender().Send(t.Context(), letter)
			var refused *mailbox.SendError
			if !errors.As(err, &refused) || refused.Phase != mailbox.PhaseLetter || refused.Temporary || refused.Code != 0 {
				t.Errorf("error %#v", err)
			}
			if f.dials != 0 {
				t.Errorf("%d connections", f.dials)
			}
		})
	}
}

func TestLetterLimits(t *testing.T) {
	f, letter := newFakeSMTP(), baselineLetter()
	letter.From = "" // the null return path
	letter.To = strings.Repeat("a", 252) + "@b"
	letter.Raw = append(bytes.Repeat([]byte("x"), 998), "\r\n"...)
	s := f.sender()
	if err := s.Send(t.Context(), letter); err != nil {
		t.Error(err)
	}
	s.Close()
	f.serving.Wait()
	if got := f.lines[2]; got != "MAIL FROM:<> SIZE=1000" {
		t.Errorf("said %q", got)
	}
}

// One reply of the server is another: what the sender makes of it.
func TestSendFailures(t *testing.T) {
	for name, c := range map[string]struct {
		step, reply string
		want        mailbox.SendError // Text: a part of it
	}{
		"busy greeting":         {"GREETING", "421 busy", mailbox.SendError{Phase: mailbox.PhaseConnect, Code: 421, Temporary: true, Text: "busy"}},
		"no greeting":           {"GREETING", "", mailbox.SendError{Phase: mailbox.PhaseConnect, Temporary: true, Text: "in time"}},
		"refusing greeting":     {"GREETING", "554 go away", mailbox.SendError{Phase: mailbox.PhaseConnect, Code: 554, Text: "go away"}},
		"no SMTP":               {"GREETING", "HTTP/1.1 400", mailbox.SendError{Phase: mailbox.PhaseConnect, Temporary: true, Text: "connect 127.0.0.1:587"}},
		"endless reply":         {"EHLO", strings.Repeat("250-x"+strings.Repeat("y", 100)+"\r\n", 5000), mailbox.SendError{Phase: mailbox.PhaseConnect, Temporary: true, Text: "too much"}},
		"no AUTH":               {"EHLO", "250 fake", mailbox.SendError{Phase: mailbox.PhaseLogin, Temporary: true, Text: "neither AUTH PLAIN nor"}},
		"wrong password":        {"AUTH", "535 no AGFsaWNlQGJ1eWVyLnRlc3QAY29ycmVjdCBob3JzZQ== " + password, mailbox.SendError{Phase: mailbox.PhaseLogin, Code: 535, Text: "535 no [password] [password]"}},
		"login later":           {"AUTH", "454 later", mailbox.SendError{Phase: mailbox.PhaseLogin, Code: 454, Temporary: true, Text: "later"}},
		"sender refused":        {"MAIL", "550 5.7.1 not you\x1b", mailbox.SendError{Phase: mailbox.PhaseMail, Code: 550, Text: `not you\x1b`}},
		"recipient refused":     {"RCPT", "550 unknown", mailbox.SendError{Phase: mailbox.PhaseRcpt, Code: 550, Text: "unknown"}},
		"recipient greylisted":  {"RCPT", "450 later", mailbox.SendError{Phase: mailbox.PhaseRcpt, Code: 450, Temporary: true, Text: "later"}},
		"no data":               {"DATA", "451 later", mailbox.SendError{Phase: mailbox.PhaseData, Code: 451, Temporary: true, Text: "later"}},
		"content refused":       {"CONTENT", "554 spam", mailbox.SendError{Phase: mailbox.PhaseData, Code: 554, Text: "spam"}},
		"content later":         {"CONTENT", "452 full", mailbox.SendError{Phase: mailbox.PhaseData, Code: 452, Temporary: true, Text: "full"}},
		"lost after content":    {"CONTENT", "close", mailbox.SendError{Phase: mailbox.PhaseData, Temporary: true, Text: "EOF"}},
		"lost before":           {"RCPT", "close", mailbox.SendError{Phase: mailbox.PhaseRcpt, Temporary: true, Text: "EOF"}},
		"silent after content":  {"CONTENT", "", mailbox.SendError{Phase: mailbox.PhaseData, Temporary: true, Text: "timeout"}},
		"strange after content": {"CONTENT", "354 what", mailbox.SendError{Phase: mailbox.PhaseData, Code: 354, Temporary: true, Text: "what"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeSMTP()
				f.reply[c.step] = c.reply
				s := f.sender()
				if c.step == "GREETING" && c.reply == "" {
					s.Timeout = time.Minute
				}
				err := s.Send(t.Context(), baselineLetter())
				f.serving.Wait()
				var got *mailbox.SendError
				if !errors.As(err, &got) {
					t.Fatalf("error %v", err)
				}
				if got.Phase != c.want.Phase || got.Code != c.want.Code || got.Temporary != c.want.Temporary || !strings.Contains(got.Text, c.want.Text) {
					t.Errorf("error %+v, want %+v", got, c.want)
				}
				if strings.Contains(got.Error(), password) || !strings.Contains(got.Error(), "127.0.0.1:587") {
					t.Errorf("error %q", got)
				}
				replied := got.Code != 0 && got.Phase != mailbox.PhaseConnect && got.Phase != mailbox.PhaseLogin
				if told := got.Told(); told == "" || strings.Contains(told, "127.0.0.1") || strings.Contains(told, c.want.Text) != replied {
					t.Errorf("others are told %q of %q", told, got)
				}
			})
		})
	}
}

func TestOddButGood(t *testing.T) {
	for name, c := range map[string]struct{ step, reply string }{
		"another positive reply": {"CONTENT", "200 fine"},
		"QUIT ignored":           {"QUIT", "close"},
		"QUIT refused":           {"QUIT", "500 no"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeSMTP()
			f.reply[c.step] = c.reply
			s := f.sender()
			if err := s.Send(t.Context(), baselineLetter()); err != nil {
				t.Error(err)
			}
			s.Close()
		})
	}
}

// TestKept sends two letters on one connection, and one after a while on
// another.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeSMTP()
		s := f.sender()
		for range 2 {
			if err := s.Send(t.Context(), baselineLetter()); err != nil {
				t.Fatal(err)
			}
		}
		if f.dials != 1 {
			t.Errorf("%d connections for two letters", f.dials)
		}
		f.serving.Wait() // until the connection was kept for long enough
		if last := f.lines[len(f.lines)-1]; last != "QUIT" {
			t.Errorf("it ended with %q", last)
		}
		if err := s.Send(t.Context(), baselineLetter()); err != nil || f.dials != 2 {
			t.Errorf("the third letter: %v, %d connections", err, f.dials)
		}
		s.Close()
		f.serving.Wait()
	})
}

// TestKeptIsGone has the server answer the second letter on a connection in
// another way: where it has ended the connection, a new one is opened.
func TestKeptIsGone(t *testing.T) {
	for reply, dials := range map[string]int{"close": 2, "421 too long": 2, "451 later": 1, "550 not you": 1} {
		t.Run(reply, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeSMTP()
				s := f.sender()
				if err := s.Send(t.Context(), baselineLetter()); err != nil {
					t.Fatal(err)
				}
				f.once = map[string]string{"MAIL": reply}
				if err := s.Send(t.Context(), baselineLetter()); (err == nil) != (dials == 2) || f.dials != dials {
					t.Errorf("the second letter: %v, %d connections", err, f.dials)
				}
				s.Close()
				f.serving.Wait()
			})
		})
	}
}

func TestAuthLogin(t *testing.T) {
	f := newFakeSMTP()
	f.reply["EHLO"] = "250-fake\r\n250 AUTH LOGIN"
	f.reply["AUTH"] = "334 UGFzc3dvcmQ6"
	f.reply["Y29ycmVjdCBob3JzZQ=="] = "235 in"
	s := f.sender()
	if err := s.Send(t.Context(), baselineLetter()); err != nil {
		t.Error(err)
	}
	s.Close()
}

func TestSendCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeSMTP()
		f.reply["RCPT"] = ""
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := f.sender().Send(ctx, baselineLetter())
		var got *mailbox.SendError
		if !errors.As(err, &got) || !got.Temporary || got.Phase != mailbox.PhaseRcpt {
			t.Errorf("error %v", err)
		}
		f.serving.Wait()
	})
}

// Without TLS no password leaves (X5).
func TestSenderWithoutTLS(t *testing.T) {
	for name, c := range map[string]struct {
		mode mailbox.TLSMode
		host string
		ehlo string
		want string
	}{
		"clear to another host": {mailbox.NoTLS, "192.0.2.1", "", "loopback"},
		"STARTTLS not offered":  {mailbox.StartTLS, "127.0.0.1", "250 fake", "STARTTLS"},
		"STARTTLS refused":      {mailbox.StartTLS, "127.0.0.1", "250-fake\r\n250 STARTTLS", "454"},
		"no TLS spoken":         {mailbox.ImplicitTLS, "127.0.0.1", "", "TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeSMTP()
				f.reply["EHLO"], f.reply["STARTTLS"] = c.ehlo, "454 not now"
				s := f.sender()
				s.Account.TLS, s.Account.Host = c.mode, c.host
				err := s.Probe(t.Context())
				f.serving.Wait()
				var got *mailbox.SendError
				if !errors.As(err, &got) || !got.Temporary || got.Phase != mailbox.PhaseConnect || !strings.Contains(got.Text, c.want) {
					t.Errorf("error %+v", err)
				}
				for _, line := range f.lines {
					if strings.HasPrefix(line, "AUTH") {
						t.Errorf("said %q", line)
					}
				}
			})
		})
	}
}

func TestSenderProbe(t *testing.T) {
	server := startServer(t, mailtest.Options{StartTLS: true})
	good := &mailbox.Sender{Account: account(server.SMTP(), alice)}
	if err := good.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	otherCA := &mailbox.Sender{Account: good.Account}
	otherCA.Account.RootCAs = nil
	if err := otherCA.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown CA: %v", err)
	}
	locked := &mailbox.Sender{Account: good.Account}
	locked.Account.Password = mailbox.SecretEnv("MAILBOX_TEST_UNSET")
	var got *mailbox.SendError
	if err := locked.Probe(t.Context()); !errors.As(err, &got) || !got.Temporary || got.Phase != mailbox.PhaseLogin {
		t.Errorf("no password: %v", err)
	}
}
