package inbox

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// stranger is the mail of an unsigned message that begins a thread, from an
// address of the buyer's domain or of one below it.
func (s *scene) stranger(from string, change ...func(*intent.Message)) []byte {
	s.t.Helper()
	ids, err := s.buyer.newIDs(2)
	if err != nil {
		s.t.Fatal(err)
	}
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		s.t.Fatal(err)
	}
	m := s.buyer.message(askAction())
	m.ID, m.Thread, m.Nonce = ids[0], ids[1], base64.RawURLEncoding.EncodeToString(nonce)
	m.From, m.To.Address = intent.Sender{Address: from}, sellerAddress
	for _, c := range change {
		c(&m)
	}
	p, err := intent.Seal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	draft, err := p.Draft("", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := envelope.Compose(draft, rand.Reader)
	if err == nil {
		raw, err = s.services["buyer"].Signer.Sign(raw, s.now)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// cancels makes a message the cancel of another one.
func (s *scene) cancels(raw []byte) func(*intent.Message) {
	ask := s.parsed(raw)
	return func(m *intent.Message) {
		m.Type, m.Thread, m.Ref, m.Items, m.Note = intent.Cancel, ask.Thread, ask.ID, nil, ""
	}
}

// lastEvent is the event that was recorded last.
func (s *scene) lastEvent(in *Inbox) Event {
	s.t.Helper()
	events, _, err := in.Events("", 2*keepEvents)
	if err != nil || len(events) == 0 {
		s.t.Fatalf("%d events, %v", len(events), err)
	}
	return events[len(events)-1]
}

// used sets a counter, as if so much had come before.
func (s *scene) used(name string, n int64) {
	s.t.Helper()
	s.doctored = true
	if err := s.seller.update(func(tx *store.Tx) error { return tx.Put(tableCounts, name, n) }); err != nil {
		s.t.Fatal(err)
	}
}

// recount compares the counters of an inbox with what they count.
func (s *scene) recount(in *Inbox) {
	s.t.Helper()
	want, have := map[string]int64{}, map[string]int64{}
	add := func(from string, q quota, n int64) {
		for name, limit := range (claim{q, n}).shares(from) {
			if limit != 0 {
				want[name] += n
			}
		}
	}
	scan := func(tx *store.Tx, t store.Table, fn func(store.Row) error) error {
		return tx.Scan(t, "", "", func(r store.Row) (bool, error) { err := fn(r); return err == nil, err })
	}
	err := in.view(func(tx *store.Tx) error {
		for table, fn := range map[store.Table]func(store.Row) error{
			tableNonces: func(r store.Row) error {
				from, _, _ := strings.Cut(r.Key, "\x00")
				add(from, remembered, 1)
				return nil
			},
			tableMessages: func(r store.Row) error {
				var row messageRow
				err := r.Decode(&row)
				if err == nil && row.Fate.undecided() {
					m, err := intent.Parse([]byte(row.Canonical))
					if err != nil {
						return err
					}
					add(m.From.Address, undecided, 1)
				}
				return err
			},
			tableRetries: func(r store.Row) error {
				var row retryRow
				err := r.Decode(&row)
				add(row.From, waitingMails, 1)
				add(row.From, waitingBytes, row.Size)
				return err
			},
			tableOutbox: func(r store.Row) error {
				var l letterRow
				err := r.Decode(&l)
				if l.waits() {
					add(l.To, lettersTo, 1)
				}
				return err
			},
			tableDoor: func(r store.Row) error {
				var row doorRow
				err := r.Decode(&row)
				add(row.From, doorMessages, 1)
				add(row.From, doorBytes, int64(len(row.Envelope)))
				return err
			},
			tableActions: func(r store.Row) error {
				var row askedRow
				err := r.Decode(&row)
				add(row.To, actionsWaiting, 1)
				return err
			},
			tableLeft: func(r store.Row) error {
				var row leftRow
				err := r.Decode(&row)
				add(row.From, leftToOwner, 1)
				return err
			},
			tableKnocks: func(r store.Row) error { add(r.Key, knocksWaiting, 1); return nil },
			tableSpool: func(r store.Row) error {
				var row spoolRow
				err := r.Decode(&row)
				add(row.From, spooledBytes, row.Size)
				return err
			},
			tableCounts: func(r store.Row) error { var n int64; err := r.Decode(&n); have[r.Key] = n; return err },
		} {
			if err := scan(tx, table, fn); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Errorf("%s: counting: %v", in.Name(), err)
	}
	if !maps.Equal(have, want) {
		s.t.Errorf("%s: the counters are %v, want %v", in.Name(), have, want)
	}
}

// One address, and all addresses below one registered domain, have a bounded
// share of what waits for the owner. What does not fit is told, nothing of it
// is kept, and it may come again once there is room.
func TestHeldAreBounded(t *testing.T) {
	for name, from := range map[string]func(i int) string{
		"address": func(int) string { return buyerAddress },
		"domain":  func(i int) string { return fmt.Sprintf("a%d@x%d.buyer.test", i, i) },
		"all":     func(i int) string { return fmt.Sprintf("a%d@buyer.test", i) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, unsignedIs(UnsignedHold))
			first := s.stranger(from(0))
			s.expect(s.seller, first, "held mail_only")
			switch name {
			case "address":
				s.used("undecided of "+buyerAddress, undecided.address)
			case "domain":
				s.used("undecided of @buyer.test", undecided.domain)
			case "all":
				s.used("undecided", undecided.overall)
			}
			more := s.stranger(from(1))
			s.expect(s.seller, more, "refused overfull mail_only")
			if e := s.lastEvent(s.seller); e.Code != CodeOverfull || e.Reason != tooManyUndecided || e.Proof.Domain != "buyer.test" {
				t.Errorf("the event is %+v", e)
			}
			s.expect(s.seller, first, "duplicate mail_only")
			if letters := outbox(t, s.seller); len(letters) != 0 {
				t.Errorf("it was answered: %v", letters)
			}
			if err := s.seller.Refuse(s.parsed(first).ID, ""); err != nil {
				t.Fatal(err)
			}
			s.expect(s.seller, more, "held mail_only")
		})
	}
}

// However much of strangers waits, there is room for those with whom something
// was agreed before.
func TestHeldOfTheKnown(t *testing.T) {
	s := newScene(t)
	s.known()
	s.seller.set.Unsigned = UnsignedHold
	s.used("undecided", undecided.overall)
	s.expect(s.seller, s.stranger("other@buyer.test"), "refused overfull mail_only")
	s.expect(s.seller, s.stranger(buyerAddress), "held mail_only")
	s.used("undecided of "+buyerAddress, undecided.address)
	s.expect(s.seller, s.stranger(buyerAddress), "refused overfull mail_only")
}

// A parked message takes of the same share: whom it answers need not exist.
func TestParkedAreBounded(t *testing.T) {
	s := newScene(t)
	answers := func(m *intent.Message) { m.InReplyTo, m.Prev = m.Thread, strings.Repeat("0", 64) }
	s.expect(s.seller, s.stranger(buyerAddress, answers), "parked mail_only")
	s.used("undecided of "+buyerAddress, undecided.address)
	s.expect(s.seller, s.stranger(buyerAddress, answers), "refused overfull mail_only")
	s.tick(s.seller, parkLimit)
	s.expect(s.seller, s.stranger(buyerAddress, answers), "parked mail_only")
}

// The memory for nonces is bounded for an address and for a domain; others are
// not affected, and what was remembered before still is.
func TestNoncesAreBounded(t *testing.T) {
	for name, limit := range map[string]int64{"nonces of " + buyerAddress: remembered.address, "nonces of @buyer.test": remembered.domain} {
		s := newScene(t, unsignedIs(UnsignedHold))
		_, before := s.do(s.buyer, askAction())
		s.expect(s.seller, before, "accepted signed")
		s.used(name, limit)
		_, raw := s.do(s.buyer, timesAction())
		s.expect(s.seller, raw, "refused overfull signed")
		s.expect(s.seller, before, "duplicate")
		s.used(name, limit-1)
		s.expect(s.seller, raw, "accepted signed")
	}
}

// What is not authenticated leaves no trace but its event.
func TestNothingRememberedOfForgeries(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, bytes.Replace(raw, []byte("buyer agent"), []byte("buyer Agent"), 1), "plain dkim")
	_ = s.seller.view(func(tx *store.Tx) error {
		for _, table := range []store.Table{tableNonces, tableForget, tableCounts, tableMessages, tableRates} {
			_ = tx.Scan(table, "", "", func(r store.Row) (bool, error) {
				t.Errorf("%s: %s", table, r.Key)
				return true, nil
			})
		}
		return nil
	})
}

// An address begins as many threads an hour as mails may go to it, a domain
// ten times as many; threads that have begun go on.
func TestThreadsAnHour(t *testing.T) {
	limit := func(set *Settings) { set.HourlyLimit, set.Unsigned = 1, UnsignedAllow }
	t.Run("address", func(t *testing.T) {
		s := newScene(t, limit)
		begun := s.stranger(buyerAddress)
		s.expect(s.seller, begun, "accepted mail_only")
		more := s.stranger(buyerAddress)
		s.expect(s.seller, more, "refused overfull mail_only")
		s.expect(s.seller, s.stranger("other@buyer.test"), "accepted mail_only")
		goesOn := s.stranger(buyerAddress, s.cancels(begun))
		s.expect(s.seller, goesOn, "accepted mail_only")
		s.tick(s.seller, time.Hour)
		s.expect(s.seller, more, "accepted mail_only")
	})
	t.Run("messages", func(t *testing.T) {
		s := newScene(t, limit)
		begun := s.stranger(buyerAddress)
		s.expect(s.seller, begun, "accepted mail_only")
		if err := s.seller.update(func(tx *store.Tx) error {
			return tx.Put(tableRates, "message from "+buyerAddress, rateRow{s.now.Add(time.Hour).Unix(), goOnTimes})
		}); err != nil {
			t.Fatal(err)
		}
		goesOn := s.stranger(buyerAddress, s.cancels(begun))
		s.expect(s.seller, goesOn, "refused overfull mail_only")
		s.now = s.now.Add(time.Hour)
		s.expect(s.seller, goesOn, "accepted mail_only")
	})
	t.Run("domain", func(t *testing.T) {
		s := newScene(t, limit)
		for i := range domainTimes {
			s.expect(s.seller, s.stranger(fmt.Sprintf("a%d@buyer.test", i)), "accepted mail_only")
		}
		s.expect(s.seller, s.stranger("a@deep.buyer.test"), "refused overfull mail_only")
	})
}

// An hour that is over leaves no row behind, and one that began anew stays.
func TestHoursAreForgotten(t *testing.T) {
	s := newScene(t, func(set *Settings) { set.HourlyLimit = 1 })
	rates := func() (n int) {
		_ = s.buyer.view(func(tx *store.Tx) error {
			return tx.Scan(tableRates, "", "", func(store.Row) (bool, error) { n++; return true, nil })
		})
		return n
	}
	s.do(s.buyer, askAction())
	s.now = s.now.Add(time.Hour)
	s.do(s.buyer, askAction()) // before the clock has forgotten the first hour
	s.tick(s.buyer, 0)
	if n := rates(); n != 1 {
		t.Errorf("%d hours are counted within the second", n)
	}
	s.tick(s.buyer, time.Hour)
	if n := rates(); n != 0 {
		t.Errorf("%d hours are counted after it", n)
	}
}

// Letters to one address that wait for the owner are bounded: an action for
// one more is refused, and a mail that would need a notice has its verdict.
func TestWaitingLettersAreBounded(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	_, accept := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	counter, _ := s.do(s.seller, quoteAction("", quote.ID, 54000)) // crosses the accept, which then needs a notice
	s.used("letters of "+buyerAddress, lettersTo.address)
	if _, err := s.seller.Do(Action{Type: intent.Cancel, Ref: counter.ID}); !errors.Is(err, ErrAction) {
		t.Errorf("one more letter: %v", err)
	}
	s.expect(s.seller, accept, "refused state signed")
	if letters := outbox(t, s.seller); len(letters) != 0 {
		t.Errorf("a notice: %v", letters)
	}
}

// A thread that is very long takes no more.
func TestThreadIsBounded(t *testing.T) {
	s := newScene(t)
	ask, _ := s.quoted()
	err := s.seller.commit(func(j *judge) error {
		var row threadRow
		if _, err := j.tx.Get(tableThreads, ask.Thread, &row); err != nil {
			return err
		}
		for len(row.Messages) < maxThread {
			row.Messages = append(row.Messages, ask.ID)
		}
		return j.putThread(&row)
	})
	if err != nil {
		t.Fatal(err)
	}
	_, raw := s.do(s.buyer, Action{Type: intent.AskQuote, Thread: ask.Thread, Items: askAction().Items})
	s.expect(s.seller, raw, "refused overfull signed")
}

// A message counts for 366 days after iat at most, whatever its exp: so long
// its nonce is kept (D73), and a held one.
func TestFarExp(t *testing.T) {
	s := newScene(t, unsignedIs(UnsignedHold))
	far := func(m *intent.Message) { m.Exp = 253402300799 }
	raw := s.stranger(buyerAddress, far)
	late := s.stranger(buyerAddress, far)
	s.expect(s.seller, raw, "held mail_only")
	s.now = s.now.Add(MaxValid)
	s.expect(s.seller, late, "held mail_only")
	s.tick(s.seller, time.Second)
	if waiting, err := s.seller.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("%d wait, %v", len(waiting), err)
	}
	s.expect(s.seller, s.stranger(buyerAddress, func(m *intent.Message) { m.Iat -= 1 + int64(MaxValid/time.Second); far(m) }), "refused expired mail_only")
	s.tick(s.seller, forgetting)
	s.recount(s.seller)
	_ = s.seller.view(func(tx *store.Tx) error {
		return tx.Scan(tableNonces, "", "", func(r store.Row) (bool, error) { t.Errorf("remembered: %q", r.Key); return true, nil })
	})
	s.expect(s.seller, raw, "refused expired mail_only")
}

// A held message expires with its exp: an event says so, and it waits no more.
func TestHeldExpires(t *testing.T) {
	s := newScene(t, unsignedIs(UnsignedHold))
	raw := s.stranger(buyerAddress)
	s.expect(s.seller, raw, "held mail_only")
	s.tick(s.seller, defaultValid)
	if waiting, err := s.seller.Waiting(); err != nil || len(waiting) != 1 {
		t.Errorf("at its exp %d wait, %v", len(waiting), err)
	}
	s.tick(s.seller, time.Second)
	if waiting, err := s.seller.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("after its exp %d wait, %v", len(waiting), err)
	}
	e := s.lastEvent(s.seller)
	if e.Kind != KindExpired || e.ID != s.parsed(raw).ID || !strings.Contains(e.Reason, "waited for the owner") {
		t.Errorf("the event is %+v", e)
	}
}

// Dead DNS fills neither the disk nor the room of others: bytes and number are
// bounded, the same mail waits once, and what does not fit is told.
func TestWaitingMailIsBounded(t *testing.T) {
	for name, count := range map[string]struct {
		name  string
		limit int64
	}{
		"bytes":             {"bytes", waitingBytes.overall},
		"bytes of a domain": {"bytes of @buyer.test", waitingBytes.domain},
		"mails":             {"mails", waitingMails.overall},
		"mails of a domain": {"mails of @buyer.test", waitingMails.domain},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.dns = errServfail
			first := s.stranger(buyerAddress)
			s.expect(s.seller, first, "retry")
			s.used(count.name, count.limit)
			s.expect(s.seller, first, "retry") // waits already
			more := s.stranger(buyerAddress)
			s.expect(s.seller, more, "refused overfull mail_only")
			if e := s.lastEvent(s.seller); e.Code != CodeOverfull || e.ID != s.parsed(more).ID {
				t.Errorf("the event is %+v", e)
			}
			s.dns = nil
			s.expect(s.seller, more, "held mail_only")
			s.tick(s.seller, time.Minute)
			if waiting, err := s.seller.Waiting(); err != nil || len(waiting) != 2 {
				t.Errorf("%d are held, %v", len(waiting), err)
			}
		})
	}
}

// A mail larger than the share of its domain may wait alone.
func TestLargeMailWaits(t *testing.T) {
	s := newScene(t)
	s.page = party.ErrTemporary
	_, raw := s.do(s.buyer, askAction())
	p := s.seller.prove(t.Context(), Mail{Raw: raw, Arrival: s.now})
	p.mail.Raw = append(bytes.Clone(raw), make([]byte, waitingBytes.domain)...)
	results, err := s.seller.take([]*proven{p}, nil)
	if err != nil || results[0].Verdict != Retry {
		t.Fatalf("%+v, %v", results, err)
	}
	_, raw = s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "refused overfull")
}

// What waits is tried again in the order in which it came, and leaves nothing
// behind; a try that ends as the one before is not told again.
func TestRetryInOrder(t *testing.T) {
	s := newScene(t, unsignedIs(UnsignedAllow))
	s.dns = errServfail
	var want []string
	for range 3*maxProving + 1 {
		raw := s.stranger(buyerAddress)
		s.expect(s.seller, raw, "retry")
		want = append(want, s.parsed(raw).ID)
	}
	told := s.lastEvent(s.seller).Seq
	s.tick(s.seller, time.Minute)
	if again := s.lastEvent(s.seller).Seq; again != told {
		t.Errorf("events %s to %s tell the same again", told, again)
	}
	s.dns = nil
	s.tick(s.seller, time.Hour)
	events, _, err := s.seller.Events(told, 100)
	if err != nil || len(events) != len(want) {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i, e := range events {
		if e.Verdict != Accepted || e.ID != want[i] {
			t.Errorf("%d: %s %s, want %s", i, e.Verdict, e.ID, want[i])
		}
	}
	_ = s.seller.view(func(tx *store.Tx) error {
		for _, table := range []store.Table{tableRetries, tableMails} {
			_ = tx.Scan(table, "", "", func(r store.Row) (bool, error) { t.Errorf("%s: %s", table, r.Key); return true, nil })
		}
		return nil
	})
}

// panickingReader is a source of randomness that is broken.
type panickingReader struct{}

func (panickingReader) Read([]byte) (int, error) { panic("no randomness") }

// A mail over which the store's part panics is stepped over and shown; the
// others of its delivery, and the position, are kept.
func TestPanicInTheStore(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	_, accept := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.do(s.seller, quoteAction("", quote.ID, 54000)) // crosses the accept, which then needs a notice
	_, before := s.do(s.buyer, timesAction())
	_, after := s.do(s.buyer, timesAction())
	s.seller.srv.Random = panickingReader{}
	var mails []Mail
	for _, raw := range [][]byte{before, accept, after} {
		mails = append(mails, Mail{Raw: raw, Arrival: s.now})
	}
	results, err := s.seller.Deliver(t.Context(), mails, []byte("7"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Result{{Verdict: Accepted}, {Verdict: Plain, Code: CodeNone}, {Verdict: Accepted}} {
		if results[i].Verdict != want.Verdict || results[i].Code != want.Code {
			t.Errorf("mail %d: %+v", i, results[i])
		}
	}
	if pos, err := s.seller.Position(); err != nil || string(pos) != "7" {
		t.Errorf("position %s, %v", pos, err)
	}
}
