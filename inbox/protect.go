package inbox

import (
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
)

// protect is what a message passes after its signature, in the order of §22.
// "" lets it pass. The time is now and not the arrival: what a mailbox gives
// out once more after years must not be fresh when its id is forgotten (D117).
func (j *judge) protect(m *errand) (Code, error) {
	e := m.envelope
	if met, err := j.meet(e); err != nil || met {
		return CodeDuplicate, err
	}
	code := e.Freshness(j.in.srv.Now())
	if code == "" {
		code = e.Addressing(j.in.set.Agent.Identity.ID())
	}
	if code == "" {
		code = e.Size()
	}
	if code == "" {
		code = e.Hops()
	}
	return Code(code), nil
}

// protections says in words why a message was refused.
var protections = map[Code]string{
	CodeDuplicate:                   "the message was received before",
	Code(agentmsg.CodeStale):        "it was signed more than seven days ago",
	Code(agentmsg.CodeFuture):       "it is signed more than five minutes ahead",
	Code(agentmsg.CodeMisaddressed): "it is for another agent",
	Code(agentmsg.CodeTooLarge):     "its text is longer than 65536 UTF-16 units",
	Code(agentmsg.CodeHops):         "it was relayed more than three times",
}

// The memory of duplicates. A ts may lie five minutes ahead, so that a message
// can be fresh for that much longer than seven days (D117).
const (
	maxMet  = 100_000
	keepMet = 7*24*time.Hour + 5*time.Minute
)

// met tells whether a message was met already, so that nothing of it need be
// kept. The transaction looks again.
func (in *Inbox) met(e *agentmsg.Envelope) bool {
	known := false
	err := in.view(func(tx *store.Tx) (err error) {
		known, err = tx.Get(tableMet, exchangeKey(e.From, e.ID), new(string))
		return err
	})
	return err == nil && known
}

// meet remembers a message and tells whether it was met before. Whatever a
// later check says of it, it is met from now on. The oldest is forgotten where
// there are too many.
func (j *judge) meet(e *agentmsg.Envelope) (bool, error) {
	key := exchangeKey(e.From, e.ID)
	if known, err := j.tx.Get(tableMet, key, new(string)); err != nil || known {
		return known, err
	}
	number, err := j.tx.Next(tableMetOrder)
	if err != nil {
		return false, err
	}
	if err := j.tx.Put(tableMet, key, number); err != nil {
		return false, err
	}
	if err := j.tx.Put(tableMetOrder, number, key); err != nil {
		return false, err
	}
	if err := j.tx.Put(tableDue, dueKey(j.in.srv.Now().Add(keepMet).Unix()+1, "met/"+number), struct{}{}); err != nil {
		return false, err
	}
	last, err := j.tx.Last(tableMetOrder)
	if err != nil || last <= maxMet {
		return false, err
	}
	return false, j.unmeet(store.Key(last - maxMet))
}

// unmeet forgets a message by its number.
func (j *judge) unmeet(number string) error {
	var key string
	known, err := j.tx.Get(tableMetOrder, number, &key)
	if err != nil || !known {
		return err
	}
	if err := j.tx.Delete(tableMet, key); err != nil {
		return err
	}
	return j.tx.Delete(tableMetOrder, number)
}
