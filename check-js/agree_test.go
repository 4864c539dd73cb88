package checkjs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	checkjs "github.com/agentmaild/agentmaild/check-js"
	"github.com/agentmaild/agentmaild/conformance"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// mutations is how many changed records of each suite are compared.
const mutations = 300

// TestAgree holds the two checkers against each other: every record of the
// suites, and good records with one byte changed, give the same report. What
// the records of the suites must come to is told by the suites, which both run.
func TestAgree(t *testing.T) {
	node, err := checkjs.Node(t.Context())
	if err != nil {
		t.Skip(err, ": apt-get install nodejs && go test ./check-js")
	}
	command := filepath.Join(t.TempDir(), "check-js")
	if err := os.CopyFS(command, checkjs.Files); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"../conformance/records", "../conformance/vectors/records"} {
		t.Run(dir, func(t *testing.T) {
			s, good := readSuite(t, dir)
			s.mutate(t, good)
			codes := map[record.Code]int{}
			for i, got := range s.second(t, node, filepath.Join(command, "cli.js")) {
				codes[got.Code]++
				if diff := cmp.Diff(s.first(t, s.files[i]), got); diff != "" {
					t.Errorf("%s (- Go, + JavaScript):\n%s", s.files[i], diff)
				}
			}
			t.Logf("codes: %v", codes)
			if len(codes) < 8 {
				t.Error("too few different codes came up")
			}
		})
	}
}

// suite is records, and where their key pages and vouches are.
type suite struct {
	files   []string
	keys    string // folder
	hosts   []string
	vouches record.Vouches
}

func readSuite(t *testing.T, dir string) (suite, [][]byte) {
	t.Helper()
	from, err := conformance.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := suite{keys: t.TempDir(), hosts: from.TrustedHosts, vouches: record.Vouches{}}
	for _, url := range slices.Sorted(maps.Keys(from.KeyPages)) {
		s.writePage(t, dir, path.Base(url), from.KeyPages[url])
	}
	for name, parties := range from.DNS {
		if domain, ok := strings.CutPrefix(name, "_agent-agreements."); ok {
			s.vouches[domain] = []string{parties[len(parties)-1]} // before it are records of other uses, which no flag gives
		}
	}
	var good [][]byte
	for _, c := range from.Cases {
		file := filepath.Join(dir, c.Record)
		s.files = append(s.files, file)
		switch *c.Expect.Result {
		case record.TwoSigned, record.OneSigned, record.ReplyRecorded:
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			good = append(good, data)
		}
	}
	return s, good
}

// writePage writes a key page into the folder. One that gives no answer is one
// that is there and cannot be read. Of pages of one party at several hosts the
// folder has the first.
func (s *suite) writePage(t *testing.T, dir, name string, page conformance.KeyPage) {
	t.Helper()
	to := filepath.Join(s.keys, name)
	if _, err := os.Stat(to); err == nil {
		return
	}
	var err error
	switch {
	case page.Status == 200:
		var data []byte
		if data, err = os.ReadFile(filepath.Join(dir, page.File)); err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
	case page.Status == 429 || page.Status >= 500:
		err = os.Mkdir(to, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mutate adds good records with one byte changed, left out or put in: the same
// ones each time.
func (s *suite) mutate(t *testing.T, good [][]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(4, uint64(len(good))))
	dir := t.TempDir()
	for i := range mutations {
		data := bytes.Clone(good[random.IntN(len(good))])
		at := random.IntN(len(data))
		// Where structure matters, a byte of the structure finds more than one that makes the text no JSON.
		const structure = "{}[]\",:\\/.-+eE0123456789 \n_aA"
		with := structure[random.IntN(len(structure))]
		switch random.IntN(4) {
		case 0:
			data[at] = byte(random.IntN(256))
		case 1:
			data[at] = with
		case 2:
			data = append(data[:at], data[at+1:]...)
		case 3:
			data = append(data[:at], append([]byte{with}, data[at:]...)...)
		}
		file := filepath.Join(dir, fmt.Sprintf("%03d.json", i))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, file)
	}
}

// first is the report of the Go checker.
func (s *suite) first(t *testing.T, file string) record.Report {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > record.MaxSize { // neither command reads it
		return record.Unread(int64(len(data)), "")
	}
	root, err := os.OpenRoot(s.keys)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return record.Check(t.Context(), data, record.KeySource{Trust: party.Trust{Hosts: s.hosts}, Pages: record.Folder{Root: root}, TXT: s.vouches})
}

// second is the reports of the checker in JavaScript.
func (s *suite) second(t *testing.T, node, command string) []record.Report {
	t.Helper()
	args := []string{command, "--json", "--keys", s.keys}
	for _, host := range s.hosts {
		args = append(args, "--trusted-host", host)
	}
	for domain, parties := range s.vouches {
		args = append(args, "--vouch", domain+"="+parties[0])
	}
	out, err := exec.CommandContext(t.Context(), node, append(args, s.files...)...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 { // some of the records do not check out
		t.Fatalf("the checker in JavaScript: %v", err)
	}
	var reports []record.Report
	for lines := jsontext.NewDecoder(bytes.NewReader(out)); ; {
		var r record.Report
		err := json.UnmarshalDecode(lines, &r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if len(reports) != len(s.files) {
		t.Fatalf("%d reports of %d records", len(reports), len(s.files))
	}
	return reports
}
