package inbox

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/store"
	"github.com/go-json-experiment/json/jsontext"
)

// bounceRow is a delivery report about a mail from here.
type bounceRow struct {
	At     int64  `json:"at"` // Unix seconds
	Status string `json:"status,omitempty"`
}

// bounced matches a delivery report to the message it is about, and has it
// shown to the owner, with its message and where reports wait. It changes no
// state: anybody who has seen the Message-ID can write a report. What its text
// says stays where it is.
func (j *judge) bounced(r envelope.Report) error {
	id, domain, _ := strings.Cut(strings.Trim(r.MessageID, "<>"), "@")
	if !r.Failed || id == "" {
		return nil
	}
	if agent := j.in.set.Agent; agent != nil {
		known, err := j.tx.Get(tableExchanges, exchangeKey(agent.Identity.ID(), id), &exchangeRow{})
		if err == nil && known {
			err = j.exchangeBounced(id, r.Status)
		}
		if err != nil || known {
			return err
		}
	}
	var row messageRow
	known, err := j.tx.Get(tableMessages, id, &row)
	if err != nil || !known || row.Fate != FateSent {
		return err
	}
	m, err := j.stored(id)
	if err != nil || m.MessageID() != "<"+id+"@"+domain+">" {
		return err
	}
	if err := j.tx.Put(tableBounced, id, bounceRow{j.in.srv.Now().Unix(), r.Status}); err != nil {
		return err
	}
	result := messageOf(&m.Message)
	result.Reason = "its mail came back: " + orUnknown(r.Status)
	if err := j.stuck(letterRow{ID: id}, DeliveryBounced, result.Reason); err != nil {
		return err
	}
	return j.event(Event{Kind: KindBounced, Result: result}, false)
}

// exchangeBounced is bounced for a message of Agent Emailing.
func (j *judge) exchangeBounced(id, status string) error {
	if err := j.tx.Put(tableBounced, id, bounceRow{j.in.srv.Now().Unix(), status}); err != nil {
		return err
	}
	reason := "its mail came back: " + orUnknown(status)
	if err := j.stuck(letterRow{ID: id, Kind: agentmsg.TypeRequest}, DeliveryBounced, reason); err != nil {
		return err
	}
	return j.event(Event{Kind: KindBounced, Result: Result{ID: id, Reason: reason}}, false)
}

func orUnknown(status string) string {
	if status == "" {
		return "no status given"
	}
	return "status " + status
}

// bouncedMails lists the reports that the owner has not put aside.
func (in *Inbox) bouncedMails(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableBounced, "", "", func(r store.Row) (bool, error) {
		var b bounceRow
		if err := r.Decode(&b); err != nil {
			return false, err
		}
		w := Waiting{Key: bouncePrefix + r.Key, Kind: "bounce", At: b.At}
		to, err := in.sentTo(tx, r.Key, &w)
		w.Reason = "the mail to " + firstOf(to, "an agent") + " came back: " + orUnknown(b.Status) + "; refuse puts the report aside"
		*list = append(*list, w)
		return true, err
	})
}

// sentTo is the address that a message from here was mailed to, and shows the
// message; "" where it is not known: the agent had another key then.
func (in *Inbox) sentTo(tx *store.Tx, id string, w *Waiting) (string, error) {
	if in.set.Agent != nil {
		var row exchangeRow
		known, err := tx.Get(tableExchanges, exchangeKey(in.set.Agent.Identity.ID(), id), &row)
		if err != nil || known {
			w.Message = jsontext.Value(row.Envelope)
			return row.Address, err
		}
	}
	if known, err := tx.Get(tableMessages, id, &messageRow{}); err != nil || !known {
		return "", err
	}
	m, err := stored(tx, id)
	if err != nil {
		return "", err
	}
	w.Thread, w.Message = m.Thread, m.Canonical
	return m.To.Address, nil
}
