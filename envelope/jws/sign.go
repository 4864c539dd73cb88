package jws

import (
	"crypto/ed25519"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Sign makes the compact JWS of payload. jku is the address of the signer's own key page; kid is the thumbprint of the
// key. The same arguments give the same bytes. What Parse would refuse (an empty payload or jku, a token over the
// limit) is not made: the error wraps ErrMalformed.
func Sign(key ed25519.PrivateKey, jku, typ string, payload []byte) (string, error) {
	if len(key) != ed25519.PrivateKeySize {
		return "", fmt.Errorf("sign: %w", malformed("private key of %d bytes", len(key)))
	}
	if jku == "" {
		return "", fmt.Errorf("sign: %w", malformed("no jku"))
	}
	kid := Thumbprint(key.Public().(ed25519.PublicKey))
	header, err := json.Marshal(headerJSON{Alg: algEdDSA, Jku: &jku, Kid: kid, Typ: typ})
	if err != nil {
		return "", fmt.Errorf("sign: %w", malformed("header: %w", err))
	}
	token := append(encode(header), '.')
	token = append(token, encode(payload)...)
	signature := ed25519.Sign(key, token)
	token = append(token, '.')
	token = append(token, encode(signature)...)
	if _, err := Parse(token, typ); err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return string(token), nil
}
