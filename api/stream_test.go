package api

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// stream opens a stream on a server and returns its lines.
func (r *rig) stream(server *httptest.Server, secret, query, last string) (*http.Response, *bufio.Scanner) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), "GET", server.URL+"/v1/inboxes/west/events/stream"+query, nil)
	check(r.t, err)
	q.Header.Set("Authorization", "Bearer "+secret)
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(q)
	check(r.t, err)
	r.t.Cleanup(func() { _ = response.Body.Close() })
	return response, bufio.NewScanner(response.Body)
}

// nextID is the id of the next event of a stream, "" at its end.
func nextID(lines *bufio.Scanner) string {
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			return id
		}
	}
	return ""
}

// TestStream begins where it is asked to, goes on where it was cut off, and ends with its token.
func TestStream(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(r.handler)
	defer server.Close()
	defer server.CloseClientConnections()
	act := func() { r.ask("POST", "/inboxes/west/actions", r.owner, askQuote()).into(200, nil) }
	for range 3 {
		act()
	}
	response, now := r.stream(server, r.agent, "", "")
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" || !now.Scan() || !strings.HasPrefix(now.Text(), ":") {
		t.Errorf("%s, %q", kind, now.Text())
	}
	_, all := r.stream(server, r.agent, "?after=0000000000000000", "")
	_, second := r.stream(server, r.agent, "?after=0000000000000000", "0000000000000002")
	_, beyond := r.stream(server, r.agent, "", "00000000000000ff") // of a store that a backup has replaced
	act()
	for _, c := range []struct {
		name  string
		lines *bufio.Scanner
		want  []string
	}{{"now", now, []string{"4"}}, {"all", all, []string{"1", "2", "3", "4"}}, {"resumed", second, []string{"3", "4"}}, {"beyond the last", beyond, []string{"4"}}} {
		for _, want := range c.want {
			if id := nextID(c.lines); id != "000000000000000"+want {
				t.Errorf("%s: %s, not %s", c.name, id, want)
			}
		}
	}
	for _, bad := range []string{"1", "x", "00000000000000001", "000000000000000A"} {
		q := r.request("GET", "/inboxes/west/events/stream", r.agent, nil)
		q.Header.Set("Last-Event-ID", bad)
		r.do(q).refused(400, codeBadRequest, "after")
	}
	check(t, r.ring.Remove("agent"))
	act() // is not sent to them any more
	for _, lines := range []*bufio.Scanner{now, all, second} {
		if id := nextID(lines); id != "" || lines.Err() != nil {
			t.Errorf("after its token was revoked it goes on with %s, %v", id, lines.Err())
		}
	}
}

// TestManyStreams opens a thousand, of which a few are answered.
func TestManyStreams(t *testing.T) {
	r := newRig(t)
	var open, tooMany, busy atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	answered, ended := make(chan struct{}), make(chan struct{})
	const tokens, each = 10, 100
	for n := range tokens {
		secret := r.secret(fmt.Sprintf("t%d", n), token.Agent)
		for range each {
			go func() {
				defer func() { ended <- struct{}{} }()
				w := &reading{header: http.Header{}, begun: func(status int, header http.Header) {
					switch {
					case status == 200:
						open.Add(1)
					case header.Get("Connection") != "close": // each that is kept takes a place from others
					case status == 429 && header.Get("Retry-After") != "":
						tooMany.Add(1)
					case status == 503 && header.Get("Retry-After") != "":
						busy.Add(1)
					}
					answered <- struct{}{}
				}}
				r.handler.ServeHTTP(w, r.request("GET", "/inboxes/west/events/stream", secret, nil).WithContext(ctx))
			}()
		}
	}
	finished := 0
	for n := 0; n < tokens*each; {
		select {
		case <-answered:
			n++
		case <-ended:
			finished++
		}
	}
	if open.Load() != maxStreams || tooMany.Load()+busy.Load() != tokens*each-maxStreams || tooMany.Load() == 0 || busy.Load() == 0 {
		t.Errorf("%d are open, %d of too many of a token, %d of too many", open.Load(), tooMany.Load(), busy.Load())
	}
	stop()
	for ; finished < tokens*each; finished++ {
		<-ended
	}
	if s := &r.handler.streams; s.all != 0 || len(s.each) != 0 {
		t.Errorf("%d are counted still, %v", s.all, s.each)
	}
}

// reading is who reads an answer and tells when it begins.
type reading struct {
	header http.Header
	begun  func(status int, header http.Header)
	status int
}

func (w *reading) Header() http.Header { return w.header }
func (w *reading) WriteHeader(status int) {
	w.status = status
	w.begun(status, w.header)
}

func (w *reading) Write(text []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return len(text), nil
}
func (w *reading) Flush()                           {}
func (w *reading) SetWriteDeadline(time.Time) error { return nil }

// pipes is a listener whose connections hold nothing: what is not read is not written.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestSlowReader cuts off who does not take what he asked for, and keeps who does with a sign of life.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: r.handler}
		go func() { _ = server.Serve(l) }()
		open := func() net.Conn {
			client, conn := net.Pipe()
			l.conns <- conn
			_, err := fmt.Fprintf(client, "GET /v1/inboxes/west/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", r.agent)
			check(t, err)
			return client
		}
		count := func() int {
			r.handler.streams.mu.Lock()
			defer r.handler.streams.mu.Unlock()
			return r.handler.streams.all
		}
		slow, quick := open(), open()
		begin := time.Now()
		lines := bufio.NewScanner(quick)
		for beats := 0; beats < 5 && lines.Scan(); {
			if lines.Text() == ":" {
				beats++
			}
		}
		if passed := time.Since(begin); passed != 5*beat {
			t.Errorf("five beats took %s", passed)
		}
		if n := count(); n != 1 {
			t.Errorf("%d streams are open", n)
		}
		check(t, r.ring.Remove("agent"))          // ends the other at its next beat
		for lines.Scan() && lines.Text() != "0" { // the last chunk
		}
		if passed := time.Since(begin); passed != 6*beat {
			t.Errorf("a revoked token's stream ended after %s", passed)
		}
		check(t, slow.Close())
		check(t, quick.Close())
		check(t, server.Close())
		check(t, r.store.Close())
		synctest.Wait()
		if n := count(); n != 0 {
			t.Errorf("%d streams are open", n)
		}
	})
}

// TestFraming keeps an event one event, whatever is in it.
func TestFraming(t *testing.T) {
	for _, hostile := range []string{"x\n\nid: 1\nevent: sent\ndata: {}\n\n", "\r\r", "\u2028\u2029", "\x00\x1b[2J", "</script>"} {
		note, err := json.Marshal(hostile)
		check(t, err)
		w := httptest.NewRecorder()
		s := &events{w, http.NewResponseController(deadlines{w})}
		message := jsontext.Value("{\n \"note\": " + string(note) + "\r\n}")
		e := inbox.Event{Seq: "0000000000000001", Kind: inbox.KindReceived, Message: message, Result: inbox.Result{Reason: hostile}}
		_, err = s.send([]inbox.Event{e})
		check(t, err)
		text := w.Body.String()
		if strings.Count(text, "\n") != 4 || strings.Contains(text, "\r") || !strings.HasSuffix(text, "}\n\n") {
			t.Errorf("%q is sent as %q", hostile, text)
		}
		var got inbox.Event
		_, data, _ := strings.Cut(text, "data: ")
		check(t, json.Unmarshal([]byte(data), &got))
		if got.Reason != hostile {
			t.Errorf("%q came as %q", hostile, got.Reason)
		}
	}
}

// deadlines is a recorder that takes deadlines.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetWriteDeadline(time.Time) error { return nil }

// TestStreamHead answers a question for the head of a stream, which has no events, and is over with it: the next question on
// the same connection is answered too.
func TestStreamHead(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(r.handler)
	defer server.Close()
	for range 2 {
		q, err := http.NewRequestWithContext(t.Context(), "HEAD", server.URL+"/v1/inboxes/west/events/stream", nil)
		check(t, err)
		q.Header.Set("Authorization", "Bearer "+r.agent)
		response, err := server.Client().Do(q)
		check(t, err)
		check(t, response.Body.Close())
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("status %d, %v", response.StatusCode, response.Header)
		}
	}
}
