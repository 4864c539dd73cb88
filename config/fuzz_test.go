package config

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// FuzzParse holds that no document breaks the reader, and that each mistake is
// one line with the file, a line of the document and a text.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		f.Fatal(err)
	}
	seeds := []string{
		valid, second, string(example), "", "[[inbox]]\n[[inbox]]\n[inbox.imap]\nport = 0", "inbox = [{imap = {host = 1}}, 2]",
		"\"a\\nb\".c = {d = [{e = 1}]}", "[a]\n[a]", "a = 'x", "[[inbox.imap]]\n[[inbox]]", "log = 1979-05-27T07:32:00Z",
	}
	if len(seeds) < 11 || len(example) == 0 {
		f.Fatal("seeds are missing")
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		m := &mistakes{file: "agentmaild.toml", reported: map[string]bool{}}
		c := parse(m, document, "/etc/agentmaild")
		if c == nil && len(m.found) != 1 {
			t.Fatalf("a syntax error gives %d mistakes", len(m.found))
		}
		last := bytes.Count(document, []byte("\n")) + 1
		for _, e := range m.found {
			if e.File != "agentmaild.toml" || e.Text == "" || e.Line < 1 || e.Line > last || strings.ContainsAny(e.Error(), "\r\n") {
				t.Errorf("mistake %q, of %d lines", e.Error(), last)
			}
		}
	})
}
