// Package carrier finds out whether a mail provider carries messages of Agent
// Emailing unharmed: it makes a mail, and compares what arrives of it.
package carrier

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/nats-io/nkeys"
)

// Probe is a mail that was made to be compared with what arrives of it.
type Probe struct {
	ID  string // of its message; it stands in the Message-ID as well
	Raw []byte

	message *agentmsg.Envelope
	files   []agentmsg.File
}

// Check is one thing that was compared.
type Check struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"` // what is wrong, or what was changed without harm
}

// text is what carriers are known to change: lines that begin with From or a
// dot, spaces at line ends, an equals sign, long lines, letters beyond ASCII.
const text = "From here on every byte counts.\n.\n..\nTrailing space: \ntab:\t\n=3D and =\nGr\u00fc\u00dfe \u4f60\u597d \U0001f600\n"

// New makes a probe from one address to another. Its message is signed by an
// agent that is made for it, and is for an agent that nobody is, so that a
// daemon which reads the mailbox passes it over.
func New(from, to mail.Address, now time.Time, random io.Reader) (*Probe, error) {
	sender, err := newAgent()
	if err != nil {
		return nil, err
	}
	nobody, err := newAgent()
	if err != nil {
		return nil, err
	}
	p := &Probe{}
	bodies := map[string][]byte{}
	for _, f := range attachments() {
		ref, err := emailing.NewRef(address.Of(from.Address), random)
		if err != nil {
			return nil, err
		}
		file := agentmsg.File{Name: f.name, MediaType: f.mediaType, Ref: ref}
		file.Pin(int64(len(f.body)), sha256.Sum256(f.body))
		p.files = append(p.files, file)
		bodies[ref] = f.body
	}
	input, err := agentmsg.Chat(text + strings.Repeat("long ", 400))
	if err != nil {
		return nil, err
	}
	e := agentmsg.Envelope{To: nobody.ID(), Request: &agentmsg.Request{Offering: agentmsg.OfferingChat, Input: input, Files: p.files}}
	e.Meta.Email.Address = from.Address
	if p.message, err = sender.Compose(e, now, random); err != nil {
		return nil, fmt.Errorf("making the test mail: %w", err)
	}
	p.ID = p.message.ID
	if p.Raw, err = emailing.Compose(p.message, emailing.Letter{From: from, To: to, Files: bodies}, random); err != nil {
		return nil, fmt.Errorf("making the test mail: %w", err)
	}
	return p, nil
}

func newAgent() (agentmsg.Identity, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return agentmsg.Identity{}, fmt.Errorf("making an agent: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return agentmsg.Identity{}, fmt.Errorf("making an agent: %w", err)
	}
	return agentmsg.ParseSeed(string(seed))
}

type attachment struct {
	name, mediaType string
	body            []byte
}

// attachments are a text whose line ends a carrier may change, and a file of
// every byte.
func attachments() []attachment {
	every := make([]byte, 0, 1024)
	for i := range cap(every) {
		every = append(every, byte(i))
	}
	return []attachment{
		{"agenda.txt", "text/plain", []byte("09:00 Welcome\n09:30 Prices\r\n.\nFrom now on: questions\n")},
		{"every-byte.bin", "application/octet-stream", every},
	}
}

// Is tells whether a mail that arrived is the probe, by its Message-ID or,
// where the carrier gave it another, by its message.
func (p *Probe) Is(raw []byte) bool {
	m, err := envelope.Read(raw)
	if err != nil {
		return bytes.Contains(raw, []byte(p.ID))
	}
	if strings.Contains(m.Header.Get("Message-ID"), p.ID) {
		return true
	}
	found, err := emailing.Find(m)
	return err == nil && bytes.Contains(found.Envelope, []byte(p.ID))
}

// Compare holds what arrived against what was sent.
func (p *Probe) Compare(raw []byte) []Check {
	m, err := envelope.Read(raw)
	if err != nil {
		return []Check{{"the mail", false, "it cannot be read any more: " + err.Error()}}
	}
	checks := []Check{p.messageID(m)}
	found, err := emailing.Find(m)
	if err != nil {
		return append(checks, Check{"envelope.json", false, lost(err)})
	}
	e, err := agentmsg.Parse(found.Envelope)
	switch {
	case err != nil:
		return append(checks, Check{"envelope.json", false, "its values were changed: " + err.Error()})
	case !bytes.Equal(e.Bytes(), p.message.Bytes()):
		return append(checks, Check{"envelope.json", false, "another message arrived in its place"})
	}
	checks = append(checks, Check{"envelope.json", true, rewritten(found.Envelope, p.message.Bytes())})
	for _, file := range p.files {
		checks = append(checks, compareFile(found, file))
	}
	return checks
}

// messageID is a warning at most: answers are matched by ids that are signed.
func (p *Probe) messageID(m *envelope.Mail) Check {
	c := Check{What: "the mail", OK: true}
	if !strings.Contains(m.Header.Get("Message-ID"), p.ID) {
		c.Detail = "its Message-ID was changed: delivery reports cannot be matched to what was sent"
	}
	return c
}

func lost(err error) string {
	switch {
	case errors.Is(err, emailing.ErrNone):
		return "no attachment has this name any more: the carrier dropped or renamed it"
	case errors.Is(err, emailing.ErrSeveral):
		return "it is there more than once"
	default:
		return err.Error()
	}
}

func rewritten(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	return "its bytes were rewritten, its values are the same"
}

func compareFile(found *emailing.Found, file agentmsg.File) Check {
	c := Check{What: file.Name}
	state, err := found.CopyFile(file, io.Discard)
	name := found.CarriedName(file)
	switch {
	case err != nil:
		c.Detail = err.Error()
	case state == emailing.FileMissing:
		c.Detail = "no attachment has its Content-ID any more: the carrier dropped the file, or its Content-ID"
	case state != emailing.FileIntact:
		c.Detail = fmt.Sprintf("its bytes were changed: they are not the %d that were signed for", file.Size)
	case name != file.Name:
		c.Detail = fmt.Sprintf("it was renamed: it arrived as %q", name)
	default:
		c.OK = true
	}
	return c
}

// Passed tells whether all checks are good.
func Passed(checks []Check) bool {
	for _, c := range checks {
		if !c.OK {
			return false
		}
	}
	return len(checks) > 0
}
