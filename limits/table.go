package limits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/intent"
)

// Table is the limits as a configuration writes them, with the tags of package
// config. A key that is not set has its default.
type Table struct {
	Auto           string       `toml:"auto" default:"none" oneof:"none within_limits" doc:"none: the owner decides everything. within_limits: what is within the limits is sent, and the owner is asked about the rest."`
	TimeZone       string       `toml:"time_zone" default:"UTC" doc:"Zone of days, months and hours, as Europe/Berlin."`
	AllowUnsigned  bool         `toml:"allow_unsigned" default:"false" doc:"Deal within the limits with those whose messages have no checked signature too."`
	Allow          []string     `toml:"allow" default:"[]" doc:"Addresses and domains that may be dealt with, the owner is asked about others; known stands for those with whom something was agreed before. Empty: everybody."`
	Block          []string     `toml:"block" default:"[]" doc:"Addresses and domains that nothing is agreed with; a domain with all below it."`
	OpenOffers     int          `toml:"open_offers" default:"20" min:"1" max:"10000" doc:"Most own offers that are open at once; beyond it the owner is asked."`
	HourlyMessages int          `toml:"hourly_messages" default:"60" min:"1" max:"10000" doc:"Most messages in an hour; what is beyond it is refused."`
	Money          []MoneyTable `toml:"money" default:"[]" doc:"One table for each currency in which the agent may deal; the owner is asked about others."`
	Quote          *QuoteTable  `toml:"quote" default:"" doc:"Prices of quotes. Without this table the owner is asked about each quote."`
	Times          *TimesTable  `toml:"times" default:"" doc:"When times are agreed. Without this table the owner is asked about each."`
}

// MoneyTable is the amounts of one currency, in major units.
type MoneyTable struct {
	Currency       string `toml:"currency" doc:"ISO 4217 code."`
	Deal           string `toml:"deal" doc:"Most for one deal, as \"250.00\", bought or sold."`
	CounterpartDay string `toml:"counterpart_day" default:"" doc:"Most with one address in a day. Empty: no limit."`
	Month          string `toml:"month" default:"" doc:"Most in a month. Empty: no limit."`
}

// QuoteTable is the prices of quotes.
type QuoteTable struct {
	MostDiscount int           `toml:"most_discount" default:"0" min:"0" max:"100" doc:"Percent off the price list, at most."`
	Lowest       []LowestTable `toml:"lowest" default:"[]" doc:"One table for each item that has a lowest price of its own. The owner is asked about items that are neither here nor on the price list."`
}

// LowestTable is the lowest price of an item.
type LowestTable struct {
	Name  string `toml:"name" doc:"What a quote calls it; letter case and white space do not matter."`
	Unit  string `toml:"unit" default:"" doc:"Unit that the price is for. Empty: of items that are quoted without one."`
	Price string `toml:"price" doc:"Lowest price of one, with its currency, as \"2.50 EUR\"."`
}

// TimesTable is the hours in which times are agreed.
type TimesTable struct {
	Days     []string      `toml:"days" default:"['mon', 'tue', 'wed', 'thu', 'fri']" doc:"Days of the week: mon, tue, wed, thu, fri, sat, sun."`
	From     string        `toml:"from" default:"09:00" doc:"Begin of the hours."`
	Until    string        `toml:"until" default:"17:00" doc:"End of the hours, up to 24:00."`
	Notice   time.Duration `toml:"notice" default:"24h" min:"0s" max:"8784h" doc:"Least time from an agreement to the begin of a slot."`
	Calendar string        `toml:"calendar" default:"" kind:"path" doc:"An iCalendar file that no slot may overlap, read each time. Empty: none."`
}

// Mistake is a value of a Table that cannot be meant.
type Mistake struct {
	Key  string // below the table, as money[1].deal, counted from 0
	Text string // what is wrong and what to do, one line
}

// mistakes collects them. A value from the file stands in a text only quoted.
type mistakes []Mistake

func (m *mistakes) add(key, format string, args ...any) {
	*m = append(*m, Mistake{key, fmt.Sprintf(format, args...)})
}

// maxEntries bounds each list of a Table.
const maxEntries = 1000

// Limits checks the table. It returns limits only without mistakes.
func (t *Table) Limits() (Limits, []Mistake) {
	m := new(mistakes)
	l := Limits{
		Auto: Auto(t.Auto), AllowUnsigned: t.AllowUnsigned, OpenOffers: t.OpenOffers, HourlyMessages: t.HourlyMessages,
		Allow: m.who("allow", t.Allow, true), Block: m.who("block", t.Block, false),
		Money: m.money(t.Money),
	}
	if l.Auto != None && l.Auto != WithinLimits {
		m.add("auto", "must be none or within_limits, is %q", t.Auto)
	}
	var err error
	if l.Zone, err = time.LoadLocation(t.TimeZone); err != nil || t.TimeZone == "" || t.TimeZone == "Local" {
		m.add("time_zone", "must be a zone of the tz database, as Europe/Berlin, is %q", t.TimeZone)
	}
	if t.Quote != nil {
		l.Quote = m.quote(t.Quote)
	}
	if t.Times != nil {
		l.Times = m.times(t.Times)
	}
	if len(*m) > 0 {
		return Limits{}, *m
	}
	return l, nil
}

// who reads addresses and domains in their comparable form (D9), sorted.
func (m *mistakes) who(key string, entries []string, known bool) []string {
	if len(entries) > maxEntries {
		m.add(key, "must be at most %d, are %d", maxEntries, len(entries))
		return nil
	}
	var list []string
	for i, entry := range entries {
		parsed, err := address.Parse(entry)
		if !strings.Contains(entry, "@") {
			parsed, err = address.Domain(entry)
		}
		switch {
		case entry == Known && known:
			list = append(list, entry)
		case err != nil || parsed == Known:
			m.add(fmt.Sprintf("%s[%d]", key, i), "must be an address or a domain, as agent@buyer.example or buyer.example, is %q", entry)
		default:
			list = append(list, parsed)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (m *mistakes) money(tables []MoneyTable) map[string]Amounts {
	all := map[string]Amounts{}
	for i, t := range tables {
		key := fmt.Sprintf("money[%d].", i)
		if _, twice := all[t.Currency]; twice || !intent.ActiveCurrency(t.Currency) {
			m.add(key+"currency", "must be an ISO 4217 code that no other table has, is %q", t.Currency)
			continue
		}
		a := Amounts{CounterpartDay: m.mayAmount(key+"counterpart_day", t.CounterpartDay, t.Currency), Month: m.mayAmount(key+"month", t.Month, t.Currency)}
		a.Deal, _ = m.amount(key+"deal", t.Deal+" "+t.Currency)
		all[t.Currency] = a
	}
	return all
}

// mayAmount is an amount that need not be set.
func (m *mistakes) mayAmount(key, text, currency string) *int64 {
	if text == "" {
		return nil
	}
	n, _ := m.amount(key, text+" "+currency)
	return &n
}

// amount reads an amount in major units with its currency.
func (m *mistakes) amount(key, text string) (minor int64, currency string) {
	money, err := intent.ParseMoney(text)
	minor, ok := MinorUnits(&money)
	if err != nil || !ok {
		m.add(key, "must be an amount, as 250.00 EUR, is %q", text)
	}
	return minor, money.Currency
}

func (m *mistakes) quote(t *QuoteTable) *Quote {
	q := &Quote{MostDiscount: t.MostDiscount}
	if t.MostDiscount < 0 || t.MostDiscount > 100 {
		m.add("quote.most_discount", "must be 0 to 100, is %d", t.MostDiscount)
	}
	if len(t.Lowest) > maxEntries {
		m.add("quote.lowest", "must be at most %d, are %d", maxEntries, len(t.Lowest))
		return nil
	}
	for i, low := range t.Lowest {
		key := fmt.Sprintf("quote.lowest[%d].", i)
		l := Lowest{Name: fold(low.Name), Unit: fold(low.Unit)}
		if l.Name == "" {
			m.add(key+"name", "must be the name of an item")
		}
		l.Price, l.Currency = m.amount(key+"price", low.Price)
		q.Lowest = append(q.Lowest, l)
	}
	return q
}

var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func (m *mistakes) times(t *TimesTable) *Times {
	l := &Times{From: m.clock("times.from", t.From), Until: m.clock("times.until", t.Until), Notice: int64(t.Notice / time.Second), Calendar: t.Calendar}
	for i, name := range t.Days {
		day := slices.Index(days, name)
		if day < 0 {
			m.add(fmt.Sprintf("times.days[%d]", i), "must be one of mon, tue, wed, thu, fri, sat and sun, is %q", name)
		}
		l.Days = append(l.Days, time.Weekday(day))
	}
	slices.Sort(l.Days)
	l.Days = slices.Compact(l.Days)
	if l.From >= l.Until && l.From >= 0 && l.Until >= 0 {
		m.add("times.until", "must be later than from")
	}
	if t.Notice < 0 {
		m.add("times.notice", "must not be negative")
	}
	return l
}

// clock reads hours and minutes as seconds of the day, -1 for a mistake.
func (m *mistakes) clock(key, text string) int {
	hour, minute, _ := strings.Cut(text, ":")
	h, errH := strconv.ParseUint(hour, 10, 8)
	min, errM := strconv.ParseUint(minute, 10, 8)
	if errH != nil || errM != nil || len(text) != len("09:00") || min > 59 || h*60+min > 24*60 {
		m.add(key, "must be a time of the day from 00:00 to 24:00, as 09:00, is %q", text)
		return -1
	}
	return int(h*3600 + min*60)
}
