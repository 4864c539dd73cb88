package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/inbox/inboxtest"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/token"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// scene is a buyer and a seller, and a model at each.
type scene struct {
	*testing.T
	pair *inboxtest.Pair
}

// newScene is one whose agents may do something alone, and deal with nobody new.
func newScene(t *testing.T) *scene {
	return &scene{t, inboxtest.New(t, func(set *inbox.Settings) {
		set.Limits = &limits.Limits{
			Auto: limits.WithinLimits, OpenOffers: 20, HourlyMessages: 60, Money: map[string]limits.Amounts{"EUR": {Deal: 100_000}},
			Quote: &limits.Quote{Lowest: []limits.Lowest{{Name: "ceramic mug", Unit: "piece", Price: 250, Currency: "EUR"}}},
		}
	}, nil)}
}

func (s *scene) server(inboxes ...Inbox) *Server {
	return &Server{Inboxes: func(context.Context) ([]Inbox, error) { return inboxes, nil }, Random: rand.Reader}
}

// piped is a client of a server on a pair of pipes, as on standard input and
// output.
func (s *scene) piped(server *Server) *sdk.ClientSession {
	s.Helper()
	here, there := sdk.NewInMemoryTransports()
	ctx, stop := context.WithCancel(s.Context())
	s.Cleanup(stop)
	_, err := server.server().Connect(ctx, there, nil)
	s.check(err)
	return s.connect(here)
}

func (s *scene) connect(transport sdk.Transport) *sdk.ClientSession {
	s.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(s.Context(), transport, nil)
	s.check(err)
	s.Cleanup(func() { _ = session.Close() })
	return session
}

// bearer shows a token with each request.
type bearer struct{ secret string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.secret)
	return http.DefaultTransport.RoundTrip(r)
}

// overHTTP is a client of a server over HTTP.
func (s *scene) overHTTP(server *Server, check func(string) (token.Token, bool), secret string) *sdk.ClientSession {
	s.Helper()
	h := httptest.NewServer(server.Handler(check))
	s.Cleanup(h.Close)
	return s.connect(&sdk.StreamableClientTransport{Endpoint: h.URL, HTTPClient: &http.Client{Transport: bearer{secret}}})
}

// use has a tool do what it should, and reads what it answers.
func use[T any](s *scene, session *sdk.ClientSession, name, args string) (value T, text string) {
	s.Helper()
	result := s.call(session, name, args)
	text = result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		s.Fatalf("%s %s: %s", name, args, text)
	}
	data, err := json.Marshal(result.StructuredContent)
	s.check(err)
	s.check(json.Unmarshal(data, &value))
	return value, text
}

// refused has a tool refuse.
func (s *scene) refused(session *sdk.ClientSession, name, args string) string {
	s.Helper()
	result := s.call(session, name, args)
	text := result.Content[0].(*sdk.TextContent).Text
	if !result.IsError || strings.Contains(text, "\n") || result.StructuredContent != nil {
		s.Errorf("%s %s is not refused in one line: %s", name, args, text)
	}
	return text
}

func (s *scene) call(session *sdk.ClientSession, name, args string) *sdk.CallToolResult {
	s.Helper()
	result, err := session.CallTool(s.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	s.check(err)
	if !result.IsError {
		schema, err := json.Marshal(toolNamed(s.T, name).output)
		s.check(err)
		var of any
		s.check(json.Unmarshal(schema, &of))
		if err := compiled(s.T, name, of).Validate(result.StructuredContent); err != nil {
			s.Errorf("%s %s: the answer is not of its schema: %v", name, args, err)
		}
	}
	return result
}

// carry takes the mails that wait to the other side, which accepts them.
func (s *scene) carry(from, to *inbox.Inbox) {
	s.Helper()
	for letters := 1; letters > 0; {
		if _, result := s.pair.Carry(from, to); result.Verdict != inbox.Accepted {
			s.Fatalf("%s does not take it: %+v", to.Name(), result)
		}
		backlog, err := from.Backlog()
		s.check(err)
		letters = backlog.Letters
	}
}

func (s *scene) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
