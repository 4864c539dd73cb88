package limits

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// fold makes names equal that differ in letter case and white space only, as
// in a price list.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// prices holds a quote against the lowest prices: each price, and the total,
// since nothing in a quote ties the one to the other (D38).
func (j *judge) prices() {
	m := j.Message
	total, ok := MinorUnits(m.Total)
	if !ok || len(m.Items) == 0 {
		return // money has refused it, or its form is refused when it is sealed
	}
	if j.Quote == nil {
		j.say(RulePrice, AskOwner, 0, "no lowest prices are set")
		return
	}
	least := new(big.Rat)
	for i, item := range m.Items {
		quantity, ok := exact(item.Quantity)
		if !ok {
			j.nonsense(fmt.Sprintf("item %d has no quantity above zero", i+1))
			return
		}
		lowest := j.lowest(i, m.Total.Currency)
		if lowest == nil {
			j.say(RulePrice, AskOwner, i+1, j.missing(i, m.Total.Currency))
			return
		}
		least.Add(least, new(big.Rat).Mul(lowest, quantity))
		if item.UnitPrice != nil {
			j.price(item.UnitPrice, lowest, i+1)
		}
	}
	j.atLeast(total, least, m.Total.Currency, 0)
}

// lowest is the lowest price of an item: the highest of those that the owner
// set for it in its unit, of whatever unit where it is quoted without one, and
// of the price list less the most discount. Nil for none.
func (j *judge) lowest(i int, currency string) *big.Rat {
	var found *big.Rat
	raise := func(price *big.Rat) {
		if found == nil || price.Cmp(found) > 0 {
			found = price
		}
	}
	unit := fold(j.Message.Items[i].Unit)
	for _, l := range j.named(i, currency) {
		if unit == "" || l.Unit == unit { // or a box went at the price of a piece (D133)
			raise(new(big.Rat).SetInt64(l.Price))
		}
	}
	if i < len(j.ListPrices) && j.ListPrices[i] != nil && j.ListPrices[i].Currency == currency {
		if listed, ok := MinorUnits(j.ListPrices[i]); ok {
			price := new(big.Rat).SetInt64(listed)
			raise(price.Mul(price, big.NewRat(int64(100-j.Quote.MostDiscount), 100)))
		}
	}
	return found
}

// named are the lowest prices that the owner set for an item, in any unit.
func (j *judge) named(i int, currency string) (list []Lowest) {
	name := fold(j.Message.Items[i].Description)
	for _, l := range j.Quote.Lowest {
		if l.Name == name && l.Currency == currency {
			list = append(list, l)
		}
	}
	return list
}

// missing says which lowest price an item lacks, without its name and unit,
// which may be the other side's words.
func (j *judge) missing(i int, currency string) string {
	if len(j.named(i, currency)) > 0 {
		return fmt.Sprintf("item %d has a lowest price in %s, and none for the unit that it is quoted in", i+1, currency)
	}
	return fmt.Sprintf("item %d has no lowest price in %s", i+1, currency)
}

// price holds the price of one of an item against its lowest.
func (j *judge) price(price *intent.Money, lowest *big.Rat, place int) {
	value, ok := MinorUnits(price)
	if !ok || price.Currency != j.Message.Total.Currency {
		j.nonsense(fmt.Sprintf("item %d has no price in the currency of the total", place))
		return
	}
	j.atLeast(value, lowest, price.Currency, place)
}

// atLeast compares exactly; the limit that is told is rounded up.
func (j *judge) atLeast(value int64, least *big.Rat, currency string, place int) {
	f := Finding{Rule: RulePrice, Verdict: Allow, Value: value, Limit: ceil(least), Unit: currency, Place: place}
	subject, words := "the total", "is not below"
	if place > 0 {
		subject = fmt.Sprintf("item %d", place)
	}
	if new(big.Rat).SetInt64(value).Cmp(least) < 0 {
		f.Verdict, words = AskOwner, "is below"
	}
	f.Line = fmt.Sprintf("%s at %s %s the lowest price, %s", subject, number(f.Value, currency), words, number(f.Limit, currency))
	j.findings = append(j.findings, f)
}

// exact is a quantity as it is written in a message, if it is above zero.
func exact(quantity float64) (*big.Rat, bool) {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(quantity, 'f', -1, 64))
	return r, ok && r.Sign() > 0
}

// ceil rounds up, to the largest number at most.
func ceil(r *big.Rat) int64 {
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}
