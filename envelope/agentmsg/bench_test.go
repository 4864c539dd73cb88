package agentmsg

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
)

// BenchmarkParse is to be at most twice its floor: one Ed25519 verification and one canonicalisation.
//
//	go test ./envelope/agentmsg -run '^$' -bench Parse
func BenchmarkParse(b *testing.B) {
	data := sign(b, sender(b), valid())
	var m object
	if err := json.Unmarshal(data, &m); err != nil {
		b.Fatal(err)
	}
	signature, err := base64.RawURLEncoding.DecodeString(m["sig"].(string))
	if err != nil {
		b.Fatal(err)
	}
	unsigned := without(data, "sig")
	key, err := publicKey(sender(b).ID())
	if err != nil {
		b.Fatal(err)
	}
	message := append([]byte(tagEnvelope), unsigned...)
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := canon.Strict(data, maxDepth); err != nil || !ed25519.Verify(key, message, signature) {
				b.Fatal(err)
			}
		}
	})
	b.Run("envelope", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
