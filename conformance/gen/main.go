// Command gen writes the project's own suites for agent-intents/1,
// agent-agreement/1 and agent-emailing/0.2.1: mails and records that are composed and signed here, each
// from one valid baseline with one thing changed, and what must be made of
// them. What is expected is written
// by hand from the profile; nothing is taken from what the program answers.
// The same source gives the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", "conformance", "folder that the suites are written to")
	flag.Parse()
	if err := write(*out, suites()); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// written is a suite that is being written.
type written interface {
	folder() string
	cases() [][2]string
	render() map[string][]byte
}

// suites builds all of them. A function that fails here was given a constant
// that is wrong, so the helpers of this program panic.
func suites() []written {
	all := []written{agreementSuite()}
	for _, group := range []func() []*suite{
		threadSuites, recordSuites, chainSuites, schemaSuites, jsonSuites, jwsSuites, keySuites,
		mimeSuites, headerSuites, dkimSuites, authresSuites, unsignedSuites, orderSuites, emailingSuites,
	} {
		for _, s := range group() {
			all = append(all, s)
		}
	}
	return all
}

// write replaces the folders of the suites.
func write(out string, all []written) error {
	for _, s := range all {
		dir := filepath.Join(out, s.folder())
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("clearing a suite: %w", err)
		}
		seen := map[string]bool{}
		for _, c := range s.cases() {
			if seen[c[0]] {
				panic("case " + c[0] + " stands twice in " + s.folder())
			}
			seen[c[0]] = true
		}
		for name, data := range s.render() {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return fmt.Errorf("writing a suite: %w", err)
			}
			if err := os.WriteFile(file, data, 0o644); err != nil {
				return fmt.Errorf("writing a suite: %w", err)
			}
		}
	}
	return nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
