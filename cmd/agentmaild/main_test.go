package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agentmaild": main, "model": model})
}

// TestScripts runs the command as a user does. The commands of the scripts
// beside those of testscript are in script_test.go.
func TestScripts(t *testing.T) {
	vectors, err := filepath.Abs("../../conformance/vectors")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: scriptCommands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("VECTORS", vectors)
			env.Setenv("GORACE", "atexit_sleep_ms=10") // under the race detector each command would sleep a second at its end
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
