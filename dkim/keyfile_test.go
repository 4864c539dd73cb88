package dkim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pemOf writes a key as PKCS#8.
func pemOf(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestLoadKey(t *testing.T) {
	rsaKey := testKey(t, "rsa2048").(*rsa.PrivateKey)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})
	good := pemOf(t, edKey)
	cases := []struct {
		name, text string
		mode       os.FileMode
		want       string // part of the error, empty where it loads
	}{
		{"ed25519", good, 0o600, ""},
		{"rsa_pkcs8", pemOf(t, rsaKey), 0o600, ""},
		{"rsa_pkcs1", string(pkcs1), 0o600, ""},
		{"read_only", good, 0o400, ""},
		{"space_behind", good + "\n \n", 0o600, ""},
		{"group_reads", good, 0o640, "0640"},
		{"all_read", good, 0o644, "0644"},
		{"executable", good, 0o700, "0700"},
		{"rsa1024", pemOf(t, testKey(t, "rsa1024")), 0o600, "1024 bits"},
		{"ecdsa", pemOf(t, ec), 0o600, "RSA and Ed25519 sign"},
		{"two_blocks", good + good, 0o600, "one PEM block"},
		{"no_pem", "hello", 0o600, "one PEM block"},
		{"certificate", strings.ReplaceAll(good, "PRIVATE KEY", "CERTIFICATE"), 0o600, "not a PKCS#8"},
		{"broken", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600, "cannot be read"},
		{"too_large", strings.Repeat("\n", maxKeyFile) + good, 0o600, "too large"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key.pem")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			key, err := LoadKey(path)
			if (err == nil) != (c.want == "") || (key == nil) == (err == nil) {
				t.Fatalf("got %v, %v", key, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
				t.Errorf("error %q should name the file and say %q", err, c.want)
			}
		})
	}
}

func TestLoadKeyOfNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadKey(filepath.Join(dir, "none.pem")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := LoadKey(dir); err == nil {
		t.Error("a directory loads")
	}
}
