package envelope

import (
	"bytes"
	"regexp"
	"strings"
)

// Report is what a delivery report (RFC 3464) says of one mail.
type Report struct {
	MessageID string // of the mail it is about, with angle brackets
	Failed    bool   // for at least one recipient, for good; false for a delay or a success
	Status    string // RFC 3463 code of the first failure, as in 5.1.1, or ""
}

const maxStatusPart = 64 << 10 // bytes of the part that says what failed

var statusCode = regexp.MustCompile(`^[245]\.[0-9]{1,3}\.[0-9]{1,3}$`)

// Report reads the mail as a delivery report. Anybody can write one: it is
// worth no more than that it names a Message-ID that its writer has seen.
func (m *Mail) Report() (Report, bool) {
	if m.Root.Type != "multipart/report" || !strings.EqualFold(m.Root.Params["report-type"], "delivery-status") {
		return Report{}, false
	}
	r := Report{}
	for _, part := range m.Root.Parts {
		switch part.Type {
		case "message/delivery-status":
			r.readStatus(part)
		case "message/rfc822", "text/rfc822-headers", "message/rfc822-headers":
			r.readReturned(part)
		}
	}
	if r.MessageID == "" { // nothing was returned
		r.MessageID = m.Header.Get("In-Reply-To")
	}
	return r, r.MessageID != ""
}

// readStatus looks for a recipient whose delivery failed (RFC 3464 §2.3.3).
// The groups of fields are separated by empty lines, and read as one.
func (r *Report) readStatus(part *Part) {
	data, err := part.Decode(maxStatusPart)
	if err != nil {
		return
	}
	action := ""
	for line := range bytes.Lines(data) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "":
			action = ""
		case "action":
			action = strings.ToLower(value)
			r.Failed = r.Failed || action == "failed"
		case "status":
			if r.Status == "" && action != "delayed" && statusCode.MatchString(value) {
				r.Status = value
			}
		}
	}
}

// readReturned finds the Message-ID in what is returned of the mail.
func (r *Report) readReturned(part *Part) {
	data, err := part.decode(MaxMail)
	if err != nil {
		return
	}
	if !bytes.Contains(data, []byte("\r\n\r\n")) {
		data = append(bytes.TrimRight(bytes.Clone(data), "\r\n"), "\r\n\r\n"...) // the header alone
	}
	header, _, err := readHeader(data, MaxHeader)
	if err == nil && header.Count("Message-ID") == 1 {
		r.MessageID = header.Get("Message-ID")
	}
}
