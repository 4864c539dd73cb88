// Package pricelist quotes from a list: what an owner would answer without
// thinking. It reads a TOML file and is otherwise pure.
package pricelist

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/plainfile"
	"github.com/pelletier/go-toml/v2"
)

// Bounds of a list.
const (
	maxFile  = 4 << 20 // bytes
	maxItems = 10000
)

// maxValid is the longest validity of a quote (D71).
const maxValid = 366 * 24 * time.Hour

// List is a price list that was read.
type List struct {
	currency string
	valid    time.Duration
	note     string
	byName   map[string]*item // by folded name and alias
}

// item is what is sold, with its terms.
type item struct {
	unitPrice    intent.Money
	units        map[string]bool // folded; empty: only asks without one are quoted
	least        float64
	deliveryDays int
}

// file is the TOML file. docs/pricelist.md describes each key.
type file struct {
	Currency     string     `toml:"currency"`
	Valid        string     `toml:"valid"`
	DeliveryDays int        `toml:"delivery_days"`
	Note         string     `toml:"note"`
	Items        []fileItem `toml:"item"`
}

type fileItem struct {
	Name         string   `toml:"name"`
	Aliases      []string `toml:"aliases"`
	Units        []string `toml:"units"`
	Price        string   `toml:"price"`
	Least        float64  `toml:"least"`
	DeliveryDays *int     `toml:"delivery_days"`
}

// Load reads a list. Errors name the file, and the line or the item.
func Load(path string) (*List, error) {
	data, _, err := plainfile.Read(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("reading the price list %s: %w", path, err)
	}
	l, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	return l, nil
}

// parse reads the file's text. Its errors begin with ":line: " or ": ".
func parse(data []byte) (*List, error) {
	var f file
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f)
	unknown := new(toml.StrictMissingError)
	if errors.As(err, &unknown) {
		line, _ := unknown.Errors[0].Position()
		return nil, fmt.Errorf(":%d: %s: unknown key", line, strings.Join(unknown.Errors[0].Key(), "."))
	}
	wrong := new(toml.DecodeError)
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return nil, fmt.Errorf(":%d: %s", line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	l, err := f.list()
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return l, nil
}

// list checks the file and indexes its items.
func (f *file) list() (*List, error) {
	l := &List{currency: f.Currency, valid: 7 * 24 * time.Hour, note: f.Note, byName: map[string]*item{}}
	if !intent.ActiveCurrency(f.Currency) {
		return nil, fmt.Errorf("currency: must be an ISO 4217 code, is %q", f.Currency)
	}
	if f.Valid != "" {
		var err error
		if l.valid, err = time.ParseDuration(f.Valid); err != nil || l.valid < time.Minute || l.valid > maxValid {
			return nil, fmt.Errorf("valid: must be a duration from 1m to 8784h (366 days), as in 168h, is %q", f.Valid)
		}
	}
	if f.DeliveryDays < 0 {
		return nil, errors.New("delivery_days: must not be negative")
	}
	if len(f.Items) == 0 || len(f.Items) > maxItems {
		return nil, fmt.Errorf("item: there must be 1 to %d, there are %d", maxItems, len(f.Items))
	}
	for i, fi := range f.Items {
		if err := l.add(fi, f.DeliveryDays); err != nil {
			return nil, fmt.Errorf("item %d (%q): %w", i+1, fi.Name, err)
		}
	}
	return l, nil
}

func (l *List) add(fi fileItem, days int) error {
	price, err := intent.ParseMoney(fi.Price + " " + l.currency)
	if err != nil {
		return fmt.Errorf("price: must be an amount of %s for one unit, is %q", l.currency, fi.Price)
	}
	it := &item{unitPrice: price, units: map[string]bool{}, least: fi.Least, deliveryDays: days}
	if fi.DeliveryDays != nil {
		it.deliveryDays = *fi.DeliveryDays
	}
	if it.least < 0 || it.deliveryDays < 0 {
		return errors.New("least and delivery_days must not be negative")
	}
	for _, u := range fi.Units {
		it.units[fold(u)] = true
	}
	for _, name := range append([]string{fi.Name}, fi.Aliases...) {
		key := fold(name)
		if key == "" {
			return errors.New("name: must not be empty, and no alias either")
		}
		if _, taken := l.byName[key]; taken {
			return fmt.Errorf("the name %q stands twice in the list", name)
		}
		l.byName[key] = it
	}
	return nil
}

// fold makes names equal that differ in letter case and white space only.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
