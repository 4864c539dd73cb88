package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	checkjs "github.com/agentmaild/agentmaild/check-js"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// checkerDir is in the demo's folder.
const checkerDir = "check-js"

// writeSecond writes the second checker into the demo's own folder. One that
// lay in the working directory could be anybody's.
func (p *play) writeSecond() error {
	if err := os.CopyFS(filepath.Join(p.dir, checkerDir), checkjs.Files); err != nil {
		return fmt.Errorf("writing the second checker: %w", err)
	}
	return nil
}

// checkAgain has the records checked by the second checker, where it runs. One
// that does not, on a node too old for it, spoils no demo.
func (p *play) checkAgain() error {
	reports, err := p.second()
	if err != nil {
		p.say("The second checker, in JavaScript, was not run: %v.", err)
		return nil
	}
	for i, report := range reports {
		r := &p.result.Receipts[i]
		if report.Result != r.Result {
			return fmt.Errorf("the second checker says of the %s's record %s: %s", r.Of, report.Result, report.Reason)
		}
		r.Second = report.Result
		p.say("The second checker, in JavaScript, says of the %s's: checks out, two signatures.", r.Of)
	}
	return nil
}

// second is what the second checker finds, a report for each record. An error
// is that it says nothing of them.
func (p *play) second() ([]record.Report, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	node, err := checkjs.Node(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{filepath.Join(p.dir, checkerDir, "cli.js"), "--keys", filepath.Join(p.dir, keysDir), "--trusted-host", keyHost, "--json"}
	for _, r := range p.result.Receipts {
		args = append(args, r.File)
	}
	out, failed := exec.CommandContext(ctx, node, args...).Output() // exit codes 1 and 2 come with reports too
	reports := make([]record.Report, len(p.result.Receipts))
	lines := jsontext.NewDecoder(bytes.NewReader(out))
	for i := range reports {
		if err := json.UnmarshalDecode(lines, &reports[i]); err != nil && failed != nil {
			return nil, fmt.Errorf("it failed: %w", failed)
		} else if err != nil {
			return nil, fmt.Errorf("reading what it says: %w", err)
		}
	}
	return reports, nil
}
