package dkim

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Aligned tells whether a mail signed by domain d may speak for an address at
// domain from (both lower-case A-labels; other case is folded). Relaxed: both
// belong to the same organisation, as the public suffix list cuts it, private
// suffixes included (D21, D41, RFC 7489 §3.1.1). Strict: they are equal. A d
// that is empty, no plain host name or itself a public suffix aligns with
// nothing.
func Aligned(d, from string, strict bool) bool {
	d, from = strings.ToLower(d), strings.ToLower(from)
	if !isName(d, false) || !isName(from, false) {
		return false
	}
	// Everybody can register below a public suffix, so its key proves nothing.
	organisation, err := publicsuffix.EffectiveTLDPlusOne(d)
	if err != nil {
		return false
	}
	if strict {
		return d == from
	}
	// Whole labels are compared: notbuyer.test ends in buyer.test as a string.
	other, err := publicsuffix.EffectiveTLDPlusOne(from)
	return err == nil && organisation == other
}

// within tells whether name is domain or one of its subdomains; both are lower
// case.
func within(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// isName tells whether name is a plain host name: labels of letters, digits
// and inner hyphens (RFC 1123 §2.1) of at most 63 bytes, 253 in all, no dot at
// the end. Underscores are for names of records, such as _domainkey.
func isName(name string, underscore bool) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			b := label[i]
			alnum := b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
			if !alnum && b != '-' && (b != '_' || !underscore) {
				return false
			}
		}
	}
	return true
}
