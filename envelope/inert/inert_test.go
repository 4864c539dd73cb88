package inert

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/inert/inerttest"
	"pgregory.net/rapid"
)

const (
	lri, rli, fsi, pdi      = "\u2066", "\u2067", "\u2068", "\u2069"
	lre, rle, pdf, lro, rlo = "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"
)

func TestLine(t *testing.T) {
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
		"line ends":            {"a\u2028b\u2029c\u0085d\r\ne\nf\rg", "a b c d e f g"},
		"controls":             {"a\x00\x1b[2J\x7f\u009bb\tc", "a[2Jb\tc"},
		"within one another":   {lro + "\x1b" + pdf + pdf, fsi + lro + pdf + pdi},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Line(tc.in); got != tc.want {
				t.Errorf("%+q; want %+q", got, tc.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	got := Lines("a\r\nb\rc\nd\u0085e\u2028" + rlo + "f\u2029\n")
	if want := []string{"a", "b", "c", "d", "e", fsi + rlo + "f" + pdf + pdi, "", ""}; !slices.Equal(got, want) {
		t.Errorf("%+q; want %+q", got, want)
	}
}

// D37: no control reaches the text beside it, and no letter is lost.
func TestLineBalances(t *testing.T) {
	piece := rapid.SampledFrom([]string{lri, rli, fsi, pdi, lre, rle, pdf, lro, rlo, "\u2028", "\u2029", "\u200f", "a", "\u05d0", "1"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		got := Line(s)
		if fault := inerttest.Unbalanced(got); fault != "" {
			t.Errorf("%+q became %+q, which %s", s, got, fault)
		}
		if inerttest.WithoutControls(got) != inerttest.WithoutControls(s) {
			t.Errorf("%+q became %+q", s, got)
		}
	})
}
