package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
)

// The rows of the roster: the signed document, and its hash, which is all that
// a message needs to see that it has not changed.
const (
	rosterDocument = "document"
	rosterHash     = "hash"
)

// heldRoster is the roster as it was read last.
type heldRoster struct {
	hash   string
	roster *agentmsg.Roster
}

// SetRoster takes a signed roster in place of the one before. It must be signed
// by the agent of this inbox, and be no older than the one before. Errors wrap
// ErrAction.
func (in *Inbox) SetRoster(document []byte) error {
	if in.set.Agent == nil {
		return errNoAgent
	}
	next, err := agentmsg.ParseRoster(document, in.set.Agent.Identity.ID())
	if err != nil {
		return cannot("roster: %w", err)
	}
	return in.commit(func(j *judge) error {
		roster, err := j.roster()
		if err != nil {
			return err
		}
		if roster != nil && next.Updated.Before(roster.Updated) { // signed before somebody was blocked, perhaps
			return cannot("roster: it is of %s, and the one in force of %s: sign it anew", next.Updated.Format(time.RFC3339), roster.Updated.Format(time.RFC3339))
		}
		return j.putRoster(document)
	})
}

// Roster is the signed roster, nil where there is none yet.
func (in *Inbox) Roster() (document []byte, err error) {
	err = in.view(func(tx *store.Tx) error {
		document, err = tx.GetBytes(tableRoster, rosterDocument)
		return err
	})
	return document, err
}

func (j *judge) putRoster(document []byte) error {
	sum := sha256.Sum256(document)
	if err := j.tx.Put(tableRoster, rosterHash, hex.EncodeToString(sum[:])); err != nil {
		return err
	}
	return j.tx.PutBytes(tableRoster, rosterDocument, document)
}

// roster is the roster in force, nil where there is none. It is read and
// verified once for each document.
func (j *judge) roster() (*agentmsg.Roster, error) {
	var hash string
	if known, err := j.tx.Get(tableRoster, rosterHash, &hash); err != nil || !known {
		return nil, err
	}
	if held := j.in.rosterHeld.Load(); held != nil && held.hash == hash {
		return held.roster, nil
	}
	document, err := j.tx.GetBytes(tableRoster, rosterDocument)
	if err != nil {
		return nil, err
	}
	roster, err := agentmsg.ParseRoster(document, j.in.set.Agent.Identity.ID())
	if err != nil {
		return nil, fmt.Errorf("reading the roster: %w", err)
	}
	j.in.rosterHeld.Store(&heldRoster{hash, roster})
	return roster, nil
}

// after is now, or the millisecond after a roster was signed: else the one
// before could be put back in force, were its clock ahead, and with it somebody
// who is blocked by now.
func (in *Inbox) after(signed time.Time) time.Time {
	now := in.srv.Now()
	if next := signed.Add(time.Millisecond); next.After(now) {
		return next
	}
	return now
}

// setStance writes the owner's word on an agent into the roster, and signs it.
func (j *judge) setStance(agent string, stance agentmsg.Stance, note string) error {
	roster, err := j.roster()
	if err != nil {
		return err
	}
	next := agentmsg.Roster{}
	if roster != nil {
		next = *roster
	}
	now := j.in.after(next.Updated)
	entry := agentmsg.Entry{Subject: agent, Stance: stance, Note: note, Updated: now}
	next.Entries = slices.Clone(next.Entries)
	if i := slices.IndexFunc(next.Entries, func(e agentmsg.Entry) bool { return e.Subject == agent }); i >= 0 {
		entry.Note = firstOf(note, next.Entries[i].Note)
		next.Entries[i] = entry
	} else {
		next.Entries = append(next.Entries, entry)
	}
	next.Updated = now
	document, err := j.in.set.Agent.Identity.SignRoster(next)
	if err != nil {
		return cannot("%w", err)
	}
	return j.putRoster(document)
}

// resignRoster signs the roster anew where the agent has another key than when
// it was signed: whom the owner blocked stays blocked (D155).
func (in *Inbox) resignRoster() error {
	if in.set.Agent == nil {
		return nil
	}
	document, err := in.Roster()
	if err != nil || document == nil {
		return err
	}
	if _, err := agentmsg.ParseRoster(document, in.set.Agent.Identity.ID()); !errors.Is(err, agentmsg.ErrOwner) {
		return err
	}
	roster, err := agentmsg.DraftRoster(document)
	if err != nil {
		return fmt.Errorf("reading the roster: %w", err)
	}
	roster.Updated = in.srv.Now()
	if document, err = in.set.Agent.Identity.SignRoster(roster); err != nil {
		return err
	}
	return in.commit(func(j *judge) error { return j.putRoster(document) })
}

// stance is what the owner says of the sender of a message.
func (j *judge) stance(m *errand) (agentmsg.Stance, error) {
	roster, err := j.roster()
	if err != nil {
		return "", err
	}
	kind := agentmsg.KindRegistered
	switch contact, err := j.contact(m.envelope.From); {
	case err != nil:
		return "", err
	case m.person != "" || m.envelope.Meta.Bridge != nil: // D154
		kind = agentmsg.KindBridged
	case contact != nil && !contact.Pinned:
		kind = agentmsg.KindContact
	}
	return roster.Stance(m.envelope.From, kind), nil
}
