package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Error is one mistake in the configuration. It never holds a password.
type Error struct {
	File string // as it was given to Load
	Line int    // from 1; 0 when the mistake is in no line, as with a missing file
	Key  string // dotted, as inbox.imap.port; empty when it is in no key
	Text string // what is wrong and what to do, one line
}

// Error gives "file:line: key: text", without line or key where there is none.
func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	return strings.TrimPrefix(s+": "+e.Text, ": ") // without a file only where none was loaded
}

// mistakes collects the errors of one file. A key is named by its path, which
// is dotted and counts the entries of arrays: inbox[1].imap.port.
type mistakes struct {
	file     string
	lines    lines
	found    []*Error
	reported map[string]bool // by path
}

var index = regexp.MustCompile(`\[\d+\]`)

// add notes a mistake at a path, unless that key or a table above it has one
// already: one wrong value shall give one line.
func (m *mistakes) add(at, format string, args ...any) {
	for path := at; path != ""; path = parent(path) {
		if m.reported[path] {
			return
		}
	}
	m.reported[at] = true
	m.note(m.lines.of(at), index.ReplaceAllString(at, ""), fmt.Sprintf(format, args...))
}

func (m *mistakes) note(line int, key, text string) {
	m.found = append(m.found, &Error{File: m.file, Line: line, Key: oneLine(key), Text: oneLine(text)})
}

// err joins the mistakes in the order of their lines; nil when there are none.
func (m *mistakes) err() error {
	slices.SortStableFunc(m.found, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	errs := make([]error, len(m.found))
	for i, e := range m.found {
		errs[i] = e
	}
	return errors.Join(errs...)
}

// oneLine keeps a quoted key or a foreign message from breaking the line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
