package mailbox

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

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
// at the bracket of its response code. In a tagged line only the code counts:
// Dovecot says "OK Capability completed (0.001 + 0.000 secs)".
type capsFinder struct {
	first, last byte // of the line so far
	matched     int  // letters of the word so far
	inside      bool // the word was there, the bracket was not
}

func (f *capsFinder) listIn(p []byte) bool {
	const word = "CAPABILITY"
	for _, b := range p {
		if f.first == 0 {
			f.first = b
		}
		possible := f.matched > 0 || f.first == '*' || f.last == '['
		f.last = b
		switch {
		case f.inside && b == '(':
			return true
		case f.inside:
			f.inside = b != ']'
		case possible && b&^0x20 == word[f.matched]: // in either case
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
