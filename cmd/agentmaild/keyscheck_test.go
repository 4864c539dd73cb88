package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/keypage"
	"github.com/agentmaild/agentmaild/party"
	"github.com/spf13/cobra"
)

const seller = "pty_seller00000000000000"

// published is a folder of keys whose page is shown over HTTPS at loopback.
type published struct {
	t      *testing.T
	folder keyFolder
	host   *httptest.Server
	shown  http.Handler // in the place of the page, where it is set
	dns    fakeTXT
}

// fakeTXT is TXT records by name. Where down is set, DNS gives no answer.
type fakeTXT struct {
	records map[string][]string
	down    bool
}

func (f fakeTXT) LookupTXT(_ context.Context, name string) ([]string, error) {
	if f.down {
		return nil, &net.DNSError{Err: "no answer", Name: name, IsTimeout: true}
	}
	if found := f.records[name]; found != nil {
		return found, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func newPublished(t *testing.T) *published {
	in := config.Inbox{Name: "sales", Address: "agent@seller.test", OrgName: "Seller Ltd", Party: seller, KeyHost: "keys.seller.test"}
	cfg := &config.Config{StateDir: t.TempDir(), Inboxes: []config.Inbox{in}}
	p := &published{t: t, folder: keyFolder{cfg, in, in.KeysDir(cfg.StateDir)}}
	p.newKey(time.Now().Add(-time.Hour))
	p.host = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.shown.ServeHTTP(w, r) }))
	t.Cleanup(p.host.Close)
	p.publish()
	return p
}

func (p *published) newKey(made time.Time) party.OwnKey {
	p.t.Helper()
	key, err := party.NewKey(p.folder.dir, rand.Reader, made)
	if err != nil {
		p.t.Fatal(err)
	}
	return key
}

// publish shows the page as it would be now, whatever becomes of the keys.
func (p *published) publish() {
	p.t.Helper()
	then := time.Now()
	s, err := keypage.New(p.folder.cfg, func() time.Time { return then }, slog.New(slog.DiscardHandler))
	if err != nil {
		p.t.Fatal(err)
	}
	p.shown = s
}

// Page fetches a page of the host, to which DNS would have led.
func (p *published) Page(ctx context.Context, url, id string, fresh bool) (*party.Page, error) {
	roots := x509.NewCertPool()
	roots.AddCert(p.host.Certificate())
	pages := party.NewFetcher(time.Now, party.Options{AllowPrivate: true, RootCAs: roots})
	return pages.Page(ctx, strings.Replace(url, "https://keys.seller.test", p.host.URL, 1), id, fresh)
}

func (p *published) check(a *app) (string, error) {
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	cmd.SetContext(p.t.Context())
	err := a.checkPage(cmd, p.folder, p, p.dns)
	return out.String(), err
}

// moved gives the inbox another address than the one on the page, and the page none that is not ours.
func (p *published) moved() {
	all := p.folder.cfg.Inboxes
	p.folder.cfg.Inboxes = append(all, all[0])
	p.folder.cfg.Inboxes[1].Name, p.folder.cfg.Inboxes[1].Address = "more", "sales@seller.test"
}

func answer(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

// TestCheckPage compares the keys of a folder with what a stranger gets.
func TestCheckPage(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*published)
		usage   bool   // exit code 2
		failure string // "" for none
		text    string // in what is shown
	}{
		"same":          {func(*published) {}, false, "", "is the page of the keys in"},
		"not published": {func(p *published) { p.newKey(time.Now()) }, false, "is not the page of the keys in", "it is not on the page"},
		"extra": {func(p *published) {
			p.folder = newPublished(p.t).folder // of another key
		}, false, "find out why before you publish another page", "it is on the page and not here"},
		"not told of the retirement": {func(p *published) {
			old := p.newKey(time.Now().Add(-2 * time.Hour))
			p.publish()
			if _, err := party.Retire(p.folder.dir, old.Kid, time.Now()); err != nil {
				p.t.Fatal(err)
			}
		}, false, "is not the page of the keys in", "and the page does not say so: publish the page"},
		"other name":      {func(p *published) { p.folder.cfg.Inboxes[0].OrgName = "Seller\nPLC" }, false, "is not the page of the keys in", `org_name is "Seller Ltd" on the page, and "Seller\nPLC" here`},
		"without a vouch": {func(*published) {}, false, "", "seller.test does not vouch for " + seller + " in DNS, and need not"},
		"DNS down":        {func(p *published) { p.dns.down = true }, false, "", "could not be looked up, and need not be known"},
		"vouched": {func(p *published) {
			p.moved()
			p.dns.records = map[string][]string{"_agent-agreements.seller.test": {"pty_other000000000000000", seller}}
		}, false, "", "seller.test vouches for " + seller + " in DNS"},
		"vouch for another": {func(p *published) {
			p.moved()
			p.dns.records = map[string][]string{"_agent-agreements.seller.test": {"pty_other000000000000000"}}
		}, false, "is not the page of the keys in", "seller.test does not vouch for " + seller + " in DNS either"},
		"vouch of another domain": {func(p *published) {
			p.moved()
			p.dns.records = map[string][]string{"_agent-agreements.test": {seller}}
		}, false, "is not the page of the keys in", "the address sales@seller.test is not on the page"},
		"vouch not to be looked up": {func(p *published) {
			p.moved()
			p.dns.down = true
		}, true, "whether its domain vouches for " + seller + " could not be checked", ""},
		"gone": {func(p *published) { p.shown = http.NotFoundHandler() }, true, "no usable key page: status 404", ""},
		"moved": {func(p *published) {
			p.shown = http.RedirectHandler("https://elsewhere.test/", http.StatusMovedPermanently)
		}, true, "no usable key page: status 301, a redirect, which nobody follows", ""},
		"trouble": {func(p *published) { p.shown = answer(http.StatusBadGateway) }, true, "cannot be reached for now: status 502", ""},
		"down":    {func(p *published) { p.host.Close() }, true, "cannot be reached for now", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublished(t)
			c.change(p)
			text, err := p.check(&app{})
			switch {
			case c.failure == "" && err != nil, c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)):
				t.Errorf("checkPage returned %v", err)
			case errors.Is(err, errUsage) != c.usage:
				t.Errorf("as a mistake of use: %t", !c.usage)
			case !strings.Contains(text, c.text) || c.text == "" && text != "":
				t.Errorf("it shows %s", text)
			}
		})
	}
}

// TestCheckPageJSON always has a list, for programs.
func TestCheckPageJSON(t *testing.T) {
	p := newPublished(t)
	text, err := p.check(&app{json: true})
	if err != nil || !strings.Contains(text, `"same": true`) || !strings.Contains(text, `"differences": []`) || !strings.Contains(text, `"domain": "seller.test"`) {
		t.Errorf("%v: %s", err, text)
	}
	p.newKey(time.Now())
	text, err = p.check(&app{json: true})
	if err == nil || !strings.Contains(text, `"same": false`) || !strings.Contains(text, `"lost": false`) {
		t.Errorf("%v: %s", err, text)
	}
}
