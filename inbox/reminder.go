package inbox

import (
	"cmp"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/store"
)

// reminderRow is what the owner was mailed of last.
type reminderRow struct {
	At   int64    `json:"at"`   // Unix seconds
	Keys []string `json:"keys"` // of all that waited then, sorted

	Letter string   `json:"letter,omitempty"` // of the outbox, that told it
	Before []string `json:"before,omitempty"` // the keys before that letter: what it tells is not told until it is sent
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
	if in.set.Notify == "" || lately(now, in.reminded.Load(), remindLook) {
		return nil
	}
	in.reminded.Store(now.Unix())
	list, err := in.Waiting()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, in.ofOwner)
	if len(list) == 0 {
		return nil
	}
	return in.commit(func(j *judge) error { return j.remind(list) })
}

// ofOwner tells whether what waits is no news for the owner: a mail to the owner
// that could not be sent, or one that says it is from there. A mailbox that
// answers each mail, and does not say that nobody wrote the answer (RFC 3834),
// would else be mailed about its answers, hour after hour (D137).
func (in *Inbox) ofOwner(w Waiting) bool {
	switch w.Kind {
	case "letter":
		return w.Address == in.set.Notify
	case "mail":
		return strings.EqualFold(w.from, in.set.Notify)
	case "agent":
		return w.Person == in.set.Notify
	}
	return false
}

func (j *judge) remind(list []Waiting) error {
	var row reminderRow
	if _, err := j.tx.Get(tableOwn, "reminder", &row); err != nil {
		return err
	}
	now := j.in.srv.Now()
	if len(untold(list, row.Keys)) == 0 || lately(now, row.At, remindEvery) {
		return nil
	}
	told, err := j.supersede(&row)
	if err != nil {
		return err
	}
	fresh := inTurn(untold(list, told))
	last, err := j.tx.Last(tableOutbox)
	if err != nil {
		return err
	}
	row = reminderRow{At: now.Unix(), Letter: store.Key(last + 1), Before: told}
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
	}, letterRow{Owner: true})
}

// lately tells whether less than a while has passed since a time. One that lies
// ahead is of a clock that was ahead (D164), and the owner would wait until then.
func lately(now time.Time, since int64, while time.Duration) bool {
	passed := now.Sub(time.Unix(since, 0))
	return passed >= 0 && passed < while
}

// untold are those whose keys are not in a sorted list.
func untold(list []Waiting, told []string) []Waiting {
	return slices.DeleteFunc(slices.Clone(list), func(w Waiting) bool { _, found := slices.BinarySearch(told, w.Key); return found })
}

// supersede takes the last mail to the owner out of the outbox, where it could
// not be sent yet: the next one tells what it did, so that there is one at most.
// It returns the keys of what the owner was told.
func (j *judge) supersede(row *reminderRow) (told []string, err error) {
	var l letterRow
	known, err := j.tx.Get(tableOutbox, row.Letter, &l)
	if err != nil || !known || l.State == letterSending {
		return row.Keys, err
	}
	if l.waits() {
		if err := j.giveBack(l.To, claim{lettersTo, 1}); err != nil {
			return nil, err
		}
	}
	return row.Before, j.leave(row.Letter)
}

// inTurn orders what waits so that no one side, and nothing of one kind, takes
// all the room of a mail: the first of each kind comes before the second of any,
// and within a kind the first of each registered domain. Addresses, and names
// below a domain, cost a sender nothing.
func inTurn(list []Waiting) []Waiting {
	list = inTurnOf(list, func(w Waiting) string {
		return w.Kind + " " + registered(cmp.Or(w.Proof.Domain, w.Address, w.from))
	})
	return inTurnOf(list, func(w Waiting) string { return w.Kind })
}

// inTurnOf puts the first of each group before the second of any.
func inTurnOf(list []Waiting, group func(Waiting) string) []Waiting {
	type placed struct {
		Waiting
		place int
	}
	seen := map[string]int{}
	all := make([]placed, len(list))
	for i, w := range list {
		all[i] = placed{w, seen[group(w)]}
		seen[group(w)]++
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	ordered := make([]Waiting, len(list))
	for i, p := range all {
		ordered[i] = p.Waiting
	}
	return ordered
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
