package inbox

import (
	"reflect"
	"testing"
	"time"
)

var hookDown = HookFailure{Where: "shop.test", Reason: "refused"}

// What a webhook was told of is known over a crash, and a row that fails is never passed over.
func TestHooks(t *testing.T) {
	s := newScene(t)
	next := func(want string) *Event {
		t.Helper()
		e, _, _, err := s.buyer.NextForHook("hook")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e != nil {
			got = e.Seq
		}
		if got != want {
			t.Fatalf("the next is %q, not %q", got, want)
		}
		return e
	}
	act := func() {
		t.Helper()
		if _, err := s.buyer.Do(askAction()); err != nil {
			t.Fatal(err)
		}
	}
	act()
	next("") // begins here
	act()
	act()
	e := next("0000000000000002")
	s.restart()
	next("0000000000000002")
	if err := s.buyer.HookFailed("hook", e, hookDown); err != nil {
		t.Fatal(err)
	}
	next("")
	s.tick(s.buyer, 10*time.Second)
	next("0000000000000002")
	if err := s.buyer.HookTold("hook", e.Seq); err != nil {
		t.Fatal(err)
	}
	e = next("0000000000000003")
	s.tick(s.buyer, hookLimit)
	if err := s.buyer.HookFailed("hook", e, hookDown); err != nil {
		t.Fatal(err)
	}
	next("")
	key := s.onlyWaiting(s.buyer)
	if err := s.buyer.Approve(key); err != nil {
		t.Fatal(err)
	}
	next("0000000000000003")
	if err := s.buyer.HookTold("hook", e.Seq); err != nil {
		t.Fatal(err)
	}
	if waiting, err := s.buyer.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("%+v, %v", waiting, err)
	}
}

// hooked is a scene whose buyer has a webhook that was not told of anything yet, and one event for it.
func hooked(t *testing.T) (s *scene, next func() *Event, wait func() time.Duration) {
	s = newScene(t)
	ask := func() (*Event, time.Time) {
		t.Helper()
		e, at, _, err := s.buyer.NextForHook("hook")
		if err != nil {
			t.Fatal(err)
		}
		return e, at
	}
	ask()
	s.act()
	return s, func() *Event { e, _ := ask(); return e }, func() time.Duration { _, at := ask(); return at.Sub(s.now) }
}

func (s *scene) act() {
	s.t.Helper()
	if _, err := s.buyer.Do(askAction()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) failHook(e *Event, f HookFailure) {
	s.t.Helper()
	if err := s.buyer.HookFailed("hook", e, f); err != nil {
		s.t.Fatal(err)
	}
}

// A receiver that asks to be left alone is, for a bounded time, and never comes earlier than one that does not ask.
func TestHookRetryAfter(t *testing.T) {
	for asked, bounds := range map[time.Duration][2]time.Duration{
		0:                {firstHookWait, 2 * firstHookWait},
		time.Second:      {firstHookWait, 2 * firstHookWait},
		10 * time.Minute: {10 * time.Minute, 10 * time.Minute},
		9000 * time.Hour: {6 * time.Hour, 6 * time.Hour},
	} {
		s, next, wait := hooked(t)
		s.failHook(next(), HookFailure{Where: "shop.test", Reason: "busy", After: asked})
		if got := wait(); got < bounds[0] || got > bounds[1] {
			t.Errorf("asked for %s it is left alone for %s", asked, got)
		}
	}
	s, next, wait := hooked(t)
	s.act()
	e := next()
	s.tick(s.buyer, hookLimit)
	s.failHook(e, HookFailure{Where: "shop.test", Reason: "busy", After: time.Hour}) // is given up
	if got := wait(); got != time.Hour {
		t.Errorf("the next event is told after %s", got)
	}
}

// What a clock that was a year ahead noted holds up no webhook until that year is over.
func TestHookClockAhead(t *testing.T) {
	s, next, _ := hooked(t)
	right := s.now
	s.now = right.AddDate(1, 0, 0)
	s.act()
	s.act()
	s.failHook(next(), hookDown)
	e := next()
	s.failHook(e, hookDown)
	s.now = right
	if again := next(); again == nil {
		t.Fatal("nothing is told for a year")
	}
	s.failHook(e, hookDown)
	if after := next(); after == nil || after.Seq == e.Seq {
		t.Errorf("told of %+v, for a year", after)
	}
}

// A webhook that is gone is told nothing until its owner has it told again, and nothing is lost meanwhile.
func TestHookGone(t *testing.T) {
	s, next, _ := hooked(t)
	gone := HookFailure{Where: "shop.test", Reason: "status 410", Gone: true}
	e := next()
	s.failHook(e, gone)
	s.act()
	s.tick(s.buyer, 2*hookLimit)
	if e := next(); e != nil {
		t.Fatalf("told of %+v", e)
	}
	key := s.onlyWaiting(s.buyer)
	if key != "webhook-hook" {
		t.Fatalf("%s waits", key)
	}
	if err := s.buyer.Refuse(key, ""); err != nil {
		t.Fatal(err)
	}
	if waiting, err := s.buyer.Waiting(); err != nil || len(waiting) > 0 || next() != nil {
		t.Errorf("%+v, %v, or it is told again", waiting, err)
	}
	if err := s.buyer.Approve(key); err != nil {
		t.Fatal(err)
	}
	if err := s.buyer.Approve(key); err == nil {
		t.Error("approved twice")
	}
	if again := next(); !reflect.DeepEqual(again, e) {
		t.Fatalf("told of %+v, not of %+v", again, e)
	}
	s.failHook(e, gone) // a day old, and still not given up
	s.onlyWaiting(s.buyer)
}

// A webhook that fails is seen before anything is given up, and until it is told of something.
func TestHookFailing(t *testing.T) {
	s, next, _ := hooked(t)
	want := func(n int, text string) {
		t.Helper()
		if b, err := s.buyer.Backlog(); err != nil || b.Webhooks != n || b.WebhookError != text {
			t.Errorf("%d webhooks fail, %q, %v", b.Webhooks, b.WebhookError, err)
		}
	}
	want(0, "")
	e := next()
	failing := "the webhook at shop.test is not told of events: refused"
	s.failHook(e, hookDown)
	want(1, failing)
	s.tick(s.buyer, hookLimit)
	s.failHook(e, hookDown) // is given up
	want(1, failing)
	key := s.onlyWaiting(s.buyer)
	if err := s.buyer.Approve(key); err != nil {
		t.Fatal(err)
	}
	if err := s.buyer.HookTold("hook", e.Seq); err != nil {
		t.Fatal(err)
	}
	want(0, "")
	if next() != nil {
		t.Error("what was given up is told twice")
	}
}

// A webhook that is not configured any more is forgotten: what waits for it could never be told.
func TestHookForgotten(t *testing.T) {
	s, next, _ := hooked(t)
	e := next()
	s.tick(s.buyer, hookLimit)
	s.failHook(e, hookDown)
	s.buyer.set.Webhooks = []string{"hook", "another"}
	if err := s.buyer.Begin(); err != nil {
		t.Fatal(err)
	}
	s.onlyWaiting(s.buyer)
	s.buyer.set.Webhooks = []string{"another"}
	if err := s.buyer.Begin(); err != nil {
		t.Fatal(err)
	}
	waiting, err := s.buyer.Waiting()
	if b, _ := s.buyer.Backlog(); err != nil || len(waiting) > 0 || b.Webhooks > 0 || next() != nil {
		t.Errorf("%+v, %+v, %v, or it is told of the past", waiting, b, err)
	}
}
