package daemon

import (
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/party"
)

const (
	seller = "pty_seller00000000000000"
	signs  = `party = "` + seller + `"`
)

// public is the table of a listener.
func public(address string) string { return "[public]\nlisten = \"" + address + "\"\n" }

// newKey makes a key of an inbox.
func (r *rig) newKey(inbox string) party.OwnKey {
	r.t.Helper()
	key, err := party.NewKey(filepath.Join(r.dir, "state", "keys", inbox), rand.Reader, time.Now())
	check(r.t, err)
	return key
}

// shown waits until key pages are shown, and returns where.
func (r *rig) shown() (address string) {
	r.t.Helper()
	r.logged(`msg="key pages are shown"`, "tls=false")
	r.mu.Lock()
	defer r.mu.Unlock()
	return regexp.MustCompile(`msg="key pages are shown" address=(\S+)`).FindStringSubmatch(strings.Join(r.lines, ""))[1]
}

// page asks a listener for the page of a party; nil where there is none.
func (r *rig) page(address, id string) *party.Page {
	r.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + "/.well-known/agent-agreements/" + id + ".json")
	check(r.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	check(r.t, err)
	if response.StatusCode == http.StatusNotFound {
		return nil
	}
	page, err := party.ParsePage(data, id)
	check(r.t, err)
	return page
}

// TestPublic shows the page of a party while the daemon runs. A reload changes what is shown, and not where.
func TestPublic(t *testing.T) {
	r := newRig(t)
	key := r.newKey("good")
	signal, d, stop := r.reloadable(r.config(public("127.0.0.1:0"), r.box("good", r.server.IMAP().Port, signs)))
	address := r.shown()
	if page := r.page(address, seller); len(page.Keys) != 1 || page.Keys[0].Kid != key.Kid || len(page.Addresses) != 1 {
		t.Errorf("the page is %+v", page)
	}
	if names := strings.Join(d.group.names(), ", "); !strings.Contains(names, "public listener") {
		t.Errorf("running: %s", names)
	}

	const other = "pty_other000000000000000"
	r.newKey("other")
	good := r.box("good", r.server.IMAP().Port, signs)
	two := good + r.box("other", r.server.IMAP().Port, `party = "`+other+`"`)
	signal(stateDir + public("127.0.0.1:1") + two)
	r.logged("level=WARN", "in force after a restart only", "keys=public")
	r.logged(`msg="configuration reloaded"`, "started=other")
	if page := r.page(address, other); len(page.Keys) != 1 || page.Addresses[0] != "other@seller.test" {
		t.Errorf("the new page is %+v", page)
	}
	r.newKey("other")
	r.write(filepath.Join("state", "keys", "other", strings.Repeat("a", 43)+".json"), "{")
	signal(stateDir + public("127.0.0.1:0") + good + strings.ReplaceAll(two, "Seller Ltd", "Other Ltd"))
	r.logged("level=ERROR", "was not reloaded")
	if page := r.page(address, seller); page.OrgName != "Seller Ltd" {
		t.Errorf("a wrong configuration changed the page: %+v", page)
	}
	signal(stateDir + public("127.0.0.1:0") + good)
	r.logged(`msg="configuration reloaded"`, "stopped=other")
	if page := r.page(address, other); page != nil {
		t.Errorf("still there: %+v", page)
	}

	check(t, stop())
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("somebody listens after the end")
	}
}

// TestPublicTaken ends the daemon where the address is not to be had: others would hold our messages back.
func TestPublicTaken(t *testing.T) {
	r := newRig(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	d, err := New(r.config(public(address), r.box("good", r.server.IMAP().Port, "")), r.world())
	check(t, err)
	want := "opening public.listen: " + address + " is taken by another program, stop it or name another port"
	if err := d.Run(t.Context()); err == nil || err.Error() != want {
		t.Errorf("Run returned %v, want %s", err, want)
	}
}

// TestPublicRefused has New and Check refuse what cannot be shown.
func TestPublicRefused(t *testing.T) {
	r := newRig(t)
	key := r.newKey("good")
	r.newKey("other")
	times := filepath.Join("state", "keys", "good", key.Kid+".json")
	data, err := os.ReadFile(filepath.Join(r.dir, times))
	check(t, err)
	r.write(strings.Replace(times, "good", "other", 1), strings.Replace(string(data), "}", `,"revoked_at":1}`, 1))
	host := httptest.NewUnstartedServer(nil)
	host.StartTLS()
	host.Close()
	r.write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: host.Certificate().Raw})))
	both := r.box("good", 993, signs) + r.box("other", 993, signs)
	for _, c := range []struct{ name, text, want string }{
		{"no key in it", public("127.0.0.1:0") + "cert_file = \"cert.pem\"\nkey_file = \"dkim.pem\"\n" + r.box("good", 993, signs), "public.cert_file and public.key_file: "},
		{"two times", public("127.0.0.1:0") + both, "key page of " + seller + ": key " + key.Kid + " stands in the folders of two inboxes with different times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := r.config(c.text)
			for name, err := range map[string]error{"Check": Check(cfg, r.world()), "New": second(New(cfg, r.world()))} {
				if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s returned %v", name, err)
				}
			}
		})
	}
	check(t, Check(r.config(both), r.world())) // shown nowhere, it harms nobody
}
