package jws_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

const jku = "https://api.stackshift.cloud/.well-known/agent-agreements/pty_buyer000000000000000.json"

func testKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey {
	return key.Public().(ed25519.PublicKey)
}

func b64(s string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(s))
}

// signed makes a token with any header at all and a good signature over it.
func signed(header, payload string) string {
	input := b64(header) + "." + b64(payload)
	return input + "." + b64(string(ed25519.Sign(testKey(), []byte(input))))
}

func goodHeader() string {
	return `{"alg":"EdDSA","jku":"` + jku + `","kid":"` + jws.Thumbprint(publicOf(testKey())) + `","typ":"agent-intent+jws"}`
}

const goodPayload = `{"id":"1"}`

func TestParseGood(t *testing.T) {
	compact := signed(goodHeader(), goodPayload)
	token, err := jws.Parse([]byte(compact), jws.TypMessage)
	if err != nil {
		t.Fatal(err)
	}
	want := jws.Header{Kid: jws.Thumbprint(publicOf(testKey())), Jku: jku, Typ: jws.TypMessage}
	if diff := cmp.Diff(want, token.Header); diff != "" {
		t.Error(diff)
	}
	if string(token.Payload) != goodPayload {
		t.Errorf("payload %q", token.Payload)
	}
	if !token.Verify(publicOf(testKey())) {
		t.Error("good signature not accepted")
	}
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	if token.Verify(publicOf(other)) {
		t.Error("accepted with the key of another")
	}
	if token.Verify(publicOf(testKey())[:31]) {
		t.Error("accepted with a short key")
	}
}

func TestParseOtherOrderAndSpace(t *testing.T) {
	h := ` { "typ" : "agent-intent+jws", "kid" : "k", "jku" : "j", "alg" : "EdDSA" } `
	token, err := jws.Parse([]byte(signed(h, goodPayload)), jws.TypMessage)
	if err != nil || !token.Verify(publicOf(testKey())) {
		t.Errorf("the order of header members matters: %v", err)
	}
}

func TestParseDoesNotKeepItsInput(t *testing.T) {
	compact := []byte(signed(goodHeader(), goodPayload))
	token, err := jws.Parse(compact, jws.TypMessage)
	if err != nil {
		t.Fatal(err)
	}
	clear(compact)
	if !token.Verify(publicOf(testKey())) {
		t.Error("the token changed with the caller's buffer")
	}
}

// The classes are those of an attack table; each case changes one thing of the good token.
func TestParseRefuses(t *testing.T) {
	good := signed(goodHeader(), goodPayload)
	parts := strings.Split(good, ".")
	swap := func(old, repl string) string { // another header, well signed
		if !strings.Contains(goodHeader(), old) {
			t.Fatalf("%q is not in the header", old)
		}
		return signed(strings.Replace(goodHeader(), old, repl, 1), goodPayload)
	}
	kid := jws.Thumbprint(publicOf(testKey()))
	tests := map[string]string{
		"S1 alg none":              swap(`"EdDSA"`, `"none"`),
		"S1 alg None":              swap(`"EdDSA"`, `"None"`),
		"S1 alg NONE":              swap(`"EdDSA"`, `"NONE"`),
		"S1 alg nOnE unsigned":     b64(strings.Replace(goodHeader(), "EdDSA", "nOnE", 1)) + "." + parts[1] + ".",
		"S2 HS256":                 swap(`"EdDSA"`, `"HS256"`),
		"S2 ES256":                 swap(`"EdDSA"`, `"ES256"`),
		"S2 RS256":                 swap(`"EdDSA"`, `"RS256"`),
		"S2 Ed448":                 swap(`"EdDSA"`, `"Ed448"`),
		"S2 eddsa":                 swap(`"EdDSA"`, `"eddsa"`),
		"S2 trailing space":        swap(`"EdDSA"`, `"EdDSA "`),
		"S2 array":                 swap(`"EdDSA"`, `["EdDSA"]`),
		"S2 null":                  swap(`"EdDSA"`, `null`),
		"S2 Alg":                   swap(`"alg"`, `"Alg"`),
		"S2 no alg":                swap(`"alg":"EdDSA",`, ``),
		"S3 Ed25519":               swap(`"EdDSA"`, `"Ed25519"`),
		"S4 alg twice":             swap(`{`, `{"alg":"EdDSA",`),
		"S4 alg twice, escaped":    swap(`{`, `{"\u0061lg":"EdDSA",`),
		"S4 kid twice":             swap(`{`, `{"kid":"`+kid+`",`),
		"S4 jku twice":             swap(`{`, `{"jku":"`+jku+`",`),
		"S4 Jku beside jku":        swap(`{`, `{"Jku":"`+jku+`",`),
		"S4 kid in Kelvin sign":    swap(`{`, `{"`+"\u212A"+`id":"x",`),
		"S5 jwk":                   swap(`{`, `{"jwk":{"kty":"OKP","crv":"Ed25519","x":"AA"},`),
		"S5 x5u":                   swap(`{`, `{"x5u":"https://evil.test/",`),
		"S5 x5c":                   swap(`{`, `{"x5c":[],`),
		"S6 no kid":                swap(`"kid":"`+kid+`",`, ``),
		"S6 empty kid":             swap(`"`+kid+`"`, `""`),
		"S6 kid is a number":       swap(`"`+kid+`"`, `7`),
		"S6 no jku":                swap(`"jku":"`+jku+`",`, ``),
		"S6 jku is null":           swap(`"`+jku+`"`, `null`),
		"S6 no typ":                swap(`,"typ":"agent-intent+jws"`, ``),
		"S6 other typ":             swap(`agent-intent+jws`, `agent-agreement+jws`),
		"S6 typ as media type":     swap(`agent-intent+jws`, `application/agent-intent+jws`),
		"S6 typ in capitals":       swap(`agent-intent+jws`, `AGENT-INTENT+JWS`),
		"S10 crit unknown":         swap(`{`, `{"crit":["exp"],`),
		"S10 crit empty":           swap(`{`, `{"crit":[],`),
		"S10 crit b64":             swap(`{`, `{"crit":["b64"],"b64":true,`),
		"S10 b64 false":            swap(`{`, `{"b64":false,`),
		"S10 zip":                  swap(`{`, `{"zip":"DEF",`),
		"S10 unknown member":       swap(`{`, `{"x":null,`),
		"S11 trailing data":        signed(goodHeader()+"{}", goodPayload),
		"S11 trailing comma":       swap(`"}`, `",}`),
		"S11 byte-order mark":      signed("\ufeff"+goodHeader(), goodPayload),
		"S11 invalid UTF-8":        swap(kid, "\xff"),
		"S11 lone surrogate":       swap(kid, `\ud800`),
		"S11 array":                signed(`["EdDSA"]`, goodPayload),
		"S11 null":                 signed(`null`, goodPayload),
		"S11 empty object":         signed(`{}`, goodPayload),
		"S11 empty":                signed(``, goodPayload),
		"S11 long header":          swap(kid, strings.Repeat("k", 4096)),
		"S11 deep header":          swap(`{`, `{"x":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`,`),
		"S12 unused bits":          good[:len(good)-1] + nextLetter(good[len(good)-1]),
		"S12 unused bits, header":  unusedBits(goodHeader()) + "." + parts[1] + "." + parts[2],
		"S12 unused bits, payload": parts[0] + "." + unusedBits(goodPayload) + "." + parts[2],
		"S12 padding":              good + "==",
		"S12 padding in payload":   parts[0] + "." + parts[1] + "==." + parts[2],
		"S12 newline inside":       good[:9] + "\n" + good[9:],
		"S12 carriage return":      parts[0] + ".\r\n" + parts[1] + "." + parts[2],
		"S12 newline after":        good + "\n",
		"S12 space before":         " " + good,
		"S12 space inside":         parts[0] + ". " + parts[1] + "." + parts[2],
		"S12 standard alphabet":    strings.NewReplacer("-", "+", "_", "/").Replace(signed(goodHeader(), "\xff\xff\xfe\xfb\xef")),
		"S12 NUL":                  good + "\x00",
		"S13 two parts":            parts[0] + "." + parts[1],
		"S13 four parts":           good + ".",
		"S13 five parts":           good + "." + parts[1] + "." + parts[2],
		"S13 JSON serialization":   `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
		"S13 detached":             parts[0] + ".." + parts[2],
		"S13 empty payload":        signed(goodHeader(), ""),
		"S13 empty":                "",
		"S13 dots":                 "..",
		"S13 1 MB":                 signed(goodHeader(), strings.Repeat("a", 1<<20)),
		"S14 63 bytes":             parts[0] + "." + parts[1] + "." + b64(strings.Repeat("a", 63)),
		"S14 65 bytes":             parts[0] + "." + parts[1] + "." + b64(strings.Repeat("a", 65)),
		"S14 no signature":         parts[0] + "." + parts[1] + ".",
		"S16 last character":       good[:len(good)-1],
	}
	for name, compact := range tests {
		t.Run(name, func(t *testing.T) {
			if compact == good {
				t.Fatal("the case changes nothing")
			}
			if _, err := jws.Parse([]byte(compact), jws.TypMessage); !errors.Is(err, jws.ErrMalformed) {
				t.Errorf("got %v, want ErrMalformed", err)
			}
		})
	}
}

// nextLetter is the letter of the base64url alphabet that differs from c in its lowest bit.
func nextLetter(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, c)^1])
}

// unusedBits encodes s, whose length must leave unused bits, with one of them set.
func unusedBits(s string) string {
	if len(s)%3 == 0 {
		s += " "
	}
	e := b64(s)
	return e[:len(e)-1] + nextLetter(e[len(e)-1])
}

func TestVerifyRefuses(t *testing.T) {
	good := signed(goodHeader(), goodPayload)
	parts := strings.Split(good, ".")
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(signature)
	flipped[0] ^= 1
	withoutHeader := ed25519.Sign(testKey(), []byte(goodPayload))
	otherSpelling := signed(strings.Replace(goodHeader(), ",", ", ", 1), goodPayload)
	tests := map[string]string{
		"S14 S plus group order":    parts[0] + "." + parts[1] + "." + b64(string(plusOrder(signature))),
		"S14 zero":                  parts[0] + "." + parts[1] + "." + b64(string(make([]byte, 64))),
		"S14 flipped bit":           parts[0] + "." + parts[1] + "." + b64(string(flipped)),
		"S14 signed without header": parts[0] + "." + parts[1] + "." + b64(string(withoutHeader)),
		"S15 payload changed":       parts[0] + "." + b64(goodPayload+"\n") + "." + parts[2],
		"S18 of another message":    parts[0] + "." + parts[1] + "." + strings.Split(signed(goodHeader(), "other"), ".")[2],
		"header respelled":          strings.Split(otherSpelling, ".")[0] + "." + parts[1] + "." + parts[2],
	}
	for name, compact := range tests {
		t.Run(name, func(t *testing.T) {
			token, err := jws.Parse([]byte(compact), jws.TypMessage)
			if err != nil {
				t.Fatal(err)
			}
			if token.Verify(publicOf(testKey())) {
				t.Error("accepted")
			}
		})
	}
}

// plusOrder adds the order of the group to S: the same signature to a verifier that reduces.
func plusOrder(signature []byte) []byte {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := slices.Clone(signature[32:])
	slices.Reverse(s)
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	return append(slices.Clone(signature[:32]), sum...)
}

// D130. Whoever has the key can sign with a nonce of 0, so that R is the identity: crypto/ed25519 takes that.
func TestVerifyRefusesSmallR(t *testing.T) {
	token, err := jws.Parse([]byte(signed(goodHeader(), goodPayload)), jws.TypMessage)
	if err != nil {
		t.Fatal(err)
	}
	input, _ := strings.CutSuffix(signed(goodHeader(), goodPayload), "."+b64(string(token.Signature)))
	token.Signature = withoutNonce(testKey(), []byte(input))
	if !ed25519.Verify(publicOf(testKey()), []byte(input), token.Signature) {
		t.Fatal("the signature is wrong in another way")
	}
	if token.Verify(publicOf(testKey())) {
		t.Error("a signature with an R of small order is accepted")
	}
}

// withoutNonce signs by RFC 8032 §5.1.6 with r = 0: R is the identity and S = k·a.
func withoutNonce(key ed25519.PrivateKey, message []byte) []byte {
	order, _ := new(big.Int).SetString("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16)
	little := func(b []byte) *big.Int {
		b = slices.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	h := sha512.Sum512(key.Seed())
	h[0], h[31] = h[0]&248, h[31]&127|64
	r := append([]byte{1}, make([]byte, 31)...)
	k := sha512.Sum512(slices.Concat(r, publicOf(key), message))
	s := little(k[:])
	s.Mul(s, little(h[:32])).Mod(s, order)
	b := s.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return append(r, b...)
}

func TestLimits(t *testing.T) {
	for _, tc := range []struct {
		name, typ string
		payload   int
		ok        bool
	}{
		{"largest message", jws.TypMessage, 32768, true},
		{"too large for a message", jws.TypMessage, 64 << 10, false},
		{"largest record", jws.TypRecord, 262144, true},
		{"too large for a record", jws.TypRecord, 512 << 10, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			compact, err := jws.Sign(testKey(), jku, tc.typ, bytes.Repeat([]byte("a"), tc.payload))
			if ok := err == nil; ok != tc.ok {
				t.Fatalf("sign: %v", err)
			}
			if !tc.ok {
				return
			}
			if _, err := jws.Parse([]byte(compact), tc.typ); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSign(t *testing.T) {
	compact, err := jws.Sign(testKey(), jku, jws.TypMessage, []byte(goodPayload))
	if err != nil {
		t.Fatal(err)
	}
	if want := signed(goodHeader(), goodPayload); compact != want {
		t.Errorf("got  %s\nwant %s", compact, want)
	}
	// Another implementation must be able to read what is written here.
	object, err := jose.ParseSignedCompact(compact, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		t.Fatal(err)
	}
	if payload, err := object.Verify(publicOf(testKey())); err != nil || string(payload) != goodPayload {
		t.Errorf("go-jose: %q, %v", payload, err)
	}
}

func TestSignRefuses(t *testing.T) {
	for name, sign := range map[string]func() (string, error){
		"short key":     func() (string, error) { return jws.Sign(testKey()[:32], jku, jws.TypMessage, []byte("{}")) },
		"no jku":        func() (string, error) { return jws.Sign(testKey(), "", jws.TypMessage, []byte("{}")) },
		"jku not UTF-8": func() (string, error) { return jws.Sign(testKey(), "\xff", jws.TypMessage, []byte("{}")) },
		"no payload":    func() (string, error) { return jws.Sign(testKey(), jku, jws.TypMessage, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			if token, err := sign(); !errors.Is(err, jws.ErrMalformed) || token != "" {
				t.Errorf("got %q, %v, want ErrMalformed", token, err)
			}
		})
	}
}
