package demo

import (
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// knock is the third act: a stranger knocks and is told to wait, what it asks
// waits, the owner lets it in, and it is answered.
func (p *play) knock() error {
	p.say("\n══ A stranger ══\n\nAn agent that the seller does not know has found its agent id. It knocks.")
	if err := p.know(p.caller, p.seller); err != nil {
		return err
	}
	knocked, err := p.act(p.caller, p.seller, inbox.Action{
		Type: inbox.ActRequest, To: sellerAddress, Offering: agentmsg.OfferingKnock, Text: "May we ask for translations?",
	})
	if err != nil {
		return err
	}
	if err := p.answered(p.caller, p.seller, knocked.ID); err != nil {
		return err
	}
	asked, err := p.try(p.caller, p.seller, inbox.Action{
		Type: inbox.ActRequest, To: sellerAddress, Offering: agentmsg.OfferingChat, Text: "What does a page cost?",
	}, inbox.Held)
	if err != nil {
		return err
	}
	if err := p.admit(); err != nil {
		return err
	}
	_, err = p.act(p.seller, p.caller, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Text: "Thirty euros."})
	return err
}

// answered waits for what a daemon answers by itself, and shows it.
func (p *play) answered(at, by *side, id string) error {
	event, err := p.await(at, func(e inbox.Event) bool {
		message, err := agentmsg.Parse(e.Message)
		return err == nil && message.InReplyTo == id
	})
	if err != nil {
		return fmt.Errorf("waiting for the %s's answer at the %s: %w", by.name, at.name, err)
	}
	return p.show(by, at, event)
}

// admit has the seller's owner let in who waits, as `agentmaild waiting
// approve KEY --admit` does.
func (p *play) admit() error {
	p.say("\n── The seller's owner ──")
	waiting, err := p.seller.inbox().Waiting()
	if err != nil {
		return err
	}
	for _, w := range waiting {
		p.say("Waiting: %s, of agent %.8s…: %q", w.Key, w.Agent, w.Text)
	}
	if len(waiting) != 2 || waiting[0].Agent != p.caller.inbox().AgentID() {
		return fmt.Errorf("%d things wait for the seller's owner, and not a knock and a message of the stranger", len(waiting))
	}
	p.say("The owner admits the agent: agentmaild waiting approve %s --admit", waiting[0].Key)
	if err := p.seller.inbox().Decide(waiting[0].Agent, agentmsg.StanceAllow, ""); err != nil {
		return err
	}
	waiting, err = p.seller.inbox().Waiting()
	if err == nil && len(waiting) != 0 {
		err = fmt.Errorf("%d things wait still", len(waiting))
	}
	return err
}
