package inbox

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// refusal is one action that cannot be done, and the words for it.
type refusal struct {
	action Action
	want   string
}

// refused has an inbox do each, which must change nothing.
func (s *scene) refused(in *Inbox, cases map[string]refusal) {
	s.t.Helper()
	for name, c := range cases {
		done, err := in.Do(c.action)
		if !errors.Is(err, ErrAction) || !strings.HasPrefix(err.Error(), "action cannot be done: "+c.want) || strings.Contains(err.Error(), "\n") {
			s.t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	if letters := outbox(s.t, in); len(letters) != 0 {
		s.t.Errorf("an action that failed left a letter: %v", letters)
	}
}

func TestActionsThatCannotBeDone(t *testing.T) {
	s := newScene(t)
	ask, quote := s.quoted()
	s.refused(s.buyer, map[string]refusal{
		"no type":                     {Action{}, `type: "" is none of ask_quote, quote,`},
		"unknown type":                {Action{Type: "order", To: sellerAddress}, `type: "order" is none of`},
		"nobody to ask":               {Action{Type: intent.AskQuote, Items: askAction().Items}, "to: "},
		"oneself":                     {Action{Type: intent.AskQuote, To: buyerAddress, Items: askAction().Items}, "to: that is this inbox itself"},
		"no address":                  {Action{Type: intent.AskQuote, To: "seller", Items: askAction().Items}, "to: "},
		"no items":                    {Action{Type: intent.AskQuote, To: sellerAddress}, "message breaks a rule of the profile: items: is missing"},
		"unknown thread":              {Action{Type: intent.Quote, Thread: "x"}, `thread "x" is not known here`},
		"quote to nobody":             {quoteAction("", "", 1), "quote needs the id"},
		"unknown offer":               {Action{Type: intent.Accept, Ref: "x"}, `message "x" is not known here`},
		"no offer":                    {Action{Type: intent.Accept}, "accept needs the id"},
		"accept of one's own ask":     {Action{Type: intent.Accept, Ref: ask.ID}, "the thread's state does not allow it: "},
		"cancel of the other's offer": {Action{Type: intent.Cancel, Ref: quote.ID}, "the thread's state does not allow it: "},
		"a slot for a quote":          {Action{Type: intent.Accept, Ref: quote.ID, Slot: new(int)}, "the thread's state does not allow it: slot"},
		"no such reason":              {Action{Type: intent.Decline, Ref: quote.ID, Reason: "rude"}, "message breaks a rule of the profile: reason: must be one of price, timing,"},
		"a control character":         {Action{Type: intent.Decline, Ref: quote.ID, Note: "\x1b[2J"}, "message breaks a rule of the profile: note: must be without control characters"},
		"no UTF-8":                    {Action{Type: intent.Decline, Ref: quote.ID, Note: "\xff"}, ""},
		"an answered event":           {Action{Type: intent.Decline, Ref: quote.ID, Event: "0000000000000001"}, "event 0000000000000001 is not pending"},
	})
	if got := s.state(s.buyer, ask.Thread, quote.ID); got != "open" {
		t.Errorf("an action that failed left the offer %s", got)
	}
}

// TestForeignMembers sets each member in an action of each type: those that
// the schema of the documentation does not have are refused by name, and no
// other.
func TestForeignMembers(t *testing.T) {
	var schema struct {
		OneOf []struct {
			Title      intent.Type               `json:"title"`
			Properties map[string]jsontext.Value `json:"properties"`
		} `json:"oneOf"`
	}
	data, err := os.ReadFile("../docs/handler-action.schema.json")
	if err := errors.Join(err, json.Unmarshal(data, &schema)); err != nil {
		t.Fatal(err)
	}
	price := &intent.Money{Amount: "1", Currency: "EUR"}
	full := Action{
		To: "x", Thread: "x", Ref: "x", Items: []intent.Item{{}}, WantedBy: "x", Total: price, DeliveryBy: "x", Replaces: "x",
		Slots: []intent.Slot{{}}, Purpose: "x", Location: "x", Slot: new(int), Reason: "x", Note: "x", ValidSeconds: 1, Event: "x",
	}
	text, err := json.Marshal(full)
	var all map[string]jsontext.Value
	if err := errors.Join(err, json.Unmarshal(text, &all)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range schema.OneOf {
		var want []string
		for name := range all {
			if _, ok := kind.Properties[name]; !ok {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		full.Type = kind.Title
		err := full.checkMembers()
		if !errors.Is(err, ErrAction) || !strings.HasSuffix(err.Error(), ": "+strings.Join(want, ", ")+": leave it out, no "+string(kind.Title)+" has it") {
			t.Errorf("%s: %v", kind.Title, err)
		}
	}
	a := askAction()
	a.Items = []intent.Item{{Description: "Mug", Quantity: 1}, {Description: "Mug", Quantity: 1, UnitPrice: price}}
	if err := a.checkMembers(); err == nil || !strings.Contains(err.Error(), ": items[1].unit_price: leave it out") {
		t.Errorf("a price in an ask: %v", err)
	}
}

// TestAddressees names a negotiation in two ways: one that is the same is
// taken, two are refused (D70).
func TestAddressees(t *testing.T) {
	s := newScene(t)
	ask, quote := s.quoted()
	other, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	counter := quoteAction(other.Thread, quote.ID, 1)
	again := askAction()
	again.Thread, again.To = ask.Thread, "agent@other.test"
	times := timesAction()
	times.Replaces, times.To = quote.ID, "agent@other.test"
	broken := times
	broken.To = "other"
	s.refused(s.buyer, map[string]refusal{
		"thread beside replaces": {counter, "thread: " + quote.ID + " is in thread " + ask.Thread + " and not in"},
		"to beside thread":       {again, "to: thread " + ask.Thread + " is with " + sellerAddress + " and not with agent@other.test"},
		"to beside replaces":     {times, "to: thread " + ask.Thread + " is with"},
		"to that is no address":  {broken, "to: "},
	})
	counter.Thread = ask.Thread
	if _, err := s.buyer.Do(counter); err != nil {
		t.Errorf("the thread of the offer that is countered: %v", err)
	}
	again.To = "agent@SELLER.test"
	if _, err := s.buyer.Do(again); err != nil {
		t.Errorf("the other side of the thread: %v", err)
	}
}

// TestOtherThreadsEvent quotes in one thread for an event of another, as one
// who resells does: it answers the ask of its own thread.
func TestOtherThreadsEvent(t *testing.T) {
	s := newScene(t, func(set *Settings) { set.Handled = true })
	ask, quote := s.quoted()
	other, raw := s.do(s.seller, Action{Type: intent.AskQuote, To: buyerAddress, Items: askAction().Items})
	s.expect(s.buyer, raw, "accepted signed")
	e, _, _, err := s.buyer.Pending()
	if err != nil || e == nil || e.ID != quote.ID {
		t.Fatalf("the event of the quote in %s: %+v, %v", ask.Thread, e, err)
	}
	a := quoteAction(other.Thread, "", 1)
	a.Event = e.Seq
	_, raw = s.do(s.buyer, a)
	s.expect(s.seller, raw, "accepted signed")
}

// TestValidity goes over both bounds of how long an action is valid (D71).
func TestValidity(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	cases := map[string]refusal{}
	for name, seconds := range map[string]int64{"negative": -1, "over 366 days": 366*24*60*60 + 1, "one that wraps": math.MaxInt64} {
		cases[name] = refusal{Action{Type: intent.Decline, Ref: quote.ID, ValidSeconds: seconds}, "valid_seconds: must be from 1 to 31622400 (366 days), is "}
	}
	s.refused(s.buyer, cases)
	for want, seconds := range map[time.Duration]int64{7 * 24 * time.Hour: 0, time.Second: 1, MaxValid: 31622400} {
		a := askAction()
		a.ValidSeconds = seconds
		done, _ := s.do(s.buyer, a)
		thread, err := s.buyer.Thread(done.Thread)
		if err != nil || thread.Entries[0].Exp != s.now.Add(want).Unix() {
			t.Errorf("%d: expires at %d, %v", seconds, thread.Entries[0].Exp, err)
		}
	}
}

// TestPast refuses what has passed, and takes what has not everywhere (D69).
// It is nine o'clock of November 2nd, 2026, UTC, and the evening of November 1st
// at UTC-12.
func TestPast(t *testing.T) {
	s := newScene(t)
	ask, _ := s.quoted()
	wanted, times, quote := askAction(), timesAction(), quoteAction(ask.Thread, "", 1)
	wanted.WantedBy, quote.DeliveryBy = "2026-10-31", "1999-12-31"
	times.Slots[1].Start = "2026-11-02T10:00:00+01:00"
	s.refused(s.buyer, map[string]refusal{
		"a wanted day":    {wanted, "wanted_by: 2026-10-31 has passed: "},
		"a slot that is":  {times, "slots[1].start: 2026-11-02T10:00:00+01:00 has passed: "},
		"a delivery day":  {quote, "delivery_by: 1999-12-31 has passed: "},
		"no day at all":   {Action{Type: intent.AskQuote, To: sellerAddress, Items: askAction().Items, WantedBy: "2026-02-30"}, "message breaks a rule of the profile: wanted_by: must be a day of the calendar"},
		"no time of ours": {Action{Type: intent.ProposeTimes, To: sellerAddress, Slots: []intent.Slot{{Start: "now"}}}, "message breaks a rule of the profile: slots[0].end: must be a time with its offset"},
	})
	wanted.WantedBy = "2026-11-01"
	s.do(s.buyer, wanted)
	times.Slots[1].Start = "2026-11-02T10:00:01+01:00"
	s.do(s.buyer, times)
}
