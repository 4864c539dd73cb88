package api

import (
	"context"
	"net/http"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
)

// keptRecord is a record with its bytes.
type keptRecord struct {
	Record inbox.Record   `json:"record"`
	File   []byte         `json:"file"`             // exactly as it is kept; base64
	Report *record.Report `json:"report,omitempty"` // of a check made for this answer
}

func recordFile(_ *Handler, c *call) (any, error) {
	ours, err := sideOf(c)
	if err != nil {
		return nil, err
	}
	kept, file, err := c.in.RecordFile(c.PathValue("record"), ours)
	return keptRecord{Record: kept, File: file}, err
}

// checkTime bounds a check, which fetches key pages.
const checkTime = 20 * time.Second

func checkKept(h *Handler, c *call) (any, error) {
	ours, err := sideOf(c)
	if err != nil {
		return nil, err
	}
	return h.checked(c, func(ctx context.Context) (any, error) {
		kept, file, report, err := c.in.CheckRecord(ctx, c.PathValue("record"), ours)
		return keptRecord{kept, file, &report}, err
	})
}

// checkAny checks a record that is sent, as `agentmaild check` does one in a file.
func checkAny(h *Handler, c *call) (any, error) {
	file, err := body(c)
	if err != nil {
		return nil, err
	}
	return h.checked(c, func(ctx context.Context) (any, error) { return record.Check(ctx, file, h.Keys()), nil })
}

// checked runs a check, a few at a time.
func (h *Handler) checked(c *call, check func(context.Context) (any, error)) (any, error) {
	select {
	case h.checks <- struct{}{}:
		defer func() { <-h.checks }()
	default:
		return nil, tooMuch(http.StatusServiceUnavailable, "too many records are being checked: try again soon")
	}
	ctx, cancel := context.WithTimeout(c.Context(), checkTime)
	defer cancel()
	return check(ctx)
}

// sideOf tells whose record the path names.
func sideOf(c *call) (ours bool, err error) {
	switch side := c.PathValue("side"); side {
	case "ours", "theirs":
		return side == "ours", nil
	default:
		return false, &refusal{status: http.StatusNotFound, code: codeNotFound, detail: "a record is ours or theirs"}
	}
}
