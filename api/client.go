package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
)

// ErrNotRunning is wrapped when no daemon answers on the socket.
var ErrNotRunning = errors.New("no daemon is running")

// Client talks to a running daemon.
type Client struct {
	http *http.Client
	path string
}

// NewClient returns a client for the daemon that listens at a unix socket.
// Nothing is dialled yet.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{&http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: time.Minute}, socket}
}

// Inboxes lists the daemon's inboxes.
func (c *Client) Inboxes(ctx context.Context) ([]Inbox, error) {
	return call[[]Inbox](ctx, c, http.MethodGet, "", nil)
}

// Threads lists the threads of an inbox, without their messages.
func (c *Client) Threads(ctx context.Context, name string) ([]inbox.Thread, error) {
	return call[[]inbox.Thread](ctx, c, http.MethodGet, path(name, "threads"), nil)
}

// Thread returns a thread with its messages.
func (c *Client) Thread(ctx context.Context, name, id string) (inbox.Thread, error) {
	return call[inbox.Thread](ctx, c, http.MethodGet, path(name, "threads", id), nil)
}

// Waiting lists what waits for the owner.
func (c *Client) Waiting(ctx context.Context, name string) ([]inbox.Waiting, error) {
	return call[[]inbox.Waiting](ctx, c, http.MethodGet, path(name, "waiting"), nil)
}

// Decide approves or refuses what waits under a key.
func (c *Client) Decide(ctx context.Context, name, key string, approve bool) error {
	word := "refuse"
	if approve {
		word = "approve"
	}
	_, err := call[struct{}](ctx, c, http.MethodPost, path(name, "waiting", key, word), nil)
	return err
}

// Do has an action done.
func (c *Client) Do(ctx context.Context, name string, a inbox.Action) (inbox.Done, error) {
	return call[inbox.Done](ctx, c, http.MethodPost, path(name, "actions"), a)
}

func path(parts ...string) string {
	joined := ""
	for _, p := range parts {
		joined += "/" + url.PathEscape(p)
	}
	return joined
}

// call makes one request and reads its answer.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var value T
	var sent bytes.Buffer
	if body != nil {
		if err := json.MarshalWrite(&sent, body); err != nil {
			return value, fmt.Errorf("writing a request: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://agentmaild/v1/inboxes"+path, &sent)
	if err != nil {
		return value, fmt.Errorf("making a request: %w", err)
	}
	answer, err := c.http.Do(r)
	if dialled := new(net.OpError); errors.As(err, &dialled) && dialled.Op == "dial" {
		return value, fmt.Errorf("%w at %s: start it with `agentmaild run`, or name its configuration with --config", ErrNotRunning, c.path)
	}
	if err != nil {
		return value, fmt.Errorf("asking the daemon: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var f failure
		if err := json.UnmarshalRead(answer.Body, &f); err != nil || f.Error == "" {
			return value, fmt.Errorf("the daemon answered with status %d", answer.StatusCode)
		}
		return value, errors.New(f.Error)
	}
	if err := json.UnmarshalRead(answer.Body, &value); err != nil {
		return value, fmt.Errorf("reading the daemon's answer: %w", err)
	}
	return value, nil
}
