package dkim

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/plainfile"
)

// maxKeyFile bounds a key file, in bytes. An RSA key of 4 096 bits takes 3 300.
const maxKeyFile = 32 << 10

// LoadKey reads a signing key from a PEM file: RSA (PKCS#8 or PKCS#1) with
// 2 048 to 4 096 bits or Ed25519 (PKCS#8). The file must be readable by its
// owner alone (mode 0600 or narrower): whoever reads it can send in the
// domain's name. Errors name the file, never its content.
func LoadKey(path string) (crypto.Signer, error) {
	key, err := loadKey(path)
	if err != nil {
		return nil, fmt.Errorf("loading DKIM key %s: %w", path, err)
	}
	return key, nil
}

func loadKey(path string) (crypto.Signer, error) {
	data, mode, err := plainfile.Read(path, maxKeyFile)
	if err != nil {
		return nil, err
	}
	if mode.Perm()&^0o600 != 0 {
		return nil, fmt.Errorf("its mode is %#o; a file of mode 0600 or narrower is needed (chmod 600)", mode.Perm())
	}
	return parsePrivateKey(data)
}

// parsePrivateKey reads the one PEM block of a key file. The parsers' own
// errors are not passed on, since they may quote what they read.
func parsePrivateKey(data []byte) (crypto.Signer, error) {
	block, rest := pem.Decode(data)
	if block == nil || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("not exactly one PEM block: `openssl genrsa 2048` makes such a file")
	}
	var parsed any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		return nil, errors.New("not a PKCS#8 or PKCS#1 private key")
	}
	key, ok := parsed.(crypto.Signer)
	if err != nil || !ok {
		return nil, errors.New("the private key cannot be read")
	}
	if err := checkSigningKey(key); err != nil {
		return nil, err
	}
	return key, nil
}
