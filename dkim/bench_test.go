package dkim

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"strings"
	"testing"
)

// benchScene is the baseline with a body of 32 KiB, a usual size.
func benchScene(b *testing.B) *scene {
	s := newScene(b)
	s.body = strings.Replace(s.body, "an offer.", strings.Repeat("an offer for a thing or two.\r\n", 1100), 1)
	s.sign(b)
	return s
}

// BenchmarkAuthenticate judges a mail with one signature that counts.
func BenchmarkAuthenticate(b *testing.B) {
	s := benchScene(b)
	raw := []byte(s.signed)
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		s.dns.asked = s.dns.asked[:0]
		if got := s.checker.Authenticate(context.Background(), raw, s.from, s.arrival); got.Outcome != Pass {
			b.Fatal(got.Reason)
		}
	}
}

// BenchmarkFloor is what no verifier can do without: one RSA verification and
// one hash over the body.
func BenchmarkFloor(b *testing.B) {
	s := benchScene(b)
	m, err := readMessage([]byte(s.signed))
	if err != nil {
		b.Fatal(err)
	}
	signature, err := parseSignature(m.fields[0])
	if err != nil {
		b.Fatal(err)
	}
	digest := signature.digest(m)
	key := s.key.Public().(*rsa.PublicKey)
	b.ReportAllocs()
	b.SetBytes(int64(len(s.signed)))
	for b.Loop() {
		sum := sha256.Sum256(m.body)
		if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature.value); err != nil || sum[0] == digest[0] && sum == digest {
			b.Fatal(err)
		}
	}
}
