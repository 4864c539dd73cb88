package envelope

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"time"
)

// Draft is an email to be composed. Text from outside may stand in names,
// subject and bodies; it cannot start a header field or a part.
type Draft struct {
	From, To   mail.Address
	Subject    string
	Date       time.Time
	MessageID  string   // with angle brackets
	InReplyTo  string   // with angle brackets, or ""
	References []string // with angle brackets, oldest first; at most 20 are written
	Extra      []Field  // further fields, values ASCII

	Text, HTML  string      // without HTML and Machine the text stands alone
	Machine     *Attachment // beside the text, in multipart/alternative; its Filename inline
	Attachments []Attachment
}

// Attachment is a part in a file's form. Type may carry parameters.
type Attachment struct {
	Type     string
	Filename string
	ID       string // Content-ID without angle brackets, or ""
	Body     []byte
	Base64   bool // every byte counts; else it is a text, whose line ends may change
}

const (
	maxReferences = 20
	maxLine       = 998 // RFC 5322 §2.1.1, without CRLF
)

// ErrDraft is wrapped by Compose for a draft that cannot be written as a
// sound email: a header value with control characters or beyond a line.
var ErrDraft = errors.New("draft cannot be written as an email")

// Compose writes a draft with CRLF line ends. Boundaries are drawn from
// random, so that no text can hold one. The body begins with its first
// delimiter and ends with its close delimiter (D23).
func Compose(d Draft, random io.Reader) ([]byte, error) {
	w := writer{buf: *bytes.NewBuffer(make([]byte, 0, d.size())), random: random}
	w.header(d)
	switch {
	case d.Machine == nil && len(d.Attachments) == 0:
		w.text("text/plain", d.Text)
	default:
		w.mixed(d)
	}
	return w.buf.Bytes(), w.err
}

// size is about what the mail takes, so that a great file is not moved about
// while it is written.
func (d Draft) size() int {
	size := 8<<10 + 2*(len(d.Text)+len(d.HTML))
	for _, a := range d.Attachments {
		size += 1<<10 + len(a.Body)/base64Line*(base64.StdEncoding.EncodedLen(base64Line)+len("\r\n"))
	}
	return size
}

// Mailbox writes an address with its name as it stands in a header field. A
// name outside printable ASCII is encoded in base64: the other encoding, as
// the library writes it, leaves a backslash bare, and readers then refuse the
// whole field (RFC 2047 §5, rule 3).
func Mailbox(a mail.Address) string {
	name := mime.BEncoding.Encode("utf-8", a.Name)
	if name == a.Name {
		return a.String()
	}
	return name + " " + (&mail.Address{Address: a.Address}).String()
}

type writer struct {
	buf    bytes.Buffer
	random io.Reader
	err    error // the first
}

func (w *writer) header(d Draft) {
	refs := d.References
	refs = refs[max(0, len(refs)-maxReferences):]
	w.field("From", Mailbox(d.From))
	w.field("To", Mailbox(d.To))
	w.field("Subject", mime.QEncoding.Encode("utf-8", d.Subject))
	w.field("Date", d.Date.UTC().Format("Mon, 02 Jan 2006 15:04:05 +0000"))
	w.field("Message-ID", d.MessageID)
	if d.InReplyTo != "" {
		w.field("In-Reply-To", d.InReplyTo)
	}
	if len(refs) > 0 {
		w.field("References", strings.Join(refs, " "))
	}
	w.field("MIME-Version", "1.0")
	for _, f := range d.Extra {
		w.field(f.Name, f.Value)
	}
}

// field writes one header field, folded before words that do not fit; the
// spaces between them stay, for a name or a JSON string may hold several in a
// row. Values that could start another field are an error, never mended: they
// are composed here.
func (w *writer) field(name, value string) {
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c >= 0x7f }) {
		w.fail("%s holds a character that no header may hold", name)
		return
	}
	line := name + ":"
	for i, word := range strings.Split(value, " ") {
		blank := strings.Trim(word, "\t") == "" // a folded line of white space ends the header for some readers
		if i > 0 && !blank && len(line)+1+len(word) > 76 {
			w.line(name, line)
			line = ""
		}
		line += " " + word
	}
	w.line(name, line)
}

func (w *writer) line(name, line string) {
	if len(line) > maxLine {
		w.fail("%s holds a word longer than a line", name)
	}
	w.buf.WriteString(line + "\r\n")
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: "+format, append([]any{ErrDraft}, args...)...)
	}
}

func (w *writer) mixed(d Draft) {
	mixed := w.boundary()
	w.multipart("mixed", mixed)
	w.buf.WriteString("--" + mixed + "\r\n")
	if d.HTML == "" && d.Machine == nil {
		w.text("text/plain", d.Text)
	} else {
		w.alternative(d)
	}
	for _, a := range d.Attachments {
		w.delimiter(mixed)
		w.attachment(a, "attachment")
	}
	w.buf.WriteString("\r\n--" + mixed + "--\r\n")
}

func (w *writer) alternative(d Draft) {
	alternative := w.boundary()
	w.multipart("alternative", alternative)
	w.buf.WriteString("--" + alternative + "\r\n")
	w.text("text/plain", d.Text)
	w.delimiter(alternative)
	w.text("text/html", d.HTML)
	if d.Machine != nil {
		w.delimiter(alternative)
		w.attachment(*d.Machine, "inline")
	}
	w.buf.WriteString("\r\n--" + alternative + "--\r\n")
}

// multipart writes the Content-Type of a multipart and ends its header. The
// first delimiter follows at once, every other one behind a CRLF of its own.
func (w *writer) multipart(subtype, boundary string) {
	fmt.Fprintf(&w.buf, "Content-Type: multipart/%s; boundary=\"%s\"\r\n\r\n", subtype, boundary)
}

func (w *writer) delimiter(boundary string) { w.buf.WriteString("\r\n--" + boundary + "\r\n") }

func (w *writer) boundary() string {
	var b [18]byte
	if _, err := io.ReadFull(w.random, b[:]); err != nil {
		w.fail("no randomness for a boundary: %w", err)
	}
	return "=_" + base64.RawURLEncoding.EncodeToString(b[:])
}

func (w *writer) text(mediaType, text string) {
	w.buf.WriteString("Content-Type: " + mediaType + "; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	w.quoted([]byte(text))
}

func (w *writer) attachment(a Attachment, disposition string) {
	w.field("Content-Type", a.Type)
	w.field("Content-Disposition", disposition+filename(a.Filename))
	if a.ID != "" {
		w.field("Content-ID", "<"+a.ID+">")
	}
	if a.Base64 {
		w.buf.WriteString("Content-Transfer-Encoding: base64\r\n\r\n")
		w.base64(a.Body)
		return
	}
	w.buf.WriteString("Content-Transfer-Encoding: quoted-printable\r\n\r\n")
	w.quoted(a.Body)
}

const base64Line = 57 // bytes that make a line of 76, RFC 2045 §6.8

func (w *writer) base64(body []byte) {
	for line := range slices.Chunk(body, base64Line) {
		w.buf.Write(base64.StdEncoding.AppendEncode(w.buf.AvailableBuffer(), line))
		w.buf.WriteString("\r\n")
	}
}

// quoted writes quoted-printable. A "From " or a dot at the start of a line
// is encoded too: mail stores and relays have changed such lines, and a
// changed byte breaks the signature. The library swallows an LF that comes
// some bytes after a lone CR, so line ends are made alike before it sees them.
func (w *writer) quoted(body []byte) {
	body = bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'})
	var encoded bytes.Buffer
	q := quotedprintable.NewWriter(&encoded)
	if _, err := q.Write(body); err != nil {
		w.fail("quoted-printable: %w", err)
	}
	if err := q.Close(); err != nil {
		w.fail("quoted-printable: %w", err)
	}
	for line := range bytes.Lines(encoded.Bytes()) {
		switch {
		case bytes.HasPrefix(line, []byte("From ")):
			w.buf.WriteString("=46")
			line = line[1:]
		case bytes.HasPrefix(line, []byte(".")):
			w.buf.WriteString("=2E")
			line = line[1:]
		}
		w.buf.Write(line)
	}
}
