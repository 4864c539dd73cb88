package record_test

import (
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// detach takes the payload out of a record's seal.
func (w *world) detach(data []byte) []byte {
	var tree map[string]any
	w.ok(json.Unmarshal(data, &tree))
	parts := strings.Split(tree["seal"].(string), ".")
	tree["seal"] = parts[0] + ".." + parts[2]
	data, err := json.Marshal(tree, json.Deterministic(true))
	w.ok(err)
	return data
}

// flip checks a record with each bit of some bytes turned over. None of them
// may check out, and each must name the step that fails.
func (w *world) flip(data []byte, every int) {
	w.tb.Helper()
	flipped := make([]byte, len(data))
	for bit := 0; bit < len(data)*8; bit += every {
		copy(flipped, data)
		flipped[bit/8] ^= 1 << (bit % 8)
		report := w.check(flipped)
		if report.Result != record.DoesNotCheckOut || report.Code == "" || report.Reason == "" {
			w.tb.Fatalf("bit %d of %q: %s, code %q", bit%8, around(data, bit/8), report.Result, report.Code)
		}
		if outcomeOf(report).Failed == "" || len(report.Steps) != allSteps {
			w.tb.Fatalf("bit %d of %q: no step failed", bit%8, around(data, bit/8))
		}
	}
}

func around(data []byte, i int) []byte { return data[max(0, i-10):min(len(data), i+10)] }

// TestEveryBit turns over every bit of the smallest record there is.
func TestEveryBit(t *testing.T) {
	w := newWorld(t)
	w.parseOnce()
	small := w.detach(w.replied())
	if r := w.check(small); r.Result != record.ReplyRecorded {
		t.Fatalf("the baseline: %+v", r)
	}
	w.flip(small, 1)
}

// TestSomeBits turns over one bit of every five bytes or so of the others.
func TestSomeBits(t *testing.T) {
	w := newWorld(t)
	w.parseOnce()
	for _, data := range [][]byte{w.twoSigned(), w.oneSigned(), w.detach(w.twoSigned())} {
		w.flip(data, 37)
	}
}

// parseOnce keeps the pages parsed.
func (w *world) parseOnce() {
	for id, text := range w.pages {
		page, err := party.ParsePage(text, id)
		w.ok(err)
		w.parsed[id] = page
	}
}

// FuzzCheck holds a report against itself, whatever the bytes.
func FuzzCheck(f *testing.F) {
	w := newWorld(f)
	w.parseOnce()
	seeds := [][]byte{
		w.twoSigned(), w.oneSigned(), w.replied(), w.detach(w.oneSigned()),
		w.change(w.twoSigned(), w.buyer, func(r map[string]any) { r["kind"] = "our_signature" }),
		w.change(w.twoSigned(), w.third, func(map[string]any) {}),
		[]byte(`{"profile":"agent-agreement/1","chain":[]}`), []byte("[]"),
		{},
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		report := record.Check(t.Context(), data, w.keys())
		failed := outcomeOf(report).Failed
		if len(report.Steps) != allSteps || report.Warnings == nil {
			t.Error("the report is not whole")
		}
		switch report.Result {
		case record.DoesNotCheckOut:
			if failed == "" || report.Code == "" || report.Reason == "" {
				t.Errorf("no reason: %+v", report)
			}
		case record.TwoSigned, record.OneSigned, record.ReplyRecorded:
			if failed != "" || report.Code != "" || report.Reason != "" {
				t.Errorf("it checks out with a reason: %+v", report)
			}
			checkAgain(t, w, data, report)
		default:
			t.Errorf("result %q, though every page answers", report.Result)
		}
		_, err := record.Parse(data)
		readable := report.Steps[6].Result == record.Pass && report.Steps[6].Name == "messages"
		if readable != (err == nil) {
			t.Errorf("the messages can be read: %t; Parse: %v", readable, err)
		}
	})
}

// checkAgain: a record that is read and written again is the same record.
func checkAgain(t *testing.T, w *world, data []byte, want record.Report) {
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(tree, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	got := record.Check(t.Context(), again, w.keys())
	got.Steps[0], want.Steps[0] = record.Step{}, record.Step{} // sizes differ
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
