package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// budget bounds one IMAP exchange: the longest line and literal, all bytes
// together, and the time from the command to its answer.
type budget struct {
	line, literal, total int64
	wait                 time.Duration
}

const maxIMAPLine = 64 << 10

var (
	budgetSmall  = budget{maxIMAPLine, maxIMAPLine, 1 << 20, time.Minute}
	budgetSearch = budget{256 << 10, maxIMAPLine, 1 << 20, 2 * time.Minute}        // one line of some 30 000 UIDs
	budgetList   = budget{maxIMAPLine, maxIMAPLine, 8 << 20, 2 * time.Minute}      // some 90 000 mails
	budgetBody   = budget{maxIMAPLine, MaxMail, MaxMail + 1<<20, 10 * time.Minute} // one mail
)

// errBeyondBudget wraps what a guard refuses.
var errBeyondBudget = errors.New("the server sent too much")

// guard is a connection whose reads end in an error once the server goes
// beyond the budget of the running exchange. go-imap reads lines, quoted
// strings and literals of any length into memory (I1–I3, I6, I9, I10); under
// a guard it holds a small multiple of the budget's total at most.
//
// It also tells of every tagged answer, because the library does not notice
// that a server ended an IDLE.
type guard struct {
	net.Conn
	r      io.Reader
	tagged chan struct{} // holds one token once a tagged line began

	mu      sync.Mutex // of all below: allow is called while the library reads
	budget  budget
	total   int64
	ended   error // what ended reading
	err     error // the same, if it was the guard
	scanner lineScanner
}

// newGuard watches over a connection. The preface is read before it.
func newGuard(conn net.Conn, preface string) *guard {
	return &guard{
		Conn:   conn,
		r:      io.MultiReader(bytes.NewReader([]byte(preface)), conn),
		tagged: make(chan struct{}, 1),
		budget: budgetSmall,
	}
}

// allow begins an exchange.
func (g *guard) allow(b budget) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.budget, g.total = b, 0
}

// failure is the error that ended reading, if it was the guard's.
func (g *guard) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Read reads as the connection does, or fails with errBeyondBudget for good. A
// literal that breaks off is filled up with zeros before the error is told:
// the library would go on reading its buffer from two goroutines at once. It
// comes to no harm, since the command fails.
func (g *guard) Read(p []byte) (int, error) {
	if n, err := g.fill(p); n > 0 || err != nil {
		return n, err
	}
	n, err := g.r.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	open := g.scanner.literal
	if g.err = g.scan(p[:n]); g.err != nil {
		// The library has seen nothing of p.
		g.scanner.literal, n, err = open, 0, g.err
	}
	g.ended = err
	if n > 0 || g.scanner.literal > 0 {
		return n, nil
	}
	return n, err
}

// fill gives zeros, or the error, once reading has ended.
func (g *guard) fill(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended == nil || g.scanner.literal == 0 {
		return 0, g.ended
	}
	n := min(g.scanner.literal, int64(len(p)))
	clear(p[:n])
	g.scanner.literal -= n
	return int(n), nil
}

// SetDeadline and its like do nothing: the waits are those of the budget. The
// library's own would cut a large mail off on a slow line.
func (g *guard) SetDeadline(time.Time) error      { return nil }
func (g *guard) SetReadDeadline(time.Time) error  { return nil }
func (g *guard) SetWriteDeadline(time.Time) error { return nil }

func (g *guard) scan(p []byte) error {
	if g.total += int64(len(p)); g.total > g.budget.total {
		return fmt.Errorf("%w: over %d bytes", errBeyondBudget, g.budget.total)
	}
	for len(p) > 0 {
		if g.scanner.fresh() && p[0] != '*' && p[0] != '+' {
			select {
			case g.tagged <- struct{}{}:
			default:
			}
		}
		rest, err := g.scanner.next(p, g.budget)
		if err != nil {
			return err
		}
		p = rest
	}
	return nil
}
