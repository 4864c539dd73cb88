package calendar

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxRecurring is the longest event that may recur: so far back its earlier
// occurrences are looked at.
const maxRecurring = 31 // days

// event is an event that takes the owner's time.
type event struct {
	uid   string
	start moment
	days  int           // its length: so many days by the calendar,
	rest  time.Duration // and so much by the clock
	rule  *rule         // nil: once
	also  []moment      // RDATE
	not   map[int64]bool
}

// draft is an event while its lines are read.
type draft struct {
	uid        string
	start, end *moment
	length     *length
	rule       *rule
	also, not  []moment
	instead    *moment // RECURRENCE-ID
	free       bool    // cancelled, or takes no time
}

type length struct {
	days int
	rest time.Duration
}

// property takes one line. Those that say nothing about time are passed over.
func (d *draft) property(p property, z *zones) (err error) {
	switch p.name {
	case "UID":
		d.uid = p.value
	case "STATUS":
		d.free = d.free || strings.EqualFold(p.value, "CANCELLED")
	case "TRANSP":
		d.free = d.free || strings.EqualFold(p.value, "TRANSPARENT")
	case "DTSTART":
		err = once(&d.start, p, z)
	case "DTEND":
		err = once(&d.end, p, z)
	case "RECURRENCE-ID":
		if p.param("RANGE") != "" { // it moves occurrences that it does not name
			return errors.New("RECURRENCE-ID: with a RANGE it is not read")
		}
		err = once(&d.instead, p, z)
	case "DURATION":
		d.length, err = parseLength(p.value)
	case "RDATE":
		if strings.EqualFold(p.param("VALUE"), "PERIOD") {
			return errors.New("RDATE: periods are not read")
		}
		err = more(&d.also, p, z)
	case "EXDATE":
		err = more(&d.not, p, z)
	case "RRULE":
		if d.rule != nil {
			return errors.New("RRULE: there are two")
		}
		d.rule, err = parseRule(p.value, z)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

func once(into **moment, p property, z *zones) error {
	if *into != nil {
		return errors.New("there are two")
	}
	m, err := z.moment(p.value, p.param("TZID"))
	*into = &m
	return err
}

func more(into *[]moment, p property, z *zones) error {
	list, err := z.moments(p)
	*into = append(*into, list...)
	return err
}

// event puts together what was read. Days that are walked through to find the
// end of its rule are added to counted.
func (d *draft) event(counted *int) (*event, error) {
	if d.start == nil {
		return nil, errors.New("it has no DTSTART")
	}
	l, err := d.lasts()
	if err != nil {
		return nil, err
	}
	e := &event{uid: d.uid, start: *d.start, days: l.days, rest: l.rest, rule: d.rule, also: d.also, not: map[int64]bool{}}
	if (e.rule != nil || e.also != nil) && e.lasting() > maxRecurring*day {
		return nil, fmt.Errorf("it recurs, and is longer than %d days", maxRecurring)
	}
	for _, m := range d.not {
		if m.day == d.start.day {
			e.not[m.earliest().Unix()] = true
		}
	}
	if e.rule != nil {
		e.rule.begin(e.start, counted)
	}
	return e, nil
}

// lasts is the length of the event (RFC 5545 §3.6.1): by DTEND, by DURATION,
// or else a whole day for a day and nothing for a time.
func (d *draft) lasts() (length, error) {
	var l length
	switch {
	case d.end != nil && d.length != nil:
		return l, errors.New("it has both DTEND and DURATION")
	case d.end != nil && d.end.day != d.start.day:
		return l, errors.New("one of DTSTART and DTEND is a day and the other a time")
	case d.end != nil && d.start.day:
		l.days = int(dateOf(d.end.wall) - dateOf(d.start.wall))
	case d.end != nil && (d.start.zone == nil) != (d.end.zone == nil):
		return l, errors.New("the zone of one of DTSTART and DTEND is not known")
	case d.end != nil:
		l.rest = d.end.earliest().Sub(d.start.earliest())
		if l.rest == math.MaxInt64 {
			return l, errors.New("it lasts for centuries")
		}
	case d.length != nil:
		l = *d.length
	case d.start.day:
		l.days = 1
	}
	if l.days < 0 || l.rest < 0 {
		return l, errors.New("it ends before it begins")
	}
	return l, nil
}

// lasting is its length, where a day has 24 hours.
func (e *event) lasting() time.Duration { return time.Duration(e.days)*day + e.rest }

// spans are the occurrences that may overlap a time.
func (e *event) spans(within Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		give := func(m moment) bool {
			return e.not[m.earliest().Unix()] || yield(Span{m.earliest(), m.plus(e.days).latest().Add(e.rest)})
		}
		if !give(e.start) {
			return
		}
		for _, m := range e.also {
			if !give(m) {
				return
			}
		}
		if e.rule == nil {
			return
		}
		// Two days for zones, on either side.
		first := max(dateOf(within.Start.UTC().Add(-e.lasting()))-2, dateOf(e.start.wall)+1)
		for d := first; d <= dateOf(within.End.UTC())+2; d++ {
			if m := e.start.on(d); e.rule.has(d) && !e.rule.over(m) && !give(m) {
				return
			}
		}
	}
}

// parseLength reads a DURATION (RFC 5545 §3.3.6), which must not be negative.
func parseLength(text string) (*length, error) {
	wrong := errors.New("no length that can be read")
	days, clock, hasClock := strings.Cut(strings.TrimPrefix(text, "+"), "T")
	days, ok := strings.CutPrefix(days, "P")
	if !ok || days == "" && clock == "" || hasClock && clock == "" {
		return nil, wrong
	}
	l := new(length)
	for _, part := range []struct{ text, units string }{{days, "WD"}, {clock, "HMS"}} {
		for rest := part.text; rest != ""; {
			end := strings.IndexAny(rest, part.units)
			if end < 0 {
				return nil, wrong
			}
			n, err := strconv.ParseUint(rest[:end], 10, 16)
			if err != nil {
				return nil, wrong
			}
			l.add(rest[end], int(n))
			_, part.units, _ = strings.Cut(part.units, rest[end:end+1]) // each once, so that no sum wraps
			rest = rest[end+1:]
		}
	}
	return l, nil
}

func (l *length) add(unit byte, n int) {
	switch unit {
	case 'W':
		l.days += 7 * n
	case 'D':
		l.days += n
	default:
		l.rest += time.Duration(n) * map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second}[unit]
	}
}

var weekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// weekday is that of two letters.
func weekday(name string) (time.Weekday, bool) {
	i := slices.Index(weekdays, name)
	return time.Weekday(i), i >= 0
}
