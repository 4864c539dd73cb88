package main

import (
	"fmt"

	"github.com/agentmaild/agentmaild/conformance"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

func (a *app) conformanceCommand() *cobra.Command {
	var only string
	run := &cobra.Command{
		Use: "run DIR…", Short: "Run suites against the code of the daemon", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error { return a.conform(cmd, dirs, only) },
	}
	run.Flags().StringVar(&only, "case", "", "run only the case of this `NAME`")
	return group("conformance", "Suites of cases, in the format of docs/conformance.md", run)
}

// conform runs the suites: exit 0 when all went as expected, 1 when some did
// not, 2 when a suite cannot be read.
func (a *app) conform(cmd *cobra.Command, dirs []string, only string) error {
	cases, passed := 0, 0
	for _, dir := range dirs {
		suite, err := conformance.Load(dir)
		if err != nil {
			return usage("%w", err)
		}
		err = suite.Run(cmd.Context(), only, func(o conformance.Outcome) {
			cases++
			if o.OK {
				passed++
			}
			a.outcome(cmd, o)
		})
		if err != nil {
			return usage("%w", err)
		}
	}
	if a.json {
		cmd.Printf("{\"cases\":%d,\"passed\":%d}\n", cases, passed)
	} else {
		cmd.Printf("%d passed, %d failed\n", passed, cases-passed)
	}
	switch {
	case cases == 0 && only == "":
		return usage("there is no case in the suites")
	case cases == 0:
		return usage("no case of that name is in the suites")
	case passed < cases:
		return fmt.Errorf("%d of %d cases went another way than expected", cases-passed, cases)
	}
	return nil
}

func (a *app) outcome(cmd *cobra.Command, o conformance.Outcome) {
	if a.json {
		line, err := json.Marshal(o)
		if err == nil {
			cmd.Println(string(line))
		}
		return
	}
	if !o.OK {
		cmd.Printf("%s: %s: step %s: expected %s, got %s\n", o.Suite, o.Case, o.Step, o.Expected, o.Got)
	}
}
