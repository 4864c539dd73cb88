package injection

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/inbox/inboxtest"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/webhook"
	"github.com/go-json-experiment/json"
)

// world is a buyer and a seller in whose mail a text stands at one place.
type world struct {
	*testing.T
	pair  *inboxtest.Pair
	log   log
	mails [][]byte        // all that went out, in their order
	told  strings.Builder // what the webhooks were told, a line each
	items []intent.Item
}

// log is the lines of the daemon's log.
type log struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(line)
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// put has a text written at a place. It tells that the sender's own program
// refuses to write it there; so would the receiver's refuse to read it, by the
// same rules.
func put(t *testing.T, place, text string) (w *world, stopped error) {
	t.Helper()
	p, known := places[place]
	if !known {
		t.Fatalf("%q is no place", place)
	}
	w = &world{T: t, items: []intent.Item{{Description: "Mug", Quantity: 200, Unit: "piece"}}}
	w.pair = inboxtest.New(t, func(set *inbox.Settings) {
		set.Handled, set.Notify = true, set.Contact
		if p.settings != nil && set.Name == "buyer" {
			p.settings(set, text)
		}
	}, slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // the one thing that two runs do not share
		}
		return a
	}})))
	done := w.listen()
	stopped = p.write(w, text)
	done()
	if stopped != nil {
		return w, stopped
	}
	w.pair.Now = w.pair.Now.Add(2 * time.Hour) // the owners are told
	for _, in := range w.inboxes() {
		w.check(in.Tick())
		w.send(in)
	}
	return w, nil
}

// listen has the webhooks of both sides told of all that happens from here on,
// until it is done.
func (w *world) listen() (done func()) {
	w.Helper()
	ctx, stop := context.WithCancel(w.Context())
	told := map[string]chan []byte{}
	for _, in := range w.inboxes() {
		told["/"+in.Name()] = make(chan []byte, 1000)
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			told[r.URL.Path] <- body
		}
	}))
	var running sync.WaitGroup
	before, now := map[string]string{}, w.pair.Now
	for _, in := range w.inboxes() {
		last, err := in.LastEvent()
		w.check(err)
		before[in.Name()] = last
		begun := closing{make(chan struct{})} // its first line says that it tells from here on
		sender := webhook.Sender{Inbox: in, URL: server.URL + "/" + in.Name(), Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(begun, nil))}
		running.Go(func() { _ = sender.Run(ctx) })
		<-begun.ch
	}
	return func() {
		for _, in := range w.inboxes() {
			events, _, err := in.Events(before[in.Name()], 1000)
			w.check(err)
			for range events {
				w.told.Write(append(<-told["/"+in.Name()], '\n'))
			}
		}
		stop()
		running.Wait()
		server.Close()
	}
}

// closing closes a channel at the first line of a log.
type closing struct{ ch chan struct{} }

func (c closing) Write(line []byte) (int, error) {
	select {
	case <-c.ch:
	default:
		close(c.ch)
	}
	return len(line), nil
}

func (w *world) inboxes() []*inbox.Inbox { return []*inbox.Inbox{w.pair.Buyer, w.pair.Seller} }

// place is where a text can stand.
type place struct {
	settings func(set *inbox.Settings, text string) // of the buyer
	write    func(w *world, text string) error
}

var places = map[string]place{
	"note":         {write: func(w *world, text string) error { return w.deal(text) }},
	"item":         {write: func(w *world, text string) error { w.items[0].Description = text; return w.deal("") }},
	"unit":         {write: func(w *world, text string) error { w.items[0].Unit = text; return w.deal("") }},
	"org_name":     {func(set *inbox.Settings, text string) { set.OrgName = text }, func(w *world, _ string) error { return w.deal("") }},
	"agent_name":   {func(set *inbox.Settings, text string) { set.AgentName = text }, func(w *world, _ string) error { return w.deal("") }},
	"display_name": {func(set *inbox.Settings, text string) { set.Sender = text }, func(w *world, _ string) error { return w.deal("") }},
	"location":     {write: func(w *world, text string) error { return w.times("A visit", text) }},
	"purpose":      {write: func(w *world, text string) error { return w.times(text, "Here") }},
	"held_note":    {func(set *inbox.Settings, _ string) { set.Keys, set.JKU = nil, "" }, (*world).ask},
	"action_note": {write: func(w *world, text string) error {
		if err := w.ask(""); err != nil {
			return err
		}
		threads, err := w.pair.Seller.Threads()
		w.check(err)
		_, err = w.pair.Seller.Propose(inbox.Action{Type: intent.Quote, Thread: threads[0].ID, Items: w.items, Total: &intent.Money{Amount: "1", Currency: "EUR"}, Note: text})
		return err
	}},

	"request_text": {write: func(w *world, text string) error { return w.request(inbox.Action{Text: text}) }},
	"request_json": {write: func(w *world, text string) error {
		input, err := json.Marshal(map[string]any{text: []string{text}, "n": 1})
		w.check(err)
		return w.request(inbox.Action{Input: input})
	}},
	"offering": {write: func(w *world, text string) error { return w.request(inbox.Action{Offering: text, Text: "Hello."}) }},
	"task":     {write: func(w *world, text string) error { return w.request(inbox.Action{Task: text, Text: "Hello."}) }},
	"file_name": {write: func(w *world, text string) error {
		path := filepath.Join(w.TempDir(), text)
		w.check(os.WriteFile(path, []byte("data"), 0o600))
		return w.request(inbox.Action{Text: "Hello.", Files: []string{path}})
	}},
	"error_message": {write: func(w *world, text string) error {
		return w.failed(agentmsg.Failure{Code: "not_found", Message: text})
	}},
	"error_code": {write: func(w *world, text string) error { return w.failed(agentmsg.Failure{Code: agentmsg.ErrorCode(text)}) }},

	"stranger_text": {write: func(w *world, text string) error { return w.stranger(inbox.Action{Offering: "chat", Text: text}) }},
	"knock_text":    {write: func(w *world, text string) error { return w.stranger(inbox.Action{Offering: "knock", Text: text}) }},

	"person_text": {write: func(w *world, text string) error { return w.mail("Hello", text) }},
	"subject":     {write: func(w *world, text string) error { return w.mail(text, "") }},
	"server_words": {write: func(w *world, text string) error {
		_, err := w.pair.Buyer.Do(w.asking(""))
		w.check(err)
		w.refusedBy(w.pair.Buyer, text)
		return nil
	}},
}

func (w *world) asking(note string) inbox.Action {
	return inbox.Action{Type: intent.AskQuote, To: w.pair.Seller.Address(), Items: w.items, Note: note}
}

func (w *world) ask(note string) error {
	_, err := w.pair.Buyer.Do(w.asking(note))
	w.send(w.pair.Buyer)
	return err
}

// deal goes from an ask to an agreement, with a record at either side, and has
// one offer more that is declined.
func (w *world) deal(note string) error {
	if err := w.ask(note); err != nil {
		return err
	}
	threads, err := w.pair.Seller.Threads()
	w.check(err)
	total := &intent.Money{Amount: "50000", Currency: "EUR"}
	quote, err := w.pair.Seller.Do(inbox.Action{Type: intent.Quote, Thread: threads[0].ID, Items: w.items, Total: total})
	w.check(err)
	w.send(w.pair.Seller)
	counter, err := w.pair.Buyer.Do(inbox.Action{Type: intent.Quote, Replaces: quote.ID, Items: w.items, Total: total, Note: note})
	w.check(err)
	w.send(w.pair.Buyer)
	_, err = w.pair.Seller.Do(inbox.Action{Type: intent.Accept, Ref: counter.ID})
	w.check(err)
	w.send(w.pair.Seller)
	return nil
}

func (w *world) times(purpose, location string) error {
	_, err := w.pair.Buyer.Do(inbox.Action{
		Type: intent.ProposeTimes, To: w.pair.Seller.Address(), Purpose: purpose, Location: location,
		Slots: []intent.Slot{{Start: "2026-11-12T10:00:00+01:00", End: "2026-11-12T10:30:00+01:00", TimeZone: "Europe/Berlin"}},
	})
	w.send(w.pair.Buyer)
	return err
}

// request sends one to the seller, who answers that it works on it.
func (w *world) request(a inbox.Action) error {
	a.Type, a.To = inbox.ActRequest, w.pair.Seller.Address()
	if a.Offering == "" {
		a.Offering = "chat"
	}
	done, err := w.pair.Buyer.Do(a)
	if err != nil {
		return err
	}
	w.send(w.pair.Buyer)
	if a.Offering == "chat" { // another is refused by the daemon itself
		_, err = w.pair.Seller.Do(inbox.Action{Type: inbox.ActRespond, Request: done.ID, Status: agentmsg.StatusWorking})
		w.check(err)
	}
	w.send(w.pair.Seller)
	return nil
}

// stranger sends a request of an agent that the seller has not admitted.
func (w *world) stranger(a inbox.Action) error {
	w.check(w.pair.Seller.Decide(w.pair.Buyer.AgentID(), agentmsg.StanceHold, ""))
	a.Type, a.To = inbox.ActRequest, w.pair.Seller.Address()
	_, err := w.pair.Buyer.Do(a)
	w.send(w.pair.Buyer)
	return err
}

// failed has the seller answer a request so.
func (w *world) failed(f agentmsg.Failure) error {
	done, err := w.pair.Buyer.Do(inbox.Action{Type: inbox.ActRequest, To: w.pair.Seller.Address(), Offering: "chat", Text: "Hello."})
	w.check(err)
	w.send(w.pair.Buyer)
	_, err = w.pair.Seller.Do(inbox.Action{Type: inbox.ActRespond, Request: done.ID, Status: agentmsg.StatusFailed, Error: &f})
	w.send(w.pair.Seller)
	return err
}

// mail is one of a person to the seller. One without a text is for review.
func (w *world) mail(subject, text string) error {
	kind := "text/plain"
	if text == "" {
		kind, text = "application/octet-stream", "x"
	}
	raw := "From: agent@buyer.test\r\nTo: agent@seller.test\r\nDate: Mon, 02 Nov 2026 09:00:00 +0000\r\nMessage-ID: <1@buyer.test>\r\n" +
		"Subject: " + subject + "\r\nMIME-Version: 1.0\r\nContent-Type: " + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" +
		strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
	w.pair.Deliver(w.pair.Seller, w.pair.Sign(w.pair.Buyer, []byte(raw)))
	return nil
}

// send hands out all the mail that waits at one side: to the other side, or to
// its owner.
func (w *world) send(from *inbox.Inbox) {
	w.Helper()
	w.transport(from, func(to string, raw []byte) error {
		w.mails = append(w.mails, raw)
		for _, in := range w.inboxes() {
			if in.Address() == to {
				w.pair.Deliver(in, raw)
			}
		}
		return nil
	})
}

// refusedBy has a mail server refuse the mail that waits in some words.
func (w *world) refusedBy(from *inbox.Inbox, words string) {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.check(err)
	w.Cleanup(func() { _ = listener.Close() })
	go refuse(listener, words)
	sender := &mailbox.Sender{Account: mailbox.Account{Endpoint: mailbox.Endpoint{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, TLS: mailbox.NoTLS}, User: "x", Password: func(context.Context) (string, error) { return "x", nil }}}
	defer sender.Close()
	w.transport(from, func(to string, raw []byte) error {
		err := sender.Send(w.Context(), mailbox.Letter{From: from.Address(), To: to, Raw: raw})
		if err == nil {
			w.Error("the mail server did not refuse")
		}
		return err
	})
}

// refuse is a mail server that takes no sender.
func refuse(listener net.Listener, words string) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 hostile")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch verb, _, _ := strings.Cut(lines.Text(), " "); verb {
		case "EHLO":
			say("250-hostile")
			say("250 AUTH PLAIN")
			continue
		case "AUTH":
			say("235 ok")
			continue
		case "MAIL":
			for _, line := range strings.Split(words, "\r\n") {
				say("550-" + line)
			}
			say("550 end")
			continue
		}
		say("250 ok")
	}
}

// transport gives each mail that waits to a function.
func (w *world) transport(from *inbox.Inbox, give func(to string, raw []byte) error) {
	w.Helper()
	backlog, err := from.Backlog()
	w.check(err)
	waiting, err := from.Waiting()
	w.check(err)
	left := backlog.Letters
	for _, one := range waiting {
		if one.Kind == "letter" {
			left--
		}
	}
	if left == 0 {
		return
	}
	ctx, stop := context.WithCancel(w.Context())
	err = from.SendLetters(ctx, outgoing(func(to string, raw []byte) error {
		if left--; left == 0 {
			defer stop()
		}
		return give(to, raw)
	}))
	if !errors.Is(err, context.Canceled) {
		w.Fatal(err)
	}
}

type outgoing func(to string, raw []byte) error

// Send is that of an inbox's transport.
func (f outgoing) Send(_ context.Context, _, to string, raw []byte) error { return f(to, raw) }

var discard = slog.New(slog.DiscardHandler)

// random is bytes that are always the same.
func (w *world) random() io.Reader { return strings.NewReader(strings.Repeat("random words", 100)) }
