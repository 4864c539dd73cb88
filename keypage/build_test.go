package keypage

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/party"
)

const (
	seller = "pty_seller00000000000000"
	other  = "pty_other000000000000000"
	start  = 1_790_000_000
)

// at is a time some seconds after all begins.
func at(seconds int64) time.Time { return time.Unix(start+seconds, 0) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// twoInboxes is a configuration in which one party has two inboxes, and another one an inbox between them.
func twoInboxes(t *testing.T) *config.Config {
	t.Helper()
	return &config.Config{StateDir: t.TempDir(), Inboxes: []config.Inbox{
		{Name: "sales", Address: "sales@seller.test", OrgName: "Seller Ltd", Party: seller},
		{Name: "plain", Address: "plain@seller.test", OrgName: "Seller Ltd"},
		{Name: "other", Address: "agent@other.test", OrgName: "Other Ltd", Party: other},
		{Name: "support", Address: "support@seller.test", OrgName: "Seller Support", Party: seller},
	}}
}

// dir is the folder of the keys of an inbox, by its place.
func dir(cfg *config.Config, inbox int) string { return cfg.Inboxes[inbox].KeysDir(cfg.StateDir) }

func newKey(t *testing.T, dir string, made time.Time) party.OwnKey {
	t.Helper()
	key, err := party.NewKey(dir, rand.Reader, made)
	ok(t, err)
	return key
}

// copyKey puts the public half of a key and its times into another folder too.
func copyKey(t *testing.T, from, to, kid string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(from, kid+".json"))
	ok(t, err)
	ok(t, os.MkdirAll(to, 0o700))
	ok(t, os.WriteFile(filepath.Join(to, kid+".json"), data, 0o600))
}

// TestBuild has all inboxes of a party on its page, and nothing of another's.
func TestBuild(t *testing.T) {
	cfg := twoInboxes(t)
	first, second := newKey(t, dir(cfg, 0), at(0)), newKey(t, dir(cfg, 3), at(1))
	newKey(t, dir(cfg, 2), at(2))
	copyKey(t, dir(cfg, 0), dir(cfg, 3), first.Kid)
	data, err := Build(cfg, seller)
	ok(t, err)
	page, err := party.ParsePage(data, seller)
	ok(t, err)
	want := &party.Page{
		Party: seller, OrgName: "Seller Ltd", Addresses: []string{"sales@seller.test", "support@seller.test"}, Domains: []string{},
		Keys: page.Keys,
	}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Error(diff)
	}
	if len(page.Keys) != 2 || page.Keys[0].Kid != first.Kid || page.Keys[1].Kid != second.Kid {
		t.Errorf("the keys are %v", page.Keys)
	}
}

// TestBuildRefuses makes no page of folders that contradict each other or cannot be read.
func TestBuildRefuses(t *testing.T) {
	for name, change := range map[string]struct {
		to   func(*testing.T, *config.Config, party.OwnKey)
		want string
	}{
		"revoked in one folder": {func(t *testing.T, cfg *config.Config, key party.OwnKey) {
			copyKey(t, dir(cfg, 0), dir(cfg, 3), key.Kid)
			newKey(t, dir(cfg, 0), at(1))
			_, err := party.Revoke(dir(cfg, 0), key.Kid, at(2), at(3))
			ok(t, err)
		}, "stands in the folders of two inboxes with different times"},
		"broken file": {func(t *testing.T, cfg *config.Config, key party.OwnKey) {
			ok(t, os.WriteFile(filepath.Join(dir(cfg, 0), key.Kid+".json"), []byte("{"), 0o600))
		}, "times in "},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := twoInboxes(t)
			key := newKey(t, dir(cfg, 0), at(0))
			_, err := Build(cfg, seller)
			ok(t, err)
			change.to(t, cfg, key)
			if _, err := Build(cfg, seller); err == nil || !strings.Contains(err.Error(), change.want) {
				t.Errorf("Build returned %v", err)
			}
			var told error
			if _, err := newPages(cfg, time.Now, func(err error) { told = err }); err == nil || !strings.HasPrefix(err.Error(), "key page of "+seller+": ") {
				t.Errorf("newPages returned %v", err)
			}
			if told != nil {
				t.Errorf("told twice: %v", told)
			}
		})
	}
}

// TestPagesFollowFolders reads the folders again after five seconds, not before, and shows the page of before while they
// cannot be read.
func TestPagesFollowFolders(t *testing.T) {
	cfg := twoInboxes(t)
	newKey(t, dir(cfg, 0), at(0))
	now := at(10)
	var told []error
	p, err := newPages(cfg, func() time.Time { return now }, func(err error) { told = append(told, err) })
	ok(t, err)
	keys := func() int {
		t.Helper()
		page, err := party.ParsePage(p.at("/.well-known/agent-agreements/"+seller+".json"), seller)
		ok(t, err)
		return len(page.Keys)
	}
	newKey(t, dir(cfg, 0), at(10))
	now = now.Add(keep - 1)
	if n := keys(); n != 1 {
		t.Errorf("after less than %s there are %d keys", keep, n)
	}
	now = now.Add(1)
	if n := keys(); n != 2 {
		t.Errorf("after %s there are %d keys", keep, n)
	}
	ok(t, os.WriteFile(filepath.Join(dir(cfg, 0), strings.Repeat("a", 43)+".json"), []byte("{"), 0o600))
	now = now.Add(keep)
	for range 2 {
		if n := keys(); n != 2 || len(told) != 1 {
			t.Errorf("broken: %d keys, told %v", n, told)
		}
	}
	ok(t, os.Remove(filepath.Join(dir(cfg, 0), strings.Repeat("a", 43)+".json")))
	newKey(t, dir(cfg, 0), at(11))
	now = now.Add(-time.Hour) // a clock that was wrong must not keep an old page up for an hour
	if n := keys(); n != 3 {
		t.Errorf("with the clock set back there are %d keys", n)
	}
}

// TestNoKeysYet shows a page without keys: the daemon of another inbox may be the one that has them.
func TestNoKeysYet(t *testing.T) {
	data, err := Build(twoInboxes(t), seller)
	ok(t, err)
	if page, err := party.ParsePage(data, seller); err != nil || len(page.Keys) != 0 {
		t.Errorf("%v, %v", page, err)
	}
	if _, err := Build(twoInboxes(t), "pty_nobody"); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("no party id: %v", err)
	}
}
