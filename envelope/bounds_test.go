package envelope

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// nested is a mail of so many multiparts, one in the other, round one text.
func nested(levels int) string {
	var open, end strings.Builder
	for i := range levels {
		fmt.Fprintf(&open, "Content-Type: multipart/mixed; boundary=level%06d\r\n\r\n--level%06d\r\n", i, i)
	}
	for i := levels - 1; i >= 0; i-- {
		fmt.Fprintf(&end, "\r\n--level%06d--", i)
	}
	return open.String() + "\r\ntext" + end.String()
}

func manyParts(n int) string {
	return "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\n", n) + "--b--"
}

// longHeader is a mail whose header block, without its empty line, is n bytes.
func longHeader(n int) string {
	return "X: " + strings.Repeat("x", n-len("X: \r\n")) + "\r\n\r\n"
}

func longPartHeader(n int) string {
	return "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + longHeader(n) + "\r\n--b--"
}

func longMail(n int) string { return "\r\n" + strings.Repeat("x", n-2) }

func TestLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		mail  func(int) string
		limit int
	}{
		"size":             {longMail, MaxMail},
		"header":           {longHeader, MaxHeader},
		"header of a part": {longPartHeader, MaxPartHeader},
		"parts":            {manyParts, MaxParts},
		"levels":           {nested, MaxDepth},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read([]byte(tc.mail(tc.limit))); err != nil {
				t.Errorf("%d: %v", tc.limit, err)
			}
			if _, err := Read([]byte(tc.mail(tc.limit + 1))); !errors.Is(err, ErrUnsafe) {
				t.Errorf("%d: %v; want ErrUnsafe", tc.limit+1, err)
			}
		})
	}
}

// allocated is the number of bytes that f asks for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What a hostile mail costs does not grow with it (B1 to B4, H4, M17): it is
// refused at the bound, not after the work.
func TestBombs(t *testing.T) {
	for name, mail := range map[string]string{
		"B1, a mail of 33 MiB":          longMail(33 << 20),
		"B2, 3000 levels":               nested(3000),
		"B3, a part header of 2 MB":     longPartHeader(2 << 20),
		"B4, 200 000 parts":             manyParts(200_000),
		"H4, a header of 300 KB":        longHeader(300 << 10),
		"H4, a field of 20 MB":          longHeader(20 << 20),
		"H4, 100 000 fields":            strings.Repeat("a: b\r\n", 100_000) + "\r\n",
		"H4, a header that never ends":  strings.Repeat("a: b\r\n", 100_000),
		"a field of 100 000 lines":      "X: y\r\n" + strings.Repeat(" y\r\n", 100_000) + "\r\n",
		"200 000 lines of a near miss":  "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--a\r\n", 200_000),
		"200 000 boundary parameters":   "Content-Type: multipart/mixed" + strings.Repeat("; boundary=b", 10_000) + "\r\n\r\n",
		"100 000 close delimiters":      manyParts(1) + strings.Repeat("\r\n--b--", 100_000),
		"a multipart of one long line":  "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b" + strings.Repeat("x", 20<<20),
		"a boundary of 100 000 letters": "Content-Type: multipart/mixed; boundary=" + strings.Repeat("b", 100_000) + "\r\n\r\n--b--",
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(mail)
			var err error
			if n := allocated(func() { _, err = Read(raw) }); n > 2<<20 {
				t.Errorf("%d bytes allocated", n)
			}
			if !errors.Is(err, ErrUnsafe) {
				t.Errorf("%v; want ErrUnsafe", err)
			}
		})
	}
}

// A header at its limit is the dearest one: as many fields as fit.
func TestManyFieldsWithinTheLimit(t *testing.T) {
	raw := []byte(strings.Repeat("a:\r\n", MaxHeader/4) + "\r\n")
	var m *Mail
	var err error
	if n := allocated(func() { m, err = Read(raw) }); n > 32<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	if err != nil || len(m.Header) != MaxHeader/4 {
		t.Error(err)
	}
}
