package inbox

import (
	"testing"
	"time"
)

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
	if err := s.buyer.HookFailed("hook", "shop.test", e, "refused"); err != nil {
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
	if err := s.buyer.HookFailed("hook", "shop.test", e, "refused"); err != nil {
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
