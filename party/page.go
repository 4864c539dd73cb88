package party

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

const (
	pageProfile = "agent-agreement-keys/1"
	maxPage     = 64 << 10     // bytes of a key page
	maxKeys     = 100          // keys on a page; each one costs a thumbprint
	maxTime     = 253402300799 // the last second of the year 9999
	maxDepth    = 16           // levels of nesting (D131)
)

// ErrNoPage says that there is no usable key page, for good: it is not there, has moved, is too large, is not what a key
// page must be, or is another party's (D44).
var ErrNoPage = errors.New("no usable key page")

// ErrTemporary says that a key page or a DNS record could not be looked at for now.
var ErrTemporary = errors.New("cannot be reached for now")

// Key is a public key that a party has published. Times are Unix seconds, 0 where not set.
type Key struct {
	Public    ed25519.PublicKey
	Kid       string // RFC 7638 thumbprint of Public
	CreatedAt int64  // always set
	RetiredAt int64
	RevokedAt int64
}

// Page is what a key page says (D24). Only Party has been compared with anything; the rest is the word of the host.
type Page struct {
	Party     string
	OrgName   string // text from outside, as long as the page allows
	Addresses []string
	Domains   []string
	Keys      []Key // those that can be used, in the order of the page
}

type pageJSON struct {
	Profile   string           `json:"profile"`
	Party     string           `json:"party"`
	OrgName   string           `json:"org_name"`
	Addresses []string         `json:"addresses"`
	Domains   []string         `json:"domains"`
	Keys      []jsontext.Value `json:"keys"`
}

type keyJSON struct {
	Kty       string         `json:"kty"`
	Crv       string         `json:"crv"`
	X         string         `json:"x"`
	D         jsontext.Value `json:"d,omitzero"`
	Kid       string         `json:"kid"`
	Use       *string        `json:"use,omitzero"`
	KeyOps    []string       `json:"key_ops,omitzero"`
	Alg       *string        `json:"alg,omitzero"`
	CreatedAt *int64         `json:"created_at"`
	RetiredAt *int64         `json:"retired_at,omitzero"`
	RevokedAt *int64         `json:"revoked_at,omitzero"`
}

// ParsePage reads the key page of the given party: at most 64 KiB and 100 keys, strict JSON as a message is (D131). Unknown
// members are ignored. A key that cannot be used is passed over and the others count (D44, D55). Every error wraps
// ErrNoPage.
func ParsePage(data []byte, party string) (*Page, error) {
	if len(data) > maxPage {
		return nil, fmt.Errorf("%w: over %d bytes", ErrNoPage, maxPage)
	}
	if _, err := canon.Strict(data, maxDepth); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	var p pageJSON
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	switch {
	case p.Profile != pageProfile:
		return nil, fmt.Errorf("%w: profile is not %s", ErrNoPage, pageProfile)
	case p.Party != party: // one customer of a trusted host speaking for another
		return nil, fmt.Errorf("%w: of another party", ErrNoPage)
	case len(p.Keys) > maxKeys:
		return nil, fmt.Errorf("%w: over %d keys", ErrNoPage, maxKeys)
	}
	return &Page{
		Party: p.Party, OrgName: p.OrgName, Addresses: p.Addresses, Domains: p.Domains,
		Keys: usableKeys(p.Keys),
	}, nil
}

func usableKeys(values []jsontext.Value) []Key {
	times := make(map[string]int)
	for _, v := range values {
		times[kidOf(v)]++
	}
	var keys []Key
	for _, v := range values {
		// D55: with a kid on two keys, two readers could take two different times of revocation.
		if key, ok := parseKey(v); ok && times[key.Kid] == 1 {
			keys = append(keys, key)
		}
	}
	return keys
}

// kidOf is the kid of a key of which nothing else needs to be right.
func kidOf(v jsontext.Value) string {
	var k struct {
		Kid string `json:"kid"`
	}
	if json.Unmarshal(v, &k) != nil {
		return ""
	}
	return k.Kid
}

// parseKey reads one key, and reports whether it may be used to check signatures.
func parseKey(v jsontext.Value) (Key, bool) {
	var k keyJSON
	if json.Unmarshal(v, &k) != nil || k.Kty != "OKP" || k.Crv != "Ed25519" || !forSigning(k) {
		return Key{}, false
	}
	pub, err := jws.PublicKey(k.X) // D44: a signature by a small-order key proves nothing
	if err != nil || jws.Thumbprint(pub) != k.Kid {
		return Key{}, false
	}
	key := Key{Public: pub, Kid: k.Kid}
	ok := readTime(&key.CreatedAt, k.CreatedAt) && readTime(&key.RetiredAt, k.RetiredAt) && readTime(&key.RevokedAt, k.RevokedAt)
	return key, ok && key.CreatedAt != 0 // D55
}

// forSigning reports whether a key is meant for signatures and its private part is not given away. D55
func forSigning(k keyJSON) bool {
	return len(k.D) == 0 &&
		(k.Use == nil || *k.Use == "sig") &&
		(k.KeyOps == nil || slices.Contains(k.KeyOps, "verify")) &&
		(k.Alg == nil || *k.Alg == "EdDSA" || *k.Alg == "Ed25519")
}

// readTime copies a time that is set. One that is no time must not read as "not revoked".
func readTime(to, from *int64) bool {
	if from == nil {
		return true
	}
	*to = *from
	return 0 < *from && *from <= maxTime
}

// Key returns the key named kid.
func (p *Page) Key(kid string) (Key, bool) {
	for _, k := range p.Keys {
		if k.Kid == kid {
			return k, true
		}
	}
	return Key{}, false
}

// Lists reports whether the page names the email address, or its whole domain, each in the comparable form of D9.
func (p *Page) Lists(sender string) bool {
	sender, err := address.Parse(sender)
	if err != nil {
		return false
	}
	for _, a := range p.Addresses {
		if listed, err := address.Parse(a); err == nil && listed == sender {
			return true
		}
	}
	for _, d := range p.Domains {
		if listed, err := address.Domain(d); err == nil && listed == address.Of(sender) {
			return true
		}
	}
	return false
}
