package listen

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// visitors knocks at a server that has room for eight.
type visitors struct {
	*testing.T
	at   string
	hold chan struct{} // a request of the path /hold ends with it
}

// room starts a server that lets in whoever says who he is, and reads bodies.
func room(t *testing.T) *visitors {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &visitors{t, l.Addr().String(), make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who := r.Header.Get("Who"); who != "" && !Welcome(r, who == "owner") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/hold" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-v.hold
		}
	})}
	r := NewRoom(l, 8)
	r.Attend(server)
	go func() { _ = server.Serve(r) }()
	t.Cleanup(func() { close(v.hold); _ = server.Close() })
	return v
}

// visitor is one connection.
type visitor struct {
	net.Conn
	read *bufio.Reader
	v    *visitors
}

// come opens a connection and says something. What is not answered is known to
// have come by what others are answered later.
func (v *visitors) come(text string) *visitor {
	v.Helper()
	conn, err := net.Dial("tcp", v.at)
	if err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() { _ = conn.Close() })
	one := &visitor{conn, bufio.NewReader(conn), v}
	one.say(text)
	return one
}

func (c *visitor) say(text string) {
	c.v.Helper()
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		c.v.Fatal(err)
	}
}

// answered is the status of an answer, 0 where the connection was closed.
func (c *visitor) answered() int {
	c.v.Helper()
	answer, err := http.ReadResponse(c.read, nil)
	if err != nil {
		return 0
	}
	if answer.ContentLength == 0 {
		_ = answer.Body.Close()
	}
	return answer.StatusCode
}

func (c *visitor) want(status int) *visitor {
	c.v.Helper()
	if got := c.answered(); got != status {
		c.v.Errorf("the answer is %d, not %d", got, status)
	}
	return c
}

const (
	stranger = "GET / HTTP/1.1\nHost: a\n\n"
	agent    = "GET / HTTP/1.1\nHost: a\nWho: agent\n\n"
	owner    = "GET / HTTP/1.1\nHost: a\nWho: owner\n\n"
	holding  = "GET /hold HTTP/1.1\nHost: a\nWho: agent\n\n"
	keeping  = "GET /hold HTTP/1.1\nHost: a\nWho: owner\n\n"
)

// Whatever fills the room, the owner is answered, and who has to go is the one
// that was heard of longest ago.
func TestRoom(t *testing.T) {
	for name, text := range map[string]string{
		"who says nothing":          "",
		"half a head":               "GET / HTTP/1.1\nHo",
		"half a body of a stranger": "POST / HTTP/1.1\nHost: a\nContent-Length: 9\n\nab",
	} {
		t.Run(name, func(t *testing.T) {
			v := room(t)
			for range 20 {
				v.come(text)
			}
			v.come(owner).want(http.StatusOK)
		})
	}
	for name, text := range map[string]string{"strangers": stranger, "agents": agent} {
		t.Run("idle connections of "+name, func(t *testing.T) {
			v := room(t)
			mine := v.come(owner).want(http.StatusOK)
			first := v.come(text).want(http.StatusOK)
			for range 20 {
				v.come(text).want(http.StatusOK)
			}
			mine.say(owner) // the owner's has stayed
			mine.want(http.StatusOK)
			if got := first.answered(); got != 0 {
				t.Errorf("the first is still there: %d", got)
			}
		})
	}
}

// Agents ask on three quarters of the connections at once, whenever those were opened;
// what is under way is not cut off, and the owner is answered.
func TestRoomOfAgents(t *testing.T) {
	v := room(t)
	for range 6 {
		v.come(holding).want(http.StatusOK)
	}
	v.come(agent).want(http.StatusServiceUnavailable)
	mine := v.come(owner).want(http.StatusOK)
	for range 20 {
		v.come(holding).want(http.StatusServiceUnavailable)
	}
	v.come(keeping).want(http.StatusOK)
	mine.say(keeping)
	mine.want(http.StatusOK)
	if got := v.come("").answered(); got != 0 { // all eight have something under way
		t.Errorf("one too many is answered with %d", got)
	}
}

// A connection that was let in once is no better while it sends its next head.
func TestRoomHalfAgain(t *testing.T) {
	v := room(t)
	for range 8 {
		v.come(agent).want(http.StatusOK).say("GET / HT")
	}
	for range 2 {
		v.come(owner).want(http.StatusOK)
	}
}
