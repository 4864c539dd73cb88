package dkim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxAhead is how far t= may lie in the future of the arrival, in seconds: the
// two clocks are not one (D22).
const maxAhead = 300

// signature is one DKIM-Signature field, read (RFC 6376 §3.5).
type signature struct {
	field            field
	algorithm        string // "rsa" or "ed25519": the key type that fits
	header, body     canonicalization
	domain, selector string // d= and s=, lower case
	identity         string // the domain of i=, lower case
	names            []string
	bodyHash, value  []byte
	made, expires    int64 // Unix seconds, 0 and the last second of all where absent
	start, end       int   // field.value[start:end] is the value of b=
}

// parseSignature reads f and refuses what no reader may accept. It does not
// judge domain or time.
func parseSignature(f field) (*signature, error) {
	tags, err := parseTags(string(f.value))
	if err != nil {
		return nil, err
	}
	s := &signature{field: f}
	for _, read := range []func(tagList) error{
		s.readForm, s.readNames, s.readSigner, s.readTimes, s.readHashes,
	} {
		if err := read(tags); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readForm reads how the signature was made: v=, a=, c=, q=, and no l=.
func (s *signature) readForm(tags tagList) error {
	if v, _ := tags.get("v"); v != "1" {
		return fmt.Errorf("v=%s is no known version", v)
	}
	// RFC 8301 §3.1: rsa-sha1 is broken and must not verify.
	switch a, _ := tags.get("a"); strings.ToLower(a) {
	case "rsa-sha256":
		s.algorithm = "rsa"
	case "ed25519-sha256": // RFC 8463 §3
		s.algorithm = "ed25519"
	default:
		return fmt.Errorf("a=%s is no accepted algorithm", a)
	}
	// D22: behind the signed length anyone appends parts.
	if _, limited := tags.get("l"); limited {
		return errors.New("l= leaves the end of the body unsigned")
	}
	if !tags.has("q", "dns/txt") {
		return errors.New("q= names no known way to the key")
	}
	form, found := tags.get("c")
	if !found {
		form = "simple/simple"
	}
	var err error
	s.header, s.body, err = parseCanonicalization(form)
	return err
}

// readNames reads h=, which must name From (RFC 6376 §5.4).
func (s *signature) readNames(tags tagList) error {
	value, _ := tags.get("h")
	s.names = splitList(value)
	from := false
	for _, name := range s.names {
		if !isFieldName(name) {
			return errors.New("h= is no list of field names")
		}
		from = from || name == "from"
	}
	if !from {
		return errors.New("h= does not cover From")
	}
	return nil
}

// readSigner reads d=, s= and i=. A name that is no plain host name is never
// asked for: with d= empty the key would come from "_domainkey." itself, and a
// quote or parenthesis makes the next reader see another domain.
func (s *signature) readSigner(tags tagList) error {
	domain, _ := tags.get("d")
	selector, _ := tags.get("s")
	s.domain, s.selector = strings.ToLower(domain), strings.ToLower(selector)
	if !isName(s.domain, false) || !isName(s.selector, false) || !isName(s.keyName(), true) {
		return errors.New("d= and s= are no plain names")
	}
	identity, found := tags.get("i")
	if !found {
		identity = "@" + domain // RFC 6376 §3.5, i=
	}
	at := strings.LastIndexByte(identity, '@')
	s.identity = strings.ToLower(identity[at+1:])
	if at < 0 || !within(identity[at+1:], domain) { // D68: as written, since verifiers differ about letter case
		return errors.New("i= is not within d=")
	}
	return nil
}

// readTimes reads t= and x= (RFC 6376 §3.5).
func (s *signature) readTimes(tags tagList) (err error) {
	if s.made, err = readTime(tags, "t", 0); err != nil {
		return err
	}
	if s.expires, err = readTime(tags, "x", math.MaxInt64); err != nil {
		return err
	}
	if s.expires <= s.made {
		return errors.New("x= is not after t=")
	}
	return nil
}

// readTime reads Unix seconds, of at most 12 digits.
func readTime(tags tagList, name string, absent int64) (int64, error) {
	value, found := tags.get(name)
	if !found {
		return absent, nil
	}
	seconds, err := strconv.ParseUint(value, 10, 63)
	if err != nil || len(value) > 12 {
		return 0, fmt.Errorf("%s= is no time", name)
	}
	return int64(seconds), nil
}

// readHashes reads bh= and b=.
func (s *signature) readHashes(tags tagList) error {
	for _, t := range tags {
		var err error
		switch t.name {
		case "b":
			s.start, s.end = t.start, t.end
			s.value, err = decodeBase64(t.value)
		case "bh":
			s.bodyHash, err = decodeBase64(t.value)
		}
		if err != nil {
			return fmt.Errorf("%s= is no base64", t.name)
		}
	}
	if len(s.value) == 0 || len(s.bodyHash) != sha256.Size {
		return errors.New("b= or bh= is missing or of the wrong length")
	}
	return nil
}

// keyName is where the key record stands (RFC 6376 §3.6.2.1).
func (s *signature) keyName() string {
	return s.selector + "._domainkey." + s.domain
}

// usable judges what needs no key: a mail that fails here causes no lookups.
func (s *signature) usable(c *Checker, m *message, from string, arrival time.Time) error {
	now := arrival.Unix()
	switch {
	case !Aligned(s.domain, from, c.Strict): // D21
		return fmt.Errorf("it does not speak for %s", from)
	case s.made > now+maxAhead: // D22, t=
		return errors.New("it was made in the future")
	case s.expires < now: // D22, x=; at the arrival, so that downtime expires nothing
		return errors.New("it had expired when the mail arrived")
	}
	if err := m.fixed(s.names); err != nil { // D23
		return err
	}
	if string(m.bodyHash(s.body)) != string(s.bodyHash) {
		return errors.New("the body was changed after signing")
	}
	return nil
}

// digest is the hash that was signed (RFC 6376 §3.7).
func (s *signature) digest(m *message) [sha256.Size]byte {
	prefix := len(s.field.name) + 1
	own := field{name: s.field.name}
	own.raw = append(own.raw, s.field.raw[:prefix+s.start]...)
	own.raw = append(own.raw, s.field.raw[prefix+s.end:]...)
	own.value = own.raw[prefix : len(own.raw)-len(crlf)]
	return m.headerHash(s.header, s.names, own)
}
