package inbox

import (
	"context"
	"testing"
)

// TestBacklog has one of everything wait: a held message, a mail that DNS
// fails for, an event for the handler, and a letter that was put off.
func TestBacklog(t *testing.T) {
	s := newScene(t, func(set *Settings) { set.Handled = set.Name == "seller" })
	_, accepted := s.do(s.buyer, askAction())
	_, retried := s.do(s.buyer, askAction())
	s.expect(s.seller, accepted, "accepted signed")
	s.page = errServfail
	s.dns = errServfail
	s.expect(s.seller, retried, "retry")
	s.dns, s.page = nil, nil

	unsigned := s.settings["buyer"]
	unsigned.Keys = nil
	s.settings["buyer"] = unsigned
	_, held := s.do(s.inbox("buyer"), askAction())
	s.expect(s.seller, held, "held mail_only")

	action := askAction()
	action.To = buyerAddress
	if _, err := s.seller.Do(action); err != nil {
		t.Fatal(err)
	}
	if _, err := s.seller.sendDue(context.Background(), transport(func(_, _ string, _ []byte) error { return sendError(true) })); err != nil {
		t.Fatal(err)
	}
	got, err := s.seller.Backlog()
	if err != nil {
		t.Fatal(err)
	}
	want := Backlog{Events: 1, Held: 1, Letters: 1, Retries: 1, OldestLetter: s.now.Unix(), LetterError: "the mail to agent@buyer.test could not be sent: " + sendError(true).Error()}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
