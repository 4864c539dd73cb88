package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is a recurrence of whole days, asked day by day: may this be one? So a
// rule that begins long ago, or never comes true, costs no more than another.
// A library that walks from the first occurrence on takes seconds for
// FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30, which anybody may put into an invitation.
type rule struct {
	freq      string
	interval  int
	weekStart time.Weekday
	months    []int
	monthDays []int // negative: from the end of the month
	weekdays  []nthDay
	positions []int // BYSETPOS
	count     int   // 0: no COUNT
	until     *moment

	from date // first day
	last date // of a rule with COUNT
}

// nthDay is a weekday; n is which of its kind in the month or year, negative
// from the end, 0 for each.
type nthDay struct {
	n   int
	day time.Weekday
}

// maxList bounds a list of a rule.
const maxList = 62

// What is walked through to find the last day of rules with COUNT: of one of
// them, and of all. A rule that ends later is taken to have no end.
const (
	maxCounted    = 40000
	maxAllCounted = 500000
)

// parseRule reads an RRULE (RFC 5545 §3.3.10). Rules finer than a day, and
// those by the number of a week or of a day in the year, are refused.
func parseRule(text string, z *zones) (*rule, error) {
	r := &rule{interval: 1, weekStart: time.Monday}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.ToUpper(text), ";") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || seen[key] {
			return nil, errors.New("no rule that can be read")
		}
		seen[key] = true
		if err := r.part(key, value, z); err != nil {
			return nil, err
		}
	}
	switch {
	case r.freq == "":
		return nil, errors.New("FREQ is missing")
	case r.count > 0 && r.until != nil:
		return nil, errors.New("COUNT and UNTIL exclude each other")
	case r.positions != nil && r.freq != "MONTHLY":
		return nil, errors.New("BYSETPOS is read in monthly rules only")
	case r.nth() && r.freq != "MONTHLY" && r.freq != "YEARLY":
		return nil, errors.New("BYDAY has a number, which belongs into monthly and yearly rules")
	}
	return r, nil
}

func (r *rule) part(key, value string, z *zones) (err error) {
	switch key {
	case "FREQ":
		if !slices.Contains([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}, value) {
			return errors.New("FREQ is read as DAILY, WEEKLY, MONTHLY and YEARLY only")
		}
		r.freq = value
	case "INTERVAL":
		r.interval, err = number(value, 1, 10000)
	case "COUNT":
		r.count, err = number(value, 1, 1<<30)
	case "UNTIL":
		var m moment
		m, err = z.moment(value, "")
		if !strings.HasSuffix(value, "Z") {
			m.zone = nil // that of DTSTART
		}
		r.until = &m
	case "WKST":
		var ok bool
		if r.weekStart, ok = weekday(value); !ok {
			return errors.New("WKST is no weekday")
		}
	case "BYMONTH":
		r.months, err = numbers(value, 1, 12)
	case "BYMONTHDAY":
		r.monthDays, err = numbers(value, -31, 31)
	case "BYSETPOS":
		r.positions, err = numbers(value, -31, 31)
	case "BYDAY":
		r.weekdays, err = nthDays(value)
	default:
		return errors.New("a rule with BYHOUR, BYWEEKNO, BYYEARDAY or a part that is not known is not read")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a number from %d to %d", least, most)
	}
	return n, nil
}

// numbers reads a list. Where it may have negative ones, 0 is none.
func numbers(text string, least, most int) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := number(part, least, most)
		if err != nil || n == 0 || len(list) == maxList {
			return nil, fmt.Errorf("must be at most %d numbers from %d to %d", maxList, least, most)
		}
		list = append(list, n)
	}
	return list, nil
}

func nthDays(text string) ([]nthDay, error) {
	wrong := fmt.Errorf("must be at most %d weekdays", maxList)
	var list []nthDay
	for part := range strings.SplitSeq(text, ",") {
		if len(part) < 2 || len(list) == maxList {
			return nil, wrong
		}
		split := len(part) - 2
		d, ok := weekday(part[split:])
		n := nthDay{day: d}
		if split > 0 {
			var err error
			n.n, err = number(part[:split], -53, 53)
			ok = ok && err == nil && n.n != 0
		}
		if !ok {
			return nil, wrong
		}
		list = append(list, n)
	}
	return list, nil
}

// nth tells whether a weekday is one of its kind only.
func (r *rule) nth() bool {
	return slices.ContainsFunc(r.weekdays, func(n nthDay) bool { return n.n != 0 })
}

// begin sets the first occurrence, which says what the rule leaves open, and finds
// the last day of a rule with COUNT.
func (r *rule) begin(start moment, counted *int) {
	first, t := dateOf(start.wall), start.wall
	r.from = first
	if r.until != nil && r.until.zone == nil {
		r.until.zone = start.zone
	}
	if r.weekdays == nil && r.monthDays == nil {
		switch {
		case r.freq == "WEEKLY":
			r.weekdays = []nthDay{{day: t.Weekday()}}
		case r.freq == "MONTHLY":
			r.monthDays = []int{t.Day()}
		case r.freq == "YEARLY":
			r.monthDays = []int{t.Day()}
			if r.months == nil {
				r.months = []int{int(t.Month())}
			}
		}
	}
	if r.count == 0 {
		return
	}
	left := r.count
	for r.last = first; *counted < maxAllCounted && r.last < first+maxCounted; r.last++ {
		*counted++
		if r.has(r.last) {
			if left--; left == 0 {
				return
			}
		}
	}
	r.count = 0
}

// over tells whether an occurrence is after the end of the rule.
func (r *rule) over(m moment) bool {
	switch {
	case r.count > 0:
		return dateOf(m.wall) > r.last
	case r.until == nil:
		return false
	case r.until.day:
		return dateOf(m.wall) > dateOf(r.until.wall)
	}
	return m.earliest().After(r.until.latest())
}

// has tells whether the rule has an occurrence on a day, whatever its end.
func (r *rule) has(d date) bool {
	if d < r.from || !r.turn(d) || !r.picks(d) {
		return false
	}
	return r.positions == nil || r.placed(d)
}

// turn tells whether the day is in a period that INTERVAL does not leave out.
func (r *rule) turn(d date) bool {
	var passed int
	switch a, b := r.from.time(), d.time(); r.freq {
	case "DAILY":
		passed = int(d - r.from)
	case "WEEKLY":
		passed = int(r.weekOf(d)-r.weekOf(r.from)) / 7
	case "MONTHLY":
		passed = (b.Year()-a.Year())*12 + int(b.Month()) - int(a.Month())
	default:
		passed = b.Year() - a.Year()
	}
	return passed%r.interval == 0
}

// weekOf is the first day of the week.
func (r *rule) weekOf(d date) date {
	return d - date((int(d.weekday())-int(r.weekStart)+7)%7)
}

// picks tells whether the lists of the rule have the day.
func (r *rule) picks(d date) bool {
	t := d.time()
	year, month, dom := t.Date()
	length := daysIn(year, month)
	return (r.months == nil || slices.Contains(r.months, int(month))) &&
		(r.monthDays == nil || slices.Contains(r.monthDays, dom) || slices.Contains(r.monthDays, dom-length-1)) &&
		(r.weekdays == nil || slices.ContainsFunc(r.weekdays, func(n nthDay) bool { return n.day == t.Weekday() && r.isNth(n.n, t) }))
}

// isNth tells whether a day is the nth of its weekday: in the month for a
// monthly rule and for a yearly one with BYMONTH, else in the year.
func (r *rule) isNth(n int, t time.Time) bool {
	if n == 0 {
		return true
	}
	place, length := t.Day(), daysIn(t.Year(), t.Month())
	if r.freq == "YEARLY" && r.months == nil {
		place, length = t.YearDay(), time.Date(t.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
	}
	return n == (place-1)/7+1 || n == -((length-place)/7+1)
}

// placed tells whether a day that is picked has one of the positions among
// all that are picked in its month.
func (r *rule) placed(d date) bool {
	t := d.time()
	first := d - date(t.Day()-1)
	before, all := 0, 0
	for i := range daysIn(t.Year(), t.Month()) {
		if r.picks(first + date(i)) {
			all++
			if first+date(i) <= d {
				before++
			}
		}
	}
	return slices.Contains(r.positions, before) || slices.Contains(r.positions, before-all-1)
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
