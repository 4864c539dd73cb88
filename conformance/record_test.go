package conformance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/conformance"
)

// records is a suite of one record, which is none.
const records = `{
  "format": 1, "profile": "agent-agreement/1", "trusted_hosts": ["api.stackshift.cloud"], "key_pages": {},
  "cases": [{"name": "one", "why": "no record", "record": "record.json", "expect": {"result": "does_not_check_out", "code": "json", "warnings": []}}]
}`

// recordFolder writes that suite with one text replaced by another.
func recordFolder(t *testing.T, old, new string) string {
	t.Helper()
	if !strings.Contains(records, old) {
		t.Fatalf("%q is not in the base", old)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"suite.json": strings.Replace(records, old, new, 1), "record.json": "We agreed."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadRecordsRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"no record", `"record": "record.json", `, ``},
		{"a record that is not there", `record.json`, `gone.json`},
		{"no expectation", `, "expect": {"result": "does_not_check_out", "code": "json", "warnings": []}`, ``},
		{"no result", `"result": "does_not_check_out", `, ``},
		{"an unknown result", `does_not_check_out`, `refused`},
		{"an unknown code", `"code": "json"`, `"code": "jws"`},
		{"steps", `"record": "record.json"`, `"record": "record.json", "steps": [{"tick": true, "at": "2026-11-02T10:00:00Z"}]`},
		{"an ending", `"record": "record.json"`, `"record": "record.json", "final": {"offers": {}}`},
		{"a record among stories", `agent-agreement/1`, `agent-intents/1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := conformance.Load(recordFolder(t, c.old, c.new)); !errors.Is(err, conformance.ErrSuite) {
				t.Errorf("Load: %v, not an ErrSuite", err)
			}
		})
	}
}

func TestRunRecordsReports(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           conformance.Outcome
	}{
		{"as expected", `"one"`, `"one"`, conformance.Outcome{OK: true}},
		{"only the result", `, "code": "json", "warnings": []`, ``, conformance.Outcome{OK: true}},
		{"another result", `does_not_check_out`, `their_reply`, conformance.Outcome{
			Step: "result", Expected: "their_reply", Got: "does_not_check_out json (the record is not strict JSON)",
		}},
		{"another code", `"code": "json"`, `"code": "size"`, conformance.Outcome{
			Step: "code", Expected: "size", Got: "json (the record is not strict JSON)",
		}},
		{"a warning", `"warnings": []`, `"warnings": ["key_revoked_later"]`, conformance.Outcome{
			Step: "warnings", Expected: "[key_revoked_later]", Got: "[] (the record is not strict JSON)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := recordFolder(t, c.old, c.new)
			outcomes := run(t, dir)
			if len(outcomes) != 1 {
				t.Fatalf("%d outcomes of one case", len(outcomes))
			}
			c.want.Suite, c.want.Case = dir, "one"
			if outcomes[0] != c.want {
				t.Errorf("got %+v, want %+v", outcomes[0], c.want)
			}
		})
	}
}
