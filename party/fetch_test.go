package party

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pageHost is a host of key pages.
type pageHost struct {
	*httptest.Server
	hits atomic.Int32
}

func newPageHost(t *testing.T, serve http.HandlerFunc) *pageHost {
	t.Helper()
	h := &pageHost{}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.hits.Add(1)
		serve(w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(h.Close)
	return h
}

func (h *pageHost) url(party string) string { return h.URL + pagePath + party + pageSuffix }

func (h *pageHost) fetcher(now func() time.Time) *Fetcher {
	roots := x509.NewCertPool()
	roots.AddCert(h.Certificate())
	return NewFetcher(now, Options{AllowPrivate: true, RootCAs: roots})
}

// onPipes puts the host on connections in memory, so that a fetch can wait without time passing outside the test.
func (h *pageHost) onPipes(now func() time.Time) *Fetcher {
	pipes := &pipeListener{conns: make(chan net.Conn)}
	pipes.open, pipes.close = context.WithCancel(context.Background())
	h.Listener.Close()
	h.Listener = pipes
	h.StartTLS()
	f := h.fetcher(now)
	f.client.Transport.(*http.Transport).DialContext = pipes.dial
	return f
}

type pipeListener struct {
	conns chan net.Conn
	open  context.Context
	close context.CancelFunc
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.open.Done():
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.close()
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

func serveGood(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, pageText(keyText(testKey(1), "")))
}

func fixedClock() time.Time { return time.Unix(arrival, 0) }

func TestFetch(t *testing.T) {
	host := newPageHost(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pagePath+buyer+pageSuffix || r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		// U15: nothing goes along that tells one fetch from another.
		for _, name := range []string{"Cookie", "Authorization", "Referer", "Accept-Encoding"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s: %s", name, r.Header.Get(name))
			}
		}
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1", Path: "/"})
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, pageText(keyText(testKey(1), "")))
	})
	host.StartTLS()
	now := fixedClock()
	f := host.fetcher(func() time.Time { return now })
	for range 2 {
		page, err := f.Page(t.Context(), host.url(buyer), buyer, false)
		if err != nil || len(page.Keys) != 1 {
			t.Fatal(page, err)
		}
		now = now.Add(time.Hour)
	}
	if host.hits.Load() != 2 {
		t.Errorf("%d fetches", host.hits.Load())
	}
	if f.client.Transport.(*http.Transport).Proxy != nil { // U11
		t.Error("a proxy may be used")
	}
}

func TestFetchRefuses(t *testing.T) {
	body := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			io.WriteString(w, text)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			if code != http.StatusNoContent && code != http.StatusNotModified {
				io.WriteString(w, pageText())
			}
		}
	}
	redirect := func(code int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			status(code)(w, nil)
		}
	}
	elsewhere := PageURL("evil.test", buyer)
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  error
	}{
		{"U8 301", redirect(301, elsewhere), ErrNoPage},
		{"U8 302 to the same host", redirect(302, pagePath+buyer+pageSuffix), ErrNoPage},
		{"U8 303", redirect(303, elsewhere), ErrNoPage},
		{"U8 307", redirect(307, elsewhere), ErrNoPage},
		{"U8 308 to a file", redirect(308, "file:///etc/passwd"), ErrNoPage},
		{"P1 over 64 KiB", body("application/json", pageText()+strings.Repeat(" ", maxPage)), ErrNoPage},
		{"P1 endless", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		}, ErrNoPage},
		{"P1 cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "5000")
			io.WriteString(w, pageText())
		}, ErrTemporary},
		{"P1 huge header", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 2<<20))
			serveGood(w, r)
		}, ErrTemporary},
		{"P2 gzip bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(make([]byte, 10<<20))
			z.Close()
		}, ErrNoPage},
		{"P2 identity", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "identity")
			serveGood(w, r)
		}, nil},
		{"P3 HTML", body("text/html", "<p>"), ErrNoPage},
		{"P3 page as text", body("text/plain", pageText()), ErrNoPage},
		{"P3 page as problem", body("application/problem+json", pageText()), ErrNoPage},
		{"P3 media type broken", body("application/json; x", pageText()), ErrNoPage},
		{"P3 empty", body("application/json", ""), ErrNoPage},
		{"P3 array", body("application/json", "["+pageText()+"]"), ErrNoPage},
		{"P3 of another party", body("application/json", strings.ReplaceAll(pageText(), buyer, seller)), ErrNoPage},
		{"P4 204", status(204), ErrNoPage},
		{"P4 206", status(206), ErrNoPage},
		{"P4 304", status(304), ErrNoPage},
		{"P4 403", status(403), ErrNoPage},
		{"P4 404", status(404), ErrNoPage},
		{"P4 410", status(410), ErrNoPage},
		{"P4 429", status(429), ErrTemporary},
		{"P4 500", status(500), ErrTemporary},
		{"P4 503", status(503), ErrTemporary},
		{"P4 connection closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ErrTemporary},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			host := newPageHost(t, tc.serve)
			host.StartTLS()
			page, err := host.fetcher(fixedClock).Page(t.Context(), host.url(buyer), buyer, false)
			if !errors.Is(err, tc.want) || (err == nil) != (page != nil) {
				t.Errorf("got %v, %v, want %v", page, err, tc.want)
			}
			if host.hits.Load() != 1 {
				t.Errorf("%d requests", host.hits.Load())
			}
		})
	}
}

func TestFetchGivesUp(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"never answers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a byte a second": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newPageHost(t, serve)
				f := host.onPipes(time.Now)
				start := time.Now()
				_, err := f.Page(t.Context(), host.url(buyer), buyer, false)
				if took := time.Since(start); !errors.Is(err, ErrTemporary) || took != fetchTimeout {
					t.Errorf("got %v after %v", err, took)
				}
			})
		})
	}
}

func TestFetchTLS(t *testing.T) {
	t.Run("U12 certificate of nobody known", func(t *testing.T) {
		host := newPageHost(t, serveGood)
		host.StartTLS()
		f := NewFetcher(fixedClock, Options{AllowPrivate: true, RootCAs: x509.NewCertPool()})
		wantNoRequest(t, host, f, host.url(buyer), ErrTemporary)
	})
	t.Run("U12 certificate of another name", func(t *testing.T) {
		host := newPageHost(t, serveGood)
		host.StartTLS()
		url := strings.Replace(host.url(buyer), "127.0.0.1", "localhost", 1)
		wantNoRequest(t, host, host.fetcher(fixedClock), url, ErrTemporary)
	})
	t.Run("U12 TLS 1.1", func(t *testing.T) {
		host := newPageHost(t, serveGood)
		host.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		host.StartTLS()
		wantNoRequest(t, host, host.fetcher(fixedClock), host.url(buyer), ErrTemporary)
	})
	t.Run("U1 no TLS", func(t *testing.T) {
		host := newPageHost(t, serveGood)
		host.Start()
		wantNoRequest(t, host, NewFetcher(fixedClock, Options{AllowPrivate: true}), host.url(buyer), ErrNoPage)
	})
	t.Run("no address at all", func(t *testing.T) {
		host := newPageHost(t, serveGood)
		host.StartTLS()
		wantNoRequest(t, host, host.fetcher(fixedClock), "https://%zz/", ErrNoPage)
	})
}

// U9, U10: what the name resolves to is looked at when it is dialled.
func TestFetchPrivate(t *testing.T) {
	for _, name := range []string{"127.0.0.1", "localhost"} {
		t.Run(name, func(t *testing.T) {
			host := newPageHost(t, serveGood)
			host.StartTLS()
			url := strings.Replace(host.url(buyer), "127.0.0.1", name, 1)
			wantNoRequest(t, host, NewFetcher(fixedClock, Options{}), url, ErrNoPage)
		})
	}
	if err := publicOnly("tcp", "no address", nil); !errors.Is(err, ErrNoPage) {
		t.Errorf("no address: %v", err)
	}
	if err := publicOnly("tcp4", "1.1.1.1:443", nil); err != nil {
		t.Error(err)
	}
}

func wantNoRequest(t *testing.T, host *pageHost, f *Fetcher, url string, want error) {
	t.Helper()
	if _, err := f.Page(t.Context(), url, buyer, false); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if n := host.hits.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"1.1.1.1": true, "9.255.255.255": true, "11.0.0.0": true, "172.32.0.1": true, "223.255.255.255": true,
		"2606:4700:4700::1111": true, "2a00:1450:4001::1": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "100.127.255.255": false, "127.0.0.1": false,
		"127.255.255.255": false, "169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false,
		"192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false, "198.18.0.1": false, "198.19.255.255": false,
		"198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false,
		"255.255.255.255": false,
		"::":              false, "::1": false, "::ffff:1.1.1.1": false, "::1.1.1.1": false, "64:ff9b::101:101": false,
		"64:ff9b:1::1": false, "100::1": false, "2001::1": false, "2001:2::1": false, "2001:20::1": false, "2001:db8::1": false,
		"2002:101:101::1": false, "3fff::1": false, "fc00::1": false, "fd12::1": false, "fe80::1": false, "fe80::1%eth0": false,
		"fec0::1": false, "ff02::1": false, "2606:4700::1%eth0": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestLifetime(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"":                          time.Minute,
		"max-age=3600":              time.Hour,
		"public, Max-Age=3600":      time.Hour,
		`max-age="3600"`:            time.Hour,
		"max-age=0":                 time.Minute,
		"max-age=59":                time.Minute,
		"max-age=-1":                time.Minute,
		"max-age=86401":             24 * time.Hour,
		"max-age=2147483647":        24 * time.Hour,
		"max-age=99999999999999999": time.Minute,
		"max-age=x":                 time.Minute,
		"max-age=3600, no-store":    time.Minute,
		"no-cache, max-age=3600":    time.Minute,
		"s-maxage=3600":             time.Minute,
	} {
		if got := lifetime(http.Header{"Cache-Control": {value}}); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// A page that a cache has held for a while is kept for what is left of its time.
func TestLifetimeAged(t *testing.T) {
	for age, want := range map[string]time.Duration{
		"":                     5 * time.Minute,
		"0":                    5 * time.Minute,
		"100":                  200 * time.Second,
		" 100 , 7":             200 * time.Second, // RFC 9111 §5.1: the first of several
		"241":                  time.Minute,
		"3000":                 time.Minute,
		"99999999999999999999": time.Minute,
		"-100":                 5 * time.Minute,
		"1.5":                  5 * time.Minute,
		"x":                    5 * time.Minute,
	} {
		if got := lifetime(http.Header{"Cache-Control": {"public, max-age=300"}, "Age": {age}}); got != want {
			t.Errorf("%q: %v, want %v", age, got, want)
		}
	}
	week := http.Header{"Cache-Control": {"max-age=604800"}, "Age": {"82800"}}
	if got := lifetime(week); got != time.Hour {
		t.Errorf("%v after 23 hours in a cache, want 1h: no page is a day old", got)
	}
}

// partyNumber is one of many party ids.
func partyNumber(n int) string {
	digits := strconv.Itoa(n)
	return "pty_" + strings.Repeat("0", 20-len(digits)) + digits
}
