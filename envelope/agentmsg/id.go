// Package agentmsg is the messages of Agent Emailing 0.2.1: requests and
// responds of Agent Messaging, signed by agents and carried by email. It reads,
// checks, makes and signs them; it neither stores nor sends anything.
package agentmsg

import "github.com/nats-io/nkeys"

// IsID tells whether text is an agent id: an Ed25519 public key in the form of
// a NATS user nkey (§4.3). Ids are compared byte for byte.
func IsID(text string) bool { return nkeys.IsValidPublicUserKey(text) }
