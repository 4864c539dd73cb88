package listen

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Room is a listener with room for so many connections. Where one more comes it
// is let in, and another has to go: the one that was heard of longest ago, of
// those on which nobody known asks anything just now, and the owner's after all
// others. So whoever holds connections, sending nothing or a byte a second,
// holds nobody else out. Agents may ask on three quarters of them at once, since
// no request is cut off that was let in (D147).
type Room struct {
	net.Listener
	most int

	mu     sync.Mutex
	guests map[*guest]struct{}
	turns  int
}

// NewRoom makes a listener of another.
func NewRoom(l net.Listener, most int) *Room {
	return &Room{Listener: l, most: most, guests: map[*guest]struct{}{}}
}

// guest is one connection.
type guest struct {
	net.Conn
	room *Room

	owner   bool // has asked on it
	welcome bool // a request is under way that was let in
	turn    int  // when it was heard of last
}

// Accept waits for the next connection.
func (r *Room) Accept() (net.Conn, error) {
	for {
		conn, err := r.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g := r.enter(conn); g != nil {
			return g, nil
		}
		_ = conn.Close() // on all others somebody known asks something
	}
}

// enter makes room for a connection, nil where there is none.
func (r *Room) enter(conn net.Conn) *guest {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.guests) >= r.most {
		last := r.leastWelcome()
		if last == nil {
			return nil
		}
		delete(r.guests, last)
		_ = last.Conn.Close()
	}
	r.turns++
	g := &guest{Conn: conn, room: r, turn: r.turns}
	r.guests[g] = struct{}{}
	return g
}

func (r *Room) leastWelcome() *guest {
	var last *guest
	for g := range r.guests {
		if !g.welcome && (last == nil || g.owner == last.owner && g.turn < last.turn || last.owner && !g.owner) {
			last = g
		}
	}
	return last
}

// Close is that of a net.Conn.
func (g *guest) Close() error {
	g.room.mu.Lock()
	delete(g.room.guests, g)
	g.room.mu.Unlock()
	return g.Conn.Close()
}

type guestKey struct{}

// Attend has a server tell the room what becomes of its connections.
func (r *Room) Attend(server *http.Server) {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, guestKey{}, c) }
	server.ConnState = func(c net.Conn, state http.ConnState) {
		g, ok := c.(*guest)
		if !ok || state == http.StateNew {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.turns++
		g.turn, g.welcome = r.turns, false // what comes now has yet to be let in
	}
}

// Welcome lets a request in, of the owner or an agent, and tells whether there is
// room for it: for an agent's there may be none. Where the server listens in no
// room there always is.
func Welcome(request *http.Request, owner bool) bool {
	g, ok := request.Context().Value(guestKey{}).(*guest)
	if !ok {
		return true
	}
	g.room.mu.Lock()
	defer g.room.mu.Unlock()
	if !owner && g.room.agents() >= g.room.most*3/4 {
		return false
	}
	g.welcome, g.owner = true, g.owner || owner
	return true
}

// agents counts the connections on which agents ask.
func (r *Room) agents() int {
	count := 0
	for g := range r.guests {
		if g.welcome && !g.owner {
			count++
		}
	}
	return count
}
