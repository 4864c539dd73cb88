// Package listen runs HTTP servers that end with a context.
package listen

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// stopTime is how long requests under way may take to be answered.
const stopTime = 5 * time.Second

// HTTP answers on a listener, which it closes, until ctx ends and the requests under way are answered. Then it returns the
// error of ctx, and before that the one that ended it.
func HTTP(ctx context.Context, server *http.Server, l net.Listener) error {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		done, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		_ = server.Shutdown(done)
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-ended
	return ctx.Err()
}
