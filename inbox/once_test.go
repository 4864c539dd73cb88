package inbox

import (
	"errors"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// An action is done once for its key, over a crash, after what it answers is closed, and until a day has passed.
func TestOnce(t *testing.T) {
	s := agentScene(t)
	do := func(a Action, key, hash string) Done {
		t.Helper()
		a.Once = &Once{key, hash}
		done, err := s.buyer.Do(a)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	asked := do(askAction(), "a", "1")
	s.restart()
	if again := do(askAction(), "a", "1"); again.ID != asked.ID {
		t.Errorf("after a restart it was done again: %+v", again)
	}
	other := askAction()
	other.Once = &Once{"a", "2"}
	if _, err := s.buyer.Do(other); !errors.Is(err, ErrReused) || !errors.Is(err, ErrAction) {
		t.Errorf("another action by the same key: %v", err)
	}
	if theirs, err := s.seller.Do(Action{Type: intent.AskQuote, To: buyerAddress, Items: askAction().Items, Once: &Once{"a", "2"}}); err != nil || theirs.ID == asked.ID {
		t.Errorf("the key in another inbox: %v", err)
	}
	cancel := Action{Type: intent.Cancel, Ref: asked.ID}
	ended := do(cancel, "b", "1")
	if again := do(cancel, "b", "1"); again.ID != ended.ID {
		t.Errorf("what could not be done again was answered with %+v", again)
	}
	request := Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: "chat", Text: "Hello."}
	sent := do(request, "c", "1")
	if again := do(request, "c", "1"); again.ID != sent.ID {
		t.Errorf("a request was made twice: %+v", again)
	}
	if n := s.rows(s.buyer, tableOnce); n != 3 {
		t.Errorf("%d answers are kept", n)
	}
	s.tick(s.buyer, onceLimit-time.Second)
	if n := s.rows(s.buyer, tableOnce); n != 3 {
		t.Errorf("%d answers are kept within the day", n)
	}
	s.tick(s.buyer, time.Second)
	if n := s.rows(s.buyer, tableOnce); n != 0 {
		t.Errorf("%d answers are kept after a day", n)
	}
	if again := do(askAction(), "a", "1"); again.ID == asked.ID {
		t.Error("after a day the answer was of before")
	}
}

// What was refused is not remembered, and what an agent proposed is.
func TestOnceProposed(t *testing.T) {
	s := newScene(t)
	wrong := Action{Type: intent.Accept, Ref: "x", Once: &Once{"a", "1"}}
	for range 2 {
		if _, err := s.buyer.Propose(wrong); !errors.Is(err, ErrAction) || errors.Is(err, ErrReused) {
			t.Error(err)
		}
	}
	right := askAction()
	right.Once = &Once{"a", "2"}
	first, err := s.buyer.Propose(right)
	if err != nil || first.Waiting == "" {
		t.Fatal(first, err)
	}
	if err := s.buyer.Approve(first.Waiting); err != nil {
		t.Fatal(err)
	}
	if again, err := s.buyer.Propose(right); err != nil || again.Waiting != first.Waiting {
		t.Errorf("%+v, %v", again, err)
	}
	if threads, err := s.buyer.Threads(); err != nil || len(threads) != 1 {
		t.Errorf("%d threads, %v", len(threads), err)
	}
}
