package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"embed"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
)

// world is who takes part: the buyer writes to the seller's inbox, and the
// third is somebody else with mail and keys of his own.
type world struct{ buyer, seller, third *side }

// side is somebody who writes mail.
type side struct {
	address, party, org, contact string
	key                          ed25519.PrivateKey // signs messages
	dkim                         rsaKey             // signs mails
}

func newWorld() world {
	key := loadRSA("rsa-2048")
	return world{
		buyer:  &side{"agent@buyer.test", partyID("buyer"), "Buyer Co", "owner@buyer.test", seeded("key of buyer"), key},
		seller: &side{"agent@seller.test", partyID("seller"), "Seller Ltd", "owner@seller.test", seeded("key of seller"), key},
		third:  &side{"agent@third.test", partyID("third"), "Third Inc", "owner@third.test", seeded("key of third"), key},
	}
}

func (s *side) domain() string { return address.Of(s.address) }

func (s *side) page() string { return party.PageURL(pageHost, s.party) }

func (s *side) own() party.OwnKey { return ownKey(s.key) }

// created is when the keys of the suites were made: long before their mails.
const created = start - 30*day

func ownKey(key ed25519.PrivateKey) party.OwnKey {
	return party.OwnKey{Private: key, Kid: kidOf(key), CreatedAt: created}
}

func kidOf(key ed25519.PrivateKey) string {
	return jws.Thumbprint(key.Public().(ed25519.PublicKey))
}

// signer signs mails the way the daemon does.
func (s *side) signer() *dkim.Signer {
	return must(dkim.NewSigner(s.domain(), "s1", s.dkim.private))
}

// partyID is the id of a party with a readable name.
func partyID(name string) string {
	name = strings.ReplaceAll(name, "-", "")
	return "pty_" + (name + strings.Repeat("0", 20))[:20]
}

// digest is where ids, nonces, keys and boundaries come from: fixed by a label.
func digest(label string) [32]byte { return sha256.Sum256([]byte("agentmaild conformance: " + label)) }

func seeded(label string) ed25519.PrivateKey {
	seed := digest(label)
	return ed25519.NewKeyFromSeed(seed[:])
}

// uuid is a UUID of version 8 (RFC 9562 §5.8).
func uuid(label string) string {
	b := digest("id " + label)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func nonce(label string) string {
	b := digest("nonce " + label)
	return base64.RawURLEncoding.EncodeToString(b[:16])
}

//go:embed testdata/*.pem
var testKeys embed.FS

// loadRSA reads one of the test keys that stand beside this program: a key
// that is drawn anew would change every mail.
func loadRSA(name string) rsaKey {
	data := must(testKeys.ReadFile("testdata/" + name + "-test-key.pem"))
	block, _ := pem.Decode(data)
	return rsaKey{must(x509.ParsePKCS1PrivateKey(block.Bytes))}
}
