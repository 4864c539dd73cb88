package party

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seed is a source of randomness with one key in it.
func seed(n byte) io.Reader { return bytes.NewReader(bytes.Repeat([]byte{n}, 32)) }

func newTestKey(t *testing.T, dir string, n byte, at int64) OwnKey {
	t.Helper()
	key, err := NewKey(dir, seed(n), time.Unix(at, 0))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestNewKeyAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "keys")
	newer := newTestKey(t, dir, 2, created+1)
	older := newTestKey(t, dir, 1, created)
	if diff := cmp.Diff(testKey(1), older); diff != "" {
		t.Error(diff)
	}
	got, err := LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]OwnKey{older, newer}, got); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]fs.FileMode{
		dir:                                   fs.ModeDir | 0o700,
		filepath.Join(dir, newer.Kid+".pem"):  0o600,
		filepath.Join(dir, newer.Kid+".json"): 0o600,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Who is killed while he writes a key leaves a part of it, which the next change takes away.
func TestNewKeySweeps(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".new-123")
	other := filepath.Join(dir, "notes")
	for _, name := range []string{left, other} {
		if err := os.WriteFile(name, []byte("half a key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newTestKey(t, dir, 1, created)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left is still there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what is not ours was taken away: %v", err)
	}
}

func TestNewKeyRefuses(t *testing.T) {
	dir := t.TempDir()
	key := newTestKey(t, dir, 1, created)
	before, err := os.ReadFile(filepath.Join(dir, key.Kid+".pem"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewKey(dir, seed(1), time.Unix(created+9, 0)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the same key again: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, key.Kid+".pem")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the key was overwritten: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, key.Kid+".json")); err != nil {
		t.Fatal(err)
	}
	if _, err := NewKey(dir, seed(1), time.Unix(created, 0)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the same key without its times: %v", err)
	}
	if _, err := NewKey(dir, strings.NewReader("too short"), time.Unix(created, 0)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("no randomness: %v", err)
	}
	if _, err := NewKey(filepath.Join(dir, key.Kid+".pem"), seed(2), time.Unix(created, 0)); err == nil {
		t.Error("a file taken for a directory")
	}
}

func TestLoadKeysReadsTimes(t *testing.T) {
	dir := t.TempDir()
	want := newTestKey(t, dir, 1, created)
	want.RetiredAt, want.RevokedAt = created+10, created+20
	writeFile(t, filepath.Join(dir, want.Kid+".json"), `{"created_at":1700000000,"retired_at":1700000010,"revoked_at":1700000020}`)
	writeFile(t, filepath.Join(dir, "README"), "not a key")
	got, err := LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]OwnKey{want}, got); diff != "" {
		t.Error(diff)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A directory with one good key and one thing wrong: the error names the file and gives nothing of the key away.
func TestLoadKeysRefuses(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	ecKey := string(pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
	rename := func(t *testing.T, from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		change func(t *testing.T, key, times string)
		want   string // a part of the error
	}{
		"mode":            {func(t *testing.T, key, _ string) { chmod(t, key, 0o640) }, "mode 0640 lets others at the key: chmod 600"},
		"mode for all":    {func(t *testing.T, key, _ string) { chmod(t, key, 0o604) }, "mode 0604"},
		"empty":           {func(t *testing.T, key, _ string) { writeFile(t, key, "") }, "PEM"},
		"other block":     {func(t *testing.T, key, _ string) { writeFile(t, key, strings.ReplaceAll(ecKey, "PRIVATE", "PUBLIC")) }, "PEM"},
		"two blocks":      {func(t *testing.T, key, _ string) { writeFile(t, key, ecKey+ecKey) }, "PEM"},
		"other algorithm": {func(t *testing.T, key, _ string) { writeFile(t, key, ecKey) }, "Ed25519"},
		"block of nothing": {func(t *testing.T, key, _ string) {
			writeFile(t, key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
		}, "Ed25519"},
		"other name":       {func(t *testing.T, key, _ string) { rename(t, key, filepath.Join(filepath.Dir(key), "mine.pem")) }, "rename it to"},
		"no times":         {func(t *testing.T, _, times string) { rename(t, times, times+".old") }, ".json"},
		"times broken":     {func(t *testing.T, _, times string) { writeFile(t, times, `{"created_at":1`) }, "times in"},
		"times unknown":    {func(t *testing.T, _, times string) { writeFile(t, times, `{"created_at":1,"revoked":2}`) }, "times in"},
		"times twice":      {func(t *testing.T, _, times string) { writeFile(t, times, `{"created_at":1,"created_at":2}`) }, "times in"},
		"no created_at":    {func(t *testing.T, _, times string) { writeFile(t, times, `{"retired_at":1}`) }, "created_at"},
		"revoked before 0": {func(t *testing.T, _, times string) { writeFile(t, times, `{"created_at":1,"revoked_at":-1}`) }, "times in"},
		"a directory":      {func(t *testing.T, key, _ string) { rename(t, key, key+"x"); mkdir(t, key) }, "is no regular file"},
		"a broken link":    {func(t *testing.T, key, _ string) { rename(t, key, key+"x"); symlink(t, key+"y", key) }, "no such file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key := newTestKey(t, dir, 1, created)
			secret, err := os.ReadFile(filepath.Join(dir, key.Kid+".pem"))
			if err != nil {
				t.Fatal(err)
			}
			tc.change(t, filepath.Join(dir, key.Kid+".pem"), filepath.Join(dir, key.Kid+".json"))
			keys, err := LoadKeys(dir)
			if err == nil || keys != nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) {
				t.Fatalf("got %d keys, %v, want an error with %q", len(keys), err, tc.want)
			}
			if body := strings.Split(string(secret), "\n")[1]; strings.Contains(err.Error(), body) {
				t.Error("the error has the key in it")
			}
		})
	}
	if _, err := LoadKeys(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, name string) {
	t.Helper()
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func TestActive(t *testing.T) {
	at := func(n byte, createdAt, retiredAt, revokedAt int64) OwnKey {
		k := testKey(n)
		k.CreatedAt, k.RetiredAt, k.RevokedAt = createdAt, retiredAt, revokedAt
		return k
	}
	lost := at(9, 10, 0, 0)
	lost.Private, lost.Public = nil, publicOf(lost.Private)
	const now = 100
	for name, tc := range map[string]struct {
		keys   []OwnKey
		active int // index of the key that signs at 100, or -1
		seals  int // of the one that seals what was agreed at 100, or -1
	}{
		"none":           {nil, -1, -1},
		"one":            {[]OwnKey{at(1, 50, 0, 0)}, 0, 0},
		"oldest":         {[]OwnKey{at(1, 60, 0, 0), at(2, 70, 0, 0), at(3, 50, 0, 0)}, 2, 2},
		"not here":       {[]OwnKey{lost, at(2, 70, 0, 0)}, 1, 1},
		"retired":        {[]OwnKey{at(1, 50, now, 0), at(2, 70, 0, 0)}, 1, 1},
		"retired later":  {[]OwnKey{at(1, 50, now+1, 0), at(2, 70, 0, 0)}, 1, 0},
		"revoked":        {[]OwnKey{at(1, 50, 0, now), at(2, 70, 0, 0)}, 1, 1},
		"revoked later":  {[]OwnKey{at(1, 50, 0, now+1), at(2, 70, 0, 0)}, 1, 1},
		"only revoked":   {[]OwnKey{at(1, 50, 0, now+1)}, -1, -1},
		"not yet":        {[]OwnKey{at(1, now+1, 0, 0)}, -1, -1},
		"only just":      {[]OwnKey{at(1, now, 0, 0)}, 0, 0},
		"all retired":    {[]OwnKey{at(1, 50, 60, 0)}, -1, -1},
		"of one instant": {[]OwnKey{at(1, 50, 0, 0), at(2, 50, 0, 0)}, 0, 0}, // the lower kid
	} {
		t.Run(name, func(t *testing.T) {
			is := func(what string, want int) func(OwnKey, bool) {
				return func(got OwnKey, ok bool) {
					if ok != (want >= 0) || ok && got.Kid != tc.keys[want].Kid {
						t.Errorf("%s: the key of %d, %v", what, got.CreatedAt, ok)
					}
				}
			}
			is("active", tc.active)(Active(tc.keys, time.Unix(now, 0)))
			is("seals", tc.seals)(Sealing(tc.keys, now))
		})
	}
}

// TestNewKeyCanBeTyped passes over a key whose kid begins as a flag does.
func TestNewKeyCanBeTyped(t *testing.T) {
	n := byte(0)
	for !strings.HasPrefix(testKey(n).Kid, "-") {
		n++
	}
	two := io.MultiReader(seed(n), seed(1))
	if key, err := NewKey(t.TempDir(), two, time.Unix(created, 0)); err != nil || key.Kid != testKey(1).Kid {
		t.Errorf("made %s, %v", key.Kid, err)
	}
}

// TestNewKeyPageFull makes no key for which a page has no room: with it the page could not be made any more.
func TestNewKeyPageFull(t *testing.T) {
	dir := t.TempDir()
	for i := range maxKeys - 1 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("%043d.json", i)), "{}")
	}
	newTestKey(t, dir, 1, created)
	if _, err := NewKey(dir, seed(2), time.Unix(created, 0)); err == nil || !strings.Contains(err.Error(), "has 100 keys") {
		t.Errorf("one key more: %v", err)
	}
}

// TestPrivateHalfGone keeps a key on the page whose private half was lost, or is on another machine; it never signs.
func TestPrivateHalfGone(t *testing.T) {
	dir := t.TempDir()
	here, gone := newTestKey(t, dir, 1, created), newTestKey(t, dir, 2, created-1)
	if err := os.Remove(filepath.Join(dir, gone.Kid+".pem")); err != nil {
		t.Fatal(err)
	}
	keys, err := LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	gone.Private, gone.Public = nil, publicOf(gone.Private)
	if diff := cmp.Diff([]OwnKey{gone, here}, keys); diff != "" {
		t.Error(diff)
	}
	data, err := BuildPage(buyer, "", nil, nil, keys)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := ParsePage(data, buyer); err != nil || len(page.Keys) != 2 || page.Keys[0].Kid != gone.Kid {
		t.Errorf("the page has %v, %v", page, err)
	}
	for name, text := range map[string]string{
		"no public half":      `{"created_at":1}`,
		"that of another key": `{"x":"` + base64.RawURLEncoding.EncodeToString(publicOf(here.Private)) + `","created_at":1}`,
	} {
		writeFile(t, filepath.Join(dir, gone.Kid+".json"), text)
		if _, err := LoadKeys(dir); err == nil || !strings.Contains(err.Error(), gone.Kid+".pem: it is gone") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
