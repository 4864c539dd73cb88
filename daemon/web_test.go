package daemon

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/token"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const apiTable = "[api]\nlisten = \"127.0.0.1:0\"\nhosts = [\"Agent.Example.com\"]\n"

// apiAt waits until the API is answered, and returns where.
func (r *rig) apiAt() string {
	r.t.Helper()
	r.logged(`msg="the API is answered"`)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.lines {
		if _, address, ok := strings.Cut(line, `msg="the API is answered" address=`); ok {
			return strings.TrimSpace(address)
		}
	}
	return ""
}

// secret makes a token of the daemon.
func (r *rig) secret(d *Daemon, scope token.Scope) string {
	r.t.Helper()
	secret, err := d.web.tokens.Add(string(scope), scope, nil, rand.Reader, time.Now())
	check(r.t, err)
	return secret
}

// TestAPI asks a running daemon by several names, with and without a token.
func TestAPI(t *testing.T) {
	r := newRig(t)
	d, stop := r.start(r.config(apiTable, r.box("good", r.server.IMAP().Port, "")))
	defer func() { check(t, stop()) }()
	address, secret := r.apiAt(), r.secret(d, token.Agent)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	large := bytes.Repeat([]byte(" "), 10<<20)
	for _, c := range []struct {
		name, method, path, host, secret string
		body                             []byte
		status                           int
		want                             string
	}{
		{"no token", "GET", "/v1/inboxes", "", "", nil, 401, `"code":"unauthorized"`},
		{"no token, by a path that is not clean", "GET", "/v1//inboxes", "", "", nil, 401, `"code":"unauthorized"`},
		{"no token, by the root", "GET", "/v1", "", "", nil, 401, `"code":"unauthorized"`},
		{"no token, about everything", "OPTIONS", "*", "", "", nil, 400, ""},
		{"a token", "GET", "/v1/inboxes", "", secret, nil, 200, `"name":"good"`},
		{"by localhost", "GET", "/v1/inboxes", "localhost:8465", secret, nil, 200, ""},
		{"by an IPv6 address", "GET", "/v1/inboxes", "[::1]", secret, nil, 200, ""},
		{"by the name of a proxy", "GET", "/v1/inboxes", "agent.example.com", secret, nil, 200, ""},
		{"by a name that was rebound", "GET", "/v1/inboxes", "attacker.example:8465", secret, nil, 421, "add it to hosts in [api]"},
		{"by a name that begins like an address", "GET", "/v1/inboxes", "127.0.0.1.attacker.example", secret, nil, 421, ""},
		{"nothing there", "GET", "/v1/nothing", "", secret, nil, 404, `"code":"not_found"`},
		{"10 MB", "POST", "/v1/inboxes/good/actions", "", secret, large, 413, `"code":"too_large"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+strings.TrimSuffix(c.path, "*"), bytes.NewReader(c.body))
			check(t, err)
			if c.path == "*" {
				q.URL.Path, q.URL.Opaque = "", "*"
			}
			q.Host = c.host
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Origin", "https://attacker.example")
			if c.secret != "" {
				q.Header.Set("Authorization", "Bearer "+c.secret)
			}
			response, err := client.Do(q)
			check(t, err)
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			check(t, err)
			if response.StatusCode != c.status || !strings.Contains(string(text), c.want) {
				t.Errorf("%d %s", response.StatusCode, text)
			}
			for name := range response.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("a page of another origin may read it: %s", name)
				}
			}
		})
	}
}

// bearer shows a token with each request.
type bearer string

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

// TestMCP has a model use a running daemon, with a token and not without.
func TestMCP(t *testing.T) {
	r := newRig(t)
	d, stop := r.start(r.config(apiTable, r.box("good", r.server.IMAP().Port, "")))
	defer func() { check(t, stop()) }()
	endpoint := "http://" + r.apiAt() + "/mcp"
	connect := func(secret string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "model", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer(secret)}, MaxRetries: -1}, nil)
	}
	if _, err := connect("amt_none"); err == nil {
		t.Error("anybody may use the tools")
	}
	session, err := connect(r.secret(d, token.Agent))
	check(t, err)
	defer session.Close()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask_quote", Arguments: map[string]any{
		"to": "agent@buyer.test", "items": []any{map[string]any{"description": "Mug", "quantity": 1}},
	}})
	check(t, err)
	if text := result.Content[0].(*sdk.TextContent).Text; result.IsError || !strings.Contains(text, "the owner is asked") {
		t.Errorf("an agent without limits: %s", text)
	}
	r.logged(`msg="a tool was used"`, "tool=ask_quote", "inbox=good", "token=agent")
}

// TestCrowd has an agent take all the connections that it can get: the owner is answered all the same.
func TestCrowd(t *testing.T) {
	r := newRig(t)
	d, stop := r.start(r.config(apiTable, r.box("good", r.server.IMAP().Port, "")))
	defer func() { check(t, stop()) }()
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	address, agent, owner := r.apiAt(), r.secret(d, token.Agent), r.secret(d, token.Owner)
	ask := func(head, secret, more string) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", address)
		check(t, err)
		open = append(open, conn)
		_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\n%s", head, secret, more)
		check(t, err)
		return conn
	}
	answered := func(conn net.Conn) string {
		t.Helper()
		line, err := bufio.NewReader(conn).ReadString('\n')
		check(t, err)
		return strings.TrimSpace(line)
	}
	for name, attack := range map[string]struct {
		head, more string
		idle       bool
	}{
		"idle connections": {"GET /v1/inboxes", "\r\n", true},
		"half heads":       {"GET /v1/inboxes", "", false},
		"slow bodies":      {"POST /v1/inboxes/good/actions", "Content-Length: 9\r\n\r\n{", false},
		"slow calls":       {"POST /mcp", "Content-Length: 9\r\n\r\n{", false},
	} {
		for range maxWebConns + 9 {
			conn := ask(attack.head, agent, attack.more)
			if attack.idle {
				answered(conn)
			}
		}
		conn := ask("GET /v1/inboxes/good/limits", owner, "\r\n")
		if got := answered(conn); got != "HTTP/1.1 200 OK" {
			t.Errorf("beside %s the owner is answered %s", name, got)
		}
	}
}

// TestAPIRefused has nothing run with tokens that others can change.
func TestAPIRefused(t *testing.T) {
	r := newRig(t)
	cfg := r.config(apiTable, r.box("good", 993, ""))
	check(t, os.MkdirAll(cfg.StateDir, 0o700))
	check(t, os.WriteFile(cfg.TokensPath(), []byte(`{"tokens":[]}`), 0o600))
	check(t, Check(cfg, r.world()))
	check(t, os.Chmod(cfg.TokensPath(), 0o644))
	want := filepath.Join(r.dir, "agentmaild.toml:3: api.listen: reading the tokens: ")
	for name, err := range map[string]error{"Check": Check(cfg, r.world()), "New": second(New(cfg, r.world()))} {
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("%s returned %v", name, err)
		}
	}
}

// TestWebhook has an address told of what comes, by the daemon of its configuration.
func TestWebhook(t *testing.T) {
	r := newRig(t)
	told := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		told <- q.Header.Get("webhook-signature")[:3] + string(text)
	}))
	defer server.Close()
	r.write("hook.secret", "whsec_"+strings.Repeat("QUJD", 8))
	table := fmt.Sprintf("[[inbox.webhook]]\nurl = %q\nsecret_file = \"hook.secret\"\n", server.URL)
	cfg := r.config(r.box("good", r.server.IMAP().Port, "") + table)
	_, stop := r.start(cfg)
	defer func() { check(t, stop()) }()
	r.logged("mailbox is watched from here on")
	r.logged("a webhook is told of events from here on", "inbox=good")
	check(t, r.server.Append("good@seller.test", []byte("From: a@b.test\r\nSubject: Hello\r\n\r\nHello.\r\n"), time.Time{}))
	if text := <-told; !strings.HasPrefix(text, "v1,{") || !strings.Contains(text, `"type":"inbox.received"`) || !strings.Contains(text, `"inbox":"good"`) {
		t.Error(text)
	}

	r.write("hook.secret", "secret")
	if err := Check(cfg, r.world()); err == nil || !strings.Contains(err.Error(), "inbox.webhook.secret_file: reading a webhook secret: ") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
