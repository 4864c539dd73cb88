// Package calendar tells when an owner is busy, from an iCalendar file
// (RFC 5545). Events may come from strangers, as invitations do, so that all
// that a file can make it do is bounded; and where a file can be taken in two
// ways, a time is rather called busy than free (D140).
//
// Times that a file leaves without a zone are in the owner's. Those in a zone
// that the tz database does not name block what they could mean in any zone.
package calendar

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// MaxFile is the largest file, in bytes.
const MaxFile = 4 << 20

// Other bounds of a file.
const (
	maxEvents = 10000
	maxDepth  = 8 // components in components; an alarm in an event is the third
)

// MaxWindow is the longest time that Busy looks at.
const MaxWindow = 31 * 24 * time.Hour

// Span is a time from Start up to, not including, End.
type Span struct{ Start, End time.Time }

// Overlaps tells whether two spans have a moment in common.
func (s Span) Overlaps(o Span) bool { return s.Start.Before(o.End) && o.Start.Before(s.End) }

// Calendar is a file that was read. It may be used by several goroutines.
type Calendar struct{ events []*event }

// Read reads a file of at most 4 MiB and 10 000 events. Zone is the owner's,
// for whole days and for times without a zone. A file that is cut short, or
// has an event that cannot be placed in time, is refused as a whole: what is
// not understood might be busy. Errors name the line, and never show text of
// the file.
func Read(r io.Reader, zone *time.Location) (*Calendar, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the calendar: %w", err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the calendar is larger than %d bytes: export fewer days", MaxFile)
	}
	rd := &reader{zones: zones{home: zone, known: map[string]*time.Location{}}, changed: map[string][]moment{}}
	for line, text := range unfolded(strings.TrimPrefix(string(data), "\ufeff")) {
		if err := rd.line(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	return rd.calendar()
}

// Busy returns the spans within which the owner is busy that overlap a time of
// at most MaxWindow. Spans may overlap each other and are in no order.
func (c *Calendar) Busy(within Span) ([]Span, error) {
	if within.End.Sub(within.Start) > MaxWindow {
		return nil, fmt.Errorf("a calendar is looked at for at most %s at once", MaxWindow)
	}
	var busy []Span
	for _, e := range c.events {
		for span := range e.spans(within) {
			if span.Overlaps(within) {
				busy = append(busy, span)
			}
		}
	}
	return busy, nil
}

// reader takes the lines of a file one after the other.
type reader struct {
	zones   zones
	begun   bool
	open    []string // components that have begun and not ended
	draft   *draft   // the event that is being read, nil outside of one
	events  []*event
	changed map[string][]moment // by UID: the occurrences that another event stands for
	counted int                 // days that were walked through to find the ends of rules
}

func (r *reader) line(text string) error {
	p, err := parseProperty(text)
	if err != nil {
		return err
	}
	switch {
	case p.name == "BEGIN":
		return r.begin(strings.ToUpper(p.value))
	case len(r.open) == 0:
		return errors.New("no iCalendar file: it must begin with BEGIN:VCALENDAR")
	case p.name == "END":
		return r.end(strings.ToUpper(p.value))
	case r.draft != nil && r.open[len(r.open)-1] == "VEVENT":
		return r.draft.property(p, &r.zones)
	}
	return nil
}

func (r *reader) begin(component string) error {
	switch {
	case (len(r.open) == 0) != (component == "VCALENDAR"):
		return errors.New("no iCalendar file: it must begin with BEGIN:VCALENDAR, and have it nowhere else")
	case len(r.open) == maxDepth:
		return fmt.Errorf("components within components, deeper than %d", maxDepth)
	case component == "VFREEBUSY": // passed over, its times would be free
		return errors.New("VFREEBUSY is not read: export events")
	case component == "VEVENT" && len(r.open) == 1:
		if len(r.events) == maxEvents {
			return fmt.Errorf("more than %d events: export fewer days", maxEvents)
		}
		r.draft = new(draft)
	}
	r.begun, r.open = true, append(r.open, component)
	return nil
}

func (r *reader) end(component string) error {
	last := len(r.open) - 1
	if r.open[last] != component {
		return errors.New("an END that ends another component than the one that began last")
	}
	r.open = r.open[:last]
	if last != 1 || component != "VEVENT" {
		return nil
	}
	d := r.draft
	r.draft = nil
	if d.instead != nil {
		r.changed[d.uid] = append(r.changed[d.uid], *d.instead)
	}
	if d.free {
		return nil
	}
	e, err := d.event(&r.counted)
	if err != nil {
		return fmt.Errorf("the event that ends here: %w", err)
	}
	r.events = append(r.events, e)
	return nil
}

// calendar is what was read, when the file has ended.
func (r *reader) calendar() (*Calendar, error) {
	if len(r.open) > 0 {
		return nil, fmt.Errorf("the calendar is cut short: %s has no end", r.open[0])
	}
	if !r.begun {
		return nil, errors.New("no iCalendar file: it is empty")
	}
	for _, e := range r.events {
		if e.rule == nil && e.also == nil {
			continue
		}
		for _, m := range r.changed[e.uid] {
			e.not[m.earliest().Unix()] = true
		}
	}
	return &Calendar{r.events}, nil
}
