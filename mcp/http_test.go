package mcp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/token"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// ring knows two tokens.
func ring(secret string) (token.Token, bool) {
	switch secret {
	case "all":
		return token.Token{Name: "all", Scope: token.Owner}, true
	case "seller's":
		return token.Token{Name: "one", Scope: token.Agent, Inboxes: []string{"seller"}}, true
	}
	return token.Token{}, false
}

// TestHandler refuses what is no request of a client with a token.
func TestHandler(t *testing.T) {
	s := newScene(t)
	h := httptest.NewServer(s.server(s.pair.Buyer).Handler(ring))
	t.Cleanup(h.Close)
	for _, c := range []struct {
		name, method, body string
		header             map[string]string
		want               int
	}{
		{"as it should be", "POST", initialize, nil, 200},
		{"no token", "POST", initialize, map[string]string{"Authorization": ""}, 401},
		{"a wrong token", "POST", initialize, map[string]string{"Authorization": "Bearer other"}, 401},
		{"not a bearer", "POST", initialize, map[string]string{"Authorization": "all"}, 401},
		{"a page of another origin", "POST", initialize, map[string]string{"Origin": "https://evil.test"}, 403},
		{"what a browser calls so", "POST", initialize, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"a session of before", "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, map[string]string{"Mcp-Session-Id": "guessed"}, 200},
		{"a stream to listen on", "GET", "", nil, 405},
		{"the end of a session", "DELETE", "", nil, 405},
		{"a form", "POST", "a=b", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"10 MB", "POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("a", 10<<20) + `"}}`, nil, 413},
		{"no JSON", "POST", "{", nil, 400},
		{"several messages", "POST", "\r\n [" + initialize + `,{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`, nil, 400},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, h.URL, strings.NewReader(c.body))
		s.check(err)
		r.Header = http.Header{"Authorization": {"Bearer all"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for name, value := range c.header {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		s.check(err)
		body, err := io.ReadAll(answer.Body)
		s.check(err)
		s.check(answer.Body.Close())
		if answer.StatusCode != c.want || answer.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %s %s", c.name, answer.Status, body)
		}
		if (answer.Header.Get("WWW-Authenticate") == "Bearer") != (c.want == 401) {
			t.Errorf("%s: WWW-Authenticate is %q", c.name, answer.Header.Get("WWW-Authenticate"))
		}
	}
}

// TestTokens has a token see its inboxes alone, from the moment it is asked to
// the moment it is revoked.
func TestTokens(t *testing.T) {
	s := newScene(t)
	revoked := false
	check := func(secret string) (token.Token, bool) {
		if revoked {
			return token.Token{}, false
		}
		return ring(secret)
	}
	server := s.server(s.pair.Buyer, s.pair.Seller)
	seller := s.overHTTP(server, check, "seller's")
	if list, _ := use[listing](s, seller, "list_threads", `{}`); list.Inbox != "seller" {
		t.Errorf("the seller's token lists %+v", list)
	}
	if told := s.refused(seller, "list_threads", `{"inbox": "buyer"}`); strings.Contains(told, "buyer") {
		t.Errorf("the seller's token is told: %s", told)
	}
	if list, _ := use[listing](s, s.overHTTP(server, check, "all"), "list_threads", `{"inbox": "buyer"}`); list.Inbox != "buyer" {
		t.Errorf("the other token lists %+v", list)
	}
	revoked = true
	if _, err := seller.ListTools(t.Context(), nil); err == nil {
		t.Error("a revoked token is good still")
	}
}
