package inbox

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/limits/calendar"
	"github.com/agentmaild/agentmaild/plainfile"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// mandate is on whose word an action is done. The zero value is the owner's.
type mandate struct {
	limits   *limits.Limits // that an agent is held to; nil: the owner's word
	busy     []calendar.Span
	busyRead bool
	approved string // the number of the action that waited, where the owner approves one
	answers  string // id of the message in a negotiation that it was to answer
}

// unset are the limits of an agent whose owner has set none: it is asked about
// everything (D141).
var unset = limits.Limits{Auto: limits.None, OpenOffers: 20, HourlyMessages: 60}

// LimitsError is the refusal of an action that the owner's limits forbid, and
// that the owner is not asked about. It is an ErrAction.
type LimitsError struct{ Rules []limits.Rule }

// Error names the rules, without the owner's numbers.
func (e *LimitsError) Error() string {
	return "the owner's limits forbid it: " + ruleNames(e.Rules)
}

// Unwrap makes it an ErrAction.
func (e *LimitsError) Unwrap() error { return ErrAction }

func ruleNames(rules []limits.Rule) string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// Propose does what an agent wants done, as far as its owner's limits allow
// it. Beyond them nothing is sent, the owner is asked, and Done says so. Errors
// are those of Do and *LimitsError.
func (in *Inbox) Propose(a Action) (Done, error) {
	by := mandate{limits: in.set.Limits}
	if by.limits == nil {
		by.limits = &unset
	}
	return in.do(a, by)
}

// Handle does what the owner's own program wants done: within the limits where
// the owner has set some, and else as the owner (D157).
func (in *Inbox) Handle(a Action) (Done, error) {
	if in.set.Limits == nil {
		return in.Do(a)
	}
	return in.Propose(a)
}

// lookAtCalendar reads the owner's calendar where times depend on it. It is a
// file, and is read before the transaction.
func (in *Inbox) lookAtCalendar(a *Action, by *mandate) error {
	if by.limits == nil || by.limits.Times == nil || by.limits.Times.Calendar == "" {
		return nil
	}
	p := limits.Proposal{Message: intent.Message{Type: a.Type, Slots: a.Slots, Slot: a.Slot}}
	if a.Type == intent.Accept {
		offer, err := in.offerToAccept(a.Ref)
		if err != nil || offer == nil {
			return err
		}
		p.Ref = &limits.Referred{Message: *offer}
	}
	slots, err := p.Slots()
	if err != nil || len(slots) == 0 {
		return nil // refused when it is weighed
	}
	busy, err := busyTimes(by.limits, slots)
	if err != nil {
		in.srv.Log.Warn("the calendar cannot be read, the owner is asked about times", "inbox", in.set.Name, "error", err)
		return nil
	}
	by.busy, by.busyRead = busy, true
	return nil
}

// offerToAccept is the message that an accept names, nil where there is none.
func (in *Inbox) offerToAccept(ref string) (*intent.Message, error) {
	var offer *intent.Message
	err := in.view(func(tx *store.Tx) error {
		known, err := tx.Get(tableMessages, ref, &messageRow{})
		if err != nil || !known {
			return err
		}
		parsed, err := stored(tx, ref)
		if err == nil {
			offer = &parsed.Message
		}
		return err
	})
	return offer, err
}

// busyTimes are those of the calendar that overlap any of the slots.
func busyTimes(l *limits.Limits, slots []calendar.Span) ([]calendar.Span, error) {
	file, _, err := plainfile.Read(l.Times.Calendar, calendar.MaxFile) // a pipe would be waited for without end
	if err != nil {
		return nil, err
	}
	c, err := calendar.Read(bytes.NewReader(file), l.Zone)
	if err != nil {
		return nil, err
	}
	var busy []calendar.Span
	for _, slot := range slots {
		spans, err := c.Busy(slot)
		if err != nil {
			return nil, err
		}
		busy = append(busy, spans...)
	}
	return busy, nil
}

// sendOrAsk sends a message of a negotiation, or has the owner asked about it.
func (j *judge) sendOrAsk(a Action, m intent.Message, row *threadRow) (Done, error) {
	next, err := j.compose(m, row)
	if err != nil {
		return Done{}, err
	}
	if a.Ref != "" { // the other side chooses the ids of its records, and what one of them names may change (D200)
		a.Ref = row.about(&m)
	}
	authority, asked, err := j.mayGo(asking{action: a, to: m.To.Address, thread: row.ID, answers: m.InReplyTo, until: row.answers(&m)}, func() (limits.Proposal, limits.Standing, error) {
		return j.proposal(next, row)
	})
	switch {
	case err != nil:
		return Done{}, err
	case asked.Waiting != "":
		return asked, nil
	case authority != nil:
		m.Authority = authority
		if next, err = j.compose(m, row); err != nil {
			return Done{}, err
		}
	}
	return j.send(next, row)
}

// answers is until when a message can answer what it does, 0 where it answers
// nothing that ends.
func (t *threadRow) answers(m *intent.Message) int64 {
	for _, id := range []string{t.about(m), m.Replaces, m.InReplyTo} {
		if e, ok := t.Find(id); ok && e.State == threads.Open {
			return e.Exp
		}
	}
	return 0
}

// mayGo tells on whose word an action is done: nil for the owner's, whose
// messages do not say it. Where the owner is asked first, the action is waiting
// in what came of it. Weigh is called where an agent is held to limits.
func (j *judge) mayGo(a asking, weigh func() (limits.Proposal, limits.Standing, error)) (authority *intent.Authority, asked Done, err error) {
	var decision limits.Decision
	switch {
	case j.by.approved != "":
		decision, err = j.approved(&a)
	case j.by.limits == nil:
		return nil, Done{}, nil
	default:
		decision, err = j.weighed(a.action.Type, weigh)
	}
	if err != nil {
		return nil, Done{}, err
	}
	if decision.Verdict == limits.AskOwner && j.by.approved == "" {
		a.decision = decision
		asked, err = j.askOwner(a)
		return nil, asked, err
	}
	if j.by.approved == "" {
		if err := j.noLongerAsked(a.action); err != nil {
			return nil, Done{}, err
		}
	}
	version, err := j.limitsVersion()
	return decision.Authority(version), Done{}, err
}

// weighed holds an action against the limits and counts it. One that is refused
// leaves nothing behind but a line of the log.
func (j *judge) weighed(kind intent.Type, weigh func() (limits.Proposal, limits.Standing, error)) (limits.Decision, error) {
	p, s, err := weigh()
	if err != nil {
		return limits.Decision{}, err
	}
	s.Now = j.in.srv.Now()
	if s.HourMessages, err = actionsThisHour(j.tx, s.Now); err != nil {
		return limits.Decision{}, err
	}
	d := limits.Decide(*j.by.limits, s, p)
	if d.Verdict == limits.Refuse {
		j.in.srv.Log.Warn("an action is refused by the limits", "inbox", j.in.set.Name, "type", string(kind), "rules", ruleNames(d.Rules()))
		return d, &LimitsError{d.Rules()}
	}
	_, err = j.hourly(actionsRate, j.by.limits.HourlyMessages)
	return d, err
}

// actionsRate counts what the agent did in an hour.
const actionsRate = "actions"

func actionsThisHour(tx *store.Tx, now time.Time) (int, error) {
	var row rateRow
	_, err := tx.Get(tableRates, actionsRate, &row)
	if !row.runs(now.Unix()) {
		return 0, err
	}
	return row.Count, err
}

// proposal is a message of a negotiation with all that limits ask about it.
func (j *judge) proposal(next *composed, row *threadRow) (limits.Proposal, limits.Standing, error) {
	m := &next.parsed.Message
	p := limits.Proposal{Message: *m, Signed: true}
	s := limits.Standing{Calendar: j.by.busy, CalendarRead: j.by.busyRead}
	for _, item := range m.Items {
		p.ListPrices = append(p.ListPrices, j.in.set.Prices.Price(item))
	}
	if e, ok := row.Find(row.about(m)); ok && m.Ref != "" {
		named, err := j.stored(e.ID)
		if err != nil {
			return p, s, err
		}
		p.Ref = &limits.Referred{Message: named.Message, Open: e.State == threads.Open && e.Exp >= m.Iat}
	}
	for _, id := range row.Messages {
		var said messageRow
		if _, err := j.tx.Get(tableMessages, id, &said); err != nil {
			return p, s, err
		}
		p.Signed = p.Signed && (said.Fate == FateSent || said.Signature == Signed)
	}
	return p, s, j.standing(&s, p, next.effects)
}

// standing fills in what the store knows: what was agreed, and what own offers
// may add to it, without those that the message closes.
func (j *judge) standing(s *limits.Standing, p limits.Proposal, closes []threads.Effect) (err error) {
	to := p.Message.To.Address
	if s.Known, err = j.tx.Get(tableDealt, to, &struct{}{}); err != nil {
		return err
	}
	if err := j.agreedTimes(s); err != nil {
		return err
	}
	money := p.Money()
	if money != nil {
		day, month := j.in.limits().Buckets(to, money.Currency, j.in.srv.Now())
		if _, err := j.tx.Get(tableSums, day, &s.Sums.CounterpartDay); err != nil {
			return err
		}
		if _, err := j.tx.Get(tableSums, month, &s.Sums.Month); err != nil {
			return err
		}
	}
	return eachOpenOffer(j.tx, func(id string, o openOffer) {
		if slices.ContainsFunc(closes, func(e threads.Effect) bool { return e.Entry == id && e.State != threads.Open }) {
			return
		}
		s.OpenOffers++
		s.Agreed = append(s.Agreed, o.Times...)
		if money == nil || o.Currency != money.Currency {
			return
		}
		s.Sums.Open = limits.Add(s.Sums.Open, o.Amount)
		if o.With == to {
			s.Sums.OpenCounterpart = limits.Add(s.Sums.OpenCounterpart, o.Amount)
		}
	})
}

// limits are those that the owner has set, or none.
func (in *Inbox) limits() *limits.Limits {
	if in.set.Limits == nil {
		return &unset
	}
	return in.set.Limits
}

// limitsVersion names the limits in messages, under a secret of the inbox.
func (j *judge) limitsVersion() (string, error) {
	var salt []byte
	known, err := j.tx.Get(tableOwn, "limits salt", &salt)
	if err != nil {
		return "", err
	}
	if !known {
		salt = make([]byte, 32)
		if _, err := io.ReadFull(j.in.srv.Random, salt); err != nil {
			return "", fmt.Errorf("drawing a salt: %w", err)
		}
		if err := j.tx.Put(tableOwn, "limits salt", salt); err != nil {
			return "", err
		}
	}
	return j.in.limits().Version(salt)
}
