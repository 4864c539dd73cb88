package intent

import "strings"

// Bidirectional controls (Unicode UAX #9): three that open an isolate, one
// that closes it, four that open an embedding or override, one that closes it.
const (
	isolateOpen  = "\u2066\u2067\u2068"
	isolateClose = '\u2069'
	embedOpen    = "\u202a\u202b\u202d\u202e"
	embedClose   = '\u202c'
)

// isolate keeps bidirectional controls in s from turning round the text
// beside it (D37): what s opens is closed, what it closes without opening is
// left out, and the whole stands in an isolate. Line separators, which end a
// paragraph for some readers, become spaces.
func isolate(s string) string {
	if !strings.ContainsAny(s, isolateOpen+embedOpen+"\u2069\u202c\u2028\u2029") {
		return s
	}
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
		case c == '\u2028' || c == '\u2029':
			c = ' '
		}
		b.WriteRune(c)
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteRune(open[i])
	}
	b.WriteRune(isolateClose)
	return b.String()
}
