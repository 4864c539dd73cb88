package intent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The active codes of ISO 4217 as of 2026, by the number of digits of the
// minor unit. golang.org/x/text/currency was to supply them; its table dates
// from 2017, lacks eight codes that are in use (SLE, ZWG, VES …) and has seven
// that are not (D64). The tests hold this table against it.
const (
	noDigits    = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XUA"
	threeDigits = "BHD IQD JOD KWD LYD OMR TND"
	fourDigits  = "CLF UYW"
	twoDigits   = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK " +
		"DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL " +
		"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD " +
		"SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
)

// ActiveCurrency tells whether code is an active ISO 4217 code, XXX (no
// currency) and XTS (testing) left out (D38).
func ActiveCurrency(code string) bool {
	_, ok := digits(code)
	return ok
}

// digits is the number of decimal digits of a currency's minor unit.
func digits(code string) (int, bool) {
	for n, codes := range []string{noDigits, "", twoDigits, threeDigits, fourDigits} {
		if slices.Contains(strings.Fields(codes), code) {
			return n, true
		}
	}
	return 0, false
}

// String writes an amount in major units with its currency, as in "1250.00 EUR".
func (m Money) String() string {
	n, _ := digits(m.Currency)
	amount := m.Amount
	if n > 0 {
		if pad := n + 1 - len(amount); pad > 0 {
			amount = strings.Repeat("0", pad) + amount
		}
		point := len(amount) - n
		amount = amount[:point] + "." + amount[point:]
	}
	return amount + " " + m.Currency
}

// ParseMoney reads an amount in major units with its currency, as String
// writes it: at most as many decimals as the currency's minor unit has.
func ParseMoney(s string) (Money, error) {
	amount, currency, two := strings.Cut(strings.TrimSpace(s), " ")
	if !two {
		return Money{}, errors.New("it is not of the form AMOUNT CURRENCY, as in 500.00 EUR")
	}
	n, ok := digits(currency)
	if !ok {
		return Money{}, fmt.Errorf("%q is no active ISO 4217 currency: it must be one such as EUR, in capitals, as in 500.00 EUR", currency)
	}
	whole, decimals, point := strings.Cut(amount, ".")
	if len(decimals) > n {
		return Money{}, fmt.Errorf("%s has %d decimals at most", currency, n)
	}
	minor := strings.TrimLeft(whole+decimals+strings.Repeat("0", n-len(decimals)), "0")
	if minor == "" && whole != "" {
		minor = "0"
	}
	if whole == "" || point && decimals == "" || len(minor) > 18 || strings.Trim(whole+decimals, "0123456789") != "" {
		return Money{}, errors.New("the amount is not of the form 500.00, with at most 18 digits")
	}
	return Money{minor, currency}, nil
}
