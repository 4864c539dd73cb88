package limits

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/limits/calendar"
)

const (
	us    = "agent@seller.test"
	them  = "agent@buyer.test"
	offer = "0198c1f0-0000-7000-8000-000000000001"
)

// now is a Monday, 9:00 in Berlin.
var now = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)

var berlin = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return loc
}()

// valid is limits, a standing and a proposal that are within each other: a
// quote of two items. Each case changes one thing.
func valid() *judge {
	return &judge{
		Limits: Limits{
			Auto: WithinLimits, Zone: berlin, OpenOffers: 5, HourlyMessages: 10,
			Money: map[string]Amounts{"EUR": {Deal: 50000, CounterpartDay: new(int64(80000)), Month: new(int64(200000))}},
			Quote: &Quote{MostDiscount: 10, Lowest: []Lowest{{Name: "mug", Price: 250, Currency: "EUR"}}},
			Times: &Times{Days: []time.Weekday{time.Monday, time.Tuesday}, From: 9 * 3600, Until: 17 * 3600, Notice: 86400},
		},
		Standing: Standing{Now: now, Known: true},
		Proposal: Proposal{Signed: true, Message: intent.Message{
			Type: intent.Quote, From: intent.Sender{Address: us}, To: intent.Recipient{Address: them},
			Items: []intent.Item{
				{Description: " MUG", Quantity: 100, UnitPrice: eur("250")},
				{Description: "clay", Quantity: 2.5, Unit: "kg"},
			},
			Total: eur("25203"), // 250.00 and 2.5 at 0.81 or more
		}, ListPrices: []*intent.Money{eur("277"), eur("90")}},
	}
}

// accept makes the proposal one that accepts an offer of the other side.
func (j *judge) accept(offered intent.Message) {
	offered.ID = offer
	j.Message = intent.Message{Type: intent.Accept, To: intent.Recipient{Address: them}, Ref: offer}
	j.Ref = &Referred{Message: offered, Open: true}
	j.ListPrices = nil
}

// propose makes the proposal one of times, in Berlin.
func (j *judge) propose(slots ...string) {
	j.Message = intent.Message{Type: intent.ProposeTimes, To: intent.Recipient{Address: them}}
	for _, s := range slots {
		start, end, _ := strings.Cut(s, "/")
		j.Message.Slots = append(j.Message.Slots, intent.Slot{Start: start, End: end, TimeZone: "Europe/Berlin"})
	}
}

// unit makes the first item one that is quoted in a unit, and sold by the box
// too.
func (j *judge) unit(unit string) {
	j.Message.Items[0].Unit = unit
	j.Quote.Lowest = append(j.Quote.Lowest, Lowest{Name: "mug", Unit: "box", Price: 250, Currency: "EUR"})
}

func eur(amount string) *intent.Money { return &intent.Money{Amount: amount, Currency: "EUR"} }

const tuesday = "2026-11-03T10:00:00+01:00/2026-11-03T11:00:00+01:00"

func span(start, end string) calendar.Span {
	s, errS := time.Parse(time.RFC3339, start)
	e, errE := time.Parse(time.RFC3339, end)
	if errS != nil || errE != nil {
		panic("no time")
	}
	return calendar.Span{Start: s, End: e}
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*judge)
		verdict Verdict
		rules   []Rule // that decided, in order; nil: not looked at
	}{
		"a quote":          {func(*judge) {}, Allow, []Rule{RuleAuto, RuleDeal, RuleCounterpartDay, RuleMonth, RulePrice, RulePrice, RuleOpenOffers, RuleHourly}},
		"auto none":        {func(j *judge) { j.Auto = None }, AskOwner, []Rule{RuleAuto}},
		"auto not set":     {func(j *judge) { j.Auto = "" }, AskOwner, []Rule{RuleAuto}},
		"no limits at all": {func(j *judge) { j.Limits = Limits{HourlyMessages: 1} }, AskOwner, []Rule{RuleAuto, RuleCurrency, RulePrice, RuleOpenOffers}},
		"zero limits":      {func(j *judge) { j.Limits = Limits{} }, Refuse, []Rule{RuleHourly}},
		"no type":          {func(j *judge) { j.Message.Type = "order" }, Refuse, []Rule{RuleMessage}},
		"no address":       {func(j *judge) { j.Message.To.Address = "x" }, Refuse, []Rule{RuleMessage}},
		"spelt address":    {func(j *judge) { j.Message.To.Address = "agent@BUYER.test" }, Refuse, []Rule{RuleMessage}},

		"blocked":                   {func(j *judge) { j.Block = []string{them} }, Refuse, []Rule{RuleBlock}},
		"blocked in capitals":       {func(j *judge) { j.Block = []string{"AGENT@buyer.test"} }, Refuse, []Rule{RuleBlock}},
		"blocked with a detail":     {func(j *judge) { j.Block, j.Message.To.Address = []string{them}, "Agent+2@buyer.test" }, Refuse, []Rule{RuleBlock}},
		"blocked detail":            {func(j *judge) { j.Block = []string{"agent+2@buyer.test"} }, Allow, nil},
		"blocked by domain":         {func(j *judge) { j.Block = []string{"buyer.test"} }, Refuse, []Rule{RuleBlock}},
		"blocked by a domain above": {func(j *judge) { j.Block = []string{"test"} }, Refuse, []Rule{RuleBlock}},
		"another domain's end":      {func(j *judge) { j.Block = []string{"uyer.test", "agent@uyer.test"} }, Allow, nil},
		"blocked and allowed":       {func(j *judge) { j.Block, j.Limits.Allow = []string{them}, []string{them} }, Refuse, []Rule{RuleBlock}},
		"block and no auto":         {func(j *judge) { j.Block, j.Auto = []string{them}, None }, Refuse, []Rule{RuleBlock}},
		"allowed":                   {func(j *judge) { j.Limits.Allow = []string{"x@y.test", them} }, Allow, nil},
		"allowed by domain":         {func(j *judge) { j.Limits.Allow = []string{"buyer.test"} }, Allow, nil},
		"allowed as known":          {func(j *judge) { j.Limits.Allow = []string{Known} }, Allow, nil},
		"not allowed":               {func(j *judge) { j.Limits.Allow = []string{"x@buyer.test", "test"} }, AskOwner, []Rule{RuleAllow}},
		"known, and is not":         {func(j *judge) { j.Limits.Allow, j.Standing.Known = []string{Known}, false }, AskOwner, []Rule{RuleAllow, RuleStranger}},
		"stranger who is allowed":   {func(j *judge) { j.Limits.Allow, j.Standing.Known = []string{them}, false }, AskOwner, []Rule{RuleStranger}},
		"unsigned":                  {func(j *judge) { j.Signed = false }, AskOwner, []Rule{RuleUnsigned}},
		"unsigned, and may be":      {func(j *judge) { j.Signed, j.AllowUnsigned = false, true }, Allow, nil},

		"most for a deal":     {func(j *judge) { j.Message.Total = eur("50000") }, Allow, nil},
		"more for a deal":     {func(j *judge) { j.Message.Total = eur("50001") }, AskOwner, []Rule{RuleDeal}},
		"most in a day":       {func(j *judge) { j.Sums.CounterpartDay = 80000 - 25203 }, Allow, nil},
		"more in a day":       {func(j *judge) { j.Sums.CounterpartDay = 80001 - 25203 }, AskOwner, []Rule{RuleCounterpartDay}},
		"most with open":      {func(j *judge) { j.Sums.CounterpartDay, j.Sums.OpenCounterpart = 50000, 30000-25203 }, Allow, nil},
		"more with open":      {func(j *judge) { j.Sums.CounterpartDay, j.Sums.OpenCounterpart = 50000, 30001-25203 }, AskOwner, []Rule{RuleCounterpartDay}},
		"most in a month":     {func(j *judge) { j.Sums.Month, j.Sums.Open = 100000, 100000-25203 }, Allow, nil},
		"more in a month":     {func(j *judge) { j.Sums.Month, j.Sums.Open = 100000, 100001-25203 }, AskOwner, []Rule{RuleMonth}},
		"sums that overflow":  {func(j *judge) { j.Sums = Sums{math.MaxInt64, math.MaxInt64, math.MaxInt64, 1} }, AskOwner, []Rule{RuleCounterpartDay, RuleMonth}},
		"sums below nothing":  {func(j *judge) { j.Sums.CounterpartDay, j.Sums.OpenCounterpart = -100000, 80000 }, AskOwner, []Rule{RuleCounterpartDay}},
		"no day and month":    {func(j *judge) { j.Sums.Month = math.MaxInt64; j.Limits.Money["EUR"] = Amounts{Deal: 50000} }, Allow, nil},
		"another currency":    {func(j *judge) { j.Message.Total = &intent.Money{Amount: "1", Currency: "USD"} }, AskOwner, []Rule{RuleCurrency, RulePrice}},
		"no currency":         {func(j *judge) { j.Message.Total.Currency = "EURO" }, Refuse, []Rule{RuleMessage}},
		"no total":            {func(j *judge) { j.Message.Total = nil }, Refuse, []Rule{RuleMessage}},
		"negative total":      {func(j *judge) { j.Message.Total = eur("-1") }, Refuse, []Rule{RuleMessage}},
		"total with a plus":   {func(j *judge) { j.Message.Total = eur("+25203") }, Refuse, []Rule{RuleMessage}},
		"total too long":      {func(j *judge) { j.Message.Total = eur("9223372036854775808") }, Refuse, []Rule{RuleMessage}},
		"largest total":       {func(j *judge) { j.Message.Total = eur("999999999999999999") }, AskOwner, []Rule{RuleDeal, RuleCounterpartDay, RuleMonth}},
		"lowest total":        {func(j *judge) { j.Message.Total = eur("25202") }, AskOwner, []Rule{RulePrice}}, // 250.00 + 2.025 is 252.025
		"price too low":       {func(j *judge) { j.Message.Items[0].UnitPrice = eur("249") }, AskOwner, []Rule{RulePrice}},
		"discount too high":   {func(j *judge) { j.ListPrices[0] = eur("278") }, AskOwner, []Rule{RulePrice, RulePrice}}, // 250.2
		"not on either list":  {func(j *judge) { j.ListPrices[1] = nil }, AskOwner, []Rule{RulePrice}},
		"no list":             {func(j *judge) { j.ListPrices = nil }, AskOwner, []Rule{RulePrice}},
		"list in dollars":     {func(j *judge) { j.ListPrices[1] = &intent.Money{Amount: "1", Currency: "USD"} }, AskOwner, []Rule{RulePrice}},
		"list of nonsense":    {func(j *judge) { j.ListPrices[1] = eur("x") }, AskOwner, []Rule{RulePrice}},
		"lowest by unit":      {func(j *judge) { j.Quote.Lowest[0].Unit = "piece" }, Allow, nil},
		"lowest, other unit":  {func(j *judge) { j.Quote.Lowest[0].Unit, j.Message.Items[0].Unit, j.ListPrices[0] = "piece", "Box", nil }, AskOwner, []Rule{RulePrice}},
		"lowest of a piece":   {func(j *judge) { j.Message.Items[0].Unit, j.ListPrices[0] = "box", nil }, AskOwner, []Rule{RulePrice}},
		"lowest of a box":     {func(j *judge) { j.unit("box"); j.ListPrices[0] = nil }, Allow, nil},
		"of two units":        {func(j *judge) { j.unit("box"); j.Quote.Lowest[0].Price = 9999; j.ListPrices[0] = nil }, Allow, nil},
		"without a unit":      {func(j *judge) { j.unit(""); j.Quote.Lowest[1].Price = 251; j.ListPrices[0] = nil }, AskOwner, []Rule{RulePrice, RulePrice}},
		"lowest in dollars":   {func(j *judge) { j.Quote.Lowest[0].Currency, j.ListPrices[0] = "USD", nil }, AskOwner, []Rule{RulePrice}},
		"no prices set":       {func(j *judge) { j.Quote = nil }, AskOwner, []Rule{RulePrice}},
		"negative quantity":   {func(j *judge) { j.Message.Items[0].Quantity = -100 }, Refuse, []Rule{RuleMessage}},
		"no quantity":         {func(j *judge) { j.Message.Items[0].Quantity = 0 }, Refuse, []Rule{RuleMessage}},
		"NaN":                 {func(j *judge) { j.Message.Items[0].Quantity = math.NaN() }, Refuse, []Rule{RuleMessage}},
		"endless":             {func(j *judge) { j.Message.Items[0].Quantity = math.Inf(1) }, Refuse, []Rule{RuleMessage}},
		"huge quantity":       {func(j *judge) { j.Message.Items[0].Quantity = math.MaxFloat64 }, AskOwner, []Rule{RulePrice}},
		"price in dollars":    {func(j *judge) { j.Message.Items[0].UnitPrice = &intent.Money{Amount: "999", Currency: "USD"} }, Refuse, []Rule{RuleMessage}},
		"most open offers":    {func(j *judge) { j.Standing.OpenOffers = 4 }, Allow, nil},
		"more open offers":    {func(j *judge) { j.Standing.OpenOffers = 5 }, AskOwner, []Rule{RuleOpenOffers}},
		"most messages":       {func(j *judge) { j.HourMessages = 9 }, Allow, nil},
		"more messages":       {func(j *judge) { j.HourMessages = 10 }, Refuse, []Rule{RuleHourly}},
		"beyond two of them":  {func(j *judge) { j.Message.Total = eur("60000"); j.Standing.OpenOffers = 5 }, AskOwner, []Rule{RuleDeal, RuleOpenOffers}},
		"and refused besides": {func(j *judge) { j.Message.Total = eur("60000"); j.HourMessages = 10 }, Refuse, []Rule{RuleHourly}},

		"ask a stranger":          {func(j *judge) { j.Message.Type, j.Standing.Known = intent.AskQuote, false }, Allow, []Rule{RuleAuto, RuleHourly}},
		"ask a blocked one":       {func(j *judge) { j.Message.Type, j.Block = intent.AskQuote, []string{them} }, Refuse, []Rule{RuleBlock}},
		"ask without auto":        {func(j *judge) { j.Message.Type, j.Auto = intent.AskQuote, None }, AskOwner, []Rule{RuleAuto}},
		"decline a blocked one":   {func(j *judge) { j.Message.Type, j.Block = intent.Decline, []string{them} }, Allow, []Rule{RuleAuto, RuleHourly}},
		"cancel an open offer":    {func(j *judge) { j.Message.Type, j.Ref = intent.Cancel, &Referred{Open: true} }, Allow, []Rule{RuleAuto, RuleHourly}},
		"cancel an agreement":     {func(j *judge) { j.Message.Type, j.Ref = intent.Cancel, &Referred{} }, AskOwner, []Rule{RuleAgreement}},
		"cancel what is not told": {func(j *judge) { j.Message.Type = intent.Cancel }, AskOwner, []Rule{RuleAgreement}},

		"accept a quote":       {func(j *judge) { j.accept(j.Message) }, Allow, []Rule{RuleAuto, RuleDeal, RuleCounterpartDay, RuleMonth, RuleHourly}},
		"accept at a price":    {func(j *judge) { j.accept(j.Message); j.Ref.Message.Total = eur("50001") }, AskOwner, []Rule{RuleDeal}},
		"accept, unsigned":     {func(j *judge) { j.accept(j.Message); j.Signed = false }, AskOwner, []Rule{RuleUnsigned}},
		"accept a stranger's":  {func(j *judge) { j.accept(j.Message); j.Standing.Known = false }, AskOwner, []Rule{RuleStranger}},
		"accept nothing":       {func(j *judge) { j.accept(j.Message); j.Ref = nil }, Refuse, []Rule{RuleMessage}},
		"accept what is over":  {func(j *judge) { j.accept(j.Message); j.Ref.Open = false }, Refuse, []Rule{RuleMessage}},
		"accept another":       {func(j *judge) { j.accept(j.Message); j.Ref.Message.ID = "x" }, Refuse, []Rule{RuleMessage}},
		"accept an ask":        {func(j *judge) { j.Message.Type = intent.AskQuote; j.accept(j.Message) }, Refuse, []Rule{RuleMessage}},
		"accept a free gift":   {func(j *judge) { j.accept(j.Message); j.Ref.Message.Total = eur("0") }, Allow, nil},
		"accept with no total": {func(j *judge) { j.accept(j.Message); j.Ref.Message.Total = nil }, Refuse, []Rule{RuleMessage}},
		"accept a slot":        {func(j *judge) { j.propose(tuesday); j.accept(j.Message); j.Message.Slot = new(0) }, Allow, nil},
		"accept the good one":  {func(j *judge) { j.propose(sunday, tuesday); j.accept(j.Message); j.Message.Slot = new(1) }, Allow, nil},
		"accept the bad one":   {func(j *judge) { j.propose(sunday, tuesday); j.accept(j.Message); j.Message.Slot = new(0) }, AskOwner, []Rule{RuleDay}},
		"accept no slot":       {func(j *judge) { j.propose(tuesday); j.accept(j.Message) }, Refuse, []Rule{RuleMessage}},
		"accept a slot beyond": {func(j *judge) { j.propose(tuesday); j.accept(j.Message); j.Message.Slot = new(1) }, Refuse, []Rule{RuleMessage}},
		"accept slot -1":       {func(j *judge) { j.propose(tuesday); j.accept(j.Message); j.Message.Slot = new(-1) }, Refuse, []Rule{RuleMessage}},
	} {
		t.Run(name, func(t *testing.T) { expect(t, c.change, c.verdict, c.rules) })
	}
}

const sunday = "2026-11-08T10:00:00+01:00/2026-11-08T11:00:00+01:00"

func TestTimes(t *testing.T) {
	for name, c := range map[string]struct {
		slots   []string
		change  func(*judge)
		verdict Verdict
		rules   []Rule
	}{
		"a slot":            {[]string{tuesday}, nil, Allow, []Rule{RuleAuto, RuleNotice, RuleOpenOffers, RuleHourly}},
		"whole hours":       {[]string{"2026-11-03T09:00:00+01:00/2026-11-03T17:00:00+01:00"}, nil, Allow, nil},
		"in another offset": {[]string{"2026-11-03T03:00:00-05:00/2026-11-03T16:00:00Z"}, nil, Allow, nil},
		"a second early":    {[]string{"2026-11-03T08:59:59+01:00/2026-11-03T17:00:00+01:00"}, func(j *judge) { j.Times.Notice = 0 }, AskOwner, []Rule{RuleHours}},
		"a moment late":     {[]string{"2026-11-03T09:00:00+01:00/2026-11-03T17:00:00.1+01:00"}, nil, AskOwner, []Rule{RuleHours}},
		"one of two":        {[]string{tuesday, sunday}, nil, AskOwner, []Rule{RuleDay}},
		"over night":        {[]string{"2026-11-09T16:00:00+01:00/2026-11-10T10:00:00+01:00"}, nil, AskOwner, []Rule{RuleHours}},
		"a week":            {[]string{"2026-11-09T10:00:00+01:00/2026-11-16T11:00:00+01:00"}, nil, AskOwner, []Rule{RuleHours}},
		"a year":            {[]string{"2026-11-09T10:00:00+01:00/2027-11-09T11:00:00+01:00"}, nil, AskOwner, []Rule{RuleHours}},
		"up to midnight":    {[]string{"2026-11-09T10:00:00+01:00/2026-11-10T00:00:00+01:00"}, func(j *judge) { j.Times.Until = 86400 }, Allow, nil},
		"past midnight":     {[]string{"2026-11-09T10:00:00+01:00/2026-11-10T00:00:00.1+01:00"}, func(j *judge) { j.Times.Until = 86400 }, AskOwner, []Rule{RuleHours}},
		"midnight and late": {[]string{"2026-11-09T10:00:00+01:00/2026-11-10T00:00:00+01:00"}, nil, AskOwner, []Rule{RuleHours}},
		"two midnights":     {[]string{"2026-11-09T10:00:00+01:00/2026-11-11T00:00:00+01:00"}, func(j *judge) { j.Times.Until = 86400 }, AskOwner, []Rule{RuleHours}},
		"least notice":      {[]string{"2026-11-03T09:00:00+01:00/2026-11-03T10:00:00+01:00"}, nil, Allow, nil},
		"less notice":       {[]string{"2026-11-03T09:00:00+01:00/2026-11-03T10:00:00+01:00"}, func(j *judge) { j.Now = now.Add(time.Second) }, AskOwner, []Rule{RuleNotice}},
		"over already":      {[]string{"2026-10-27T09:00:00+01:00/2026-10-27T10:00:00+01:00"}, func(j *judge) { j.Times.Notice = 0 }, AskOwner, []Rule{RuleNotice}},
		"overlap": {[]string{tuesday}, func(j *judge) {
			j.Agreed = []calendar.Span{span("2026-11-03T10:59:59+01:00", "2026-11-03T12:00:00+01:00")}
		}, AskOwner, []Rule{RuleAgreed}},
		"side by side": {[]string{tuesday}, func(j *judge) {
			j.Agreed = []calendar.Span{span("2026-11-03T11:00:00+01:00", "2026-11-03T12:00:00+01:00")}
		}, Allow, nil},
		"busy": {[]string{tuesday}, func(j *judge) {
			j.Standing.Calendar = []calendar.Span{span("2026-11-03T10:30:00+01:00", "2026-11-03T10:31:00+01:00")}
		}, AskOwner, []Rule{RuleCalendar}},
		"calendar not read": {[]string{tuesday}, func(j *judge) { j.Times.Calendar = "x.ics" }, AskOwner, []Rule{RuleCalendar}},
		"calendar read":     {[]string{tuesday}, func(j *judge) { j.Times.Calendar, j.CalendarRead = "x.ics", true }, Allow, nil},
		"no hours set":      {[]string{tuesday}, func(j *judge) { j.Times = nil }, AskOwner, []Rule{RuleTimes}},
		"no zone set":       {[]string{"2026-11-03T17:00:00+01:00/2026-11-03T18:00:00+01:00"}, func(j *judge) { j.Zone = nil }, Allow, nil},
		"backwards":         {[]string{"2026-11-03T11:00:00+01:00/2026-11-03T10:00:00+01:00"}, nil, Refuse, []Rule{RuleMessage}},
		"no time":           {[]string{"tomorrow/2026-11-03T10:00:00+01:00"}, nil, Refuse, []Rule{RuleMessage}},
		"to a stranger":     {[]string{tuesday}, func(j *judge) { j.Standing.Known = false }, AskOwner, []Rule{RuleStranger}},
		"too many offers":   {[]string{tuesday}, func(j *judge) { j.Standing.OpenOffers = 5 }, AskOwner, []Rule{RuleOpenOffers}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, func(j *judge) {
				j.propose(c.slots...)
				if c.change != nil {
					c.change(j)
				}
			}, c.verdict, c.rules)
		})
	}
}

func expect(t *testing.T, change func(*judge), verdict Verdict, rules []Rule) {
	t.Helper()
	j := valid()
	change(j)
	d := Decide(j.Limits, j.Standing, j.Proposal)
	var got []Rule
	for _, f := range d.Findings {
		got = append(got, f.Rule)
		if f.Line == "" || strings.Contains(f.Line, "\n") || f.Verdict != d.Verdict {
			t.Errorf("finding %+v", f)
		}
	}
	if d.Verdict != verdict || rules != nil && !slices.Equal(got, rules) {
		t.Errorf("%s by %v, not %s by %v: %s", d.Verdict, got, verdict, rules, d.Line())
	}
}

// A decision has the numbers that made it, for a program and for a person.
func TestFindings(t *testing.T) {
	j := valid()
	j.Message.Total = eur("50001")
	j.Sums.Month = 190000
	d := Decide(j.Limits, j.Standing, j.Proposal)
	want := []Finding{
		{RuleDeal, AskOwner, 50001, 50000, "EUR", 0, "500.01 EUR is more than 500.00 EUR for one deal"},
		{RuleMonth, AskOwner, 240001, 200000, "EUR", 0, "2400.01 EUR is more than 2000.00 EUR in a month"},
	}
	if !slices.Equal(d.Findings, want) {
		t.Errorf("%+v", d.Findings)
	}
	if d.Line() != "the owner is asked: "+want[0].Line+"; "+want[1].Line {
		t.Error(d.Line())
	}

	for name, c := range map[string]struct {
		change func(*judge)
		want   Finding
	}{
		"price":   {func(j *judge) { j.Message.Items[0].UnitPrice = eur("249") }, Finding{RulePrice, AskOwner, 249, 250, "EUR", 1, "item 1 at 2.49 EUR is below the lowest price, 2.50 EUR"}},
		"unit":    {func(j *judge) { j.Message.Items[0].Unit, j.ListPrices[0] = "box", nil }, Finding{RulePrice, AskOwner, 0, 0, "", 1, "item 1 has a lowest price in EUR, and none for the unit that it is quoted in"}},
		"total":   {func(j *judge) { j.Message.Total = eur("25202") }, Finding{RulePrice, AskOwner, 25202, 25203, "EUR", 0, "the total at 252.02 EUR is below the lowest price, 252.03 EUR"}},
		"beyond":  {func(j *judge) { j.Message.Items[1].Quantity = 1e30 }, Finding{RulePrice, AskOwner, 25203, math.MaxInt64, "EUR", 0, "the total at 252.03 EUR is below the lowest price, 92233720368547758.07 EUR"}},
		"offers":  {func(j *judge) { j.Standing.OpenOffers = 5 }, Finding{RuleOpenOffers, AskOwner, 6, 5, "offers", 0, "6 is more than 5 offers open at once"}},
		"hourly":  {func(j *judge) { j.HourMessages = 10 }, Finding{RuleHourly, Refuse, 11, 10, "messages", 0, "11 is more than 10 messages in an hour"}},
		"notice":  {func(j *judge) { j.propose(tuesday); j.Now = now.Add(90 * time.Minute) }, Finding{RuleNotice, AskOwner, 84600, 86400, "s", 1, "slot 1 begins in 23h30m0s, less than 24h0m0s"}},
		"hours":   {func(j *judge) { j.propose(tuesday); j.Times.From = 36060 }, Finding{RuleHours, AskOwner, 0, 0, "", 1, "slot 1, 10:00 to 11:00, is not between 10:01 and 17:00"}},
		"past":    {func(j *judge) { j.propose(tuesday); j.Now = now.Add(26 * time.Hour) }, Finding{RuleNotice, AskOwner, -3600, 86400, "s", 1, "slot 1 begins in -3600 s, less than 24h0m0s"}},
		"address": {func(j *judge) { j.Block = []string{them} }, Finding{RuleBlock, Refuse, 0, 0, "", 0, "agent@buyer.test is blocked"}},
	} {
		j := valid()
		c.change(j)
		d := Decide(j.Limits, j.Standing, j.Proposal)
		if !slices.Contains(d.Findings, c.want) {
			t.Errorf("%s: %+v", name, d.Findings)
		}
	}
}

// No rule needs more of a message than that it is one: what a caller forgot
// to check is refused or asked, and nothing panics.
func TestEmptyMessages(t *testing.T) {
	for _, kind := range []intent.Type{intent.Quote, intent.ProposeTimes, intent.Accept} {
		if d := Decide(Limits{}, Standing{}, Proposal{Message: intent.Message{Type: kind}}); d.Verdict != Refuse {
			t.Errorf("%s: %s", kind, d.Line())
		}
	}
}

func TestAuthority(t *testing.T) {
	j := valid()
	version, err := j.Version([]byte("salt"))
	if err != nil {
		t.Fatal(err)
	}
	for verdict, want := range map[Verdict]*intent.Authority{
		Allow:    {DecidedBy: "limits", Level: "within_limits"},
		AskOwner: {DecidedBy: "owner"},
		Refuse:   nil,
	} {
		got := Decision{Verdict: verdict}.Authority(version)
		switch {
		case (got == nil) != (want == nil):
			t.Errorf("%s: %+v", verdict, got)
		case got == nil:
		case got.DecidedBy != want.DecidedBy || got.Level != want.Level || string(got.LimitsVersion) != `"`+version+`"`:
			t.Errorf("%s: %+v", verdict, got)
		}
	}
}
