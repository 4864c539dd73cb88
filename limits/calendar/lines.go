package calendar

import (
	"errors"
	"iter"
	"strings"
)

// unfolded gives the content lines with the number of the line that each
// begins in (RFC 5545 §3.1). A bare line feed ends a line too; empty lines are
// passed over.
func unfolded(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var parts []string
		first, n := 1, 0
		for line := range strings.SplitSeq(text, "\n") {
			n++
			line = strings.TrimSuffix(line, "\r")
			if len(parts) > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
				parts = append(parts, line[1:])
				continue
			}
			if len(parts) > 0 && !yield(first, strings.Join(parts, "")) {
				return
			}
			parts, first = parts[:0], n
			if line != "" {
				parts = append(parts, line)
			}
		}
		if len(parts) > 0 {
			yield(first, strings.Join(parts, ""))
		}
	}
}

// property is one content line.
type property struct {
	name   string // upper case
	params string // from the first semicolon on, not read yet
	value  string
}

// parseProperty splits a content line. A colon in quotes is one of a
// parameter's value.
func parseProperty(line string) (property, error) {
	end := strings.IndexAny(line, ";:")
	if end <= 0 {
		return property{}, errors.New("no content line: a name and a colon are missing")
	}
	p := property{name: strings.ToUpper(line[:end])}
	quoted := false
	for i := end; i < len(line); i++ {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ':' && !quoted:
			p.params, p.value = line[end:i], line[i+1:]
			return p, nil
		}
	}
	return property{}, errors.New("no content line: a colon is missing")
}

// param is the value of a parameter without quotes, "" where there is none.
func (p property) param(name string) string {
	for rest := p.params; rest != ""; {
		rest = rest[1:] // the semicolon
		end, quoted := 0, false
		for ; end < len(rest) && (quoted || rest[end] != ';'); end++ {
			if rest[end] == '"' {
				quoted = !quoted
			}
		}
		key, value, _ := strings.Cut(rest[:end], "=")
		if strings.EqualFold(key, name) {
			return strings.Trim(value, `"`)
		}
		rest = rest[end:]
	}
	return ""
}
