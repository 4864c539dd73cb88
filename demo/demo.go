// Package demo plays three acts between daemons in one process: a negotiation,
// a task with files, and a stranger who is let in. Mail is real, over a mail
// server in memory, and so are DKIM, signatures and key pages; nothing is
// outside the machine.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
)

// patience is how long one mail may take to arrive.
const patience = 20 * time.Second

// Result is what came of a demo.
type Result struct {
	Mails    []Mail       `json:"mails"` // in their order
	Buyer    inbox.Thread `json:"buyer"` // how the buyer has the negotiation
	Seller   inbox.Thread `json:"seller"`
	Receipts []Receipt    `json:"receipts"`
	Task     inbox.Task   `json:"task"`             // how the buyer has the task
	Folder   string       `json:"folder,omitempty"` // where everything was left
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
// With keep, the mails, records, key pages, stores and configurations are left
// in that folder, which must be new or empty.
func Run(ctx context.Context, keep string, out io.Writer) (result Result, err error) {
	dir, done, err := folder(keep)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, done()) }()
	users := map[string]string{}
	for _, name := range names {
		users[addressOf(name)] = name + "-password"
	}
	server, err := mailtest.Start(mailtest.Options{Users: users})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	world := newWorld()
	sides, err := world.open(dir, server)
	if err != nil {
		return result, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan error, len(sides))
	for _, s := range sides {
		go func() { stopped <- s.daemon.Run(running) }()
	}
	p := &play{ctx: running, out: out, server: server, pages: world.pages, dir: dir, buyer: sides[0], seller: sides[1], caller: sides[2]}
	err = p.acts()
	if ctx.Err() != nil { // whatever it met then came of that
		err = fmt.Errorf("the demo was stopped: %w", ctx.Err())
	}
	stop()
	for range sides {
		err = errors.Join(err, <-stopped)
	}
	if err == nil {
		p.left(keep != "")
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
	pages         map[string][]byte // the key pages, by address
	dir           string
	buyer, seller *side
	caller        *side // a stranger; its name is no longer than the others, as the path of a socket may not be
	result        Result
}

func (p *play) say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// left says where everything is, if it is kept.
func (p *play) left(kept bool) {
	if kept {
		p.result.Folder = p.dir
		p.say("\nMails, records, key pages, stores, logs and configurations are in %s. There, anybody can check the records anew:", p.dir)
		p.say("  agentmaild check records/*.json --keys keys --trusted-host %s", keyHost)
		p.say("  agentmaild check records/buyer.json --keys keys --trusted-host %s --thread .", keyHost)
		p.say("  node check-js/cli.js records/*.json --keys keys --trusted-host %s", keyHost)
		return
	}
	for i := range p.result.Receipts {
		p.result.Receipts[i].File = ""
	}
	for _, mail := range p.result.Mails {
		if x := mail.Event.Exchange; x != nil {
			for i := range x.Files {
				x.Files[i].Path = ""
			}
		}
	}
}

// acts is the whole story.
func (p *play) acts() error {
	for _, s := range []*side{p.buyer, p.seller, p.caller} {
		if err := p.ready(s); err != nil {
			return fmt.Errorf("waiting for the %s to watch its mailbox: %w", s.name, err)
		}
	}
	for _, act := range []func() error{p.negotiate, p.translate, p.knock} {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// negotiate is the first act: ask, quote, counter-quote, accept, and the receipt.
func (p *play) negotiate() error {
	p.say("══ A deal ══\n\nTwo agents, each with a mailbox and an agentmaild of its own, make a deal by email.")
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
	accept, err := p.act(p.seller, p.buyer, inbox.Action{Type: intent.Accept, Ref: counter.ID, Note: "Agreed. Thank you."})
	if err != nil {
		return err
	}
	if err := p.ending(ask.Thread); err != nil {
		return err
	}
	return p.receipts(accept.ID)
}

// offer makes a quote of an action, for the mugs.
func offer(a inbox.Action, each, total string) inbox.Action {
	price := intent.Money{Amount: each, Currency: "EUR"}
	a.Type, a.Total = intent.Quote, &intent.Money{Amount: total, Currency: "EUR"}
	a.Items = []intent.Item{{Description: "Ceramic mug, 350 ml, white", Quantity: 200, Unit: "piece", UnitPrice: &price}}
	return a
}

// act has one side do something that the other side accepts.
func (p *play) act(from, to *side, a inbox.Action) (inbox.Done, error) {
	return p.try(from, to, a, inbox.Accepted)
}

// try has one side do something, waits until the other side has decided about
// the mail, and shows both.
func (p *play) try(from, to *side, a inbox.Action, want inbox.Verdict) (inbox.Done, error) {
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
	if event.Verdict != want {
		return done, fmt.Errorf("the %s should have the mail %s: it is %s %s (%s)", to.name, want, event.Verdict, event.Code, event.Reason)
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
	return p.await(at, func(e inbox.Event) bool { return e.ID == id })
}

// await waits for the event of a mail that came.
func (p *play) await(at *side, is func(inbox.Event) bool) (inbox.Event, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		events, more, err := at.inbox().Events(at.seen, 100)
		if err != nil {
			return inbox.Event{}, err
		}
		for _, e := range events {
			at.seen = e.Seq
			if e.Kind == inbox.KindReceived && is(e) {
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
