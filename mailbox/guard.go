package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
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
	budgetAppend = budget{maxIMAPLine, maxIMAPLine, 1 << 20, 10 * time.Minute}     // one mail the other way
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
	err     error
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

// Read reads as the connection does, or fails with errBeyondBudget for good.
func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = g.scan(p[:n])
	}
	if g.err != nil {
		return 0, g.err
	}
	return n, err
}

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

// lineScanner follows lines and literals through a byte stream, whatever the
// pieces it comes in.
type lineScanner struct {
	line    int64  // bytes of the line so far; counted anew after a literal
	literal int64  // bytes of a literal still to come
	inside  bool   // the answer goes on after a literal
	tail    []byte // end of the line so far, enough for a literal's announcement
}

const maxTail = 32 // "{18446744073709551615}" and the line end

// fresh reports whether the next byte begins an answer.
func (s *lineScanner) fresh() bool { return s.line == 0 && s.literal == 0 && !s.inside }

// next takes one stretch of line or literal off the front of p, which is not
// empty.
func (s *lineScanner) next(p []byte, b budget) ([]byte, error) {
	if s.literal > 0 {
		n := min(s.literal, int64(len(p)))
		s.literal -= n
		return p[n:], nil
	}
	end := bytes.IndexByte(p, '\n') + 1
	if end == 0 {
		end = len(p)
	}
	// I3: a line without end.
	if s.line += int64(end); s.line > b.line {
		return nil, fmt.Errorf("%w: a line over %d bytes", errBeyondBudget, b.line)
	}
	s.tail = append(s.tail, p[max(0, end-maxTail):end]...)
	s.tail = s.tail[max(0, len(s.tail)-maxTail):]
	if p[end-1] != '\n' {
		return p[end:], nil
	}
	size, announced := literalSize(s.tail)
	// I1, I2: a literal that is not to be held in memory.
	if size > b.literal {
		return nil, fmt.Errorf("%w: a literal over %d bytes", errBeyondBudget, b.literal)
	}
	*s = lineScanner{literal: size, inside: announced, tail: s.tail[:0]}
	return p[end:], nil
}

// literalSize reads the announcement of a literal, {n}, at the end of a line.
// The library accepts a space and a missing CR before the LF.
func literalSize(line []byte) (size int64, announced bool) {
	line = bytes.TrimRight(line, "\r\n ")
	open := bytes.LastIndexByte(line, '{')
	if open < 0 || line[len(line)-1] != '}' {
		return 0, false
	}
	digits := line[open+1 : len(line)-1]
	if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) != 0 {
		return 0, false
	}
	size, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		size = int64(^uint64(0) >> 1) // I4: beyond every budget
	}
	return size, true
}
