// Package demo plays a negotiation between two daemons in one process: real
// mail over a mail server in memory, real DKIM, signatures and key pages, and
// nothing outside the machine.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

// patience is how long one mail may take to arrive.
const patience = 20 * time.Second

// Result is what came of a demo.
type Result struct {
	Mails  []Mail       `json:"mails"` // in their order
	Buyer  inbox.Thread `json:"buyer"` // how the buyer has the negotiation
	Seller inbox.Thread `json:"seller"`
	Folder string       `json:"folder,omitempty"` // where everything was left
}

// Mail is a mail as a person reads it, with what its receiver made of it.
type Mail struct {
	From    string      `json:"from"` // the header fields
	To      string      `json:"to"`
	Subject string      `json:"subject"`
	Text    string      `json:"text"`
	Event   inbox.Event `json:"event"` // at the receiver
}

// ErrFolder is wrapped when the folder for keep cannot be used.
var ErrFolder = errors.New("--keep")

// Run plays the demo, prints it to out as it goes, and returns what came of it.
// With keep, the mails, stores and configurations are left in that folder,
// which must be new or empty.
func Run(ctx context.Context, keep string, out io.Writer) (result Result, err error) {
	dir, done, err := folder(keep)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, done()) }()
	server, err := mailtest.Start(mailtest.Options{Users: map[string]string{buyerAddress: "buyer-password", sellerAddress: "seller-password"}})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	world := newWorld()
	buyer, err := world.side(dir, "buyer", server)
	if err != nil {
		return result, err
	}
	seller, err := world.side(dir, "seller", server)
	if err != nil {
		return result, errors.Join(err, buyer.daemon.Close())
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan error, 2)
	for _, s := range []*side{buyer, seller} {
		go func() { stopped <- s.daemon.Run(running) }()
	}
	p := &play{ctx: running, out: out, server: server, dir: dir, buyer: buyer, seller: seller}
	err = p.negotiate()
	if ctx.Err() != nil { // whatever it met then came of that
		err = fmt.Errorf("the demo was stopped: %w", ctx.Err())
	}
	stop()
	if err = errors.Join(err, <-stopped, <-stopped); err == nil && keep != "" {
		p.result.Folder = dir
		p.say("Mails, stores, logs and configurations are in %s.", dir)
	}
	return p.result, err
}

// folder returns the folder of the demo and what is to be done with it after.
func folder(keep string) (string, func() error, error) {
	if keep == "" {
		dir, err := os.MkdirTemp("", "agentmaild-demo-")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	entries, err := os.ReadDir(keep)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if len(entries) > 0 {
		return "", nil, fmt.Errorf("%w: %s is not empty: name a new folder", ErrFolder, keep)
	}
	dir, err := filepath.Abs(keep)
	return dir, func() error { return nil }, err
}

// play is the demo under way.
type play struct {
	ctx           context.Context
	out           io.Writer
	server        *mailtest.Server
	dir           string
	buyer, seller *side
	result        Result
}

func (p *play) say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// negotiate is the story: ask, quote, counter-quote, accept.
func (p *play) negotiate() error {
	p.say("Two agents, each with a mailbox and an agentmaild of its own, make a deal by email.")
	for _, s := range []*side{p.buyer, p.seller} {
		if err := p.ready(s); err != nil {
			return fmt.Errorf("waiting for the %s to watch its mailbox: %w", s.name, err)
		}
	}
	day := time.Now().AddDate(0, 2, 0).Format(time.DateOnly)
	ask, err := p.act(p.buyer, p.seller, inbox.Action{
		Type: intent.AskQuote, To: sellerAddress, WantedBy: day,
		Items: []intent.Item{{Description: "Ceramic mug, 350 ml, white", Quantity: 200, Unit: "piece"}},
		Note:  "We would like delivery to Ikeja.",
	})
	if err != nil {
		return err
	}
	quote, err := p.act(p.seller, p.buyer, offer(inbox.Action{Thread: ask.Thread, DeliveryBy: day}, "275", "55000"))
	if err != nil {
		return err
	}
	counter, err := p.act(p.buyer, p.seller, offer(inbox.Action{Replaces: quote.ID, DeliveryBy: day}, "250", "50000"))
	if err != nil {
		return err
	}
	if _, err := p.act(p.seller, p.buyer, inbox.Action{Type: intent.Accept, Ref: counter.ID, Note: "Agreed. Thank you."}); err != nil {
		return err
	}
	return p.ending(ask.Thread)
}

// offer makes a quote of an action, for the mugs.
func offer(a inbox.Action, each, total string) inbox.Action {
	price := intent.Money{Amount: each, Currency: "EUR"}
	a.Type, a.Total = intent.Quote, &intent.Money{Amount: total, Currency: "EUR"}
	a.Items = []intent.Item{{Description: "Ceramic mug, 350 ml, white", Quantity: 200, Unit: "piece", UnitPrice: &price}}
	return a
}

// act has one side do something, waits until the other side has decided about
// the mail, and shows both.
func (p *play) act(from, to *side, a inbox.Action) (inbox.Done, error) {
	done, err := from.inbox().Do(a)
	if err != nil {
		return done, fmt.Errorf("the %s: %w", from.name, err)
	}
	event, err := p.arrival(to, done.ID)
	if err != nil {
		return done, fmt.Errorf("waiting for the %s's %s at the %s: %w", from.name, a.Type, to.name, err)
	}
	if err := p.show(from, to, event); err != nil {
		return done, err
	}
	if event.Verdict != inbox.Accepted {
		return done, fmt.Errorf("the %s did not accept the mail: %s %s (%s)", to.name, event.Verdict, event.Code, event.Reason)
	}
	return done, nil
}

// ready waits until a side watches its mailbox: what is in a mailbox before a
// daemon's first look is left alone.
func (p *play) ready(s *side) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		if position, err := s.inbox().Position(); err != nil || position != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// arrival waits for the event of a message.
func (p *play) arrival(at *side, id string) (inbox.Event, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		events, more, err := at.inbox().Events(at.seen, 100)
		if err != nil {
			return inbox.Event{}, err
		}
		for _, e := range events {
			at.seen = e.Seq
			if e.Kind == inbox.KindReceived && e.ID == id {
				return e, nil
			}
		}
		select {
		case <-ctx.Done():
			return inbox.Event{}, ctx.Err()
		case <-more:
		}
	}
}

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
