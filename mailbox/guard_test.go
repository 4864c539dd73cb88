package mailbox

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

var tiny = budget{line: 40, literal: 20, total: 200}

// guarded reads what a guard lets through of an input, in pieces.
func guarded(input []byte, pieces func(io.Reader) io.Reader) ([]byte, error) {
	g := newGuard(nil, "")
	g.allow(tiny)
	g.r = pieces(bytes.NewReader(input))
	return io.ReadAll(g)
}

func whole(r io.Reader) io.Reader { return r }

func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		bad   bool
	}{
		"lines":                   {"* OK hi\r\n* OK hi\n", false},
		"line at the limit":       {strings.Repeat("x", 39) + "\n", false},
		"line over it":            {strings.Repeat("x", 40) + "\n", true},
		"line without end":        {strings.Repeat("x", 41), true},
		"literal":                 {"* {20}\r\n" + strings.Repeat("\n", 20) + ")\r\n", false},
		"literal over the limit":  {"* {21}\r\n", true},
		"literal of any size":     {"* {99999999999999999999}\r\n", true},
		"literal with zeros":      {"* {00000000000000000000000000000000005}\r\n", true},
		"literal, library's way":  {"* {21} \n", true},
		"no literal: plus":        {"* {21+}\r\n", false},
		"no literal: minus":       {"* {-21}\r\n", false},
		"no literal: nothing":     {"* {}\r\n", false},
		"no literal: no brace":    {"* 21}\r\n", false},
		"no literal: in the line": {"* {21} x\r\n", false},
		"longer after a literal":  {"* {2}\r\nab" + strings.Repeat("x", 39) + "\n", false},
		"lists":                   {strings.Repeat("* (((\r\n", 20), false},
		"list among capabilities": {"* CAPABILITY x (\r\n", true},
		"list in the code":        {"* OK [capability(x", true},
		"list in a tagged code":   {"T1 OK [CAPABILITY x (", true},
		"list behind a number":    {"* 1 CAPABILITY (", true},
		"word in a tagged text":   {"T1 OK Capability (1 secs)\r\n", false},
		"list after it":           {"* OK [CAPABILITY x] (Debian)\r\n* (\r\n", false},
		"no capabilities":         {"* CAPABILIT (\r\n* (\r\n", false},
		"in all":                  {strings.Repeat("* OK hello\r\n", 17), true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := guarded([]byte(c.input), whole)
			if c.bad != errors.Is(err, errBeyondBudget) || !c.bad && (err != nil || string(got) != c.input) {
				t.Errorf("let %q through, error %v", got, err)
			}
		})
	}
}

// A literal that breaks off is filled up, so that the library never reads on
// behind it; the error comes then.
func TestGuardFillsLiteral(t *testing.T) {
	broken := errors.New("line cut")
	for name, c := range map[string]struct {
		after io.Reader
		want  error
	}{
		"connection lost": {iotest.ErrReader(broken), broken},
		"closed":          {strings.NewReader(""), nil},
		"beyond budget":   {strings.NewReader("cd" + strings.Repeat("x", 100)), errBeyondBudget},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(nil, "")
			g.allow(tiny)
			g.r = io.MultiReader(strings.NewReader("* {4}\r\nab"), c.after)
			got, err := io.ReadAll(g)
			if string(got) != "* {4}\r\nab\x00\x00" || !errors.Is(err, c.want) {
				t.Errorf("let %q through, error %v", got, err)
			}
		})
	}
}

func TestGuardTellsTagged(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		want  int
	}{
		"tagged":     {"* OK\r\nT1 OK\r\n", 1},
		"untagged":   {"* OK T1\r\n+ T1\r\n", 0},
		"in literal": {"* {5}\r\nT1 OKx\r\n", 0},
		"after it":   {"* {5}\r\nT1 OK)\r\nT1 OK\r\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(nil, c.input)
			g.r = io.LimitReader(iotest.OneByteReader(g.r), int64(len(c.input)))
			if _, err := io.ReadAll(g); err != nil || len(g.tagged) != c.want {
				t.Errorf("%d tokens, error %v", len(g.tagged), err)
			}
		})
	}
}

// FuzzGuard: whatever the pieces a stream comes in, the guard ends it with the
// same verdict, and lets through no more than the budget, all of it the
// server's but for the filling of a literal.
func FuzzGuard(f *testing.F) {
	seeds := addSeeds(f, "guard")
	if seeds < 5 {
		f.Fatalf("%d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		got, err := guarded(input, whole)
		one, oneErr := guarded(input, iotest.OneByteReader)
		if errors.Is(err, errBeyondBudget) != errors.Is(oneErr, errBeyondBudget) {
			t.Errorf("error %v in one piece, %v in many", err, oneErr)
		}
		for _, out := range [][]byte{got, one} {
			if int64(len(out)) > tiny.total+tiny.literal {
				t.Errorf("%d bytes through", len(out))
			}
			if !bytes.HasPrefix(input, bytes.TrimRight(out, "\x00")) {
				t.Errorf("%q of %q through", out, input)
			}
		}
	})
}

// FuzzVisible: a server's words come out printable, bounded, and unchanged if
// they were harmless.
func FuzzVisible(f *testing.F) {
	if seeds := addSeeds(f, "visible"); seeds < 3 {
		f.Fatalf("%d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		s := string(input)
		out := visible(s)
		if len(out) > maxWords || !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("visible gives %q", out)
		}
		harmless := utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
		if harmless && len(s) <= maxWords && out != s {
			t.Errorf("visible changes %q to %q", s, out)
		}
	})
}

// addSeeds adds every file of a directory in testdata and counts them.
func addSeeds(f *testing.F, name string) int {
	paths, err := filepath.Glob(filepath.Join("testdata", name, "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	return len(paths)
}
