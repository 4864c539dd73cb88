package dkim

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// maxHeader bounds the header block, in bytes.
const maxHeader = 256 << 10

// What a usual mail has, so that reading it allocates once.
const (
	usualFields = 24
	usualHeader = 2 << 10 // bytes signed
)

var crlf = []byte("\r\n")

// field is one header field. Its bytes are the sender's own.
type field struct {
	name  string // lower case
	raw   []byte // from the name to the final CRLF, as it stands in the mail
	value []byte // what follows the colon, without the final CRLF
	above int    // position of the next field of the name further up, or -1
}

// message is a mail cut into header fields and body, with what is computed
// once and used by several signatures.
type message struct {
	fields []field        // from the top
	lowest map[string]int // position of the bottom field of each name
	body   []byte
	hashes [2]*[sha256.Size]byte // of the body, by canonicalization
}

// readMessage cuts raw without copying it. It refuses what two readers could
// cut differently: a bare CR or LF or a NUL in the header, a line that is no
// field, a header without end. A reader that takes them for line ends sees
// fields that no signature covers.
func readMessage(raw []byte) (*message, error) {
	end := bytes.Index(raw[:min(len(raw), maxHeader)], []byte("\r\n\r\n"))
	if end < 0 {
		return nil, fmt.Errorf("the header block has no end within %d bytes", maxHeader)
	}
	m := &message{body: raw[end+4:], lowest: make(map[string]int, usualFields), fields: make([]field, 0, usualFields)}
	names := lowerASCII(raw[:end+2])
	for at := 0; at < len(names); {
		length := fieldLength(raw[at : end+2])
		f, err := cutField(raw[at:at+length], names[at:])
		if err != nil {
			return nil, err
		}
		if i, again := m.lowest[f.name]; again {
			f.above = i
		}
		m.lowest[f.name] = len(m.fields)
		m.fields = append(m.fields, f)
		at += length
	}
	return m, nil
}

// lowerASCII makes one text of the whole header for all its names to be cut
// from.
func lowerASCII(header []byte) string {
	lower := make([]byte, len(header))
	for i, b := range header {
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		lower[i] = b
	}
	return string(lower)
}

// fieldLength is the length of the first field of header, with its
// continuation lines.
func fieldLength(header []byte) int {
	length := 0
	for {
		length += bytes.Index(header[length:], crlf) + len(crlf)
		if length == len(header) || !isSpace(header[length]) {
			return length
		}
	}
}

// readField reads a field that stands alone.
func readField(raw []byte) (field, error) { return cutField(raw, lowerASCII(raw)) }

// cutField reads the field raw, which in lower case is the start of lower.
func cutField(raw []byte, lower string) (field, error) {
	if bytes.IndexByte(raw, 0) >= 0 || bareLineEnd(raw) {
		return field{}, errors.New("the header has a NUL, a bare CR or a bare LF")
	}
	name, value, found := bytes.Cut(raw, []byte(":"))
	// "From :" is From to some readers and unknown to others.
	if !found || !isFieldName(lower[:len(name)]) {
		return field{}, errors.New("the header has a line that is no field")
	}
	return field{
		name:  lower[:len(name)],
		raw:   raw,
		above: -1,
		value: value[:len(value)-len(crlf)],
	}, nil
}

// isFieldName follows RFC 5322 §2.2: printable ASCII without space and colon.
func isFieldName(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' || name[i] == ':' {
			return false
		}
	}
	return name != ""
}

// bareLineEnd finds a CR or LF that is not part of a CRLF.
func bareLineEnd(text []byte) bool {
	pairs := bytes.Count(text, crlf)
	return bytes.Count(text, []byte("\r")) != pairs || bytes.Count(text, []byte("\n")) != pairs
}

// named returns the positions of the fields of a lower-case name, topmost
// first.
func (m *message) named(name string) []int {
	var at []int
	for i, ok := m.lowest[name]; ok && i >= 0; i = m.fields[i].above {
		at = append(at, i)
	}
	slices.Reverse(at)
	return at
}

// covers tells whether h= names a field at least once, and as often as the
// mail has it. One more on top would go unsigned.
func (m *message) covers(names []string, name string) bool {
	count := 0
	for _, n := range names {
		if n == name {
			count++
		}
	}
	return count >= max(1, len(m.named(name)))
}

// bodyHash hashes the body, once for each canonicalization.
func (m *message) bodyHash(c canonicalization) []byte {
	if m.hashes[c] == nil {
		sum := c.hashBody(m.body)
		m.hashes[c] = &sum
	}
	return m.hashes[c][:]
}

// headerHash hashes the fields that h= names and then own, the signature's
// field with an empty b=.
func (m *message) headerHash(c canonicalization, names []string, own field) [sha256.Size]byte {
	text := make([]byte, 0, usualHeader)
	next := maps.Clone(m.lowest)
	for _, name := range names {
		// RFC 6376 §5.4.2: a name given again means the next field above; a
		// name without a field is hashed as nothing.
		if i, ok := next[name]; ok && i >= 0 {
			text = c.appendField(text, m.fields[i])
			next[name] = m.fields[i].above
		}
	}
	text = c.appendField(text, own)
	// RFC 6376 §3.7: the signature's own field ends without its CRLF.
	return sha256.Sum256(text[:len(text)-len(crlf)])
}
