package inert

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "Ceramic mug, 350 ml\n\twhite", "Ceramic mug, 350 ml\n\twhite"},
		{"other scripts", "שלום, مرحبا, 你好", "שלום, مرحبا, 你好"},
		{"line ends", "a\r\nb\rc\u2028d\u0085e", "a\nb\nc\nd\ne"},
		{"controls", "\x1b[2J\x00\x7f\u009b", `\u{1b}[2J\u{0}\u{7f}\u{9b}`},
		{"direction", "a\u202eb\u2069", `a\u{202e}b\u{2069}`},
		{"zero width", "a\u200bb\ufeffc\u2060", `a\u{200b}b\u{feff}c\u{2060}`},
		{"tags", "a\U000e0041\U000e007f", `a\u{e0041}\u{e007f}`},
		{"bytes in selectors", "a\U000e0100\U000e01ef", `a\u{e0100}\u{e01ef}`},
		{"fillers", "\u3164\u115f\u034f", `\u{3164}\u{115f}\u{34f}`},
		{"an emoji", "\U0001f469\u200d\U0001f52c \u2764\ufe0f", "\U0001f469\u200d\U0001f52c \u2764\ufe0f"},
		{"a word in Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"bits in joiners", "a\u200c\u200d\u200c", "a\u200c" + `\u{200d}\u{200c}`},
		{"a joiner before anything", "\u200da\n\u200d", `\u{200d}a` + "\n" + `\u{200d}`},
		{"bad UTF-8", "a\xffb", "a\ufffdb"},
	} {
		if got := Visible(c.text); got != c.want {
			t.Errorf("%s: %+q, not %+q", c.name, got, c.want)
		}
	}
}

// FuzzVisible has no two characters in a row that nobody sees, and nothing
// more to do the second time.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"a\u202eb", "\u200d\u200d", "\r\n\x1b]8;;x\x07", "\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := Visible(text)
		before := 'a'
		for _, c := range shown {
			if hidden := unicode.In(c, unseen...) && c != '\n' && c != '\t'; hidden && (unicode.In(before, unseen...) || !joins(c)) {
				t.Errorf("%+q: %U can be seen in %+q", text, c, shown)
			}
			before = c
		}
		if Visible(shown) != shown {
			t.Errorf("%+q is not settled", shown)
		}
		if utf8.ValidString(text) && strings.Count(LineEnds(text), "\n") != strings.Count(shown, "\n") {
			t.Errorf("%+q: other lines", text)
		}
	})
}

// FuzzJSON has the escaped text say the same, with nothing unseen in it.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"a\u202eb", "\u0085\u009b\x7f", "\U000e0041", "plain", "\u2028\"\\", "\U0001f469\u200d\U0001f52c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := json.Marshal(strings.ToValidUTF8(text, "?"))
		if err != nil {
			t.Fatal(err)
		}
		escaped := JSON(data)
		for _, c := range string(escaped) {
			if unicode.In(c, unseen...) {
				t.Errorf("%U can be read in %+q", c, escaped)
			}
		}
		var before, after string
		if err := json.Unmarshal(data, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(escaped, &after); err != nil || before != after {
			t.Errorf("%+q became %+q, %v", data, escaped, err)
		}
	})
}
