package daemon

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/token"
)

// TestPage signs in to the page of a running daemon. Without a session there
// is nothing but the sign-in.
func TestPage(t *testing.T) {
	r := newRig(t)
	d, stop := r.start(r.config(apiTable, r.box("good", r.server.IMAP().Port, "")))
	defer func() { check(t, stop()) }()
	address, secret := "http://"+r.apiAt(), r.secret(d, token.Owner)
	jar, err := cookiejar.New(nil)
	check(t, err)
	client := http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	page := func(response *http.Response, err error) string {
		t.Helper()
		check(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		check(t, err)
		return response.Request.URL.Path + " " + string(text)
	}
	if text := page(client.Get(address + "/inboxes/good")); !strings.HasPrefix(text, "/signin ") || strings.Contains(text, "good@") {
		t.Errorf("without a session: %s", text)
	}
	if text := page(client.PostForm(address+"/signin", url.Values{"token": {secret}, "next": {"/inboxes/good"}})); !strings.HasPrefix(text, "/inboxes/good ") || !strings.Contains(text, "<h1>good</h1>") {
		t.Errorf("after the sign-in: %s", text)
	}
	if text := page(client.Get(address + "/v1/inboxes")); !strings.Contains(text, `"code":"unauthorized"`) {
		t.Errorf("the API takes the cookie of the page: %s", text)
	}
}
