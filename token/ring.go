package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/plainfile"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxTokens = 256
	maxFile   = 1 << 20 // bytes
)

// ErrRing is a mistake of who adds or removes: a bad name, one that is taken, or one that is not there.
var ErrRing = errors.New("token")

// Ring is the tokens of a daemon. It may be used by several goroutines, and by several processes on one file.
type Ring struct {
	path string

	mu     sync.Mutex
	seen   os.FileInfo // of the file as it was read last; nil: it was not there
	tokens []Token
	err    error
}

// file is the form of the file.
type file struct {
	Tokens []Token `json:"tokens"`
}

// Open reads the tokens in a file. One that is not there has none. It refuses a file that others than its owner can read
// or write, and one that is not of its form.
func Open(path string) (*Ring, error) {
	r := &Ring{path: path}
	return r, r.Err()
}

// Check finds the token of a secret. Every hash is compared, whichever is the right one, and none by its first different
// byte. While the file cannot be used nobody is let in: Err says why.
func (r *Ring) Check(secret string) (Token, bool) {
	hash := Hash(sha256.Sum256([]byte(secret)))
	var found Token
	ok := false
	for _, t := range r.List() {
		if subtle.ConstantTimeCompare(hash[:], t.Hash[:]) == 1 {
			found, ok = t, true
		}
	}
	return found, ok
}

// List is the tokens in the order in which they were made; none while the file cannot be used.
func (r *Ring) List() []Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
	return slices.Clone(r.tokens)
}

// Err is why the file cannot be used, nil where it can.
func (r *Ring) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
	return r.err
}

// look reads the file again when it is another than before: whoever revokes a token is another process.
func (r *Ring) look() {
	now, err := os.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.seen, r.tokens, r.err = nil, nil, nil
	case err != nil:
		r.seen, r.tokens, r.err = nil, nil, fmt.Errorf("reading the tokens: %w", err)
	case r.seen == nil || !same(now, r.seen):
		r.seen = now // a file that changes from here on is read once more
		r.tokens, r.err = read(r.path)
	}
}

// same tells whether a file is as it was. Replaced within one tick of its times it is another file all the same.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

func read(path string) ([]Token, error) {
	data, mode, err := plainfile.Read(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("reading the tokens: %w", err)
	}
	if mode.Perm()&0o077 != 0 { // another user of the machine could let himself in
		return nil, fmt.Errorf("reading the tokens: %s has mode %04o and is open to other users: chmod 600 %[1]s", path, mode.Perm())
	}
	var f file
	if err := json.Unmarshal(data, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("reading the tokens: %s: %w", path, err)
	}
	names := map[string]bool{}
	for _, t := range f.Tokens {
		if err := check(t); err != nil {
			return nil, fmt.Errorf("reading the tokens: %s: %w", path, err)
		}
		if names[t.Name] {
			return nil, fmt.Errorf("reading the tokens: %s: %w %s is there twice", path, ErrRing, t.Name)
		}
		names[t.Name] = true
	}
	return f.Tokens, nil
}

func check(t Token) error {
	switch {
	case !NameForm.MatchString(t.Name):
		return fmt.Errorf("%w %q: a name is a-z, 0-9 and hyphens, at most 63 and no hyphen first", ErrRing, t.Name)
	case t.Scope != Agent && t.Scope != Owner:
		return fmt.Errorf("%w %s: its scope is agent or owner, not %q", ErrRing, t.Name, t.Scope)
	}
	return nil
}

// Add makes a token and returns its secret, which is kept nowhere. No inboxes are all of them. What the caller can mend is
// an ErrRing.
func (r *Ring) Add(name string, scope Scope, inboxes []string, random io.Reader, now time.Time) (secret string, err error) {
	t := Token{Name: name, Scope: scope, Inboxes: inboxes, Made: now.Unix()}
	if err := check(t); err != nil {
		return "", err
	}
	if secret, err = draw(random); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	t.Hash = sha256.Sum256([]byte(secret))
	return secret, r.change(func(tokens []Token) ([]Token, error) {
		if len(tokens) >= maxTokens {
			return nil, fmt.Errorf("%w %s: there are %d already: revoke one first", ErrRing, name, maxTokens)
		}
		if slices.ContainsFunc(tokens, func(t Token) bool { return t.Name == name }) {
			return nil, fmt.Errorf("%w %s is there already: revoke it first, or take another name", ErrRing, name)
		}
		return append(tokens, t), nil
	})
}

// Remove takes a token away: nobody is let in by it from then on. A name that is not there is an ErrRing.
func (r *Ring) Remove(name string) error {
	return r.change(func(tokens []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(tokens), func(t Token) bool { return t.Name == name })
		if len(left) == len(tokens) {
			return nil, fmt.Errorf("%w %q is not there", ErrRing, name)
		}
		return left, nil
	})
}

// change writes the file anew, beside others who do so.
func (r *Ring) change(what func([]Token) ([]Token, error)) error {
	unlock, err := plainfile.Lock(filepath.Dir(r.path))
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.Err(); err != nil { // and reads it as it is now
		return err
	}
	tokens, err := what(r.List())
	if err != nil {
		return err
	}
	data, err := json.Marshal(file{tokens}, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("writing the tokens: %w", err)
	}
	if err := plainfile.Replace(r.path, append(data, '\n')); err != nil {
		return fmt.Errorf("writing the tokens: %w", err)
	}
	return nil
}
