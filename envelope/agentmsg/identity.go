package agentmsg

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nkeys"
)

// ErrSeed is returned for what is no seed of an agent. It never tells what
// stood there.
var ErrSeed = errors.New("not the seed of an agent: a NATS user seed begins with SU and has 58 characters")

// Identity is an agent of our own: its id and the key that signs for it.
// However it is printed or logged, the key is not: it is held by a function,
// since package fmt asks no method of a private field, and follows pointers.
type Identity struct {
	id  string
	key func() ed25519.PrivateKey
}

// ParseSeed reads the seed of a NATS user nkey, without white space around it.
// Error: ErrSeed.
func ParseSeed(seed string) (Identity, error) {
	kind, raw, err := nkeys.DecodeSeed([]byte(seed))
	if err != nil || kind != nkeys.PrefixByteUser {
		return Identity{}, ErrSeed
	}
	return identity(raw)
}

func identity(raw []byte) (Identity, error) {
	key := ed25519.NewKeyFromSeed(raw)
	id, err := nkeys.Encode(nkeys.PrefixByteUser, key.Public().(ed25519.PublicKey))
	if err != nil {
		return Identity{}, ErrSeed
	}
	return Identity{id: string(id), key: func() ed25519.PrivateKey { return key }}, nil
}

// ID is the agent id.
func (i Identity) ID() string { return i.id }

// String, GoString and LogValue are the id.
func (i Identity) String() string       { return i.id }
func (i Identity) GoString() string     { return "agentmsg.Identity(" + i.id + ")" }
func (i Identity) LogValue() slog.Value { return slog.StringValue(i.id) }

// sign signs canonical JSON under a domain tag.
func (i Identity) sign(tag string, canonical []byte) ([]byte, error) {
	if i.key == nil {
		return nil, ErrSeed
	}
	return ed25519.Sign(i.key(), append([]byte(tag), canonical...)), nil
}

// signed tells whether id signed a message, which begins with a domain tag:
// without one what an agent signed elsewhere could be passed off as a message.
// A signature whose S is not below the group order is refused (RFC 8032
// §5.1.7).
func signed(id string, message, signature []byte) bool {
	key, err := publicKey(id)
	return err == nil && ed25519.Verify(key, message, signature)
}

// ForPerson is the identity that a bridge holds for a person's address, always
// the same one for the same seed (D125). The address is in comparable form.
func (i Identity) ForPerson(address string) (Identity, error) {
	if i.key == nil {
		return Identity{}, ErrSeed
	}
	raw, err := hkdf.Key(sha256.New, i.key().Seed(), nil, "agentmaild bridge "+address, ed25519.SeedSize)
	if err != nil {
		return Identity{}, fmt.Errorf("making an identity for a person: %w", err)
	}
	return identity(raw)
}
