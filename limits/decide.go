package limits

import (
	"slices"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits/calendar"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Proposal is a message that an agent wants to send. It need not have been
// checked yet; one that makes no sense is refused.
type Proposal struct {
	Message intent.Message
	Ref     *Referred // what an accept, a decline or a cancel names
	// Signed tells that all that the other side has said in the thread was
	// signed and checked; true where it has said nothing.
	Signed bool
	// ListPrices has the price of each item of a quote on the owner's list, in
	// the order of the message; nil for one that is not on it in that unit.
	ListPrices []*intent.Money
}

// Referred is the offer or ask that a message names, and whether it is open.
type Referred struct {
	Message intent.Message
	Open    bool
}

// Standing is what the store and the clock know. What the message itself would
// close, as a counter does, is no longer counted in it.
type Standing struct {
	Now          time.Time
	Known        bool // something was agreed with this address before
	HourMessages int  // that the agent sent in this hour, or had the owner asked about; to everybody
	OpenOffers   int  // own, to everybody
	Sums         Sums // of the proposal's currency, see Proposal.Money

	Agreed   []calendar.Span // slots of agreements, and those of own open proposals: others may accept them
	Calendar []calendar.Span // busy times of the owner's calendar that overlap the slots
	// CalendarRead tells that Calendar is whole. It may be false only where
	// the limits name no calendar.
	CalendarRead bool
}

// Verdict is what becomes of a message.
type Verdict string

// The verdicts, from the mildest to the strictest.
const (
	Allow    Verdict = "allow"
	AskOwner Verdict = "ask_owner"
	Refuse   Verdict = "refuse" // as the limits stand, the owner is not asked either
)

// rank orders verdicts.
func (v Verdict) rank() int {
	return map[Verdict]int{Allow: 0, AskOwner: 1, Refuse: 2}[v]
}

// Rule names what decided.
type Rule string

// The rules. Their numbers are in minor units, seconds or counts, as Unit says.
const (
	RuleMessage        Rule = "message"         // it makes no sense in itself
	RuleAuto           Rule = "auto"            // the agent decides nothing alone
	RuleBlock          Rule = "block"           // the counterpart is blocked
	RuleAllow          Rule = "allow"           // or not among those who are allowed
	RuleUnsigned       Rule = "unsigned"        // something of the other side was not signed
	RuleStranger       Rule = "stranger"        // the first deal with it
	RuleCurrency       Rule = "currency"        // no amounts are set for it
	RuleDeal           Rule = "deal"            // minor units of one deal
	RuleCounterpartDay Rule = "counterpart_day" // minor units with the counterpart today
	RuleMonth          Rule = "month"           // minor units with all this month
	RulePrice          Rule = "price"           // minor units for one of an item, or for all of a quote
	RuleTimes          Rule = "times"           // no hours are set
	RuleDay            Rule = "day"             // the weekday of a slot
	RuleHours          Rule = "hours"           // its hours
	RuleNotice         Rule = "notice"          // seconds until it begins
	RuleAgreed         Rule = "agreed"          // it overlaps an agreed or offered one
	RuleCalendar       Rule = "calendar"        // or the owner's calendar, or that could not be read
	RuleOpenOffers     Rule = "open_offers"     // count, with this one
	RuleHourly         Rule = "hourly_messages" // count, with this one
	RuleAgreement      Rule = "agreement"       // it would take back what is agreed
)

// Finding is what one rule says, with the numbers it compared, where it has
// any. It names nothing that the other side wrote but its address.
type Finding struct {
	Rule    Rule    `json:"rule"`
	Verdict Verdict `json:"verdict"`
	Value   int64   `json:"value,omitzero"` // what there would be
	Limit   int64   `json:"limit,omitzero"` // the most, or for prices and notice the least
	Unit    string  `json:"unit,omitempty"` // of both: a currency code for minor units, "s", "messages", "offers"
	Place   int     `json:"place,omitzero"` // which item or slot, from 1; 0 for the message as a whole
	Line    string  `json:"line"`           // for a person
}

// Decision is what becomes of a message, and why. The owner's numbers stand in
// it: an agent that may be talked into telling them should not see them.
type Decision struct {
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings"` // those of this verdict; all rules looked at for an allow
}

// Line is the decision for a person.
func (d Decision) Line() string {
	lines := make([]string, len(d.Findings))
	for i, f := range d.Findings {
		lines[i] = f.Line
	}
	return map[Verdict]string{Allow: "within the limits: ", AskOwner: "the owner is asked: ", Refuse: "refused: "}[d.Verdict] + strings.Join(lines, "; ")
}

// Rules are those that decided, each once: what an agent may know of a decision.
func (d Decision) Rules() []Rule {
	var list []Rule
	for _, f := range d.Findings {
		if !slices.Contains(list, f.Rule) {
			list = append(list, f.Rule)
		}
	}
	return list
}

// Authority is what the message says about the decision (D4): that it was
// within limits of this version, or else that the owner approved it. Nil for
// one that is refused, which nobody may send.
func (d Decision) Authority(version string) *intent.Authority {
	quoted, err := json.Marshal(version)
	if err != nil || d.Verdict == Refuse {
		return nil
	}
	a := &intent.Authority{DecidedBy: "owner", LimitsVersion: jsontext.Value(quoted)}
	if d.Verdict == Allow {
		a.DecidedBy, a.Level = "limits", string(WithinLimits)
	}
	return a
}

// rules are those that each type of message is held against. A decline commits
// to nothing and a cancel of an open offer ends one, with whomever.
var rules = map[intent.Type][]func(*judge){
	intent.AskQuote:     {(*judge).auto, (*judge).counterpart, (*judge).hourly},
	intent.Quote:        {(*judge).auto, (*judge).counterpart, (*judge).deals, (*judge).money, (*judge).prices, (*judge).offers, (*judge).hourly},
	intent.ProposeTimes: {(*judge).auto, (*judge).counterpart, (*judge).deals, (*judge).slots, (*judge).offers, (*judge).hourly},
	intent.Accept:       {(*judge).auto, (*judge).counterpart, (*judge).deals, (*judge).accepted, (*judge).hourly},
	intent.Decline:      {(*judge).auto, (*judge).hourly},
	intent.Cancel:       {(*judge).auto, (*judge).cancelled, (*judge).hourly},

	// Of Agent Emailing, in which nothing says what a message costs (D156).
	Request:    {(*judge).auto, (*judge).counterpart, (*judge).hourly},
	Respond:    {(*judge).auto, (*judge).counterpart, (*judge).hourly},
	CancelTask: {(*judge).auto, (*judge).hourly},
}

// The types of the messages of Agent Emailing.
const (
	Request    intent.Type = "request"
	Respond    intent.Type = "respond"
	CancelTask intent.Type = "cancel_task"
)

// judge holds a proposal against limits, one rule after the other.
type judge struct {
	Limits
	Standing
	Proposal
	findings []Finding
}

// Decide holds a message against the limits. The strictest rule decides.
func Decide(l Limits, s Standing, p Proposal) Decision {
	j := &judge{Limits: l, Standing: s, Proposal: p}
	if rules[p.Message.Type] == nil {
		j.nonsense("it is of no type that is known")
	}
	for _, rule := range rules[p.Message.Type] {
		rule(j)
	}
	d := Decision{Verdict: Allow}
	for _, f := range j.findings {
		if f.Verdict.rank() > d.Verdict.rank() {
			d.Verdict = f.Verdict
		}
	}
	for _, f := range j.findings {
		if f.Verdict == d.Verdict {
			d.Findings = append(d.Findings, f)
		}
	}
	return d
}

// say notes what a rule says without numbers.
func (j *judge) say(r Rule, v Verdict, place int, line string) {
	j.findings = append(j.findings, Finding{Rule: r, Verdict: v, Place: place, Line: line})
}

func (j *judge) nonsense(line string) { j.say(RuleMessage, Refuse, 0, line) }

// auto is whether the agent may do anything alone.
func (j *judge) auto() {
	if j.Auto == WithinLimits {
		j.say(RuleAuto, Allow, 0, "the agent decides within its limits")
	} else {
		j.say(RuleAuto, AskOwner, 0, "the agent decides nothing alone")
	}
}

// deals is what holds for a message that may make a deal.
func (j *judge) deals() {
	if !j.Signed && !j.AllowUnsigned {
		j.say(RuleUnsigned, AskOwner, 0, "something that the other side said has no checked signature")
	}
	if !j.Known {
		j.say(RuleStranger, AskOwner, 0, "it would be the first deal with "+j.Message.To.Address)
	}
}

// accepted holds an accept against the limits of what it accepts.
func (j *judge) accepted() {
	switch {
	case j.Ref == nil || !j.Ref.Open || j.Ref.Message.ID != j.Message.Ref:
		j.nonsense("the offer that it accepts is not open")
	case j.Ref.Message.Type == intent.Quote:
		j.money()
	case j.Ref.Message.Type == intent.ProposeTimes:
		j.slots()
	default:
		j.nonsense("what it accepts is no offer")
	}
}

// cancelled lets an agent take back what it has offered, and has the owner
// asked where something is agreed (D145).
func (j *judge) cancelled() {
	if j.Ref == nil || !j.Ref.Open {
		j.say(RuleAgreement, AskOwner, 0, "it would take back what is agreed")
	}
}

// offers is how many own offers may be open.
func (j *judge) offers() {
	j.count(Finding{Rule: RuleOpenOffers, Verdict: AskOwner, Value: int64(j.Standing.OpenOffers) + 1, Limit: int64(j.Limits.OpenOffers), Unit: "offers"}, "open at once")
}

// hourly is how many messages the inbox may send in an hour. Asking the owner
// about each of a flood would only lead it elsewhere (D144).
func (j *judge) hourly() {
	j.count(Finding{Rule: RuleHourly, Verdict: Refuse, Value: int64(j.HourMessages) + 1, Limit: int64(j.HourlyMessages), Unit: "messages"}, "in an hour")
}
