package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// errCrash ends what a side is doing, as kill -9 would: its store is closed.
var errCrash = errors.New("killed")

// crashes is a negotiation between two inboxes that act by their handlers'
// rules, over mailboxes that keep everything. One instant of it is chosen for
// a crash; whoever is at work then starts again from its store alone.
type crashes struct {
	*scene
	mailbox map[string][][]byte // by address; a UID is the index plus one
	sent    map[string][]byte   // by Message-ID
	point   int                 // instants passed so far
	at      int                 // the one to crash at
	hit     bool
	answer  func(*Inbox, *Event) Action // what the handler does about an event; nothing without a type
}

// instant is passed before and after everything that lasts.
func (c *crashes) instant() error {
	c.point++
	if c.point != c.at {
		return nil
	}
	c.hit = true
	if err := c.store.Close(); err != nil {
		c.t.Fatal(err)
	}
	return errCrash
}

// side names an inbox; it is another object after a crash.
func (c *crashes) side(name string) *Inbox {
	if name == "buyer" {
		return c.buyer
	}
	return c.seller
}

// work lets a side do all that it has to do by now.
func (c *crashes) work(name string) (acted bool, err error) {
	for _, part := range []func(*Inbox) (bool, error){c.receive, c.decide, c.send} {
		did, err := part(c.side(name))
		if err != nil {
			return true, err
		}
		acted = acted || did
	}
	return acted, nil
}

func (c *crashes) receive(in *Inbox) (bool, error) {
	data, err := in.Position()
	if err != nil {
		return false, err
	}
	seen := 0
	if data != nil {
		if err := json.Unmarshal(data, &seen); err != nil {
			c.t.Fatal(err)
		}
	}
	box := c.mailbox[in.Address()]
	if seen == len(box) {
		return false, nil
	}
	if err := c.instant(); err != nil {
		return true, err
	}
	if _, err := in.Deliver(c.t.Context(), []Mail{{Raw: box[seen], Arrival: c.now}}, []byte(fmt.Sprint(seen+1))); err != nil {
		return true, err
	}
	return true, c.instant()
}

// decide is the handler.
func (c *crashes) decide(in *Inbox) (bool, error) {
	e, _, _, err := in.Pending()
	if err != nil || e == nil {
		return false, err
	}
	if err := c.instant(); err != nil {
		return true, err
	}
	a := c.answer(in, e)
	if a.Type == "" {
		err = in.HandlerDone(e.Seq)
	} else {
		a.Event = e.Seq
		_, err = in.Do(a)
	}
	if err != nil {
		return true, err
	}
	return true, c.instant()
}

// haggle quotes an ask, counters a quote once, and accepts a counter.
func (c *crashes) haggle(in *Inbox, e *Event) Action {
	switch m, err := intent.Parse(e.Message); {
	case err != nil:
		c.t.Fatal(err)
	case m.Type == intent.AskQuote:
		return quoteAction(m.Thread, "", 55000)
	case m.Type == intent.Quote && in.Name() == "buyer":
		return quoteAction("", m.ID, 50000)
	case m.Type == intent.Quote:
		return Action{Type: intent.Accept, Ref: m.ID}
	}
	return Action{}
}

// translate asks for the language, gives it, and answers with a file.
func (c *crashes) translate(file string) func(*Inbox, *Event) Action {
	return func(in *Inbox, e *Event) Action {
		switch {
		case in.Name() == "buyer" && e.Exchange.Task.State == agentmsg.StatusInputRequired:
			a := c.ask("translate", "French.")
			a.Task = e.Exchange.Task.ID
			return a
		case in.Name() == "buyer":
			return Action{}
		case e.Exchange.Task == nil:
			return Action{Type: ActRespond, Status: agentmsg.StatusInputRequired, Text: "Into which language?"}
		default:
			return Action{Type: ActRespond, Text: "Voilà.", Files: []string{file}}
		}
	}
}

func (c *crashes) send(in *Inbox) (bool, error) {
	if err := in.resume(); err != nil {
		return false, err
	}
	acted := false
	_, err := in.sendDue(c.t.Context(), transport(func(_, to string, raw []byte) error {
		acted = true
		if err := c.instant(); err != nil { // in DATA, before the server has all of it
			return err
		}
		mail, err := envelope.Read(raw)
		if err != nil {
			c.t.Fatal(err)
		}
		id := mail.Header.Get("Message-ID")
		if before, again := c.sent[id]; again && !bytes.Equal(before, raw) {
			c.t.Errorf("two mails %s with different content", id)
		}
		c.sent[id] = raw
		c.mailbox[to] = append(c.mailbox[to], raw)
		return c.instant() // the server has it; its answer is not noted yet
	}))
	return acted, err
}

// Whatever the instant of the crash, the end is the same: one agreement on
// both sides, no message lost, none acted on twice.
func TestCrashAtEveryInstant(t *testing.T) {
	for at := 1; ; at++ {
		c := &crashes{scene: newScene(t, handled), mailbox: map[string][][]byte{}, sent: map[string][]byte{}, at: at}
		c.answer = c.haggle
		ask, err := c.buyer.Do(askAction())
		if err != nil {
			t.Fatal(err)
		}
		c.playOut()
		c.compare(ask)
		if t.Failed() {
			t.Fatalf("with a crash at instant %d", at)
		}
		if !c.hit {
			if at < 20 {
				t.Errorf("only %d instants", at-1)
			}
			return
		}
	}
}

// The same for a task: it ends once, with its file, on both sides.
func TestTaskCrashAtEveryInstant(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte("Les tasses"), 0o600); err != nil {
		t.Fatal(err)
	}
	for at := 1; ; at++ {
		c := &crashes{scene: agentScene(t), mailbox: map[string][][]byte{}, sent: map[string][]byte{}, at: at}
		c.answer = c.translate(file)
		c.admits()
		ask := c.ask("translate", "Please translate.")
		ask.Files = []string{file}
		if _, err := c.buyer.Do(ask); err != nil {
			t.Fatal(err)
		}
		c.playOut()
		c.compareTask()
		if t.Failed() {
			t.Fatalf("with a crash at instant %d", at)
		}
		if !c.hit {
			if at < 20 {
				t.Errorf("only %d instants", at-1)
			}
			return
		}
	}
}

func (c *crashes) compareTask() {
	if len(c.sent) != 4 {
		c.t.Errorf("%d different mails", len(c.sent))
	}
	for _, in := range []*Inbox{c.buyer, c.seller} {
		tasks, err := in.Tasks()
		if err != nil || len(tasks) != 1 || tasks[0].State != agentmsg.StatusCompleted || len(tasks[0].Updates) != 2 {
			c.t.Errorf("%s: tasks %+v, %v", in.Name(), tasks, err)
		}
		if letters, e := outbox(c.t, in), c.pending(in); len(letters) != 0 || e != nil {
			c.t.Errorf("%s: %d letters left, %+v pending", in.Name(), len(letters), e)
		}
		kept, err := filepath.Glob(filepath.Join(in.srv.Spool.Name(), "*", "a.txt"))
		if err != nil || len(kept) != 1 {
			c.t.Errorf("%s: the spool has %v, %v", in.Name(), kept, err)
		}
	}
}

func (c *crashes) playOut() {
	for busy := true; busy; {
		busy = false
		for _, name := range []string{"buyer", "seller"} {
			acted, err := c.work(name)
			switch {
			case errors.Is(err, errCrash), errors.Is(err, store.ErrClosed):
				c.open()
			case err != nil:
				c.t.Fatal(err)
			}
			busy = busy || acted
		}
	}
}

func (c *crashes) compare(ask Done) {
	if len(c.sent) != 4 {
		c.t.Errorf("%d different mails", len(c.sent))
	}
	for _, in := range []*Inbox{c.buyer, c.seller} {
		thread, err := in.Thread(ask.Thread)
		if err != nil {
			c.t.Error(err)
			continue
		}
		var states []threads.State
		for _, e := range thread.Entries {
			states = append(states, e.State)
		}
		if got := fmt.Sprint(states); got != "[answered replaced agreed]" || len(thread.Messages) != 4 || thread.Record != record.TwoSignatures {
			c.t.Errorf("%s: %s, %d messages, record %q", in.Name(), got, len(thread.Messages), thread.Record)
		}
		letters := outbox(c.t, in)
		if waiting, err := in.Waiting(); err != nil || len(letters) != 0 || len(waiting) != 0 {
			c.t.Errorf("%s: %d letters left, %d wait, %v", in.Name(), len(letters), len(waiting), err)
		}
	}
}
