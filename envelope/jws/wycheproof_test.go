package jws

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// readVectors reads a file of testdata/wycheproof, which stands there unchanged.
func readVectors(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/wycheproof/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWycheproofEd25519(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			PublicKey struct{ Pk string }
			Tests     []struct {
				TcID                      int `json:"tcId"`
				Comment, Msg, Sig, Result string
			}
		}
	}
	readVectors(t, "ed25519_test.json", &file)
	seen := 0
	for _, group := range file.TestGroups {
		pub := unhex(t, group.PublicKey.Pk)
		if _, err := PublicKey(string(encode(pub))); err != nil {
			t.Errorf("key %s: %v", group.PublicKey.Pk, err)
		}
		for _, tc := range group.Tests {
			seen++
			token := Token{Signature: unhex(t, tc.Sig), signed: unhex(t, tc.Msg)}
			if got := token.Verify(pub); got != (tc.Result == "valid") {
				t.Errorf("%d (%s): %v, want %s", tc.TcID, tc.Comment, got, tc.Result)
			}
		}
	}
	if seen == 0 || seen != file.NumberOfTests {
		t.Errorf("%d of %d vectors seen", seen, file.NumberOfTests)
	}
}

// No vector is an EdDSA token with the profile's header, so none may parse.
func TestWycheproofJWS(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			Tests []struct {
				TcID int `json:"tcId"`
				JWS  json.RawMessage
			}
		}
	}
	readVectors(t, "json_web_signature_test.json", &file)
	seen := 0
	for _, group := range file.TestGroups {
		for _, tc := range group.Tests {
			seen++
			compact := string(tc.JWS) // an object for the JSON serialization
			_ = json.Unmarshal(tc.JWS, &compact)
			if _, err := Parse([]byte(compact), TypMessage); err == nil {
				t.Errorf("%d parses", tc.TcID)
			}
		}
	}
	if seen == 0 || seen != file.NumberOfTests {
		t.Errorf("%d of %d vectors seen", seen, file.NumberOfTests)
	}
}
