package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/inbox"
)

// show prints the mail as a person reads it, and what was proven about it.
func (p *play) show(from, to *side, e inbox.Event) error {
	raw, err := p.mailOf(e.ID)
	if err != nil {
		return err
	}
	mail, err := readMail(raw, e)
	if err != nil {
		return err
	}
	p.result.Mails = append(p.result.Mails, mail)
	number := len(p.result.Mails)
	p.say("\n── Mail %d, from the %s to the %s ──", number, from.name, to.name)
	p.say("From: %s\nTo: %s\nSubject: %s\n\n%s", mail.From, mail.To, mail.Subject, mail.Text)
	proven, err := provenBy(to, e)
	if err != nil {
		return err
	}
	p.say("Proven by the %s: %s", to.name, proven)
	if e.Reason != "" {
		p.say("Verdict: %s, %s", e.Verdict, e.Reason)
	} else {
		p.say("Verdict: %s", e.Verdict)
	}
	return os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("%d-%s.eml", number, kindOf(e))), raw, 0o600)
}

// mailOf is the mail that carried a message: others may have been sent since.
func (p *play) mailOf(id string) ([]byte, error) {
	for _, sent := range slices.Backward(p.server.Sent()) {
		mail, err := envelope.Read(sent.Raw)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(mail.Header.Get("Message-ID"), "<"+id+"@") {
			return sent.Raw, nil
		}
	}
	return nil, fmt.Errorf("the mail of message %s was not sent", id)
}

// kindOf is what a message is called in the name of its file.
func kindOf(e inbox.Event) string {
	switch x := e.Exchange; {
	case x == nil:
		return string(e.Type)
	case x.Kind == agentmsg.TypeRespond && x.Task != nil:
		return string(x.Task.State)
	case x.Kind == agentmsg.TypeRequest:
		return string(x.Kind) + "-" + x.Offering // of our own
	default:
		return string(x.Kind)
	}
}

// provenBy is what the receiver of a message knows for sure.
func provenBy(to *side, e inbox.Event) (string, error) {
	x := e.Exchange
	if x == nil {
		return fmt.Sprintf("the mail is from %s (DKIM, selector %s); the message is %s", e.Proof.Domain, e.Proof.Selector, signedBy(e)), nil
	}
	cards, err := to.inbox().Contacts()
	if err != nil {
		return "", err
	}
	words := fmt.Sprintf("the message is signed by agent %.8s…", x.From)
	if i := slices.IndexFunc(cards, func(c inbox.Contact) bool { return c.Agent == x.From }); i >= 0 {
		words += ", whose name card says " + cards[i].Name
	}
	for _, f := range x.Files {
		if f.State == emailing.FileIntact {
			words += fmt.Sprintf("; %s is byte for byte what was signed", f.Name)
		}
	}
	return words, nil
}

func readMail(raw []byte, e inbox.Event) (Mail, error) {
	mail, err := envelope.Read(raw)
	if err != nil {
		return Mail{}, err
	}
	m := Mail{From: mail.Header.Get("From"), To: mail.Header.Get("To"), Subject: mail.Header.Get("Subject"), Event: e}
	for part := range mail.Leaves("text/plain") {
		text, err := part.Decode(envelope.MaxPartHeader)
		if err != nil {
			return Mail{}, err
		}
		m.Text = string(text)
		break // the others are files
	}
	return m, nil
}

func signedBy(e inbox.Event) string {
	if e.Signature != inbox.Signed {
		return string(e.Signature)
	}
	return fmt.Sprintf("signed by %s (%s, key %.8s…)", e.Proof.Party, e.Proof.OrgName, e.Proof.Kid)
}

// ending prints how the negotiation stands at both sides, which must agree.
func (p *play) ending(thread string) (err error) {
	p.say("\n── How it stands ──")
	if p.result.Buyer, err = p.standing(p.buyer, thread); err != nil {
		return err
	}
	if p.result.Seller, err = p.standing(p.seller, thread); err != nil {
		return err
	}
	theirs := p.result.Seller.Entries
	for i, e := range p.result.Buyer.Entries {
		if len(theirs) != len(p.result.Buyer.Entries) || theirs[i].ID != e.ID || theirs[i].State != e.State {
			return errors.New("the two sides do not agree")
		}
	}
	p.say("Both sides agree on all of it.")
	return nil
}

// standing prints how the negotiation stands at one side.
func (p *play) standing(s *side, thread string) (inbox.Thread, error) {
	t, err := s.inbox().Thread(thread)
	if err != nil {
		return t, err
	}
	p.say("%s's side, thread %s with %s: record %s", s.name, t.ID[:8], t.With, t.Record)
	for _, e := range t.Entries {
		p.say("  %-10s by %-19s %s", e.Type, e.By, e.State)
	}
	return t, nil
}
