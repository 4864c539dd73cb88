package agentmsg

import (
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/crypto/nacl/box"
)

// What sealing refuses.
var (
	ErrSealingKey = errors.New("not an X25519 key: 43 characters of unpadded base64url")
	ErrSealed     = errors.New("the sealed body does not open")
)

// SealingKey is an X25519 key that bodies are sealed to, with its private half.
// However it is printed or logged, that half is not; see Identity.
type SealingKey struct{ private func() *ecdh.PrivateKey }

// ParseSealingKey reads a private key: 32 bytes in unpadded base64url. Error:
// ErrSealingKey, which never tells what stood there.
func ParseSealingKey(text string) (SealingKey, error) {
	raw, err := decode64(base64.RawURLEncoding, text)
	if err != nil {
		return SealingKey{}, ErrSealingKey
	}
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return SealingKey{}, ErrSealingKey
	}
	return SealingKey{func() *ecdh.PrivateKey { return key }}, nil
}

// Public is the public half, as it stands on a name card.
func (k SealingKey) Public() string {
	if k.private == nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(k.private().PublicKey().Bytes())
}

// String, GoString and LogValue are the public half.
func (k SealingKey) String() string       { return k.Public() }
func (k SealingKey) GoString() string     { return "agentmsg.SealingKey(" + k.Public() + ")" }
func (k SealingKey) LogValue() slog.Value { return slog.StringValue(k.Public()) }

// sealed is a body that only the holder of a key can read (EXT-7).
type sealed struct {
	V        string  `json:"v"`
	EPK      string  `json:"epk"`                // made for this body alone: who sent it is what sig says
	Nonce    string  `json:"nonce"`              // 24 bytes
	CT       string  `json:"ct"`                 // the box
	ReplyKey *string `json:"reply_key,omitzero"` // stands outside the box: see Envelope.ReplyKey
}

// Seal seals a body to the X25519 key of its recipient (EXT-7). What is sealed
// is the JSON of the body alone (E7). replyKey is the sender's own published
// key, or empty. Error: ErrSealingKey, or that of random.
func Seal(body jsontext.Value, to, replyKey string, random io.Reader) (jsontext.Value, error) {
	s := sealedBox{replyKey: optional(replyKey)}
	plain, err := canon.Strict(body, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("sealing a body: %w", err)
	}
	once := make([]byte, 32)
	if _, err := io.ReadFull(random, once); err != nil {
		return nil, fmt.Errorf("sealing a body: %w", err)
	}
	if _, err := io.ReadFull(random, s.nonce[:]); err != nil {
		return nil, fmt.Errorf("sealing a body: %w", err)
	}
	public, err := sealingKey(to)
	if err != nil {
		return nil, fmt.Errorf("sealing a body: %w", err)
	}
	private, err := ecdh.X25519().NewPrivateKey(once)
	if err != nil {
		return nil, fmt.Errorf("sealing a body: %w", err)
	}
	shared, err := agree(private, public)
	if err != nil {
		return nil, fmt.Errorf("sealing a body: %w", err)
	}
	s.epk = private.PublicKey()
	return s.write(plain, shared)
}

// write puts what is sealed into the box, and the box into JSON.
func (s sealedBox) write(plain []byte, shared *[32]byte) (jsontext.Value, error) {
	encode := base64.RawURLEncoding.EncodeToString
	return canon.Marshal(sealed{
		V: versionSealed, EPK: encode(s.epk.Bytes()), Nonce: encode(s.nonce[:]),
		CT: encode(box.SealAfterPrecomputation(nil, plain, &s.nonce, shared)), ReplyKey: s.replyKey,
	})
}

// agree is the key that two X25519 keys have in common. A public key of small
// order, with which everybody shares the same, is refused.
func agree(private *ecdh.PrivateKey, public *ecdh.PublicKey) (*[32]byte, error) {
	if _, err := private.ECDH(public); err != nil {
		return nil, ErrSealingKey
	}
	var shared [32]byte
	box.Precompute(&shared, (*[32]byte)(public.Bytes()), (*[32]byte)(private.Bytes()))
	return &shared, nil
}

// IsSealingKey tells whether text is a public key that can be sealed to.
func IsSealingKey(text string) bool {
	_, err := sealingKey(text)
	return err == nil
}

func sealingKey(text string) (*ecdh.PublicKey, error) {
	raw, err := decode64(base64.RawURLEncoding, text)
	if err != nil {
		return nil, ErrSealingKey
	}
	key, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, ErrSealingKey
	}
	return key, nil
}

// IsSealed tells whether a body is sealed, to whomever. One with a member that
// a sealed body does not have is plain (D105): under the cloak of v alone a
// text would reach a model without its frame.
func IsSealed(body jsontext.Value) bool {
	_, ok := readSealed(body)
	return ok
}

// sealedBox is a sealed body, decoded.
type sealedBox struct {
	epk      *ecdh.PublicKey
	nonce    [24]byte
	ct       []byte
	replyKey *string
}

func readSealed(body jsontext.Value) (sealedBox, bool) {
	var s sealed
	if body.Kind() != jsontext.KindBeginObject || json.Unmarshal(body, &s, json.RejectUnknownMembers(true)) != nil || s.V != versionSealed {
		return sealedBox{}, false
	}
	epk, err := sealingKey(s.EPK)
	if err != nil {
		return sealedBox{}, false
	}
	nonce, err := decode64(base64.RawURLEncoding, s.Nonce)
	if err != nil || len(nonce) != 24 {
		return sealedBox{}, false
	}
	ct, err := decode64(base64.RawURLEncoding, s.CT)
	if err != nil || len(ct) < box.Overhead {
		return sealedBox{}, false
	}
	return sealedBox{epk: epk, nonce: [24]byte(nonce), ct: ct, replyKey: s.ReplyKey}, true
}

// Open is the envelope with its sealed body read; Bytes stays what was signed.
// An envelope whose body is not sealed is returned as it is. Error: ErrSealed,
// which does not tell whether the key is another or the box is broken.
func (e *Envelope) Open(key SealingKey) (*Envelope, error) {
	s, ok := readSealed(e.Body())
	if !ok {
		return e, nil
	}
	if key.private == nil {
		return nil, ErrSealed
	}
	shared, err := agree(key.private(), s.epk)
	if err != nil {
		return nil, ErrSealed
	}
	plain, ok := box.OpenAfterPrecomputation(nil, s.ct, &s.nonce, shared)
	if !ok {
		return nil, ErrSealed
	}
	body, err := canon.Strict(plain, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("%w: what it holds is not strict JSON: %w", ErrSealed, err)
	}
	return e.withBody(present(body)), nil
}

func (e *Envelope) withBody(body jsontext.Value) *Envelope {
	opened := *e
	if e.Request != nil {
		request := *e.Request
		request.Input, opened.Request = body, &request
	} else {
		respond := *e.Respond
		respond.Output, opened.Respond = body, &respond
	}
	return &opened
}

// ReplyKey is the key that the answer to e is sealed to: the sender's own
// published one, as this host knows it, unless e asks for another. That is
// refused, since whoever holds it need not be the sender. published is empty
// where none is known, and then there is no key to seal to.
func (e *Envelope) ReplyKey(published string) (key string, ok bool) {
	s, _ := readSealed(e.Body())
	if published == "" || s.replyKey != nil && *s.replyKey != published {
		return "", false
	}
	return published, true
}
