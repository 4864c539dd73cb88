package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/limits"
)

// bar is how much of a limit is used.
type bar struct {
	Label   string
	Text    string // the numbers, with their unit
	Limited bool   // else there is no limit, and nothing to draw
	Percent int64
	Full    bool
}

// drawn is a bar of a limit.
func drawn(label, text string, used, most int64) bar {
	return bar{Label: label, Text: text, Limited: true, Percent: percent(used, most), Full: used >= most}
}

// percent is how much of a limit is used, at most all of it.
func percent(used, most int64) int64 {
	if used >= most {
		return 100
	}
	return int64(float64(used) / float64(most) * 100) // an amount may have 18 digits
}

// currency is what is agreed in one.
type currency struct {
	Code  string
	Facts []intent.Fact
	Bars  []bar
}

func (v *view) limits() error {
	u, err := v.source.Usage()
	if err != nil {
		return err
	}
	shown := struct {
		Set        bool
		Auto       string
		Counts     []bar
		Currencies []currency
		Rules      []intent.Fact
	}{Set: u.Set, Auto: autos[u.Limits.Auto], Counts: []bar{
		countBar("Actions of the agent this hour", u.Actions, u.Limits.HourlyMessages), countBar("Open offers", u.OpenOffers, u.Limits.OpenOffers),
	}}
	for _, m := range u.Money {
		shown.Currencies = append(shown.Currencies, currencyOf(m, u.Limits.Money))
	}
	if u.Set {
		shown.Rules = rules(u)
	}
	return v.show(http.StatusOK, "limits", "Limits", shown)
}

// autos say what an agent may do at all.
var autos = map[limits.Auto]string{
	limits.None:         "The agent decides nothing alone: you are asked about everything.",
	limits.WithinLimits: "What is within these limits is done, and you are asked about the rest.",
}

func countBar(label string, used, most int) bar {
	return drawn(label, fmt.Sprintf("%d of %d", used, most), int64(used), int64(most))
}

// moneyBar is a sum beside its limit, if it has one.
func moneyBar(label string, used int64, most *int64, code string) bar {
	if most == nil {
		return bar{Label: label, Text: quantity(used, code) + ", no limit"}
	}
	return drawn(label, quantity(used, code)+" of "+quantity(*most, code), used, *most)
}

func currencyOf(m inbox.MoneyUsage, set map[string]limits.Amounts) currency {
	c := currency{Code: m.Currency}
	most, limited := set[m.Currency]
	deal := "each is asked about"
	if limited {
		deal = "at most " + quantity(most.Deal, m.Currency)
	}
	c.Facts = []intent.Fact{{Label: "One deal", Value: deal}, {Label: "Own open quotes", Value: quantity(m.Open, m.Currency)}}
	c.Bars = []bar{moneyBar("This month", m.Month, most.Month, m.Currency)}
	for _, with := range m.Today {
		c.Bars = append(c.Bars, moneyBar("Today with "+with.With, with.Agreed, most.CounterpartDay, m.Currency))
	}
	return c
}

// rules are the limits that nothing is used up of.
func rules(u inbox.Usage) []intent.Fact {
	l := u.Limits
	list := []intent.Fact{
		{Label: "Days and months in", Value: u.TimeZone},
		{Label: "May deal with", Value: cmp.Or(strings.Join(allowed(l.Allow), ", "), "everybody")},
		{Label: "Never with", Value: cmp.Or(strings.Join(l.Block, ", "), "nobody in particular")},
		{Label: "Unsigned messages", Value: "you are asked"},
		{Label: "Quotes", Value: "you are asked about each"},
		{Label: "Times", Value: "you are asked about each"},
	}
	if l.AllowUnsigned {
		list[3].Value = "count like signed ones"
	}
	if q := l.Quote; q != nil {
		list[4].Value = fmt.Sprintf("at most %d %% off the price list", q.MostDiscount)
		for _, low := range q.Lowest {
			list = append(list, intent.Fact{Label: "Lowest price", Value: strings.TrimSpace(low.Unit+" "+low.Name) + ": " + quantity(low.Price, low.Currency)})
		}
	}
	if t := l.Times; t != nil {
		list[5].Value = timesOf(t)
	}
	return list
}

// allowed is an allow list in words.
func allowed(list []string) []string {
	shown := slices.Clone(list)
	for i := range shown {
		if shown[i] == limits.Known {
			shown[i] = "those with whom something was agreed before"
		}
	}
	return shown
}

func timesOf(t *limits.Times) string {
	var days []string
	for _, d := range t.Days {
		days = append(days, d.String())
	}
	clock := func(seconds int) string { return fmt.Sprintf("%02d:%02d", seconds/3600, seconds/60%60) }
	text := fmt.Sprintf("%s, %s to %s, with %s notice", strings.Join(days, ", "), clock(t.From), clock(t.Until), span(t.Notice))
	if t.Calendar != "" {
		text += ", and beside your calendar"
	}
	return text
}
