// Package jws reads and writes the one form of JSON Web Signature that the profile agent-intents/1 knows: a compact
// token (RFC 7515 §7.1), signed with Ed25519 (RFC 8037 §3.1), with exactly four members in its protected header.
//
// Everything that has a second spelling is refused, so that a token that parses is the only token with its meaning.
package jws

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// The values of the header member typ (profile: "The email" and "The record").
const (
	TypMessage = "agent-intent+jws"
	TypRecord  = "agent-agreement+jws"
)

// Limits in bytes of the token as it stands, looked at before anything is parsed. A message has at most 32 KiB and a
// record 256 KiB of payload, which base64url makes a third longer.
const (
	maxMessage = 64 << 10
	maxRecord  = 512 << 10
	maxHeader  = 4 << 10
)

// algEdDSA is the only algorithm. The name Ed25519 of RFC 9864 is not one of the profile's (D12).
const algEdDSA = "EdDSA"

// ErrMalformed is wrapped by every error of this package that says that a token, a key or what should become one does
// not have the form that the profile asks for.
var ErrMalformed = errors.New("malformed JWS")

// Header is the protected header without alg, which is always EdDSA.
type Header struct {
	Kid string // names the key: its RFC 7638 thumbprint; not compared with anything by Parse
	Jku string // address of the key page that has the key; an untrusted claim
	Typ string // TypMessage or TypRecord
}

// Token is a compact JWS taken apart. It is well formed, not verified.
type Token struct {
	Header    Header
	Payload   []byte // the signed bytes, decoded
	Signature []byte // 64 bytes

	signed []byte // the signing input of RFC 7515 §5.2, header and payload as they stood
}

type headerJSON struct {
	Alg string  `json:"alg"`
	Jku *string `json:"jku"`
	Kid string  `json:"kid"`
	Typ string  `json:"typ"`
}

// Parse takes a compact JWS with the given typ apart. It refuses, with ErrMalformed, what is longer than 64 KiB (512 KiB
// for TypRecord), any number of parts but three, an empty payload (so the detached form, RFC 7515 Appendix F),
// base64url that is not the canonical one, white space anywhere, and a header that is not exactly the profile's (D12).
func Parse(compact []byte, typ string) (Token, error) {
	if len(compact) > limit(typ) {
		return Token{}, malformed("longer than %d bytes", limit(typ))
	}
	parts := bytes.SplitN(compact, []byte("."), 4)
	if len(parts) != 3 {
		return Token{}, malformed("not three parts")
	}
	header, err := parseHeader(parts[0], typ)
	if err != nil {
		return Token{}, err
	}
	payload, err := decode(parts[1])
	if err != nil {
		return Token{}, fmt.Errorf("payload: %w", err)
	}
	if len(payload) == 0 {
		return Token{}, malformed("no payload")
	}
	signature, err := decode(parts[2])
	if err != nil {
		return Token{}, fmt.Errorf("signature: %w", err)
	}
	if len(signature) != ed25519.SignatureSize {
		return Token{}, malformed("signature of %d bytes", len(signature))
	}
	signed := bytes.Clone(compact[:len(parts[0])+1+len(parts[1])])
	return Token{Header: header, Payload: payload, Signature: signature, signed: signed}, nil
}

// Verify reports whether the token was signed with the private half of pub. A signature whose S is not below the group
// order is refused (RFC 8032 §5.1.7): anyone could make a second token out of the first. One whose R is of small order is
// refused too: WebCrypto does, and a signature is good for every reader or for none (D130). Small-order keys pass here;
// PublicKey refuses them.
func (t Token) Verify(pub ed25519.PublicKey) bool {
	if len(pub) != ed25519.PublicKeySize || len(t.Signature) != ed25519.SignatureSize {
		return false
	}
	return !smallOrder(coordinate(t.Signature[:ed25519.SignatureSize/2])) && ed25519.Verify(pub, t.signed, t.Signature)
}

func limit(typ string) int {
	if typ == TypRecord {
		return maxRecord
	}
	return maxMessage
}

// parseHeader reads the protected header strictly: a member twice would let two readers see two keys, and an unknown
// one (crit, b64, jwk, x5c, zip) could change what the signature means. D12
func parseHeader(part []byte, typ string) (Header, error) {
	if len(part) > maxHeader {
		return Header{}, malformed("header longer than %d bytes", maxHeader)
	}
	data, err := decode(part)
	if err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	var h headerJSON
	if err := json.Unmarshal(data, &h, json.RejectUnknownMembers(true)); err != nil {
		return Header{}, malformed("header: %w", err)
	}
	switch {
	case h.Alg != algEdDSA: // "none", or HS256 keyed with the public key
		return Header{}, malformed("alg is not %s", algEdDSA)
	case h.Typ != typ: // a message passed off as a seal, or the other way round
		return Header{}, malformed("typ is not %s", typ)
	case h.Kid == "" || h.Jku == nil:
		return Header{}, malformed("kid or jku missing")
	}
	return Header{Kid: h.Kid, Jku: *h.Jku, Typ: h.Typ}, nil
}

// decode takes the canonical unpadded base64url of some bytes and no other spelling: the decoder of the standard library
// skips line breaks and unused bits, each of which gives one token many forms.
func decode(part []byte) ([]byte, error) {
	data, err := base64.RawURLEncoding.AppendDecode(nil, part)
	if err != nil {
		return nil, malformed("%w", err)
	}
	if !bytes.Equal(encode(data), part) {
		return nil, malformed("not canonical base64url")
	}
	return data, nil
}

func encode(data []byte) []byte {
	return base64.RawURLEncoding.AppendEncode(nil, data)
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}
