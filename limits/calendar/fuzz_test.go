package calendar

import (
	"strings"
	"testing"
	"time"
)

// Whatever is in a file, it is refused with one line, or tells spans that are
// in order and the same each time.
func FuzzRead(f *testing.F) {
	seeds := []string{
		file("DTSTART:20261102T090000Z\nDTEND:20261102T100000Z"),
		file("DTSTART;TZID=\"Europe/Berlin\":20261102T090000\nDURATION:P1DT1H\nRRULE:FREQ=MONTHLY;BYDAY=MO,-1TU;BYSETPOS=-1;COUNT=7\nEXDATE:20261102T080000Z"),
		file("UID:a\nRECURRENCE-ID:20261103T090000\nDTSTART;TZID=Nowhere:20261103T150000\nRDATE;VALUE=DATE:20261104"),
		file("DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY;UNTIL=99991231;WKST=SU;INTERVAL=2;BYMONTH=2;BYMONTHDAY=-1"),
		"BEGIN:VCALENDAR\nX:y\n z\nEND:VCALENDAR",
	}
	for _, seed := range seeds {
		if _, err := Read(strings.NewReader(seed), berlin); err != nil {
			f.Errorf("a seed is refused: %v", err)
		}
		f.Add(seed, int64(1793500000))
	}
	f.Fuzz(func(t *testing.T, text string, from int64) {
		c, err := Read(strings.NewReader(text), berlin)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		start := time.Unix(from%(1<<33), 0)
		window := Span{start, start.Add(25 * time.Hour)}
		spans, err := c.Busy(window)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := c.Busy(window)
		if len(again) != len(spans) {
			t.Error("another answer the second time")
		}
		for _, s := range spans {
			if s.End.Before(s.Start) || !s.Overlaps(window) {
				t.Errorf("%v is no span in %v", s, window)
			}
		}
	})
}
