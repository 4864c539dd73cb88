package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/envelope/inert"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
)

// What streams of events may take.
const (
	maxStreams      = 64
	maxTokenStreams = 8
	streamBatch     = 32
	partTime        = 10 * time.Second // for one part to be taken
	beat            = 5 * time.Second  // between two looks at the token, each with a comment that keeps the connection
)

// streams counts the streams that are open.
type streams struct {
	mu   sync.Mutex
	all  int
	each map[string]int // by the name of the token
}

// enter counts one more, where there is room, until leave is called.
func (s *streams) enter(name string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.each[name] >= maxTokenStreams:
		return nil, tooMuch(http.StatusTooManyRequests, fmt.Sprintf("this token has %d streams open already", maxTokenStreams))
	case s.all >= maxStreams:
		return nil, tooMuch(http.StatusServiceUnavailable, fmt.Sprintf("%d streams are open already", maxStreams))
	case s.each == nil:
		s.each = map[string]int{}
	}
	s.all++
	s.each[name]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.each[name]--; s.each[name] == 0 {
			delete(s.each, name)
		}
	}, nil
}

// stream sends events as they happen (Server-Sent Events, HTML Living Standard §9.2). It begins behind the event of
// Last-Event-ID, or of the parameter after, and without either with the next that happens.
func (h *Handler) stream(c *call) (any, error) {
	after := c.Header.Get("Last-Event-ID")
	if after == "" {
		after = c.URL.Query().Get("after")
	}
	after, err := afterOf(after)
	if err != nil {
		return nil, err
	}
	last, err := c.in.LastEvent()
	if err != nil {
		return nil, err
	}
	if after == "" || after > last { // behind one of a store that a backup has replaced: it would wait for that number (D177)
		after = last
	}
	leave, err := h.streams.enter(c.token.Name)
	if err != nil {
		return nil, err
	}
	defer leave()
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("X-Accel-Buffering", "no") // nginx would wait for more
	if c.Method == http.MethodHead {            // the mux takes one for a GET, and it would never end
		return sent{}, nil
	}
	s := &events{c.w, http.NewResponseController(c.w)}
	err = s.part(": events follow\n\n")
	if err == nil {
		err = h.follow(c, s, after)
	}
	h.Log.Debug("a stream of events ended", "token", c.token.Name, "inbox", c.PathValue("inbox"), "error", err)
	return sent{}, nil
}

// follow sends events until the reader is gone or too slow, the token is revoked, or the inbox is no more. Each round looks
// for the inbox anew: after a reload another wakes us.
func (h *Handler) follow(c *call, s *events, after string) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		t, ok := h.Tokens.Check(c.secret)
		in, there := h.inbox(t, c.PathValue("inbox"))
		if !ok || !there {
			return errEnded
		}
		list, more, err := in.Events(after, streamBatch)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			if after, err = s.send(shown(c, list)); err != nil {
				return err
			}
			continue
		}
		select {
		case <-c.Context().Done():
			return c.Context().Err()
		case <-more:
		case <-tick.C:
			if err := s.part(":\n\n"); err != nil {
				return err
			}
		}
	}
}

var errEnded = errors.New("the token was revoked, or the inbox is gone")

// events is a stream under way.
type events struct {
	w    http.ResponseWriter
	rest *http.ResponseController
}

// send sends events and returns the number of the last.
func (s *events) send(list []inbox.Event) (last string, err error) {
	var text strings.Builder
	for _, e := range list {
		data, err := json.Marshal(e) // no line break is in it: JSON escapes them
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "id: %s\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, inert.JSON(data))
		last = e.Seq
	}
	return last, s.part(text.String())
}

// part sends a part at once. Who does not take it in time is cut off: what waits for him would be kept here.
func (s *events) part(text string) error {
	if err := s.rest.SetWriteDeadline(time.Now().Add(partTime)); err != nil {
		return err
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.rest.Flush()
}
