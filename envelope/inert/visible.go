package inert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// unseen are the characters that nobody sees: controls, formats such as those
// that turn the direction, tags, fillers, and what chooses among forms of the
// character before it. With them a text says one thing to a person and another
// to a model.
var unseen = []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point}

// Visible is a text whose line ends are LF and in which every character that
// nobody sees is written as its number, as in \u{202e}, but for tabs and line
// ends, and for a joiner or variation selector that follows a character that
// is seen: scripts and emoji need those, and one alone hides nothing (D170).
func Visible(text string) string {
	var b strings.Builder
	seen := false
	for _, c := range LineEnds(text) {
		switch hidden := unicode.In(c, unseen...); {
		case !hidden || c == '\n' || c == '\t':
			b.WriteRune(c)
			seen = !hidden
		case seen && joins(c):
			b.WriteRune(c)
			seen = false
		default:
			fmt.Fprintf(&b, `\u{%x}`, c)
			seen = false
		}
	}
	return b.String()
}

// joins tells whether a character is a joiner, or chooses the form of the one
// before it. Of the selectors that is the first 16: the other 240 can carry a
// byte each.
func joins(c rune) bool {
	return c == '\u200c' || c == '\u200d' || c >= '\ufe00' && c <= '\ufe0f'
}

// JSON is a JSON text that says the same, with each character that nobody sees
// as its escape: printed, it steers no terminal, and a reader that takes more
// than LF for a line end sees one line (D174). It is given back as it is where it
// has none. Of ASCII only DEL can stand in JSON as it is.
func JSON(text []byte) []byte {
	if !slices.ContainsFunc(text, func(c byte) bool { return c >= 0x7f }) {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		if c >= 0x7f && unicode.In(c, unseen...) {
			for _, unit := range utf16.AppendRune(nil, c) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		} else {
			b.Write(text[:n])
		}
		text = text[n:]
	}
	return b.Bytes()
}
