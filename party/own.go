package party

import (
	"cmp"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/plainfile"
)

// pemType marks PKCS #8 (RFC 7468 §10).
const pemType = "PRIVATE KEY"

// PageAge is how long others may go on using our key page after it changed: a key that is to sign stands on it for that
// long first (D91), and our own listener tells caches so.
const PageAge = 5 * time.Minute

// OwnKey is a key of our own party. Times are Unix seconds, 0 where not set.
type OwnKey struct {
	Private   ed25519.PrivateKey // nil where it is not here: lost, put away, or with another daemon of the party (D92)
	Public    ed25519.PublicKey  // set where Private is nil
	Kid       string             // RFC 7638 thumbprint of the public half
	CreatedAt int64
	RetiredAt int64
	RevokedAt int64
}

func (k OwnKey) public() ed25519.PublicKey {
	if k.Private == nil {
		return k.Public
	}
	return publicOf(k.Private)
}

func publicOf(private ed25519.PrivateKey) ed25519.PublicKey {
	return private.Public().(ed25519.PublicKey)
}

// fileJSON is the file beside a private key. It has the public half too, so that a lost private key does not take away
// what it signed (D92).
type fileJSON struct {
	X         string `json:"x,omitzero"` // as in a JWK (RFC 8037 §2)
	CreatedAt int64  `json:"created_at"`
	RetiredAt int64  `json:"retired_at,omitzero"`
	RevokedAt int64  `json:"revoked_at,omitzero"`
}

func (k OwnKey) file() ([]byte, error) {
	data, err := json.Marshal(fileJSON{
		X:         base64.RawURLEncoding.EncodeToString(k.public()),
		CreatedAt: k.CreatedAt, RetiredAt: k.RetiredAt, RevokedAt: k.RevokedAt,
	})
	return append(data, '\n'), err
}

// NewKey makes a key out of rand, 32 bytes at a time, and writes it to dir: {kid}.pem (PKCS #8, mode 0600) and, before it,
// {kid}.json, so that a key never stands there without its times. Both are on the disk when it returns. A key that is cut
// short is a public half that nobody can sign with. It fails where dir has all the keys that a page has room for.
func NewKey(dir string, rand io.Reader, now time.Time) (OwnKey, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return OwnKey{}, fmt.Errorf("make the key directory: %w", err)
	}
	unlock, err := plainfile.Lock(dir)
	if err != nil {
		return OwnKey{}, err
	}
	defer unlock()
	private, err := draw(rand)
	if err != nil {
		return OwnKey{}, fmt.Errorf("make a key: %w", err)
	}
	key := OwnKey{Private: private, Kid: jws.Thumbprint(publicOf(private)), CreatedAt: now.Unix()}
	names, err := keyNames(dir)
	if err != nil {
		return OwnKey{}, err
	}
	if len(names) >= maxKeys {
		return OwnKey{}, fmt.Errorf("make a key: %s has %d keys, and a key page has no room for more", dir, len(names))
	}
	return key, key.store(dir)
}

// draw makes a private key whose kid can be typed as an argument: with a hyphen first it would read as a flag.
func draw(rand io.Reader) (ed25519.PrivateKey, error) {
	for {
		seed := make([]byte, ed25519.SeedSize)
		if _, err := io.ReadFull(rand, seed); err != nil {
			return nil, err
		}
		private := ed25519.NewKeyFromSeed(seed)
		if !strings.HasPrefix(jws.Thumbprint(publicOf(private)), "-") {
			return private, nil
		}
	}
}

// store writes both files of a key of which none is there yet.
func (k OwnKey) store(dir string) error {
	der, err := x509.MarshalPKCS8PrivateKey(k.Private)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	data, err := k.file()
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	if err := writeNew(dir, k.Kid+".json", data); err != nil {
		return fmt.Errorf("write the times of a key: %w", err)
	}
	if err := writeNew(dir, k.Kid+".pem", pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der})); err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	return nil
}

// writeNew writes a file that must not be there yet. The folder is locked.
func writeNew(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return plainfile.Replace(path, data)
}

// Active returns the key that signs messages at now: the oldest that exists by then, is here with its private half, and
// is neither retired nor revoked, at whatever time (D90). A new key so stands on the page and waits until the one before
// it is retired.
func Active(keys []OwnKey, now time.Time) (OwnKey, bool) {
	return oldest(keys, func(k OwnKey) bool { return k.CreatedAt <= now.Unix() && k.RetiredAt == 0 })
}

// Sealing returns the key that seals an agreement made at the given time, in Unix seconds, which may be long past: the
// oldest that existed and was not retired then (D48), and was never revoked (D93).
func Sealing(keys []OwnKey, agreedAt int64) (OwnKey, bool) {
	return oldest(keys, func(k OwnKey) bool { return k.CreatedAt <= agreedAt && (k.RetiredAt == 0 || k.RetiredAt > agreedAt) })
}

func oldest(keys []OwnKey, fits func(OwnKey) bool) (OwnKey, bool) {
	able := slices.DeleteFunc(slices.Clone(keys), func(k OwnKey) bool {
		return k.Private == nil || k.RevokedAt != 0 || !fits(k)
	})
	if len(able) == 0 {
		return OwnKey{}, false
	}
	return slices.MinFunc(able, byAge), true
}

func byAge(a, b OwnKey) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Kid, b.Kid))
}

// errNoKey says that there is nothing to sign with.
var errNoKey = errors.New("no key of ours could sign then: see `agentmaild keys list`")
