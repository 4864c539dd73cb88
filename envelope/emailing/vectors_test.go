package emailing

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

const vectors = "../../conformance/vectors/emailing"

// What the handed suite sends is read: one envelope in each mail but one, all
// signed but the one that was tampered with, and the file that one of them has.
func TestVectors(t *testing.T) {
	mails, err := filepath.Glob(vectors + "/*.eml")
	if err != nil || len(mails) != 15 {
		t.Fatalf("%d mails, %v", len(mails), err)
	}
	for _, path := range mails {
		t.Run(filepath.Base(path), func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found, err := Find(read(t, raw))
			switch name := filepath.Base(path); name {
			case "no-envelope.eml":
				if !errors.Is(err, ErrNone) {
					t.Errorf("%v; want %v", err, ErrNone)
				}
				return
			case "tampered-value.eml":
				refusal, ok := errors.AsType[*agentmsg.Refusal](parseError(found))
				if err != nil || !ok || refusal.Code != agentmsg.CodeSignature {
					t.Errorf("%v, %v", err, refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := agentmsg.Parse(found.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			header := read(t, raw).Header
			if from, err := header.From(); err != nil || header.Get("Message-ID") != MessageID(m.ID, from) {
				t.Errorf("Message-ID %s, %v", header.Get("Message-ID"), err)
			}
			for _, file := range m.Files() {
				if state, body := copied(t, found, file); state != FileIntact || string(body) != agenda {
					t.Errorf("%s: %s, %q", file.Name, state, body)
				}
			}
			if n := len(m.Files()); (n == 1) != (filepath.Base(path) == "file-with-digest.eml") {
				t.Errorf("%d files", n)
			}
		})
	}
}

func parseError(f *Found) error {
	if f == nil {
		return nil
	}
	_, err := agentmsg.Parse(f.Envelope)
	return err
}
