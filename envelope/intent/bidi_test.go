package intent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	lri, rli, fsi, pdi      = "\u2066", "\u2067", "\u2068", "\u2069"
	lre, rle, pdf, lro, rlo = "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"
)

func TestIsolate(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":              {"", ""},
		"plain":                {"100 EUR", "100 EUR"},
		"right to left":        {"\u05d0\u05d1", "\u05d0\u05d1"},
		"an open override":     {rlo + "abc", fsi + rlo + "abc" + pdf + pdi},
		"an open isolate":      {rli + "abc", fsi + rli + "abc" + pdi + pdi},
		"closed already":       {lre + "a" + pdf, fsi + lre + "a" + pdf + pdi},
		"one in the other":     {rli + lro + "a", fsi + rli + lro + "a" + pdf + pdi + pdi},
		"closed twice":         {"a" + pdi + pdi + pdf + "b", fsi + "ab" + pdi},
		"closed the wrong way": {rli + "a" + pdf + "b", fsi + rli + "ab" + pdi + pdi},
		"line separators":      {"a\u2028b\u2029c", fsi + "a b c" + pdi},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isolate(tc.in); got != tc.want {
				t.Errorf("%+q; want %+q", got, tc.want)
			}
		})
	}
}

// unbalanced tells how bidirectional controls in s reach beyond it.
func unbalanced(s string) string {
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

func withoutControls(s string) string {
	return strings.NewReplacer(lri, "", rli, "", fsi, "", pdi, "", lre, "", rle, "", pdf, "", lro, "", rlo, "", "\u2028", " ", "\u2029", " ").Replace(s)
}

// D37: no control reaches the text beside it, and no letter is lost.
func TestIsolateBalances(t *testing.T) {
	piece := rapid.SampledFrom([]string{lri, rli, fsi, pdi, lre, rle, pdf, lro, rlo, "\u2028", "\u2029", "\u200f", "a", "\u05d0", "1"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		got := isolate(s)
		if fault := unbalanced(got); fault != "" {
			t.Errorf("%+q became %+q, which %s", s, got, fault)
		}
		if withoutControls(got) != withoutControls(s) {
			t.Errorf("%+q became %+q", s, got)
		}
	})
}
