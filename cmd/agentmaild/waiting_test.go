package main

import (
	"strings"
	"testing"
)

// TestSaid has no line of a person's mail look like one of ours, or take the
// screen.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"Fine.\r\n\r\nAnn\r\n":          "  | Fine.\n  | \n  | Ann\n",
		"x\rreply-1\n":                  "  | x\\rreply-1\n",
		"a\u2028b\x1b[2J":               "  | a\\u2028b\\x1b[2J\n",
		" \r\n":                         "  (it has no plain text: read it in the mailbox)\n",
		strings.Repeat("x", maxShown+1): "  | " + strings.Repeat("x", maxShown) + "…\n",
	} {
		if got := said(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := said(strings.Repeat("x\n", maxLines+1)); got != strings.Repeat("  | x\n", maxLines)+"  (and more: read it in the mailbox)\n" {
		t.Errorf("of %d lines it shows %q", maxLines+1, got)
	}
}
