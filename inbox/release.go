package inbox

import (
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// release lets go on what waited for a message that is here now, and what
// waited for that in turn (D45).
func (j *judge) release(id string) error {
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		waiting, err := j.waitingFor(queue[0])
		if err != nil {
			return err
		}
		for _, next := range waiting {
			if err := j.tx.Delete(tableWaits, queue[0]+"/"+next); err != nil {
				return err
			}
			here, err := j.goOn(next)
			if err != nil {
				return err
			}
			if here {
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func (j *judge) waitingFor(id string) ([]string, error) {
	var waiting []string
	err := j.tx.Scan(tableWaits, id+"/", "", func(r store.Row) (bool, error) {
		waiting = append(waiting, strings.TrimPrefix(r.Key, id+"/"))
		return true, nil
	})
	return waiting, err
}

// parked reads a parked message; nil when it is not parked any more.
func parked(tx *store.Tx, id string) (*proven, error) {
	var row messageRow
	known, err := tx.Get(tableMessages, id, &row)
	if err != nil || !known || row.Fate != FateParked {
		return nil, err
	}
	return row.proven()
}

// goOn takes a parked message through the checks that are left, and tells
// whether it is held here now.
func (j *judge) goOn(id string) (here bool, err error) {
	p, err := parked(j.tx, id)
	if err != nil || p == nil {
		return false, err
	}
	if p.retrying() { // D61: the key page could not be reached then; Tick looks again
		if err := j.put(p, FateParked, ""); err != nil {
			return false, err
		}
		return false, j.tx.Put(tableSigns, id, retryRow{Next: j.in.srv.Now().Unix()})
	}
	return j.settleParked(p)
}

// settleParked takes a parked message through what is left, and tells whether
// it is held here now. One that finds no room is not kept.
func (j *judge) settleParked(p *proven) (here bool, err error) {
	result, effects, err := j.proceed(p, false)
	if err != nil {
		return false, err
	}
	if result.Code == CodeOverfull {
		if err := j.drop(p); err != nil {
			return false, err
		}
	}
	return result.Verdict == Accepted || result.Verdict == Held, j.received(p, result, effects)
}

// goOnWith is goOn for a message whose signature was looked at since.
func (j *judge) goOnWith(p *proven) error {
	here, err := j.settleParked(p)
	if err != nil || !here {
		return err
	}
	return j.release(p.found.ID)
}

// proven rebuilds what was proven about a stored message. Nothing is looked
// up again: a verdict stands on one answer of DNS and of the key page.
func (r *messageRow) proven() (*proven, error) {
	parsed, err := intent.Parse([]byte(r.Canonical))
	if err != nil {
		return nil, err
	}
	parsed.Unknown = r.Unknown
	p := &proven{
		arrival: time.Unix(r.At, 0), found: &intent.Found{Parsed: parsed},
		proof: r.Proof, agentOf: r.AgentOf, theirs: attached{id: r.Record},
	}
	if r.JWS != "" {
		p.found.JWS = []byte(r.JWS)
		p.looked = !r.Retry
		p.sig = party.Result{Outcome: outcome(r.Signature), Reason: r.Proof.Signature, Kid: r.Proof.Kid, Party: r.Proof.Party, OrgName: r.Proof.OrgName}
		for _, w := range r.Warnings {
			if w != WarnAgentOf {
				p.sig.Warnings = append(p.sig.Warnings, w)
			}
		}
	} else if r.Signature == Invalid {
		p.found.JWSErr = intent.ErrJWS
	}
	return p, nil
}

func outcome(s Signature) party.Outcome {
	switch s {
	case Signed:
		return party.Signed
	case Invalid:
		return party.Invalid
	default:
		return party.Unchecked
	}
}
