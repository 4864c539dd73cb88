package listen

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
)

// A request under way is answered after the context has ended, and no other.
func TestHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		_, _ = io.WriteString(w, "answered")
	})
	ended := make(chan error)
	go func() { ended <- HTTP(ctx, &http.Server{Handler: handler}, l) }()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "answered" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener is open")
	}
}

func TestHTTPFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := HTTP(t.Context(), &http.Server{}, l); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
