package inbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// Beyond the hourly limit letters wait for the owner; none is lost, and
// another address is not held up.
func TestHourlyLimit(t *testing.T) {
	s := newScene(t, func(set *Settings) { set.HourlyLimit = 2 })
	for range 3 {
		if _, err := s.buyer.Do(askAction()); err != nil {
			t.Fatal(err)
		}
	}
	other := askAction()
	other.To = "agent@third.test"
	if _, err := s.buyer.Do(other); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		t.Helper()
		_, err := s.buyer.sendDue(t.Context(), transport(func(_, _ string, _ []byte) error { n++; return nil }))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 3 {
		t.Errorf("%d letters went out", n)
	}
	waiting, err := s.buyer.Waiting()
	if err != nil || len(waiting) != 1 || waiting[0].Kind != "letter" || !strings.Contains(waiting[0].Reason, "more than 2 within an hour") {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	if err := s.buyer.Approve(waiting[0].Key); err != nil || count() != 1 {
		t.Errorf("approved, it did not go out: %v", err)
	}
	s.now = s.now.Add(time.Hour)
	if _, err := s.buyer.Do(askAction()); err != nil || count() != 1 {
		t.Errorf("an hour later nothing goes out: %v", err)
	}
}

// bounceOf is what Postfix writes about a mail.
func bounceOf(messageID, action string) []byte {
	return []byte(strings.ReplaceAll("From: MAILER-DAEMON@mx.test\nTo: agent@buyer.test\nSubject: Undelivered\nAuto-Submitted: auto-replied\nMIME-Version: 1.0\n"+
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nSorry.\n\n--b\nContent-Type: message/delivery-status\n\n"+
		"Reporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; agent@seller.test\nAction: "+action+"\nStatus: 5.1.1\n\n--b\nContent-Type: message/rfc822\n\n"+
		"From: agent@buyer.test\nMessage-ID: "+messageID+"\n\nhello\n\n--b--\n", "\n", "\r\n"))
}

func TestBounce(t *testing.T) {
	s := newScene(t)
	done, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	for name, report := range map[string][]byte{
		"about nothing known": bounceOf("<x@buyer.test>", "failed"),
		"delayed":             bounceOf("<"+done.ID+"@buyer.test>", "delayed"),
		"of another domain":   bounceOf("<"+done.ID+"@evil.test>", "failed"),
	} {
		s.expect(s.buyer, report, "plain none")
		if waiting, err := s.buyer.Waiting(); err != nil || len(waiting) != 0 {
			t.Errorf("%s: %+v, %v", name, waiting, err)
		}
	}
	s.expect(s.seller, bounceOf("<"+done.ID+"@buyer.test>", "failed"), "plain none") // not sent from there
	s.expect(s.buyer, bounceOf("<"+done.ID+"@buyer.test>", "failed"), "plain none")
	waiting, err := s.buyer.Waiting()
	if err != nil || len(waiting) != 1 || waiting[0].Kind != "bounce" || waiting[0].Thread != done.Thread || !strings.Contains(waiting[0].Reason, "status 5.1.1") {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	if got := s.state(s.buyer, done.Thread, done.ID); got != "open" {
		t.Errorf("a report made the ask %s", got)
	}
	if letters := outbox(t, s.buyer); len(letters) != 0 {
		t.Errorf("a report was answered: %v", letters)
	}
	if err := s.buyer.Approve(waiting[0].Key); !errors.Is(err, ErrAction) {
		t.Errorf("approve: %v", err)
	}
	if err := s.buyer.Refuse(waiting[0].Key, ""); err != nil {
		t.Error(err)
	}
	if err := s.buyer.Refuse(waiting[0].Key, ""); !errors.Is(err, ErrAction) {
		t.Errorf("put aside twice: %v", err)
	}
}

// The daemon's own mail coming back, by a list or a rule, is no message.
func TestOwnMailComesBack(t *testing.T) {
	s := newScene(t)
	_, raw := s.do(s.buyer, askAction())
	s.expect(s.buyer, raw, "plain from")
}

// Two answers to one offer: the first by the order of commits counts (D28).
func TestTwoAnswers(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	_, accept := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.expect(s.seller, accept, "accepted signed")
	if _, err := s.seller.Do(Action{Type: intent.Cancel, Ref: quote.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.buyer.Do(Action{Type: intent.Decline, Ref: quote.ID}); !errors.Is(err, ErrAction) {
		t.Errorf("declined after the accept: %v", err)
	}
}
