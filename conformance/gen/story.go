package main

import (
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// Times in Unix seconds. Every story starts at the same moment.
const (
	start  = 1793613600 // 2026-11-02T10:00:00Z
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day
)

// story is a case that is being written. Composing a letter and every step
// take a minute each.
type story struct {
	suite  *suite
	now    int64
	thread string
	count  int

	Name  string  `json:"name"`
	Why   string  `json:"why"`
	Steps []step  `json:"steps"`
	Final *ending `json:"final,omitzero"`
}

type ending struct {
	Offers  map[string]string  `json:"offers,omitempty"`
	Records map[string]*string `json:"records,omitempty"`
	Tasks   map[string]string  `json:"tasks,omitempty"`
}

func (s *suite) story(name, why string) *story {
	t := &story{suite: s, now: start, Name: name, Why: why, thread: uuid(s.name + " " + name + " thread")}
	s.Cases = append(s.Cases, t)
	return t
}

func (t *story) buyer() *side  { return t.suite.world.buyer }
func (t *story) seller() *side { return t.suite.world.seller }

// letter composes a message of the thread.
func (t *story) letter(by *side, kind intent.Type) *letter {
	t.count++
	t.now += minute
	label := fmt.Sprintf("%s-%d", t.Name, t.count)
	to := t.seller()
	if by == to {
		to = t.buyer()
	}
	id := t.suite.name + " " + label
	return &letter{
		by: by, key: by.key, jku: by.page(), sealed: t.now, story: t, label: label,
		Message: intent.Message{
			Context: intent.Context(), Profile: intent.Profile, ID: uuid(id), Thread: t.thread, Type: kind,
			From:  intent.Sender{Address: by.address, Party: by.party, Name: by.org + " agent"},
			To:    intent.Recipient{Address: to.address},
			Nonce: nonce(id), Iat: t.now, Exp: t.now + week,
			ActingFor: intent.ActingFor{OrgName: by.org, Contact: by.contact},
			Agent:     intent.Agent{Name: "Desk", Kind: "api"},
		},
	}
}

// answer composes a message that answers another one.
func (t *story) answer(by *side, kind intent.Type, to *letter) *letter {
	l := t.letter(by, kind)
	l.InReplyTo, l.Prev, l.answers = to.ID, to.hash(), to
	return l
}

func (t *story) ask(by *side) *letter {
	l := t.letter(by, intent.AskQuote)
	l.Items, l.WantedBy = []intent.Item{{Description: "Ceramic mug", Quantity: 200, Unit: "piece"}}, "2026-11-30"
	return l
}

func priced(l *letter) *letter {
	price := &intent.Money{Amount: "150000", Currency: "NGN"}
	l.Items = []intent.Item{{Description: "Ceramic mug", Quantity: 200, Unit: "piece", UnitPrice: price}}
	l.Total, l.DeliveryBy = &intent.Money{Amount: "30000000", Currency: "NGN"}, "2026-11-27"
	return l
}

func timed(l *letter) *letter {
	l.Slots = []intent.Slot{
		{Start: "2026-11-20T10:00:00+01:00", End: "2026-11-20T11:00:00+01:00", TimeZone: "Africa/Lagos"},
		{Start: "2026-11-21T10:00:00Z", End: "2026-11-21T11:00:00Z", TimeZone: "Europe/London"},
	}
	l.Purpose = "Tasting"
	return l
}

// quote answers an ask.
func (t *story) quote(by *side, ask *letter) *letter {
	return priced(t.answer(by, intent.Quote, ask))
}

// times starts a thread.
func (t *story) times(by *side) *letter { return timed(t.letter(by, intent.ProposeTimes)) }

// counter replaces an offer by one of the same type.
func (t *story) counter(by *side, offer *letter) *letter {
	return t.counterBy(by, offer.Type, offer)
}

func (t *story) counterBy(by *side, kind intent.Type, offer *letter) *letter {
	l := t.answer(by, kind, offer)
	l.Replaces = offer.ID
	if kind == intent.Quote {
		return priced(l)
	}
	return timed(l)
}

// accept accepts an offer, and the first slot of times.
func (t *story) accept(by *side, offer *letter) *letter {
	l := t.answer(by, intent.Accept, offer)
	l.Ref = offer.ID
	if offer.Type == intent.ProposeTimes {
		l.Slot = new(int)
	}
	return l
}

func (t *story) decline(by *side, entry *letter) *letter {
	l := t.answer(by, intent.Decline, entry)
	l.Ref, l.Reason = entry.ID, "timing"
	return l
}

// cancel names an offer, an ask or an agreement, and answers nothing.
func (t *story) cancel(by *side, entry *letter) *letter {
	l := t.letter(by, intent.Cancel)
	l.Ref, l.answers = entry.ID, entry
	return l
}

// deliver is the arrival of a mail, a minute after the step before.
func (t *story) deliver(l *letter, want expect) {
	t.now += minute
	t.deliverAt(l, t.now, want)
}

// deliverAt is the arrival of a mail at a moment, Unix seconds.
func (t *story) deliverAt(l *letter, at int64, want expect) {
	t.now = at
	s := step{Deliver: t.write(l), At: stamp(at)}
	if want != open {
		s.Expect = &want
	}
	t.Steps = append(t.Steps, s)
}

// sent is a mail that the inbox sent earlier, at the time it was composed or
// now.
func (t *story) sent(l *letter) *letter {
	t.Steps = append(t.Steps, step{Sent: t.write(l), At: stamp(max(l.Iat, t.now))})
	return l
}

// given is a mail that arrives and is accepted.
func (t *story) given(l *letter) *letter {
	t.deliver(l, accepted)
	return l
}

func (t *story) tick(at int64) {
	t.now = at
	t.Steps = append(t.Steps, step{Tick: true, At: stamp(at)})
}

func (t *story) restart() { t.Steps = append(t.Steps, step{Restart: true}) }

// final says in which state an offer or ask ends.
func (t *story) final(entry *letter, state string) {
	t.end().Offers[entry.ID] = state
}

// record says which record the thread ends with, "" for none.
func (t *story) record(kind string) {
	t.end().Records[t.thread] = nil
	if kind != "" {
		t.end().Records[t.thread] = &kind
	}
}

func (t *story) end() *ending {
	if t.Final == nil {
		t.Final = &ending{map[string]string{}, map[string]*string{}, map[string]string{}}
	}
	return t.Final
}

// write writes the mail into the suite, once.
func (t *story) write(l *letter) string {
	if l.file == "" {
		l.file = t.file(l.label, l.raw())
	}
	return l.file
}

func (t *story) file(label, raw string) string {
	name := "mail/" + label + ".eml"
	if _, taken := t.suite.files[name]; taken {
		panic(name + " is written twice")
	}
	t.suite.files[name] = []byte(raw)
	return name
}

// own is an ask or an offer that this inbox made, their is one of the other
// side.
func (t *story) own(kind intent.Type) *letter   { return t.made(t.seller(), kind) }
func (t *story) their(kind intent.Type) *letter { return t.made(t.buyer(), kind) }

func (t *story) made(by *side, kind intent.Type) *letter {
	switch kind {
	case intent.AskQuote:
		return t.put(t.ask(by))
	case intent.Quote:
		return t.put(t.quote(by, t.put(t.ask(t.other(by)))))
	default:
		return t.put(t.times(by))
	}
}

// agreement is an offer, of the other side or of this one, that was accepted.
func (t *story) agreement(theirs bool) *letter {
	by := t.seller()
	if theirs {
		by = t.buyer()
	}
	offer := t.put(t.times(by))
	t.put(t.accept(t.other(by), offer))
	return offer
}

// put is a message that takes its normal way: out of this inbox or into it.
func (t *story) put(l *letter) *letter {
	if l.by == t.seller() {
		return t.sent(l)
	}
	return t.given(l)
}

func (t *story) other(by *side) *side {
	if by == t.seller() {
		return t.buyer()
	}
	return t.seller()
}
