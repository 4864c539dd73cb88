// Package agentmsg is the messages of Agent Emailing 0.2.1: requests and
// responds of Agent Messaging, signed by agents and carried by email. It reads,
// checks, makes and signs them; it neither stores nor sends anything.
//
// Section numbers in its comments (§, EXT) are those of Agent Messaging.
package agentmsg

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"

	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/nats-io/nkeys"
)

// IsID tells whether text is an agent id: an Ed25519 public key in the form of
// a NATS user nkey (§4.3). Ids are compared byte for byte, so of the spellings
// that the library reads only the one that it writes is an id (D100).
func IsID(text string) bool {
	_, ok := rawKey(text)
	return ok
}

// rawKey is the key in an agent id. The library skips line breaks and three
// bits of the prefix: a blocked sender could go on under another spelling of
// its key, and one message would count twice.
func rawKey(id string) ([]byte, bool) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(id))
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, false
	}
	again, err := nkeys.Encode(nkeys.PrefixByteUser, raw)
	return raw, err == nil && string(again) == id
}

var errID = errors.New("not an agent id")

// publicKey is the key of an agent id. An id whose key is no point of the
// curve, has a second encoding or is of small order is an id that no signature
// counts for: anyone can sign for it.
func publicKey(id string) (ed25519.PublicKey, error) {
	raw, ok := rawKey(id)
	if !ok {
		return nil, errID
	}
	return jws.PublicKey(base64.RawURLEncoding.EncodeToString(raw))
}
