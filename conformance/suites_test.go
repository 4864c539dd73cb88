package conformance_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/conformance"
	"github.com/google/go-cmp/cmp"
)

// suites are the folders below this one that hold a suite, in the order of a
// walk.
var suites = []string{
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
	"vectors/hostile/alignment", "vectors/hostile/authres", "vectors/hostile/dkim", "vectors/hostile/from", "vectors/hostile/good",
	"vectors/hostile/header", "vectors/hostile/jku", "vectors/hostile/json", "vectors/hostile/jws", "vectors/hostile/loop",
	"vectors/hostile/mime", "vectors/hostile/replay", "vectors/hostile/smuggling",
	"vectors/intents",
}

// TestSuites runs every suite twice: the outcome may hang on nothing that a
// suite does not give, such as the clock of the machine.
func TestSuites(t *testing.T) {
	for _, dir := range suites {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			first, second := run(t, dir), run(t, dir)
			if len(first) == 0 {
				t.Error("the suite has no case")
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("two runs differ (-first +second):\n%s", diff)
			}
			for _, o := range first {
				if !o.OK {
					t.Errorf("%s: step %s: expected %s, got %s", o.Case, o.Step, o.Expected, o.Got)
				}
			}
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
