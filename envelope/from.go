package envelope

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/address"
)

// ErrFrom is wrapped by every refusal of From.
var ErrFrom = errors.New("From does not name exactly one plain address")

// From is the address of the one From field, in comparable form (D9). Errors
// wrap ErrFrom: no field or several, several mailboxes, a group, a route, a
// quoted local part, or anything two readers may read as two addresses.
func (h Header) From() (string, error) {
	if n := h.Count("From"); n != 1 { // DKIM takes the bottom one, most readers the top one
		return "", fmt.Errorf("%w: %d fields", ErrFrom, n)
	}
	return parseFrom(h.Get("From"))
}

func parseFrom(value string) (string, error) {
	if len(value) > maxFrom {
		return "", fmt.Errorf("%w: longer than %d bytes", ErrFrom, maxFrom)
	}
	// The name is not looked at, so that no charset of it keeps a mail out: the
	// library knows three of them.
	words := mime.WordDecoder{CharsetReader: func(_ string, text io.Reader) (io.Reader, error) { return text, nil }}
	list, err := (&mail.AddressParser{WordDecoder: &words}).ParseList(value)
	if err != nil {
		return "", fmt.Errorf("%w: it does not parse", ErrFrom)
	}
	if len(list) != 1 {
		return "", fmt.Errorf("%w: %d mailboxes", ErrFrom, len(list))
	}
	// The library flattens a group to its member and unquotes local parts
	// without a word, so the bare text is looked at too.
	bare := strip(value)
	if strings.ContainsAny(bare, ":;,") || strings.Count(bare, "@") != 1 || !strings.Contains(bare, list[0].Address) {
		return "", fmt.Errorf("%w: a group, a route, a second address or a quoted local part", ErrFrom)
	}
	parsed, err := address.Parse(list[0].Address)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrFrom, err)
	}
	return parsed, nil
}

// strip removes quoted strings and comments from a structured field value.
func strip(value string) string {
	var bare strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && (quoted || depth > 0):
			i++
		case c == '"' && depth == 0:
			quoted = !quoted
		case c == '(' && !quoted:
			depth++
		case c == ')' && !quoted && depth > 0:
			depth--
		case !quoted && depth == 0:
			bare.WriteByte(c)
		}
	}
	return bare.String()
}
