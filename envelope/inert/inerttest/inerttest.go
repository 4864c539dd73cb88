// Package inerttest looks for what text that was made inert must not hold.
package inerttest

import "strings"

// Bidirectional controls (Unicode UAX #9).
const (
	lri, rli, fsi, pdi      = "\u2066", "\u2067", "\u2068", "\u2069"
	lre, rle, pdf, lro, rlo = "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"
)

// Unbalanced tells how bidirectional controls in s reach beyond it; it
// is empty where none does.
func Unbalanced(s string) string {
	var open []rune
	for _, c := range s {
		switch {
		case strings.ContainsRune(lri+rli+fsi, c):
			open = append(open, []rune(pdi)[0])
		case strings.ContainsRune(lre+rle+lro+rlo, c):
			open = append(open, []rune(pdf)[0])
		case strings.ContainsRune(pdi+pdf, c):
			if len(open) == 0 || open[len(open)-1] != c {
				return "closes what it did not open"
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return "leaves open what it opened"
	}
	return ""
}

// WithoutControls is s without bidirectional controls, its line separators
// spaces: what must be left of a text that was made inert.
func WithoutControls(s string) string {
	return strings.NewReplacer(lri, "", rli, "", fsi, "", pdi, "", lre, "", rle, "", pdf, "", lro, "", rlo, "", "\u2028", " ", "\u2029", " ").Replace(s)
}
