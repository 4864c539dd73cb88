package agentmaild

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var decision = regexp.MustCompile(`\b([DE][1-9][0-9]{0,2})\b`)

// Every decision that the code cites is on the page, and every decision on
// the page is cited where it is implemented.
func TestDecisions(t *testing.T) {
	page, err := os.ReadFile("docs/decisions.md")
	if err != nil {
		t.Fatal(err)
	}
	settled, _, _ := strings.Cut(string(page), "## Not built yet")
	listed := map[string]bool{}
	for _, line := range strings.Split(settled, "\n") {
		if m := regexp.MustCompile(`^\| ([DE][0-9]+) \|`).FindStringSubmatch(line); m != nil {
			if listed[m[1]] {
				t.Errorf("%s is settled twice", m[1])
			}
			listed[m[1]] = true
		}
	}
	cited := citations(t)
	for d, where := range cited {
		if !listed[d] {
			t.Errorf("%s is cited in %s and not in docs/decisions.md", d, where)
		}
	}
	for d := range listed {
		if cited[d] == "" {
			t.Errorf("%s is in docs/decisions.md and cited nowhere", d)
		}
	}
}

// citations finds the decisions cited in Go files and schemas, tests left out.
func citations(t *testing.T) map[string]string {
	t.Helper()
	cited := map[string]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || path == "conformance/gen" || strings.HasPrefix(entry.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		isCode := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
		if !isCode && !strings.HasSuffix(path, ".schema.json") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, d := range decision.FindAllString(string(data), -1) {
			cited[d] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return cited
}
