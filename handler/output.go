package handler

import (
	"bytes"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what a handler may say, in bytes.
const (
	maxOutput = 64 << 10
	maxStderr = 500
)

// environment is of the daemon's own only what names places and language, so
// that no secret reaches the program by accident.
func environment() []string {
	env := []string{} // not nil, which would pass on everything
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// limited keeps the first bytes written to it and takes the rest without
// keeping them, so that the program is not ended by a broken pipe. It does not
// embed its buffer, whose ReadFrom would pass by the limit.
type limited struct {
	kept  bytes.Buffer
	limit int
	over  bool
}

// Write takes everything.
func (l *limited) Write(p []byte) (int, error) {
	room := l.limit - l.kept.Len()
	l.over = l.over || len(p) > room
	l.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}

// words is the program's complaint in one printable line. A character that the
// limit cut through is left out.
func (l *limited) words() string {
	text := l.kept.Bytes()
	if l.over {
		text = whole(text)
	}
	line := strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, string(text))
	if line = strings.TrimSpace(line); line == "" {
		return ""
	}
	return ": " + line
}

// whole leaves out a character at the end that was cut through.
func whole(text []byte) []byte {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			return text[:i]
		}
	}
	return text
}
