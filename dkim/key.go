package dkim

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Bounds on keys. A larger RSA key only costs the verifier: one of 65 536 bits
// takes a third of a second for each signature that names it (D22, D41).
const (
	maxKeyRecord = 2048 // characters
	minRSABits   = 1024
	maxRSABits   = 4096
)

// publicKey is one key record, read (RFC 6376 §3.6.1).
type publicKey struct {
	algorithm string // "rsa" or "ed25519"
	key       crypto.PublicKey
	strict    bool // t=s: i= must have the domain d=, no subdomain
}

// parseKey reads a key record and refuses one that may not vouch for email.
// Unknown tags are ignored.
func parseKey(record string) (*publicKey, error) {
	if len(record) > maxKeyRecord {
		return nil, fmt.Errorf("the key record is over %d characters", maxKeyRecord) // D41
	}
	tags, err := parseTags(record)
	if err != nil {
		return nil, fmt.Errorf("the key record: %w", err)
	}
	if err := mayVouch(tags); err != nil {
		return nil, err
	}
	k := &publicKey{algorithm: "rsa"}
	if named, found := tags.get("k"); found {
		k.algorithm = strings.ToLower(named)
	}
	if flags, found := tags.get("t"); found {
		for _, flag := range splitList(flags) {
			// D22, t=y: the domain is trying DKIM out and vouches for nothing.
			if flag == "y" {
				return nil, errors.New("the key is in test mode")
			}
			k.strict = k.strict || flag == "s"
		}
	}
	value, _ := tags.get("p")
	der, err := decodeBase64(value)
	if err != nil {
		return nil, errors.New("p= is no base64")
	}
	if len(der) == 0 {
		return nil, errors.New("the key is revoked")
	}
	k.key, err = decodeKey(k.algorithm, der)
	return k, err
}

// mayVouch checks the tags that say what the record is for.
func mayVouch(tags tagList) error {
	if v, found := tags.get("v"); found && (v != "DKIM1" || tags[0].name != "v") {
		return errors.New("the record at the selector is no DKIM1 key")
	}
	if !tags.has("h", "sha256") {
		return errors.New("the key is not for sha256")
	}
	if !tags.has("s", "*", "email") {
		return errors.New("the key is not for email")
	}
	// RFC 4871 §3.6.1, g=: it bound a key to one local part. Obsolete, but where
	// it stands its owner meant that limit.
	if !tags.has("g", "*") {
		return errors.New("the key is for certain local parts only")
	}
	return nil
}

// decodeKey reads the bytes of p=.
func decodeKey(algorithm string, der []byte) (crypto.PublicKey, error) {
	switch algorithm {
	case "rsa":
		key, err := decodeRSA(der)
		if err != nil {
			return nil, err
		}
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits { // D22
			return nil, fmt.Errorf("an RSA key of %d bits", bits)
		}
		return key, nil
	case "ed25519": // RFC 8463 §4.2: the bare 32 bytes
		if len(der) != ed25519.PublicKeySize || smallOrder(der) {
			return nil, errors.New("p= is no Ed25519 key")
		}
		return ed25519.PublicKey(der), nil
	}
	return nil, fmt.Errorf("k=%s is no known key type", algorithm)
}

// decodeRSA takes both forms in use: SubjectPublicKeyInfo, as in the examples
// of RFC 6376, and the bare RSAPublicKey of its text (§3.6.1, p=).
func decodeRSA(der []byte) (*rsa.PublicKey, error) {
	if key, err := x509.ParsePKIXPublicKey(der); err == nil {
		if key, ok := key.(*rsa.PublicKey); ok {
			return key, nil
		}
		return nil, errors.New("p= is no RSA key")
	}
	key, err := x509.ParsePKCS1PublicKey(der)
	if err != nil {
		return nil, errors.New("p= is no RSA key")
	}
	return key, nil
}

// smallOrder tells whether an Ed25519 key is one of the points of order 1, 2,
// 4 or 8, in any encoding. crypto/ed25519 accepts them, and with such a key
// signatures verify that nobody made.
func smallOrder(key []byte) bool {
	y := [ed25519.PublicKeySize]byte(key)
	y[31] &= 0x7f // the sign of x
	switch hex.EncodeToString(y[:]) {
	case "0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f":
		return true
	}
	return false
}

// verify checks a signature's value against the hash that was signed.
func (k *publicKey) verify(s *signature, digest [sha256.Size]byte) error {
	if k.algorithm != s.algorithm {
		return errors.New("a= does not fit the type of the key")
	}
	// RFC 6376 §3.6.1, t=s.
	if k.strict && s.identity != s.domain {
		return errors.New("the key does not allow i= in a subdomain")
	}
	valid := false
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		valid = rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], s.value) == nil
	case ed25519.PublicKey: // RFC 8463 §3: the hash is what is signed
		valid = ed25519.Verify(key, digest[:], s.value)
	}
	if !valid {
		return errors.New("the header was changed, or another key signed it")
	}
	return nil
}

// KeyRecord is the TXT record to publish for a public key, at
// selector._domainkey.domain (RFC 6376 §3.6.1, RFC 8463 §4.2). It is empty for a
// key that is neither RSA nor Ed25519.
func KeyRecord(pub crypto.PublicKey) string {
	switch key := pub.(type) {
	case *rsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			return ""
		}
		return "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(der)
	case ed25519.PublicKey:
		return "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(key)
	}
	return ""
}
