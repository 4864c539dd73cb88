package page

import (
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/threads"
)

// mark is one thing that is known, and whether it is good to know.
type mark struct{ Tone, Label, Text string }

// The tones, which the style draws; their marks are in words too.
const (
	good = "good"
	warn = "warn"
	bad  = "bad"
	calm = "calm"
)

// message is a message of a negotiation as a person reads it.
type message struct {
	View  *intent.View // nil where it cannot be shown
	By    string       // address
	Ours  bool
	At    int64
	ID    string
	Proof []mark
}

func (v *view) message(m inbox.Message) message {
	return message{View: viewOf(m.Message), By: m.From, Ours: m.Fate == inbox.FateSent, At: m.At, ID: m.ID, Proof: proofOf(m)}
}

func viewOf(canonical []byte) *intent.View {
	m, err := intent.Parse(canonical)
	if err != nil {
		return nil
	}
	shown := m.View()
	return &shown
}

// proofOf is what is known about a message.
func proofOf(m inbox.Message) []mark {
	if m.Fate == inbox.FateSent {
		marks := []mark{}
		if m.Delivery != nil {
			marks = append(marks, deliveryMark(m.Delivery))
		}
		if m.Signature == inbox.Signed {
			return append(marks, mark{good, "Signature", "signed with this inbox’s key"})
		}
		return append(marks, mark{warn, "Signature", "not signed"})
	}
	marks := append([]mark{fateMark(m.Fate)}, mailMarks(m.Proof)...)
	marks = append(marks, signatureMark(m.Signature, m.Proof))
	if m.Proof.Kid != "" {
		marks = append(marks, mark{calm, "Key", m.Proof.Kid})
	}
	for _, w := range m.Warnings {
		marks = append(marks, mark{warn, "Warning", words(w)})
	}
	return marks
}

func fateMark(f inbox.Fate) mark {
	switch f {
	case inbox.FateAccepted:
		return mark{good, "Verdict", "counts"}
	case inbox.FateHeld:
		return mark{warn, "Verdict", "waits for you"}
	case inbox.FateParked:
		return mark{warn, "Verdict", "waits for what it answers, or for a key page"}
	case inbox.FateRejected:
		return mark{bad, "Verdict", "rejected by you"}
	default:
		return mark{calm, "Verdict", words(f)}
	}
}

func mailMarks(p inbox.Proof) []mark {
	if p.Domain == "" {
		return []mark{{warn, "Mail", "no domain is proven"}}
	}
	text := "DKIM passed for " + p.Domain
	if p.Selector != "" {
		text += ", selector " + p.Selector
	}
	return []mark{{good, "Mail", text}}
}

func signatureMark(s inbox.Signature, p inbox.Proof) mark {
	switch s {
	case inbox.Signed:
		by := p.Party
		if p.OrgName != "" {
			by = p.OrgName + ", " + by
		}
		return mark{good, "Signature", "by " + by}
	case inbox.MailOnly:
		return mark{warn, "Signature", "not signed"}
	case inbox.Unchecked:
		return mark{warn, "Signature", "could not be checked: " + p.Signature}
	default:
		return mark{bad, "Signature", "wrong: " + p.Signature}
	}
}

// deliveryMark says where the mail of a message from here stands.
func deliveryMark(d *inbox.Delivery) mark {
	switch {
	case d.State == inbox.DeliverySent:
		return mark{good, "Delivery", "taken by the mail server on " + moment(d.At)}
	case d.State == inbox.DeliveryQueued:
		return mark{calm, "Delivery", "in the outbox"}
	case d.State.Never():
		return mark{bad, "Delivery", "never delivered: " + d.Reason}
	default:
		return mark{warn, "Delivery", "not delivered yet: " + d.Reason}
	}
}

// entry is an offer or an ask, and where it stands.
type entry struct {
	Title string
	By    string
	ID    string
	Exp   int64
	State mark
	Slot  int    // that was chosen, from 1; 0 for none
	Alone string // why the other side does not know of it
}

func (v *view) entry(e inbox.Entry) entry {
	shown := entry{Title: (&intent.Message{Type: e.Type}).View().Title, By: v.by(e.By), ID: e.ID, Exp: e.Exp, State: mark{tones[e.State], "", words(e.State)}}
	if e.Slot != nil {
		shown.Slot = *e.Slot + 1
	}
	if e.Undelivered != nil {
		shown.Alone = deliveryMark(e.Undelivered).Text
	}
	return shown
}

var tones = map[threads.State]string{
	threads.Open: warn, threads.Answered: calm, threads.Agreed: good, threads.Declined: bad, threads.Cancelled: bad,
	threads.Expired: calm, threads.Replaced: calm,
}

// by is who wrote something, as the owner says it.
func (v *view) by(address string) string {
	if address == v.source.Address() {
		return "us"
	}
	return address
}
