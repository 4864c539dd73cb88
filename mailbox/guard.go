package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
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

// lineScanner follows lines and literals through a byte stream, whatever the
// pieces it comes in.
type lineScanner struct {
	line    int64 // bytes of the line so far; counted anew after a literal
	parens  int   // opening ones of the answer so far, outside literals
	caps    capsFinder
	literal int64  // bytes of a literal still to come
	inside  bool   // the answer goes on after a literal
	tail    []byte // end of the line so far, enough for a literal's announcement
}

const (
	maxTail   = 32  // "{18446744073709551615}" and the line end
	maxParens = 256 // what is asked for here nests three deep
)

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
	// I10: the library goes down into a BODYSTRUCTURE without limit, asked for
	// or not, and comes back up in quadratic time.
	if s.parens += bytes.Count(p[:end], []byte("(")); s.parens > maxParens {
		return nil, fmt.Errorf("%w: over %d lists in an answer", errBeyondBudget, maxParens)
	}
	if s.caps.listIn(p[:end]) {
		return nil, errCapsList
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
	parens := 0
	if announced {
		parens = s.parens
	}
	*s = lineScanner{literal: size, inside: announced, parens: parens, tail: s.tail[:0]}
	return p[end:], nil
}

// errCapsList refuses what makes the library spin for ever, on a closed
// connection too: a parenthesis among the capabilities.
var errCapsList = fmt.Errorf("%w: a list among its capabilities", errBeyondBudget)

// capsFinder follows one line, whatever the pieces it comes in, to a
// parenthesis in CAPABILITY data, RFC 9051 §7.2.2, which ends with the line or
// at the bracket of its response code.
type capsFinder struct {
	matched int  // letters of the word so far
	inside  bool // the word was there, the bracket was not
}

func (f *capsFinder) listIn(p []byte) bool {
	const word = "CAPABILITY"
	for _, b := range p {
		switch {
		case f.inside && b == '(':
			return true
		case f.inside:
			f.inside = b != ']'
		case b&^0x20 == word[f.matched]: // in either case
			f.matched++
		default:
			f.matched = 0
		}
		if f.matched == len(word) {
			f.matched, f.inside = 0, true
		}
	}
	return false
}

// literalSize reads the announcement of a literal, {n}, at the end of a line.
// The library accepts a space and a missing CR before the LF, and any number
// of digits: those that the tail does not hold are beyond every budget (I4).
func literalSize(tail []byte) (size int64, announced bool) {
	line, closed := bytes.CutSuffix(bytes.TrimRight(tail, "\r\n "), []byte("}"))
	digits := line[len(bytes.TrimRight(line, "0123456789")):]
	cut := len(digits) == len(line) && len(tail) == maxTail
	if !closed || len(digits) == 0 || !cut && !bytes.HasSuffix(line[:len(line)-len(digits)], []byte("{")) {
		return 0, false
	}
	size, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || cut {
		size = math.MaxInt64
	}
	return size, true
}
