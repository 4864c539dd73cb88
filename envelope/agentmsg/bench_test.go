package agentmsg

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
)

// BenchmarkParse is to be at most twice its floor: one Ed25519 verification and one canonicalisation.
//
//	go test ./envelope/agentmsg -run '^$' -bench Parse
func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{"short": "hello", "56 KB": strings.Repeat("lorem ipsum ü ", 4000)} {
		m := valid()
		set(m, "payload/input/text", text)
		data := sign(b, sender(b), m)
		b.Run(name+"/floor", func(b *testing.B) { benchFloor(b, data) })
		b.Run(name+"/envelope", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchFloor(b *testing.B, data []byte) {
	var m object
	if err := json.Unmarshal(data, &m); err != nil {
		b.Fatal(err)
	}
	signature, err := base64.RawURLEncoding.DecodeString(m["sig"].(string))
	if err != nil {
		b.Fatal(err)
	}
	key, err := publicKey(sender(b).ID())
	if err != nil {
		b.Fatal(err)
	}
	message := append([]byte(tagEnvelope), unsigned(b, data)...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Strict(data, maxDepth); err != nil || !ed25519.Verify(key, message, signature) {
			b.Fatal(err)
		}
	}
}
