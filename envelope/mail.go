// Package envelope reads and writes raw email: the header block, the MIME
// tree and the decoding of the parts that are acted on. Reading is bounded
// and strict, because two readers that see two messages in the same bytes are
// how proof of one becomes belief in the other.
package envelope

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
)

// Limits on what is read (security rules 1 and 8), in bytes or as counts.
const (
	MaxMail       = 32 << 20 // so that a file of 20 MiB goes into one (D116)
	MaxHeader     = 256 << 10
	MaxPartHeader = 64 << 10
	MaxParts      = 100 // parts below the root
	MaxDepth      = 16  // levels below the root
	maxBoundary   = 70  // RFC 2046 §5.1.1
	maxFrom       = 2 << 10
)

// ErrUnsafe is wrapped by every refusal to read: the mail is not formed so
// that all readers see the same in it. It stays a normal email (D54).
var ErrUnsafe = errors.New("mail cannot be read safely")

func unsafef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// Mail is an email that was read.
type Mail struct {
	Header Header
	Root   *Part
	Raw    []byte // with CRLF line ends, as DKIM is to see it
}

// Read splits a raw email into header fields and MIME parts; nothing is
// decoded. A mail stored with bare LF throughout is mended first. The parts
// share memory with Mail.Raw, and with raw where nothing was mended. Errors
// wrap ErrUnsafe.
func Read(raw []byte) (*Mail, error) {
	if len(raw) > MaxMail {
		return nil, unsafef("larger than %d bytes", MaxMail)
	}
	raw, err := crlf(raw)
	if err != nil {
		return nil, err
	}
	header, body, err := readHeader(raw, MaxHeader)
	if err != nil {
		return nil, err
	}
	for _, name := range once {
		if header.Count(name) > 1 { // one reader takes the first, another the last
			return nil, unsafef("more than one %s field", name)
		}
	}
	r := reader{}
	root, err := r.part(header, body, nil)
	if err != nil {
		return nil, err
	}
	return &Mail{Header: header, Root: root, Raw: raw}, nil
}

// once lists the fields that a message has at most one of (RFC 5322 §3.6,
// security rule 2). From is counted where the sender is judged.
var once = []string{
	"Sender", "Reply-To", "To", "Cc", "Subject", "Date", "Message-ID",
	"MIME-Version", "Content-Type", "Content-Transfer-Encoding",
}

// crlf brings line ends into one form. A mix of forms is refused (D65): what one
// reader takes for a line end, another takes for text.
func crlf(raw []byte) ([]byte, error) {
	pairs := bytes.Count(raw, []byte("\r\n"))
	cr, lf := bytes.Count(raw, []byte{'\r'}), bytes.Count(raw, []byte{'\n'})
	switch {
	case cr == pairs && lf == pairs:
		return raw, nil
	case cr == 0:
		return bytes.ReplaceAll(raw, []byte{'\n'}, []byte("\r\n")), nil
	default:
		return nil, unsafef("a CR or LF that stands alone")
	}
}

// Leaves yields the parts of one media type, walking multipart/* only: a
// message inside a message speaks for somebody else.
func (m *Mail) Leaves(mediaType string) iter.Seq[*Part] {
	return func(yield func(*Part) bool) { m.Root.leaves(mediaType, yield) }
}

func (p *Part) leaves(mediaType string, yield func(*Part) bool) bool {
	if p.Type == mediaType && len(p.Parts) == 0 && !yield(p) {
		return false
	}
	for _, child := range p.Parts {
		if !child.leaves(mediaType, yield) {
			return false
		}
	}
	return true
}
