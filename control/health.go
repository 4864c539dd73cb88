package control

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
)

// Health is how an inbox is doing. Times are Unix seconds, 0 for never.
type Health struct {
	Connected bool   `json:"connected"`           // to its IMAP server, and the last look succeeded
	LastLook  int64  `json:"last_look"`           // at the folder, that succeeded
	IdleSince int64  `json:"idle_since,omitzero"` // 0 between two IDLEs, and when polling
	Polling   bool   `json:"polling,omitzero"`    // the server has no IDLE
	LastMail  int64  `json:"last_mail,omitzero"`  // since the daemon started
	Error     string `json:"error,omitempty"`     // of the mailbox, or else of a letter or webhook that fails; one line

	inbox.Backlog
}

// Health tells how an inbox is doing.
func (c *Client) Health(ctx context.Context, name string) (Health, error) {
	return call[Health](ctx, c, http.MethodGet, path(name, "health"), nil)
}

func health(in Served, _ *http.Request) (any, error) {
	backlog, err := in.Backlog()
	if err != nil {
		return nil, err
	}
	m := in.Mailbox()
	h := Health{
		Connected: m.Connected, LastLook: unix(m.LastLook), IdleSince: unix(m.IdleSince), LastMail: unix(m.LastMail),
		Polling: m.Polling, Error: m.LastError, Backlog: backlog,
	}
	h.Error = cmp.Or(h.Error, backlog.LetterError, backlog.WebhookError)
	return h, nil
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
