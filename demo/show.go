package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/inbox"
)

// show prints the mail as a person reads it, and what was proven about it.
func (p *play) show(from, to *side, e inbox.Event) error {
	sent := p.server.Sent()
	raw := sent[len(sent)-1].Raw
	mail, err := readMail(raw, e)
	if err != nil {
		return err
	}
	p.result.Mails = append(p.result.Mails, mail)
	number := len(p.result.Mails)
	p.say("\n── Mail %d, from the %s to the %s ──", number, from.name, to.name)
	p.say("From: %s\nTo: %s\nSubject: %s\n\n%s", mail.From, mail.To, mail.Subject, mail.Text)
	p.say("Proven by the %s: the mail is from %s (DKIM, selector %s); the message is %s", to.name, e.Proof.Domain, e.Proof.Selector, signedBy(e))
	p.say("Verdict: %s", e.Verdict)
	return os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("%d-%s.eml", number, e.Type)), raw, 0o600)
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
		m.Text += string(text)
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
