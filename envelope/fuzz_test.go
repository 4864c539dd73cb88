package envelope

import (
	"bytes"
	"strings"
	"testing"
)

// Whatever is read is within the limits, each part lies inside the part round
// it and behind the one before, and reading the mended bytes again finds the
// same parts.
func FuzzRead(f *testing.F) {
	seeds := []string{
		baseline, strings.ReplaceAll(baseline, "\r\n", "\n"), string(compose(f, draft())), nested(3), nested(MaxDepth + 1), manyParts(3),
		longHeader(100), longPartHeader(100), "\r\n", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b--\r\n",
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	readable := 0
	for _, seed := range seeds {
		if _, err := Read([]byte(seed)); err == nil {
			readable++
		}
	}
	if readable != len(seeds)-2 { // else the target would test refusals only
		f.Fatalf("%d of %d seeds are readable", readable, len(seeds))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(data)
		if err != nil {
			if m != nil {
				t.Errorf("a mail and %v", err)
			}
			return
		}
		if n := count(t, m.Root, 0); n > MaxParts {
			t.Errorf("%d parts", n)
		}
		again, err := Read(m.Raw)
		if err != nil || tree(again.Root) != tree(m.Root) || !bytes.Equal(again.Raw, m.Raw) {
			t.Errorf("read again: %v", err)
		}
		if got, err := m.Header.From(); err == nil && !strings.Contains(got, "@") {
			t.Errorf("From %q", got)
		}
	})
}

// count is the number of parts below p.
func count(t *testing.T, p *Part, depth int) int {
	if depth > MaxDepth {
		t.Fatalf("%d levels", depth)
	}
	n, rest := 0, p.body
	for _, child := range p.Parts {
		_, behind, ok := bytes.Cut(rest, child.body)
		if !ok {
			t.Errorf("%q does not lie in %q", child.body, rest)
		}
		rest = behind
		n += 1 + count(t, child, depth+1)
	}
	return n
}
