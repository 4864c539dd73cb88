package calendar

import (
	"errors"
	"strings"
	"time"
)

// moment is a day, or a time of a day, as a file writes it.
type moment struct {
	wall time.Time      // what the clock and the calendar show, kept as UTC
	zone *time.Location // nil: one that the tz database does not name
	day  bool           // a whole day
}

// Where a zone is not known, the time is between these before and after the
// same time in UTC: offsets go from -12 to +14 hours.
const (
	mostEast = 14 * time.Hour
	mostWest = 12 * time.Hour
)

// earliest is the first instant that the moment can be.
func (m moment) earliest() time.Time {
	if m.zone == nil {
		return m.wall.Add(-mostEast)
	}
	return m.instant()
}

// latest is the last instant that the moment can be.
func (m moment) latest() time.Time {
	if m.zone == nil {
		return m.wall.Add(mostWest)
	}
	return m.instant()
}

func (m moment) instant() time.Time {
	w := m.wall
	return time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), 0, m.zone)
}

// on is the same time of the day on another day.
func (m moment) on(d date) moment {
	h, minute, s := m.wall.Clock()
	m.wall = d.time().Add(time.Duration(h)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(s)*time.Second)
	return m
}

// plus is the moment days later, by the calendar.
func (m moment) plus(days int) moment { return m.on(dateOf(m.wall) + date(days)) }

// zones finds time zones by the names that files use.
type zones struct {
	home  *time.Location
	known map[string]*time.Location // nil for a name that is none
}

// find is the zone of a name, nil where the tz database has none such. Names
// that mean something else on another machine are none.
func (z *zones) find(name string) *time.Location {
	if found, ok := z.known[name]; ok {
		return found
	}
	var found *time.Location
	lower := strings.ToLower(name)
	if lower != "local" && lower != "localtime" && lower != "posixrules" && !strings.HasPrefix(lower, "posix/") && !strings.HasPrefix(lower, "right/") {
		found, _ = time.LoadLocation(name) // nil with an error
	}
	z.known[name] = found
	return found
}

// Forms of DATE and DATE-TIME (RFC 5545 §3.3.4, §3.3.5).
const (
	dateForm = "20060102"
	timeForm = "20060102T150405"
)

var errMoment = errors.New("no date or time that can be read")

// moment reads one value of a property that has dates or times.
func (z *zones) moment(value, tzid string) (moment, error) {
	m := moment{zone: z.home}
	form := timeForm
	switch {
	case len(value) == len(dateForm):
		form, m.day = dateForm, true
	case strings.HasSuffix(value, "Z"):
		value, m.zone = strings.TrimSuffix(value, "Z"), time.UTC
	case tzid != "":
		m.zone = z.find(tzid)
	}
	wall, err := time.Parse(form, value)
	if err != nil || len(value) != len(form) { // it takes fractions that no form asks for
		return moment{}, errMoment
	}
	m.wall = wall
	return m, nil
}

// moments reads a list of them.
func (z *zones) moments(p property) ([]moment, error) {
	var list []moment
	for value := range strings.SplitSeq(p.value, ",") {
		m, err := z.moment(value, p.param("TZID"))
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}
