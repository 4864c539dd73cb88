package mailbox_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/mailbox"
)

// fakeIMAP is an IMAP server over pipes that behaves until told otherwise: the
// baseline has two new mails, UID 2 and 3, for a ledger that has seen UID 1.
type fakeIMAP struct {
	greeting    string
	caps        string
	uidValidity uint32
	uidNext     uint32
	mails       []fakeMail
	// act replaces the answer to one step: GREETING, CAPABILITY, AUTHENTICATE,
	// LOGIN, EXAMINE, LIST, BODY, SEARCH, IDLE, DONE, APPEND or LOGOUT.
	act map[string]func(c *fakeConn, tag, args string)

	mu       sync.Mutex
	dials    int
	commands []string
	taken    int // bytes the client took off the wire
	serving  sync.WaitGroup
}

type fakeMail struct {
	uid     uint32
	text    string
	arrival time.Time
}

var seen = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func newFake() *fakeIMAP {
	return &fakeIMAP{
		greeting:    "* OK ready",
		caps:        "IMAP4rev1 AUTH=PLAIN SASL-IR IDLE",
		uidValidity: 7,
		uidNext:     4,
		mails:       []fakeMail{{2, "first\r\n", seen}, {3, "second\r\n", seen}},
		act:         make(map[string]func(*fakeConn, string, string)),
	}
}

// fakeConn is one connection of it.
type fakeConn struct {
	net.Conn
	*fakeIMAP
	r *bufio.Reader
	n int // of connections, from 1
}

func (f *fakeIMAP) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dials++
	c := &fakeConn{server, f, bufio.NewReader(server), f.dials}
	f.serving.Go(c.serve)
	return client, nil
}

// say writes and counts what was taken; false once the client is gone.
func (c *fakeConn) say(format string, args ...any) bool {
	n, err := fmt.Fprintf(c.Conn, format, args...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken += n
	return err == nil
}

// hang waits until the client has enough.
func (c *fakeConn) hang() { _, _ = io.Copy(io.Discard, c.r) }

func (c *fakeConn) serve() {
	defer c.Close()
	if c.greet(); c.act["GREETING"] != nil {
		return
	}
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, args := cutCommand(strings.TrimRight(line, "\r\n"))
		c.mu.Lock()
		c.commands = append(c.commands, strings.TrimSpace(command+" "+args))
		c.mu.Unlock()
		if act := c.act[command]; act != nil {
			act(c, tag, args)
			continue
		}
		c.answer(tag, command, args)
	}
}

func (c *fakeConn) greet() {
	if act := c.act["GREETING"]; act != nil {
		act(c, "", "")
		return
	}
	c.say("%s\r\n", c.greeting)
}

// cutCommand tells the two kinds of UID FETCH apart.
func cutCommand(line string) (tag, command, args string) {
	tag, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimPrefix(rest, "UID ")
	command, args, _ = strings.Cut(rest, " ")
	switch {
	case tag == "DONE":
		return "", tag, ""
	case command == "FETCH" && strings.Contains(args, "BODY.PEEK[]"):
		command = "BODY"
	case command == "FETCH":
		command = "LIST"
	}
	return tag, command, args
}

func (c *fakeConn) answer(tag, command, args string) {
	switch command {
	case "CAPABILITY":
		c.say("* CAPABILITY %s\r\n", c.caps)
	case "EXAMINE":
		c.say("* %d EXISTS\r\n* OK [UIDVALIDITY %d] x\r\n* OK [UIDNEXT %d] x\r\n", len(c.mails), c.uidValidity, c.uidNext)
	case "LIST":
		c.list(args)
	case "BODY":
		c.bodies(args)
	case "SEARCH":
		c.say("* SEARCH")
		for _, m := range c.mails {
			c.say(" %d", m.uid)
		}
		c.say("\r\n")
	case "IDLE":
		c.say("+ idling\r\n")
		c.mu.Lock()
		c.act["DONE"] = func(c *fakeConn, _, _ string) { c.say("%s OK\r\n", tag) }
		c.mu.Unlock()
		return
	case "DONE":
		return
	}
	c.say("%s OK done\r\n", tag)
}

// list answers n:* with the last mail when none is above n, as servers do.
func (c *fakeConn) list(args string) {
	var from uint32
	_, _ = fmt.Sscanf(args, "%d", &from)
	last := len(c.mails) - 1
	for i, m := range c.mails {
		if m.uid >= from && strings.Contains(args, ":*") || m.uid == from || i == last && strings.Contains(args, ":*") {
			c.say("* %d FETCH (UID %d RFC822.SIZE %d INTERNALDATE \"%s\")\r\n",
				i+1, m.uid, len(m.text), m.arrival.Format("_2-Jan-2006 15:04:05 -0700"))
		}
	}
}

func (c *fakeConn) bodies(args string) {
	var uid uint32
	_, _ = fmt.Sscanf(args, "%d", &uid)
	for i, m := range c.mails {
		if m.uid == uid {
			c.say("* %d FETCH (UID %d BODY[] {%d}\r\n%s)\r\n", i+1, uid, len(m.text), m.text)
		}
	}
}

func (f *fakeIMAP) watcher() *mailbox.Watcher {
	e := mailbox.Endpoint{Host: "127.0.0.1", Port: 143, TLS: mailbox.NoTLS}
	return &mailbox.Watcher{
		Account: account(e, bob),
		Dial:    f.dial,
		Clock:   func() time.Time { return seen.Add(time.Hour) },
		Rand:    func() float64 { return 0.5 },
	}
}

// run lets a watcher work on it for some minutes of a clock that costs no
// time. When it returns, no goroutine is left: the bubble would not end.
func (f *fakeIMAP) run(t *testing.T, w *mailbox.Watcher, l *ledger, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := w.Run(ctx, l.load, l.deliver); err != context.DeadlineExceeded {
		t.Errorf("Run returned %v", err)
	}
	f.serving.Wait()
	if l.broken != nil {
		t.Error(l.broken)
	}
}

func (f *fakeIMAP) said(command string) (n int) {
	for _, c := range f.commands {
		if strings.HasPrefix(c, command) {
			n++
		}
	}
	return n
}

// seenLedger has seen UID 1 of the baseline.
func seenLedger() *ledger {
	l := newLedger()
	l.position = mailbox.Position{UIDValidity: 7, UID: 1, Seen: seen}
	return l
}
