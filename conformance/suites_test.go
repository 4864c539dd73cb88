package conformance_test

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentmaild/agentmaild/conformance"
	"github.com/google/go-cmp/cmp"
)

// suites are the folders below this one that hold a suite, in the order of a
// walk.
var suites = []string{
	"emailing/admission",
	"emailing/admission-block",
	"emailing/admission-defaults",
	"emailing/admission-no-defaults",
	"emailing/admission-no-roster",
	"emailing/basics",
	"emailing/bridge",
	"emailing/bridge-allow",
	"emailing/bridge-authres",
	"emailing/bridge-block",
	"emailing/bridge-off",
	"emailing/cancel",
	"emailing/carriage",
	"emailing/contacts",
	"emailing/envelope",
	"emailing/fence",
	"emailing/files",
	"emailing/mixed",
	"emailing/protections",
	"emailing/rate",
	"emailing/rate-0",
	"emailing/sealing",
	"emailing/sealing-none",
	"emailing/sealing-required",
	"emailing/tasks",
	"intents/authres",
	"intents/authres-all",
	"intents/authres-ignored",
	"intents/chain",
	"intents/dkim",
	"intents/dkim-strict",
	"intents/from",
	"intents/header",
	"intents/jku",
	"intents/json",
	"intents/jws",
	"intents/keys",
	"intents/mime",
	"intents/order",
	"intents/records",
	"intents/schema",
	"intents/threads",
	"intents/unsigned-allow",
	"intents/unsigned-hold",
	"intents/unsigned-ignore",
	"records",
	"vectors/emailing", "vectors/hostile/alignment", "vectors/hostile/authres", "vectors/hostile/dkim", "vectors/hostile/from", "vectors/hostile/good",
	"vectors/hostile/header", "vectors/hostile/jku", "vectors/hostile/json", "vectors/hostile/jws", "vectors/hostile/loop",
	"vectors/hostile/mime", "vectors/hostile/replay", "vectors/hostile/smuggling",
	"vectors/intents",
	"vectors/records",
}

func TestSuites(t *testing.T) {
	for _, dir := range suites {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			hold(t, dir)
		})
	}
}

// hold runs a suite, of which every case must go as expected.
func hold(t *testing.T, dir string) {
	t.Helper()
	outcomes := run(t, dir)
	if len(outcomes) == 0 {
		t.Error("the suite has no case")
	}
	for _, o := range outcomes {
		if !o.OK {
			t.Errorf("%s: step %s: expected %s, got %s", o.Case, o.Step, o.Expected, o.Got)
		}
	}
}

// TestClockOfTheMachine runs every suite again with the clock of the machine at
// the start of the year 2000, where a test bubble begins: nothing may hang on
// it.
func TestClockOfTheMachine(t *testing.T) {
	for _, dir := range suites {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if year := time.Now().Year(); year != 2000 {
					t.Fatalf("the clock of the machine says %d", year)
				}
				hold(t, dir)
			})
		})
	}
}

// TestNoSuiteForgotten finds suites that the list above does not name.
func TestNoSuiteForgotten(t *testing.T) {
	var found []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "suite.json" {
			found = append(found, filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(suites, found); diff != "" {
		t.Errorf("suites run and suites there differ (-run +there):\n%s", diff)
	}
}

func run(t *testing.T, dir string) []conformance.Outcome {
	t.Helper()
	s, err := conformance.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []conformance.Outcome
	if err := s.Run(t.Context(), "", func(o conformance.Outcome) { outcomes = append(outcomes, o) }); err != nil {
		t.Fatal(err)
	}
	return outcomes
}
