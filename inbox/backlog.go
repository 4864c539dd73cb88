package inbox

import "github.com/agentmaild/agentmaild/store"

// Backlog counts what an inbox has not done yet.
type Backlog struct {
	Events   int `json:"events"`   // that the handler has not answered
	Held     int `json:"held"`     // messages and knocks that wait for the owner
	Letters  int `json:"letters"`  // in the outbox, with those that wait for the owner
	Retries  int `json:"retries"`  // mails that DNS or a key page could not be reached for
	Webhooks int `json:"webhooks"` // that cannot be told of events

	WebhookError string `json:"-"` // of the last try of the first of them
	LetterError  string `json:"-"` // of the last try of the oldest letter that has one
	OldestLetter int64  `json:"-"` // when it was queued, Unix seconds; 0 without a letter
}

// Backlog counts what waits now.
func (in *Inbox) Backlog() (Backlog, error) {
	var b Backlog
	err := in.view(func(tx *store.Tx) error {
		for table, n := range map[store.Table]*int{tablePending: &b.Events, tableHeld: &b.Held, tableDoor: &b.Held, tableKnocks: &b.Held, tableRetries: &b.Retries, tableSigns: &b.Retries} {
			if err := count(tx, table, n); err != nil {
				return err
			}
		}
		if err := failingHooks(tx, &b); err != nil {
			return err
		}
		return tx.Scan(tableOutbox, "", "", func(r store.Row) (bool, error) {
			var l letterRow
			err := r.Decode(&l)
			b.Letters++
			if b.OldestLetter == 0 || l.Queued < b.OldestLetter {
				b.OldestLetter = l.Queued
			}
			if b.LetterError == "" && l.Error != "" {
				b.LetterError = "the mail to " + l.To + " " + l.Error
			}
			return true, err
		})
	})
	return b, err
}

// failingHooks counts the webhooks whose last try failed.
func failingHooks(tx *store.Tx, b *Backlog) error {
	return tx.Scan(tableHooks, "", "", func(r store.Row) (bool, error) {
		var row hookRow
		if err := r.Decode(&row); err != nil || row.Error == "" {
			return err == nil, err
		}
		b.Webhooks++
		if b.WebhookError == "" {
			b.WebhookError = "the webhook at " + row.Where + " is not told of events: " + row.Error
		}
		return true, nil
	})
}

func count(tx *store.Tx, t store.Table, n *int) error {
	return tx.Scan(t, "", "", func(store.Row) (bool, error) {
		*n++
		return true, nil
	})
}
