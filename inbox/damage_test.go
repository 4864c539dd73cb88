package inbox

import (
	"errors"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
)

// damage makes one row of the seller's store unreadable.
func (s *scene) damage(t store.Table, key string) {
	s.t.Helper()
	s.doctored = true
	if err := s.seller.update(func(tx *store.Tx) error { return tx.Put(t, key, "damaged") }); err != nil {
		s.t.Fatal(err)
	}
}

// A row that cannot be read is an error of whatever needs it, never a verdict
// and never passed over: a mail is delivered again when the store is mended.
func TestDamagedStore(t *testing.T) {
	type world struct {
		*scene
		ask, quote Done
		counter    []byte // of the buyer, not delivered yet
		counterID  string
		held       string // id of a held message
	}
	deliver := func(w *world, raw []byte) error {
		_, err := w.seller.Deliver(w.t.Context(), []Mail{{Raw: raw, Arrival: w.now}}, nil)
		return err
	}
	for name, c := range map[string]struct {
		damage func(*world) (store.Table, string)
		do     func(*world) error
	}{
		"the nonce of a mail": {
			func(w *world) (store.Table, string) { return tableNonces, buyerAddress + "\x00" + w.nonce(w.counter) },
			func(w *world) error { return deliver(w, w.counter) },
		},
		"the message of the id": {
			func(w *world) (store.Table, string) { return tableMessages, w.counterID },
			func(w *world) error { return deliver(w, w.counter) },
		},
		"the answered message": {
			func(w *world) (store.Table, string) { return tableMessages, w.quote.ID },
			func(w *world) error { return deliver(w, w.counter) },
		},
		"the thread of a mail": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error { return deliver(w, w.counter) },
		},
		"the thread of an action": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error { _, err := w.seller.Do(quoteAction(w.ask.Thread, "", 1)); return err },
		},
		"the offer of an action": {
			func(w *world) (store.Table, string) { return tableMessages, w.quote.ID },
			func(w *world) error {
				_, err := w.seller.Do(Action{Type: intent.Cancel, Ref: w.quote.ID})
				return err
			},
		},
		"an earlier message, for References": {
			func(w *world) (store.Table, string) { return tableMessages, w.ask.ID },
			func(w *world) error {
				_, err := w.seller.Do(Action{Type: intent.Cancel, Ref: w.quote.ID})
				return err
			},
		},
		"the count of mails to an address": {
			func(*world) (store.Table, string) { return tableRates, "to " + buyerAddress },
			func(w *world) error {
				_, err := w.seller.Do(Action{Type: intent.Cancel, Ref: w.quote.ID})
				return err
			},
		},
		"the event of an action": {
			func(*world) (store.Table, string) { return tablePending, "x" },
			func(w *world) error {
				_, err := w.seller.Do(Action{Type: intent.Cancel, Ref: w.quote.ID, Event: "x"})
				return err
			},
		},
		"a thread that is due": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error { w.now = w.now.Add(30 * 24 * time.Hour); return w.seller.Tick() },
		},
		"a mail to try again": {
			func(*world) (store.Table, string) { return tableRetries, "x" },
			func(w *world) error { return w.seller.Retry(w.t.Context()) },
		},
		"a signature to look at again": {
			func(*world) (store.Table, string) { return tableSigns, "x" },
			func(w *world) error { return w.seller.Retry(w.t.Context()) },
		},
		"the list of threads": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error { _, err := w.seller.Threads(); return err },
		},
		"a thread that is shown": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error { _, err := w.seller.Thread(w.ask.Thread); return err },
		},
		"a message of a thread that is shown": {
			func(w *world) (store.Table, string) { return tableMessages, w.quote.ID },
			func(w *world) error { _, err := w.seller.Thread(w.ask.Thread); return err },
		},
		"one message of a thread": {
			func(w *world) (store.Table, string) { return tableMessages, w.quote.ID },
			func(w *world) error { _, err := w.seller.Message(w.ask.Thread, w.quote.ID); return err },
		},
		"the thread of one message": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error { _, err := w.seller.Message(w.ask.Thread, w.quote.ID); return err },
		},
		"an event": {
			func(*world) (store.Table, string) { return tableEvents, "x" },
			func(w *world) error { _, _, err := w.seller.Events("", 1000); return err },
		},
		"a pending event": {
			func(*world) (store.Table, string) { return tablePending, "x" },
			func(w *world) error { _, _, _, err := w.seller.Pending(); return err },
		},
		"a pending event that failed": {
			func(*world) (store.Table, string) { return tablePending, "x" },
			func(w *world) error { return w.seller.HandlerFailed("x", "no") },
		},
		"a pending event that is approved": {
			func(*world) (store.Table, string) { return tablePending, "x" },
			func(w *world) error { return w.seller.Approve("event-x") },
		},
		"a pending event that is listed": {
			func(*world) (store.Table, string) { return tablePending, "x" },
			func(w *world) error { _, err := w.seller.Waiting(); return err },
		},
		"an offer that is left to the owner": {
			func(*world) (store.Table, string) { return tableLeft, "x" },
			func(w *world) error { _, err := w.seller.Waiting(); return err },
		},
		"an offer that is put aside": {
			func(*world) (store.Table, string) { return tableLeft, "x" },
			func(w *world) error { return w.seller.Refuse("left-x", "") },
		},
		"a held message that is listed": {
			func(w *world) (store.Table, string) { return tableMessages, w.held },
			func(w *world) error { _, err := w.seller.Waiting(); return err },
		},
		"a held message that is approved": {
			func(w *world) (store.Table, string) { return tableMessages, w.held },
			func(w *world) error { return w.seller.Approve(w.held) },
		},
		"a held message that is refused": {
			func(w *world) (store.Table, string) { return tableMessages, w.held },
			func(w *world) error { return w.seller.Refuse(w.held, "") },
		},
		"a letter that is due": {
			func(*world) (store.Table, string) { return tableOutbox, "x" },
			func(w *world) error { _, err := w.seller.sendDue(w.t.Context(), nil); return err },
		},
		"a letter that was cut off": {
			func(*world) (store.Table, string) { return tableOutbox, "x" },
			func(w *world) error { return w.seller.resume() },
		},
		"a letter that is listed": {
			func(*world) (store.Table, string) { return tableOutbox, "x" },
			func(w *world) error { _, err := w.seller.Waiting(); return err },
		},
		"a letter that is approved": {
			func(*world) (store.Table, string) { return tableOutbox, "x" },
			func(w *world) error { return w.seller.Approve("letter-x") },
		},
		"the thread of a letter that was refused": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error {
				return w.seller.settle("x", letterRow{ID: w.quote.ID, Thread: w.ask.Thread}, errors.New("550 no"))
			},
		},
		"the thread of a letter that went out": {
			func(w *world) (store.Table, string) { return tableThreads, w.ask.Thread },
			func(w *world) error {
				return w.seller.settle("x", letterRow{ID: w.quote.ID, Thread: w.ask.Thread}, nil)
			},
		},
		"a counter": {
			func(*world) (store.Table, string) { return tableCounts, "nonces of " + buyerAddress },
			func(w *world) error { return deliver(w, w.counter) },
		},
		"a report that is listed": {
			func(*world) (store.Table, string) { return tableBounced, "x" },
			func(w *world) error { _, err := w.seller.Waiting(); return err },
		},
		"a report that is put aside": {
			func(*world) (store.Table, string) { return tableBounced, "x" },
			func(w *world) error { return w.seller.Refuse("bounce-x", "") },
		},
		"the position": {
			func(*world) (store.Table, string) { return tableDue, "0000000000000000/park/x" },
			func(w *world) error { w.damage(tableMessages, "x"); return w.seller.Tick() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{scene: newScene(t)}
			w.ask, w.quote = w.quoted()
			var done Done
			done, w.counter = w.do(w.buyer, quoteAction("", w.quote.ID, 50000))
			w.counterID = done.ID
			other, raw := w.do(w.buyer, timesAction())
			w.expect(w.seller, w.unsigned(raw), "held mail_only")
			w.held = other.ID
			table, key := c.damage(w)
			w.damage(table, key)
			if err := c.do(w); err == nil || errors.Is(err, ErrAction) {
				t.Errorf("no error of the store: %v", err)
			}
		})
	}
}

// A row that cannot be read holds up its own thread alone: time passes in the
// others.
func TestTimePassesBesideDamage(t *testing.T) {
	s := newScene(t)
	ask, _ := s.quoted()
	other, raw := s.do(s.buyer, timesAction())
	s.expect(s.seller, raw, "accepted signed")
	s.damage(tableThreads, ask.Thread)
	s.now = s.now.Add(8 * 24 * time.Hour)
	if err := s.seller.Tick(); err == nil {
		t.Error("no error of the damaged thread")
	}
	if e := s.lastEvent(s.seller); e.Kind != KindExpired || e.Thread != other.Thread {
		t.Errorf("the last event is %+v", e)
	}
}

func (s *scene) nonce(raw []byte) string {
	s.t.Helper()
	return s.parsed(raw).Nonce
}

// A parked message whose key page stays down is decided a day after it came,
// whether it is released before or after that.
func TestParkedReleasedLate(t *testing.T) {
	s := newScene(t)
	ask, askRaw := s.do(s.buyer, askAction())
	s.expect(s.seller, askRaw, "accepted signed")
	quote, quoteRaw := s.do(s.seller, quoteAction(ask.Thread, "", 55000))
	counter, counterRaw := s.do(s.seller, quoteAction("", quote.ID, 54000))
	_, again := s.do(s.seller, quoteAction("", counter.ID, 53000))
	s.page = party.ErrTemporary
	s.expect(s.buyer, again, "parked")
	s.expect(s.buyer, counterRaw, "parked")
	s.page = nil
	s.expect(s.buyer, quoteRaw, "accepted signed")
	s.tick(s.buyer, time.Second)
	s.tick(s.buyer, time.Second)
	s.tick(s.buyer, time.Second)
	if got := s.state(s.buyer, ask.Thread, counter.ID); got != "replaced" {
		t.Errorf("the first counter-offer is %s", got)
	}
}

// Without a key messages go out unsigned, and such an agreement has no record
// that this side could rest on.
func TestWithoutKey(t *testing.T) {
	s := newScene(t, func(set *Settings) {
		if set.Name == "buyer" {
			set.Keys, set.Party = nil, ""
		}
		set.Unsigned = UnsignedAllow
	})
	offer, raw := s.do(s.buyer, timesAction())
	s.expect(s.seller, raw, "accepted mail_only")
	slot := 0
	_, raw = s.do(s.seller, Action{Type: intent.Accept, Ref: offer.ID, Slot: &slot})
	s.expect(s.buyer, raw, "accepted signed")
	for in, want := range map[*Inbox]record.Kind{s.buyer: "", s.seller: record.OurSignature} {
		thread, err := in.Thread(offer.Thread)
		if err != nil || thread.Record != want {
			t.Errorf("%s: record %q, %v", in.Name(), thread.Record, err)
		}
	}
}
