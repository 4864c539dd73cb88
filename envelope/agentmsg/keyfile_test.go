package agentmsg

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keyFile writes a file and returns its path.
func keyFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNewKeys(t *testing.T) {
	for name, c := range map[string]struct {
		draw func() (string, error)
		load func(path string) (string, error)
	}{
		"agent": {func() (string, error) { return NewSeed(rand.Reader) }, func(path string) (string, error) {
			i, err := LoadIdentity(path)
			return i.ID(), err
		}},
		"sealing": {func() (string, error) { return NewSealingKey(rand.Reader) }, func(path string) (string, error) {
			k, err := LoadSealingKey(path)
			return k.Public(), err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := c.draw()
			if err != nil {
				t.Fatal(err)
			}
			other, err := c.draw()
			if err != nil || other == text {
				t.Errorf("drawn twice: %v", err)
			}
			first, err := c.load(keyFile(t, text+"\n", 0o600))
			if err != nil || first == "" {
				t.Fatalf("%q, %v", first, err)
			}
			for _, end := range []string{"", "\r\n"} {
				if again, err := c.load(keyFile(t, text+end, 0o400)); err != nil || again != first {
					t.Errorf("with line end %q: %q, %v", end, again, err)
				}
			}
			for _, bad := range []string{"", text[:len(text)-1], text + text, strings.Repeat("A", 2*maxKeyFile)} {
				_, err := c.load(keyFile(t, bad, 0o600))
				if !errors.Is(err, ErrSeed) && !errors.Is(err, ErrSealingKey) || bad != "" && strings.Contains(err.Error(), strings.TrimSpace(bad)) {
					t.Errorf("a file of %d bytes: %v", len(bad), err)
				}
			}
			if _, err := c.load(keyFile(t, text, 0o640)); err == nil || !strings.Contains(err.Error(), "has mode 0640 and is open to other users: chmod 600 ") {
				t.Errorf("open to others: %v", err)
			}
			if _, err := c.load(t.TempDir()); err == nil {
				t.Error("a folder is loaded")
			}
			if _, err := c.load("nowhere"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("no file: %v", err)
			}
		})
	}
}

// TestNoRandomness draws nothing where there is no randomness.
func TestNoRandomness(t *testing.T) {
	if _, err := NewSeed(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("a seed of 31 bytes")
	}
	if _, err := NewSealingKey(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("a sealing key of 31 bytes")
	}
}
