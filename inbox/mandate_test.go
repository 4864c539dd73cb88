package inbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/store"
	"pgregory.net/rapid"
)

// euros are limits within which an agent may deal in EUR, at any hour.
func euros(deal, day, month int64) *limits.Limits {
	return &limits.Limits{
		Auto: limits.WithinLimits, OpenOffers: 5, HourlyMessages: 1000,
		Money: map[string]limits.Amounts{"EUR": {Deal: deal, CounterpartDay: &day, Month: &month}},
		Quote: &limits.Quote{Lowest: []limits.Lowest{{Name: "mug", Unit: "piece", Price: 1, Currency: "EUR"}}},
		Times: &limits.Times{Days: []time.Weekday{1, 2, 3, 4, 5}, From: 8 * 3600, Until: 18 * 3600},
	}
}

func limited(l *limits.Limits) func(*Settings) {
	return func(s *Settings) { s.Limits = l }
}

// known makes the two sides ones that have dealt before, for 1 EUR.
func (s *scene) known() {
	s.t.Helper()
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	quote, raw := s.do(s.seller, quoteAction(ask.Thread, "", 100))
	s.expect(s.buyer, raw, "accepted signed")
	_, raw = s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.expect(s.seller, raw, "accepted signed")
}

// offer has the seller, as its owner, offer something to the buyer.
func (s *scene) offer(total int) Done {
	s.t.Helper()
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	quote, raw := s.do(s.seller, quoteAction(ask.Thread, "", total))
	s.expect(s.buyer, raw, "accepted signed")
	return quote
}

// propose has an agent propose something, which the limits do not refuse.
func (s *scene) propose(in *Inbox, a Action) Done {
	s.t.Helper()
	done, err := in.Propose(a)
	if err != nil {
		s.t.Fatalf("%s: %v", a.Type, err)
	}
	return done
}

// authority is what a message says about who decided it.
func (s *scene) authority(in *Inbox, thread string) string {
	s.t.Helper()
	t, err := in.Thread(thread)
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := intent.Parse(t.Messages[len(t.Messages)-1].Message)
	if err != nil {
		s.t.Fatal(err)
	}
	if m.Authority == nil {
		return ""
	}
	return strings.TrimSpace(m.Authority.DecidedBy + " " + m.Authority.Level)
}

// TestPropose has an agent accept what is within its limits, and its owner asked
// about what is beyond.
func TestPropose(t *testing.T) {
	for name, c := range map[string]struct {
		limits *limits.Limits
		total  int
		rules  []limits.Rule // nil: it is sent
	}{
		"within":         {euros(50000, 60000, 90000), 50000, nil},
		"a dear deal":    {euros(50000, 60000, 90000), 50001, []limits.Rule{limits.RuleDeal}},
		"the day":        {euros(50000, 50000, 90000), 49901, []limits.Rule{limits.RuleCounterpartDay}},
		"the month":      {euros(50000, 60000, 50000), 49901, []limits.Rule{limits.RuleMonth}},
		"no limits set":  {nil, 1, []limits.Rule{limits.RuleAuto, limits.RuleCurrency}},
		"other currency": {&limits.Limits{Auto: limits.WithinLimits, HourlyMessages: 9}, 1, []limits.Rule{limits.RuleCurrency}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, limited(c.limits))
			s.known()
			quote := s.offer(c.total)
			done := s.propose(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
			if !slices.Equal(done.Rules, c.rules) {
				t.Fatalf("the rules are %v, want %v", done.Rules, c.rules)
			}
			if c.rules == nil {
				s.expect(s.seller, s.letter(s.buyer), "accepted signed")
				if got := s.authority(s.seller, quote.Thread); got != "limits within_limits" {
					t.Errorf("decided by %q", got)
				}
				return
			}
			if done.ID != "" || len(outbox(t, s.buyer)) != 0 || s.state(s.buyer, quote.Thread, quote.ID) != "open" {
				t.Fatalf("something was sent: %+v", done)
			}
			w := s.waiting(s.buyer)
			if w.Key != done.Waiting || w.Kind != "action" || w.Action.Ref != quote.ID || w.Decision.Verdict != limits.AskOwner || w.Thread != quote.Thread {
				t.Errorf("it waits as %+v", w)
			}
			if a := w.ToAgent(); a.Decision != nil || strings.ContainsAny(a.Reason, "0123456789") {
				t.Errorf("the agent sees %q, %+v", a.Reason, a.Decision)
			}
			s.restart()
			check(t, s.buyer.Approve(done.Waiting))
			s.expect(s.seller, s.letter(s.buyer), "accepted signed")
			if got := s.authority(s.seller, quote.Thread); got != "owner" {
				t.Errorf("decided by %q", got)
			}
			if err := s.buyer.Approve(done.Waiting); !errors.Is(err, ErrAction) {
				t.Errorf("approved twice: %v", err)
			}
			s.silent(s.buyer)
		})
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waiting is the one thing that waits for an owner.
func (s *scene) waiting(in *Inbox) Waiting {
	s.t.Helper()
	list, err := in.Waiting()
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%d things wait, %v", len(list), err)
	}
	return list[0]
}

// silent holds that no event tells the owner's numbers: the agent reads them.
func (s *scene) silent(in *Inbox) {
	s.t.Helper()
	events, _, err := in.Events("", 100)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events {
		if e.Waiting != "" && strings.Contains(e.Reason, "EUR") {
			s.t.Errorf("the event %s says %q", e.Kind, e.Reason)
		}
	}
}

// TestActionEnds lets what waits come to each of its ends.
func TestActionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(s *scene, w Waiting)
		want string // the last event about it
	}{
		"refused":   {func(s *scene, w Waiting) { check(s.t, s.buyer.Refuse(w.Key, "too dear")) }, "decided refused by the owner: too dear"},
		"no reason": {func(s *scene, w Waiting) { check(s.t, s.buyer.Refuse(w.Key, "")) }, "decided refused by the owner"},
		"expired":   {func(s *scene, w Waiting) { s.tick(s.buyer, time.Unix(w.Expires+2, 0).Sub(s.now)) }, "expired it expired while it waited for the owner"},
		"withdrawn": {func(s *scene, w Waiting) {
			_, raw := s.do(s.seller, Action{Type: intent.Cancel, Ref: w.Action.Ref})
			s.expect(s.buyer, raw, "accepted signed")
		}, "expired what it answers is closed"},
		"the owner was faster": {func(s *scene, w Waiting) { s.do(s.buyer, Action{Type: intent.Accept, Ref: w.Action.Ref}) }, "expired what it answers is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, limited(euros(1, 1, 1)))
			quote := s.offer(50000)
			s.propose(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
			w := s.waiting(s.buyer)
			c.end(s, w)
			if list, err := s.buyer.Waiting(); err != nil || len(list) != 0 {
				t.Errorf("it waits still: %+v, %v", list, err)
			}
			events, _, err := s.buyer.Events("", 100)
			check(t, err)
			last := ""
			for _, e := range events {
				if e.Waiting == w.Key {
					last = e.Kind + " " + e.Reason
				}
			}
			if last != c.want {
				t.Errorf("the last event is %q, want %q", last, c.want)
			}
			for _, decide := range []error{s.buyer.Approve(w.Key), s.buyer.Refuse(w.Key, "")} {
				if !errors.Is(decide, ErrAction) {
					t.Errorf("decided afterwards: %v", decide)
				}
			}
		})
	}
}

// TestAskedOnce keeps what an agent proposes again as one, and bounds how much
// waits.
func TestAskedOnce(t *testing.T) {
	s := newScene(t, limited(euros(1, 1, 1)))
	accept := Action{Type: intent.Accept, Ref: s.offer(50000).ID}
	first, again := s.propose(s.buyer, accept), s.propose(s.buyer, accept)
	if first.Waiting == "" || first.Waiting != again.Waiting {
		t.Errorf("it waits as %q and %q", first.Waiting, again.Waiting)
	}
	s.buyer.set.Limits.Auto = limits.None
	var err error
	n := 0
	s.store.Rehearse(nil)
	for _, c := range []struct {
		to   string // with a number in it
		more int    // that are asked about; one waits already
	}{{"agent@seller.test", 49}, {"agent@x%d.seller.test", 50}, {"agent@seller%d.test", 100}} {
		for n, err = 0, nil; err == nil; n++ {
			a := askAction()
			a.To, a.Note = strings.ReplaceAll(c.to, "%d", fmt.Sprint(n)), fmt.Sprint(n)
			_, err = s.buyer.Propose(a)
		}
		if !errors.Is(err, ErrAction) || !strings.Contains(err.Error(), "too many actions wait") || n-1 != c.more {
			t.Errorf("%s: after %d more: %v", c.to, n-1, err)
		}
	}
	list, err := s.buyer.Waiting()
	check(t, err)
	for _, w := range list {
		check(t, s.buyer.Refuse(w.Key, ""))
	}
	s.propose(s.buyer, askAction())
}

// TestLimitsRaised has an agent do, within the limits of now, what its owner was
// asked about: there is nothing left to approve, or it would be done twice.
func TestLimitsRaised(t *testing.T) {
	s := newScene(t, limited(&limits.Limits{HourlyMessages: 9}))
	other := askAction()
	other.Note = "Yaba."
	done, kept := s.propose(s.buyer, askAction()), s.propose(s.buyer, other)
	s.buyer.set.Limits.Auto = limits.WithinLimits
	if again := s.propose(s.buyer, askAction()); again.ID == "" {
		t.Fatalf("within the limits: %+v", again)
	}
	if err := s.buyer.Approve(done.Waiting); !errors.Is(err, ErrUnknown) {
		t.Errorf("approved: %v", err)
	}
	if l := outbox(t, s.buyer); len(l) != 1 {
		t.Errorf("%d letters", len(l))
	}
	if w := s.waiting(s.buyer); w.Key != kept.Waiting {
		t.Errorf("it waits as %+v", w)
	}
	if e := s.lastEvent(s.buyer); e.Kind != KindSent {
		t.Errorf("the last event is %+v", e)
	}
}

// TestLimitsLowered has an owner approve under narrower limits what waited under
// wider ones: the owner's word counts, and the message names the limits of now.
func TestLimitsLowered(t *testing.T) {
	s := newScene(t, limited(&limits.Limits{HourlyMessages: 9}))
	version := func() (v string) {
		check(t, s.buyer.commit(func(j *judge) (err error) {
			v, err = j.limitsVersion()
			return err
		}))
		return v
	}
	done, before := s.propose(s.buyer, askAction()), version()
	s.buyer.set.Limits = &limits.Limits{HourlyMessages: 1, Block: []string{"seller.test"}}
	check(t, s.buyer.Approve(done.Waiting))
	m := s.parsed(s.letter(s.buyer))
	if now := version(); now == before || m.Authority == nil || m.Authority.DecidedBy != "owner" || string(m.Authority.LimitsVersion) != `"`+now+`"` {
		t.Errorf("under %s, before %s, it says %+v", now, before, m.Authority)
	}
	if _, err := s.buyer.Propose(askAction()); !errors.Is(err, ErrAction) {
		t.Errorf("the agent does it again: %v", err)
	}
}

// TestApprovedTooLate sends nothing that has expired, also before the clock has
// taken it off the list, as at a start after a long time.
func TestApprovedTooLate(t *testing.T) {
	s := newScene(t)
	done := s.propose(s.buyer, askAction())
	s.now = s.now.Add(askLimit)
	last := s.now
	s.now = s.now.Add(time.Second)
	if err := s.buyer.Approve(done.Waiting); !errors.Is(err, ErrAction) {
		t.Errorf("approved: %v", err)
	}
	s.now = last
	check(t, s.buyer.Approve(done.Waiting))
	s.letter(s.buyer)
}

// TestDecidedAtOnce has the owner approve and refuse an action many times at
// once: it is decided once, and sent once at most.
func TestDecidedAtOnce(t *testing.T) {
	s := newScene(t, limited(&limits.Limits{HourlyMessages: 99}))
	for round := range 5 {
		a := askAction()
		a.Note = fmt.Sprint(round)
		key := s.propose(s.buyer, a).Waiting
		var all sync.WaitGroup
		var sent, refused atomic.Int64
		for range 4 {
			all.Go(func() {
				if s.buyer.Approve(key) == nil {
					sent.Add(1)
				}
			})
			all.Go(func() {
				if s.buyer.Refuse(key, "") == nil {
					refused.Add(1)
				}
			})
		}
		all.Wait()
		letters := len(outbox(t, s.buyer))
		if sent.Load()+refused.Load() != 1 || letters != int(sent.Load()) {
			t.Errorf("%d times approved, %d times refused, %d letters", sent.Load(), refused.Load(), letters)
		}
		for range letters {
			s.letter(s.buyer)
		}
	}
}

// TestRefusedByLimits refuses what the owner is not asked about.
func TestRefusedByLimits(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*limits.Limits)
		want   limits.Rule
	}{
		"blocked": {func(l *limits.Limits) { l.Block = []string{"test"} }, limits.RuleBlock},
		"flood":   {func(l *limits.Limits) { l.HourlyMessages = 2 }, limits.RuleHourly},
	} {
		t.Run(name, func(t *testing.T) {
			l := euros(1, 1, 1)
			c.change(l)
			s := newScene(t, limited(l))
			var err error
			for range 3 {
				_, err = s.buyer.Propose(askAction())
			}
			if refused := new(LimitsError); !errors.As(err, &refused) || !slices.Equal(refused.Rules, []limits.Rule{c.want}) || !errors.Is(err, ErrAction) {
				t.Errorf("got %v", err)
			}
			if _, err := s.buyer.Do(askAction()); err != nil {
				t.Errorf("the owner is held to it: %v", err)
			}
		})
	}
	s := newScene(t, limited(&limits.Limits{Auto: limits.WithinLimits, HourlyMessages: 1}))
	s.propose(s.buyer, askAction())
	s.now = s.now.Add(time.Hour)
	s.propose(s.buyer, askAction()) // of another hour
}

// TestHandle holds the owner's program to limits only where there are some.
func TestHandle(t *testing.T) {
	s := newScene(t)
	if done, err := s.buyer.Propose(askAction()); err != nil || done.Waiting == "" || done.Thread != "" || s.waiting(s.buyer).Thread != "" {
		t.Errorf("of a thread that has not begun: %+v, %v", done, err)
	}
	if done, err := s.buyer.Handle(askAction()); err != nil || done.Waiting != "" {
		t.Errorf("without limits: %+v, %v", done, err)
	}
	s = newScene(t, limited(&limits.Limits{HourlyMessages: 1}), func(set *Settings) { set.Handled = true })
	_, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	event, _, _, err := s.seller.Pending()
	check(t, err)
	quote := quoteAction(event.Thread, "", 100)
	quote.Event = event.Seq
	done, err := s.seller.Handle(quote)
	if err != nil || done.Waiting == "" {
		t.Fatalf("beyond the limits: %+v, %v", done, err)
	}
	if event, _, _, err := s.seller.Pending(); err != nil || event != nil {
		t.Errorf("the program is asked again: %+v, %v", event, err)
	}
	check(t, s.seller.Approve(done.Waiting))
	s.expect(s.buyer, s.letter(s.seller), "accepted signed")
}

// TestUnsignedIsAsked has the owner asked where something was not proven.
func TestUnsignedIsAsked(t *testing.T) {
	s := newScene(t, limited(euros(50000, 50000, 50000)), func(set *Settings) { set.Unsigned = UnsignedAllow })
	s.known()
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	s.seller.set.Keys = nil
	quote, raw := s.do(s.seller, quoteAction(ask.Thread, "", 1000))
	s.expect(s.buyer, raw, "accepted mail_only")
	if done := s.propose(s.buyer, Action{Type: intent.Accept, Ref: quote.ID}); !slices.Equal(done.Rules, []limits.Rule{limits.RuleUnsigned}) {
		t.Errorf("the rules are %v", done.Rules)
	}
}

// TestAtOnce has many agents accept at once: what they agree to together is
// within the limits.
func TestAtOnce(t *testing.T) {
	s := newScene(t, limited(euros(1000, 2600, 2600)))
	s.known()
	var accepts []Action
	for range 6 {
		accepts = append(accepts, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
	}
	var all sync.WaitGroup
	results := make([]Done, len(accepts))
	for i, a := range accepts {
		all.Go(func() { results[i], _ = s.buyer.Propose(a) })
	}
	all.Wait()
	sent := 0
	for _, r := range results {
		if r.ID != "" {
			sent++
		} else if r.Waiting == "" {
			t.Error("one was neither sent nor asked")
		}
	}
	if sent != 2 { // and 1 EUR of before
		t.Errorf("%d were sent", sent)
	}
}

// TestOpenQuotesCount holds a quote against what other open quotes may bring,
// until they are closed.
func TestOpenQuotesCount(t *testing.T) {
	s := newScene(t, limited(euros(1000, 1500, 9000)))
	s.known()
	quote := func(total int) Done {
		ask, raw := s.do(s.buyer, askAction())
		s.expect(s.seller, raw, "accepted signed")
		return s.propose(s.seller, quoteAction(ask.Thread, "", total))
	}
	first := quote(1000)
	s.expect(s.buyer, s.letter(s.seller), "accepted signed")
	if second := quote(500); !slices.Equal(second.Rules, []limits.Rule{limits.RuleCounterpartDay}) {
		t.Fatalf("the second quote: %+v", second)
	}
	counter := s.propose(s.seller, quoteAction("", first.ID, 900)) // in its place
	if counter.ID == "" {
		t.Fatalf("a lower price for the first: %+v", counter)
	}
	s.expect(s.buyer, s.letter(s.seller), "accepted signed")
	if third := quote(500); third.ID == "" {
		t.Fatalf("beside the lower price: %+v", third)
	}
	s.expect(s.buyer, s.letter(s.seller), "accepted signed")
	_, raw := s.do(s.buyer, Action{Type: intent.Decline, Ref: counter.ID})
	s.expect(s.seller, raw, "accepted signed")
	if fourth := quote(900); fourth.ID == "" {
		t.Fatalf("after the decline: %+v", fourth)
	}
}

// TestTimes holds slots against each other, the hours and a calendar.
func TestTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "owner.ics")
	check(t, os.WriteFile(path, []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20261101T000000Z\r\nDTSTART:20261113T093000Z\r\nDTEND:20261113T101500Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"), 0o600))
	l := euros(1, 1, 1)
	l.Times.Calendar = path
	s := newScene(t, limited(l))
	s.known()
	slot := func(day, from, to string) intent.Slot {
		return intent.Slot{Start: day + "T" + from + ":00Z", End: day + "T" + to + ":00Z", TimeZone: "Etc/UTC"}
	}
	times := func(slots ...intent.Slot) Action {
		return Action{Type: intent.ProposeTimes, To: sellerAddress, Purpose: "Visit", Slots: slots}
	}
	asked := func(what string, a Action, rules ...limits.Rule) Done {
		t.Helper()
		done := s.propose(s.buyer, a)
		if !slices.Equal(done.Rules, rules) {
			t.Errorf("%s: the rules are %v, want %v", what, done.Rules, rules)
		}
		return done
	}
	asked("early", times(slot("2026-11-12", "07:00", "08:30")), limits.RuleHours)
	asked("busy", times(slot("2026-11-13", "10:00", "11:00")), limits.RuleCalendar)
	first := asked("free", times(slot("2026-11-12", "10:00", "11:00"), slot("2026-11-13", "14:00", "15:00")))
	raw := s.letter(s.buyer)
	s.expect(s.seller, raw, "accepted signed")
	asked("offered", times(slot("2026-11-12", "10:30", "11:30")), limits.RuleAgreed)
	_, raw = s.do(s.seller, Action{Type: intent.Accept, Ref: first.ID, Slot: new(1)})
	s.expect(s.buyer, raw, "accepted signed")
	asked("agreed", times(slot("2026-11-13", "14:30", "15:30")), limits.RuleAgreed)
	asked("not chosen", times(slot("2026-11-12", "10:30", "11:30")))
	s.letter(s.buyer)
	_, raw = s.do(s.seller, Action{Type: intent.Cancel, Ref: first.ID})
	s.expect(s.buyer, raw, "accepted signed")
	asked("cancelled", times(slot("2026-11-13", "14:00", "15:00")))
	s.letter(s.buyer)
	check(t, os.Remove(path))
	check(t, syscall.Mkfifo(path, 0o600))
	asked("with a pipe for it", times(slot("2026-11-16", "14:00", "15:00")), limits.RuleCalendar)
	check(t, os.Remove(path))
	asked("without its calendar", times(slot("2026-11-16", "14:00", "15:00")), limits.RuleCalendar)
}

// TestExchangeIsAsked has the owner of an agent that decides nothing asked about
// what it says to others, and holds approved files to those of then.
func TestExchangeIsAsked(t *testing.T) {
	s := agentScene(t)
	l := limits.Limits{Auto: limits.None, HourlyMessages: 9}
	s.buyer.set.Limits = &l
	file := filepath.Join(t.TempDir(), "letter.txt")
	check(t, os.WriteFile(file, []byte("one"), 0o600))
	a := Action{Type: ActRequest, Agent: s.seller.AgentID(), To: sellerAddress, Offering: "chat", Text: "Hello.", Files: []string{file}}
	done := s.propose(s.buyer, a)
	if done.Waiting == "" || done.To != sellerAddress || len(outbox(t, s.buyer)) != 0 {
		t.Fatalf("got %+v", done)
	}
	check(t, os.WriteFile(file, []byte("two"), 0o600))
	if err := s.buyer.Approve(done.Waiting); !errors.Is(err, ErrAction) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("with another file: %v", err)
	}
	check(t, os.WriteFile(file, []byte("one"), 0o600))
	check(t, s.buyer.Approve(done.Waiting))
	s.letter(s.buyer)
	l.Auto = limits.WithinLimits
	if done := s.propose(s.buyer, a); done.ID == "" {
		t.Errorf("within the limits: %+v", done)
	}
}

// TestSumsAreForgotten lets days and months pass. The sums of months stay, also
// for a clock that was ahead and comes back (D165).
func TestSumsAreForgotten(t *testing.T) {
	s := newScene(t, limited(euros(1000, 1000, 1500)))
	s.known()
	accept := func() Done { return s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(900).ID}) }
	if done := accept(); done.ID == "" {
		t.Fatalf("today: %+v", done)
	}
	s.letter(s.buyer)
	s.tick(s.buyer, 24*time.Hour)
	if done := accept(); !slices.Equal(done.Rules, []limits.Rule{limits.RuleMonth}) {
		t.Fatalf("tomorrow: %+v", done)
	}
	s.tick(s.buyer, 30*24*time.Hour)
	if done := accept(); done.ID == "" {
		t.Fatalf("in a month: %+v", done)
	}
	s.letter(s.buyer)
	const ahead = 64 * 24 * time.Hour
	s.tick(s.buyer, ahead)
	if done := accept(); done.ID == "" {
		t.Fatalf("while the clock is ahead: %+v", done)
	}
	s.letter(s.buyer)
	s.tick(s.buyer, -ahead)
	if done := accept(); !slices.Equal(done.Rules, []limits.Rule{limits.RuleCounterpartDay, limits.RuleMonth}) {
		t.Errorf("after a clock that was ahead: %+v", done)
	}
}

// TestDaysAreForgotten keeps the sums of the last days on which something was
// agreed, and that of today whatever days a clock that was ahead has begun.
func TestDaysAreForgotten(t *testing.T) {
	s := newScene(t, limited(euros(1, 1, 1)))
	s.known()
	sums := func() (keys []string) {
		check(t, s.buyer.view(func(tx *store.Tx) error {
			return tx.Scan(tableSums, "", "", func(r store.Row) (bool, error) {
				keys = append(keys, r.Key)
				return true, nil
			})
		}))
		return keys
	}
	deal := func(with string) {
		check(t, s.buyer.commit(func(j *judge) error {
			day, _ := j.in.limits().Buckets(with, "EUR", s.now)
			_, err := j.addSum(day, 1)
			if err != nil {
				return err
			}
			return j.forgetDays(day[:len(time.DateOnly)])
		}))
	}
	for range keptDays - 1 {
		s.now = s.now.AddDate(0, 0, 2)
		deal("a@seller.test")
		deal("b@seller.test")
	}
	if keys := sums(); len(keys) != 2*keptDays || !slices.Contains(keys, "2026-11-02/EUR/"+sellerAddress) {
		t.Fatalf("%d are kept: %v", len(keys), keys)
	}
	s.now = s.now.AddDate(9, 0, 0)
	deal("a@seller.test")
	if keys := sums(); len(keys) != 2*keptDays || slices.Contains(keys, "2026-11-02/EUR/"+sellerAddress) || !slices.Contains(keys, "2026-11/EUR") || !slices.Contains(keys, "2026-11-04/EUR/b@seller.test") {
		t.Fatalf("after one more day %d are kept: %v", len(keys), keys)
	}
	s.now = s.now.AddDate(-10, 0, 0)
	deal("a@seller.test")
	if keys := sums(); len(keys) != 2*keptDays+1 || !strings.HasPrefix(keys[0], s.now.Format(time.DateOnly)) {
		t.Fatalf("before all of them %d are kept: %v", len(keys), keys)
	}
}

// Over random deals the sums of what an agent agreed to never pass a limit,
// whatever the other side does, the order, the crashes and the mails that come
// again.
func TestSumsStayWithinLimits(t *testing.T) {
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; raced && checks > 10 { // the race detector sees no more in the others
			return
		}
		d := dealing{rt: rt, open: map[string][]string{}, l: *euros(1500, rapid.Int64Range(1000, 3000).Draw(rt, "day"), rapid.Int64Range(1000, 4000).Draw(rt, "month"))}
		d.l.OpenOffers = 50
		d.scene = newScene(t, limited(&d.l))
		d.store.Rehearse(nil) // there are other tests for that
		d.known()
		rt.Repeat(map[string]func(*rapid.T){
			"it quotes":             func(*rapid.T) { d.act(d.buyer, d.buyer.Propose, d.quote(d.buyer)) },
			"it is quoted":          func(*rapid.T) { d.act(d.seller, d.seller.Do, d.quote(d.seller)) },
			"it accepts":            func(*rapid.T) { d.act(d.buyer, d.buyer.Propose, d.accept(d.buyer)) },
			"its quote is accepted": func(*rapid.T) { d.act(d.seller, d.seller.Do, d.accept(d.seller)) },
			"a mail comes again": func(*rapid.T) {
				if len(d.mails) > 0 {
					raw := rapid.SampledFrom(d.mails).Draw(rt, "mail")
					d.deliver(d.seller, raw)
					d.deliver(d.buyer, raw)
				}
			},
			"a crash":     func(*rapid.T) { d.restart(); d.store.Rehearse(nil) },
			"time passes": func(*rapid.T) { d.tick(d.buyer, time.Duration(rapid.IntRange(0, 30).Draw(rt, "hours"))*time.Hour) },
			"":            func(*rapid.T) { d.within() },
		})
	})
}

// dealing is the buyer's agent, held to limits, and the owner of the seller.
type dealing struct {
	*scene
	rt    *rapid.T
	l     limits.Limits
	open  map[string][]string // quotes, by the name of who may accept
	mails [][]byte
}

// other is whom an inbox deals with.
func (d *dealing) other(in *Inbox) *Inbox {
	if in == d.buyer {
		return d.seller
	}
	return d.buyer
}

// act has one side act and carries what it sends. What the state of a thread
// does not allow is not done.
func (d *dealing) act(in *Inbox, do func(Action) (Done, error), a Action) {
	done, err := do(a)
	if err != nil && !errors.Is(err, ErrAction) {
		d.rt.Fatal(err)
	}
	if done.ID == "" {
		return
	}
	to, raw := d.other(in), d.letter(in)
	d.deliver(to, raw)
	d.mails = append(d.mails, raw)
	if a.Type == intent.Quote {
		d.open[to.Name()] = append(d.open[to.Name()], done.ID)
	}
}

// quote has one side ask, and is the quote of the other.
func (d *dealing) quote(in *Inbox) Action {
	a, from := askAction(), d.other(in)
	a.To = in.Address()
	ask, raw := d.do(from, a)
	d.deliver(in, raw)
	return quoteAction(ask.Thread, "", rapid.SampledFrom([]int{1, 499, 500, 900, 1000, 1400, 1500, 1501}).Draw(d.rt, "total"))
}

// accept is that of one of the quotes that a side has.
func (d *dealing) accept(in *Inbox) Action {
	list := d.open[in.Name()]
	if len(list) == 0 {
		d.rt.Skip()
	}
	i := rapid.IntRange(0, len(list)-1).Draw(d.rt, "which")
	ref := list[i]
	d.open[in.Name()] = slices.Delete(list, i, i+1)
	return Action{Type: intent.Accept, Ref: ref}
}

// within holds the sums of the agent against its limits.
func (d *dealing) within() {
	check(d.t, d.buyer.view(func(tx *store.Tx) error {
		return tx.Scan(tableSums, "", "", func(r store.Row) (bool, error) {
			var sum int64
			err := r.Decode(&sum)
			most := d.l.Money["EUR"]
			limit := *most.CounterpartDay
			if strings.Count(r.Key, "/") == 1 {
				limit = *most.Month
			}
			if sum > limit {
				d.rt.Errorf("%s is %d, more than %d", r.Key, sum, limit)
			}
			return true, err
		})
	}))
}
