package conformance

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// quoted finds words in backquotes.
var quoted = regexp.MustCompile("`([a-z_]+)`")

// TestWords holds three lists of words against each other: those that the
// inbox and the check of records use, those that a suite may expect, and those
// of the pages, for whoever writes a suite.
func TestWords(t *testing.T) {
	pages := page(t, "conformance.md")
	var shownVerdicts, shownCodes []string
	for _, table := range strings.Split(pages, "| verdict | what became of the mail | codes |")[1:] {
		table, _, _ = strings.Cut(table, "\n\n")
		for row := range strings.Lines(table) {
			if cells := strings.Split(row, "|"); len(cells) == 5 {
				shownVerdicts = append(shownVerdicts, words(cells[1])...)
				shownCodes = append(shownCodes, words(cells[3])...)
			}
		}
	}
	_, shownSignatures, _ := strings.Cut(pages, "| `signature` |")
	shownSignatures, _, _ = strings.Cut(shownSignatures, "\n")
	_, stepTable, _ := strings.Cut(page(t, "records.md"), "| step | code | needs | passes when |")
	var shownRecordCodes []string
	for row := range strings.Lines(stepTable) {
		if cells := strings.Split(row, "|"); len(cells) == 6 {
			shownRecordCodes = append(shownRecordCodes, words(cells[2])...)
		}
	}
	for _, c := range []struct {
		name               string
		files, of          string // where the constants are, and their type
		expectable, listed []string
	}{
		{"verdicts", "../inbox/verdict.go ../inbox/agent.go", "Verdict", texts(verdicts), shownVerdicts},
		{"codes", "../inbox/verdict.go ../inbox/agent.go ../envelope/agentmsg/code.go", "Code", texts(codes), shownCodes},
		{"signatures", "../inbox/verdict.go", "Signature", texts(signatures), words(shownSignatures)},
		{"codes of records", "../record/report.go", "Code", texts(recordCodes), shownRecordCodes},
	} {
		var used []string
		for file := range strings.FieldsSeq(c.files) {
			found := constants(t, file, c.of)
			if len(found) == 0 {
				t.Errorf("%s: there are none in %s", c.name, file)
			}
			used = append(used, found...)
		}
		used = sorted(used)
		if diff := cmp.Diff(used, sorted(c.expectable)); diff != "" {
			t.Errorf("%s: the program (-) and the suites (+) differ:\n%s", c.name, diff)
		}
		if diff := cmp.Diff(used, sorted(c.listed)); diff != "" {
			t.Errorf("%s: the program (-) and the page (+) differ:\n%s", c.name, diff)
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// constants are the words of a type, "" left out.
func constants(t *testing.T, file, of string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +`+of+` += "(\w+)"`).FindAllSubmatch(data, -1) {
		found = append(found, string(m[1]))
	}
	return sorted(found)
}

func words(text string) (found []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

func texts[T ~string](list []T) (found []string) {
	for _, word := range list {
		if word != "" {
			found = append(found, string(word))
		}
	}
	return found
}

// sorted is the words in order, each once.
func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
