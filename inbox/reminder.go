package inbox

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
)

// reminderRow is what the owner was mailed of last.
type reminderRow struct {
	At   int64    `json:"at"`   // Unix seconds
	Keys []string `json:"keys"` // of all that waited then, sorted
}

// How often the owner is mailed (D159), how often it is looked whether there is
// something to say, and how much a mail names.
const (
	remindEvery = time.Hour
	remindLook  = time.Minute
	maxReminded = 20
)

// reminderName begins the Message-IDs of mails to the owner. One that names it
// is an answer to such a mail, and decides nothing: anybody can write it.
const reminderName = "<reminder-"

// remind mails the owner what has come to wait since the last such mail.
func (in *Inbox) remind(now time.Time) error {
	if in.set.Notify == "" || now.Before(time.Unix(in.reminded.Load(), 0).Add(remindLook)) {
		return nil
	}
	in.reminded.Store(now.Unix())
	list, err := in.Waiting()
	if err != nil {
		return err
	}
	// A mail to the owner that could not be sent is no news for the next one.
	list = slices.DeleteFunc(list, func(w Waiting) bool { return w.Kind == "letter" && w.Address == in.set.Notify })
	if len(list) == 0 {
		return nil
	}
	return in.commit(func(j *judge) error { return j.remind(list) })
}

func (j *judge) remind(list []Waiting) error {
	var row reminderRow
	if _, err := j.tx.Get(tableOwn, "reminder", &row); err != nil {
		return err
	}
	now := j.in.srv.Now()
	told := func(w Waiting) bool { _, found := slices.BinarySearch(row.Keys, w.Key); return found }
	fresh := slices.DeleteFunc(slices.Clone(list), told)
	if len(fresh) == 0 || now.Before(time.Unix(row.At, 0).Add(remindEvery)) {
		return nil
	}
	row = reminderRow{At: now.Unix()}
	for _, w := range list {
		row.Keys = append(row.Keys, w.Key)
	}
	slices.Sort(row.Keys)
	if err := j.tx.Put(tableOwn, "reminder", row); err != nil {
		return err
	}
	ids, err := j.in.newIDs(1)
	if err != nil {
		return err
	}
	return j.queue(envelope.Draft{
		From: j.in.own(), To: mail.Address{Address: j.in.set.Notify},
		Subject:   fmt.Sprintf("%d waiting for your decision [%s]", len(list), j.in.set.Name),
		Date:      now,
		MessageID: reminderName + ids[0] + "@" + address.Of(j.in.set.Address) + ">",
		Extra:     []envelope.Field{{Name: "Auto-Submitted", Value: "auto-generated"}}, // RFC 3834
		Text:      j.in.reminder(fresh, len(list)),
	}, letterRow{})
}

// reminder is the text of a mail to the owner. Nothing that another side wrote
// stands in it but addresses.
func (in *Inbox) reminder(fresh []Waiting, all int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The inbox %s (%s) has %d waiting for your decision. New:\n\n", in.set.Name, in.set.Address, all)
	for _, w := range fresh[:min(len(fresh), maxReminded)] {
		fmt.Fprintf(&b, "%s\n  %s, since %s\n", w.Key, w.Kind, time.Unix(w.At, 0).UTC().Format("2006-01-02 15:04 MST"))
		if w.Action != nil {
			fmt.Fprintf(&b, "  %s, to %s, until %s\n", w.Action.Type, w.Address, time.Unix(w.Expires, 0).UTC().Format("2006-01-02 15:04 MST"))
			for _, f := range w.Decision.Findings {
				b.WriteString("  " + f.Line + "\n")
			}
		}
		b.WriteByte('\n')
	}
	if more := len(fresh) - maxReminded; more > 0 {
		fmt.Fprintf(&b, "and %d more\n\n", more)
	}
	b.WriteString("Decide with `agentmaild waiting list`, or on the page. An answer to this mail decides nothing, since anybody could write it.\n" +
		"You are mailed at most once an hour.\n")
	return b.String()
}

// answersReminder tells whether a mail answers one to the owner.
func answersReminder(m *envelope.Mail) bool {
	return strings.Contains(m.Header.Get("In-Reply-To")+" "+m.Header.Get("References"), reminderName)
}
