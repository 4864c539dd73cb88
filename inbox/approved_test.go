package inbox

import (
	"errors"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
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

// TestApprovedExchangeIsWhatWasAsked holds the same of Agent Emailing, where who
// asks chooses the id of its request, and may choose it once more.
func TestApprovedExchangeIsWhatWasAsked(t *testing.T) {
	asks := limited(&limits.Limits{Auto: limits.None, HourlyMessages: 10})
	// stays holds that nothing is sent and that the action waits on.
	stays := func(t *testing.T, s *scene, in *Inbox, done Done) {
		t.Helper()
		if err := in.Approve(done.Waiting); !errors.Is(err, ErrAction) {
			t.Errorf("approved: %v", err)
		}
		if letters := outbox(t, in); len(letters) != 0 {
			t.Errorf("sent to %s", letters[0].To)
		}
		if w := s.waiting(in); w.Key != done.Waiting {
			t.Errorf("it waits as %+v", w)
		}
	}
	for name, c := range map[string]struct{ first, then bool }{
		"in clear by now":          {true, false},
		"sealed to another key":    {true, true},
		"sealed, and was not then": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := agentScene(t, asks, func(set *Settings) { set.Agent.Sealing = newSealing(t) })
			card := Contact{Agent: s.agent(s.seller), Addresses: []string{sellerAddress}}
			put := func(sealed bool) {
				if card.SealingKey = ""; sealed {
					card.SealingKey = newSealing(t).Public()
				}
				check(t, s.buyer.PutContact(card))
			}
			put(c.first)
			done := s.propose(s.buyer, Action{Type: ActRequest, To: sellerAddress, Offering: "chat", Text: "In confidence."})
			put(c.then)
			stays(t, s, s.buyer, done)
		})
	}
	t.Run("another request under the id", func(t *testing.T) {
		s := agentScene(t, asks)
		s.admits()
		const id = "019a4400-0000-7000-8000-0000000000a1"
		request := func(text string) {
			input, err := agentmsg.Chat(text)
			check(t, err)
			s.expect(s.seller, s.envelope(agentmsg.Envelope{ID: id, Request: &agentmsg.Request{Offering: "chat", Input: input}}), "accepted")
		}
		request("May I have a cup of tea?")
		s.tick(s.seller, 6*24*time.Hour)
		done := s.propose(s.seller, Action{Type: ActRespond, Request: id, Text: "Yes."})
		s.tick(s.seller, 25*time.Hour) // the id is forgotten
		request("May I have the house?")
		stays(t, s, s.seller, done)
	})
	t.Run("another message to answer", func(t *testing.T) {
		s := newScene(t, asks)
		ask, quote := s.quoted()
		accept, raw := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
		s.expect(s.seller, raw, "accepted signed")
		more := askAction()
		more.To, more.Thread = "", ask.Thread
		done := s.propose(s.buyer, more)
		_, raw = s.do(s.seller, Action{Type: intent.Cancel, Ref: quote.ID})
		s.expect(s.buyer, raw, "accepted signed")
		check(t, s.buyer.Approve(done.Waiting))
		r := s.expect(s.seller, s.letter(s.buyer), "accepted signed")
		if m, err := s.seller.offerToAccept(r.ID); err != nil || m.InReplyTo != accept.ID {
			t.Errorf("it answers %s, the owner was asked about one that answers %s: %v", m.InReplyTo, accept.ID, err)
		}
	})
}
