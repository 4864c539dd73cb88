package intent

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must be the same on every machine

	"github.com/agentmaild/agentmaild/envelope/address"
)

// check holds a message against the rules that its schema cannot state.
func (m *Message) check() error {
	for _, rule := range []func(*Message) error{checkAddresses, checkTimes, checkCard, checkItems, checkSlots} {
		if err := rule(m); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return nil
}

// checkAddresses brings the addresses into their comparable form (D9). The
// canonical bytes keep the spelling of the sender.
func checkAddresses(m *Message) error {
	for _, a := range []struct {
		name string
		at   *string
	}{{"from.address", &m.From.Address}, {"to.address", &m.To.Address}, {"acting_for.contact", &m.ActingFor.Contact}} {
		parsed, err := address.Parse(*a.at)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		*a.at = parsed
	}
	return nil
}

func checkTimes(m *Message) error {
	if m.Exp <= m.Iat {
		return fmt.Errorf("exp: must be after iat")
	}
	for name, date := range map[string]string{"wanted_by": m.WantedBy, "delivery_by": m.DeliveryBy} {
		if date == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			return fmt.Errorf("%s: must be a day of the calendar", name)
		}
	}
	return nil
}

func checkCard(m *Message) error {
	if m.From.Card == "" {
		return nil
	}
	u, err := url.Parse(m.From.Card)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("from.card: must be an https address")
	}
	return nil
}

func checkItems(m *Message) error {
	if m.Total != nil && !ActiveCurrency(m.Total.Currency) {
		return fmt.Errorf("total.currency: must be an active ISO 4217 code, as in EUR")
	}
	for i, item := range m.Items {
		text := strconv.FormatFloat(item.Quantity, 'f', -1, 64)
		if _, decimals, _ := strings.Cut(text, "."); len(decimals) > 6 {
			return fmt.Errorf("items[%d].quantity: must have at most 6 decimal places", i) // D8
		}
		if p := item.UnitPrice; p != nil && m.Total != nil && p.Currency != m.Total.Currency {
			return fmt.Errorf("items[%d].unit_price.currency: must be that of the total, %s", i, m.Total.Currency) // D38
		}
	}
	return nil
}

func checkSlots(m *Message) error {
	for i, slot := range m.Slots {
		start, end, err := slot.Times()
		if err != nil {
			return fmt.Errorf("slots[%d].%w", i, err)
		}
		if !end.After(start) {
			return fmt.Errorf("slots[%d].end: must be after start", i)
		}
		if _, err := slot.Zone(); err != nil {
			return fmt.Errorf("slots[%d].%w", i, err)
		}
	}
	return nil
}

// Times are the moments a slot starts and ends. The offset need not fit the
// zone (D38).
func (s Slot) Times() (start, end time.Time, err error) {
	if start, err = parseTime(s.Start); err != nil {
		return start, end, fmt.Errorf("start: must be a time of the calendar")
	}
	if end, err = parseTime(s.End); err != nil {
		return start, end, fmt.Errorf("end: must be a time of the calendar")
	}
	return start, end, nil
}

// Zone loads the slot's time zone. The schema keeps out what only some
// machines can load (posix/…, right/…, localtime).
func (s Slot) Zone() (*time.Location, error) {
	if s.TimeZone == "Local" {
		return nil, fmt.Errorf("time_zone: must be a name of the tz database, as in Europe/Berlin")
	}
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("time_zone: must be a name of the tz database, as in Europe/Berlin")
	}
	return zone, nil
}

// parseTime reads RFC 3339 with t and z in any case (D38); the schema has
// already checked the form.
func parseTime(s string) (time.Time, error) {
	return time.Parse(time.RFC3339, strings.ToUpper(s))
}
