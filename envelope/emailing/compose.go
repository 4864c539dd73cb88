package emailing

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// Letter is what an email has beside the message that it carries.
type Letter struct {
	From, To   mail.Address
	Offering   string            // that a respond answers, "" where it is not known; a request has its own
	References []string          // Message-IDs of the thread so far, in angle brackets, the answered one last
	Files      map[string][]byte // by ref, as the message names them
}

// What Compose refuses, beside what envelope.Compose does.
var (
	ErrFile     = errors.New("a file is not the one that was signed")
	ErrTooGreat = fmt.Errorf("the mail would be larger than %d bytes", envelope.MaxMail)
)

// Compose writes the email that carries a signed message and its files.
// Boundaries are drawn from random. Errors: ErrFile for a ref that no bytes
// are given for, or others than those signed; ErrTooGreat; envelope.ErrDraft.
func Compose(m *agentmsg.Envelope, l Letter, random io.Reader) ([]byte, error) {
	offering := l.Offering
	if m.Request != nil {
		offering = m.Request.Offering
	}
	files, err := Attachments(m, l.Files)
	if err != nil {
		return nil, fmt.Errorf("composing a mail: %w", err)
	}
	d := envelope.Draft{
		From: l.From, To: l.To, Date: m.Time, MessageID: MessageID(m.ID, l.From.Address), References: l.References,
		Subject: subject(m, offering), Text: text(m, offering),
		Extra:       []envelope.Field{{Name: "Auto-Submitted", Value: "auto-generated"}}, // RFC 3834 §5
		Attachments: append([]envelope.Attachment{message(m)}, files...),
	}
	if n := len(l.References); n > 0 {
		d.InReplyTo = l.References[n-1]
	}
	if m.Respond != nil {
		d.Extra[0].Value = "auto-replied"
	}
	raw, err := envelope.Compose(d, random)
	if err == nil && len(raw) > envelope.MaxMail {
		err = ErrTooGreat
	}
	if err != nil {
		return nil, fmt.Errorf("composing a mail: %w", err)
	}
	return raw, nil
}

// MessageID is the Message-ID of the email that carries a message, so that a
// resend after a crash is the same mail to every mail system, and a report
// about it names the message.
func MessageID(id, from string) string { return "<" + id + "@" + address.Of(from) + ">" }

// message is the part envelope.json. Its name stands in both fields, since a
// carrier may drop one of them.
func message(m *agentmsg.Envelope) envelope.Attachment {
	return envelope.Attachment{Type: `application/json; name="` + envelopeName + `"`, Filename: envelopeName, Body: m.Bytes(), Base64: true}
}

// Attachments are the files of a message, given by ref, one part for each.
// Error: ErrFile.
func Attachments(m *agentmsg.Envelope, bodies map[string][]byte) ([]envelope.Attachment, error) {
	var parts []envelope.Attachment
	written := map[string]bool{}
	for i, file := range m.Files() {
		if file.Ref == "" && file.URI != "" {
			continue
		}
		id, ok := contentID(file.Ref)
		body, given := bodies[file.Ref]
		if !ok || !given || strings.ContainsAny(id, "<> \t") || !file.Matches(int64(len(body)), sha256.Sum256(body)) {
			return nil, fmt.Errorf("%w: number %d of the message", ErrFile, i+1)
		}
		if !written[id] {
			parts = append(parts, envelope.Attachment{Type: mediaType(file.MediaType), Filename: attachmentName(file.Name), ID: id, Body: body, Base64: true})
			written[id] = true
		}
	}
	return parts, nil
}

// attachmentName is the name of a file's part, which must not pass for the
// message.
func attachmentName(signed string) string {
	name := FileName(signed)
	if isName(name) {
		return "file-" + name
	}
	return name
}

// mediaType is the signed type of a file where a mail may have it. A multipart
// or a message would be taken apart on the way.
func mediaType(signed string) string {
	t, params, err := mime.ParseMediaType(signed)
	kind, _, _ := strings.Cut(t, "/")
	if err != nil || !strings.Contains(t, "/") || kind == "multipart" || kind == "message" || len(t) > maxMediaType {
		return "application/octet-stream"
	}
	if charset := strings.ToLower(params["charset"]); charset == "utf-8" || charset == "us-ascii" {
		return t + "; charset=" + charset
	}
	return t
}

const maxMediaType = 127 + len("/") + 127 // RFC 6838 §4.2
