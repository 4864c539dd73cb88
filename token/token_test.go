package token

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var made = time.Unix(1793610000, 0)

func open(t *testing.T, path string) *Ring {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func add(t *testing.T, r *Ring, name string, scope Scope, inboxes ...string) string {
	t.Helper()
	secret, err := r.Add(name, scope, inboxes, rand.Reader, made)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func at(t *testing.T) string { return filepath.Join(t.TempDir(), "tokens.json") }

// A token lets in from when it is made until it is revoked, in every process that has the file open.
func TestRing(t *testing.T) {
	path := at(t)
	commands, daemon := open(t, path), open(t, path)
	if _, ok := daemon.Check(""); ok {
		t.Error("no secret at all is let in")
	}
	shop := add(t, commands, "shop", Agent, "sales", "support")
	boss := add(t, commands, "boss", Owner)
	if !regexp.MustCompile(`^amt_[A-Za-z0-9_-]{43}$`).MatchString(shop) {
		t.Errorf("a secret is %s", shop)
	}
	if got, ok := daemon.Check(shop); !ok || got.Name != "shop" || got.Scope != Agent || got.Made != made.Unix() || !got.May("sales") || got.May("private") {
		t.Errorf("%+v, %t", got, ok)
	}
	if got, ok := daemon.Check(boss); !ok || got.Scope != Owner || !got.May("anything") {
		t.Errorf("%+v, %t", got, ok)
	}
	for _, wrong := range []string{"", "shop", shop[:len(shop)-1], shop + "=", strings.ToUpper(shop), "Bearer " + shop} {
		if _, ok := daemon.Check(wrong); ok {
			t.Errorf("%q is let in", wrong)
		}
	}
	if list := daemon.List(); len(list) != 2 || list[0].Name != "shop" {
		t.Errorf("%+v", list)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte(shop[len(prefix):])) {
		t.Errorf("the file holds a secret: %s, %v", data, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := commands.Remove("shop"); err != nil {
		t.Fatal(err)
	}
	if _, ok := daemon.Check(shop); ok {
		t.Error("a revoked token is let in")
	}
	if _, ok := daemon.Check(boss); !ok {
		t.Error("another went with it")
	}
}

func TestMistakes(t *testing.T) {
	r := open(t, at(t))
	add(t, r, "shop", Agent)
	before := r.List()
	for want, try := range map[string]func() error{
		"is there already": func() error { _, err := r.Add("shop", Owner, nil, rand.Reader, made); return err },
		"a name is a-z":    func() error { _, err := r.Add("Shop", Owner, nil, rand.Reader, made); return err },
		"agent or owner":   func() error { _, err := r.Add("other", "admin", nil, rand.Reader, made); return err },
		`"none" is not`:    func() error { return r.Remove("none") },
	} {
		if err := try(); !errors.Is(err, ErrRing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := r.Add("dry", Agent, nil, strings.NewReader("too few"), made); err == nil || errors.Is(err, ErrRing) {
		t.Errorf("without randomness: %v", err)
	}
	if after := r.List(); len(after) != 1 || after[0].Hash != before[0].Hash {
		t.Errorf("a mistake changed it: %+v", after)
	}
	for n := range maxTokens - 1 {
		add(t, r, fmt.Sprintf("t%d", n), Agent)
	}
	if _, err := r.Add("more", Agent, nil, rand.Reader, made); !errors.Is(err, ErrRing) || !strings.Contains(err.Error(), "256 already") {
		t.Errorf("one too many: %v", err)
	}
}

// A file that cannot be trusted lets nobody in, at the start and later, and is not written over.
func TestFiles(t *testing.T) {
	const good = `{"tokens":[{"name":"a","scope":"agent","made":1,"sha256":"` + "0000000000000000000000000000000000000000000000000000000000000000" + `"}]}`
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"readable by the group": {good, 0o640, "has mode 0640 and is open to other users: chmod 600"},
		"writable by all":       {good, 0o602, "has mode 0602"},
		"no JSON":               {"tokens", 0o600, "tokens.json: "},
		"unknown member":        {strings.Replace(good, "made", "expires", 1), 0o600, "expires"},
		"unknown scope":         {strings.Replace(good, "agent", "root", 1), 0o600, "its scope is agent or owner"},
		"bad name":              {strings.Replace(good, `"a"`, `"a\u001b"`, 1), 0o600, "a name is a-z"},
		"short hash":            {strings.Replace(good, "00", "", 1), 0o600, "64 hex digits"},
		"no hex":                {strings.Replace(good, "00", "0x", 1), 0o600, "invalid byte"},
		"twice":                 {strings.Replace(good, "}]", "},"+good[len(`{"tokens":[`):len(good)-2]+"]", 1), 0o600, "a is there twice"},
		"too large":             {strings.Repeat(" ", maxFile) + good, 0o600, "too large"},
	} {
		path := at(t)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Add("b", Agent, nil, rand.Reader, made); err == nil {
			t.Errorf("%s: written over", name)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != c.text {
			t.Errorf("%s: changed: %v", name, err)
		}
	}

	path := at(t)
	r := open(t, path)
	secret := add(t, r, "shop", Agent)
	for _, c := range []struct {
		mode os.FileMode
		ok   bool
	}{{0o600, true}, {0o644, false}, {0o600, true}} {
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Check(secret); ok != c.ok || (r.Err() == nil) != c.ok {
			t.Errorf("mode %v: let in %t, %v", c.mode, ok, r.Err())
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Check(secret); ok || r.Err() != nil {
		t.Errorf("without a file: let in %t, %v", ok, r.Err())
	}
	loop := at(t)
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(loop); err == nil {
		t.Error("a file that cannot be looked at is none")
	}
	if err := open(t, filepath.Join(t.TempDir(), "none", "tokens.json")).Remove("shop"); err == nil {
		t.Error("changed in a folder that is not there")
	}
}

// Two processes that add at once both succeed.
func TestTogether(t *testing.T) {
	path := at(t)
	var group sync.WaitGroup
	secrets := make([]string, 16)
	for n := range secrets {
		group.Go(func() { secrets[n] = add(t, open(t, path), fmt.Sprintf("t%d", n), Agent) })
	}
	group.Wait()
	r := open(t, path)
	for n, secret := range secrets {
		if got, ok := r.Check(secret); !ok || got.Name != fmt.Sprintf("t%d", n) {
			t.Errorf("%d: %+v, %t", n, got, ok)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); len(left) > 0 || slices.Contains(secrets, "") {
		t.Errorf("left behind: %v", left)
	}
}

// Whatever is in the file, it is read without a panic, and what is read may be written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"tokens":[{"name":"a","scope":"agent","inboxes":["sales"],"made":1,"sha256":"` + strings.Repeat("0", 64) + `"}]}`))
	f.Add([]byte(`{"tokens":[]}`))
	f.Add([]byte(`{`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "tokens.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil || len(r.List()) >= maxTokens {
			return
		}
		before := len(r.List())
		secret, err := r.Add("z", Agent, nil, rand.Reader, made)
		if errors.Is(err, ErrRing) { // z was there
			return
		}
		if _, ok := open(t, path).Check(secret); err != nil || !ok || len(r.List()) != before+1 {
			t.Errorf("%v, %t", err, ok)
		}
	})
}
