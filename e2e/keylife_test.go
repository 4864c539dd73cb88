//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// keyLife is a seller whose keys live, and the buyer beside him, of one daemon that shows the pages of both.
type keyLife struct {
	*stack
	daemon        *side // starts and stops both
	buyer, seller *side
	old, fresh    string // the seller's keys
}

func newKeyLife(t *testing.T) *keyLife {
	s := startStack(t, "NOPAGES=1")
	cert, err := os.ReadFile(filepath.Join(s.dir, "tls/cert.pem"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(s.dir, "tls/key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.dir, "buyer") // of the daemon, which is named after its first inbox
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "page.pem"), cert, 0o600), os.WriteFile(filepath.Join(dir, "page.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	sides := s.daemon([]string{"buyer", "seller"}, `[public] listen = "127.0.0.1:443"`, `[public] cert_file = "page.pem"`, `[public] key_file = "page.key"`)
	l := &keyLife{stack: s, daemon: sides[0], buyer: sides[0], seller: sides[1]}
	l.old = l.age(20*time.Minute, "")
	l.seller.run("keys", "new")
	l.fresh = l.age(10*time.Minute, l.old)
	l.daemon.start()
	l.daemon.until("the other mailbox", func() bool { return l.daemon.logged("mailbox is watched from here on") == 2 })
	return l
}

// age has the seller's key that is not the one given be older: no test waits until caches have the page.
func (l *keyLife) age(by time.Duration, not string) (kid string) {
	l.t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(l.seller.config), "state/keys/seller/*.json"))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, file := range files {
		if kid = strings.TrimSuffix(filepath.Base(file), ".json"); kid == not {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			l.t.Fatal(err)
		}
		made := regexp.MustCompile(`"created_at":\d+`)
		data = made.ReplaceAll(data, fmt.Appendf(nil, `"created_at":%d`, time.Now().Add(-by).Unix()))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			l.t.Fatal(err)
		}
		return kid
	}
	l.t.Fatalf("no key but %q among %v", not, files)
	return ""
}

// code is the exit code of a command of the seller, and all that it wrote.
func (l *keyLife) code(args ...string) (int, string) {
	l.t.Helper()
	out, err := exec.Command(os.Getenv("AGENTMAILD_BIN"), append([]string{"--config", l.seller.config, "--inbox", "seller"}, args...)...).CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	} else if err != nil {
		return exit.ExitCode(), string(out)
	}
	return 0, string(out)
}

func (l *keyLife) wants(want int, words string, args ...string) {
	l.t.Helper()
	if code, out := l.code(args...); code != want || !strings.Contains(out, words) {
		l.t.Errorf("%s: exit code %d, want %d with %q:\n%s", strings.Join(args, " "), code, want, words, out)
	}
}

// published waits until the page says what the folder does.
func (l *keyLife) published() {
	l.t.Helper()
	l.seller.until("its page", func() bool { code, _ := l.code("keys", "check"); return code == 0 })
}

// visit is a visit that the seller proposes and the buyer accepts, with something done in between; it returns the file of
// the record of each side.
func (l *keyLife) visit(between func()) (sellers, buyers string) {
	l.t.Helper()
	offer, thread := l.seller.do("times", "--to", buyerAddress, "--slot", "2099-01-12T10:00:00+01:00 2099-01-12T10:30:00+01:00 Africa/Lagos")
	l.buyer.has(offer, thread, "seller")
	between()
	accept, _ := l.buyer.do("accept", offer, "--slot", "0")
	l.seller.has(accept, thread, "buyer")
	for _, d := range []*side{l.seller, l.buyer} {
		file := filepath.Join(l.dir, d.name+"-"+offer+".json")
		d.run("records", "export", offer, file)
		if d == l.seller {
			sellers = file
		} else {
			buyers = file
		}
	}
	return sellers, buyers
}

// listen has a handler answer in the place of the daemon, which must have stopped; the function returned ends it.
func (l *keyLife) listen(handler http.Handler) (stop func()) {
	l.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		l.t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() {
		_ = server.ServeTLS(listener, filepath.Join(l.dir, "tls/cert.pem"), filepath.Join(l.dir, "tls/key.pem"))
	}()
	return func() { _ = server.Close() }
}

// TestKeyLife lives a key from its successor to its revocation, with pages that the daemon shows at port 443.
func TestKeyLife(t *testing.T) {
	l := newKeyLife(t)
	l.published()

	// The key changes between an offer and its acceptance.
	sellers, buyers := l.visit(func() {
		l.seller.run("keys", "retire", l.old)
		l.published()
	})
	for _, file := range []string{sellers, buyers} {
		l.wants(0, "checks out: two signatures", "check", file)
		l.wants(0, `"warnings":[]`, "check", "--json", file)
	}
	data, err := os.ReadFile(sellers)
	if err != nil || !strings.Contains(string(data), l.old) {
		t.Errorf("the offer is not signed with the key of then: %v", err)
	}
	later, _ := l.visit(func() {})
	if data, err := os.ReadFile(later); err != nil || !strings.Contains(string(data), l.fresh) || strings.Contains(string(data), l.old) {
		t.Errorf("the later offer is not signed with the new key: %v", err)
	}

	// The old key is revoked after what it signed, then before.
	l.seller.run("keys", "revoke", l.old, "--at", "now")
	l.published()
	l.wants(0, `"warnings":["key_revoked_later"]`, "check", "--json", sellers)
	l.seller.run("keys", "revoke", l.old, "--at", time.Now().Add(-15*time.Minute).UTC().Format(time.RFC3339))
	l.published()
	l.wants(1, `"code":"revoked"`, "check", "--json", sellers)
	l.wants(1, "does not check out", "check", buyers)
	l.wants(0, "checks out: two signatures", "check", later)

	// The page is down, moved, and back from another server.
	l.daemon.stop()
	for _, file := range []string{later, sellers} {
		l.wants(2, `"result":"not_made","code":""`, "check", "--json", file)
	}
	l.wants(2, "cannot be reached for now", "keys", "check")
	stop := l.listen(http.RedirectHandler("https://localhost:4443/", http.StatusFound))
	l.wants(1, `"code":"trust"`, "check", "--json", later)
	l.wants(2, "status 302, a redirect, which nobody follows", "keys", "check")
	stop()
	site := filepath.Join(l.dir, "site")
	for _, d := range []*side{l.buyer, l.seller} {
		file := filepath.Join(site, ".well-known/agent-agreements", party(d.name)+".json")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		d.run("keys", "page", "--out", file)
	}
	defer l.listen(http.FileServer(http.Dir(site)))()
	l.wants(0, "is the page of the keys in", "keys", "check")
	l.wants(0, "checks out: two signatures", "check", later)
}
