package calendar

import "time"

// date is a day of the calendar, counted from 1970-01-01.
type date int

const day = 24 * time.Hour

func dateOf(t time.Time) date {
	y, m, d := t.Date()
	return date(floorDiv(int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()), int(day/time.Second)))
}

// time is the day's begin in UTC.
func (d date) time() time.Time { return time.Unix(int64(d)*int64(day/time.Second), 0).UTC() }

func (d date) weekday() time.Weekday { return d.time().Weekday() }

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
