package api

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/store"
)

// How many entries a page has.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// page is a part of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // asked for as cursor, or after: what follows; none at the end
}

// list answers with one page of a list. A cursor is the key of the last entry before, which may be gone by now.
func list[T any](c *call, read func(after string, limit int) ([]T, string, error)) (any, error) {
	limit, err := limitOf(c.Request)
	if err != nil {
		return nil, err
	}
	after, err := base64.RawURLEncoding.DecodeString(c.URL.Query().Get("cursor"))
	if err != nil {
		return nil, bad("cursor: it is none that an answer had as next")
	}
	items, next, err := read(string(after), limit)
	return page[T]{items, base64.RawURLEncoding.EncodeToString([]byte(next))}, err
}

func limitOf(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, bad("limit: it is a number from 1 to " + strconv.Itoa(maxLimit))
	}
	return limit, nil
}

// afterOf is the number of an event, or "" where none is named.
func afterOf(text string) (string, error) {
	if n, err := strconv.ParseUint(text, 16, 64); text != "" && (err != nil || store.Key(n) != text) {
		return "", bad("after: it is the seq of an event, 16 hex digits")
	}
	return text, nil
}

func listEvents(_ *Handler, c *call) (any, error) {
	limit, err := limitOf(c.Request)
	if err != nil {
		return nil, err
	}
	after, err := afterOf(c.URL.Query().Get("after"))
	if err != nil {
		return nil, err
	}
	events, _, err := c.in.Events(after, limit+1) // one more tells whether there are more
	p := page[inbox.Event]{Items: shown(c, events)}
	if len(events) > limit {
		p.Items, p.Next = events[:limit], events[limit-1].Seq
	}
	return p, err
}
