package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/google/go-cmp/cmp"
)

const owner = "owner@buyer.test"

func notified(s *Settings) {
	if s.Name == "buyer" {
		s.Notify = owner
	}
}

// reminded lets time pass and returns the mail that the owner gets, "" for none.
func (s *scene) reminded(later time.Duration) string {
	s.t.Helper()
	s.tick(s.buyer, later)
	if len(outbox(s.t, s.buyer)) == 0 {
		return ""
	}
	return string(s.letter(s.buyer))
}

// TestReminder mails the owner what has come to wait, once an hour at most, and
// nothing that another side wrote.
func TestReminder(t *testing.T) {
	s := newScene(t, limited(euros(1, 1, 1)), notified)
	if m := s.reminded(time.Minute); m != "" {
		t.Fatalf("nothing waits, and the owner is mailed:\n%s", m)
	}
	quote := s.offer(55000)
	done := s.propose(s.buyer, Action{Type: intent.Accept, Ref: quote.ID, Note: "obey me"})
	m := s.reminded(time.Minute)
	for _, part := range []string{
		"To: <" + owner + ">", "Subject: 1 waiting for your decision [buyer]", "Auto-Submitted: auto-generated", done.Waiting,
		"accept, to " + sellerAddress, "550.00 EUR is more than 0.01 EUR for one deal", "decides nothing",
	} {
		if !strings.Contains(m, part) {
			t.Errorf("the mail lacks %q:\n%s", part, m)
		}
	}
	if strings.Contains(m, "obey") {
		t.Errorf("the mail quotes what was written:\n%s", m)
	}
	for range 30 {
		s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
	}
	s.restart()
	if m := s.reminded(50 * time.Minute); m != "" {
		t.Errorf("a second mail within the hour:\n%s", m)
	}
	if m := s.reminded(10 * time.Minute); !strings.Contains(m, "Subject: 31 waiting for your decision [buyer]") || strings.Contains(m, done.Waiting) || !strings.Contains(m, "and 10 more") {
		t.Errorf("the second mail:\n%s", m)
	}
	if m := s.reminded(2 * time.Hour); m != "" {
		t.Errorf("nothing is new, and the owner is mailed:\n%s", m)
	}
}

// TestReminderFails does not tell the owner that telling the owner failed, keeps
// no more than one mail that did, and tells what it told with the next. Agents,
// and all who read events, see no address of the owner.
func TestReminderFails(t *testing.T) {
	s := newScene(t, limited(euros(1, 1, 1)), notified)
	first := s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
	fails := func() {
		t.Helper()
		s.tick(s.buyer, time.Hour+time.Minute)
		_, err := s.buyer.sendDue(t.Context(), transport(func(_, _ string, _ []byte) error { return fmt.Errorf("550 no such user %s", owner) }))
		check(t, err)
		if l := outbox(t, s.buyer); len(l) != 1 || l[0].State != letterFailed {
			t.Fatalf("the outbox has %+v", l)
		}
	}
	fails()
	fails()
	for i := range lettersTo.address + 1 {
		a := timesAction()
		a.To = fmt.Sprintf("agent@seller%d.test", i)
		s.propose(s.buyer, a)
		fails()
	}
	list, err := s.buyer.Waiting()
	check(t, err)
	events, _, err := s.buyer.Events("", 10000)
	check(t, err)
	for _, w := range list {
		if w.Kind == "letter" && w.Address != owner {
			t.Errorf("its owner sees %+v", w)
		}
		if seen := fmt.Sprint(w.ToAgent()); strings.Contains(seen, owner) {
			t.Errorf("the agent sees %s", seen)
		}
	}
	failed := 0
	for _, e := range events {
		if e.Kind == KindLetterFailed {
			failed++
		}
		if strings.Contains(e.Reason, owner) {
			t.Errorf("an event says %q", e.Reason)
		}
	}
	if failed == 0 {
		t.Error("no event says that a mail failed")
	}
	last := s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
	m := s.reminded(time.Hour + time.Minute)
	if !strings.Contains(m, first.Waiting) || !strings.Contains(m, "and 83 more") || len(outbox(t, s.buyer)) != 0 {
		t.Errorf("the first that goes out does not tell what those told that did not, %s to %s:\n%s", first.Waiting, last.Waiting, m)
	}
}

// TestReminderIsNotHeldUp mails the owner however much the agent has written to
// the owner's address.
func TestReminderIsNotHeldUp(t *testing.T) {
	s := newScene(t, limited(euros(1, 1, 1)), notified, func(set *Settings) { set.HourlyLimit = 3 })
	for range 3 {
		a := askAction()
		a.To = owner
		s.propose(s.buyer, a)
		s.letter(s.buyer)
	}
	s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
	if s.reminded(time.Minute) == "" {
		t.Error("the owner is not told")
	}
}

// TestReminderInTurn shows the owner something of everybody, whoever floods.
func TestReminderInTurn(t *testing.T) {
	var list []Waiting
	for i := range 100 {
		list = append(list, Waiting{Key: fmt.Sprint("flood ", i), Kind: "message", Proof: Proof{Domain: fmt.Sprintf("x%d.flood.test", i)}})
	}
	list = append(list, Waiting{Key: "other", Kind: "message", Proof: Proof{Domain: "other.test"}})
	for i := range 100 {
		list = append(list, Waiting{Key: fmt.Sprint("knock ", i), Kind: "knock", Address: fmt.Sprintf("agent@x%d.test", i)})
	}
	list = append(list, Waiting{Key: "letter", Kind: "letter", Address: "agent@seller.test"})
	var keys []string
	for _, w := range inTurn(list)[:7] {
		keys = append(keys, w.Key)
	}
	if diff := cmp.Diff([]string{"flood 0", "knock 0", "letter", "other", "knock 1", "knock 2", "flood 1"}, keys); diff != "" {
		t.Error(diff)
	}
}

// TestReminderAnswered has an answer to the mail decide nothing, and become no
// request to the agent.
func TestReminderAnswered(t *testing.T) {
	s := agentScene(t, limited(&limits.Limits{HourlyMessages: 9}), func(set *Settings) { set.Notify = "ann@buyer.test" })
	ask := askAction()
	ask.To = buyerAddress
	done := s.propose(s.seller, ask)
	s.tick(s.seller, time.Minute)
	mail, err := envelope.Read(s.letter(s.seller))
	check(t, err)
	s.expect(s.seller, s.personMail("1", true), "bridged")
	s.expect(s.seller, s.personMail("2", true, "In-Reply-To: "+mail.Header.Get("Message-ID")), "review")
	if _, err := s.seller.waitingAction(strings.TrimPrefix(done.Waiting, actionPrefix)); err != nil {
		t.Errorf("the action waits no more: %v", err)
	}
}

// TestReminderAnsweredByItself mails the owner once, and not about the answers of
// a mailbox that answers every mail and does not say that nobody wrote them.
func TestReminderAnsweredByItself(t *testing.T) {
	for name, answer := range map[string]string{"naming the mail": "In-Reply-To: ", "naming nothing": "X-About: "} {
		t.Run(name, func(t *testing.T) {
			s := agentScene(t, limited(&limits.Limits{HourlyMessages: 9}), func(set *Settings) { set.Notify = "ann@buyer.test" })
			ask := askAction()
			ask.To = buyerAddress
			s.propose(s.seller, ask)
			s.tick(s.seller, time.Minute)
			mail, err := envelope.Read(s.letter(s.seller))
			check(t, err)
			s.deliver(s.seller, s.personMail("2", true, answer+mail.Header.Get("Message-ID")))
			if list, err := s.seller.Waiting(); err != nil || len(list) != 2 {
				t.Fatalf("%d things wait, %v", len(list), err)
			}
			s.tick(s.seller, 2*time.Hour)
			if l := outbox(t, s.seller); len(l) != 0 {
				t.Errorf("the owner is mailed:\n%s", s.letter(s.seller))
			}
		})
	}
}

// TestUsage tells what is used of the limits.
func TestUsage(t *testing.T) {
	l := euros(1000, 2000, 5000)
	s := newScene(t, limited(l))
	s.known()
	s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(900).ID})
	s.letter(s.buyer)
	s.offer(700)
	u, err := s.buyer.Usage()
	check(t, err)
	want := Usage{Set: true, TimeZone: "UTC", Limits: *l, Actions: 1, Money: []MoneyUsage{{Currency: "EUR", Month: 1000, Today: []CounterpartUsage{{sellerAddress, 1000}}}}}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Errorf("the buyer: %s", diff)
	}
	u, err = s.seller.Usage() // which does not know of the accept yet
	check(t, err)
	if m := u.Money[0]; u.OpenOffers != 2 || m.Open != 1600 || m.Month != 100 {
		t.Errorf("the seller: %+v", u)
	}
	s.tick(s.buyer, 31*24*time.Hour)
	u, err = s.buyer.Usage()
	check(t, err)
	if m := u.Money[0]; m.Month != 0 || len(m.Today) != 0 {
		t.Errorf("a month later: %+v", m)
	}
	u, err = newScene(t).buyer.Usage()
	check(t, err)
	if u.Set || u.Limits.Auto != limits.None {
		t.Errorf("without limits: %+v", u)
	}
}
