package inbox

import (
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// forgetting is how long a nonce is kept after exp (D19).
const forgetting = 300 * time.Second

// memorable tells whether there is room for the nonce of a message, or it is
// remembered already.
func (j *judge) memorable(p *proven) (bool, error) {
	known, err := j.tx.Get(tableNonces, nonceKey(p.found.Parsed), &nonceRow{})
	if err != nil || known {
		return known, err
	}
	return j.fits(p.found.From.Address, claim{remembered, 1})
}

// remember keeps the nonce until the message could not count any more (D19).
func (j *judge) remember(p *proven) error {
	m := p.found.Parsed
	key := nonceKey(m)
	known, err := j.tx.Get(tableNonces, key, &nonceRow{})
	if err != nil {
		return err
	}
	if !known {
		if err := j.count(m.From.Address, claim{remembered, 1}, 1); err != nil {
			return err
		}
	}
	if err := j.tx.Put(tableNonces, key, nonceRow{m.ID, m.Hash, p.signature()}); err != nil {
		return err
	}
	last := keepUntil(&m.Message) + int64(forgetting/time.Second)
	return j.tx.Put(tableForget, dueKey(last+1, key), struct{}{})
}

// forget drops a nonce by its key.
func (j *judge) forget(key string) error {
	known, err := j.tx.Get(tableNonces, key, &nonceRow{})
	if err != nil || !known {
		return err
	}
	from, _, _ := strings.Cut(key, "\x00")
	if err := j.giveBack(from, claim{remembered, 1}); err != nil {
		return err
	}
	return j.tx.Delete(tableNonces, key)
}

// keepUntil is until when a message can count: exp, but no longer than what is
// refused by its age (D73). A sender may set exp to the year 9999.
func keepUntil(m *intent.Message) int64 {
	return min(m.Exp, m.Iat+int64(MaxValid/time.Second))
}

// putAccepted stores a message that counts now, and makes the record of an
// agreement.
func (j *judge) putAccepted(p *proven) error {
	err := j.put(p, FateAccepted, "")
	if err == nil && p.found.Type == intent.Accept {
		_, err = j.agreed(p.found.Thread, p.found.ID)
	}
	return err
}

// put stores the message with its fate.
func (j *judge) put(p *proven, fate Fate, waitsFor string) error {
	if err := j.keepTheirs(p); err != nil {
		return err
	}
	if err := j.list(p, fate); err != nil {
		return err
	}
	return j.tx.Put(tableMessages, p.found.ID, messageRow{
		Canonical: string(p.found.Canonical), Hash: p.found.Hash, JWS: string(p.found.JWS),
		Fate: fate, Signature: p.signature(), Warnings: p.warnings(), Proof: p.proof,
		Thread: p.found.Thread, At: p.arrival.Unix(),
		WaitsFor: waitsFor, Retry: p.retrying(), Unknown: p.found.Unknown, AgentOf: p.agentOf, Record: p.theirs.id,
	})
}

// list keeps the list of the messages that are held, when each expires, and
// its sender's share of what is not decided. It is called before the message
// itself is written.
func (j *judge) list(p *proven, fate Fate) error {
	id, from := p.found.ID, p.found.From.Address
	was, err := j.isUndecided(id)
	if err != nil {
		return err
	}
	switch is := fate.undecided(); {
	case is && !was:
		err = j.count(from, claim{undecided, 1}, 1)
	case was && !is:
		err = j.giveBack(from, claim{undecided, 1})
	}
	if err != nil {
		return err
	}
	if fate != FateHeld {
		return j.tx.Delete(tableHeld, id)
	}
	if err := j.tx.Put(tableDue, dueKey(keepUntil(&p.found.Message)+1, "held/"+id), struct{}{}); err != nil {
		return err
	}
	return j.tx.Put(tableHeld, id, struct{}{})
}

const tooManyUndecided = "too many messages wait already, of its sender or of all strangers"

// fitsUndecided tells whether a message may be held or parked, or is already.
// What strangers have wait in all is bounded, since domains are cheap. It keeps
// out nobody with whom something was agreed before (D135).
func (j *judge) fitsUndecided(p *proven) (bool, error) {
	was, err := j.isUndecided(p.found.ID)
	if err != nil || was {
		return was, err
	}
	from, share := p.found.From.Address, undecided
	known, err := j.tx.Get(tableDealt, from, &struct{}{})
	if err != nil {
		return false, err
	}
	if known {
		share.overall = 0
	}
	return j.fits(from, claim{share, 1})
}

func (j *judge) isUndecided(id string) (bool, error) {
	var row messageRow
	_, err := j.tx.Get(tableMessages, id, &row)
	return row.Fate.undecided(), err
}

// drop takes a message that does not count out of the store.
func (j *judge) drop(p *proven) error {
	if err := j.list(p, ""); err != nil {
		return err
	}
	if err := j.dropTheirs(p.found.ID); err != nil {
		return err
	}
	return j.tx.Delete(tableMessages, p.found.ID)
}
