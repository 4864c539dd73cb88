package party

import (
	"cmp"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

// pemType marks PKCS #8 (RFC 7468 §10).
const pemType = "PRIVATE KEY"

// OwnKey is a key this side signs with. Times are Unix seconds, 0 where not set.
type OwnKey struct {
	Private   ed25519.PrivateKey
	Kid       string // RFC 7638 thumbprint of the public half
	CreatedAt int64
	RetiredAt int64
	RevokedAt int64
}

// timesJSON is the file beside a key.
type timesJSON struct {
	CreatedAt int64 `json:"created_at"`
	RetiredAt int64 `json:"retired_at,omitzero"`
	RevokedAt int64 `json:"revoked_at,omitzero"`
}

// NewKey makes a key out of 32 bytes of rand and writes it to dir: {kid}.pem (PKCS #8, mode 0600) and, before it,
// {kid}.json with its times, so that a key never stands there without them. Both are on the disk when it returns.
func NewKey(dir string, rand io.Reader, now time.Time) (OwnKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return OwnKey{}, fmt.Errorf("make a key: %w", err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	key := OwnKey{Private: private, Kid: jws.Thumbprint(publicOf(private)), CreatedAt: now.Unix()}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return OwnKey{}, fmt.Errorf("make a key: %w", err)
	}
	times, err := json.Marshal(timesJSON{CreatedAt: key.CreatedAt})
	if err != nil {
		return OwnKey{}, fmt.Errorf("make a key: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return OwnKey{}, fmt.Errorf("make the key directory: %w", err)
	}
	if err := writeNew(filepath.Join(dir, key.Kid+".json"), append(times, '\n')); err != nil {
		return OwnKey{}, fmt.Errorf("write the times of a key: %w", err)
	}
	if err := writeNew(filepath.Join(dir, key.Kid+".pem"), pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der})); err != nil {
		return OwnKey{}, fmt.Errorf("write a key: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return OwnKey{}, err
	}
	return key, nil
}

func publicOf(private ed25519.PrivateKey) ed25519.PublicKey {
	return private.Public().(ed25519.PublicKey)
}

// writeNew writes a file that only its owner can read and that was not there before.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes the names in a directory last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the key directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync the key directory: %w", err)
	}
	return nil
}

// Active returns the newest key that exists at now and is neither retired nor revoked by then.
func Active(keys []OwnKey, now time.Time) (OwnKey, bool) {
	var newest OwnKey
	found := false
	for _, k := range keys {
		if k.usable(now.Unix()) && (!found || byAge(k, newest) > 0) {
			newest, found = k, true
		}
	}
	return newest, found
}

func (k OwnKey) usable(now int64) bool {
	return k.CreatedAt <= now && (k.RetiredAt == 0 || k.RetiredAt > now) && (k.RevokedAt == 0 || k.RevokedAt > now)
}

func byAge(a, b OwnKey) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Kid, b.Kid))
}
