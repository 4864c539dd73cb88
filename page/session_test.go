package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/token"
)

func TestSignIn(t *testing.T) {
	s := newScene(t)
	agent := s.newToken("helper", token.Agent)
	for _, c := range []struct {
		name, token, next string
		status            int
		leads, says       string
	}{
		{"an owner's token", s.secret, "", 303, "/", ""},
		{"with what a paste brings along", " " + s.secret + "\n", "", 303, "/", ""},
		{"on the way somewhere", s.secret, "/inboxes/seller/waiting", 303, "/inboxes/seller/waiting", ""},
		{"on the way to another site", s.secret, "//evil.test/inboxes/", 303, "/", ""},
		{"on the way to another site, in full", s.secret, "https://evil.test/inboxes/", 303, "/", ""},
		{"an agent's token", agent, "", 403, "", "That is an agent’s token."},
		{"no token of ours", "amt_" + strings.Repeat("A", 43), "", 403, "", "has no such token"},
		{"nothing", "", "", 403, "", "has no such token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := s.browser()
			w := b.send(http.MethodPost, "/signin", url.Values{"token": {c.token}, "next": {c.next}})
			if w.Code != c.status || w.Header().Get("Location") != c.leads {
				t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
			}
			signed := b.get("/").Code == http.StatusOK
			if signed != (c.status == 303) {
				t.Errorf("signed in: %v", signed)
			}
			if c.says != "" {
				read(t, w).says(c.says)
			}
			if strings.Contains(w.Body.String(), "amt_A") {
				t.Error("the page repeats the token")
			}
		})
	}
	for _, secret := range []string{s.secret, agent, "amt_A"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has a secret: %s", s.log.String())
		}
	}
}

// TestCookie compares what keeps a session cookie where it belongs.
func TestCookie(t *testing.T) {
	s := newScene(t)
	for name, c := range map[string]struct {
		header http.Header
		want   string
	}{
		"plain":          {nil, "agentmaild=…; Path=/; HttpOnly; SameSite=Strict"},
		"behind a proxy": {http.Header{"X-Forwarded-Proto": {"https"}}, "__Host-agentmaild=…; Path=/; HttpOnly; Secure; SameSite=Strict"},
	} {
		b := s.browser()
		for key, value := range c.header {
			b.header[key] = value
		}
		w := b.signIn(s.secret)
		if len(b.cookie) != 43 {
			t.Errorf("%s: a cookie of %d characters", name, len(b.cookie))
		}
		if got := strings.Replace(w.Header().Get("Set-Cookie"), b.cookie, "…", 1); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestSessionEnds tries to go on with the cookie of a session that has ended.
func TestSessionEnds(t *testing.T) {
	for name, end := range map[string]func(s *scene, b *browser){
		"signed out":    func(_ *scene, b *browser) { stolen := b.cookie; b.post("/signout", url.Values{}); b.cookie = stolen },
		"token revoked": func(s *scene, _ *browser) { check(s.t, s.tokens.Remove("owner")) },
		"token made anew under its name": func(s *scene, _ *browser) {
			check(s.t, s.tokens.Remove("owner"))
			s.newToken("owner", token.Owner)
		},
		"unused for half an hour": func(s *scene, _ *browser) { s.Now = s.Now.Add(idleTime) },
		"twelve hours old": func(s *scene, b *browser) {
			for range 24 {
				s.Now = s.Now.Add(idleTime - time.Second)
				b.get("/")
			}
			s.Now = s.Now.Add(time.Minute)
		},
		"signed in anew": func(s *scene, b *browser) { stolen := b.cookie; b.signIn(s.secret); b.cookie = stolen },
		"another cookie": func(_ *scene, b *browser) { b.cookie = strings.Repeat("A", 43) },
		"no cookie":      func(_ *scene, b *browser) { b.cookie = "" },
		"crowded out": func(s *scene, _ *browser) {
			s.Now = s.Now.Add(time.Second)
			for range maxSessions {
				s.signedIn()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			b := s.signedIn()
			secret := b.secret()
			if w := b.get("/inboxes/seller/threads"); w.Code != http.StatusOK {
				t.Fatalf("status %d in a session", w.Code)
			}
			end(s, b)
			if w := b.get("/inboxes/seller/threads?page=2"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/signin?next=%2Finboxes%2Fseller%2Fthreads%3Fpage%3D2" {
				t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
			}
			w := b.send(http.MethodPost, "/inboxes/seller/waiting/decide", url.Values{"form": {secret}, "key": {"x"}, "do": {"approve"}})
			if w.Code != http.StatusUnauthorized {
				t.Errorf("a form was answered with %d", w.Code)
			}
		})
	}
}

// TestSessionStays uses a session all day long.
func TestSessionStays(t *testing.T) {
	s := newScene(t)
	b := s.signedIn()
	for range 23 {
		s.Now = s.Now.Add(idleTime - time.Second)
		if w := b.get("/"); w.Code != http.StatusOK {
			t.Fatalf("status %d after %s", w.Code, s.Now)
		}
	}
}

// TestForeignForms sends forms that the page did not make for the session.
func TestForeignForms(t *testing.T) {
	for name, change := range map[string]func(s *scene, b *browser, form url.Values){
		"no secret":                   func(_ *scene, _ *browser, form url.Values) { form.Del("form") },
		"the secret of another":       func(s *scene, _ *browser, form url.Values) { form.Set("form", s.signedIn().secret()) },
		"from another site":           func(_ *scene, b *browser, _ url.Values) { b.header.Set("Sec-Fetch-Site", "cross-site") },
		"from a neighbour":            func(_ *scene, b *browser, _ url.Values) { b.header.Set("Sec-Fetch-Site", "same-site") },
		"from another origin":         func(_ *scene, b *browser, _ url.Values) { b.header = http.Header{"Origin": {"http://evil.test"}} },
		"from another port":           func(_ *scene, b *browser, _ url.Values) { b.header = http.Header{"Origin": {"http://daemon.test:81"}} },
		"from nowhere":                func(_ *scene, b *browser, _ url.Values) { b.header = http.Header{"Origin": {"null"}} },
		"with the secret in the path": func(_ *scene, _ *browser, form url.Values) { form.Del("form") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			b := s.signedIn()
			s.held()
			form := s.decided(s.only("message"), "refuse")
			form.Set("form", b.secret())
			path := "/inboxes/seller/waiting/decide"
			if strings.Contains(name, "path") {
				path += "?" + form.Encode()
			}
			change(s, b, form)
			w := b.send(http.MethodPost, path, form)
			if w.Code != http.StatusForbidden {
				t.Errorf("status %d", w.Code)
			}
			read(t, w).says("did not come from your session")
			if list := got[[]inbox.Waiting](t)(s.Seller.Waiting()); len(list) != 1 {
				t.Error("it was decided")
			}
		})
	}
	s := newScene(t)
	b := s.browser()
	b.header.Set("Sec-Fetch-Site", "cross-site")
	if w := b.signIn(s.secret); w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a sign-in from another site was answered with %d", w.Code)
	}
}

// TestAttempts tries tokens until there is no room for more, and the right one
// then.
func TestAttempts(t *testing.T) {
	s := newScene(t)
	b := s.browser()
	try := func(want int) {
		t.Helper()
		if w := b.signIn("amt_wrong"); w.Code != want {
			t.Errorf("status %d, not %d", w.Code, want)
		}
	}
	for range maxAttempts {
		try(http.StatusForbidden)
	}
	try(http.StatusTooManyRequests)
	b.from = "[2001:db8::1]:1"
	for range maxAttempts {
		try(http.StatusForbidden)
	}
	b.from = "[2001:db8::ffff]:1" // the same house
	try(http.StatusTooManyRequests)
	if n := strings.Count(s.log.String(), "a sign-in was refused"); n != 2*maxAttempts {
		t.Errorf("%d lines in the log", n)
	}
	if w := b.signIn(s.secret); w.Code != http.StatusSeeOther {
		t.Errorf("the right token is kept out with %d", w.Code)
	}
	s.Now = s.Now.Add(attemptTime)
	try(http.StatusForbidden)

	var a attempts
	for i := range maxAddresses {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", i/256, i%256); !a.wrong(addressOf(r), s.Now) {
			t.Fatalf("no room for address %d", i)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "10.1.0.0:1"
	if a.wrong(addressOf(r), s.Now) || len(a.count) != maxAddresses {
		t.Errorf("%d addresses are kept", len(a.count))
	}
}

// TestFromElsewhere follows a link on another site: the cookie stays back.
func TestFromElsewhere(t *testing.T) {
	b := newScene(t).browser()
	b.header.Set("Sec-Fetch-Site", "cross-site")
	w := b.get("/inboxes/seller/waiting")
	page := read(t, w)
	page.says("If you are signed in already")
	found := false
	for _, link := range page.links() {
		found = found || link == "/inboxes/seller/waiting"
	}
	if !found {
		t.Errorf("nothing leads on: %v", page.links())
	}
}

// TestInboxesOfToken shows no more than a token is for.
func TestInboxesOfToken(t *testing.T) {
	s := newScene(t)
	b := s.browser()
	b.signIn(s.newToken("half", token.Owner, "seller"))
	if page := read(t, b.get("/")); strings.Contains(page.raw, "buyer") {
		t.Error("the other inbox is shown")
	}
	if w := b.get("/inboxes/seller"); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
	for _, path := range []string{"/inboxes/buyer", "/inboxes/buyer/waiting", "/inboxes/nobody"} {
		if w := b.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	if w := b.post("/inboxes/buyer/waiting/decide", url.Values{"key": {"x"}, "do": {"approve"}}); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}
