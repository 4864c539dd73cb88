package dkim

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"
)

// fixed tells whether a signature over the fields names leaves nobody free to
// cut the signed body into other parts than its author did (D23). Without it
// a relay replaces Content-Type, and a boundary that the author only quoted in
// a text turns that text into a machine part.
func (m *message) fixed(names []string) error {
	if m.covers(names, "content-type") {
		return nil
	}
	if err := m.bodyFixesStructure(); err != nil {
		return fmt.Errorf("content-type is not signed and %w", err)
	}
	return nil
}

// bodyFixesStructure checks that only one boundary fits the body: the first
// line that begins with "--" is its delimiter, and the last line that is not
// empty its close delimiter. A preamble is allowed, since some mail programs
// write one (D23).
func (m *message) bodyFixesStructure() error {
	boundary, err := m.boundary()
	if err != nil {
		return err
	}
	// Where readers differ on what a line is, the first delimiter differs too.
	if bareLineEnd(m.body) {
		return errors.New("the body has a bare CR or LF")
	}
	if string(firstDashLine(m.body)) != "--"+boundary {
		return errors.New("the body does not begin with its own delimiter")
	}
	body := trimRelaxed(m.body)
	if string(body[bytes.LastIndexByte(body, '\n')+1:]) != "--"+boundary+"--" {
		return errors.New("the body does not end with its close delimiter")
	}
	return nil
}

// boundary reads the boundary from the one Content-Type field.
func (m *message) boundary() (string, error) {
	at := m.named("content-type")
	if len(at) != 1 {
		return "", fmt.Errorf("there are %d such fields", len(at))
	}
	value := string(m.fields[at[0]].value)
	kind, params, err := mime.ParseMediaType(value)
	if err != nil {
		return "", errors.New("it cannot be read")
	}
	// boundary*0 beside boundary: readers differ in which one they take.
	if strings.Contains(strings.ToLower(value), "boundary*") {
		return "", errors.New("its boundary is in extended form")
	}
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return "", errors.New("it is no multipart with a boundary")
	}
	return params["boundary"], nil
}

// firstDashLine returns the first line of body that begins with "--", without
// white space at its end; nil if there is none.
func firstDashLine(body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("--")) {
		at := bytes.Index(body, []byte("\r\n--"))
		if at < 0 {
			return nil
		}
		body = body[at+len(crlf):]
	}
	line, _, _ := bytes.Cut(body, crlf)
	return bytes.TrimRight(line, " \t")
}
