package inbox

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/store"
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
	if err := j.stuck(id, DeliveryBounced, result.Reason); err != nil {
		return err
	}
	return j.event(Event{Kind: KindBounced, Result: result}, false)
}

func orUnknown(status string) string {
	if status == "" {
		return "no status given"
	}
	return "status " + status
}

// bouncedMails lists the reports that the owner has not put aside.
func bouncedMails(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableBounced, "", "", func(r store.Row) (bool, error) {
		var b bounceRow
		if err := r.Decode(&b); err != nil {
			return false, err
		}
		m, err := stored(tx, r.Key)
		if err != nil {
			return false, err
		}
		reason := "the mail to " + m.To.Address + " came back: " + orUnknown(b.Status) + "; refuse puts the report aside"
		*list = append(*list, Waiting{Key: bouncePrefix + r.Key, Kind: "bounce", At: b.At, Reason: reason, Thread: m.Thread, Message: m.Canonical})
		return true, nil
	})
}
