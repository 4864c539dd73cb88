package record_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/google/go-cmp/cmp"
)

// outcome is what most tests compare of a report.
type outcome struct {
	Result record.Result
	Code   record.Code
	Failed string // the steps that failed
}

func outcomeOf(r record.Report) outcome {
	var failed []string
	for _, s := range r.Steps {
		if s.Result == record.Fail {
			failed = append(failed, s.Name)
		}
	}
	return outcome{r.Result, r.Code, strings.Join(failed, ", ")}
}

func TestKinds(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name string
		data []byte
		want record.Result
	}{
		{"two signatures", w.twoSigned(), record.TwoSigned},
		{"one signature", w.oneSigned(), record.OneSigned},
		{"a reply", w.replied(), record.ReplyRecorded},
		{"an offer that nobody could check", w.unchecked(w.seller), record.OneSigned},
		{"an acceptance that nobody could check", w.unchecked(w.buyer), record.OneSigned},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := w.check(c.data)
			if diff := cmp.Diff(outcome{Result: c.want}, outcomeOf(report)); diff != "" {
				t.Error(diff)
			}
			if !report.ChecksOut() || report.Reason != "" || len(report.Warnings) != 0 {
				t.Errorf("ChecksOut %t, reason %q, warnings %v", report.ChecksOut(), report.Reason, report.Warnings)
			}
			parsed, err := record.Parse(c.data)
			if err != nil || string(parsed.Kind) != string(c.want) && c.want != record.OneSigned {
				t.Errorf("parsed: %v, %v", parsed, err)
			}
		})
	}
}

// allSteps is how many a report has; TestSteps counts them.
const allSteps = 38

// TestSteps holds the steps, their order, codes and what they need against the
// page that other checkers are written from.
func TestSteps(t *testing.T) {
	page, err := os.ReadFile("../docs/records.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| step | code | needs |")
	table, _, _ = strings.Cut(table, "\nBesides:")
	var documented []string
	for _, row := range strings.Split(table, "\n| ")[1:] {
		cell, _, _ := strings.Cut(row, "|")
		names := regexp.MustCompile("`([a-z_ ]+)`").FindAllStringSubmatch(cell, -1)
		if strings.Contains(cell, "…") { // the five of the acceptance stand in one row
			for _, s := range []string{"trust", "kid", "revoked", "retired", "signature"} {
				documented = append(documented, "acceptance "+s)
			}
			continue
		}
		for _, name := range names {
			documented = append(documented, name[1])
		}
	}
	if len(documented) != allSteps {
		t.Errorf("%d steps are on the page", len(documented))
	}
	w := newWorld(t)
	for _, data := range [][]byte{w.twoSigned(), w.replied(), []byte("no record")} {
		var made []string
		for _, s := range w.check(data).Steps {
			made = append(made, s.Name)
		}
		if diff := cmp.Diff(documented, made); diff != "" {
			t.Errorf("the page and the check differ (-page +check):\n%s", diff)
		}
	}
}

// Whoever holds the two sides' pages finds the same, however often and whenever.
func TestSameReportAgain(t *testing.T) {
	w := newWorld(t)
	data := w.twoSigned()
	if diff := cmp.Diff(w.check(data), w.check(data)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(data, w.twoSigned()); diff != "" {
		t.Error("the same deal gives two records")
	}
	for url, n := range w.asked {
		if n > 2 {
			t.Errorf("%s was asked for %d times in two checks", url, n)
		}
	}
}

func TestParse(t *testing.T) {
	w := newWorld(t)
	data := w.twoSigned()
	r, err := record.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Offer.Message(); got == nil || got.Total.Amount != "30000000" || got.Hash != r.Offer.Hash {
		t.Errorf("the offer: %+v", got)
	}
	if got := r.Acceptance.Message(); got == nil || got.Ref != r.Offer.Message().ID {
		t.Errorf("the acceptance: %+v", got)
	}
	if p := r.Side(record.Accepter); p == nil || p.Address != w.buyer.address || r.Side("witness") != nil {
		t.Errorf("the accepter: %+v", p)
	}
	for _, c := range []struct {
		text string
		code record.Code
		step string
	}{
		{"", record.CodeJSON, "json"},
		{`{"profile":"agent-agreement/2"}`, record.CodeProfile, "profile"},
		{`{"profile":"agent-agreement/1"}`, record.CodeSchema, "schema"},
		{strings.Repeat(" ", record.MaxSize+1), record.CodeSize, "size"},
	} {
		_, err := record.Parse([]byte(c.text))
		var e *record.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Step != c.step || e.Error() == "" {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
}

func TestUnread(t *testing.T) {
	small, large := record.Unread(0, "it is gone"), record.Unread(record.MaxSize+1, "")
	if small.Result != record.NotMade || small.Reason != "it is gone" || len(small.Steps) != allSteps || small.ChecksOut() {
		t.Errorf("%+v", small)
	}
	if large.Result != record.DoesNotCheckOut || large.Code != record.CodeSize || large.Steps[0].Result != record.Fail {
		t.Errorf("%+v", large)
	}
}

func TestBuildRefuses(t *testing.T) {
	w := newWorld(t)
	start := func() *thread {
		th := w.thread()
		th.say(w.seller, intent.ProposeTimes, timed)
		th.accept(w.buyer)
		return th
	}
	for name, edit := range map[string]func(*record.Deal){
		"neither acceptance nor reply": func(d *record.Deal) { d.Acceptance = nil },
		"both":                         func(d *record.Deal) { d.Reply = &record.Reply{} },
		"no signature":                 func(d *record.Deal) { d.Offer.Party, d.Acceptance.Party = "", "" },
		"no slot":                      func(d *record.Deal) { d.Acceptance.Message.Slot = nil },
	} {
		d := start().deal()
		edit(&d)
		if _, err := record.Build(d); !errors.Is(err, record.ErrBuild) {
			t.Errorf("%s: %v", name, err)
		}
	}
	th := start()
	if _, err := record.Build(th.deal()); err != nil {
		t.Errorf("the baseline: %v", err)
	}
}

// Seal does not put a seal to what could never check out.
func TestSealRefuses(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name string
		edit func(*record.Record)
		code record.Code
	}{
		{"the baseline", func(*record.Record) {}, ""},
		{"another thread", func(r *record.Record) { r.Thread = uuid("another") }, record.CodeBinding},
		{"no id", func(r *record.Record) { r.ID = "" }, record.CodeSchema},
		{"a chain that ends elsewhere", func(r *record.Record) { r.Chain = r.Chain[:2] }, record.CodeChain},
		{"too late", func(r *record.Record) { r.AgreedAt++ }, record.CodeBinding},
		{"too large", func(r *record.Record) {
			for len(r.Chain) < 3000 {
				r.Chain = append([]string{strings.Repeat("0", 60) + string(rune('a'+len(r.Chain)%6)) + "000"}, r.Chain...)
			}
		}, record.CodeSize},
	} {
		t.Run(c.name, func(t *testing.T) {
			th := w.thread()
			th.ask(w.buyer)
			th.say(w.seller, intent.Quote, priced)
			th.accept(w.buyer)
			r := th.build(th.deal())
			c.edit(r)
			_, err := record.Seal(r, w.buyer.key, w.buyer.jku())
			var e *record.Error
			if c.code == "" && err != nil || c.code != "" && (!errors.As(err, &e) || e.Code != c.code) {
				t.Errorf("%v, want code %q", err, c.code)
			}
		})
	}
	r, err := record.Parse(w.twoSigned())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Seal(r, nil, w.buyer.jku()); err == nil {
		t.Error("sealed without a key")
	}
}

// CheckThread holds the chain against the messages themselves.
func TestThread(t *testing.T) {
	w := newWorld(t)
	th := w.thread()
	th.ask(w.buyer)
	first := th.say(w.seller, intent.Quote, priced).Message
	th.say(w.seller, intent.Quote, func(m *intent.Message) { priced(m); m.Replaces = first.ID })
	th.accept(w.buyer)
	data := w.seal(th.build(th.deal()), w.buyer)
	var messages []*intent.Parsed
	for _, held := range th.sent {
		messages = append(messages, held.Message)
	}
	for _, c := range []struct {
		name   string
		edit   func(map[string]any)
		thread []*intent.Parsed
		want   outcome
	}{
		{"all of them", nil, messages, outcome{Result: record.TwoSigned}},
		{"the mails of another thread besides", nil, append(w.other(), messages...), outcome{Result: record.TwoSigned}},
		{"one is missing", nil, messages[1:], outcome{record.DoesNotCheckOut, record.CodeChain, "mails"}},
		{"none", nil, []*intent.Parsed{}, outcome{record.DoesNotCheckOut, record.CodeChain, "mails"}},
		{"in another order", func(r map[string]any) {
			chain := r["chain"].([]any)
			chain[0], chain[1] = chain[1], chain[0]
		}, messages, outcome{record.DoesNotCheckOut, record.CodeChain, "mails"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := data
			if c.edit != nil {
				d = w.change(data, w.buyer, c.edit)
			}
			if diff := cmp.Diff(c.want, outcomeOf(record.CheckThread(t.Context(), d, w.keys(), c.thread))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An offer that a message of the chain replaces was not current, whatever the record says.
func TestThreadReplaces(t *testing.T) {
	w := newWorld(t)
	th := w.thread()
	th.ask(w.buyer)
	offer := *th.say(w.seller, intent.Quote, priced)
	counter := th.say(w.seller, intent.Quote, func(m *intent.Message) { priced(m); m.Replaces = offer.Message.ID })
	accept := th.say(w.buyer, intent.Accept, func(m *intent.Message) {
		m.Ref, m.InReplyTo, m.Prev = offer.Message.ID, offer.Message.ID, offer.Message.Hash
	})
	d := th.deal()
	d.Offer = offer
	data := w.seal(th.build(d), w.buyer)
	if diff := cmp.Diff(outcome{Result: record.TwoSigned}, outcomeOf(w.check(data))); diff != "" {
		t.Error(diff) // nobody can know without the mails
	}
	report := record.CheckThread(t.Context(), data, w.keys(), []*intent.Parsed{th.sent[0].Message, offer.Message, counter.Message, accept.Message})
	if diff := cmp.Diff(outcome{record.DoesNotCheckOut, record.CodeReplaced, "replaced"}, outcomeOf(report)); diff != "" {
		t.Error(diff)
	}
}

// other is the messages of another thread.
func (w *world) other() []*intent.Parsed {
	th := w.thread()
	return []*intent.Parsed{th.say(w.third, intent.ProposeTimes, func(m *intent.Message) { timed(m); m.Thread = uuid("other") }).Message}
}
