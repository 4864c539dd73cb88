package inbox

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
)

// Contact is a name card: where an agent has its mail and what is sealed to
// it. One that is Pinned was not written by the owner; it is what the agent
// said of itself first, and gives it no standing.
type Contact struct {
	Agent      string   `json:"agent_id"`
	Name       string   `json:"name,omitempty"`
	Addresses  []string `json:"addresses,omitempty"`   // in comparable form; answers go to the first
	SealingKey string   `json:"sealing_key,omitempty"` // X25519, unpadded base64url
	Pinned     bool     `json:"pinned,omitzero"`
}

// What a card holds at most.
const (
	maxAddresses = 10
	maxCardName  = 200 // characters
)

// PutContact writes a name card into the contact book. An address that is on
// another agent's card is refused: it is taken off there first. Errors wrap
// ErrAction.
func (in *Inbox) PutContact(c Contact) error {
	if in.set.Agent == nil {
		return errNoAgent
	}
	switch {
	case !agentmsg.IsID(c.Agent):
		return cannot("agent_id: %q is not an agent id", c.Agent)
	case c.SealingKey != "" && !agentmsg.IsSealingKey(c.SealingKey):
		return cannot("sealing_key: %q is no X25519 key in unpadded base64url", c.SealingKey)
	case utf8.RuneCountInString(c.Name) > maxCardName || strings.ContainsFunc(c.Name, unicode.IsControl):
		return cannot("name: at most %d characters without control characters", maxCardName)
	case len(c.Addresses) > maxAddresses:
		return cannot("addresses: at most %d", maxAddresses)
	}
	if _, err := agentmsg.ParseSealingKey(c.SealingKey); err != nil && c.SealingKey != "" { // both halves have one form
		return cannot("sealing_key: %w", err)
	}
	c.Pinned = false
	c.Addresses = slices.Clone(c.Addresses)
	for i, a := range c.Addresses {
		parsed, err := address.Parse(a)
		if err != nil {
			return cannot("addresses: %w", err)
		}
		c.Addresses[i] = parsed
	}
	return in.commit(func(j *judge) error {
		for _, a := range c.Addresses {
			other, err := j.agentAt(a)
			if err != nil {
				return err
			}
			if other != "" && other != c.Agent {
				if card, err := j.contact(other); err != nil || card != nil && !card.Pinned {
					return orCannot(err, "addresses: %s is on the card of agent %s", a, other)
				}
			}
		}
		return j.putCard(c)
	})
}

func orCannot(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return cannot(format, args...)
}

// RemoveContact takes a name card out of the contact book.
func (in *Inbox) RemoveContact(agent string) error {
	return in.commit(func(j *judge) error {
		card, err := j.contact(agent)
		if err != nil {
			return err
		}
		if card == nil {
			return unknown("agent %q has no name card: see `agentmaild contacts list`", agent)
		}
		if err := j.dropAddresses(card); err != nil {
			return err
		}
		return j.tx.Delete(tableContacts, agent)
	})
}

// Contacts lists the name cards.
func (in *Inbox) Contacts() ([]Contact, error) { return whole(in.ContactsPage) }

// ContactsPage lists name cards as ThreadsPage does threads.
func (in *Inbox) ContactsPage(after string, limit int) ([]Contact, string, error) {
	return page(in, tableContacts, after, limit, func(_ *store.Tx, r store.Row) (c Contact, is bool, err error) {
		return c, true, r.Decode(&c)
	})
}

// contact is the name card of an agent, nil without one.
func (j *judge) contact(agent string) (*Contact, error) {
	var c Contact
	if known, err := j.tx.Get(tableContacts, agent, &c); err != nil || !known {
		return nil, err
	}
	return &c, nil
}

// agentAt is the agent whose card has an address, "" for none.
func (j *judge) agentAt(address string) (agent string, err error) {
	_, err = j.tx.Get(tableAddresses, address, &agent)
	return agent, err
}

func (j *judge) putCard(c Contact) error {
	before, err := j.contact(c.Agent)
	if err != nil {
		return err
	}
	if before != nil {
		if err := j.dropAddresses(before); err != nil {
			return err
		}
	}
	for _, a := range c.Addresses {
		if err := j.tx.Put(tableAddresses, a, c.Agent); err != nil {
			return err
		}
	}
	return j.tx.Put(tableContacts, c.Agent, c)
}

// dropAddresses takes the addresses off a card that are still its own: one
// of a pinned card may be on another by the owner's word.
func (j *judge) dropAddresses(c *Contact) error {
	for _, a := range c.Addresses {
		agent, err := j.agentAt(a)
		if err == nil && agent == c.Agent {
			err = j.tx.Delete(tableAddresses, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strange says what in a message disagrees with the name cards, "" if nothing
// does: a key that is new at an address which another agent has, or an agent
// that wants its answers somewhere else than before (D122). Where the owner
// wrote the agent's card, answers go where the card says, and no word of the
// message can change that.
func (j *judge) strange(m *errand) (string, error) {
	from := m.address()
	if from == "" {
		return "", nil
	}
	other, err := j.agentAt(from)
	if err != nil {
		return "", err
	}
	if other != "" && other != m.envelope.From {
		return "its address, " + from + ", is known as that of another agent, " + other, nil
	}
	card, err := j.contact(m.envelope.From)
	if err != nil || card == nil || !card.Pinned || slices.Contains(card.Addresses, from) {
		return "", err
	}
	return "its sender was known at another address, " + card.Addresses[0], nil
}

// address is where an agent says it has its mail, else where DKIM proves that
// its mail came from.
func (m *errand) address() string {
	if m.person != "" { // proven anew with every mail
		return ""
	}
	if signed, err := address.Parse(m.envelope.Meta.Email.Address); err == nil {
		return signed
	}
	return m.ref.From
}

// pin keeps where an agent that was let in has its mail, the first time.
func (j *judge) pin(m *errand) error {
	from := m.address()
	if from == "" || from == j.in.set.Address {
		return nil
	}
	other, err := j.agentAt(from)
	if err != nil || other != "" {
		return err
	}
	card, err := j.contact(m.envelope.From)
	if err != nil || card != nil {
		return err
	}
	return j.putCard(Contact{Agent: m.envelope.From, Addresses: []string{from}, Pinned: true})
}
