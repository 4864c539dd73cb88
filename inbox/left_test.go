package inbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// TestLeft shows the owner what nobody answers, for as long as it can be
// answered (D138).
func TestLeft(t *testing.T) {
	const refused, answered, declined, expired = "refused", "answered", "declined", "expired"
	for _, end := range []string{refused, answered, declined, expired} {
		t.Run(end, func(t *testing.T) {
			s := newScene(t, func(set *Settings) { set.Handled = true })
			ask, raw := s.do(s.buyer, askAction())
			s.expect(s.seller, raw, "accepted signed")
			event := s.pending(s.seller)
			check(t, s.seller.LeaveToOwner(event, "an item is not on the list"))
			if err := s.seller.LeaveToOwner(event, "again"); !errors.Is(err, ErrAction) {
				t.Errorf("a second time: %v", err)
			}
			if e := s.pending(s.seller); e != nil {
				t.Errorf("event %s is pending still", e.Seq)
			}
			list, err := s.seller.Waiting()
			check(t, err)
			if len(list) != 1 || list[0].Kind != "left" || list[0].Thread != ask.Thread || list[0].Message == nil || !strings.HasPrefix(list[0].Reason, "an item is not on the list: answer it with `agentmaild quote --thread "+ask.Thread+"` or `agentmaild decline "+ask.ID+"`") {
				t.Fatalf("what waits: %+v", list)
			}
			if err := s.seller.Approve(list[0].Key); !errors.Is(err, ErrAction) {
				t.Errorf("approved: %v", err)
			}
			switch end {
			case refused:
				check(t, s.seller.Refuse(list[0].Key, ""))
				if err := s.seller.Refuse(list[0].Key, ""); !errors.Is(err, ErrAction) {
					t.Errorf("refused twice: %v", err)
				}
			case answered:
				s.do(s.seller, quoteAction(ask.Thread, "", 55000))
			case declined:
				s.do(s.seller, Action{Type: intent.Decline, Ref: ask.ID})
			}
			if end != expired {
				s.nothingWaits()
			}
			s.now = s.now.Add(366 * 24 * time.Hour)
			check(t, s.seller.Tick())
			s.nothingWaits()
		})
	}
}

// TestLeftAtMost lists no more of one side than its share; the rest is in its
// threads.
func TestLeftAtMost(t *testing.T) {
	s := newScene(t, func(set *Settings) { set.Handled = true })
	s.used("left of "+buyerAddress, leftToOwner.address)
	_, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	check(t, s.seller.LeaveToOwner(s.pending(s.seller), "an item is not on the list"))
	s.nothingWaits()
}

func (s *scene) nothingWaits() {
	s.t.Helper()
	list, err := s.seller.Waiting()
	check(s.t, err)
	if len(list) != 0 {
		s.t.Errorf("%+v waits", list)
	}
}
