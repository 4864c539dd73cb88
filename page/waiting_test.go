package page

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
)

// decision is one thing that waits at the seller, and what may be decided of it.
type decision struct {
	name  string
	wait  func(s *scene)
	kind  string
	says  []string
	do    map[string]string // to the sum that is asked about; "" where none is
	other string            // what cannot be decided of it
}

var decisions = []decision{
	{
		"an ask without a signature", func(s *scene) { s.held() }, "message",
		[]string{"A message is held", "Why: not signed", "Ceramic mug", "Mail DKIM passed for buyer.test", "Reason"},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"an accept without a signature", func(s *scene) {
			_, quote := s.quoted()
			s.unsigned(inbox.Action{Type: intent.Accept, Ref: quote.ID})
		}, "message",
		[]string{"A message is held", "Acceptance", "What would be agreed", "Total 550.00 EUR"},
		map[string]string{"approve": "550.00 EUR, with agent@buyer.test", "refuse": ""},
		"admit",
	},
	{
		"an action beyond the limits", func(s *scene) {
			ask := s.do(s.Buyer, askAction(""))
			propose(s, quoteAction(ask.Thread, "55000", "275"))
		}, "action",
		[]string{"Your agent wants to do this", "Send a quote", "Total 550.00 EUR", "the agent decides nothing alone", "To agent@buyer.test", "The whole thread"},
		map[string]string{"approve": "550.00 EUR", "refuse": ""},
		"count",
	},
	{
		"an accept beyond the limits", func(s *scene) {
			ask := s.do(s.Buyer, askAction(""))
			quote := s.do(s.Seller, quoteAction(ask.Thread, "55000", "275"))
			counter := quoteAction("", "50000", "250")
			counter.Replaces = quote.ID
			propose(s, inbox.Action{Type: intent.Accept, Ref: s.do(s.Buyer, counter).ID})
		}, "action",
		[]string{"Accept an offer", "What would be agreed", "Total 500.00 EUR"},
		map[string]string{"approve": "500.00 EUR, with agent@buyer.test", "refuse": ""},
		"block",
	},
	{
		"times beyond the limits", func(s *scene) {
			propose(s, inbox.Action{Type: intent.ProposeTimes, To: buyerAddress, Purpose: "Visit", Slots: []intent.Slot{
				{Start: "2026-11-12T10:00:00+01:00", End: "2026-11-12T10:30:00+01:00", TimeZone: "Africa/Lagos"},
			}})
		}, "action",
		[]string{"Propose times", "Purpose Visit", "To agent@buyer.test"},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"a request beyond the limits", func(s *scene) {
			propose(s, inbox.Action{Type: inbox.ActRequest, To: buyerAddress, Agent: s.Buyer.AgentID(), Offering: "chat", Text: "Shall we?"})
		}, "action",
		[]string{"Send a request", "Offering chat", "Shall we?"},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"an event that the handler failed on", func(s *scene) {
			s.do(s.Buyer, askAction(""))
			event, _, _, err := s.Seller.Pending()
			check(s.t, err)
			check(s.t, s.Seller.HandlerFailed(event.Seq, "no price list"))
		}, "event",
		[]string{"The handler failed", "no price list", "Request for a quote"},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"an ask that nobody answers", func(s *scene) {
			s.do(s.Buyer, askAction(""))
			event, _, _, err := s.Seller.Pending()
			check(s.t, err)
			check(s.t, s.Seller.LeaveToOwner(event, "an item is not on the list"))
		}, "left",
		[]string{"Nobody answers this but you", "an item is not on the list", "agentmaild quote", "Request for a quote", "The whole thread"},
		map[string]string{"refuse": ""},
		"approve",
	},
	{
		"a request that the handler failed on", func(s *scene) {
			check(s.t, s.Seller.Decide(s.Buyer.AgentID(), agentmsg.StanceAllow, ""))
			s.do(s.Buyer, s.request("chat", "Good morning."))
			event, _, _, err := s.Seller.Pending()
			check(s.t, err)
			check(s.t, s.Seller.HandlerFailed(event.Seq, "no words"))
		}, "event",
		[]string{"The handler failed", "Request chat", "Good morning."},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"a letter that was refused", func(s *scene) {
			s.asked()
			s.drain(s.Seller, func([]byte) error { return refusedError{} })
		}, "letter",
		[]string{"A mail was not sent", "550 no such user"},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"an event that a webhook was not told of", func(s *scene) {
			got := func() *inbox.Event {
				e, _, _, err := s.Seller.NextForHook("hook")
				check(s.t, err)
				return e
			}
			got() // it begins here
			s.asked()
			s.Now = s.Now.Add(25 * time.Hour)
			check(s.t, s.Seller.HookFailed("hook", got(), inbox.HookFailure{Where: "shop.test", Reason: "it answered with the status 500"}))
		}, "webhook",
		[]string{"A webhook was not told", "the webhook at shop.test was not told", "it answered with the status 500"},
		map[string]string{"approve": "", "refuse": ""},
		"count",
	},
	{
		"a mail that came back", func(s *scene) {
			ask := s.asked()
			s.drain(s.Seller, func([]byte) error { return nil })
			s.mail("From: MAILER-DAEMON@mx.test\r\nTo: agent@seller.test\r\nSubject: Delivery\r\nMIME-Version: 1.0\r\n" +
				"Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n" +
				"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.test\r\n\r\nFinal-Recipient: rfc822; agent@buyer.test\r\nAction: failed\r\nStatus: 5.1.1\r\n" +
				"\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <" + ask + "@seller.test>\r\n\r\n--b--\r\n")
		}, "bounce",
		[]string{"A mail came back", "5.1.1", "Clay, 50 kg"},
		map[string]string{"refuse": ""},
		"approve",
	},
	{
		"a record that is none", func(s *scene) {
			_, quote := s.quoted()
			got[inbox.Done](s.t)(s.Buyer.Do(inbox.Action{Type: intent.Accept, Ref: quote.ID}))
			s.drain(s.Buyer, func(raw []byte) error {
				head, rest, _ := strings.Cut(string(raw), "filename=\"agreement.json\"")
				_, end, _ := strings.Cut(rest, "\r\n--=")
				_, head, _ = strings.Cut(head, "\r\nFrom: ") // without its DKIM-Signature
				s.Deliver(s.Seller, s.Sign(s.Buyer, []byte("From: "+head+"filename=\"agreement.json\"\r\n\r\n{}\r\n--="+end)))
				return nil
			})
		}, "record",
		[]string{"A record is in doubt", "does not check out"},
		map[string]string{"refuse": ""},
		"approve",
	},
	{
		"a reply in words", func(s *scene) { _, quote := s.quoted(); s.replied(quote) }, "reply",
		[]string{"A person answered a quote", "Yes, we take it.", "What would be agreed", "the mail is proven to be from them"},
		map[string]string{"count": "550.00 EUR, with agent@buyer.test", "refuse": ""},
		"approve",
	},
	{
		"an agent at the door", func(s *scene) { s.do(s.Buyer, s.request("chat", "Good morning.")) }, "agent",
		[]string{"An agent is not admitted", "Request chat", "Good morning."},
		map[string]string{"approve": "", "refuse": "", "admit": "", "block": ""},
		"count",
	},
	{
		"a knock", func(s *scene) { s.do(s.Buyer, s.request("knock", "We buy mugs.")) }, "knock",
		[]string{"An agent asks to be admitted", "Gives as its address agent@buyer.test", "We buy mugs."},
		map[string]string{"approve": "", "refuse": "", "block": ""},
		"admit",
	},
	{
		"a mail for the owner", func(s *scene) {
			s.mail("From: ada@elsewhere.test\r\nTo: agent@seller.test\r\nSubject: Lagos?\r\n\r\nDo you?\r\n")
		}, "mail",
		[]string{"A mail is for your eyes", "ada@elsewhere.test", "Lagos?"},
		map[string]string{"refuse": ""},
		"approve",
	},
}

func propose(s *scene, a inbox.Action) {
	s.t.Helper()
	if done := got[inbox.Done](s.t)(s.Seller.Propose(a)); done.Waiting == "" {
		s.t.Fatalf("the owner is not asked: %+v", done)
	}
}

// asked has the seller ask, and returns the id.
func (s *scene) asked() string {
	s.t.Helper()
	return got[inbox.Done](s.t)(s.Seller.Do(inbox.Action{Type: intent.AskQuote, To: buyerAddress, Items: []intent.Item{{Description: "Clay, 50 kg", Quantity: 12}}})).ID
}

// only is the one thing that waits at the seller.
func (s *scene) only(kind string) inbox.Waiting {
	s.t.Helper()
	list := got[[]inbox.Waiting](s.t)(s.Seller.Waiting())
	if len(list) != 1 || list[0].Kind != kind {
		s.t.Fatalf("there waits %+v, and not one %s", list, kind)
	}
	return list[0]
}

// decided is the form of a decision, as a page has it.
func (s *scene) decided(w inbox.Waiting, do string) url.Values {
	s.t.Helper()
	return url.Values{"key": {w.Key}, "seen": {got[string](s.t)(seen(w))}, "do": {do}}
}

// TestDecide takes every decision about every kind of thing that waits. What
// binds to a sum is asked about again, with the sum.
func TestDecide(t *testing.T) {
	const path = "/inboxes/seller/waiting/decide"
	for _, d := range decisions {
		for do, sum := range d.do {
			t.Run(d.name+", "+do, func(t *testing.T) {
				s := newScene(t)
				d.wait(s)
				w := s.only(d.kind)
				b := s.signedIn()
				page := read(t, b.get("/inboxes/seller/waiting"))
				page.says(d.says...)
				if buttons := offered(page); len(buttons) != len(d.do) || !buttons[do] {
					t.Errorf("the buttons are %v", buttons)
				}
				form := s.decided(w, d.other)
				if answer := b.post(path, form); answer.Code != http.StatusBadRequest {
					t.Errorf("%s is answered with %d", d.other, answer.Code)
				}
				form.Set("do", do)
				form.Set("reason", "too dear")
				answer := b.post(path, form)
				if sum != "" {
					read(t, answer).says("commits you to:", sum)
					s.only(d.kind) // nothing was done yet
					form.Set("confirm", "yes")
					answer = b.post(path, form)
				}
				if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/inboxes/seller/waiting?done="+do {
					t.Fatalf("%d to %q: %s", answer.Code, answer.Header().Get("Location"), answer.Body)
				}
				if list := got[[]inbox.Waiting](t)(s.Seller.Waiting()); len(list) != 0 {
					t.Errorf("it waits still: %+v", list)
				}
				read(t, b.get(answer.Header().Get("Location"))).says(done[do], "Nothing waits for you.")
				if again := b.post(path, form); again.Code != http.StatusNotFound {
					t.Errorf("a second decision is answered with %d", again.Code)
				}
				if line := "decision=" + do + " token=owner"; !strings.Contains(s.log.String(), line) {
					t.Errorf("%q is not in the log: %s", line, s.log.String())
				}
			})
		}
	}
}

// offered are the decisions that a page has buttons for.
func offered(page *document) map[string]bool {
	buttons := map[string]bool{}
	for _, n := range page.all("button") {
		if attr(n, "name") == "do" {
			buttons[attr(n, "value")] = true
		}
	}
	return buttons
}

// TestEveryKind has a case for each kind that there is.
func TestEveryKind(t *testing.T) {
	left := map[string]bool{}
	for kind := range kinds {
		left[kind] = true
	}
	for _, d := range decisions {
		delete(left, d.kind)
	}
	if len(left) > 0 {
		t.Errorf("no case has %v", left)
	}
	for _, kind := range waitingKinds(t) {
		if _, known := kinds[kind]; !known {
			t.Errorf("the page has no word and no button for %q", kind)
		}
	}
	if choices := choicesFor(inbox.Waiting{Kind: "new", Agent: ""}); len(choices) != 0 || kindOf(inbox.Waiting{Kind: "new"}).title != "Something waits: new" {
		t.Errorf("a kind that is not known can be decided: %v", choices)
	}
}

// waitingKinds are all kinds that package inbox gives to what waits.
func waitingKinds(t *testing.T) []string {
	files := got[[]string](t)(filepath.Glob("../inbox/*.go"))
	form := regexp.MustCompile(`\bWaiting\{[^{}]*?Kind: "([a-z]+)"`)
	var found []string
	for _, file := range files {
		for _, m := range form.FindAllStringSubmatch(string(got[[]byte](t)(os.ReadFile(file))), -1) {
			found = append(found, m[1])
		}
	}
	if len(found) < len(kinds) {
		t.Errorf("package inbox gives only %v", found)
	}
	return found
}

// TestOvertaken decides what cannot be done any more.
func TestOvertaken(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	s.unsigned(inbox.Action{Type: intent.Accept, Ref: quote.ID})
	b := s.signedIn()
	s.do(s.Seller, inbox.Action{Type: intent.Cancel, Ref: quote.ID})
	form := s.decided(s.only("message"), "approve")
	form.Set("confirm", "yes")
	w := b.post("/inboxes/seller/waiting/decide", form)
	if w.Code != http.StatusConflict {
		t.Errorf("status %d", w.Code)
	}
	read(t, w).says("Not possible " + quote.ID + " is cancelled")
}

// TestChanged presses a button about something that has come under the same key
// since: nothing is done, and what is there now is shown.
func TestChanged(t *testing.T) {
	s := newScene(t)
	s.do(s.Buyer, s.request("knock", "We buy mugs."))
	old := s.only("knock")
	check(t, s.Seller.Refuse(old.Key, ""))
	s.Now = s.Now.Add(25 * time.Hour) // it may knock again
	s.do(s.Buyer, s.request("knock", "We sell mugs."))
	if now := s.only("knock"); now.Key != old.Key {
		t.Fatalf("the key %q is not used again: %q", old.Key, now.Key)
	}
	b := s.signedIn()
	form := s.decided(old, "approve")
	w := b.post("/inboxes/seller/waiting/decide", form)
	page := read(t, w)
	page.says("Nothing was done", "We sell mugs.")
	if buttons := offered(page); w.Code != http.StatusConflict || !buttons["approve"] {
		t.Errorf("%d with %v", w.Code, buttons)
	}
	s.only("knock")
	for _, n := range page.all("input") {
		if attr(n, "name") == "seen" {
			form.Set("seen", attr(n, "value"))
		}
	}
	if w := b.post("/inboxes/seller/waiting/decide", form); w.Code != http.StatusSeeOther {
		t.Errorf("what was looked at again cannot be decided: %d", w.Code)
	}
}

// TestFailedAgain decides about an event on which the handler has failed once
// more since: it is the same event.
func TestFailedAgain(t *testing.T) {
	s := newScene(t)
	s.do(s.Buyer, askAction(""))
	event, _, _, err := s.Seller.Pending()
	check(t, err)
	check(t, s.Seller.HandlerFailed(event.Seq, "no price list"))
	form := s.decided(s.only("event"), "refuse")
	check(t, s.Seller.HandlerFailed(event.Seq, "no paper"))
	if w := s.signedIn().post("/inboxes/seller/waiting/decide", form); w.Code != http.StatusSeeOther {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// TestTwice presses Approve many times at once: one mail goes out, and every
// other answer says that it was approved.
func TestTwice(t *testing.T) {
	s := newScene(t)
	ask := s.do(s.Buyer, askAction(""))
	propose(s, quoteAction(ask.Thread, "55000", "275"))
	b := s.signedIn()
	form := s.decided(s.only("action"), "approve")
	form.Set("confirm", "yes")
	form.Set("form", b.secret())
	answers := make(chan *httptest.ResponseRecorder)
	const times = 16
	for range times {
		tab := *b
		go func() { answers <- tab.send(http.MethodPost, "/inboxes/seller/waiting/decide", form) }()
	}
	for done := 0; done < times; done++ {
		w := <-answers
		if w.Code != http.StatusSeeOther {
			read(t, w).says("Nothing waits here", "approved by the owner")
		}
	}
	mails := 0
	s.drain(s.Seller, func([]byte) error { mails++; return nil })
	if mails != 1 {
		t.Errorf("%d mails go out", mails)
	}
}

// TestReason gives the agent the owner's reason.
func TestReason(t *testing.T) {
	s := newScene(t)
	propose(s, inbox.Action{Type: intent.AskQuote, To: buyerAddress, Items: []intent.Item{{Description: "Clay", Quantity: 1}}})
	form := s.decided(s.only("action"), "refuse")
	form.Set("reason", " not this year ")
	s.signedIn().post("/inboxes/seller/waiting/decide", form)
	events, _, err := s.Seller.Events("", 100)
	check(t, err)
	if last := events[len(events)-1]; last.Reason != "refused by the owner: not this year" {
		t.Errorf("%+v", last)
	}
}

// TestQuantity writes the numbers of limits as a person does.
func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		n          int64
		unit, want string
	}{
		{55000, "EUR", "550.00 EUR"},
		{300, "JPY", "300 JPY"},
		{int64(36 * time.Hour / time.Second), "s", "36h"},
		{90, "s", "1m30s"},
		{3600, "s", "1h"},
		{0, "s", "0s"},
		{21, "offers", "21 offers"},
	} {
		if got := quantity(c.n, c.unit); got != c.want {
			t.Errorf("%d %s: %q, not %q", c.n, c.unit, got, c.want)
		}
	}
}
