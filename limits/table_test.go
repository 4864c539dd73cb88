package limits

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

// decode reads a table as a configuration does: the defaults of the tags, then
// what is set. A duration is set in the test itself.
func decode(t *testing.T, text string) *Table {
	t.Helper()
	table := new(Table)
	read := func(into any, text string) {
		if err := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(into); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	read(table, defaults(reflect.TypeFor[Table]()))
	if strings.Contains(text, "[times]") {
		table.Times = new(TimesTable)
		read(table.Times, defaults(reflect.TypeFor[TimesTable]()))
		table.Times.Notice = 24 * time.Hour
	}
	read(table, text)
	return table
}

// defaults writes the defaults of a table's keys, tables and durations left
// out, as TOML.
func defaults(table reflect.Type) string {
	var b strings.Builder
	for i := range table.NumField() {
		field := table.Field(i)
		value, optional := field.Tag.Lookup("default")
		switch field.Type.Kind() {
		case reflect.Pointer, reflect.Int64:
			continue
		case reflect.String:
			value = fmt.Sprintf("%q", value)
		}
		if optional {
			fmt.Fprintf(&b, "%s = %s\n", field.Tag.Get("toml"), value)
		}
	}
	return b.String()
}

const full = `auto = "within_limits"
time_zone = "Europe/Berlin"
allow = ["known", "Buyer.TEST", "bücher.test", "agent@partner.test"]
block = ["evil.test", "evil.test"]
[[money]]
currency = "EUR"
deal = "500"
month = "2000.00"
[[money]]
currency = "JPY"
deal = "70000"
counterpart_day = "90000"
[quote]
most_discount = 10
[[quote.lowest]]
name = " White  Mug"
unit = "Piece"
price = "2.5 EUR"
[times]
days = ["tue", "mon", "mon"]
until = "24:00"
calendar = "/home/owner/calendar.ics"
`

func TestTable(t *testing.T) {
	got, wrong := decode(t, full).Limits()
	if wrong != nil {
		t.Fatal(wrong)
	}
	want := Limits{
		Auto: WithinLimits, Zone: berlin, OpenOffers: 20, HourlyMessages: 60,
		Allow: []string{"agent@partner.test", "buyer.test", "known", "xn--bcher-kva.test"}, Block: []string{"evil.test"},
		Money: map[string]Amounts{"EUR": {Deal: 50000, Month: new(int64(200000))}, "JPY": {Deal: 70000, CounterpartDay: new(int64(90000))}},
		Quote: &Quote{MostDiscount: 10, Lowest: []Lowest{{"white mug", "piece", 250, "EUR"}}},
		Times: &Times{Days: []time.Weekday{time.Monday, time.Tuesday}, From: 9 * 3600, Until: 86400, Notice: 86400, Calendar: "/home/owner/calendar.ics"},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Error(diff)
	}
}

// Without any key the owner is asked about everything.
func TestEmptyTable(t *testing.T) {
	l, wrong := decode(t, "").Limits()
	if wrong != nil || l.Auto != None || l.AllowUnsigned || len(l.Money) > 0 || l.Quote != nil || l.Times != nil {
		t.Errorf("%+v %v", l, wrong)
	}
}

func TestTableMistakes(t *testing.T) {
	const at = "[times]\n"
	for name, c := range map[string]struct{ text, key string }{
		"auto":            {`auto = "all"`, "auto"},
		"zone":            {`time_zone = "Berlin"`, "time_zone"},
		"this machine's":  {`time_zone = "Local"`, "time_zone"},
		"no zone":         {`time_zone = ""`, "time_zone"},
		"address":         {`allow = ["known", "a b@c.test"]`, "allow[1]"},
		"domain":          {`allow = ["*.test"]`, "allow[0]"},
		"spelt known":     {`allow = ["KNOWN"]`, "allow[0]"},
		"block known":     {`block = ["known"]`, "block[0]"},
		"many":            {`block = ["a.test"` + strings.Repeat(`, "a.test"`, maxEntries) + `]`, "block"},
		"currency":        {"[[money]]\ncurrency = \"EURO\"\ndeal = \"1\"", "money[0].currency"},
		"currency twice":  {"[[money]]\ncurrency = \"EUR\"\ndeal = \"1\"\n[[money]]\ncurrency = \"EUR\"\ndeal = \"1\"", "money[1].currency"},
		"no deal":         {"[[money]]\ncurrency = \"EUR\"", "money[0].deal"},
		"decimals":        {"[[money]]\ncurrency = \"EUR\"\ndeal = \"1.001\"", "money[0].deal"},
		"negative":        {"[[money]]\ncurrency = \"EUR\"\ndeal = \"-1\"", "money[0].deal"},
		"day":             {"[[money]]\ncurrency = \"EUR\"\ndeal = \"1\"\ncounterpart_day = \"x\"", "money[0].counterpart_day"},
		"month":           {"[[money]]\ncurrency = \"EUR\"\ndeal = \"1\"\nmonth = \"1 EUR\"", "money[0].month"},
		"discount":        {"[quote]\nmost_discount = 101", "quote.most_discount"},
		"price":           {"[[quote.lowest]]\nname = \"a\"\nprice = \"1\"", "quote.lowest[0].price"},
		"name":            {"[[quote.lowest]]\nname = \" \"\nprice = \"1 EUR\"", "quote.lowest[0].name"},
		"many prices":     {strings.Repeat("[[quote.lowest]]\nname = \"a\"\nprice = \"1 EUR\"\n", maxEntries+1), "quote.lowest"},
		"day of the week": {at + `days = ["mon", "day"]`, "times.days[1]"},
		"hour":            {at + `from = "9:00"`, "times.from"},
		"minute":          {at + `from = "09:60"`, "times.from"},
		"past the day":    {at + `until = "24:01"`, "times.until"},
		"no hours":        {at + "from = \"10:00\"\nuntil = \"10:00\"", "times.until"},
		"notice":          {at + "notice = -1", "times.notice"},
	} {
		l, wrong := decode(t, c.text).Limits()
		if len(wrong) != 1 || wrong[0].Key != c.key || wrong[0].Text == "" || strings.Contains(wrong[0].Text, "\n") {
			t.Errorf("%s: %v, not in %s", name, wrong, c.key)
		}
		if wrong != nil && !reflect.DeepEqual(l, Limits{}) {
			t.Errorf("%s: limits come with a mistake", name)
		}
	}
}
