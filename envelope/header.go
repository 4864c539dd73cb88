package envelope

import (
	"bytes"
	"strings"
)

// Field is one header field: the name as it stands, the value unfolded and
// without white space at its ends. Values are text from outside.
type Field struct {
	Name  string
	Value string
}

// Header is the fields of a header block from top to bottom.
type Header []Field

// Get is the value of the topmost field of a name, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Count is the number of fields of a name.
func (h Header) Count(name string) int {
	n := 0
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			n++
		}
	}
	return n
}

// readHeader reads the fields, of at most limit bytes, up to the empty line
// that ends them and returns what follows it. Lines end in CRLF.
func readHeader(data []byte, limit int) (Header, []byte, error) {
	if bytes.HasPrefix(data, []byte("\r\n")) {
		return nil, data[2:], nil
	}
	end := bytes.Index(data[:min(len(data), limit+2)], []byte("\r\n\r\n"))
	if end < 0 {
		return nil, nil, unsafef("the header does not end within %d bytes", limit)
	}
	block, body := data[:end+2], data[end+4:]
	if bytes.IndexByte(block, 0) >= 0 { // one reader stops here, another does not
		return nil, nil, unsafef("a NUL in the header")
	}
	header, err := parseFields(string(block))
	return header, body, err
}

// parseFields reads the fields of a block; all of them share its memory.
func parseFields(block string) (Header, error) {
	header := make(Header, 0, strings.Count(block, "\r\n"))
	for len(block) > 0 {
		field, rest := cutField(block)
		f, err := parseField(field)
		if err != nil {
			return nil, err
		}
		header = append(header, f)
		block = rest
	}
	return header, nil
}

// cutField takes the first field with its continuation lines off a block.
func cutField(block string) (field, rest string) {
	end := 0
	for {
		end += strings.Index(block[end:], "\r\n") + 2
		if end == len(block) || block[end] != ' ' && block[end] != '\t' {
			return block[:end], block[end:]
		}
	}
}

// parseField reads one field. Where readers differ it is refused: a line
// without a colon, a first line that begins with white space, white space in
// the name (also folded), and names outside printable ASCII (RFC 5322 §2.2).
func parseField(field string) (Field, error) {
	name, value, ok := strings.Cut(field, ":")
	if !ok {
		return Field{}, unsafef("a header line without a colon")
	}
	if name == "" {
		return Field{}, unsafef("a header field without a name")
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] >= 0x7f {
			return Field{}, unsafef("a header field name that is not printable ASCII")
		}
	}
	value, folded, _ := strings.Cut(value, "\r\n")
	for line := range strings.Lines(folded) {
		if strings.TrimSpace(line) == "" { // it ends the header for some readers
			return Field{}, unsafef("a header line of white space")
		}
	}
	if folded != "" {
		value += strings.ReplaceAll(folded, "\r\n", "")
	}
	return Field{name, strings.Trim(value, " \t")}, nil
}
