// Package token tells who may ask the daemon over HTTP: bearer tokens (RFC 6750), each with a scope and the inboxes it is
// for, in a file that holds only the hashes of their secrets.
package token

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// Scope is whose word a request is.
type Scope string

// The scopes. An agent proposes and reads; an owner acts, and decides what waits.
const (
	Agent Scope = "agent"
	Owner Scope = "owner"
)

// Token is what is known of a secret that was given out.
type Token struct {
	Name    string   `json:"name"` // by which it is revoked, see NameForm
	Scope   Scope    `json:"scope"`
	Inboxes []string `json:"inboxes,omitempty"` // empty: all
	Made    int64    `json:"made"`              // Unix seconds
	Hash    Hash     `json:"sha256"`            // of the secret
}

// May tells whether the token is for an inbox.
func (t Token) May(inbox string) bool {
	return len(t.Inboxes) == 0 || slices.Contains(t.Inboxes, inbox)
}

// NameForm is what a token may be called.
var NameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Hash is the SHA-256 hash of a secret, written in hex. A secret is 32 random bytes, so nothing slower is needed.
type Hash [sha256.Size]byte

// MarshalText is that of an encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText is that of an encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a SHA-256 hash has %d hex digits, not %d", hex.EncodedLen(len(h)), len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// prefix begins every secret, so that scanners for lost secrets find them.
const prefix = "amt_"

// draw makes a secret: prefix and 43 characters of base64url.
func draw(random io.Reader) (string, error) {
	var secret [32]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", err
	}
	return prefix + base64.RawURLEncoding.EncodeToString(secret[:]), nil
}
