package agentmsg

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nats-io/nkeys"
)

// maxKeyFile bounds a file that holds one key, in bytes. A seed takes 58.
const maxKeyFile = 1 << 10

// NewSeed draws the seed of a new agent, as ParseSeed reads it.
func NewSeed(random io.Reader) (string, error) {
	raw := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("drawing a seed: %w", err)
	}
	seed, err := nkeys.EncodeSeed(nkeys.PrefixByteUser, raw)
	return string(seed), err
}

// NewSealingKey draws a private key, as ParseSealingKey reads it.
func NewSealingKey(random io.Reader) (string, error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("drawing a sealing key: %w", err)
	}
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return "", fmt.Errorf("drawing a sealing key: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(key.Bytes()), nil
}

// LoadIdentity reads the seed in a file of one line. Error: ErrSeed, or that
// of the file.
func LoadIdentity(path string) (Identity, error) { return loadKey(path, ParseSeed) }

// LoadSealingKey reads the private key in a file of one line. Error:
// ErrSealingKey, or that of the file.
func LoadSealingKey(path string) (SealingKey, error) { return loadKey(path, ParseSealingKey) }

// loadKey reads a key that only its owner may read: whoever else reads it can
// be the agent, or read what is sealed to it.
func loadKey[K any](path string, parse func(string) (K, error)) (key K, err error) {
	file, err := os.Open(path)
	if err != nil {
		return key, fmt.Errorf("loading a key: %w", err)
	}
	defer file.Close()
	info, err := file.Stat() // of the open file: the path may come to name another
	if err != nil {
		return key, fmt.Errorf("loading a key: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return key, fmt.Errorf("loading a key: %s has mode %04o and is open to other users: chmod 600 %[1]s", path, mode.Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return key, fmt.Errorf("loading a key: %w", err)
	}
	if key, err = parse(strings.TrimSpace(string(text))); err != nil {
		return key, fmt.Errorf("loading the key in %s: %w", path, err)
	}
	return key, nil
}
