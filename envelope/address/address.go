// Package address reads email addresses in the one form this profile allows,
// so that two addresses are equal exactly when their strings are (D9).
package address

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/idna"
)

// ErrInvalid is wrapped by every refusal of Parse.
var ErrInvalid = errors.New("not a plain email address")

const (
	maxAddress = 254 // RFC 5321 §4.5.3.1.3, less the angle brackets
	maxLocal   = 64  // RFC 5321 §4.5.3.1.1
	maxLabel   = 63  // RFC 1035 §2.3.4
)

// Parse returns the comparable form of an address: the local part as it
// stands, the domain in lower-case A-labels. Display names, comments, quoted
// local parts, literals, a trailing dot and local parts outside ASCII are
// refused with ErrInvalid.
func Parse(s string) (string, error) {
	if len(s) > maxAddress {
		return "", fmt.Errorf("%w: longer than %d bytes", ErrInvalid, maxAddress)
	}
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return "", fmt.Errorf("%w: no @", ErrInvalid)
	}
	local := s[:at]
	if len(local) > maxLocal || !dotAtom(local) {
		return "", fmt.Errorf("%w: local part is no ASCII dot-atom of at most %d bytes", ErrInvalid, maxLocal)
	}
	domain, err := Domain(s[at+1:])
	if err != nil {
		return "", err
	}
	if len(local)+1+len(domain) > maxAddress {
		return "", fmt.Errorf("%w: longer than %d bytes", ErrInvalid, maxAddress)
	}
	return local + "@" + domain, nil
}

// Domain returns a host name in lower-case A-labels, or ErrInvalid.
func Domain(s string) (string, error) {
	labels, domain := strings.Split(s, "."), s
	changed := false // few are
	for i, label := range labels {
		mapped, err := toALabel(label)
		if err != nil {
			return "", err
		}
		changed = changed || mapped != label
		labels[i] = mapped
	}
	if changed {
		domain = strings.Join(labels, ".")
	}
	if len(domain) > 253 {
		return "", fmt.Errorf("%w: domain longer than 253 bytes", ErrInvalid)
	}
	return domain, nil
}

func toALabel(label string) (string, error) {
	if isASCII(label) {
		label = strings.ToLower(label)
		if !ldh(label) {
			return "", fmt.Errorf("%w: a domain is made of letters, digits and hyphens", ErrInvalid)
		}
		return label, nil
	}
	// A label that maps to plain ASCII is a disguise (full-width letters, an
	// ideographic dot, a zero-width space), not an international name.
	mapped, err := idna.Lookup.ToASCII(label)
	if err != nil || !strings.HasPrefix(mapped, "xn--") || !ldh(mapped) {
		return "", fmt.Errorf("%w: the domain is no international domain name", ErrInvalid)
	}
	return mapped, nil
}

// Of is the domain of an address that Parse returned.
func Of(parsed string) string {
	return parsed[strings.LastIndexByte(parsed, '@')+1:]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func ldh(label string) bool {
	if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		if c := label[i]; !lowerAlnum(c) && c != '-' {
			return false
		}
	}
	return true
}

func lowerAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// dotAtom is RFC 5322 §3.2.3, ASCII only.
func dotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			if c := atom[i]; !lowerAlnum(c) && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", rune(c)) {
				return false
			}
		}
	}
	return true
}
