package envelope

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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
	data, err := p.decode(limit)
	if err != nil {
		return nil, err
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

// decode gives the bytes of a part, which are those of the mail itself where
// they are not encoded.
func (p *Part) decode(limit int) ([]byte, error) {
	if p.plain() && len(p.body) <= limit {
		return p.body, nil
	}
	data := bytes.NewBuffer(make([]byte, 0, min(limit, len(p.body)))) // an empty part is one too
	if p.encoding() == "base64" && bytes.ContainsAny(p.body, " \t") {
		return nil, fmt.Errorf("%w: base64: white space", ErrEncoding)
	}
	if err := p.DecodeTo(data, int64(limit)); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// plain tells whether the bytes of a part stand in the mail as they are.
func (p *Part) plain() bool {
	cte := p.encoding()
	return cte == "7bit" || cte == "8bit" || cte == "binary"
}

// DecodeTo undoes the transfer encoding of a part, whatever its charset, and
// writes at most limit bytes, a piece at a time: a file costs no memory beside
// that of its mail. After an error, what was written is worth nothing. Errors
// are those of w, and ErrTooLarge and ErrEncoding as for Decode, but that white
// space in base64, which a carrier that wraps lines anew may leave, is passed
// over (RFC 2045 §6.8, D190): what is read so is signed for its values, or
// pinned by a digest.
func (p *Part) DecodeTo(w io.Writer, limit int64) error {
	// Three encoded bytes a byte and soft breaks are more than any encoding
	// takes; beyond it nothing is decoded.
	if int64(len(p.body)-1024)/4 > limit {
		return ErrTooLarge
	}
	w = &limited{w, limit}
	switch cte := p.encoding(); {
	case p.plain():
		_, err := w.Write(p.body)
		return err
	case cte == "base64":
		return decodeBase64(w, p.body)
	case cte == "quoted-printable":
		return decodeQuoted(w, p.body)
	default:
		return fmt.Errorf("%w: transfer encoding", ErrEncoding)
	}
}

// limited passes on so many bytes and fails over the next.
type limited struct {
	w    io.Writer
	left int64
}

func (l *limited) Write(data []byte) (int, error) {
	if l.left -= int64(len(data)); l.left < 0 {
		return 0, ErrTooLarge
	}
	return l.w.Write(data)
}

const pieceSize = 32 << 10 // bytes, a multiple of four, in which a part is decoded at most

// pieceOf is the size of the pieces in which a body is decoded, a multiple of
// four: most parts are small.
func pieceOf(body []byte) int { return min(pieceSize, len(body)/4*4+4) }

// decodeBase64 takes RFC 2045 §6.8 at its word: the alphabet, white space, the
// right padding, and nothing behind it. The library's own streaming decoder
// goes on behind padding.
func decodeBase64(w io.Writer, body []byte) error {
	piece := pieceOf(body)
	text, data := make([]byte, 0, piece), make([]byte, base64.StdEncoding.DecodedLen(piece))
	padded := false
	flush := func() error {
		if padded && len(text) > 0 {
			return fmt.Errorf("%w: base64: text after its padding", ErrEncoding)
		}
		padded = bytes.HasSuffix(text, []byte{'='})
		n, err := base64.StdEncoding.Strict().Decode(data, text)
		if err != nil {
			return fmt.Errorf("%w: base64: %w", ErrEncoding, err)
		}
		text = text[:0]
		_, err = w.Write(data[:n])
		return err
	}
	for line := range bytes.SplitSeq(body, []byte("\r\n")) {
		for len(line) > 0 {
			n := min(len(line), piece-len(text))
			if space := bytes.IndexAny(line[:n], " \t"); space >= 0 {
				text, line = append(text, line[:space]...), line[space+1:]
				continue
			}
			text, line = append(text, line[:n]...), line[n:]
			if len(text) < piece {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// decodeQuoted takes RFC 2045 §6.7 at its word. The library lets through raw
// "=ZZ", bytes outside ASCII and a soft break with nothing after it. White
// space at the end of a line was added on the way (rule 3).
func decodeQuoted(w io.Writer, body []byte) error {
	data := bufio.NewWriterSize(w, pieceOf(body))
	for more := true; more; {
		var line []byte
		line, body, more = bytes.Cut(body, []byte("\r\n"))
		line = bytes.TrimRight(line, " \t")
		soft := bytes.HasSuffix(line, []byte{'='})
		if err := decodeQuotedLine(data, bytes.TrimSuffix(line, []byte{'='})); err != nil {
			return err
		}
		switch {
		case soft && !more:
			return fmt.Errorf("%w: quoted-printable: cut off", ErrEncoding)
		case more && !soft:
			if _, err := data.WriteString("\r\n"); err != nil {
				return err
			}
		}
	}
	return data.Flush()
}

// decodeQuotedLine decodes one line without its soft break.
func decodeQuotedLine(data *bufio.Writer, line []byte) error {
	for {
		plain, rest, coded := bytes.Cut(line, []byte{'='})
		if bytes.ContainsFunc(plain, func(c rune) bool { return c >= 0x7f || c < ' ' && c != '\t' }) {
			return fmt.Errorf("%w: quoted-printable: a raw byte outside printable ASCII", ErrEncoding)
		}
		if _, err := data.Write(plain); err != nil {
			return err
		}
		if !coded {
			return nil
		}
		if len(rest) < 2 || !isHex(rest[0]) || !isHex(rest[1]) {
			return fmt.Errorf("%w: quoted-printable: a lone =", ErrEncoding)
		}
		if err := data.WriteByte(unhex(rest[0])<<4 | unhex(rest[1])); err != nil {
			return err
		}
		line = rest[2:]
	}
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
