package control

import (
	"context"
	"fmt"
	"net/http"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
)

// KeptRecord is a record with its bytes.
type KeptRecord struct {
	Record inbox.Record  `json:"record"`
	File   []byte        `json:"file"`            // exactly as it is kept; base64
	Report record.Report `json:"report,omitzero"` // of a check made for this answer
}

// Records lists the agreement records of an inbox.
func (c *Client) Records(ctx context.Context, name string) ([]inbox.Record, error) {
	return call[[]inbox.Record](ctx, c, http.MethodGet, path(name, "records"), nil)
}

// Record returns a record, without a report. id is that of the record, or of
// its accept or offer; ours chooses between this side's and the other's.
func (c *Client) Record(ctx context.Context, name, id string, ours bool) (KeptRecord, error) {
	return call[KeptRecord](ctx, c, http.MethodGet, path(name, "records", side(ours), id), nil)
}

// CheckRecord is Record with a report: the daemon checks it with the key pages
// that it can reach now.
func (c *Client) CheckRecord(ctx context.Context, name, id string, ours bool) (KeptRecord, error) {
	return call[KeptRecord](ctx, c, http.MethodGet, path(name, "records", side(ours), id, "check"), nil)
}

// Count takes the reply that waits under a key as the acceptance of its quote,
// and returns the record of it.
func (c *Client) Count(ctx context.Context, name, key string) (inbox.Record, error) {
	return call[inbox.Record](ctx, c, http.MethodPost, path(name, "waiting", key, "count"), nil)
}

// Sides of a record, in a path.
const (
	ours   = "ours"
	theirs = "theirs"
)

func side(isOurs bool) string {
	if isOurs {
		return ours
	}
	return theirs
}

func (s *Server) records(mux *http.ServeMux) {
	s.inbox(mux, "GET /v1/inboxes/{inbox}/records", func(in *inbox.Inbox, _ *http.Request) (any, error) { return in.Records() })
	s.inbox(mux, "GET /v1/inboxes/{inbox}/records/{side}/{id}", recordFile)
	s.inbox(mux, "GET /v1/inboxes/{inbox}/records/{side}/{id}/check", checkRecord)
}

func recordFile(in *inbox.Inbox, r *http.Request) (any, error) {
	isOurs, err := sideOf(r)
	if err != nil {
		return nil, err
	}
	kept, file, err := in.RecordFile(r.PathValue("id"), isOurs)
	return KeptRecord{Record: kept, File: file}, err
}

func checkRecord(in *inbox.Inbox, r *http.Request) (any, error) {
	isOurs, err := sideOf(r)
	if err != nil {
		return nil, err
	}
	kept, file, report, err := in.CheckRecord(r.Context(), r.PathValue("id"), isOurs)
	return KeptRecord{kept, file, report}, err
}

func sideOf(r *http.Request) (isOurs bool, err error) {
	switch s := r.PathValue("side"); s {
	case ours, theirs:
		return s == ours, nil
	default:
		return false, fmt.Errorf("%w: a record is %s or %s, and not %q", inbox.ErrAction, ours, theirs, s)
	}
}
