package envelope

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
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

// decodeQuoted takes RFC 2045 §6.7 at its word. The library lets through raw
// "=ZZ", bytes outside ASCII and a soft break with nothing after it. White
// space at the end of a line was added on the way (rule 3).
func decodeQuoted(body []byte) ([]byte, error) {
	data := make([]byte, 0, len(body))
	for more := true; more; {
		var line []byte
		line, body, more = bytes.Cut(body, []byte("\r\n"))
		line = bytes.TrimRight(line, " \t")
		soft := bytes.HasSuffix(line, []byte{'='})
		var err error
		if data, err = appendQuoted(data, bytes.TrimSuffix(line, []byte{'='})); err != nil {
			return nil, err
		}
		switch {
		case soft && !more:
			return nil, fmt.Errorf("%w: quoted-printable: cut off", ErrEncoding)
		case more && !soft:
			data = append(data, '\r', '\n')
		}
	}
	return data, nil
}

// appendQuoted decodes one line without its soft break.
func appendQuoted(data, line []byte) ([]byte, error) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '=':
			if i+2 >= len(line) || !isHex(line[i+1]) || !isHex(line[i+2]) {
				return nil, fmt.Errorf("%w: quoted-printable: a lone =", ErrEncoding)
			}
			data = append(data, unhex(line[i+1])<<4|unhex(line[i+2]))
			i += 2
		case c >= 0x7f || c < ' ' && c != '\t':
			return nil, fmt.Errorf("%w: quoted-printable: a raw byte outside printable ASCII", ErrEncoding)
		default:
			data = append(data, c)
		}
	}
	return data, nil
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0x0f + 9
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' || 'a' <= c && c <= 'f'
}
