package inbox

import (
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// TestClockWasAhead has a clock that was a year ahead for a while hold up
// nothing until that year is over (D164).
func TestClockWasAhead(t *testing.T) {
	ahead := func(s *scene, do func()) {
		s.now = s.now.AddDate(1, 0, 0)
		do()
		s.now = s.now.AddDate(-1, 0, 0)
	}
	t.Run("what the agent may do in an hour", func(t *testing.T) {
		l := euros(1000, 2000, 5000)
		l.HourlyMessages = 3
		s := newScene(t, limited(l))
		ahead(s, func() { s.propose(s.buyer, askAction()) })
		for range 5 {
			s.tick(s.buyer, time.Hour+time.Second)
			s.propose(s.buyer, askAction())
		}
	})
	t.Run("what a sender and a recipient may have in an hour", func(t *testing.T) {
		s := newScene(t, func(set *Settings) { set.HourlyLimit = 3 })
		asks := func() {
			_, raw := s.do(s.buyer, askAction())
			s.expect(s.seller, raw, "accepted signed")
		}
		ahead(s, asks)
		for range 5 {
			s.tick(s.seller, time.Hour+time.Second)
			asks()
		}
	})
	t.Run("the mail to the owner", func(t *testing.T) {
		s := newScene(t, limited(euros(1, 1, 1)), notified)
		ahead(s, func() {
			s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
			if s.reminded(time.Minute) == "" {
				t.Fatal("the owner is not told")
			}
		})
		s.propose(s.buyer, Action{Type: intent.Accept, Ref: s.offer(1000).ID})
		if s.reminded(time.Minute) == "" {
			t.Error("the owner is not told")
		}
	})
	t.Run("a letter", func(t *testing.T) {
		s := newScene(t)
		ahead(s, func() {
			_, err := s.buyer.Do(askAction())
			check(t, err)
		})
		s.letter(s.buyer)
	})
	t.Run("the handler", func(t *testing.T) {
		s := newScene(t, func(set *Settings) { set.Handled = true })
		ahead(s, func() {
			_, raw := s.do(s.buyer, askAction())
			s.expect(s.seller, raw, "accepted signed")
			check(t, s.seller.HandlerFailed(s.pending(s.seller).Seq, "no answer"))
		})
		if s.pending(s.seller) == nil {
			t.Error("the program is not asked")
		}
	})
}
