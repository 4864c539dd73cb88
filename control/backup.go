package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// backup sends a copy of the store, as it is, and not as JSON. One that fails
// on the way is cut off, so that the client takes no part of a store for the
// whole.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) {
	// A client that reads no further would keep the store from being closed.
	stop := context.AfterFunc(r.Context(), func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := s.Backup(w); err != nil {
		s.Log.Error("a backup failed", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// Backup writes a copy of the daemon's whole store to w. It takes as long as it
// takes. After an error what was written is no store.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	answer, err := c.ask(ctx, http.MethodGet, "/backup", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(w, answer.Body); err != nil {
		return fmt.Errorf("taking the store from the daemon: %w", err)
	}
	return nil
}
