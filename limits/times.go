package limits

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits/calendar"
)

// Slots are the times that the message would bind the owner to: all that it
// proposes, since the other side may choose any, or the one that it accepts.
// Errors: a slot that cannot be read, or that is not there.
func (p *Proposal) Slots() ([]calendar.Span, error) {
	var slots []intent.Slot
	switch {
	case p.Message.Type == intent.ProposeTimes:
		slots = p.Message.Slots
	case p.Message.Type == intent.Accept && p.Ref != nil && p.Ref.Message.Type == intent.ProposeTimes:
		i := p.Message.Slot
		if i == nil || *i < 0 || *i >= len(p.Ref.Message.Slots) {
			return nil, errors.New("it accepts no slot that was offered")
		}
		slots = p.Ref.Message.Slots[*i : *i+1]
	}
	var spans []calendar.Span
	for i, s := range slots {
		start, end, err := s.Times()
		if err != nil || !start.Before(end) {
			return nil, fmt.Errorf("slot %d has no time that can be read", i+1)
		}
		spans = append(spans, calendar.Span{Start: start, End: end})
	}
	return spans, nil
}

// slots holds times against the owner's hours.
func (j *judge) slots() {
	spans, err := j.Proposal.Slots()
	if err != nil {
		j.nonsense(err.Error())
		return
	}
	if j.Times == nil {
		j.say(RuleTimes, AskOwner, 0, "no hours are set")
		return
	}
	if j.Times.Calendar != "" && !j.CalendarRead {
		j.say(RuleCalendar, AskOwner, 0, "the calendar could not be read")
	}
	for i, span := range spans {
		j.hours(span, i+1)
		j.notice(span, i+1)
		j.free(RuleAgreed, j.Agreed, span, i+1, "a time that is agreed or offered")
		j.free(RuleCalendar, j.Standing.Calendar, span, i+1, "the calendar")
	}
}

// hours are those of one day by the clock of the limits' zone.
func (j *judge) hours(span calendar.Span, place int) {
	start, end := span.Start.In(j.zone()), span.End.In(j.zone())
	if !slices.Contains(j.Times.Days, start.Weekday()) {
		j.say(RuleDay, AskOwner, place, fmt.Sprintf("slot %d is on a %s", place, start.Weekday()))
	}
	from, until := second(start), second(end)
	midnight := start.AddDate(0, 0, 1)
	switch {
	case sameDay(start, end) && from <= until:
	case until == 0 && sameDay(midnight, end):
		until = 24 * 60 * 60
	default:
		j.say(RuleHours, AskOwner, place, fmt.Sprintf("slot %d is not on one day", place))
		return
	}
	if from < j.Times.From || until > j.Times.Until {
		j.say(RuleHours, AskOwner, place, fmt.Sprintf("slot %d, %s to %s, is not between %s and %s", place, clock(from), clock(until), clock(j.Times.From), clock(j.Times.Until)))
	}
}

// notice is how long before a slot it is agreed.
func (j *judge) notice(span calendar.Span, place int) {
	f := Finding{Rule: RuleNotice, Verdict: Allow, Value: span.Start.Unix() - j.Now.Unix(), Limit: j.Times.Notice, Unit: "s", Place: place}
	words := "no less than"
	if f.Value < f.Limit {
		f.Verdict, words = AskOwner, "less than"
	}
	f.Line = fmt.Sprintf("slot %d begins in %s, %s %s", place, seconds(f.Value), words, seconds(f.Limit))
	j.findings = append(j.findings, f)
}

// free is that a slot overlaps nothing.
func (j *judge) free(r Rule, busy []calendar.Span, span calendar.Span, place int, with string) {
	if slices.ContainsFunc(busy, span.Overlaps) {
		j.say(r, AskOwner, place, fmt.Sprintf("slot %d overlaps %s", place, with))
	}
}

func sameDay(a, b time.Time) bool { return a.Year() == b.Year() && a.YearDay() == b.YearDay() }

// second is how many seconds of the day its clock shows, a begun one as whole:
// it is no earlier than it says.
func second(t time.Time) int {
	h, m, s := t.Clock()
	if t.Nanosecond() > 0 {
		s++
	}
	return h*60*60 + m*60 + s
}

// clock writes seconds of the day as hours and minutes.
func clock(second int) string { return fmt.Sprintf("%02d:%02d", second/3600, second/60%60) }

// seconds writes a length of time, in days where it has whole ones.
func seconds(n int64) string {
	const day = 24 * 60 * 60
	if n > day && n%day == 0 {
		return fmt.Sprintf("%d days", n/day)
	}
	if n < 0 || n > 10*day { // a slot may be centuries away, more than a Duration holds
		return fmt.Sprintf("%d s", n)
	}
	return (time.Duration(n) * time.Second).String()
}
