package dkim

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
)

// canonicalization is how header or body bytes are brought into the form that
// is hashed (RFC 6376 §3.4).
type canonicalization int

const (
	simple canonicalization = iota
	relaxed
)

// parseCanonicalization reads c=, which may be absent: header, then body; each
// is simple where not given (RFC 6376 §3.5, c=).
func parseCanonicalization(value string) (header, body canonicalization, err error) {
	first, second, both := strings.Cut(strings.ToLower(value), "/")
	forms := map[string]canonicalization{"simple": simple, "relaxed": relaxed}
	header, known := forms[first]
	if known && both {
		body, known = forms[second]
	}
	if !known {
		return 0, 0, fmt.Errorf("c=%s is no known canonicalization", value)
	}
	return header, body, nil
}

// appendField appends a header field in canonical form, with its CRLF.
func (c canonicalization) appendField(dst []byte, f field) []byte {
	if c == simple {
		return append(dst, f.raw...) // RFC 6376 §3.4.1
	}
	// RFC 6376 §3.4.2. CR and LF stand here only where a line is folded, in
	// front of white space, so they may count as white space.
	dst = append(append(dst, f.name...), ':')
	start, gap := len(dst), false
	for _, b := range f.value {
		if isSpace(b) || b == '\r' || b == '\n' {
			gap = true
			continue
		}
		if gap && len(dst) > start {
			dst = append(dst, ' ')
		}
		dst, gap = append(dst, b), false
	}
	return append(dst, crlf...)
}

// hashBody returns the SHA-256 of the body in canonical form, without making
// that form.
func (c canonicalization) hashBody(body []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	if c == simple {
		// RFC 6376 §3.4.3: one CRLF at the end, even of an empty body.
		for bytes.HasSuffix(body, crlf) {
			body = body[:len(body)-len(crlf)]
		}
		h.Write(body)
		h.Write(crlf)
	} else if body = trimRelaxed(body); len(body) > 0 {
		// RFC 6376 §3.4.4: an empty body stays empty.
		writeRelaxed(h, body)
		h.Write(crlf)
	}
	h.Sum(sum[:0])
	return sum
}

// trimRelaxed removes the lines at the end that are empty or white space, and
// the white space and line end before them. A bare CR or LF is neither: where
// it may vanish, bytes vanish that another reader takes for line ends.
func trimRelaxed(body []byte) []byte {
	for {
		body = bytes.TrimRight(body, " \t")
		if !bytes.HasSuffix(body, crlf) {
			return body
		}
		body = body[:len(body)-len(crlf)]
	}
}

// writeRelaxed writes body with white space within a line reduced to one space
// and none before a line end. What needs no change is written as it stands.
func writeRelaxed(h hash.Hash, body []byte) {
	space := []byte{' '}
	for len(body) > 0 {
		gap := nextGap(body)
		h.Write(body[:gap])
		rest := bytes.TrimLeft(body[gap:], " \t")
		if len(rest) < len(body)-gap && !bytes.HasPrefix(rest, crlf) {
			h.Write(space)
		}
		body = rest
	}
}

// What a byte means to nextGap.
const (
	blank     = 1 << iota // a space
	tabulator             // changed wherever it stands
	follower              // makes a change of the space before it
)

var spacing = [256]byte{' ': blank | follower, '\t': tabulator | follower, '\r': follower}

// nextGap returns where the first white space begins that relaxed form
// changes, or the length of body. Most spaces stand alone: a branch for each
// of them would cost more than hashing the text, so there is one for those
// that are changed only.
func nextGap(body []byte) int {
	var before byte
	for i, b := range body {
		now := spacing[b]
		if now&tabulator|(before&blank)*follower&now != 0 {
			return i - int(before&blank)
		}
		before = now
	}
	return len(body)
}

// isSpace tells white space within a line (WSP) from everything else.
func isSpace(b byte) bool { return b == ' ' || b == '\t' }
