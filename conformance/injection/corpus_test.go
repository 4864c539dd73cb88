// Package injection holds texts that try to leave their place: to pass for an
// instruction, a header field, HTML, a marker or a terminal's command. Its test
// takes each through every channel there is.
package injection

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// hostile is one text of corpus.json.
type hostile struct {
	ID      string `json:"id"`
	Place   string `json:"place"` // where it is put, one of places
	Tries   string `json:"tries"` // what, in words
	Text    string `json:"text"`
	Stopped bool   `json:"stopped,omitzero"` // the form of messages does not allow it there
}

// canary stands in each text, so that it is known again.
const canary = "CANARY"

func corpus(t *testing.T) []hostile {
	t.Helper()
	data, err := os.ReadFile("corpus.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []hostile
	if err := json.UnmarshalRead(bytes.NewReader(data), &list, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, h := range list {
		if seen[h.ID] || h.Tries == "" || places[h.Place].write == nil || !strings.Contains(h.Text, canary) {
			t.Errorf("%s is there twice, or is not whole", h.ID)
		}
		seen[h.ID] = true
	}
	if len(list) < 30 {
		t.Errorf("there are only %d texts", len(list))
	}
	for name := range places {
		used := false
		for _, h := range list {
			used = used || h.Place == name
		}
		if !used {
			t.Errorf("no text is put at %s", name)
		}
	}
	return list
}
