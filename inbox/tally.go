package inbox

import (
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/limits/calendar"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// openOffer is an own offer that is open: the other side may make a deal of it
// without asking again.
type openOffer struct {
	With     string          `json:"with"`
	Currency string          `json:"currency,omitempty"`
	Amount   int64           `json:"amount,omitzero"` // minor units
	Times    []calendar.Span `json:"times,omitempty"`
}

// tally keeps what limits are held against, in the transaction in which it
// changes, whoever decided it: what is agreed, and which own offers are open.
func (j *judge) tally(e *Event) error {
	for _, c := range e.Changes {
		var err error
		switch c.State {
		case threads.Open:
			if e.Kind == KindSent {
				err = j.offered(c.Entry)
			}
		case threads.Agreed:
			err = j.dealt(c.Entry, e.Thread)
		case threads.Cancelled:
			err = j.freed(c.Entry, e.Thread)
		}
		if err == nil && c.State != threads.Open {
			err = j.closed(c.Entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// offered keeps an own offer as open.
func (j *judge) offered(id string) error {
	m, err := j.stored(id)
	if err != nil || !m.Type.Offers() {
		return err
	}
	o := openOffer{With: m.To.Address}
	p := limits.Proposal{Message: m.Message}
	if money := p.Money(); money != nil {
		o.Currency = money.Currency
		o.Amount, _ = limits.MinorUnits(money) // the message was sealed, so it can be read
	}
	if o.Times, err = p.Slots(); err != nil {
		return err
	}
	return j.tx.Put(tableOpenOffers, id, o)
}

// closed ends what waits for an offer or ask to be open.
func (j *judge) closed(id string) error {
	if err := j.tx.Delete(tableOpenOffers, id); err != nil {
		return err
	}
	return j.overtaken(id)
}

// dealt adds an agreement to the sums, or its time to those that are taken.
func (j *judge) dealt(id, thread string) error {
	m, err := j.stored(id)
	if err != nil {
		return err
	}
	with := j.in.other(&m.Message)
	if err := j.tx.Put(tableDealt, with, struct{}{}); err != nil {
		return err
	}
	if m.Type == intent.ProposeTimes {
		key, span, err := j.agreedTime(m, thread)
		if err != nil || key == "" {
			return err
		}
		if err := j.tx.Put(tableDue, dueKey(span.End.Unix()+1, "time/"+key), struct{}{}); err != nil {
			return err
		}
		return j.tx.Put(tableTimes, key, span)
	}
	amount, _ := limits.MinorUnits(m.Total)
	day, month := j.in.limits().Buckets(with, m.Total.Currency, j.in.srv.Now())
	if _, err := j.addSum(month, amount); err != nil {
		return err
	}
	begun, err := j.addSum(day, amount)
	if err == nil && !begun {
		today, _, _ := strings.Cut(day, "/")
		err = j.forgetDays(today)
	}
	return err
}

// addSum adds to a sum, and tells whether there was one before.
func (j *judge) addSum(bucket string, amount int64) (begun bool, err error) {
	var sum int64
	if begun, err = j.tx.Get(tableSums, bucket, &sum); err != nil {
		return begun, err
	}
	return begun, j.tx.Put(tableSums, bucket, limits.Add(sum, amount))
}

// keptDays is of how many days on which something was agreed the sums are kept.
// Days of a deal are counted and not the clock's: one that was ahead, and came
// back, would have freed what is spent. Those of months, of which there are few,
// are never forgotten (D165).
const keptDays = 63

// forgetDays drops the sums of the oldest days, where there are too many.
func (j *judge) forgetDays(today string) error {
	days, err := summedDays(j.tx)
	if err != nil || len(days) <= keptDays {
		return err
	}
	var old []string
	for _, day := range days[:len(days)-keptDays] {
		if day == today { // the others are of a clock that was ahead
			continue
		}
		err := j.tx.Scan(tableSums, day+"/", "", func(r store.Row) (bool, error) {
			old = append(old, r.Key)
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for _, key := range old {
		if err := j.tx.Delete(tableSums, key); err != nil {
			return err
		}
	}
	return nil
}

// summedDays are the days that have sums, in their order.
func summedDays(tx *store.Tx) (days []string, err error) {
	for from, more := "", true; more && err == nil; {
		more = false
		err = tx.Scan(tableSums, "", from, func(r store.Row) (bool, error) {
			bucket, _, _ := strings.Cut(r.Key, "/")
			if len(bucket) == len(time.DateOnly) {
				days = append(days, bucket)
			}
			from, more = bucket+"0", true // behind all keys of the bucket: 0 follows the slash
			return false, nil
		})
	}
	return days, err
}

// freed gives back the time of an agreement that is cancelled. What it cost
// stays in the sums (D142).
func (j *judge) freed(id, thread string) error {
	m, err := j.stored(id)
	if err != nil || m.Type != intent.ProposeTimes {
		return err
	}
	key, _, err := j.agreedTime(m, thread)
	if err != nil || key == "" {
		return err
	}
	return j.tx.Delete(tableTimes, key)
}

// agreedTime is the slot of a proposal that was accepted, and its key, "" where
// none was.
func (j *judge) agreedTime(m *intent.Parsed, thread string) (string, calendar.Span, error) {
	var row threadRow
	if _, err := j.tx.Get(tableThreads, thread, &row); err != nil {
		return "", calendar.Span{}, err
	}
	e, ok := row.Find(m.ID)
	if !ok || e.Slot == nil {
		return "", calendar.Span{}, nil
	}
	start, end, err := m.Slots[*e.Slot].Times()
	return dueKey(end.Unix(), m.ID), calendar.Span{Start: start, End: end}, err
}

// agreedTimes adds the times that are taken by agreements to a standing.
func (j *judge) agreedTimes(s *limits.Standing) error {
	return j.tx.Scan(tableTimes, "", dueKey(j.in.srv.Now().Unix(), ""), func(r store.Row) (bool, error) {
		var span calendar.Span
		err := r.Decode(&span)
		s.Agreed = append(s.Agreed, span)
		return true, err
	})
}

func eachOpenOffer(tx *store.Tx, fn func(id string, o openOffer)) error {
	return tx.Scan(tableOpenOffers, "", "", func(r store.Row) (bool, error) {
		var o openOffer
		if err := r.Decode(&o); err != nil {
			return false, err
		}
		fn(r.Key, o)
		return true, nil
	})
}
