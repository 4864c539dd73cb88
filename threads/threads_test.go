package threads

import (
	"errors"
	"fmt"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	buyer  = "agent@buyer.test"
	seller = "agent@seller.test"
	third  = "agent@third.test"
)

// msg is an event that the tests vary: from buyer to seller, at second 100,
// valid until second 1000.
func msg(t intent.Type, id string, change ...func(*Event)) Event {
	e := Event{At: 100}
	e.Type, e.ID, e.Thread = t, id, "T"
	e.From.Address, e.To.Address = buyer, seller
	e.Iat, e.Exp = 100, 1000
	if t == intent.ProposeTimes {
		e.Slots = make([]intent.Slot, 2)
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func back(e *Event)                 { e.From, e.To = intent.Sender{Address: seller}, intent.Recipient{Address: buyer} }
func ref(id string) func(*Event)    { return func(e *Event) { e.Ref = id } }
func over(id string) func(*Event)   { return func(e *Event) { e.Replaces = id } }
func answer(id string) func(*Event) { return func(e *Event) { e.InReplyTo = id } }
func slot(n int) func(*Event)       { return func(e *Event) { e.Slot = &n } }
func at(n int64) func(*Event)       { return func(e *Event) { e.At = n } }
func iat(n int64) func(*Event)      { return func(e *Event) { e.Iat = n } }
func exp(n int64) func(*Event)      { return func(e *Event) { e.Exp = n } }
func between(from, to string) func(*Event) {
	return func(e *Event) { e.From.Address, e.To.Address = from, to }
}

// Stories that more than one case begins with.
var (
	asked  = []Event{msg(intent.AskQuote, "ask")}
	quoted = append(asked[:1:1], msg(intent.Quote, "q1", back, answer("ask")))
	agreed = append(quoted[:2:2], msg(intent.Accept, "acc", ref("q1")))
	times  = []Event{msg(intent.ProposeTimes, "t1")}
)

func TestTable(t *testing.T) {
	type state = map[string]State
	for _, c := range []struct {
		name  string
		past  []Event
		event Event
		want  state // nil: refused
	}{
		{"ask starts", nil, msg(intent.AskQuote, "a"), state{"a": Open}},
		{"ask to oneself", nil, msg(intent.AskQuote, "a", between(buyer, buyer)), nil},
		{"second ask of the same side", asked, msg(intent.AskQuote, "a2"), nil},
		{"ask of the other side", asked, msg(intent.AskQuote, "a2", back), state{"ask": Open, "a2": Open}},
		{"ask after the first was answered", quoted, msg(intent.AskQuote, "a2"), state{"ask": Answered, "a2": Open}},
		{"ask after the first expired", asked, msg(intent.AskQuote, "a2", at(1001), exp(2000)), state{"ask": Expired, "a2": Open}},
		{"ask with a taken id", asked, msg(intent.AskQuote, "ask", back), nil},

		{"quote answers", asked, msg(intent.Quote, "q1", back, answer("ask")), state{"ask": Answered, "q1": Open}},
		{"quote answers without naming", asked, msg(intent.Quote, "q1", back), state{"ask": Answered, "q1": Open}},
		{"quote for one's own ask", asked, msg(intent.Quote, "q1", answer("ask")), nil},
		{"quote starts", nil, msg(intent.Quote, "q1"), nil},
		{"quote for an answered ask", quoted, msg(intent.Quote, "q2", back, answer("ask")), nil},
		{"quote for an expired ask", asked, msg(intent.Quote, "q1", back, answer("ask"), at(1001)), nil},
		{"counter of the other side", quoted, msg(intent.Quote, "q2", over("q1")), state{"q1": Replaced, "q2": Open}},
		{"counter of one's own", quoted, msg(intent.Quote, "q2", back, over("q1")), state{"q1": Replaced, "q2": Open}},
		{"counter that names the answered ask", quoted, msg(intent.Quote, "q2", back, over("q1"), answer("ask")), state{"ask": Answered, "q2": Open}},
		{"counter and answer", append(quoted[:2:2], msg(intent.AskQuote, "a2")), msg(intent.Quote, "q2", back, over("q1"), answer("a2")), state{"a2": Answered, "q1": Replaced, "q2": Open}},
		{"counter leaves an ask it does not name", append(quoted[:2:2], msg(intent.AskQuote, "a2")), msg(intent.Quote, "q2", back, over("q1")), state{"a2": Open, "q2": Open}},
		{"counter of a replaced offer", append(quoted[:2:2], msg(intent.Quote, "q2", over("q1"))), msg(intent.Quote, "q3", back, over("q1")), nil},
		{"counter of an ask", asked, msg(intent.Quote, "q1", back, over("ask")), nil},
		{"counter of an agreement", agreed, msg(intent.Quote, "q2", back, over("q1")), nil},
		{"counter by times", quoted, msg(intent.ProposeTimes, "t1", over("q1")), state{"q1": Replaced, "t1": Open}},

		{"times start", nil, msg(intent.ProposeTimes, "t1"), state{"t1": Open}},
		{"times in a thread that has begun", quoted, msg(intent.ProposeTimes, "t1", back), nil},
		{"times counter", times, msg(intent.ProposeTimes, "t2", back, over("t1")), state{"t1": Replaced, "t2": Open}},
		{"times countered by a quote", times, msg(intent.Quote, "q1", back, over("t1")), state{"t1": Replaced, "q1": Open}},

		{"accept", quoted, msg(intent.Accept, "acc", ref("q1")), state{"q1": Agreed}},
		{"accept by the offerer", quoted, msg(intent.Accept, "acc", back, ref("q1")), nil},
		{"accept of an ask", asked, msg(intent.Accept, "acc", back, ref("ask")), nil},
		{"accept of nothing", quoted, msg(intent.Accept, "acc", ref("x")), nil},
		{"accept twice", agreed, msg(intent.Accept, "acc2", ref("q1")), nil},
		{"accept at the last second", quoted, msg(intent.Accept, "acc", ref("q1"), at(1000), iat(1000)), state{"q1": Agreed}},
		{"accept arrives late", quoted, msg(intent.Accept, "acc", ref("q1"), at(1001)), nil},
		{"accept signed late", quoted, msg(intent.Accept, "acc", ref("q1"), iat(1001)), nil},
		{"accept of a quote with a slot", quoted, msg(intent.Accept, "acc", ref("q1"), slot(0)), nil},
		{"accept of times", times, msg(intent.Accept, "acc", back, ref("t1"), slot(1)), state{"t1": Agreed}},
		{"accept of times without a slot", times, msg(intent.Accept, "acc", back, ref("t1")), nil},
		{"accept of a slot too high", times, msg(intent.Accept, "acc", back, ref("t1"), slot(2)), nil},
		{"accept of a slot below", times, msg(intent.Accept, "acc", back, ref("t1"), slot(-1)), nil},

		{"decline of an offer", quoted, msg(intent.Decline, "d", ref("q1")), state{"q1": Declined}},
		{"decline of an ask", asked, msg(intent.Decline, "d", back, ref("ask")), state{"ask": Declined}},
		{"decline by the offerer", quoted, msg(intent.Decline, "d", back, ref("q1")), nil},
		{"decline of an answered ask", quoted, msg(intent.Decline, "d", back, ref("ask")), nil},
		{"decline of an agreement", agreed, msg(intent.Decline, "d", ref("q1")), nil},
		{"decline of nothing", quoted, msg(intent.Decline, "d", ref("x")), nil},

		{"cancel of one's own offer", quoted, msg(intent.Cancel, "c", back, ref("q1")), state{"q1": Cancelled}},
		{"cancel of one's own ask", asked, msg(intent.Cancel, "c", ref("ask")), state{"ask": Cancelled}},
		{"cancel of the other's offer", quoted, msg(intent.Cancel, "c", ref("q1")), nil},
		{"cancel of an agreement by the offerer", agreed, msg(intent.Cancel, "c", back, ref("q1")), state{"q1": Cancelled}},
		{"cancel of an agreement by the accepter", agreed, msg(intent.Cancel, "c", ref("q1")), state{"q1": Cancelled}},
		{"cancel twice", append(agreed[:3:3], msg(intent.Cancel, "c", ref("q1"))), msg(intent.Cancel, "c2", ref("q1")), nil},
		{"cancel of an expired offer", quoted, msg(intent.Cancel, "c", back, ref("q1"), at(1001)), nil},
		{"cancel of nothing", quoted, msg(intent.Cancel, "c", ref("x")), nil},

		{"a third address writes", quoted, msg(intent.Accept, "acc", between(third, seller), ref("q1")), nil},
		{"a third address is written to", quoted, msg(intent.Accept, "acc", between(buyer, third), ref("q1")), nil},
		{"another thread", quoted, msg(intent.Accept, "acc", ref("q1"), func(e *Event) { e.Thread = "U" }), nil},
		{"no type", asked, msg("order", "o"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			thread := tell(t, c.past)
			next, effects, err := Apply(thread, c.event)
			if c.want == nil {
				if !errors.Is(err, ErrState) {
					t.Fatalf("not refused: %v %v", effects, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for id, want := range c.want {
				if got, _ := next.Find(id); got.State != want {
					t.Errorf("%s is %s, want %s", id, got.State, want)
				}
			}
		})
	}
}

func tell(t *testing.T, events []Event) Thread {
	t.Helper()
	var thread Thread
	for _, e := range events {
		var err error
		if thread, _, err = Apply(thread, e); err != nil {
			t.Fatalf("%s: %v", e.ID, err)
		}
	}
	return thread
}

func TestErrorsTellMore(t *testing.T) {
	late := tell(t, append(quoted[:2:2], msg(intent.Quote, "q2", over("q1"))))
	_, _, err := Apply(late, msg(intent.Accept, "acc", ref("q1")))
	closed := new(ClosedError)
	if !errors.As(err, &closed) || closed.Entry != "q1" || closed.State != Replaced {
		t.Errorf("accept of a replaced offer: %v", err)
	}
	_, _, err = Apply(late, msg(intent.Quote, "q3", over("unseen")))
	unknown := new(UnknownError)
	if !errors.As(err, &unknown) || unknown.Entry != "unseen" {
		t.Errorf("counter of an unknown offer: %v", err)
	}
}

// A cancel may name the record of an agreement (D45); the id of a record that
// is taken keeps its first meaning.
func TestCancelByRecord(t *testing.T) {
	record := func(e *Event) { e.Records = []string{"r"} }
	thread := tell(t, append(quoted[:2:2], msg(intent.Accept, "acc", ref("q1"), record)))
	thread = tellMore(t, thread, msg(intent.AskQuote, "a2"), msg(intent.Quote, "q2", back, answer("a2")), msg(intent.Accept, "acc2", ref("q2"), record))
	next, _, err := Apply(thread, msg(intent.Cancel, "c", back, ref("r")))
	if err != nil {
		t.Fatal(err)
	}
	if q1, _ := next.Find("q1"); q1.State != Cancelled {
		t.Errorf("q1 is %s", q1.State)
	}
}

// A reply in words can only be counted for a quote that is open when it is.
func TestCount(t *testing.T) {
	for name, c := range map[string]struct {
		past  []Event
		quote string
		at    int64
		want  State // "" for a refusal
	}{
		"an open quote":        {quoted, "q1", 1000, Agreed},
		"an expired one":       {quoted, "q1", 1001, ""},
		"one that is agreed":   {agreed, "q1", 200, ""},
		"an ask":               {asked, "ask", 200, ""},
		"times (D51)":          {times, "t1", 200, ""},
		"an unknown one":       {quoted, "q2", 200, ""},
		"in an unbegun thread": {nil, "q1", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			next, effects, err := Count(tell(t, c.past), c.quote, "reply", "record", c.at)
			if (c.want == "") != errors.Is(err, ErrState) {
				t.Fatalf("%v, %v", effects, err)
			}
			if c.want == "" {
				return
			}
			if e, _ := next.Find(c.quote); e.State != c.want || e.Accept != "reply" || next.Records["record"] != c.quote || !cmp.Equal(effects, []Effect{{c.quote, c.want}}) {
				t.Errorf("%+v %v %v", e, next.Records, effects)
			}
		})
	}
}

func tellMore(t *testing.T, thread Thread, events ...Event) Thread {
	t.Helper()
	for _, e := range events {
		var err error
		if thread, _, err = Apply(thread, e); err != nil {
			t.Fatalf("%s: %v", e.ID, err)
		}
	}
	return thread
}

func TestTickAndDue(t *testing.T) {
	thread := tell(t, asked)
	if due := thread.Due(); due != 1001 {
		t.Errorf("due at %d", due)
	}
	if same, effects := Tick(thread, 1000); effects != nil || !cmp.Equal(same, thread) {
		t.Errorf("expired at exp itself: %v", effects)
	}
	next, effects := Tick(thread, 1001)
	if want := []Effect{{"ask", Expired}}; !cmp.Equal(effects, want) {
		t.Errorf("effects %v", effects)
	}
	if next.Due() != 0 || thread.Entries[0].State != Open {
		t.Errorf("due %d, the thread given is %v", next.Due(), thread)
	}
}

// No sequence of events, in any order and with any duplicates, gives two
// agreed offers in one chain of counters, reopens what is closed, or leaves
// the table of states.
func TestProperties(t *testing.T) {
	reach := map[State][]State{
		Open:   {Open, Answered, Agreed, Declined, Cancelled, Expired, Replaced},
		Agreed: {Agreed, Cancelled},
	}
	rapid.Check(t, func(t *rapid.T) {
		var thread Thread
		var now int64 = 100
		for i := range rapid.IntRange(1, 60).Draw(t, "events") {
			now += rapid.Int64Range(0, 40).Draw(t, "wait")
			e := randomEvent(t, thread, i, now)
			before := thread.clone()
			next, effects, err := Apply(thread, e)
			if rapid.IntRange(0, 9).Draw(t, "counted") == 0 {
				next, effects, err = Count(thread, e.Ref, e.ID, "r", now)
			}
			if !cmp.Equal(before, thread) {
				t.Fatal("the thread given was changed")
			}
			if err != nil && !errors.Is(err, ErrState) {
				t.Fatalf("an error of another kind: %v", err)
			}
			for _, old := range before.Entries {
				now, _ := next.Find(old.ID)
				if !allowed(reach, old.State, now.State) {
					t.Fatalf("%s went from %s to %s", old.ID, old.State, now.State)
				}
			}
			for _, effect := range effects {
				if entry, _ := next.Find(effect.Entry); entry.State != effect.State {
					t.Fatalf("effect %v, but the entry is %s", effect, entry.State)
				}
			}
			thread = next
			oneAgreedAChain(t, thread)
		}
	})
}

func allowed(reach map[State][]State, from, to State) bool {
	if from == to {
		return true
	}
	for _, s := range reach[from] {
		if s == to {
			return true
		}
	}
	return false
}

func randomEvent(t *rapid.T, thread Thread, i int, now int64) Event {
	ids := []string{"none"}
	for _, e := range thread.Entries {
		ids = append(ids, e.ID)
	}
	id := rapid.SampledFrom(ids)
	maybe := rapid.SampledFrom(append([]string{""}, ids...))
	types := []intent.Type{intent.AskQuote, intent.Quote, intent.ProposeTimes, intent.Accept, intent.Decline, intent.Cancel}
	e := msg(rapid.SampledFrom(types).Draw(t, "type"), fmt.Sprint("m", i), at(now), iat(now), exp(now+rapid.Int64Range(1, 300).Draw(t, "valid")))
	if rapid.Bool().Draw(t, "back") {
		back(&e)
	}
	if rapid.IntRange(0, 9).Draw(t, "stranger") == 0 {
		e.From.Address = third
	}
	if rapid.IntRange(0, 9).Draw(t, "again") == 0 {
		e.ID = id.Draw(t, "id")
	}
	e.Ref, e.InReplyTo = id.Draw(t, "ref"), maybe.Draw(t, "answers")
	if e.Type.Offers() {
		e.Replaces = maybe.Draw(t, "replaces")
	}
	if rapid.Bool().Draw(t, "slotted") {
		slot(rapid.IntRange(-1, 2).Draw(t, "slot"))(&e)
	}
	return e
}

// oneAgreedAChain follows replaces back from every agreed or once agreed
// offer; none before it may have been agreed.
func oneAgreedAChain(t *rapid.T, thread Thread) {
	for _, e := range thread.Entries {
		if e.Accept == "" {
			continue
		}
		for id := e.Replaces; id != ""; {
			before, ok := thread.Find(id)
			if !ok {
				break
			}
			if before.Accept != "" || before.State != Replaced {
				t.Fatalf("%s is agreed, and so was %s (%s), which it replaces", e.ID, id, before.State)
			}
			id = before.Replaces
		}
	}
}
