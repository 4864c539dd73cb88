package canon_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
)

// TestJSONTestSuite runs the files of testdata/json-test-suite, which stand
// there unchanged: y_ must be read, n_ must not, i_ is the reader's choice.
func TestJSONTestSuite(t *testing.T) {
	const dir = "testdata/json-test-suite/test_parsing"
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(dir + "/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		class, _, _ := strings.Cut(file.Name(), "_")
		seen[class]++
		read, err := canon.Strict(data, 1000)
		twice := strings.HasPrefix(file.Name(), "y_object_duplicated_key") // D11: refused on purpose
		switch class {
		case "y":
			if (err != nil) != twice {
				t.Errorf("%s: %v", file.Name(), err)
			}
		case "n":
			if err == nil {
				t.Errorf("%s is read", file.Name())
			}
		case "i":
			if again, errAgain := canon.Strict(read, 1000); err == nil && (errAgain != nil || !bytes.Equal(read, again)) {
				t.Errorf("%s is read as %q, and that as %q", file.Name(), read, again)
			}
		default:
			t.Errorf("%s is of no known class", file.Name())
		}
	}
	for _, class := range []string{"y", "n", "i"} {
		if seen[class] < 30 {
			t.Errorf("only %d files of class %s", seen[class], class)
		}
	}
}
