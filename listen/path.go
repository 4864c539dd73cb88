package listen

import (
	"net/url"
	"strings"
)

// Segment writes any text as one segment of a path. "." and ".." would be steps
// of it, to a server as to a client (RFC 3986 §3.3): their dots are escaped too.
func Segment(text string) string {
	escaped := url.PathEscape(text)
	if strings.Trim(escaped, ".") == "" {
		escaped = strings.ReplaceAll(escaped, ".", "%2E")
	}
	return escaped
}
