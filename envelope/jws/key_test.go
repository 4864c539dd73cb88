package jws_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

// The key of RFC 8037 Appendix A.2, whose thumbprint is in Appendix A.3.
const rfcX = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

func TestThumbprint(t *testing.T) {
	pub, err := jws.PublicKey(rfcX)
	if err != nil {
		t.Fatal(err)
	}
	if got := jws.Thumbprint(pub); got != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Error(got)
	}
	if got := jws.Thumbprint(pub[:31]); got != "" {
		t.Errorf("thumbprint %q of no key", got)
	}
}

func TestPublicKeyRefuses(t *testing.T) {
	tests := map[string]string{
		"empty":             "",
		"31 bytes":          rfcX[:42],
		"33 bytes":          rfcX + "A",
		"padded":            rfcX[:42] + "=",
		"unused bits":       rfcX[:42] + "p",
		"newline":           rfcX[:42] + "\n",
		"standard alphabet": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo",
		"not on the curve":  fromHex(t, "0200000000000000000000000000000000000000000000000000000000000000"),

		"identity":             fromHex(t, "0100000000000000000000000000000000000000000000000000000000000000"),
		"identity, sign bit":   fromHex(t, "0100000000000000000000000000000000000000000000000000000000000080"),
		"order 2":              fromHex(t, "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		"order 2, sign bit":    fromHex(t, "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"),
		"order 4":              fromHex(t, "0000000000000000000000000000000000000000000000000000000000000000"),
		"order 4, sign bit":    fromHex(t, "0000000000000000000000000000000000000000000000000000000000000080"),
		"order 8":              fromHex(t, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
		"order 8, sign bit":    fromHex(t, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"),
		"order 8, second":      fromHex(t, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
		"order 8, second, bit": fromHex(t, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"),
		"y = p":                fromHex(t, "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		"y = p + 1":            fromHex(t, "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		"y = p + 1, sign bit":  fromHex(t, "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"),
		"y = p + 3":            fromHex(t, "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
	}
	for name, x := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := jws.PublicKey(x); !errors.Is(err, jws.ErrMalformed) {
				t.Errorf("got %v, want ErrMalformed", err)
			}
		})
	}
}

// The check of the curve must agree with crypto/ed25519, which every generated key has passed.
func TestPublicKeyTakesEveryKey(t *testing.T) {
	seed := make([]byte, ed25519.SeedSize)
	for i := range 256 {
		seed[0] = byte(i)
		pub := publicOf(ed25519.NewKeyFromSeed(seed))
		if _, err := jws.PublicKey(base64.RawURLEncoding.EncodeToString(pub)); err != nil {
			t.Errorf("key %d: %v", i, err)
		}
	}
}

func fromHex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}
