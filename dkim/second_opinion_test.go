package dkim

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	other "github.com/emersion/go-msgauth/dkim"
	"pgregory.net/rapid"
)

// drawMail draws a mail whose white space and line ends are odd but legal. Its
// Content-Type is signed, so that only the two canonical forms decide.
func drawMail(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "B", " ", "  ", "\t", "=", ";", "é", "\r\n ", "\r\n\t"})
	text := rapid.SampledFrom([]string{"a", "-", ".", " ", "\t", "  ", "\r\n", "\r\n\r\n", "é"})
	value := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "value"), "")
	body := strings.Join(rapid.SliceOfN(text, 0, 12).Draw(t, "body"), "")
	return "From: <agent@buyer.test>\r\nContent-Type: text/plain\r\nSubject:x" + value + "x\r\n\r\n" + body
}

// What is signed here verifies with an independent implementation.
func TestSecondOpinionVerifies(t *testing.T) {
	s := newScene(t)
	lookUp := func(name string) ([]string, error) { return s.dns.LookupTXT(context.Background(), name) }
	rapid.Check(t, func(t *rapid.T) {
		signer, err := NewSigner("buyer.test", "ed", edKey)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign([]byte(drawMail(t)), arrival)
		if err != nil {
			t.Fatal(err)
		}
		found, err := other.VerifyWithOptions(bytes.NewReader(signed), &other.VerifyOptions{LookupTXT: lookUp})
		if err != nil || len(found) != 1 || found[0].Err != nil {
			t.Fatalf("%v, %+v for %q", err, found, signed)
		}
	})
}

// What an independent implementation signs verifies here, in each form.
func TestSecondOpinionSigns(t *testing.T) {
	s := newScene(t)
	forms := rapid.SampledFrom([]other.Canonicalization{other.CanonicalizationSimple, other.CanonicalizationRelaxed})
	rapid.Check(t, func(t *rapid.T) {
		var signed bytes.Buffer
		err := other.Sign(&signed, strings.NewReader(drawMail(t)), &other.SignOptions{
			Domain: "buyer.test", Selector: "ed", Signer: edKey,
			HeaderCanonicalization: forms.Draw(t, "header"),
			BodyCanonicalization:   forms.Draw(t, "body form"),
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := readMessage(signed.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		signature, err := parseSignature(m.fields[0])
		if err != nil {
			t.Fatal(err)
		}
		// Its clock is the machine's, so the mail arrives when it was signed.
		made := time.Unix(signature.made, 0)
		if got := s.checker.Authenticate(context.Background(), signed.Bytes(), "buyer.test", made); got.Outcome != Pass {
			t.Fatalf("%s for %q", got.Reason, signed.Bytes())
		}
	})
}
