package record_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
)

// forty is the record of a thread of 40 messages.
func (w *world) forty() []byte {
	t := w.thread()
	t.ask(w.buyer)
	for len(t.sent) < 39 {
		t.say(w.seller, intent.Quote, priced)
	}
	t.accept(w.buyer)
	return w.seal(t.build(t.deal()), w.buyer)
}

// full is a record of MaxSize bytes that checks out: its chain is as long as
// it can be.
func (w *world) full() []byte {
	base := w.twoSigned()
	data := w.detach(w.change(base, w.buyer, func(r map[string]any) {
		var chain []any
		for i := range (record.MaxSize - len(base)) / 67 {
			chain = append(chain, canon.Hash(fmt.Append(nil, i)))
		}
		r["chain"] = append(chain, r["chain"].([]any)...)
	}))
	return append(data, strings.Repeat(" ", record.MaxSize-len(data))...)
}

// hostile are records of MaxSize bytes that are made to cost much.
func (w *world) hostile() map[string][]byte {
	good := string(w.twoSigned())
	// grown puts a unit into a text as often as it has room for.
	grown := func(text, place, before, unit, after string) []byte {
		n := (record.MaxSize - len(text) - len(before) - len(after)) / len(unit)
		text = strings.Replace(text, place, before+strings.Repeat(unit, n)+after, 1)
		return append([]byte(text), strings.Repeat(" ", record.MaxSize-len(text))...)
	}
	fill := func(before, unit, after string) []byte {
		return grown(`{"HERE",`+strings.TrimPrefix(good, "{"), `"HERE"`, before, unit, after)
	}
	instead := func(member, before, unit, after string) []byte {
		var tree map[string]any
		w.ok(json.Unmarshal([]byte(good), &tree))
		tree[member] = "HERE"
		text, err := json.Marshal(tree, json.Deterministic(true))
		w.ok(err)
		return grown(string(text), `"HERE"`, before, unit, after)
	}
	var members strings.Builder
	for i := 0; members.Len() < 200_000; i++ {
		fmt.Fprintf(&members, `"%x":0,`, i)
	}
	return map[string][]byte{
		"nested":           []byte(strings.Repeat("[", record.MaxSize)),
		"lists":            fill(`"x":[0`, ",[]", "]"),
		"objects":          fill(`"x":[0`, ",{}", "]"),
		"numbers":          fill(`"x":[0`, ",1e9", "]"),
		"digits":           fill(`"x":`, "1", ""),
		"text":             fill(`"x":"`, "é", `"`),
		"escapes":          fill(`"x":"`, `\u00e9`, `"`),
		"surrogates":       fill(`"x":"`, `\ud83d\ude00`, `"`),
		"members":          fill(members.String()+`"x":"`, "x", `"`),
		"a name":           fill(`"`, "x", `":0`),
		"chain of numbers": instead("chain", "[0", ",1", "]"),
		"chain of texts":   instead("chain", `[""`, `,""`, "]"),
		"parties":          instead("parties", "[{}", ",{}", "]"),
		"items":            instead("terms", `{"type":"quote","items":[{}`, ",{}", "]}"),
		"seal":             instead("seal", `"`, "A", `"`),
		"seal of dots":     instead("seal", `"`, ".", `"`),
		"seal in three":    instead("seal", `"AA.`, "A", `.AA"`),
		"thread":           instead("thread", `"`, "0", `"`),
		"offer":            instead("offer", `{"hash":"","jws":"`, ".", `"}`),
		"canonical offer":  instead("offer", `{"hash":"`+strings.Repeat("0", 64)+`","canonical":"[`, "[],", `0]"}`),
	}
}

// allocated is how many bytes a check takes from the heap.
func (w *world) allocated(data []byte) uint64 {
	w.check(data) // the schemas are compiled once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.check(data)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const mib = 1 << 20

// TestCost: a record of the greatest size takes at most 8 MiB, and one that is
// made to cost much no more than three times that.
func TestCost(t *testing.T) {
	w := newWorld(t)
	full := w.full()
	if report := w.check(full); report.Result != record.TwoSigned || len(full) != record.MaxSize {
		t.Fatalf("the baseline, %d bytes: %s", len(full), report.Reason)
	}
	if got := w.allocated(full); got > 8*mib {
		t.Errorf("the largest record takes %d bytes", got)
	}
	for name, data := range w.hostile() {
		if len(data) != record.MaxSize {
			t.Errorf("%s has %d bytes", name, len(data))
		}
		got := w.allocated(data)
		t.Logf("%s: %d KiB, %s", name, got>>10, w.check(data).Reason)
		if got > 24*mib {
			t.Errorf("%s takes %d bytes", name, got)
		}
	}
}

// A page with as many keys as it can have is asked for and read once, however
// often its party signs.
func TestPagesAskedOnce(t *testing.T) {
	w := newWorld(t)
	keys := []party.OwnKey{{Private: w.buyer.key, Kid: w.buyer.kid(), CreatedAt: start - day}}
	for i := range byte(99) {
		s := side{key: keyOf(150 + i)} // nobody's else
		keys = append(keys, party.OwnKey{Private: s.key, Kid: s.kid(), CreatedAt: start - day})
	}
	page, err := party.BuildPage(w.buyer.party, w.buyer.org, []string{w.buyer.address}, nil, keys)
	w.ok(err)
	w.pages[w.buyer.party] = page
	data := w.twoSigned()
	if report := w.check(data); report.Result != record.TwoSigned {
		t.Fatal(report.Reason)
	}
	if n := w.asked[w.buyer.jku()]; n != 1 {
		t.Errorf("the page was asked for %d times", n)
	}
	if got := w.allocated(data); got > 8*mib {
		t.Errorf("it takes %d bytes", got)
	}
}

func BenchmarkCheck(b *testing.B) {
	w := newWorld(b)
	records := w.hostile()
	records["of 40 messages"], records["of 262144 bytes"] = w.forty(), w.full()
	for name, data := range records {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.check(data)
			}
		})
	}
}
