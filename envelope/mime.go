package envelope

import (
	"bytes"
	"fmt"
	"mime"
	"regexp"
	"strings"
)

// Part is one node of the MIME tree. It is read here, strictly, and not by a
// library that mends (D66).
type Part struct {
	Type   string            // media type in lower case, text/plain where none is given
	Params map[string]string // parameters of Content-Type, names in lower case
	Header Header
	Parts  []*Part // of a multipart; a message inside a message stays closed

	body []byte // as it stands, still encoded
}

// reader counts what the sender chooses.
type reader struct{ parts int }

// part reads one node. enclosing holds the boundaries of the multiparts round
// it, outermost first.
func (r *reader) part(header Header, body []byte, enclosing []string) (*Part, error) {
	p := &Part{Header: header, Type: "text/plain", body: body}
	if n := header.Count("Content-Type"); n > 1 {
		return nil, unsafef("a part with %d Content-Type fields", n)
	} else if n == 1 {
		raw := header.Get("Content-Type")
		var err error
		if p.Type, p.Params, err = mime.ParseMediaType(raw); err != nil || twice(raw, "boundary=") || twice(raw, "charset=") {
			return nil, unsafef("a Content-Type that does not parse, or says one thing twice")
		}
	}
	if !strings.HasPrefix(p.Type, "multipart/") {
		return p, nil
	}
	if len(enclosing) == MaxDepth {
		return nil, unsafef("nested deeper than %d levels", MaxDepth)
	}
	boundary, err := p.boundary(enclosing)
	if err != nil {
		return nil, err
	}
	return p, r.children(p, append(enclosing[:len(enclosing):len(enclosing)], boundary))
}

// twice tells whether a parameter is given again, which the library allows
// where the values are equal as it reads them.
func twice(raw, parameter string) bool {
	return strings.Count(strings.ToLower(raw), parameter) > 1
}

// boundary is the delimiter of a multipart, in the one form that all readers
// agree on.
func (p *Part) boundary(enclosing []string) (string, error) {
	if !p.plain() {
		return "", unsafef("a multipart that is itself encoded") // RFC 2045 §6.4
	}
	b := p.Params["boundary"]
	raw := p.Header.Get("Content-Type")
	switch {
	case b == "":
		return "", unsafef("a multipart without a boundary")
	case len(b) > maxBoundary || strings.Trim(b, boundaryChars) != "" || b[len(b)-1] == ' ':
		return "", unsafef("a boundary outside RFC 2046 §5.1.1")
	case strings.Contains(strings.ToLower(raw), "boundary*"): // RFC 2231: read by some, not by others
		return "", unsafef("a boundary in RFC 2231 form")
	case encodedWord.MatchString(b): // RFC 2047 decoding of parameters, done by some
		return "", unsafef("a boundary like an encoded word")
	}
	for _, outer := range enclosing {
		if strings.HasPrefix(b, outer) || strings.HasPrefix(outer, b) {
			return "", unsafef("a boundary that is like an enclosing one")
		}
	}
	return b, nil
}

// encodedWord is the form of RFC 2047 §2.
var encodedWord = regexp.MustCompile(`=\?[^?]*\?[A-Za-z]\?[^?]*\?=`)

// RFC 2046 §5.1.1, bchars.
const boundaryChars = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'()+_,-./:=? "

// children splits the body of a multipart at its delimiter lines. A line that
// begins like a delimiter and is none, text that is cut off before the close
// delimiter, and a delimiter behind it are refused.
func (r *reader) children(p *Part, boundaries []string) error {
	delimiter := []byte("--" + boundaries[len(boundaries)-1])
	start, closed := -1, false // of the part being read
	for at := 0; at < len(p.body); {
		if !bytes.HasPrefix(p.body[at:], delimiter) {
			at = nextDashes(p.body, at)
			continue
		}
		line, next := lineAt(p.body, at)
		rest := bytes.TrimRight(line[len(delimiter):], " \t")
		last := string(rest) == "--"
		if closed || len(rest) > 0 && !last {
			return unsafef("a line that is like a delimiter and is none")
		}
		if start >= 0 {
			if err := r.child(p, p.body[start:max(start, at-2)], boundaries); err != nil {
				return err
			}
		} else if last {
			return unsafef("a multipart without parts")
		}
		start, closed, at = next, last, next
	}
	if !closed {
		return unsafef("a multipart without its close delimiter")
	}
	return nil
}

// child reads one body part: its own header, then its node.
func (r *reader) child(p *Part, data []byte, boundaries []string) error {
	if r.parts++; r.parts > MaxParts {
		return unsafef("more than %d parts", MaxParts)
	}
	var header Header
	body := data
	if bytes.HasSuffix(data, []byte("\r\n")) && !bytes.Contains(data, []byte("\r\n\r\n")) {
		data = data[:len(data)+2] // an empty body: its empty line is the line end before the delimiter
	}
	if len(data) > 0 {
		var err error
		if header, body, err = readHeader(data, MaxPartHeader); err != nil {
			return err
		}
	}
	child, err := r.part(header, body, boundaries)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, child)
	return nil
}

// nextDashes is the start of the next line that begins with "--".
func nextDashes(body []byte, from int) int {
	i := bytes.Index(body[from:], []byte("\r\n--"))
	if i < 0 {
		return len(body)
	}
	return from + i + 2
}

// lineAt returns the line that starts at an offset, and where the next starts.
func lineAt(body []byte, at int) (line []byte, next int) {
	if i := bytes.Index(body[at:], []byte("\r\n")); i >= 0 {
		return body[at : at+i], at + i + 2
	}
	return body[at:], len(body)
}

// Message reads the message that a message/rfc822 part holds, as Read does.
// It speaks for whoever wrote it, not for the mail round it. RFC 2046 §5.2.1
// allows no transfer encoding there, and carriers apply some all the same.
// Errors wrap ErrUnsafe, ErrTooLarge or ErrEncoding.
func (p *Part) Message() (*Mail, error) {
	data, err := p.decode(MaxMail)
	if err != nil {
		return nil, fmt.Errorf("reading a message in a mail: %w", err)
	}
	return Read(data)
}
