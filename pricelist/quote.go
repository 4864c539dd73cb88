package pricelist

import (
	"math/big"
	"strconv"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// Offer is a quote as the list gives it.
type Offer struct {
	Items      []intent.Item
	Total      intent.Money
	DeliveryBy string // YYYY-MM-DD
	Valid      time.Duration
	Note       string
}

// Quote answers an ask, as of a time, or says in a few words why the list
// does not: an item it has not, another unit, less than the least quantity, a
// day that cannot be kept, a sum that no message can hold.
func (l *List) Quote(ask *intent.Message, now time.Time) (*Offer, string) {
	total, days := new(big.Int), 0
	o := &Offer{Valid: l.valid, Note: l.note}
	for _, asked := range ask.Items {
		it, ok := l.byName[fold(asked.Description)]
		switch {
		case !ok:
			return nil, "an item is not on the list"
		case !it.has(asked.Unit):
			return nil, "an item is asked for in a unit that the list does not have"
		case asked.Quantity < it.least:
			return nil, "an item is asked for in less than its least quantity"
		}
		total.Add(total, it.cost(asked.Quantity))
		days = max(days, it.deliveryDays)
		price := it.unitPrice
		o.Items = append(o.Items, intent.Item{Description: asked.Description, Quantity: asked.Quantity, Unit: asked.Unit, UnitPrice: &price})
	}
	if len(total.String()) > 18 { // D7
		return nil, "the sum is larger than a message can hold"
	}
	o.Total = intent.Money{Amount: total.String(), Currency: l.currency}
	o.DeliveryBy = now.UTC().AddDate(0, 0, days).Format(time.DateOnly)
	if ask.WantedBy != "" && ask.WantedBy < o.DeliveryBy {
		return nil, "it is wanted before it can be delivered"
	}
	return o, ""
}

// Price is the price of one of an item; nil where there is no list, or it does
// not have the item in that unit.
func (l *List) Price(i intent.Item) *intent.Money {
	if l == nil {
		return nil
	}
	it, ok := l.byName[fold(i.Description)]
	if !ok || !it.has(i.Unit) {
		return nil
	}
	price := it.unitPrice
	return &price
}

// has tells whether the item is sold in a unit; "" is the usual one. One that is
// listed without units is sold in no unit that somebody else names (D133).
func (it *item) has(unit string) bool {
	return unit == "" || it.units[fold(unit)]
}

// cost is unit price times quantity in minor units, a fraction rounded up:
// the quantity has at most six decimal places (D8), so nothing is lost before.
func (it *item) cost(quantity float64) *big.Int {
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(quantity, 'f', -1, 64))
	price, _ := new(big.Rat).SetString(it.unitPrice.Amount)
	exact.Mul(exact, price)
	sum, rest := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		sum.Add(sum, big.NewInt(1))
	}
	return sum
}
