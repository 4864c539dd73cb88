package main

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/conformance"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/google/go-cmp/cmp"
)

// committed are the folders that the suites stand in.
var committed = []string{"intents", "records", "emailing"}

// TestSuites holds what the program writes against what stands in the
// repository: after a change to either, run the program again.
func TestSuites(t *testing.T) {
	all, out := suites(), t.TempDir()
	if err := write(out, all); err != nil {
		t.Fatal(err)
	}
	for _, folder := range committed {
		compare(t, folder, files(t, filepath.Join(out, folder)), files(t, filepath.Join("..", folder)))
	}
	for _, s := range all {
		if len(s.cases()) == 0 {
			t.Errorf("%s has no case", s.folder())
		}
		for _, c := range s.cases() {
			if c[1] == "" {
				t.Errorf("%s: %s says no reason", s.folder(), c[0])
			}
		}
	}
}

// TestEmailingNumbers: each settled reading of Agent Emailing that a mail can
// show has a case that names it.
func TestEmailingNumbers(t *testing.T) {
	reasons := ""
	for _, s := range emailingSuites() {
		for _, c := range s.cases() {
			reasons += c[1] + "\n"
		}
	}
	for number := range strings.FieldsSeq("E1 E2 E3 E4 E5 E6 E7 D100 D101 D102 D105 D106 D107 D108 D110 D112 D113 D114 D117 D119 D120 D121 D122 D123 D125 D127 D129 D150 D151 D152 D153 D154") {
		if !regexp.MustCompile(`\b` + number + `\b`).MatchString(reasons) {
			t.Errorf("no case says that it is about %s", number)
		}
	}
}

func compare(t *testing.T, folder string, want, got map[string]string) {
	t.Helper()
	if len(want) == 0 {
		t.Errorf("nothing was written to %s", folder)
	}
	for name, data := range want {
		if have, there := got[name]; !there || have != data {
			t.Errorf("%s/%s is not what the program writes", folder, name)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("%s/%s is not written by the program", folder, name)
		}
	}
}

func TestWriteToNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(file, []written{newSuite("x", "")}); err == nil {
		t.Error("suites were written below a file")
	}
}

func TestSwapNeedsItsPlace(t *testing.T) {
	for _, text := range []string{"", "a a"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was changed", text)
				}
			}()
			swap("a", "b")(text)
		}()
	}
	if diff := cmp.Diff("xbx", swap("a", "b")("xax")); diff != "" {
		t.Error(diff)
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// txt is the DNS of a suite, but for names that do not answer.
type txt map[string][]string

func (t txt) LookupTXT(_ context.Context, name string) ([]string, error) {
	if records := t[name]; records != nil {
		return records, nil
	}
	return nil, &net.DNSError{Name: name, IsNotFound: true}
}

// TestOneStepEach: a record that does not check out breaks one step, that of
// the rule its case is about, so that no case passes for another fault.
func TestOneStepEach(t *testing.T) {
	suite, err := conformance.Load("../records")
	if err != nil {
		t.Fatal(err)
	}
	keys := record.KeySource{Trust: party.Trust{Hosts: suite.TrustedHosts}, Pages: suite, TXT: txt(suite.DNS)}
	tied := map[string]string{
		"binding-prev-missing":   "reference, prev",        // they come together (D2)
		"our-other-sealed-by-it": "offer kid, seal signer", // whose signature does not verify does not seal either (D51)
	}
	broken := map[string]bool{}
	for _, c := range suite.Cases {
		data, err := os.ReadFile(filepath.Join("../records", c.Record))
		if err != nil {
			t.Fatal(err)
		}
		var failed []string
		for _, step := range record.Check(t.Context(), data, keys).Steps {
			if step.Result == record.Fail {
				failed = append(failed, step.Name)
				broken[step.Name] = true
			}
		}
		if got := strings.Join(failed, ", "); len(failed) > 1 && tied[c.Name] != got {
			t.Errorf("%s breaks %s", c.Name, got)
		}
	}
	for _, step := range record.Unread(0, "").Steps {
		if !broken[step.Name] && step.Name != "mails" { // mails are no part of a suite
			t.Errorf("no case breaks the step %s", step.Name)
		}
	}
}
