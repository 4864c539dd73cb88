package inbox

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/store"
)

// Usage is the limits of an inbox with what is used of them by now. It is the
// owner's: the numbers are not for the agent.
type Usage struct {
	Set        bool          `json:"set"` // false: the owner has set none, and these are in force for agents that plug in
	TimeZone   string        `json:"time_zone"`
	Limits     limits.Limits `json:"limits"`
	Money      []MoneyUsage  `json:"money"`             // sorted by currency
	OpenOffers int           `json:"open_offers"`       // own, to everybody
	Actions    int           `json:"actions_this_hour"` // of the agent
}

// MoneyUsage is what was agreed in one currency, in minor units.
type MoneyUsage struct {
	Currency string             `json:"currency"`
	Month    int64              `json:"month"` // agreed this month
	Open     int64              `json:"open"`  // own open quotes, which the other side may accept
	Today    []CounterpartUsage `json:"today"` // those with whom something was agreed today, most first
}

// CounterpartUsage is what was agreed with one address.
type CounterpartUsage struct {
	With   string `json:"with"`
	Agreed int64  `json:"agreed"` // minor units
}

// Usage returns the limits and what is used of them.
func (in *Inbox) Usage() (Usage, error) {
	l := in.limits()
	u := Usage{Set: in.set.Limits != nil, TimeZone: "UTC", Limits: *l}
	if l.Zone != nil {
		u.TimeZone = l.Zone.String()
	}
	money := map[string]*MoneyUsage{}
	of := func(currency string) *MoneyUsage {
		if money[currency] == nil {
			money[currency] = &MoneyUsage{Currency: currency, Today: []CounterpartUsage{}}
		}
		return money[currency]
	}
	for currency := range l.Money {
		of(currency)
	}
	err := in.view(func(tx *store.Tx) (err error) {
		if u.Actions, err = actionsThisHour(tx, in.srv.Now()); err != nil {
			return err
		}
		if err := in.sums(tx, of); err != nil {
			return err
		}
		return eachOpenOffer(tx, func(_ string, o openOffer) {
			u.OpenOffers++
			if o.Currency != "" {
				of(o.Currency).Open = limits.Add(of(o.Currency).Open, o.Amount)
			}
		})
	})
	u.Money = []MoneyUsage{}
	for _, currency := range slices.Sorted(maps.Keys(money)) {
		m := *money[currency]
		slices.SortFunc(m.Today, func(a, b CounterpartUsage) int {
			return cmp.Or(cmp.Compare(b.Agreed, a.Agreed), cmp.Compare(a.With, b.With))
		})
		u.Money = append(u.Money, m)
	}
	return u, err
}

// sums reads what was agreed today and this month.
func (in *Inbox) sums(tx *store.Tx, of func(currency string) *MoneyUsage) error {
	day, month := in.limits().Buckets("", "", in.srv.Now())
	for _, bucket := range []string{strings.TrimRight(day, "/") + "/", month} {
		err := tx.Scan(tableSums, bucket, "", func(r store.Row) (bool, error) {
			var sum int64
			if err := r.Decode(&sum); err != nil {
				return false, err
			}
			currency, with, isDay := strings.Cut(strings.TrimPrefix(r.Key, bucket), "/")
			if isDay {
				of(currency).Today = append(of(currency).Today, CounterpartUsage{with, sum})
			} else {
				of(currency).Month = sum
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
