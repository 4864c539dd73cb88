package dkim

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
)

// minSigningBits is the least RSA key that signs here, in bits (RFC 8301 §3.2).
const minSigningBits = 2048

// lineLength is where the written field is folded, in characters.
const lineLength = 72

// signedFields are covered as often as a mail has them (profile section 3).
var signedFields = []string{
	"From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References",
	"MIME-Version", "Content-Type", "Agent-Of", "Agent-Attribution",
	"Auto-Submitted", "Structured-Data",
}

// Signer signs outgoing mails for one domain with one key. It may be used by
// several goroutines if its key may.
type Signer struct {
	domain, selector, algorithm string
	key                         crypto.Signer
	hash                        crypto.Hash // what key.Sign is told
}

// NewSigner returns a Signer for d=domain and s=selector, plain names as in
// DNS. The key is RSA with 2 048 to 4 096 bits (rsa-sha256) or Ed25519
// (ed25519-sha256, RFC 8463); others are refused, as is a domain under which
// everybody can register, since no receiver takes its signature.
func NewSigner(domain, selector string, key crypto.Signer) (*Signer, error) {
	s := &Signer{domain: strings.ToLower(domain), selector: strings.ToLower(selector), key: key}
	if !Aligned(s.domain, s.domain, true) {
		return nil, fmt.Errorf("signing domain %q is no registered host name", domain)
	}
	if !isName(s.selector, false) || !isName(s.selector+"._domainkey."+s.domain, true) {
		return nil, fmt.Errorf("selector %q is no plain name", selector)
	}
	if err := checkSigningKey(key); err != nil {
		return nil, err
	}
	s.algorithm, s.hash = "rsa-sha256", crypto.SHA256
	if _, ok := key.Public().(ed25519.PublicKey); ok {
		s.algorithm, s.hash = "ed25519-sha256", 0
	}
	return s, nil
}

// checkSigningKey refuses keys that receivers refuse.
func checkSigningKey(key crypto.Signer) error {
	switch pub := key.Public().(type) {
	case ed25519.PublicKey:
		return nil
	case *rsa.PublicKey:
		if bits := pub.N.BitLen(); bits < minSigningBits || bits > maxRSABits {
			return fmt.Errorf("an RSA key of %d bits; %d to %d sign", bits, minSigningBits, maxRSABits)
		}
		return nil
	default:
		return fmt.Errorf("a key of type %T; RSA and Ed25519 sign", pub)
	}
}

// Sign returns raw with a DKIM-Signature field on top, relaxed/relaxed, t=at.
// From is covered once more than it stands there, so that no relay can add
// another. raw must have CRLF line ends only and one From field: anything else
// would be changed on its way and break the signature.
func (s *Signer) Sign(raw []byte, at time.Time) (signed []byte, err error) {
	m, err := readMessage(raw)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	if len(m.named("from")) != 1 || bareLineEnd(m.body) {
		return nil, errors.New("signing: the mail needs one From field and CRLF line ends")
	}
	names := s.cover(m)
	// The value of b= is not part of what is signed, so the field is made first
	// and completed after.
	own := s.field(names, m.bodyHash(relaxed), at)
	f, err := readField(append(bytes.Clone(own), crlf...))
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	digest := m.headerHash(relaxed, splitList(strings.Join(names, ":")), f)
	value, err := s.key.Sign(rand.Reader, digest[:], s.hash)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	for b := base64.StdEncoding.EncodeToString(value); b != ""; {
		n := min(len(b), lineLength)
		own = append(append(own, "\r\n\t "...), b[:n]...)
		b = b[n:]
	}
	return bytes.Join([][]byte{own, raw}, crlf), nil
}

// cover lists the fields for h=.
func (s *Signer) cover(m *message) []string {
	names := []string{"From"}
	for _, name := range signedFields {
		for range m.named(strings.ToLower(name)) {
			names = append(names, name)
		}
	}
	return names
}

// field writes the DKIM-Signature field up to the value of b=.
func (s *Signer) field(names []string, bodyHash []byte, at time.Time) []byte {
	text := fmt.Appendf(nil, "DKIM-Signature: v=1; a=%s; c=relaxed/relaxed;\r\n\td=%s;\r\n\ts=%s; t=%d;\r\n\th=",
		s.algorithm, s.domain, s.selector, at.Unix())
	line := 0
	for i, name := range names {
		if i > 0 {
			text = append(text, ':')
		}
		if line += len(name) + 1; line > lineLength {
			text, line = append(text, "\r\n\t "...), len(name)
		}
		text = append(text, name...)
	}
	return fmt.Appendf(text, ";\r\n\tbh=%s;\r\n\tb=", base64.StdEncoding.EncodeToString(bodyHash))
}
