package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// slow is an inbox that is asked for its threads and is let go later.
type slow struct {
	Inbox
	asked, answer chan struct{}
}

func (s slow) Threads() ([]inbox.Thread, error) {
	s.asked <- struct{}{}
	<-s.answer
	return s.Inbox.Threads()
}

// ending is an input that says when its end is read.
type ending struct {
	io.Reader
	ended chan struct{}
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF && e.ended != nil {
		close(e.ended)
		e.ended = nil
	}
	return n, err
}

// TestPipe answers all calls of an input that ended meanwhile, each once (D183).
func TestPipe(t *testing.T) {
	s := newScene(t)
	in := slow{s.pair.Buyer, make(chan struct{}, 1), make(chan struct{})}
	input := &ending{strings.NewReader(begin + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_threads","arguments":{}}}
{"jsonrpc":"2.0","id":"two","method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"nothing"}
`), make(chan struct{})}
	ended := input.ended
	var output bytes.Buffer
	done := make(chan error)
	go func() { done <- s.server(in).Run(t.Context(), input, &output) }()
	<-in.asked
	<-ended
	close(in.answer)
	s.check(<-done)
	got := map[string]int{}
	for line := range strings.Lines(output.String()) {
		var answer struct{ ID json.RawMessage }
		s.check(json.Unmarshal([]byte(line), &answer))
		got[string(answer.ID)]++
	}
	if len(got) != 4 || got["0"] != 1 || got["1"] != 1 || got[`"two"`] != 1 || got["3"] != 1 {
		t.Errorf("answered %v:\n%s", got, output.String())
	}
}

// TestPipeStopped waits for no answer once the server is stopped, or its output
// is gone.
func TestPipeStopped(t *testing.T) {
	call, err := jsonrpc.MakeID("call")
	newScene(t).check(err)
	conn := func() *answeringConn {
		return &answeringConn{calls: map[jsonrpc.ID]bool{call: true}, answered: make(chan struct{}, 1), closed: make(chan struct{})}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	conn().settle(ctx)
	c := conn()
	close(c.closed)
	c.settle(t.Context())
}
