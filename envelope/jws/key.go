package jws

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// Thumbprint is the RFC 7638 thumbprint (SHA-256, base64url) of the JWK of pub: the kid of the profile. It is empty for
// what cannot be an Ed25519 key.
func Thumbprint(pub ed25519.PublicKey) string {
	if len(pub) != ed25519.PublicKeySize {
		return ""
	}
	sum, err := (&jose.JSONWebKey{Key: pub}).Thumbprint(crypto.SHA256)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// PublicKey reads the member x of an Ed25519 JWK (RFC 8037 §2). It refuses, with ErrMalformed, what is not the canonical
// base64url of 32 bytes, not the canonical encoding of a point (RFC 8032 §5.1.3), and points of small order.
func PublicKey(x string) (ed25519.PublicKey, error) {
	if len(x) != base64.RawURLEncoding.EncodedLen(ed25519.PublicKeySize) {
		return nil, fmt.Errorf("public key: %w", malformed("not 32 bytes"))
	}
	pub, err := decode([]byte(x))
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	y, p := coordinate(pub), fieldPrime()
	switch {
	case y.Cmp(p) >= 0: // y and y+p are one point with two thumbprints
		return nil, fmt.Errorf("public key: %w", malformed("encoding not canonical"))
	case smallOrder(y): // crypto/ed25519 takes a signature that anybody can make for such a key
		return nil, fmt.Errorf("public key: %w", malformed("point of small order"))
	case !onCurve(y, p):
		return nil, fmt.Errorf("public key: %w", malformed("not a point of the curve"))
	}
	return pub, nil
}

// coordinate is the y of an encoded point: little endian, without the bit that holds the sign of x.
func coordinate(point []byte) *big.Int {
	b := slices.Clone(point)
	b[len(b)-1] &= 0x7f
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// fieldPrime is 2^255 - 19.
func fieldPrime() *big.Int {
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	return p.Sub(p, big.NewInt(19))
}

// smallOrder tells the eight points whose order divides 8 by their y: they have five between them. Since y is all that
// is compared, the two encodings of x = 0 with a sign bit go with them.
func smallOrder(y *big.Int) bool {
	switch y.Text(16) {
	case "0", // order 4
		"1", // order 1, the identity
		"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec", // order 2
		"5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",  // order 8
		"7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7": // order 8
		return true
	}
	return false
}

// onCurve reports whether some x fits y in -x² + y² = 1 + d·x²·y² (RFC 8032 §5.1): (y²-1)/(d·y²+1) must be a square, and
// it is one when the product of the two is. With d = -121665/121666 both are taken times 121666.
func onCurve(y, p *big.Int) bool {
	y2 := new(big.Int).Mul(y, y)
	u := new(big.Int).Sub(y2, big.NewInt(1))
	u.Mul(u, big.NewInt(121666))
	v := new(big.Int).Mul(y2, big.NewInt(-121665))
	v.Add(v, big.NewInt(121666))
	u.Mul(u, v)
	return big.Jacobi(u.Mod(u, p), p) == 1
}
