package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	_ "time/tzdata"
)

var berlin = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return loc
}()

// file puts the lines of one event into a calendar.
func file(event string) string {
	return "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + strings.ReplaceAll(event, "\n", "\r\n") + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
}

// at is an instant of November 2026 in UTC, as "2 09:30".
func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse("2006-01 2 15:04", "2026-11 "+text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// busy lists what is busy in November 2026, as "2 09:30-2 10:00", by start.
func busy(t *testing.T, text string) []string {
	t.Helper()
	c, err := Read(strings.NewReader(text), berlin)
	if err != nil {
		t.Fatal(err)
	}
	spans, err := c.Busy(Span{at(t, "1 00:00"), at(t, "30 23:59")})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End)) })
	list := []string{}
	for _, s := range spans {
		list = append(list, s.Start.UTC().Format("2 15:04")+"-"+s.End.UTC().Format("2 15:04"))
	}
	return list
}

func TestBusy(t *testing.T) {
	for name, c := range map[string]struct{ event, want string }{
		"utc":                   {"DTSTART:20261102T090000Z\nDTEND:20261102T100000Z", "2 09:00-2 10:00"},
		"zone":                  {"DTSTART;TZID=America/New_York:20261102T090000\nDURATION:PT1H30M", "2 14:00-2 15:30"},
		"quoted zone":           {"DTSTART;X=\"a;b:c\";TZID=\"Asia/Tokyo\":20261102T090000\nDURATION:PT1H", "2 00:00-2 01:00"},
		"floating":              {"DTSTART:20261102T090000\nDURATION:PT1H", "2 08:00-2 09:00"},
		"two zones":             {"DTSTART;TZID=Europe/Berlin:20261102T090000\nDTEND;TZID=America/New_York:20261102T110000", "2 08:00-2 16:00"},
		"unknown zone":          {"DTSTART;TZID=W. Europe Standard Time:20261110T120000\nDTEND;TZID=W. Europe Standard Time:20261110T130000", "9 22:00-11 01:00"},
		"this machine's zone":   {"DTSTART;TZID=Local:20261110T120000\nDURATION:PT1H", "9 22:00-11 01:00"},
		"whole day":             {"DTSTART;VALUE=DATE:20261102", "1 23:00-2 23:00"},
		"whole days":            {"DTSTART;VALUE=DATE:20261102\nDTEND;VALUE=DATE:20261105", "1 23:00-4 23:00"},
		"a day in length":       {"DTSTART;VALUE=DATE:20261102\nDURATION:P1W1D", "1 23:00-9 23:00"},
		"no length":             {"DTSTART:20261102T090000Z", "2 09:00-2 09:00"},
		"cancelled":             {"DTSTART:20261102T090000Z\nDURATION:PT1H\nSTATUS:cancelled", ""},
		"free":                  {"DTSTART:20261102T090000Z\nDURATION:PT1H\nTRANSP:TRANSPARENT", ""},
		"tentative":             {"DTSTART:20261102T090000Z\nDURATION:PT1H\nSTATUS:TENTATIVE", "2 09:00-2 10:00"},
		"folded":                {"DTST\n ART:2026\n\t1102T090000Z\nDESCRIPTION:x\n y: z\nDURATION:PT1H", "2 09:00-2 10:00"},
		"lower case":            {"dtstart;tzid=Europe/Berlin:20261102T090000\nduration:PT1H", "2 08:00-2 09:00"},
		"an alarm's length":     {"DTSTART:20261102T090000Z\nBEGIN:VALARM\nDURATION:PT5H\nTRIGGER:-PT1H\nEND:VALARM\nDURATION:PT1H", "2 09:00-2 10:00"},
		"began before":          {"DTSTART:20201102T090000Z\nDTEND:20261102T100000Z", "2 09:00-2 10:00"},
		"other month":           {"DTSTART:20261202T090000Z\nDURATION:PT1H", ""},
		"weekly":                {"DTSTART:20201102T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY", "2 09:00-2 10:00, 9 09:00-9 10:00, 16 09:00-16 10:00, 23 09:00-23 10:00, 30 09:00-30 10:00"},
		"weekly across DST":     {"DTSTART;TZID=Europe/Berlin:20260701T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=20", "4 08:00-4 09:00, 11 08:00-11 09:00"},
		"across a change":       {"DTSTART;TZID=America/New_York:20261031T120000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2", "1 17:00-1 18:00"},
		"exceptions":            {"DTSTART;TZID=Europe/Berlin:20261102T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE;TZID=Europe/Berlin:20261103T090000\nEXDATE:20261104T080000Z", "2 08:00-2 09:00, 5 08:00-5 09:00"},
		"exception of a list":   {"DTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE:20261102T090000Z,20261105T090000Z", "3 09:00-3 10:00, 4 09:00-4 10:00"},
		"an exception by day":   {"DTSTART:20261102T000000Z\nDURATION:PT1H\nEXDATE;VALUE=DATE:20261102", "2 00:00-2 01:00"},
		"further dates":         {"DTSTART:20261002T090000Z\nDURATION:PT1H\nRDATE:20261103T090000Z,20261105T110000Z", "3 09:00-3 10:00, 5 11:00-5 12:00"},
		"until":                 {"DTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20261103T090000Z", "2 09:00-2 10:00, 3 09:00-3 10:00"},
		"until just before":     {"DTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20261103T085959Z", "2 09:00-2 10:00"},
		"until a day":           {"DTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20261103", "2 09:00-2 10:00, 3 09:00-3 10:00"},
		"until in its own zone": {"DTSTART;TZID=Pacific/Auckland:20261102T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20261103T090000", "1 20:00-1 21:00, 2 20:00-2 21:00"},
		"never again":           {"DTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "2 09:00-2 10:00"},
		"long and recurring":    {"DTSTART:20261020T000000Z\nDURATION:P20D\nRRULE:FREQ=YEARLY;COUNT=2", "20 00:00-9 00:00"},
		"last workday":          {"DTSTART:20200131T090000Z\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "30 09:00-30 10:00"},
		"birthday":              {"DTSTART;VALUE=DATE:16041110\nRRULE:FREQ=YEARLY", "9 23:00-10 23:00"},
	} {
		if got := strings.Join(busy(t, file(c.event)), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// An event that stands for one occurrence of another takes its place.
func TestChangedOccurrence(t *testing.T) {
	master := "BEGIN:VEVENT\nUID:a\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nEND:VEVENT\n"
	moved := "BEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20261103T090000Z\nDTSTART:20261103T150000Z\nDURATION:PT1H\nEND:VEVENT\n"
	for name, c := range map[string]struct{ text, want string }{
		"moved":           {master + moved, "2 09:00-2 10:00, 3 15:00-3 16:00"},
		"moved, first":    {moved + master, "2 09:00-2 10:00, 3 15:00-3 16:00"},
		"cancelled":       {master + strings.Replace(moved, "DURATION:PT1H", "STATUS:CANCELLED", 1), "2 09:00-2 10:00"},
		"of other events": {master + strings.Replace(moved, "UID:a", "UID:b", 1), "2 09:00-2 10:00, 3 09:00-3 10:00, 3 15:00-3 16:00"},
	} {
		if got := strings.Join(busy(t, "BEGIN:VCALENDAR\n"+c.text+"END:VCALENDAR"), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const start = "DTSTART:20261102T090000Z\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "no iCalendar file: it is empty"},
		"web page":           {"<html>\n", "line 1: no content line"},
		"other file":         {"A:b\n", "line 1: no iCalendar file"},
		"other component":    {"BEGIN:VEVENT\n", "line 1: no iCalendar file"},
		"cut short":          {strings.TrimSuffix(file(start), "END:VCALENDAR\r\n"), "cut short"},
		"calendar in itself": {"BEGIN:VCALENDAR\nBEGIN:VCALENDAR\n", "line 2: no iCalendar file"},
		"crossed":            {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n", "line 3: an END"},
		"deep":               {"BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:X\n", maxDepth), "line 9: components"},
		"busy times":         {"BEGIN:VCALENDAR\nBEGIN:VFREEBUSY\n", "line 2: VFREEBUSY"},
		"no value":           {file("DTSTART;TZID=Europe/Berlin"), "line 3: no content line"},
		"colon in quotes":    {file(`DTSTART;TZID="a:20261102T090000Z`), "line 3: no content line"},
		"no start":           {file("DURATION:PT1H"), "line 4: the event that ends here: it has no DTSTART"},
		"no date":            {file("DTSTART:20261131T090000Z"), "line 3: DTSTART: no date"},
		"fraction":           {file("DTSTART:20261102T090000.5Z"), "line 3: DTSTART: no date"},
		"two starts":         {file(start + start), "line 4: DTSTART: there are two"},
		"ends before":        {file(start + "DTEND:20261102T085959Z"), "it ends before"},
		"ends by day":        {file(start + "DTEND;VALUE=DATE:20261103"), "one of DTSTART"},
		"end and length":     {file(start + "DTEND:20261102T095959Z\nDURATION:PT1H"), "both DTEND"},
		"end elsewhere":      {file(start + "DTEND;TZID=Nowhere:20261102T095959"), "the zone of one"},
		"centuries":          {file("DTSTART:16001102T090000Z\nDTEND:20261102T085959Z"), "centuries"},
		"negative length":    {file(start + "DURATION:-PT1H"), "line 4: DURATION: no length"},
		"no length":          {file(start + "DURATION:PT"), "no length"},
		"length twice":       {file(start + "DURATION:P1D1D"), "no length"},
		"length of words":    {file(start + "DURATION:PxD"), "no length"},
		"length without P":   {file(start + "DURATION:1D"), "no length"},
		"long and recurring": {file(start + "DURATION:P32D\nRRULE:FREQ=YEARLY"), "longer than 31 days"},
		"range":              {file(start + "RECURRENCE-ID;RANGE=THISANDFUTURE:20261102T090000Z"), "line 4: RECURRENCE-ID"},
		"period":             {file(start + "RDATE;VALUE=PERIOD:20261102T090000Z/PT1H"), "line 4: RDATE"},
		"no exception":       {file(start + "EXDATE:20261102T090000Z,x"), "line 4: EXDATE"},
		"two rules":          {file(start + "RRULE:FREQ=DAILY\nRRULE:FREQ=DAILY"), "line 5: RRULE: there are two"},
		"every second":       {file(start + "RRULE:FREQ=SECONDLY"), "FREQ is read as"},
		"no frequency":       {file(start + "RRULE:COUNT=3"), "FREQ is missing"},
		"no rule":            {file(start + "RRULE:"), "no rule"},
		"part twice":         {file(start + "RRULE:FREQ=DAILY;FREQ=DAILY"), "no rule"},
		"by hour":            {file(start + "RRULE:FREQ=DAILY;BYHOUR=1"), "BYHOUR"},
		"two ends":           {file(start + "RRULE:FREQ=DAILY;COUNT=3;UNTIL=20261102"), "exclude each other"},
		"interval":           {file(start + "RRULE:FREQ=DAILY;INTERVAL=0"), "INTERVAL: must be a number from 1 to 10000"},
		"count":              {file(start + "RRULE:FREQ=DAILY;COUNT=0"), "COUNT: must"},
		"until":              {file(start + "RRULE:FREQ=DAILY;UNTIL=now"), "UNTIL: no date"},
		"week start":         {file(start + "RRULE:FREQ=DAILY;WKST=XX"), "WKST"},
		"month":              {file(start + "RRULE:FREQ=DAILY;BYMONTH=13"), "BYMONTH"},
		"month day":          {file(start + "RRULE:FREQ=DAILY;BYMONTHDAY=0"), "BYMONTHDAY"},
		"weekday":            {file(start + "RRULE:FREQ=WEEKLY;BYDAY=MO,X"), "BYDAY"},
		"zeroth weekday":     {file(start + "RRULE:FREQ=MONTHLY;BYDAY=0MO"), "BYDAY"},
		"second day of week": {file(start + "RRULE:FREQ=WEEKLY;BYDAY=2MO"), "BYDAY has a number"},
		"position":           {file(start + "RRULE:FREQ=YEARLY;BYDAY=MO;BYSETPOS=1"), "BYSETPOS"},
		"long list":          {file(start + "RRULE:FREQ=MONTHLY;BYMONTHDAY=1" + strings.Repeat(",1", maxList)), "BYMONTHDAY"},
		"many events":        {"BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\n"+start+"END:VEVENT\n", maxEvents+1), "more than 10000 events"},
		"large":              {strings.Repeat("x", MaxFile+1), "larger than"},
	} {
		_, err := Read(strings.NewReader(c.text), berlin)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", name, err, c.want)
		}
	}
}

func TestBusyRefusesLongWindows(t *testing.T) {
	c, err := Read(strings.NewReader(file("DTSTART:20261102T090000Z")), berlin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Busy(Span{at(t, "1 00:00"), at(t, "1 00:00").Add(MaxWindow + 1)}); err == nil {
		t.Error("a longer window is looked at")
	}
}

// Rules whose COUNT is reached only after ages are taken to have no end, and
// do not have Read walk through all of the days of each.
func TestCountIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\n")
	for range maxEvents {
		b.WriteString("BEGIN:VEVENT\nDTSTART:16000101T090000Z\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;COUNT=1000\nEND:VEVENT\n")
	}
	rd := &reader{zones: zones{home: berlin, known: map[string]*time.Location{}}, changed: map[string][]moment{}}
	for _, text := range unfolded(b.String() + "END:VCALENDAR\n") {
		if err := rd.line(text); err != nil {
			t.Fatal(err)
		}
	}
	if rd.counted != maxAllCounted {
		t.Errorf("%d days were walked through", rd.counted)
	}
	c, err := rd.calendar()
	if err != nil {
		t.Fatal(err)
	}
	leap := time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)
	if spans, err := c.Busy(Span{leap, leap.Add(day)}); err != nil || len(spans) != maxEvents {
		t.Errorf("%d events have no end: %v", len(spans), err)
	}
}

func ExampleCalendar_Busy() {
	c, _ := Read(strings.NewReader("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY\nEND:VEVENT\nEND:VCALENDAR\n"), time.UTC)
	slot := Span{time.Date(2026, 11, 9, 9, 30, 0, 0, time.UTC), time.Date(2026, 11, 9, 10, 30, 0, 0, time.UTC)}
	busy, _ := c.Busy(slot)
	fmt.Println(busy[0].Start)
	// Output: 2026-11-09 09:00:00 +0000 UTC
}
