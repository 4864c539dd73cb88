package party

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/plainfile"
)

const maxKeyFile = 4 << 10 // bytes read of a file in the key directory

// kidForm is what a thumbprint looks like: 32 bytes in base64url.
var kidForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// LoadKeys reads every {kid}.pem in dir with its {kid}.json, and those {kid}.json whose private half is not there (D92),
// oldest first. It refuses a key file that others than its owner can read or write, a file that holds no Ed25519 key, a
// name that is not the thumbprint of its key, and a key without times; the error names the file and never what is in it.
func LoadKeys(dir string) ([]OwnKey, error) {
	names, err := keyNames(dir)
	if err != nil {
		return nil, err
	}
	var keys []OwnKey
	for _, kid := range slices.Sorted(maps.Keys(names)) {
		key, err := loadKey(dir, kid, names[kid])
		if err != nil {
			return nil, fmt.Errorf("key file %s: %w", filepath.Join(dir, kid+".pem"), err)
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, byAge)
	return keys, nil
}

// keyNames lists the kids in a folder, and tells which of them have a private half there.
func keyNames(dir string) (map[string]bool, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the key directory: %w", err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if kid, ok := strings.CutSuffix(file.Name(), ".pem"); ok {
			names[kid] = true
		}
		if kid, ok := strings.CutSuffix(file.Name(), ".json"); ok && kidForm.MatchString(kid) {
			names[kid] = false // until its .pem comes, behind it in the order of names
		}
	}
	return names, nil
}

func loadKey(dir, kid string, withPrivate bool) (OwnKey, error) {
	key := OwnKey{Kid: kid}
	if withPrivate {
		var err error
		if key.Private, err = loadPrivate(filepath.Join(dir, kid+".pem")); err != nil {
			return OwnKey{}, err
		}
		// One name for one key: a copy under a second name would put the kid on our page twice, where none counts (D55).
		if thumbprint := jws.Thumbprint(publicOf(key.Private)); thumbprint != kid {
			return OwnKey{}, fmt.Errorf("rename it to %s.pem, and its times to %s.json", thumbprint, thumbprint)
		}
	}
	times, err := loadTimes(filepath.Join(dir, kid+".json"))
	if err != nil {
		return OwnKey{}, err
	}
	key.CreatedAt, key.RetiredAt, key.RevokedAt = times.CreatedAt, times.RetiredAt, times.RevokedAt
	if withPrivate {
		return key, nil
	}
	key.Public, err = jws.PublicKey(times.X)
	if err != nil || jws.Thumbprint(key.Public) != kid {
		return OwnKey{}, fmt.Errorf("it is gone, and %s.json has not its public half: restore it from a backup, or remove that file too and "+
			"nothing it signed checks any more", kid)
	}
	return key, nil
}

func loadPrivate(name string) (ed25519.PrivateKey, error) {
	data, mode, err := plainfile.Read(name, maxKeyFile)
	if err != nil {
		return nil, err
	}
	if mode.Perm()&0o077 != 0 { // another user of the machine could sign in our name
		return nil, fmt.Errorf("mode %04o lets others at the key: chmod 600 %s", mode.Perm(), name)
	}
	return parsePrivate(data)
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

func loadTimes(name string) (fileJSON, error) {
	data, _, err := plainfile.Read(name, maxKeyFile)
	if err != nil {
		return fileJSON{}, err
	}
	var times fileJSON
	if err := json.Unmarshal(data, &times, json.RejectUnknownMembers(true)); err != nil {
		return fileJSON{}, fmt.Errorf("times in %s: %w", name, err)
	}
	if times.CreatedAt <= 0 || times.RetiredAt < 0 || times.RevokedAt < 0 {
		return fileJSON{}, fmt.Errorf("times in %s: created_at missing, or a time before 1970", name)
	}
	return times, nil
}
