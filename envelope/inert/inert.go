// Package inert makes text from outside safe to stand in plain text that is
// written here: it cannot end its line, act on a terminal, or turn round the
// text beside it.
package inert

import (
	"strings"
	"unicode"
)

// Bidirectional controls (Unicode UAX #9): three that open an isolate, one
// that closes it, four that open an embedding or override, one that closes it.
const (
	isolateOpen  = "\u2066\u2067\u2068"
	isolateClose = '\u2069'
	embedOpen    = "\u202a\u202b\u202d\u202e"
	embedClose   = '\u202c'
)

// lineEnds are all the characters at which some reader begins a new line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// LineEnds brings all of them into one form, LF.
func LineEnds(text string) string { return lineEnds.Replace(text) }

// Lines are the lines of a text, each for itself as Line has it. It is cut at
// everything that some reader takes for a line end, so that none of them can
// stand outside its place.
func Lines(text string) []string {
	lines := strings.Split(LineEnds(text), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return lines
}

// Line is a text in one line: line ends are spaces, and of other control
// characters only tabs stay. Bidirectional controls do not reach beyond it
// (D37): what it opens is closed, what it closes without opening is left out,
// and the whole stands in an isolate.
func Line(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\n':
			return ' '
		case unicode.IsControl(c) && c != '\t':
			return -1
		}
		return c
	}, LineEnds(s))
	if !strings.ContainsAny(s, isolateOpen+embedOpen+"\u2069\u202c") {
		return s
	}
	return isolate(s)
}

func isolate(s string) string {
	var b strings.Builder
	var open []rune // what closes each that is open
	b.WriteRune('\u2068')
	for _, c := range s {
		switch {
		case strings.ContainsRune(isolateOpen, c):
			open = append(open, isolateClose)
		case strings.ContainsRune(embedOpen, c):
			open = append(open, embedClose)
		case c == isolateClose || c == embedClose:
			if len(open) == 0 || open[len(open)-1] != c {
				continue
			}
			open = open[:len(open)-1]
		}
		b.WriteRune(c)
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteRune(open[i])
	}
	b.WriteRune(isolateClose)
	return b.String()
}
