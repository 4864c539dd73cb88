package mailbox

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-smtp"
)

const maxWords = 200 // bytes of a server's words that are repeated

// connError says in one printable line where a connection failed: the phase,
// the server, and its own words or the network's.
type connError struct {
	phase, addr, words string
	err                error
}

func (e *connError) Error() string { return fmt.Sprintf("%s %s: %s", e.phase, e.addr, e.words) }
func (e *connError) Unwrap() error { return e.err }

func failed(phase, addr string, err error) *connError {
	return &connError{phase: phase, addr: addr, words: words(err), err: err}
}

// words is what the server said, or else the error itself, fit for a log line
// and a terminal.
func words(err error) string {
	var imapErr *imap.Error
	var smtpErr *smtp.SMTPError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &authority):
		return "its certificate is by an authority that is not known here: name its PEM file in ca_file"
	case errors.As(err, &name):
		return visible("its certificate is for another name, set host to one of its own: " + name.Error())
	case errors.As(err, &imapErr):
		return visible("the server says: " + strings.TrimPrefix(imapErr.Error(), "imap: "))
	case errors.As(err, &smtpErr):
		return visible(fmt.Sprintf("the server says: %d %s", smtpErr.Code, smtpErr.Message))
	}
	return visible(err.Error())
}

// visible writes control characters, line ends, bidirectional marks and broken
// UTF-8 as escapes and cuts to maxWords bytes: a server could otherwise clear
// the operator's screen or forge a log line (I16).
func visible(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		out := s[:n]
		if (r == utf8.RuneError && n == 1) || !unicode.IsPrint(r) {
			out = escaped(r, s[0], n)
		}
		if b.Len()+len(out) > maxWords {
			break
		}
		b.WriteString(out)
		s = s[n:]
	}
	return b.String()
}

func escaped(r rune, first byte, n int) string {
	if n == 1 {
		return fmt.Sprintf(`\x%02x`, first)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// redacted takes the password out of a refused login's words, in the forms in
// which a server might echo it.
func redacted(err error, user, password string) error {
	encode := base64.StdEncoding.EncodeToString
	text := strings.NewReplacer(
		encode([]byte("\x00"+user+"\x00"+password)), "[password]", // SASL PLAIN
		encode([]byte(password)), "[password]", // SASL LOGIN
		password, "[password]",
	)
	var imapErr *imap.Error
	var smtpErr *smtp.SMTPError
	switch {
	case errors.As(err, &imapErr):
		return &imap.Error{Type: imapErr.Type, Code: imap.ResponseCode(text.Replace(string(imapErr.Code))), Text: text.Replace(imapErr.Text)}
	case errors.As(err, &smtpErr):
		return &smtp.SMTPError{Code: smtpErr.Code, EnhancedCode: smtpErr.EnhancedCode, Message: text.Replace(smtpErr.Message)}
	}
	// The original is not wrapped, as it could still be printed.
	return errors.New(text.Replace(err.Error()))
}
