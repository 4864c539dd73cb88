package mailbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	// keepFor is how long a connection waits for another letter. Longer, and
	// many inboxes at one server would come upon its limit of connections.
	keepFor  = 5 * time.Second
	quitTime = time.Second // for a polite end: the daemon may be stopping
)

// smtpConn is a connection that is logged in.
type smtpConn struct {
	*smtp.Client
	conn   *cappedConn
	expiry *time.Timer // while it is kept
}

// until runs fn, and closes the connection where ctx ends before.
func (c *smtpConn) until(ctx context.Context, fn func() error) error {
	defer context.AfterFunc(ctx, func() { c.conn.Close() })()
	return fn()
}

// quit ends the connection politely; what comes of it does not matter.
func (c *smtpConn) quit() {
	c.CommandTimeout = quitTime
	_ = c.Quit()
	c.conn.Close()
}

// keptConn is at most one connection between two letters: queued letters go
// out without connecting, TLS and login for each, which is most of the time
// that a letter takes.
type keptConn struct {
	mu sync.Mutex
	c  *smtpConn
}

// put keeps a connection for a while, in the place of another.
func (k *keptConn) put(c *smtpConn) {
	c.conn.left = maxSMTPReplies
	k.mu.Lock()
	old := k.c
	k.c = c
	c.expiry = time.AfterFunc(keepFor, func() { k.drop(c) })
	k.mu.Unlock()
	if old != nil {
		old.expiry.Stop()
		old.quit()
	}
}

// drop ends a connection that nobody has taken in time.
func (k *keptConn) drop(c *smtpConn) {
	k.mu.Lock()
	mine := k.c == c
	if mine {
		k.c = nil
	}
	k.mu.Unlock()
	if mine {
		c.quit()
	}
}

// take gives the connection that is kept, or nil.
func (k *keptConn) take() *smtpConn {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.c
	k.c = nil
	if c != nil {
		c.expiry.Stop()
	}
	return c
}

// wasGone tells that a kept connection had ended before the letter: the server
// had closed it, or says so now (421, RFC 5321 §3.8). Nothing was handed over.
func wasGone(err error) bool {
	var e *SendError
	return errors.As(err, &e) && e.Phase == PhaseMail && (e.Code == 0 || e.Code == 421)
}

// cappedConn ends reading after some bytes: the library collects a reply of
// any number of lines.
type cappedConn struct {
	net.Conn
	left int
}

// Read reads what is left.
func (c *cappedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("%w: over %d bytes", errBeyondBudget, maxSMTPReplies)
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
