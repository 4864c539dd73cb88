package inbox

import (
	"errors"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
)

// TestApprovedIsWhatWasAsked sends nothing where the action has become another
// one between the question and the owner's word.
func TestApprovedIsWhatWasAsked(t *testing.T) {
	asks := limited(&limits.Limits{Auto: limits.None, HourlyMessages: 10})
	t.Run("another address on the name card", func(t *testing.T) {
		s := agentScene(t, asks)
		card := Contact{Agent: s.seller.AgentID(), Addresses: []string{sellerAddress}}
		check(t, s.buyer.PutContact(card))
		done := s.propose(s.buyer, Action{Type: ActRequest, Agent: card.Agent, Offering: "chat", Text: "Hello."})
		card.Addresses = []string{"else@else.test"}
		check(t, s.buyer.PutContact(card))
		if err := s.buyer.Approve(done.Waiting); !errors.Is(err, ErrAction) {
			t.Errorf("approved: %v", err)
		}
		if letters := outbox(t, s.buyer); len(letters) != 0 {
			t.Errorf("sent to %s", letters[0].To)
		}
		if w := s.waiting(s.buyer); w.Key != done.Waiting {
			t.Errorf("it waits as %+v", w)
		}
	})
	t.Run("another agent at the address", func(t *testing.T) {
		s := agentScene(t, asks)
		first := s.seller.AgentID()
		check(t, s.buyer.PutContact(Contact{Agent: first, Addresses: []string{sellerAddress}}))
		done := s.propose(s.buyer, Action{Type: ActRequest, To: sellerAddress, Offering: "chat", Text: "Hello."})
		check(t, s.buyer.RemoveContact(first))
		check(t, s.buyer.PutContact(Contact{Agent: newIdentity(t).ID(), Addresses: []string{sellerAddress}}))
		check(t, s.buyer.Approve(done.Waiting))
		if e := envelopeOf(t, s.letter(s.buyer)); e.To != first {
			t.Errorf("it is for agent %s, the owner was asked about %s", e.To, first)
		}
	})
	t.Run("another offer under the id of a record", func(t *testing.T) {
		s := newScene(t, asks)
		s.known()
		list, err := s.buyer.Records()
		check(t, err)
		s.propose(s.buyer, Action{Type: intent.Cancel, Ref: list[0].ID})
		if w := s.waiting(s.buyer); w.Action.Ref != list[0].Offer {
			t.Errorf("it waits as a cancel of %s, the record is of %s", w.Action.Ref, list[0].Offer)
		}
	})
	t.Run("another ask in the thread", func(t *testing.T) {
		s := newScene(t, asks)
		ask, raw := s.do(s.buyer, askAction())
		s.expect(s.seller, raw, "accepted signed")
		done := s.propose(s.seller, quoteAction(ask.Thread, "", 100))
		s.now = s.now.Add(defaultValid + time.Second)
		again := askAction()
		again.To, again.Thread = "", ask.Thread
		_, raw = s.do(s.buyer, again)
		s.expect(s.seller, raw, "accepted signed")
		if err := s.seller.Approve(done.Waiting); !errors.Is(err, ErrAction) {
			t.Errorf("approved: %v", err)
		}
		if letters := outbox(t, s.seller); len(letters) != 0 {
			t.Errorf("a quote for the first ask answers the second: %+v", letters)
		}
	})
}
