package calendar

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teambition/rrule-go"
	"pgregory.net/rapid"
)

// Our rules and those of rrule-go have the same days. Theirs leaves out a
// first day that its own rule does not pick, so that rules begin on one that
// it does.
func TestRulesAsOthersReadThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawRule(t)
		option, err := rrule.StrToROption(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		option.Dtstart = time.Date(2020, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 800).Draw(t, "start"))
		end := option.Dtstart.AddDate(12, 0, 0)
		if option.Until.IsZero() || option.Until.After(end) {
			option.Until = end // or one that never comes true runs to the year 9999
		}
		theirs, err := rrule.NewRRule(*option)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all := theirs.All()
		if len(all) == 0 || !all[0].Equal(option.Dtstart) {
			t.Skip("the first day is none of the rule")
		}
		e := recurring(t, option.Dtstart, text)
		from := option.Dtstart.AddDate(0, 0, rapid.IntRange(0, 1500).Draw(t, "from"))
		window := Span{from, from.Add(30 * day)}
		var got, want []string
		for s := range e.spans(window) {
			if s.Overlaps(window) {
				got = append(got, s.Start.Format(time.DateOnly))
			}
		}
		for _, d := range all {
			if (Span{d, d.Add(time.Hour)}).Overlaps(window) {
				want = append(want, d.Format(time.DateOnly))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s from %s\n got %v\nwant %v", text, option.Dtstart.Format(time.DateOnly), got, want)
		}
	})
}

func recurring(t *rapid.T, start time.Time, rule string) *event {
	c, err := Read(strings.NewReader(file("DTSTART:"+start.Format(timeForm)+"Z\nDURATION:PT1H\nRRULE:"+rule)), time.UTC)
	if err != nil {
		t.Fatalf("%s: %v", rule, err)
	}
	return c.events[0]
}

func drawRule(t *rapid.T) string {
	maybe := func(name string) bool { return rapid.IntRange(0, 2).Draw(t, name) == 0 }
	list := func(name string, least, most int) string {
		var parts []string
		for _, n := range rapid.SliceOfN(rapid.IntRange(least, most).Filter(func(n int) bool { return n != 0 }), 1, 4).Draw(t, name) {
			parts = append(parts, fmt.Sprint(n))
		}
		return ";" + name + "=" + strings.Join(parts, ",")
	}
	freq := rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}).Draw(t, "FREQ")
	text := "FREQ=" + freq
	if maybe("has INTERVAL") {
		text += fmt.Sprintf(";INTERVAL=%d", rapid.IntRange(1, 5).Draw(t, "INTERVAL"))
	}
	if maybe("has WKST") {
		text += ";WKST=" + rapid.SampledFrom(weekdays).Draw(t, "WKST")
	}
	if maybe("has BYMONTH") {
		text += list("BYMONTH", 1, 12)
	}
	if freq != "WEEKLY" && maybe("has BYMONTHDAY") {
		text += list("BYMONTHDAY", -31, 31)
	}
	if maybe("has BYDAY") {
		var days []string
		for range rapid.IntRange(1, 4).Draw(t, "BYDAY") {
			name := rapid.SampledFrom(weekdays).Draw(t, "day")
			if most := map[string]int{"MONTHLY": 5, "YEARLY": 5}[freq]; most > 0 && maybe("nth") {
				name = rapid.SampledFrom([]string{"1", "2", "-1", "-2", "5"}).Draw(t, "n") + name
			}
			days = append(days, name)
		}
		text += ";BYDAY=" + strings.Join(days, ",")
		if freq == "MONTHLY" && maybe("has BYSETPOS") {
			text += list("BYSETPOS", -4, 4)
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "end") {
	case 0:
		text += fmt.Sprintf(";COUNT=%d", rapid.IntRange(1, 60).Draw(t, "COUNT"))
	case 1:
		text += fmt.Sprintf(";UNTIL=2023%02d15T090000Z", rapid.IntRange(1, 12).Draw(t, "UNTIL"))
	}
	return text
}
