package inbox

import (
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
	"github.com/go-json-experiment/json/jsontext"
)

// Decide is the owner's word on an agent: it is written into the roster, and
// what waits of the agent is let in, or turned away. Errors wrap ErrAction.
func (in *Inbox) Decide(agent string, stance agentmsg.Stance, note string) error {
	if in.set.Agent == nil {
		return errNoAgent
	}
	if !agentmsg.IsID(agent) {
		return cannot("%q is not an agent id", agent)
	}
	return in.commit(func(j *judge) error { return j.settleAgent(agent, stance, note) })
}

func (j *judge) settleAgent(agent string, stance agentmsg.Stance, note string) error {
	if err := j.setStance(agent, stance, note); err != nil {
		return err
	}
	ruled := Result{Reason: "its messages: " + string(stance) + ", by the owner's word", Exchange: &Exchange{From: agent}}
	if err := j.event(Event{Kind: KindDecided, Result: ruled}, false); err != nil {
		return err
	}
	if err := j.endKnock(agent); err != nil || stance == agentmsg.StanceHold {
		return err
	}
	waiting, err := j.atDoorOf(agent)
	if err != nil {
		return err
	}
	for _, key := range waiting {
		if stance == agentmsg.StanceAllow {
			err = j.letIn(key)
		} else {
			err = j.turnAway(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// atDoorOf lists what waits of an agent, oldest first.
func (j *judge) atDoorOf(agent string) ([]string, error) {
	var keys []string
	err := j.tx.Scan(tableDoor, "", "", func(r store.Row) (bool, error) {
		var row doorRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		if row.From == agent {
			keys = append(keys, r.Key)
		}
		return true, nil
	})
	return keys, err
}

// atDoorMessages lists what waits to be admitted.
func (in *Inbox) atDoorMessages(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableDoor, "", "", func(r store.Row) (bool, error) {
		var row doorRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		opened, err := in.opened(jsontext.Value(row.Envelope))
		if err != nil {
			return false, fmt.Errorf("reading a message at the door: %w", err)
		}
		*list = append(*list, Waiting{
			Key: doorPrefix + r.Key, Kind: "agent", At: row.At / 1000, Agent: row.From, Person: row.Person,
			Reason: row.Reason + "; approve lets it in, refuse turns it away", Message: jsontext.Value(row.Envelope),
			Text: opened.Text(), Files: row.Files,
		})
		return true, nil
	})
}

// knocks lists who asked to be admitted.
func knocks(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableKnocks, "", "", func(r store.Row) (bool, error) {
		var row knockRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		reason := "the agent asks to be admitted; approve admits it, refuse puts the knock aside"
		*list = append(*list, Waiting{Key: knockPrefix + r.Key, Kind: "knock", At: row.At, Agent: r.Key, Reason: reason, Text: row.Text, Address: row.Address})
		return true, nil
	})
}
