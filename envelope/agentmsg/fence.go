package agentmsg

import (
	"strings"
	"unicode"

	"github.com/agentmaild/agentmaild/envelope/inert"
)

// Fence makes text from outside safe to stand in a frame (§22.6): all line
// ends are LF, other C0 controls and DEL are gone but tab, and a line that
// could pass for one of the frame's is indented by a space.
func Fence(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == 0x7f || r < 0x20 && r != '\t' && r != '\n' {
			return -1
		}
		return r
	}, inert.LineEnds(text))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if marks(line) { // looked for after the controls are gone: one could stand between two dashes
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n")
}

// marks tells whether a line has what the frame is drawn with.
func marks(line string) bool { return strings.Contains(line, "---") || strings.Contains(line, "===") }

// label is a name that may stand in the frame itself. One with control
// characters, or with what the frame is drawn with, is left out, whoever it
// comes from: a name card was written by the other side (D104).
func label(name string) string {
	if marks(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return ""
	}
	return name
}
