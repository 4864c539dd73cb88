package control

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
)

// world is DNS and the key pages of two inboxes, east and west.
type world struct {
	t     *testing.T
	txt   map[string]string
	pages map[string]*party.Page
	sides map[string]*inbox.Inbox
}

func newWorld(t *testing.T) *world {
	return &world{t, map[string]string{}, map[string]*party.Page{}, map[string]*inbox.Inbox{}}
}

func (w *world) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if text, ok := w.txt[name]; ok {
		return []string{text}, nil
	}
	return noDNS{}.LookupTXT(ctx, name)
}

func (w *world) Page(_ context.Context, url, _ string, _ bool) (*party.Page, error) {
	if page, ok := w.pages[url]; ok {
		return page, nil
	}
	return nil, party.ErrNoPage
}

// side opens an inbox that signs its mails and messages.
func (w *world) side(name string) func(*store.Store) *inbox.Inbox {
	return func(s *store.Store) *inbox.Inbox {
		w.t.Helper()
		public, private, err := ed25519.GenerateKey(rand.Reader)
		check(w.t, err)
		signer, err := dkim.NewSigner(name+".test", "s1", private)
		check(w.t, err)
		w.txt["s1._domainkey."+name+".test"] = dkim.KeyRecord(public)
		id, address := "pty_"+(name + "00000000000000000000")[:20], "agent@"+name+".test"
		key, err := party.NewKey(w.t.TempDir()+"/keys", rand.Reader, time.Now())
		check(w.t, err)
		data, err := party.BuildPage(id, name, []string{address}, nil, []party.OwnKey{key})
		check(w.t, err)
		url := party.PageURL("keys.test", id)
		w.pages[url], err = party.ParsePage(data, id)
		check(w.t, err)
		w.sides[name], err = inbox.Open(inbox.Settings{
			Name: name, Address: address, Party: id, OrgName: name, Contact: "owner@" + name + ".test", AgentName: name, AgentKind: "api", Keys: party.NewRing(key), JKU: url,
		}, inbox.Services{
			Store: s, DKIM: &dkim.Checker{Resolver: w}, Signer: signer, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
			Keys: &party.Verifier{Trust: party.Trust{Hosts: []string{"keys.test"}}, Pages: w, TXT: w},
		})
		check(w.t, err)
		return w.sides[name]
	}
}

// act has a side do something, and the other get the mail.
func (w *world) act(from, to string, a inbox.Action) inbox.Done {
	w.t.Helper()
	done, err := w.sides[from].Do(a)
	check(w.t, err)
	ctx, stop := context.WithCancel(w.t.Context())
	err = w.sides[from].SendLetters(ctx, carrier(func(raw []byte) error {
		defer stop()
		return w.deliver(to, raw)
	}))
	if !errors.Is(err, context.Canceled) {
		w.t.Fatal(err)
	}
	return done
}

func (w *world) deliver(to string, raw []byte) error {
	_, err := w.sides[to].Deliver(w.t.Context(), []inbox.Mail{{Raw: raw, Arrival: time.Now()}}, nil)
	return err
}

type carrier func(raw []byte) error

func (f carrier) Send(_ context.Context, _, _ string, raw []byte) error { return f(raw) }

// quoted plays an ask by west and the quote that east gives.
func (w *world) quoted() inbox.Done {
	w.t.Helper()
	a := ask()
	a.To = "agent@east.test"
	asked := w.act("west", "east", a)
	return w.act("east", "west", inbox.Action{
		Type: intent.Quote, Thread: asked.Thread, Items: a.Items, Total: &intent.Money{Amount: "100", Currency: "EUR"},
	})
}

// TestRecords asks for both records of a deal, as they are kept and checked.
func TestRecords(t *testing.T) {
	w := newWorld(t)
	r, ctx := serve(t, w.side("east"), w.side("west")), t.Context()
	quote := w.quoted()
	accept := w.act("west", "east", inbox.Action{Type: intent.Accept, Ref: quote.ID})
	list, err := r.client.Records(ctx, "east")
	check(t, err)
	if len(list) != 2 || list[0].Ours == list[1].Ours {
		t.Fatalf("records: %+v", list)
	}
	for _, one := range list {
		kept, err := r.client.Record(ctx, "east", accept.ID, one.Ours)
		check(t, err)
		if held, err := record.Parse(kept.File); err != nil || held.ID != one.ID || kept.Record != one || kept.Report.Result != "" {
			t.Errorf("%+v, %v", kept, err)
		}
		checked, err := r.client.CheckRecord(ctx, "east", one.ID, one.Ours)
		check(t, err)
		if string(checked.File) != string(kept.File) || checked.Report.Result != record.TwoSigned || len(checked.Report.Steps) == 0 {
			t.Errorf("%+v", checked.Report)
		}
	}
	if list, err := r.client.Records(ctx, "sales"); err != nil || len(list) != 0 {
		t.Errorf("of another inbox: %v, %v", list, err)
	}
}

// TestCount takes a person's words for an acceptance, once.
func TestCount(t *testing.T) {
	w := newWorld(t)
	r, ctx := serve(t, w.side("east"), w.side("west")), t.Context()
	quote := w.quoted()
	check(t, w.deliver("east", fmt.Appendf(nil, "From: agent@west.test\r\nTo: agent@east.test\r\nIn-Reply-To: <%s@east.test>\r\n\r\nFine, send them.\r\n", quote.ID)))
	waiting, err := r.client.Waiting(ctx, "east")
	check(t, err)
	if len(waiting) != 1 || waiting[0].Kind != "reply" || waiting[0].Text != "Fine, send them.\r\n" {
		t.Fatalf("waiting: %+v", waiting)
	}
	made, err := r.client.Count(ctx, "east", waiting[0].Key)
	check(t, err)
	if made.Offer != quote.ID || made.Kind != record.TheirReply || !made.Ours || made.With != "agent@west.test" {
		t.Errorf("%+v", made)
	}
	checked, err := r.client.CheckRecord(ctx, "east", made.ID, true)
	check(t, err)
	if checked.Report.Result != record.ReplyRecorded {
		t.Errorf("%+v", checked.Report)
	}
	if _, err := r.client.Count(ctx, "east", waiting[0].Key); !errors.As(err, new(*RefusedError)) {
		t.Errorf("counted twice: %v", err)
	}
}
