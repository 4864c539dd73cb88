package dkim

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sent is a mail as it leaves here, with every field that is signed.
const sent = "From: <agent@buyer.test>\r\nTo: <agent@seller.test>\r\nSubject: Request\r\n" +
	"Date: Mon, 02 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@buyer.test>\r\nX-Other: 1\r\n" +
	"In-Reply-To: <0@seller.test>\r\nReferences: <0@seller.test>\r\nMIME-Version: 1.0\r\n" +
	"Agent-Of: \"Buyer Ltd\" <owner@buyer.test>\r\nAgent-Attribution: {}\r\n" +
	"Auto-Submitted: auto-generated\r\nStructured-Data: full\r\nContent-Type: text/plain\r\n\r\nHello.\r\n"

func TestSign(t *testing.T) {
	for selector, key := range map[string]crypto.Signer{"s1": testKey(t, "rsa2048"), "ed": edKey} {
		signer, err := NewSigner("Buyer.test", selector, key)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign([]byte(sent), arrival)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(signed, []byte("\r\n"+sent)) {
			t.Fatal("the mail itself was changed")
		}
		for line := range strings.SplitSeq(string(signed), "\r\n") {
			if len(line) > 78 { // RFC 5322 §2.1.1
				t.Errorf("a line of %d characters: %s", len(line), line)
			}
		}
		checker := newScene(t).checker
		if got := checker.Authenticate(context.Background(), signed, "buyer.test", arrival); got.Outcome != Pass {
			t.Errorf("%s: %s", selector, got.Reason)
		}
		early := checker.Authenticate(context.Background(), signed, "buyer.test", arrival.Add(-301*time.Second))
		if early.Outcome != Fail {
			t.Error("the signature has not the time it was given")
		}
		again, err := signer.Sign([]byte(sent), arrival)
		if diff := cmp.Diff(string(signed), string(again)); diff != "" || err != nil {
			t.Errorf("signed again (%v):\n%s", err, diff)
		}
	}
}

// Each field covered breaks the signature when it changes, and a second From
// does; a field not covered does not.
func TestSignCovers(t *testing.T) {
	signer, err := NewSigner("buyer.test", "ed", edKey)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(sent), arrival)
	if err != nil {
		t.Fatal(err)
	}
	checker := newScene(t).checker
	for _, f := range strings.Split(sent[:strings.Index(sent, "\r\n\r\n")], "\r\n") {
		name, _, _ := strings.Cut(f, ":")
		changed := strings.Replace(string(signed), f, name+": changed", 1)
		want := Fail
		if name == "X-Other" {
			want = Pass
		}
		if got := checker.Authenticate(context.Background(), []byte(changed), "buyer.test", arrival); got.Outcome != want {
			t.Errorf("with %s changed: %v", name, got)
		}
	}
	m, err := readMessage(signed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSignature(m.fields[0])
	if err != nil {
		t.Fatal(err)
	}
	m.fields[0].above = m.lowest["from"]
	m.lowest["from"] = 0
	if !m.covers(s.names, "from") {
		t.Error("a second From would not be covered")
	}
}

func TestNewSignerRefuses(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, domain, selector string
		key                    crypto.Signer
	}{
		{"no domain", "", "s1", edKey},
		{"public suffix", "co.uk", "s1", edKey},
		{"domain of other characters", "buyer.test;l=0", "s1", edKey},
		{"no selector", "buyer.test", "", edKey},
		{"selector of other characters", "buyer.test", "s1; x", edKey},
		{"selector too long", "buyer.test", strings.Repeat("a.", 120) + "a", edKey},
		{"short RSA key", "buyer.test", "s1", testKey(t, "rsa1024")},
		{"other key", "buyer.test", "s1", ec},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewSigner(c.domain, c.selector, c.key); err == nil {
				t.Error("accepted")
			}
		})
	}
}

// brokenKey fails as a key in a device may.
type brokenKey struct{ crypto.Signer }

var errBroken = errors.New("device gone")

func (brokenKey) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) { return nil, errBroken }

func TestSignRefuses(t *testing.T) {
	signer, err := NewSigner("buyer.test", "ed", edKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, mail := range map[string]string{
		"no header end": "From: <agent@buyer.test>\r\n",
		"no From":       "To: x\r\n\r\n",
		"two From":      "From: a\r\nFrom: b\r\n\r\n",
		"bare LF":       "From: a\r\n\r\nx\n",
		"bare CR":       "From: a\r\n\r\nx\r",
	} {
		if signed, err := signer.Sign([]byte(mail), arrival); err == nil {
			t.Errorf("%s: signed as %q", name, signed)
		}
	}
	signer.key = brokenKey{edKey}
	if _, err := signer.Sign([]byte(sent), arrival); !errors.Is(err, errBroken) {
		t.Errorf("the key's own error is lost: %v", err)
	}
}
