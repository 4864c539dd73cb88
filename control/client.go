package control

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
	"github.com/agentmaild/agentmaild/listen"
	"github.com/go-json-experiment/json"
)

// ErrNotRunning is wrapped when no daemon answers on the socket.
var ErrNotRunning = errors.New("no daemon is running")

// RefusedError is what the daemon does not do because of what it was asked; the
// daemon's own troubles are other errors.
type RefusedError struct{ reason string }

// Error is the daemon's reason, in one line.
func (e *RefusedError) Error() string { return e.reason }

// Is makes it a refusal of the inbox, here as there.
func (*RefusedError) Is(target error) bool { return target == inbox.ErrAction }

// callLimit bounds a request whose answer is JSON.
const callLimit = time.Minute

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
	return &Client{&http.Client{Transport: &http.Transport{DialContext: dial}}, socket}
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

// Usage returns the limits of an inbox and what is used of them.
func (c *Client) Usage(ctx context.Context, name string) (inbox.Usage, error) {
	return call[inbox.Usage](ctx, c, http.MethodGet, path(name, "limits"), nil)
}

// Approve lets what waits under a key go on.
func (c *Client) Approve(ctx context.Context, name, key string) error {
	return tell(ctx, c, http.MethodPost, path(name, "waiting", key, "approve"), nil)
}

// Refuse ends what waits under a key. The reason may be empty.
func (c *Client) Refuse(ctx context.Context, name, key, reason string) error {
	return tell(ctx, c, http.MethodPost, path(name, "waiting", key, "refuse")+"?"+url.Values{"reason": {reason}}.Encode(), nil)
}

// Propose has an action of the agent done, within its owner's limits.
func (c *Client) Propose(ctx context.Context, name string, a inbox.Action) (inbox.Done, error) {
	query := ""
	if a.Once != nil {
		query = "?" + url.Values{"once": {a.Once.Key}, "hash": {a.Once.Hash}}.Encode()
	}
	return call[inbox.Done](ctx, c, http.MethodPost, path(name, "proposals")+query, a)
}

// Do has an action of the owner done.
func (c *Client) Do(ctx context.Context, name string, a inbox.Action) (inbox.Done, error) {
	return call[inbox.Done](ctx, c, http.MethodPost, path(name, "actions"), a)
}

func path(parts ...string) string {
	joined := ""
	for _, p := range parts {
		joined += "/" + listen.Segment(p)
	}
	return joined
}

// call makes one request and reads its answer, which is JSON.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var value T
	answer, err := c.ask(ctx, method, "/inboxes"+path, body)
	if err != nil {
		return value, err
	}
	defer answer.Body.Close()
	if err := json.UnmarshalRead(answer.Body, &value); err != nil {
		return value, fmt.Errorf("reading the daemon's answer: %w", err)
	}
	return value, nil
}

// ask makes one request and returns its answer, which is a success. The caller
// closes the body.
func (c *Client) ask(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.MarshalWrite(&sent, body); err != nil {
			return nil, fmt.Errorf("writing a request: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://agentmaild/v1"+path, &sent)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	answer, err := c.http.Do(r)
	if dialled := new(net.OpError); errors.As(err, &dialled) && dialled.Op == "dial" {
		return nil, fmt.Errorf("%w at %s: start it with `agentmaild run`, or name its configuration with --config", ErrNotRunning, c.path)
	}
	if err != nil {
		return nil, fmt.Errorf("asking the daemon: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		return nil, refusal(answer)
	}
	return answer, nil
}

// refusal is the error that an answer brings.
func refusal(answer *http.Response) error {
	var f failure
	if err := json.UnmarshalRead(answer.Body, &f); err != nil || f.Error == "" {
		return fmt.Errorf("the daemon answered with status %d", answer.StatusCode)
	}
	if answer.StatusCode == http.StatusBadRequest {
		return &RefusedError{f.Error}
	}
	return errors.New(f.Error)
}
