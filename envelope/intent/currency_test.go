package intent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/currency"
	"pgregory.net/rapid"
)

func activeCodes() []string {
	return strings.Fields(strings.Join([]string{noDigits, twoDigits, threeDigits, fourDigits}, " "))
}

// The table against that of golang.org/x/text, which is of 2017. Where the
// two part is written out here, so that a new release of either is seen.
func TestCurrenciesAgainstLibrary(t *testing.T) {
	library := map[string]bool{}
	for it := currency.Query(currency.Date(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), currency.NonTender); it.Next(); {
		library[it.Unit().String()] = true
	}
	var ours, theirs []string
	for _, code := range activeCodes() {
		if !library[code] {
			ours = append(ours, code)
		}
	}
	for code := range library {
		if !ActiveCurrency(code) {
			theirs = append(theirs, code)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	since2017 := []string{"MRU", "SLE", "SVC", "UYW", "VED", "VES", "XCG", "ZWG"} // SVC: in ISO 4217, no longer used
	if diff := cmp.Diff(since2017, ours); diff != "" {
		t.Errorf("codes that only this table has: %s", diff)
	}
	// CNH is no ISO code, XTS and XXX are left out (D38), the others are gone.
	if diff := cmp.Diff([]string{"ANG", "BGN", "CNH", "CUC", "HRK", "MRO", "SLL", "VEF", "XTS", "XXX"}, theirs); diff != "" {
		t.Errorf("codes that only the library has: %s", diff)
	}
}

// The library counts the digits in use, ISO 4217 those that there are; where
// the two part, the first is the smaller.
func TestCurrencyDigitsAgainstLibrary(t *testing.T) {
	unused := "AFN ALL AMD COP GYD IDR IQD IRR KPW LAK LBP MGA MMK MNT MUR PKR RSD SOS SYP TZS UZS YER"
	noUnit := "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XUA" // metals and accounts
	differ := strings.Fields(unused + " " + noUnit)
	seen := 0
	for _, code := range activeCodes() {
		unit, err := currency.ParseISO(code)
		if err != nil {
			continue // newer than the library
		}
		seen++
		want, _ := currency.Standard.Rounding(unit)
		if got, _ := digits(code); (got != want) != slices.Contains(differ, code) {
			t.Errorf("%s has %d digits, in the library %d", code, got, want)
		}
	}
	if seen < 160 {
		t.Errorf("only %d codes compared", seen)
	}
}

func TestCurrencyTable(t *testing.T) {
	codes := activeCodes()
	slices.Sort(codes)
	if twice := len(codes) - len(slices.Compact(codes)); twice != 0 {
		t.Errorf("%d codes stand in two lists", twice)
	}
	for _, code := range []string{"", "E", "EUREUR", "eur", "XXX", "XTS", "DEM", "BGN", "F C", "R G", "€"} {
		if ActiveCurrency(code) {
			t.Errorf("%q is active", code)
		}
	}
}

func TestMoneyComesBack(t *testing.T) {
	codes := activeCodes()
	rapid.Check(t, func(t *rapid.T) {
		m := Money{rapid.StringMatching(`0|[1-9][0-9]{0,17}`).Draw(t, "amount"), rapid.SampledFrom(codes).Draw(t, "currency")}
		if got, err := ParseMoney(m.String()); err != nil || got != m {
			t.Errorf("%v is written %q and read as %v, %v", m.Amount, m, got, err)
		}
	})
}

func TestParseMoney(t *testing.T) {
	for in, want := range map[string]Money{
		"500.00 EUR":               {"50000", "EUR"},
		"500 EUR":                  {"50000", "EUR"},
		"0.5 EUR":                  {"50", "EUR"},
		" 0.05 EUR\n":              {"5", "EUR"},
		"0 EUR":                    {"0", "EUR"},
		"007.10 EUR":               {"710", "EUR"},
		"1500 JPY":                 {"1500", "JPY"},
		"1.001 KWD":                {"1001", "KWD"},
		"1.0001 CLF":               {"10001", "CLF"},
		"9999999999999999.99 EUR":  {"999999999999999999", "EUR"},
		"00000000000000000001 JPY": {"1", "JPY"},
	} {
		if got, err := ParseMoney(in); err != nil || got != want {
			t.Errorf("ParseMoney(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", " ", "EUR", "500", "500EUR", "EUR 500", "500 eur", "500 XXX", "500 DEM", "500 F C", "500  EUR", "500 EUR x", "-5 EUR", "+5 EUR",
		"5,00 EUR", "1'000 EUR", "5.001 EUR", "1.5 JPY", ".5 EUR", " .EUR", ". EUR", "1e3 EUR", "1.2.3 KWD", "0x5 EUR", "٣ EUR", "10000000000000000.00 EUR",
	} {
		if got, err := ParseMoney(in); err == nil || got != (Money{}) {
			t.Errorf("ParseMoney(%q) = %v, %v; want an error", in, got, err)
		}
	}
}

func ExampleParseMoney() {
	m, err := ParseMoney("500.00 EUR")
	fmt.Println(m.Amount, m.Currency, err)
	_, err = ParseMoney("1.50 JPY")
	fmt.Println(err)
	// Output:
	// 50000 EUR <nil>
	// JPY has 0 decimals at most
}
