package envelope

import (
	"fmt"
	"strings"
)

const filenamePiece = 54 // bytes, so that each piece with its name fits a folded line

// filename writes a parameter of Content-Disposition, with the semicolon
// before it. What is not a short ASCII name is written as RFC 2231 has it: in
// percent-encoded UTF-8, in numbered pieces where it is long.
func filename(name string) string {
	if plainName(name) {
		return fmt.Sprintf("; filename=%q", name)
	}
	pieces := percentEncoded(strings.ToValidUTF8(name, "\ufffd"))
	if len(pieces) == 1 {
		return "; filename*=utf-8''" + pieces[0]
	}
	pieces[0] = "utf-8''" + pieces[0]
	var parameters strings.Builder
	for i, piece := range pieces {
		fmt.Fprintf(&parameters, "; filename*%d*=%s", i, piece)
	}
	return parameters.String()
}

// plainName tells whether a name reads alike everywhere as a quoted string. An
// encoded word in one is decoded by some readers (RFC 2047 §5).
func plainName(name string) bool {
	return len(name) <= filenamePiece && !strings.Contains(name, "=?") &&
		!strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c >= 0x7f })
}

// percentEncoded is a text in pieces of whole characters (RFC 2231 §3, §4).
func percentEncoded(text string) []string {
	var pieces []string
	var piece strings.Builder
	for _, c := range text {
		encoded := string(c)
		if c >= 0x80 || !attrChar(byte(c)) {
			encoded = fmt.Sprintf("% X", encoded)
			encoded = "%" + strings.ReplaceAll(encoded, " ", "%")
		}
		if piece.Len()+len(encoded) > filenamePiece {
			pieces = append(pieces, piece.String())
			piece.Reset()
		}
		piece.WriteString(encoded)
	}
	return append(pieces, piece.String())
}

// attrChar is the class of RFC 2231 §7, less what is no letter, digit or one
// of three marks: readers differ over the others.
func attrChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._", c) >= 0
}
