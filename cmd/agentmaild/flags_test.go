package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestFlagsOverFile gives one flag a case beside a file: it takes the place of
// what the file has, an empty one too, and nothing else changes.
func TestFlagsOverFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "action.json")
	if err := os.WriteFile(file, []byte(`{"to":"a@b.test","items":[{"description":"Tile","quantity":3}],"note":"x","valid_seconds":86400}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flags []string
		edit  func(*inbox.Action)
	}{
		"none":     {nil, func(*inbox.Action) {}},
		"text":     {[]string{"--note", "y"}, func(a *inbox.Action) { a.Note = "y" }},
		"no text":  {[]string{"--note", ""}, func(a *inbox.Action) { a.Note = "" }},
		"the last": {[]string{"--note", "y", "--note", "z"}, func(a *inbox.Action) { a.Note = "z" }},
		"validity": {[]string{"--valid", "48h"}, func(a *inbox.Action) { a.ValidSeconds = 172800 }},
		"items": {[]string{"--item", "1 - Mug", "--item", "2 - Cup"}, func(a *inbox.Action) {
			a.Items = []intent.Item{{Description: "Mug", Quantity: 1}, {Description: "Cup", Quantity: 2}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &actionFlags{cmd: &cobra.Command{}}
			member(f, "note", "", text, func(a *inbox.Action, v string) { a.Note = v })
			member(f, "valid", "", parseValid, func(a *inbox.Action, v time.Duration) { a.ValidSeconds = int64(v / time.Second) })
			f.addItems()
			f.addFile()
			if err := f.cmd.ParseFlags(append(c.flags, "--file", file)); err != nil {
				t.Fatal(err)
			}
			got := inbox.Action{Type: intent.AskQuote}
			if err := f.into(&got); err != nil {
				t.Fatal(err)
			}
			want := inbox.Action{Type: intent.AskQuote, To: "a@b.test", Items: []intent.Item{{Description: "Tile", Quantity: 3}}, Note: "x", ValidSeconds: 86400}
			c.edit(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
