package envelope

import (
	"slices"
	"strings"
)

// Automatic tells whether no person wrote the mail, or not to its recipient:
// an automatic reply or notice (RFC 3834 §5), a report (RFC 6522), a mail with
// the null return path (RFC 5321 §4.5.5), a mail to a list (RFC 2369, RFC
// 2919) or to many. Nothing answers one of its own accord (L3). A message that
// the mail carries counts all the same: agents are automatic too.
func (m *Mail) Automatic() bool {
	return m.Root.Type == "multipart/report" || slices.ContainsFunc(m.Header, Field.automatic)
}

func (f Field) automatic() bool {
	value := strings.ToLower(f.Value)
	switch name := strings.ToLower(f.Name); name {
	case "auto-submitted":
		keyword, _, _ := strings.Cut(value, ";")
		return keyword != "" && strings.TrimSpace(keyword) != "no"
	case "precedence":
		return value == "bulk" || value == "list" || value == "junk"
	case "return-path":
		return value == "<>"
	default:
		return strings.HasPrefix(name, "list-")
	}
}
