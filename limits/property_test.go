package limits

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits/calendar"
	"pgregory.net/rapid"
)

// ledger is what a store would keep: sums by bucket, and own open quotes.
type ledger struct {
	limits Limits
	now    time.Time
	sums   map[string]int64
	open   map[string]map[string]int64 // by counterpart and id
	nextID int
}

func (l *ledger) standing(counterpart string) Standing {
	day, month := l.limits.Buckets(counterpart, "EUR", l.now)
	s := Standing{Now: l.now, Known: true, Sums: Sums{CounterpartDay: l.sums[day], Month: l.sums[month]}}
	for who, quotes := range l.open {
		for _, amount := range quotes {
			s.Sums.Open = Add(s.Sums.Open, amount)
			if who == counterpart {
				s.Sums.OpenCounterpart = Add(s.Sums.OpenCounterpart, amount)
			}
			s.OpenOffers++
		}
	}
	return s
}

func (l *ledger) agreed(counterpart string, amount int64) {
	day, month := l.limits.Buckets(counterpart, "EUR", l.now)
	l.sums[day], l.sums[month] = Add(l.sums[day], amount), Add(l.sums[month], amount)
}

// Over random deals in any order, whoever accepts and whenever, what is
// decided without the owner never passes a limit. Accepts of the other side
// are not asked about: an open quote of ours binds us.
func TestSumsNeverPassALimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, 999999999999999999))
		top := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 999999999999999999))
		most := Amounts{Deal: top.Draw(t, "deal"), CounterpartDay: new(top.Draw(t, "day")), Month: new(top.Draw(t, "month"))}
		l := &ledger{
			limits: Limits{
				Auto: WithinLimits, OpenOffers: 100, HourlyMessages: 1000, Money: map[string]Amounts{"EUR": most},
				Quote: &Quote{Lowest: []Lowest{{Name: "mug", Currency: "EUR"}}},
			},
			now: now, sums: map[string]int64{}, open: map[string]map[string]int64{},
		}
		counterpart := rapid.SampledFrom([]string{"a@x.test", "b@x.test", "c@y.test"})
		t.Repeat(map[string]func(*rapid.T){
			"we accept": func(t *rapid.T) {
				who, sum := counterpart.Draw(t, "who"), amount.Draw(t, "sum")
				quote := intent.Message{Type: intent.Quote, ID: offer, Total: eur(fmt.Sprint(sum))}
				p := Proposal{Signed: true, Message: intent.Message{Type: intent.Accept, To: intent.Recipient{Address: who}, Ref: offer}, Ref: &Referred{quote, true}}
				if Decide(l.limits, l.standing(who), p).Verdict == Allow {
					l.agreed(who, sum)
				}
			},
			"we quote": func(t *rapid.T) {
				who, sum := counterpart.Draw(t, "who"), amount.Draw(t, "sum")
				p := Proposal{Signed: true, Message: intent.Message{
					Type: intent.Quote, To: intent.Recipient{Address: who}, Total: eur(fmt.Sprint(sum)),
					Items: []intent.Item{{Description: "mug", Quantity: 1}},
				}}
				if Decide(l.limits, l.standing(who), p).Verdict == Allow {
					if l.open[who] == nil {
						l.open[who] = map[string]int64{}
					}
					l.nextID++
					l.open[who][fmt.Sprint(l.nextID)] = sum
				}
			},
			"an open quote ends": func(t *rapid.T) {
				who := counterpart.Draw(t, "who")
				if len(l.open[who]) == 0 {
					t.Skip("none is open")
				}
				id := rapid.SampledFrom(slices.Sorted(maps.Keys(l.open[who]))).Draw(t, "id")
				if rapid.Bool().Draw(t, "accepted") {
					l.agreed(who, l.open[who][id])
				}
				delete(l.open[who], id)
			},
			"time passes": func(t *rapid.T) {
				l.now = l.now.Add(time.Duration(rapid.IntRange(1, 40*24).Draw(t, "hours")) * time.Hour)
			},
			"": func(t *rapid.T) {
				for key, sum := range l.sums {
					limit := *most.Month
					if len(key) > len("2026-11/EUR") {
						limit = *most.CounterpartDay
					}
					if sum > limit {
						t.Fatalf("%s has %d of %d", key, sum, limit)
					}
				}
			},
		})
	})
}

// tighten are changes after which limits allow no more than before.
var tighten = map[string]func(*Limits){
	"auto":       func(l *Limits) { l.Auto = None },
	"block":      func(l *Limits) { l.Block = append(l.Block, "buyer.test") },
	"allow":      func(l *Limits) { l.Allow = []string{"other.test"} },
	"signed":     func(l *Limits) { l.AllowUnsigned = false },
	"deal":       func(l *Limits) { l.Money["EUR"] = Amounts{} },
	"day":        func(l *Limits) { a := l.Money["EUR"]; a.CounterpartDay = new(int64(1)); l.Money["EUR"] = a },
	"month":      func(l *Limits) { a := l.Money["EUR"]; a.Month = new(int64(1)); l.Money["EUR"] = a },
	"currency":   func(l *Limits) { delete(l.Money, "EUR") },
	"no quotes":  func(l *Limits) { l.Quote = nil },
	"lowest":     func(l *Limits) { l.Quote = &Quote{Lowest: []Lowest{{Name: "mug", Price: 1 << 40, Currency: "EUR"}}} },
	"no times":   func(l *Limits) { l.Times = nil },
	"no days":    func(l *Limits) { l.Times = &Times{Until: 86400} },
	"offers":     func(l *Limits) { l.OpenOffers = 0 },
	"messages":   func(l *Limits) { l.HourlyMessages = 0 },
	"everything": func(l *Limits) { *l = Limits{} },
}

// permit are changes that name something more that the agent may do.
var permit = map[string]func(*Limits){
	"currency": func(l *Limits) { l.Money["USD"] = Amounts{Deal: 1 << 50} },
	"allow":    func(l *Limits) { l.Allow = append(l.Allow, them) },
	"lowest": func(l *Limits) {
		l.Quote = &Quote{Lowest: []Lowest{{Name: "mug", Currency: "EUR"}, {Name: "clay", Currency: "EUR"}}}
	},
	"times": func(l *Limits) { l.Times = &Times{Days: []time.Weekday{time.Tuesday}, Until: 86400} },
}

// A tighter limit never makes a verdict milder, and no limit that is added
// makes an allow of a refusal.
func TestMoreLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawJudge(t)
		after := *before
		after.Limits = cloned(before.Limits)
		loosened := rapid.Bool().Draw(t, "loosened")
		from := tighten
		if loosened {
			from = permit
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(from))).Draw(t, "change")
		from[name](&after.Limits)
		first, second := Decide(before.Limits, before.Standing, before.Proposal), Decide(after.Limits, after.Standing, after.Proposal)
		if first.Verdict == Refuse && second.Verdict == Allow {
			t.Fatalf("%s: %q became %q", name, first.Line(), second.Line())
		}
		if !loosened && second.Verdict.rank() < first.Verdict.rank() {
			t.Fatalf("%s: %q became the milder %q", name, first.Line(), second.Line())
		}
	})
}

// The strictest of all rules decides, and what decides is told.
func TestStrictestRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := drawJudge(t)
		strictest := 0
		for _, rule := range rules[j.Message.Type] {
			alone := *j
			alone.findings = nil
			rule(&alone)
			for _, f := range alone.findings {
				strictest = max(strictest, f.Verdict.rank())
			}
		}
		d := Decide(j.Limits, j.Standing, j.Proposal)
		if d.Verdict.rank() != strictest || len(d.Findings) == 0 {
			t.Fatalf("%s, and the strictest rule has rank %d", d.Line(), strictest)
		}
	})
}

func cloned(l Limits) Limits {
	l.Money = maps.Clone(l.Money)
	l.Allow, l.Block = slices.Clone(l.Allow), slices.Clone(l.Block)
	return l
}

// drawJudge draws limits, a standing and a proposal that are within each other
// about as often as not.
func drawJudge(t *rapid.T) *judge {
	seldom := func(name string) bool { return rapid.IntRange(0, 9).Draw(t, name) == 0 }
	j := valid()
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		j.accept(j.Message)
	case 1:
		j.propose(tuesday)
	case 2:
		j.propose(sunday, tuesday)
		j.accept(j.Message)
		j.Message.Slot = new(rapid.IntRange(0, 2).Draw(t, "slot"))
	case 3:
		j.Message.Type = rapid.SampledFrom([]intent.Type{intent.AskQuote, intent.Decline, intent.Cancel}).Draw(t, "other")
	}
	troubles := map[string]func(*judge){
		"stranger":   func(j *judge) { j.Standing.Known = false },
		"unsigned":   func(j *judge) { j.Signed = false },
		"blocked":    func(j *judge) { j.Block = []string{them} },
		"dear":       func(j *judge) { j.Message.Total = eur("60000") },
		"dollars":    func(j *judge) { j.Message.Total = &intent.Money{Amount: "100", Currency: "USD"} },
		"broken":     func(j *judge) { j.Message.Total = eur("x") },
		"spent":      func(j *judge) { j.Sums.Month = 190000 },
		"many":       func(j *judge) { j.Standing.OpenOffers = 9 },
		"flood":      func(j *judge) { j.HourMessages = 10 },
		"overlap":    func(j *judge) { j.Agreed = []calendar.Span{{Start: now, End: now.AddDate(0, 1, 0)}} },
		"no address": func(j *judge) { j.Message.To.Address = "x" },
		"only known": func(j *judge) { j.Limits.Allow = []string{Known} },
		"no quote":   func(j *judge) { j.Quote = nil },
		"no times":   func(j *judge) { j.Times = nil },
	}
	for _, name := range slices.Sorted(maps.Keys(troubles)) { // or rapid could not play it again
		if seldom(name) {
			troubles[name](j)
		}
	}
	return j
}
