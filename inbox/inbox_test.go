package inbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/google/go-cmp/cmp"
)

func TestNegotiation(t *testing.T) {
	s := newScene(t)
	ask, quote := s.quoted()
	s.restart()
	counter, raw := s.do(s.buyer, quoteAction("", quote.ID, 50000))
	s.expect(s.seller, raw, "accepted signed")
	s.restart()
	accept, raw := s.do(s.seller, Action{Type: intent.Accept, Ref: counter.ID})
	s.expect(s.buyer, raw, "accepted signed")
	for _, in := range []*Inbox{s.buyer, s.seller} {
		for id, want := range map[string]string{ask.ID: "answered", quote.ID: "replaced", counter.ID: "agreed"} {
			if got := s.state(in, ask.Thread, id); got != want {
				t.Errorf("%s: %s is %s, want %s", in.Name(), id, got, want)
			}
		}
		thread, err := in.Thread(ask.Thread)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range thread.Messages {
			ids = append(ids, m.ID)
		}
		if want := []string{ask.ID, quote.ID, counter.ID, accept.ID}; !slices.Equal(ids, want) || thread.Record != record.TwoSignatures {
			t.Errorf("%s: messages %v, record %q", in.Name(), ids, thread.Record)
		}
	}
}

// TestOneMessage reads a message of a thread as the whole thread has it.
func TestOneMessage(t *testing.T) {
	s := newScene(t)
	ask, quote := s.quoted()
	thread, err := s.seller.Thread(ask.Thread)
	check(t, err)
	for _, want := range thread.Messages {
		if m, err := s.seller.Message(ask.Thread, want.ID); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%+v, %v, not %+v", m, err, want)
		}
	}
	other, _ := s.do(s.buyer, askAction())
	for thread, id := range map[string]string{other.Thread: quote.ID, "x": quote.ID, ask.Thread: "x"} {
		if m, err := s.seller.Message(thread, id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s in %s is %+v, %v", id, thread, m, err)
		}
	}
	for thread, want := range map[string]bool{ask.Thread: true, "x": false, "": false} {
		if known, err := s.seller.HasThread(thread); err != nil || known != want {
			t.Errorf("%q: %v, %v", thread, known, err)
		}
	}
}

func TestTimesAndCancel(t *testing.T) {
	s := newScene(t)
	offer, raw := s.do(s.buyer, timesAction())
	s.expect(s.seller, raw, "accepted signed")
	slot := 1
	_, raw = s.do(s.seller, Action{Type: intent.Accept, Ref: offer.ID, Slot: &slot})
	s.expect(s.buyer, raw, "accepted signed")
	_, raw = s.do(s.buyer, Action{Type: intent.Cancel, Ref: offer.ID})
	s.expect(s.seller, raw, "accepted signed")
	if got := s.state(s.seller, offer.Thread, offer.ID); got != "cancelled" {
		t.Errorf("the offer is %s", got)
	}
}

// What goes out is a mail that threads, names its message, and says who is
// responsible (D14, D15, RFC 3834).
func TestMailThatIsSent(t *testing.T) {
	s := newScene(t)
	ask, _ := s.quoted()
	thread, _ := s.buyer.Thread(ask.Thread)
	done, raw := s.do(s.buyer, Action{Type: intent.Decline, Ref: thread.Messages[1].ID, Reason: "price"})
	mail, err := envelope.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Message-ID": "<" + done.ID + "@buyer.test>", "In-Reply-To": "<" + thread.Messages[1].ID + "@seller.test>",
		"References":     "<" + ask.ID + "@buyer.test> <" + thread.Messages[1].ID + "@seller.test>",
		"Auto-Submitted": "auto-replied", "Agent-Of": `"buyer Ltd" <owner@buyer.test>`, "To": "<" + sellerAddress + ">",
	} {
		if got := mail.Header.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if mail.Header.Count("DKIM-Signature") != 1 {
		t.Error("not signed with DKIM")
	}
}

func TestSameBytesAgain(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	s.restart()
	s.expect(s.seller, raw, "duplicate")
}

// Two copies in one batch, and two copies at one moment: one acts.
func TestCopiesAtOnce(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	mails := []Mail{{Raw: raw, Arrival: s.now}, {Raw: raw, Arrival: s.now}}
	var mu sync.Mutex
	count := map[Verdict]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			results, err := s.seller.Deliver(t.Context(), mails, nil)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, r := range results {
				count[r.Verdict]++
			}
		})
	}
	all.Wait()
	if want := map[Verdict]int{Accepted: 1, Duplicate: 7}; !cmp.Equal(count, want) {
		t.Errorf("verdicts %v", count)
	}
}

func TestParking(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(s *scene, ask, quote, counter []byte)
		want string // state of the counter-offer at the buyer
	}{
		{"in order", func(s *scene, ask, quote, counter []byte) {
			s.expect(s.buyer, quote, "accepted signed")
			s.expect(s.buyer, counter, "accepted signed")
		}, "open"},
		{"the answer first", func(s *scene, ask, quote, counter []byte) {
			s.expect(s.buyer, counter, "parked signed")
			s.expect(s.buyer, counter, "duplicate")
			s.expect(s.buyer, quote, "accepted signed")
		}, "open"},
		{"over a restart", func(s *scene, ask, quote, counter []byte) {
			s.expect(s.buyer, counter, "parked signed")
			s.restart()
			s.tick(s.buyer, 24*time.Hour-time.Second)
			s.expect(s.buyer, quote, "accepted signed")
		}, "open"},
		{"for more than a day", func(s *scene, ask, quote, counter []byte) {
			s.expect(s.buyer, counter, "parked signed")
			s.tick(s.buyer, 24*time.Hour)
			s.expect(s.buyer, quote, "accepted signed")
			s.expect(s.buyer, counter, "duplicate")
		}, "unknown"},
		{"with the key page down", func(s *scene, ask, quote, counter []byte) {
			s.page = party.ErrTemporary
			s.expect(s.buyer, counter, "parked")
			s.page = nil
			s.expect(s.buyer, quote, "accepted signed")
			s.tick(s.buyer, time.Second)
		}, "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			ask, askRaw := s.do(s.buyer, askAction())
			s.expect(s.seller, askRaw, "accepted signed")
			quote, quoteRaw := s.do(s.seller, quoteAction(ask.Thread, "", 55000))
			counter, counterRaw := s.do(s.seller, quoteAction("", quote.ID, 54000))
			c.play(s, askRaw, quoteRaw, counterRaw)
			if got := s.state(s.buyer, ask.Thread, counter.ID); got != c.want {
				t.Errorf("the counter-offer is %s, want %s", got, c.want)
			}
		})
	}
}

// A page that stays down for a day leaves the signature unchecked; a parked
// message whose turn has come then waits for the owner.
func TestParkedAndPageDown(t *testing.T) {
	s := newScene(t)
	ask, askRaw := s.do(s.buyer, askAction())
	s.expect(s.seller, askRaw, "accepted signed")
	quote, quoteRaw := s.do(s.seller, quoteAction(ask.Thread, "", 55000))
	_, counterRaw := s.do(s.seller, quoteAction("", quote.ID, 54000))
	s.page = party.ErrTemporary
	s.expect(s.buyer, counterRaw, "parked")
	s.page = nil
	s.expect(s.buyer, quoteRaw, "accepted signed")
	s.page = party.ErrTemporary
	s.tick(s.buyer, time.Second)
	s.tick(s.buyer, 24*time.Hour)
	waiting, err := s.buyer.Waiting()
	if err != nil || len(waiting) != 1 || waiting[0].Kind != "message" {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
}

// unsigned takes the signature part out of a mail and signs the rest anew.
func (s *scene) unsigned(raw []byte) []byte {
	s.t.Helper()
	return s.compose(s.parsed(raw), "")
}

// parsed is the message in a mail.
func (s *scene) parsed(raw []byte) *intent.Parsed {
	s.t.Helper()
	mail, err := envelope.Read(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	found, err := intent.Find(mail)
	if err != nil {
		s.t.Fatal(err)
	}
	return found.Parsed
}

// compose writes the mail of a message as its sender would.
func (s *scene) compose(p *intent.Parsed, jws string) []byte {
	s.t.Helper()
	draft, err := p.Draft(jws, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	services := s.services[strings.TrimSuffix(strings.TrimPrefix(p.From.Address, "agent@"), ".test")]
	raw, err := envelope.Compose(draft, services.Random)
	if err != nil {
		s.t.Fatal(err)
	}
	if raw, err = services.Signer.Sign(raw, s.now); err != nil {
		s.t.Fatal(err)
	}
	return raw
}

func unsignedIs(u Unsigned) func(*Settings) { return func(set *Settings) { set.Unsigned = u } }

func TestUnsigned(t *testing.T) {
	for _, c := range []struct {
		policy Unsigned
		want   string
		state  string
	}{
		{UnsignedHold, "held mail_only", "unknown"},
		{UnsignedIgnore, "plain unsigned mail_only", "unknown"},
		{UnsignedAllow, "accepted mail_only", "open"},
	} {
		s := newScene(t, unsignedIs(c.policy))
		ask, raw := s.do(s.buyer, askAction())
		plain := s.unsigned(raw)
		s.expect(s.seller, plain, c.want)
		if got := s.state(s.seller, ask.Thread, ask.ID); got != c.state {
			t.Errorf("%s: the ask is %s", c.policy, got)
		}
		s.expect(s.seller, plain, "duplicate mail_only")
		s.expect(s.seller, raw, "accepted signed") // D34
		if got := s.state(s.seller, ask.Thread, ask.ID); got != "open" {
			t.Errorf("%s: after the signed copy the ask is %s", c.policy, got)
		}
		s.expect(s.seller, raw, "duplicate")
		if waiting, _ := s.seller.Waiting(); len(waiting) != 0 {
			t.Errorf("%s: %d still wait", c.policy, len(waiting))
		}
	}
}

// A copy whose signature was damaged on the way does not shut out the good
// one (D34).
func TestDamagedCopyFirst(t *testing.T) {
	s := newScene(t)
	ask, raw := s.do(s.buyer, askAction())
	mail, _ := envelope.Read(raw)
	found, err := intent.Find(mail)
	if err != nil {
		t.Fatal(err)
	}
	damaged := s.compose(found.Parsed, string(found.JWS[:len(found.JWS)-4])+"AAAA")
	s.expect(s.seller, damaged, "refused jws invalid")
	s.expect(s.seller, damaged, "duplicate invalid")
	s.expect(s.seller, raw, "accepted signed")
	if got := s.state(s.seller, ask.Thread, ask.ID); got != "open" {
		t.Errorf("the ask is %s", got)
	}
}

func TestOwnerDecides(t *testing.T) {
	s := newScene(t)
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, s.unsigned(raw), "held mail_only")
	if err := s.seller.Approve(ask.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.state(s.seller, ask.Thread, ask.ID); got != "open" {
		t.Errorf("approved, the ask is %s", got)
	}
	if err := s.seller.Approve(ask.ID); !errors.Is(err, ErrAction) {
		t.Errorf("approved twice: %v", err)
	}

	other, raw := s.do(s.buyer, timesAction())
	s.expect(s.seller, s.unsigned(raw), "held mail_only")
	if _, err := s.seller.Do(Action{Type: intent.Decline, Ref: other.ID}); !errors.Is(err, ErrAction) {
		t.Errorf("a held offer was declined: %v", err)
	}
	if err := s.seller.Refuse(other.ID, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.seller.Refuse(other.ID, ""); !errors.Is(err, ErrAction) {
		t.Errorf("refused twice: %v", err)
	}
	if got := s.state(s.seller, other.Thread, other.ID); got != "unknown" {
		t.Errorf("refused, the offer is %s", got)
	}

	for id, want := range map[string]string{ask.ID: "approved by the owner", other.ID: "refused by the owner", "x": ""} {
		if e, err := s.seller.Became(id); err != nil || (e != nil) != (want != "") || e != nil && e.Reason != want {
			t.Errorf("what became of %s is %+v, %v", id, e, err)
		}
	}

	late, raw := s.do(s.buyer, timesAction())
	s.expect(s.seller, s.unsigned(raw), "held mail_only")
	if e, err := s.seller.Became(late.ID); err != nil || e != nil {
		t.Errorf("what waits became %+v, %v", e, err)
	}
	s.now = s.now.Add(8 * 24 * time.Hour)
	if err := s.seller.Approve(late.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.state(s.seller, late.Thread, late.ID); got != "expired" {
		t.Errorf("approved after its exp, the offer is %s", got)
	}
}

func TestRetryOfDNS(t *testing.T) {
	s := newScene(t)
	ask, raw := s.do(s.buyer, askAction())
	s.dns = errServfail
	s.expect(s.seller, raw, "retry")
	s.tick(s.seller, 30*time.Second) // not due yet
	s.dns = nil
	s.tick(s.seller, time.Second)
	if got := s.state(s.seller, ask.Thread, ask.ID); got != "unknown" {
		t.Errorf("tried before its time: the ask is %s", got)
	}
	s.restart()
	s.tick(s.seller, time.Minute)
	if got := s.state(s.seller, ask.Thread, ask.ID); got != "open" {
		t.Errorf("after DNS came back the ask is %s", got)
	}
}

// While it waits, nothing is remembered: another delivery may act (D45), and
// the one that waited is a duplicate then.
func TestRetryRemembersNothing(t *testing.T) {
	s := newScene(t)
	ask, raw := s.do(s.buyer, askAction())
	s.page = fmt.Errorf("%w: status 503", party.ErrTemporary)
	s.expect(s.seller, raw, "retry")
	s.page = nil
	s.expect(s.seller, raw, "accepted signed")
	s.tick(s.seller, time.Hour)
	if got := s.state(s.seller, ask.Thread, ask.ID); got != "open" {
		t.Errorf("the ask is %s", got)
	}
}

func TestRetryEnds(t *testing.T) {
	s := newScene(t)
	ask, raw := s.do(s.buyer, askAction())
	s.page = fmt.Errorf("%w: status 503", party.ErrTemporary)
	s.expect(s.seller, raw, "retry")
	for range 30 {
		s.tick(s.seller, time.Hour)
	}
	waiting, err := s.seller.Waiting()
	if err != nil || len(waiting) != 1 || waiting[0].Key != ask.ID {
		t.Fatalf("a page that stays down for a day: %+v, %v", waiting, err)
	}
	times, raw := s.do(s.buyer, timesAction())
	s.dns = errServfail
	s.expect(s.seller, raw, "retry")
	for range 30 {
		s.tick(s.seller, time.Hour)
	}
	s.dns = nil
	s.tick(s.seller, time.Hour)
	if got := s.state(s.seller, times.Thread, times.ID); got != "unknown" {
		t.Errorf("DNS that stays down for a day: the offer is %s", got)
	}
}

// The other side is told once that its accept came too late (D27).
func TestNotice(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	_, accept := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	counter, _ := s.do(s.seller, quoteAction("", quote.ID, 54000)) // crosses the accept
	s.expect(s.seller, accept, "refused state signed")
	notice, err := envelope.Read(s.letter(s.seller))
	if err != nil {
		t.Fatal(err)
	}
	if notice.Header.Get("To") != "<"+buyerAddress+">" || notice.Header.Get("Auto-Submitted") != "auto-replied" {
		t.Errorf("notice: %v", notice.Header)
	}
	text, err := notice.Root.Decode(10000)
	if err != nil || !bytes.Contains(text, []byte("replaced by a newer one")) || bytes.Contains(text, []byte("Mug")) {
		t.Errorf("notice: %s, %v", text, err)
	}
	_, again := s.do(s.seller, Action{Type: intent.Cancel, Ref: counter.ID})
	_ = again
	s.expect(s.seller, accept, "duplicate")
	if letters := outbox(t, s.seller); len(letters) != 0 {
		t.Errorf("a second notice: %v", letters)
	}
}

func TestExpiry(t *testing.T) {
	s := newScene(t)
	offer, raw := s.do(s.buyer, timesAction())
	s.expect(s.seller, raw, "accepted signed")
	week := 7 * 24 * time.Hour
	s.tick(s.seller, week)
	if got := s.state(s.seller, offer.Thread, offer.ID); got != "open" {
		t.Errorf("at exp itself the offer is %s", got)
	}
	s.tick(s.seller, time.Second)
	if got := s.state(s.seller, offer.Thread, offer.ID); got != "expired" {
		t.Errorf("a second later the offer is %s", got)
	}
	events, _, err := s.seller.Events("", 100)
	last := events[len(events)-1]
	if want := []threads.Effect{{Entry: offer.ID, State: threads.Expired}}; err != nil || last.Kind != KindExpired || !cmp.Equal(last.Changes, want) {
		t.Errorf("last event: %+v, %v", last, err)
	}
	slot := 0
	if _, err := s.seller.Do(Action{Type: intent.Accept, Ref: offer.ID, Slot: &slot}); !errors.Is(err, threads.ErrState) || !errors.Is(err, ErrAction) {
		t.Errorf("accept of an expired offer: %v", err)
	}
}

func TestNoncesAreForgotten(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	count := func() (n int) {
		_ = s.seller.view(func(tx *store.Tx) error {
			return tx.Scan(tableNonces, "", "", func(store.Row) (bool, error) { n++; return true, nil })
		})
		return n
	}
	s.tick(s.seller, 7*24*time.Hour+300*time.Second)
	if count() != 1 {
		t.Error("forgotten at exp + 300 s")
	}
	s.tick(s.seller, time.Second)
	if count() != 0 {
		t.Error("kept after exp + 300 s")
	}
	s.expect(s.seller, raw, "refused expired")
}

type sendError bool

func (sendError) Error() string     { return "451 later" }
func (e sendError) Temporary() bool { return bool(e) }

func TestOutbox(t *testing.T) {
	s := newScene(t)
	done, err := s.buyer.Do(askAction())
	if err != nil {
		t.Fatal(err)
	}
	var sent [][]byte
	answer := error(sendError(true))
	try := func() {
		t.Helper()
		_, err := s.buyer.sendDue(t.Context(), transport(func(from, to string, raw []byte) error {
			if from != buyerAddress || to != sellerAddress {
				t.Errorf("from %s to %s", from, to)
			}
			sent = append(sent, raw)
			return answer
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	try()
	try() // not due yet
	if len(sent) != 1 {
		t.Fatalf("%d tries at once", len(sent))
	}
	s.now = s.now.Add(time.Minute)
	s.restart()
	try()
	if len(sent) != 2 || !bytes.Equal(sent[0], sent[1]) {
		t.Fatalf("%d tries after a minute, or other bytes", len(sent))
	}
	s.now = s.now.Add(3 * 24 * time.Hour)
	try()
	waiting, err := s.buyer.Waiting()
	if err != nil || len(waiting) != 1 || waiting[0].Kind != "letter" || waiting[0].Thread != done.Thread {
		t.Fatalf("after three days: %+v, %v", waiting, err)
	}
	if err := s.buyer.Approve(waiting[0].Key); err != nil {
		t.Fatal(err)
	}
	answer = errors.New("550 no such user")
	try()
	if waiting, _ = s.buyer.Waiting(); len(waiting) != 1 {
		t.Fatalf("refused for good: %+v", waiting)
	}
	if err := s.buyer.Refuse(waiting[0].Key, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.buyer.Refuse(waiting[0].Key, ""); !errors.Is(err, ErrAction) {
		t.Errorf("refused twice: %v", err)
	}
	if letters := outbox(t, s.buyer); len(letters) != 0 {
		t.Errorf("left in the outbox: %v", letters)
	}
}

// A crash while the mail server answers leads to the same bytes again, as soon
// as the daemon is back.
func TestCrashWhileSending(t *testing.T) {
	s := newScene(t)
	if _, err := s.buyer.Do(askAction()); err != nil {
		t.Fatal(err)
	}
	var first []byte
	_, err := s.buyer.sendDue(t.Context(), transport(func(_, _ string, raw []byte) error {
		first = raw
		return s.store.Close()
	}))
	if !errors.Is(err, store.ErrClosed) {
		t.Fatal(err)
	}
	s.open()
	if err := s.buyer.resume(); err != nil {
		t.Fatal(err)
	}
	if again := s.letter(s.buyer); !bytes.Equal(first, again) {
		t.Error("other bytes after the restart")
	}
}

// A daemon that is told to stop lets the letter under way go out, so that it
// is not sent twice, and begins no other.
func TestStopWhileSending(t *testing.T) {
	s := newScene(t)
	for range 2 {
		if _, err := s.buyer.Do(askAction()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	sent := 0
	err := s.buyer.SendLetters(ctx, transport(func(_, _ string, raw []byte) error {
		stop()
		sent++
		return nil
	}))
	if letters := outbox(t, s.buyer); !errors.Is(err, context.Canceled) || sent != 1 || len(letters) != 1 {
		t.Errorf("%d sent, %d left, %v", sent, len(letters), err)
	}
}

func handled(set *Settings) { set.Handled = true }

func TestPendingEvents(t *testing.T) {
	s := newScene(t, handled)
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	event, _, _, err := s.seller.Pending()
	if err != nil || event == nil || event.ID != ask.ID {
		t.Fatalf("pending: %+v, %v", event, err)
	}
	if err := s.seller.HandlerFailed(event.Seq, "exit status 1"); err != nil {
		t.Fatal(err)
	}
	none, next, _, err := s.seller.Pending()
	if err != nil || none != nil || !next.Equal(s.now.Add(time.Minute)) {
		t.Errorf("after a failure: %+v, next %s, %v", none, next, err)
	}
	waiting, err := s.seller.Waiting()
	if err != nil || len(waiting) != 1 || waiting[0].Kind != "event" {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	if err := s.seller.Approve(waiting[0].Key); err != nil {
		t.Fatal(err)
	}
	if event, _, _, _ = s.seller.Pending(); event == nil {
		t.Fatal("not asked again after approve")
	}
	a := quoteAction(ask.Thread, "", 55000)
	a.Event = event.Seq
	if _, err := s.seller.Do(a); err != nil {
		t.Fatal(err)
	}
	if event, _, _, _ = s.seller.Pending(); event != nil {
		t.Errorf("still pending: %+v", event)
	}
	if err := s.seller.HandlerDone(a.Event); !errors.Is(err, ErrAction) {
		t.Errorf("answered twice: %v", err)
	}
}

func TestPositionIsKeptWithTheMail(t *testing.T) {
	s := newScene(t)
	if pos, err := s.seller.Position(); err != nil || pos != nil {
		t.Fatalf("a new inbox: %s, %v", pos, err)
	}
	_, raw := s.do(s.buyer, askAction())
	if _, err := s.seller.Deliver(t.Context(), []Mail{{Raw: raw, Arrival: s.now}, {Problem: "larger than 32 MiB", Arrival: s.now}}, []byte(`{"uid":2}`)); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if pos, err := s.seller.Position(); err != nil || string(pos) != `{"uid":2}` {
		t.Errorf("position %s, %v", pos, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.seller.Deliver(ctx, []Mail{{Raw: raw, Arrival: s.now}}, []byte(`{"uid":3}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("delivered after the end: %v", err)
	}
	if pos, _ := s.seller.Position(); string(pos) != `{"uid":2}` {
		t.Errorf("position %s after a delivery that failed", pos)
	}
}

func TestEventsAreTrimmed(t *testing.T) {
	s := newScene(t)
	s.store.Rehearse(nil) // 500 mails at a time, and each row of them
	mails := make([]Mail, 500)
	for i := range mails {
		mails[i] = Mail{Problem: "x", Arrival: s.now}
	}
	for range keepEvents/len(mails) + 1 {
		if _, err := s.seller.Deliver(t.Context(), mails, nil); err != nil {
			t.Fatal(err)
		}
	}
	s.tick(s.seller, 0) // nothing else is due
	events, _, err := s.seller.Events("", 2*keepEvents)
	if err != nil || len(events) != keepEvents {
		t.Errorf("%d events kept, %v", len(events), err)
	}
}

// A panic over one mail is that mail's verdict, and the others go on.
func TestPanicOverOneMail(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	s.services["seller"].DKIM.Resolver = panicking{}
	s.expect(s.seller, raw, "plain none")
	s.services["seller"].DKIM.Resolver = s
	s.expect(s.seller, raw, "accepted signed")
}

type panicking struct{ dkim.Resolver }

func TestOpenRefuses(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"address":  func(s *Settings) { s.Address = "Agent <agent@seller.test>" },
		"case":     func(s *Settings) { s.Address = "agent@SELLER.test" },
		"contact":  func(s *Settings) { s.Contact = "" },
		"unsigned": func(s *Settings) { s.Unsigned = "perhaps" },
	} {
		set := Settings{Name: "x", Address: sellerAddress, Contact: "owner@seller.test"}
		change(&set)
		if _, err := Open(set, Services{}); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestSentRefuses(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	for name, c := range map[string]struct {
		in  *Inbox
		raw []byte
	}{
		"another's mail": {s.seller, raw},
		"no mail":        {s.buyer, []byte("x")},
		"no message":     {s.buyer, []byte("From: agent@buyer.test\r\n\r\nhello")},
		"the same again": {s.buyer, raw},
	} {
		if err := c.in.Sent(c.raw, s.now); !errors.Is(err, ErrAction) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
