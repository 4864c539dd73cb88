package envelope

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
	"unicode/utf8"
)

// What Decode refuses.
var (
	ErrTooLarge = errors.New("part is too large")
	ErrEncoding = errors.New("part is in no known encoding or charset, or breaks its encoding")
)

// encoding is the transfer encoding of a part; more than one field is "".
func (p *Part) encoding() string {
	switch p.Header.Count("Content-Transfer-Encoding") {
	case 0:
		return "7bit" // RFC 2045 §6.1
	case 1:
		return strings.ToLower(p.Header.Get("Content-Transfer-Encoding"))
	default:
		return ""
	}
}

// Decode undoes the transfer encoding of a part of at most limit decoded
// bytes. Every irregularity is an error, even behind readable data: a reader
// that goes on where another stops sees another message. The charset must be
// UTF-8, US-ASCII or not given. Errors are ErrTooLarge and ErrEncoding.
func (p *Part) Decode(limit int) ([]byte, error) {
	// Three encoded bytes a byte and soft breaks are more than any encoding
	// takes; beyond it nothing is decoded.
	if len(p.body) > 4*limit+1024 {
		return nil, ErrTooLarge
	}
	data, err := p.decode()
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, ErrTooLarge
	}
	switch strings.ToLower(p.Params["charset"]) {
	case "", "utf-8":
		if !utf8.Valid(data) {
			return nil, fmt.Errorf("%w: no UTF-8", ErrEncoding)
		}
	case "us-ascii":
		if bytes.ContainsFunc(data, func(c rune) bool { return c >= utf8.RuneSelf }) {
			return nil, fmt.Errorf("%w: says US-ASCII and is not", ErrEncoding)
		}
	default:
		return nil, fmt.Errorf("%w: charset", ErrEncoding)
	}
	return data, nil
}

func (p *Part) decode() ([]byte, error) {
	switch p.encoding() {
	case "7bit", "8bit", "binary":
		return p.body, nil
	case "base64":
		return decodeBase64(p.body)
	case "quoted-printable":
		return decodeQuoted(p.body)
	default:
		return nil, fmt.Errorf("%w: transfer encoding", ErrEncoding)
	}
}

// decodeBase64 takes RFC 2045 §6.8 at its word: the alphabet, line ends, the
// right padding, and nothing behind it.
func decodeBase64(body []byte) ([]byte, error) {
	text := bytes.ReplaceAll(body, []byte("\r\n"), nil)
	data, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: base64: %w", ErrEncoding, err)
	}
	return data, nil
}

// decodeQuoted checks what the library lets through (raw "=ZZ", bytes outside
// ASCII, a soft break with nothing after it), then lets it decode.
func decodeQuoted(body []byte) ([]byte, error) {
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '=':
			if !quotedPair(body[i+1:]) {
				return nil, fmt.Errorf("%w: quoted-printable: a lone =", ErrEncoding)
			}
		case c >= 0x7f || c < ' ' && c != '\t' && c != '\r' && c != '\n':
			return nil, fmt.Errorf("%w: quoted-printable: a raw byte outside printable ASCII", ErrEncoding)
		}
	}
	data, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
	if err != nil {
		return nil, fmt.Errorf("%w: quoted-printable: %w", ErrEncoding, err)
	}
	return data, nil
}

// quotedPair tells whether what follows a = is two hex digits or the end of a
// line (RFC 2045 §6.7, rules 1 and 5).
func quotedPair(rest []byte) bool {
	if len(rest) >= 2 && isHex(rest[0]) && isHex(rest[1]) {
		return true
	}
	rest = bytes.TrimLeft(rest, " \t")
	return bytes.HasPrefix(rest, []byte("\r\n"))
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' || 'a' <= c && c <= 'f'
}
