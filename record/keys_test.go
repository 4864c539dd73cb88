package record_test

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/google/go-cmp/cmp"
)

// D132. Each stands in the place of the seller's page, which is good.
func TestFolderReadsItsFilesOnly(t *testing.T) {
	w := newWorld(t)
	data := w.twoSigned()
	for name, put := range map[string]func(page, elsewhere string) error{
		"a link within the folder": func(page, _ string) error {
			return errors.Join(os.WriteFile(page+".real", w.pages[w.seller.party], 0o600), os.Symlink(filepath.Base(page)+".real", page))
		},
		"a link out of it": func(page, elsewhere string) error { return os.Symlink(elsewhere, page) },
		"a pipe":           func(page, _ string) error { return syscall.Mkfifo(page, 0o600) },
		"a device":         func(page, _ string) error { return os.Symlink("/dev/zero", page) },
		"a folder":         func(page, _ string) error { return os.Mkdir(page, 0o700) },
		"a loop":           func(page, _ string) error { return os.Symlink(filepath.Base(page), page) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "page.json")
			w.ok(os.WriteFile(elsewhere, w.pages[w.seller.party], 0o600))
			w.ok(os.WriteFile(filepath.Join(dir, w.buyer.party+".json"), w.pages[w.buyer.party], 0o600))
			w.ok(put(filepath.Join(dir, w.seller.party+".json"), elsewhere))
			root, err := os.OpenRoot(dir)
			w.ok(err)
			defer root.Close()
			want := record.NotMade
			if name == "a link within the folder" {
				want = record.TwoSigned
			}
			got := record.Check(t.Context(), data, record.KeySource{Trust: party.Trust{Hosts: []string{host}}, Pages: record.Folder{Root: root}, TXT: record.Vouches{}})
			if got.Result != want {
				t.Errorf("%s, %s", got.Result, got.Reason)
			}
		})
	}
}

// TestFolder: pages from files give what pages from elsewhere give.
func TestFolder(t *testing.T) {
	w := newWorld(t)
	data := w.twoSigned()
	dir := t.TempDir()
	for id, page := range w.pages {
		w.ok(os.WriteFile(filepath.Join(dir, id+".json"), page, 0o600))
	}
	root, err := os.OpenRoot(dir)
	w.ok(err)
	keys := record.KeySource{Trust: party.Trust{Hosts: []string{host}}, Pages: record.Folder{Root: root}, TXT: record.Vouches{}}
	if diff := cmp.Diff(w.check(data), record.Check(t.Context(), data, keys)); diff != "" {
		t.Error(diff)
	}

	name := filepath.Join(dir, w.seller.party+".json")
	w.ok(os.WriteFile(name, []byte(strings.Repeat(" ", 1<<20)), 0o600))
	want := outcome{record.DoesNotCheckOut, record.CodeTrust, "offer trust"}
	if diff := cmp.Diff(want, outcomeOf(record.Check(t.Context(), data, keys))); diff != "" {
		t.Errorf("a page of a megabyte: %s", diff)
	}
	w.ok(os.Remove(name))
	if diff := cmp.Diff(want, outcomeOf(record.Check(t.Context(), data, keys))); diff != "" {
		t.Errorf("no page: %s", diff)
	}
	w.ok(os.Mkdir(name, 0o700))
	want = outcome{record.NotMade, "", "offer trust"}
	if diff := cmp.Diff(want, outcomeOf(record.Check(t.Context(), data, keys))); diff != "" {
		t.Errorf("a folder in the place of a page: %s", diff)
	}
	w.ok(root.Close())
	if got := record.Check(t.Context(), data, keys).Result; got != record.NotMade {
		t.Errorf("the folder is gone: %s", got)
	}
}

// TestNetwork: pages fetched over HTTPS, from the host that is trusted.
func TestNetwork(t *testing.T) {
	w := newWorld(t)
	status, data := http.StatusOK, []byte(nil)
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_, _ = rw.Write(w.pages[strings.TrimSuffix(filepath.Base(r.URL.Path), ".json")])
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "https://")
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	keys := func() record.KeySource {
		return record.KeySource{
			Trust: party.Trust{Hosts: []string{address}}, TXT: w,
			Pages: party.NewFetcher(time.Now, party.Options{AllowPrivate: true, RootCAs: roots}),
		}
	}
	th := w.thread()
	th.at = address
	th.ask(w.buyer)
	th.say(w.seller, intent.Quote, priced)
	th.accept(w.buyer)
	var err error
	data, err = record.Seal(th.build(th.deal()), w.buyer.key, party.PageURL(address, w.buyer.party))
	w.ok(err)
	for _, c := range []struct {
		status int
		want   outcome
	}{
		{http.StatusOK, outcome{Result: record.TwoSigned}},
		{http.StatusNotFound, outcome{record.DoesNotCheckOut, record.CodeTrust, "offer trust, acceptance trust, seal trust"}},
		{http.StatusFound, outcome{record.DoesNotCheckOut, record.CodeTrust, "offer trust, acceptance trust, seal trust"}},
		{http.StatusTooManyRequests, outcome{record.NotMade, "", "offer trust, acceptance trust, seal trust"}},
		{http.StatusBadGateway, outcome{record.NotMade, "", "offer trust, acceptance trust, seal trust"}},
	} {
		status = c.status
		if diff := cmp.Diff(c.want, outcomeOf(record.Check(t.Context(), data, keys()))); diff != "" {
			t.Errorf("%d: %s", c.status, diff)
		}
	}
}

// TestVouch: a domain vouches for a party whose page lists nobody.
func TestVouch(t *testing.T) {
	w := newWorld(t)
	w.publish(w.buyer, party.OwnKey{}, "other@buyer.test")
	data := w.twoSigned()
	notListed := outcome{record.DoesNotCheckOut, record.CodeTrust, "acceptance trust, seal trust"}
	if diff := cmp.Diff(notListed, outcomeOf(w.check(data))); diff != "" {
		t.Errorf("without a vouch: %s", diff)
	}
	w.vouches["buyer.test"] = []string{w.seller.party}
	if diff := cmp.Diff(notListed, outcomeOf(w.check(data))); diff != "" {
		t.Errorf("for another party: %s", diff)
	}
	w.vouches["buyer.test"] = []string{w.seller.party, w.buyer.party}
	if diff := cmp.Diff(outcome{Result: record.TwoSigned}, outcomeOf(w.check(data))); diff != "" {
		t.Errorf("one of two: %s", diff)
	}
	w.dnsDown = true
	if diff := cmp.Diff(outcome{record.NotMade, "", "acceptance trust, seal trust"}, outcomeOf(w.check(data))); diff != "" {
		t.Errorf("without DNS: %s", diff)
	}
}

// A key that is not on the page may be on a fresh one.
func TestFreshPage(t *testing.T) {
	w := newWorld(t)
	data := w.twoSigned()
	old, err := party.BuildPage(w.buyer.party, w.buyer.org, []string{w.buyer.address}, nil, nil)
	w.ok(err)
	w.cached = map[string][]byte{w.buyer.party: old}
	if diff := cmp.Diff(outcome{Result: record.TwoSigned}, outcomeOf(w.check(data))); diff != "" {
		t.Error(diff)
	}
	if n := w.asked[w.buyer.jku()]; n != 2 {
		t.Errorf("the page was asked for %d times, twice is enough for two signatures", n)
	}
	w.freshDown = true
	want := outcome{record.NotMade, "", "acceptance kid, seal kid"}
	if diff := cmp.Diff(want, outcomeOf(w.check(data))); diff != "" {
		t.Error(diff)
	}
}

// TestKeyTimes: a key is good until it is revoked or retired, and the seal's
// by the time of agreement (D48).
func TestKeyTimes(t *testing.T) {
	const accepted = start + 2*60
	w := newWorld(t)
	data := w.twoSigned()
	for _, c := range []struct {
		name     string
		times    party.OwnKey
		want     outcome
		warnings []string
	}{
		{"revoked as it accepts", party.OwnKey{RevokedAt: accepted}, outcome{record.DoesNotCheckOut, record.CodeRevoked, "acceptance revoked, seal revoked"}, []string{}},
		{"revoked a second later", party.OwnKey{RevokedAt: accepted + 1}, outcome{Result: record.TwoSigned}, []string{record.WarnRevokedLater}},
		{"retired as it accepts", party.OwnKey{RetiredAt: accepted}, outcome{record.DoesNotCheckOut, record.CodeRetired, "acceptance retired, seal retired"}, []string{}},
		{"retired a second later", party.OwnKey{RetiredAt: accepted + 1}, outcome{Result: record.TwoSigned}, []string{}},
		{"created as it accepts", party.OwnKey{CreatedAt: accepted}, outcome{Result: record.TwoSigned}, []string{}},
		{"created a second later", party.OwnKey{CreatedAt: accepted + 1}, outcome{record.DoesNotCheckOut, record.CodeKid, "acceptance kid, seal kid"}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.publish(w.buyer, c.times)
			report := w.check(data)
			if diff := cmp.Diff(c.want, outcomeOf(report)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.warnings, report.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}
