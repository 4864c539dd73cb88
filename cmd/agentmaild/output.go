package main

// Results go to standard output, as text or with --json as JSON; everything
// else, errors above all, goes to standard error.

import (
	"fmt"
	"io"
	"time"

	"github.com/agentmaild/agentmaild/envelope/inert"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// output remembers that something could not be written, as on a full disk: most who print do not look.
type output struct {
	to     io.Writer
	failed error
}

// Write is that of an io.Writer.
func (o *output) Write(data []byte) (int, error) {
	n, err := o.to.Write(data)
	if err != nil && o.failed == nil {
		o.failed = fmt.Errorf("the result could not be written: %w", err)
	}
	return n, err
}

// print shows a result in the form that was asked for.
func (a *app) print(cmd *cobra.Command, value any, text func()) error {
	if !a.json {
		text()
		return nil
	}
	data, err := json.Marshal(value, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	fmt.Fprintln(cmd.OutOrStdout(), string(inert.JSON(data)))
	return nil
}

// shownTime is how a time is shown, always in UTC.
const shownTime = "2006-01-02 15:04:05Z"

func when(unix int64) string {
	if unix == 0 {
		return "-"
	}
	return time.Unix(unix, 0).UTC().Format(shownTime)
}
