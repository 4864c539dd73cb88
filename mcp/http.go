package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/token"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody bounds a request, in bytes.
const maxBody = 1 << 20

// Handler answers over Streamable HTTP whoever shows a token. A token of either
// scope acts as the agent; one that is for some inboxes sees no others. No
// session is kept between two requests: there is none to steal, to bound or to
// end, and a token that is revoked ends with it (D173).
func (s *Server) Handler(check func(secret string) (token.Token, bool)) http.Handler {
	server := s.server()
	streams := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the listener knows its names (D160), and may stand behind a proxy
	})
	// A page of another origin that a browser shows can send no request here
	// (MCP, "Streamable HTTP": Security Warning).
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown, known := check(token.Bearer(r))
		if !known {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: make one with `agentmaild token new NAME --scope agent`", http.StatusUnauthorized)
			return
		}
		if !listen.Welcome(r, shown.Scope == token.Owner) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "10")
			http.Error(w, "agents ask too much at once: try again soon", http.StatusServiceUnavailable)
			return
		}
		if r.Method == http.MethodPost && !single(w, r) {
			return
		}
		streams.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, shown)))
	}))
}

// single reads the body, and refuses one of several messages: MCP has none since
// 2025-06-18 ("Sending Messages to the Server"), and 18 000 questions find room in
// one body, whose answers are hundreds of MiB (D176).
func single(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch large := new(http.MaxBytesError); {
	case errors.As(err, &large):
		http.Error(w, "the body is too large: 1 MiB is the most", http.StatusRequestEntityTooLarge)
		return false
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return false
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")):
		http.Error(w, "several messages in one body are not answered: send each in a request of its own", http.StatusBadRequest)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

type tokenKey struct{}

// tokenOf is the token that was shown, on standard input none.
func tokenOf(ctx context.Context) (token.Token, bool) {
	t, shown := ctx.Value(tokenKey{}).(token.Token)
	return t, shown
}

// permitted are the inboxes that whoever asks may use.
func (s *Server) permitted(ctx context.Context) ([]Inbox, error) {
	all, err := s.Inboxes(ctx)
	t, shown := tokenOf(ctx)
	if err != nil || !shown {
		return all, err
	}
	var list []Inbox
	for _, in := range all {
		if t.May(in.Name()) {
			list = append(list, in)
		}
	}
	return list, nil
}
