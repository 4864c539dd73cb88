package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Letter is one email for one recipient. Addresses are bare, ASCII, local part
// and domain; an empty From is the null return path, RFC 5321 §4.5.5.
type Letter struct {
	From, To string
	Raw      []byte // CRLF line ends only, lines of at most 998 bytes, at most MaxMail bytes
}

const (
	maxAddress  = 254 // RFC 5321 §4.5.3.1.3, less the angle brackets
	maxMailLine = 998 // RFC 5322 §2.1.1, without CRLF
)

// check refuses what must not reach a server's ears.
func (l Letter) check() error {
	if l.From != "" {
		if err := checkAddress(l.From); err != nil {
			return fmt.Errorf("sender address: %w", err)
		}
	}
	if err := checkAddress(l.To); err != nil {
		return fmt.Errorf("recipient address: %w", err)
	}
	return checkBody(l.Raw)
}

// checkAddress keeps an address from ending its command and starting another
// (X4). Spaces are out with it, so quoted local parts that need them are too.
func checkAddress(a string) error {
	at := strings.LastIndexByte(a, '@')
	switch {
	case at < 1 || at == len(a)-1:
		return errors.New("it is no address")
	case len(a) > maxAddress:
		return fmt.Errorf("it is longer than %d bytes", maxAddress)
	}
	for i := range len(a) {
		if a[i] <= ' ' || a[i] >= 0x7f || a[i] == '<' || a[i] == '>' {
			return fmt.Errorf("byte 0x%02x is not allowed", a[i])
		}
	}
	return nil
}

// checkBody refuses what servers along the way read differently: after a bare
// CR or LF one of them may see the end of the mail and a second one behind it
// (X3).
func checkBody(raw []byte) error {
	if len(raw) == 0 || len(raw) > MaxMail {
		return fmt.Errorf("the mail is empty or larger than %d bytes", MaxMail)
	}
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		if i := bytes.IndexAny(line, "\r\n\x00"); i >= 0 {
			return fmt.Errorf("the mail has byte 0x%02x outside a CRLF line end", line[i])
		}
		if len(line) > maxMailLine {
			return fmt.Errorf("the mail has a line over %d bytes", maxMailLine)
		}
	}
	return nil
}
