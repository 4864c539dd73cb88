package party

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

const maxKeyFile = 4 << 10 // bytes read of a file in the key directory

// LoadKeys reads every {kid}.pem in dir with its {kid}.json, oldest first. It refuses a key file that others than its
// owner can read or write, a file that holds no Ed25519 key, a name that is not the thumbprint of its key, and a key
// without times; the error names the file and never what is in it.
func LoadKeys(dir string) ([]OwnKey, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the key directory: %w", err)
	}
	var keys []OwnKey
	for _, file := range files {
		kid, ok := strings.CutSuffix(file.Name(), ".pem")
		if !ok {
			continue
		}
		key, err := loadKey(dir, kid)
		if err != nil {
			return nil, fmt.Errorf("key file %s: %w", filepath.Join(dir, file.Name()), err)
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, byAge)
	return keys, nil
}

func loadKey(dir, kid string) (OwnKey, error) {
	name := filepath.Join(dir, kid+".pem")
	data, mode, err := readSmall(name)
	if err != nil {
		return OwnKey{}, err
	}
	if mode.Perm()&0o077 != 0 { // another user of the machine could sign in our name
		return OwnKey{}, fmt.Errorf("mode %04o lets others at the key: chmod 600 %s", mode.Perm(), name)
	}
	private, err := parsePrivate(data)
	if err != nil {
		return OwnKey{}, err
	}
	// One name for one key: a copy under a second name would put the kid on our page twice, where none counts (D55).
	if thumbprint := jws.Thumbprint(publicOf(private)); thumbprint != kid {
		return OwnKey{}, fmt.Errorf("rename it to %s.pem, and its times to %s.json", thumbprint, thumbprint)
	}
	times, err := loadTimes(filepath.Join(dir, kid+".json"))
	if err != nil {
		return OwnKey{}, err
	}
	return OwnKey{
		Private: private, Kid: kid,
		CreatedAt: times.CreatedAt, RetiredAt: times.RetiredAt, RevokedAt: times.RevokedAt,
	}, nil
}

func readSmall(name string) ([]byte, os.FileMode, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	return data, info.Mode(), err
}

func parsePrivate(data []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != pemType || len(bytes.TrimSpace(rest)) != 0 {
		return nil, errors.New("not one PEM block " + pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok { // the parser's own words may tell of the key
		return nil, errors.New("not an Ed25519 key in PKCS #8")
	}
	return private, nil
}

func loadTimes(name string) (timesJSON, error) {
	data, _, err := readSmall(name)
	if err != nil {
		return timesJSON{}, err
	}
	var times timesJSON
	if err := json.Unmarshal(data, &times, json.RejectUnknownMembers(true)); err != nil {
		return timesJSON{}, fmt.Errorf("times in %s: %w", name, err)
	}
	if times.CreatedAt <= 0 || times.RetiredAt < 0 || times.RevokedAt < 0 {
		return timesJSON{}, fmt.Errorf("times in %s: created_at missing, or a time before 1970", name)
	}
	return times, nil
}
