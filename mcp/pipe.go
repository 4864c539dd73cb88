package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answering is a transport that ends when all calls are answered that came
// before the end of its input. The library drops them at the end: an action
// might be done, and nobody told (D183).
type answering struct{ sdk.Transport }

// Connect connects.
func (t answering) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	return &answeringConn{Connection: conn, calls: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

type answeringConn struct {
	sdk.Connection
	answered, closed chan struct{}

	mu    sync.Mutex
	calls map[jsonrpc.ID]bool // not answered yet
	once  sync.Once
}

// maxAnswering bounds the wait for the answers at the end of the input. A call
// that its client cancelled gets none.
const maxAnswering = time.Minute

// Read reads a message. It is called by one goroutine.
func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if request, ok := m.(*jsonrpc.Request); ok && request.IsCall() {
		c.mu.Lock()
		c.calls[request.ID] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.settle(ctx)
	}
	return m, err
}

// Write writes a message.
func (c *answeringConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if response, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.calls, response.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close closes the connection.
func (c *answeringConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

func (c *answeringConn) settle(ctx context.Context) {
	limit := time.NewTimer(maxAnswering)
	defer limit.Stop()
	for {
		c.mu.Lock()
		left := len(c.calls)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-limit.C:
			return
		}
	}
}
