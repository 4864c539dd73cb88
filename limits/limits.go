// Package limits says what an agent may do without its owner: it holds a
// message that the agent wants to send against the owner's limits, and allows
// it, has the owner asked, or refuses it, with the rule and the numbers that
// decided. It is pure: what the store and the clock know comes in as values.
//
// What the limits say nothing of is asked (D141): a currency without amounts,
// a quote without prices, times without hours.
package limits

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
)

// Auto says whether an agent may do anything without its owner.
type Auto string

// The two settings. The zero Auto is None.
const (
	None         Auto = "none"          // the owner decides everything
	WithinLimits Auto = "within_limits" // and here what is beyond the limits
)

// Limits are what the owner of an inbox has set. The zero value has the owner
// asked about everything; Table.Limits makes those of a configuration.
type Limits struct {
	Auto           Auto               `json:"auto"`
	Zone           *time.Location     `json:"-"` // of days, months and hours; nil means UTC
	AllowUnsigned  bool               `json:"allow_unsigned"`
	Allow          []string           `json:"allow"` // addresses, domains and Known, in comparable form; empty: everybody
	Block          []string           `json:"block"` // addresses and domains, each with what is below it
	Money          map[string]Amounts `json:"money"` // by ISO 4217 code
	Quote          *Quote             `json:"quote"` // nil: quotes are asked
	Times          *Times             `json:"times"` // nil: times are asked
	OpenOffers     int                `json:"open_offers"`
	HourlyMessages int                `json:"hourly_messages"`
}

// Known in an allow list stands for all counterparts with whom something was
// agreed before.
const Known = "known"

// Amounts limit the deals of one currency, bought and sold together (D142), in
// minor units. Nil sets no limit.
type Amounts struct {
	Deal           int64  `json:"deal"`            // most for one deal
	CounterpartDay *int64 `json:"counterpart_day"` // most with one address in a day
	Month          *int64 `json:"month"`           // most with all in a month
}

// Quote limits the prices of own quotes. An item needs a lowest price, by name
// or from the price list; where it has both, the higher one counts.
type Quote struct {
	MostDiscount int      `json:"most_discount"` // percent off the price list, 0 to 100
	Lowest       []Lowest `json:"lowest"`
}

// Lowest is the lowest price of one item.
type Lowest struct {
	Name     string `json:"name"` // folded: letter case and white space do not count
	Unit     string `json:"unit"` // folded; empty: for items that are quoted without one
	Price    int64  `json:"price"`
	Currency string `json:"currency"`
}

// Times limits the slots of own proposals and accepts. A slot lies on one day.
type Times struct {
	Days     []time.Weekday `json:"days"`
	From     int            `json:"from"`     // seconds of the day
	Until    int            `json:"until"`    // seconds of the day, up to 86400
	Notice   int64          `json:"notice"`   // seconds from now to the begin of a slot, at least
	Calendar string         `json:"calendar"` // path of an iCalendar file; empty: none
}

// zone is the zone of days and hours.
func (l *Limits) zone() *time.Location {
	if l.Zone == nil {
		return time.UTC
	}
	return l.Zone
}

// Version names these limits in messages: it differs where they differ. Salt
// is a secret of the inbox: a counterpart that sees the version could
// otherwise try amounts until one gives it, and know how far the agent goes (D146).
func (l *Limits) Version(salt []byte) (string, error) {
	text, err := canon.Marshal(struct {
		*Limits
		Zone string `json:"zone"`
	}{l, l.zone().String()})
	if err != nil {
		return "", fmt.Errorf("naming a version of the limits: %w", err)
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil)[:versionSize]), nil
}

// versionSize is the length of a version in bytes, before it is written in hex.
const versionSize = 8
