package limits

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// Sums are what was agreed so far in one currency, in minor units, whoever
// decided it, and what own open quotes may add to it without being asked
// again (D142). What is cancelled later stays in.
type Sums struct {
	CounterpartDay  int64 // agreed with the counterpart today
	Month           int64 // agreed with all this month
	OpenCounterpart int64 // own open quotes to the counterpart
	Open            int64 // own open quotes to all
}

// Buckets are the keys under which a deal is added to what was agreed: its day
// and its month in the limits' zone. They sort by time.
func (l *Limits) Buckets(counterpart, currency string, at time.Time) (day, month string) {
	local := at.In(l.zone())
	return local.Format(time.DateOnly) + "/" + currency + "/" + counterpart, local.Format("2006-01") + "/" + currency
}

// Add is a sum of amounts that are not negative, which stops at the largest
// number: it is above every limit, since those have at most 18 digits.
func Add(amounts ...int64) int64 {
	var sum int64
	for _, a := range amounts {
		if a = max(a, 0); a > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += a
	}
	return sum
}

// Money is the sum of the deal that the message would make: that of a quote,
// or of one that is accepted. Nil where it makes none that costs money.
func (p *Proposal) Money() *intent.Money {
	switch {
	case p.Message.Type == intent.Quote:
		return p.Message.Total
	case p.Message.Type == intent.Accept && p.Ref != nil && p.Ref.Message.Type == intent.Quote:
		return p.Ref.Message.Total
	}
	return nil
}

// MinorUnits reads an amount as it stands in a message (D7), and tells whether
// it can be read.
func MinorUnits(m *intent.Money) (int64, bool) {
	if m == nil || len(m.Amount) > maxDigits || !intent.ActiveCurrency(m.Currency) {
		return 0, false
	}
	n, err := strconv.ParseUint(m.Amount, 10, 63) // no sign
	return int64(n), err == nil
}

// maxDigits is the length of an amount (D7).
const maxDigits = 18

// money holds the sum of a deal against the amounts of its currency.
func (j *judge) money() {
	total := j.Proposal.Money()
	sum, ok := MinorUnits(total)
	if !ok {
		j.nonsense("it has no total that can be read")
		return
	}
	most, ok := j.Limits.Money[total.Currency]
	if !ok {
		j.say(RuleCurrency, AskOwner, 0, "no amounts are set for "+total.Currency)
		return
	}
	j.most(RuleDeal, total.Currency, sum, &most.Deal, "for one deal")
	j.most(RuleCounterpartDay, total.Currency, Add(j.Sums.CounterpartDay, j.Sums.OpenCounterpart, sum), most.CounterpartDay, "with "+j.Message.To.Address+" in a day")
	j.most(RuleMonth, total.Currency, Add(j.Sums.Month, j.Sums.Open, sum), most.Month, "in a month")
}

// most compares an amount with the most that there may be, if there is one.
func (j *judge) most(r Rule, currency string, value int64, limit *int64, scope string) {
	if limit != nil {
		j.count(Finding{Rule: r, Verdict: AskOwner, Value: value, Limit: *limit, Unit: currency}, scope)
	}
}

// count notes a number that may be its limit at most. The verdict given is
// that of a larger one.
func (j *judge) count(f Finding, scope string) {
	words := "is more than"
	if f.Value <= f.Limit {
		f.Verdict, words = Allow, "of at most"
	}
	value := strconv.FormatInt(f.Value, 10)
	if intent.ActiveCurrency(f.Unit) {
		value = number(f.Value, f.Unit)
	}
	f.Line = fmt.Sprintf("%s %s %s %s", value, words, number(f.Limit, f.Unit), scope)
	j.findings = append(j.findings, f)
}

// number writes a number with its unit, money in major units.
func number(n int64, unit string) string {
	if intent.ActiveCurrency(unit) {
		return intent.Money{Amount: strconv.FormatInt(n, 10), Currency: unit}.String()
	}
	return strconv.FormatInt(n, 10) + " " + unit
}
