package keypage

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/config"
)

const (
	keyHost = "keys.test"
	path    = "/.well-known/agent-agreements/" + seller + ".json"
)

// certify writes a certificate for keyHost and loopback, and its key, to the files of a configuration, and returns the
// authority to trust: itself.
func certify(t *testing.T, cfg *config.Config) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{keyHost}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	ok(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ok(t, err)
	cfg.Public.CertFile, cfg.Public.KeyFile = filepath.Join(cfg.StateDir, "cert.pem"), filepath.Join(cfg.StateDir, "key.pem")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	ok(t, os.WriteFile(cfg.Public.CertFile, authority, 0o600))
	ok(t, os.WriteFile(cfg.Public.KeyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return roots
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// serve has a server listen on loopback until the test ends.
func serve(t *testing.T, s *Server) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return l.Addr().String()
}

// ask sends a request as it is written and reads the answer.
func ask(t *testing.T, conn net.Conn, request string) (*http.Response, string) {
	t.Helper()
	_, err := io.WriteString(conn, request)
	ok(t, err)
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	ok(t, err)
	body, err := io.ReadAll(response.Body)
	ok(t, err)
	return response, string(body)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	ok(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestShows shows a page to GET and HEAD under its one address, and nothing else to anybody.
func TestShows(t *testing.T) {
	cfg := twoInboxes(t)
	newKey(t, dir(cfg, 0), at(0))
	s, err := New(cfg, time.Now, silent())
	ok(t, err)
	address := serve(t, s)
	page, err := Build(cfg, seller)
	ok(t, err)
	for name, c := range map[string]struct {
		line   string
		status int
	}{
		"page":               {"GET " + path, 200},
		"head":               {"HEAD " + path, 200},
		"other party":        {"GET " + strings.Replace(path, seller, other, 1), 200},
		"whole address":      {"GET http://keys.test" + path, 200},
		"no such party":      {"GET " + strings.Replace(path, "seller", "seiler", 1), 404},
		"root":               {"GET /", 404},
		"folder":             {"GET /.well-known/agent-agreements/", 404},
		"no suffix":          {"GET " + strings.TrimSuffix(path, ".json"), 404},
		"slash behind":       {"GET " + path + "/", 404},
		"two slashes":        {"GET /" + path, 404},
		"capital":            {"GET " + strings.Replace(path, "well", "Well", 1), 404},
		"capital in party":   {"GET " + strings.Replace(path, "pty_s", "pty_S", 1), 404},
		"escape":             {"GET " + strings.Replace(path, "pty_s", "pty_%73", 1), 404},
		"escaped slash":      {"GET " + strings.Replace(path, "/agent", "%2fagent", 1), 404},
		"dot segment":        {"GET " + strings.Replace(path, "/agent", "/./agent", 1), 404},
		"dot dot":            {"GET /x/.." + path, 404},
		"file":               {"GET /.well-known/agent-agreements/../../etc/passwd", 404},
		"query":              {"GET " + path + "?x=1", 404},
		"empty query":        {"GET " + path + "?", 404},
		"star":               {"OPTIONS *", 404},
		"post":               {"POST " + path, 405},
		"put":                {"PUT " + path, 405},
		"delete":             {"DELETE " + path, 405},
		"options":            {"OPTIONS " + path, 405},
		"unknown method":     {"BREW " + path, 405},
		"method in small":    {"get " + path, 405},
		"post to nothing":    {"POST /", 404},
		"connect":            {"CONNECT keys.test:443", 404},
		"trace, no reflexes": {"TRACE " + path, 405},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := ask(t, dial(t, address), c.line+" HTTP/1.1\r\nHost: keys.test\r\nConnection: close\r\nX-Secret: hunter2\r\n\r\n")
			if response.StatusCode != c.status {
				t.Fatalf("status %d, want %d", response.StatusCode, c.status)
			}
			switch {
			case c.line == "GET "+path && body != string(page):
				t.Errorf("the page is %s", body)
			case strings.HasPrefix(c.line, "HEAD") && (body != "" || response.ContentLength != int64(len(page))):
				t.Errorf("HEAD: %q, %d bytes told", body, response.ContentLength)
			case c.status != 200 && (strings.Contains(body, "pty_") || strings.Contains(body, "hunter2") || response.Header.Get("Cache-Control") != ""):
				t.Errorf("%v %s", response.Header, body)
			case c.status == 405 && response.Header.Get("Allow") != "GET, HEAD":
				t.Errorf("Allow: %s", response.Header.Get("Allow"))
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	cfg := twoInboxes(t)
	s, err := New(cfg, time.Now, silent())
	ok(t, err)
	response, body := ask(t, dial(t, serve(t, s)), "GET "+path+" HTTP/1.1\r\nHost: keys.test\r\nConnection: close\r\nAccept-Encoding: gzip\r\nOrigin: null\r\n\r\n")
	response.Header.Del("Date")
	want := http.Header{
		"Content-Type": {"application/json"}, "Cache-Control": {"public, max-age=300"},
		"Access-Control-Allow-Origin": {"*"}, "X-Content-Type-Options": {"nosniff"}, "Content-Length": response.Header["Content-Length"],
	}
	if diff := cmp.Diff(want, response.Header); diff != "" || response.ContentLength != int64(len(body)) {
		t.Error(diff)
	}
}

// handshake speaks TLS with a server, up to the version given, and returns the error or the protocols agreed on.
func handshake(t *testing.T, address string, roots *x509.CertPool, version uint16) (tls.ConnectionState, error) {
	t.Helper()
	conn := tls.Client(dial(t, address), &tls.Config{ServerName: keyHost, RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: version, NextProtos: []string{"h2", "http/1.1"}})
	defer conn.Close()
	err := conn.HandshakeContext(t.Context())
	return conn.ConnectionState(), err
}

// TestTLS speaks TLS 1.2 and later with the certificate, and nothing in clear.
func TestTLS(t *testing.T) {
	cfg := twoInboxes(t)
	roots := certify(t, cfg)
	s, err := New(cfg, time.Now, silent())
	ok(t, err)
	address := serve(t, s)
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		if state, err := handshake(t, address, roots, version); (err == nil) != want || want && state.NegotiatedProtocol == "h2" {
			t.Errorf("%s: %q, %v", tls.VersionName(version), state.NegotiatedProtocol, err)
		}
	}
	conn := tls.Client(dial(t, address), &tls.Config{ServerName: keyHost, RootCAs: roots})
	if response, _ := ask(t, conn, "GET "+path+" HTTP/1.1\r\nHost: keys.test\r\nConnection: close\r\n\r\n"); response.StatusCode != 200 {
		t.Errorf("status %d", response.StatusCode)
	}
	if response, body := ask(t, dial(t, address), "GET "+path+" HTTP/1.1\r\nHost: keys.test\r\n\r\n"); response.StatusCode == 200 {
		t.Errorf("in clear: %s", body)
	}
}

// TestReload takes up a new certificate and new parties for the connections that follow, or nothing.
func TestReload(t *testing.T) {
	cfg := twoInboxes(t)
	old := certify(t, cfg)
	s, err := New(cfg, time.Now, silent())
	ok(t, err)
	address := serve(t, s)
	trusted := func(roots *x509.CertPool, want bool) {
		t.Helper()
		if _, err := handshake(t, address, roots, 0); (err == nil) != want {
			t.Errorf("handshake: %v", err)
		}
	}
	trusted(old, true)
	renewed := certify(t, cfg)
	trusted(renewed, false)

	ok(t, s.Reload(cfg))
	trusted(renewed, true)
	trusted(old, false)

	ok(t, os.WriteFile(cfg.Public.KeyFile, []byte("hunter2"), 0o600))
	if err := s.Reload(cfg); err == nil || !strings.HasPrefix(err.Error(), "public.cert_file and public.key_file: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Reload returned %v", err)
	}
	renewed = certify(t, cfg)
	if _, err := handshake(t, address, renewed, 0); err == nil {
		t.Error("it was reloaded though it was wrong")
	}
	without := *cfg
	without.Inboxes = cfg.Inboxes[:1]
	newKey(t, dir(cfg, 0), at(0))
	ok(t, os.WriteFile(filepath.Join(dir(cfg, 0), strings.Repeat("a", 43)+".json"), []byte("{"), 0o600))
	if err := s.Reload(&without); err == nil || !strings.HasPrefix(err.Error(), "key page of "+seller) {
		t.Errorf("Reload returned %v", err)
	}
	ok(t, os.Remove(filepath.Join(dir(cfg, 0), strings.Repeat("a", 43)+".json")))
	ok(t, s.Reload(&without))
	for id, status := range map[string]int{seller: 200, other: 404} {
		conn := tls.Client(dial(t, address), &tls.Config{ServerName: keyHost, RootCAs: renewed})
		response, _ := ask(t, conn, "GET "+strings.Replace(path, seller, id, 1)+" HTTP/1.1\r\nHost: keys.test\r\nConnection: close\r\n\r\n")
		if response.StatusCode != status {
			t.Errorf("%s: status %d", id, response.StatusCode)
		}
	}
}

// TestNewRefuses names the two keys of a certificate that does not fit, and shows nothing of what is in the files.
func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"no certificate": func(cfg *config.Config) { cfg.Public.CertFile += "x" },
		"no key":         func(cfg *config.Config) { cfg.Public.KeyFile += "x" },
		"key of another": func(cfg *config.Config) {
			copied := *cfg
			copied.StateDir = t.TempDir()
			certify(t, &copied)
			cfg.Public.KeyFile = copied.Public.KeyFile
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := twoInboxes(t)
			certify(t, cfg)
			change(cfg)
			if _, err := New(cfg, time.Now, silent()); err == nil || !strings.HasPrefix(err.Error(), "public.cert_file and public.key_file: ") {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

func TestServeTakenListener(t *testing.T) {
	s, err := New(twoInboxes(t), time.Now, silent())
	ok(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	ok(t, l.Close())
	if err := s.Serve(t.Context(), l); err == nil || !strings.HasPrefix(err.Error(), "serving key pages: ") {
		t.Errorf("Serve returned %v", err)
	}
}

// pipes is a listener on connections in memory, so that a wait passes no time outside the test.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial returns a connection that waits until it is accepted.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	go func() {
		select {
		case p.conns <- server:
		case <-p.done:
			server.Close()
		}
	}()
	return client
}

// inBubble serves on pipes, in a bubble whose time passes only when everybody waits.
func inBubble(t *testing.T, test func(*testing.T, *pipes, context.CancelFunc)) {
	cfg := twoInboxes(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := New(cfg, time.Now, silent())
		ok(t, err)
		p := newPipes()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, p) }()
		test(t, p, cancel)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

const request = "GET " + path + " HTTP/1.1\r\nHost: keys.test\r\n\r\n"

// closedAfter reads a connection to its end, and wants that after a time.
func closedAfter(t *testing.T, conn net.Conn, want time.Duration) {
	t.Helper()
	begun := time.Now()
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Error(err)
	}
	if got := time.Since(begun); got != want {
		t.Errorf("closed after %s, want %s", got, want)
	}
}

// TestSlow gives a stranger five seconds for a request, and a connection between two requests ten.
func TestSlow(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes, _ context.CancelFunc) {
		closedAfter(t, p.dial(), readTime)
		half := p.dial()
		_, err := io.WriteString(half, request[:20])
		ok(t, err)
		closedAfter(t, half, readTime)
		idle := p.dial()
		if response, _ := ask(t, idle, request); response.StatusCode != 200 {
			t.Errorf("status %d", response.StatusCode)
		}
		closedAfter(t, idle, idleTime)
	})
}

// TestDeaf gives up on a stranger who asks and does not read.
func TestDeaf(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes, _ context.CancelFunc) {
		deaf := p.dial()
		_, err := io.WriteString(deaf, request)
		ok(t, err)
		time.Sleep(readTime + writeTime)
		synctest.Wait()
		if _, err := io.WriteString(deaf, request); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("it can still write: %v", err)
		}
	})
}

// TestMany has as many connections as there may be, and one more, which waits for the end of another.
func TestMany(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes, _ context.CancelFunc) {
		var conns []net.Conn
		for range maxConns {
			conns = append(conns, p.dial())
		}
		synctest.Wait()
		answered := make(chan int)
		go func() {
			more := p.dial()
			response, _ := ask(t, more, request)
			answered <- response.StatusCode
			more.Close()
		}()
		synctest.Wait()
		select {
		case status := <-answered:
			t.Errorf("one more is answered: %d", status)
		default:
		}
		conns[0].Close()
		if status := <-answered; status != 200 {
			t.Errorf("status %d", status)
		}
		for _, conn := range conns {
			conn.Close()
		}
	})
}

// TestLarge reads no header without an end.
func TestLarge(t *testing.T) {
	s, err := New(twoInboxes(t), time.Now, silent())
	ok(t, err)
	long := strings.TrimSuffix(request, "\r\n") + "X: "
	long += strings.Repeat("a", maxHeader+4<<10-len(long)) // no more than is read, or the connection is reset
	if response, _ := ask(t, dial(t, serve(t, s)), long); response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", response.StatusCode)
	}
}

// TestStop answers what was asked before it is told to stop.
func TestStop(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes, cancel context.CancelFunc) {
		asking, idle := p.dial(), p.dial()
		if response, _ := ask(t, idle, request); response.StatusCode != 200 {
			t.Errorf("status %d", response.StatusCode)
		}
		_, err := io.WriteString(asking, request)
		ok(t, err)
		synctest.Wait() // answered, and not read yet
		cancel()
		response, err := http.ReadResponse(bufio.NewReader(asking), nil)
		if err != nil || response.StatusCode != 200 {
			t.Errorf("%v, %v", response, err)
		}
	})
}
