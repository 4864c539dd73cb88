package jws_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

// FuzzParse: a token that parses is the only spelling of its parts, so encoding them again gives the same bytes.
func FuzzParse(f *testing.F) {
	good := []byte(signed(goodHeader(), goodPayload))
	if _, err := jws.Parse(good, jws.TypMessage); err != nil {
		f.Fatal("the seed does not parse: ", err)
	}
	f.Add(good)
	f.Add([]byte(signed(`{"typ":"agent-intent+jws","kid":"k","jku":"j","alg":"EdDSA"}`, "\xff")))
	f.Add(append(bytes.Clone(good), '\n'))
	f.Add([]byte(signed(`{"alg":"none"}`, goodPayload)))
	f.Fuzz(func(t *testing.T, compact []byte) {
		token, err := jws.Parse(compact, jws.TypMessage)
		if err != nil {
			return
		}
		header, _, _ := bytes.Cut(compact, []byte("."))
		json, err := base64.RawURLEncoding.DecodeString(string(header))
		if err != nil {
			t.Fatal(err)
		}
		again := b64(string(json)) + "." + b64(string(token.Payload)) + "." + b64(string(token.Signature))
		if again != string(compact) {
			t.Errorf("%q is also %q", again, compact)
		}
		if token.Header.Kid == "" || token.Header.Jku == "" || token.Header.Typ != jws.TypMessage {
			t.Errorf("header %+v", token.Header)
		}
	})
}
