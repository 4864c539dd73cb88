package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
)

// TestRun plays the demo to its end and reads the mails that it leaves.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	var out bytes.Buffer
	result, err := Run(t.Context(), dir, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if len(result.Mails) != 4 || result.Folder != dir || result.Buyer.Record != record.TwoSignatures || result.Seller.Record != record.TwoSignatures {
		t.Errorf("%+v", result)
	}
	for _, m := range result.Mails {
		if m.Event.Verdict != inbox.Accepted || m.Event.Signature != inbox.Signed || !strings.Contains(out.String(), m.Text) {
			t.Errorf("%+v", m)
		}
	}
	if !strings.HasSuffix(out.String(), "Both sides agree on all of it.\nMails, stores, logs and configurations are in "+dir+".\n") {
		t.Errorf("it ends in another way:\n%s", out.String())
	}
	for _, name := range []string{"1-ask_quote.eml", "2-quote.eml", "3-quote.eml", "4-accept.eml"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := envelope.Read(raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(t.Context(), dir, &out); !errors.Is(err, ErrFolder) || !strings.HasSuffix(err.Error(), "is not empty: name a new folder") {
		t.Errorf("into the same folder: %v", err)
	}
}

// TestStopped ends the demo early, and in order.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, "", &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}
