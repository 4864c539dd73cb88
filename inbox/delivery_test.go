package inbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
)

// try has an inbox send what is due; the mail server answers with err.
func (s *scene) try(in *Inbox, err error) {
	s.t.Helper()
	if _, err := in.sendDue(s.t.Context(), transport(func(_, _ string, _ []byte) error { return err })); err != nil {
		s.t.Fatal(err)
	}
}

// onlyWaiting is the key of the one thing that waits for the owner.
func (s *scene) onlyWaiting(in *Inbox) string {
	s.t.Helper()
	waiting, err := in.Waiting()
	if err != nil || len(waiting) != 1 {
		s.t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	return waiting[0].Key
}

// Whatever keeps the mail of an accept from the other side stands with the
// message, with the offer, and in both lists; and what never left is no deal
// that a record could show.
func TestDelivery(t *testing.T) {
	refused := errors.New("550 no such user")
	for name, c := range map[string]struct {
		then   func(*scene, Done)
		state  DeliveryState
		reason string
		record record.Kind
	}{
		"queued":   {func(*scene, Done) {}, DeliveryQueued, "", record.TwoSignatures},
		"sent":     {func(s *scene, _ Done) { s.try(s.buyer, nil) }, DeliverySent, "", record.TwoSignatures},
		"retrying": {func(s *scene, _ Done) { s.try(s.buyer, sendError(true)) }, DeliveryRetrying, "could not be sent: 451 later", record.TwoSignatures},
		"sent at the second try": {func(s *scene, _ Done) {
			s.try(s.buyer, sendError(true))
			s.now = s.now.Add(time.Minute)
			s.try(s.buyer, nil)
		}, DeliverySent, "", record.TwoSignatures},
		"refused": {func(s *scene, _ Done) { s.try(s.buyer, refused) }, DeliveryFailed, "could not be sent: 550 no such user", ""},
		"refused, and let go again": {func(s *scene, _ Done) {
			s.try(s.buyer, refused)
			if err := s.buyer.Approve(s.onlyWaiting(s.buyer)); err != nil {
				s.t.Fatal(err)
			}
		}, DeliveryQueued, "", record.TwoSignatures},
		"refused, and given up": {func(s *scene, _ Done) {
			s.try(s.buyer, refused)
			if err := s.buyer.Refuse(s.onlyWaiting(s.buyer), ""); err != nil {
				s.t.Fatal(err)
			}
		}, DeliveryDropped, "given up by the owner: could not be sent: 550 no such user", ""},
		"bounced": {func(s *scene, d Done) {
			s.try(s.buyer, nil)
			s.expect(s.buyer, bounceOf("<"+d.ID+"@buyer.test>", "failed"), "plain none")
			if err := s.buyer.Refuse(s.onlyWaiting(s.buyer), ""); err != nil { // the report is put aside
				s.t.Fatal(err)
			}
		}, DeliveryBounced, "its mail came back: status 5.1.1", record.TwoSignatures},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			_, quote := s.quoted()
			accept, err := s.buyer.Do(Action{Type: intent.Accept, Ref: quote.ID})
			if err != nil {
				t.Fatal(err)
			}
			c.then(s, accept)
			s.delivered(accept, quote.ID, Delivery{State: c.state, Reason: c.reason}, c.record)
		})
	}
}

// delivered compares where the buyer's accept stands, in all views.
func (s *scene) delivered(accept Done, offer string, want Delivery, record record.Kind) {
	s.t.Helper()
	thread, err := s.buyer.Thread(accept.Thread)
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := s.buyer.Threads()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range thread.Messages {
		if m.ID == accept.ID {
			s.isDelivery("the accept", m.Delivery, want)
		} else if m.Fate == FateAccepted && m.Delivery != nil {
			s.t.Errorf("a message from outside has a delivery: %+v", m.Delivery)
		}
	}
	for view, shown := range map[string]Thread{"show": thread, "list": list[0]} {
		if last := thread.Messages[len(thread.Messages)-1]; shown.At != last.At || shown.At == 0 {
			s.t.Errorf("%s: at %d, and its last message at %d", view, shown.At, last.At)
		}
		if shown.Record != record {
			s.t.Errorf("%s: record %q, want %q", view, shown.Record, record)
		}
		for _, e := range shown.Entries {
			stuck := e.ID == offer && want.Reason != ""
			if !stuck && e.Undelivered != nil {
				s.t.Errorf("%s: %s is undelivered: %+v", view, e.Type, e.Undelivered)
			}
			if stuck {
				s.isDelivery(view, e.Undelivered, want)
			}
		}
	}
}

func (s *scene) isDelivery(what string, got *Delivery, want Delivery) {
	s.t.Helper()
	if got == nil || got.State != want.State || got.Reason != want.Reason || got.At == 0 {
		s.t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// An accept beyond the hourly limit has not left, and is shown so.
func TestParkedDelivery(t *testing.T) {
	s := newScene(t)
	_, quote := s.quoted()
	s.buyer.set.HourlyLimit = 1 // the ask was one
	accept, err := s.buyer.Do(Action{Type: intent.Accept, Ref: quote.ID})
	if err != nil {
		t.Fatal(err)
	}
	s.delivered(accept, quote.ID, Delivery{State: DeliveryParked, Reason: "is one more than 1 within an hour"}, "")
	if err := s.buyer.Approve(s.onlyWaiting(s.buyer)); err != nil {
		t.Fatal(err)
	}
	s.delivered(accept, quote.ID, Delivery{State: DeliveryQueued}, record.TwoSignatures)
}

// A quote that never came to the buyer is shown so with the offer itself.
func TestUndeliveredOffer(t *testing.T) {
	s := newScene(t)
	offer, err := s.buyer.Do(timesAction())
	if err != nil {
		t.Fatal(err)
	}
	s.try(s.buyer, errors.New("550 no"))
	thread, err := s.buyer.Thread(offer.Thread)
	if err != nil {
		t.Fatal(err)
	}
	s.isDelivery("the offer", thread.Entries[0].Undelivered, Delivery{State: DeliveryFailed, Reason: "could not be sent: 550 no"})
}

// privateError names what only the owner may know.
type privateError struct{ temporary bool }

func (privateError) Error() string     { return "login: the command `pass show /home/ada/mail` failed" }
func (privateError) Told() string      { return "nobody is let in" }
func (e privateError) Temporary() bool { return e.temporary }

// The owner is told why a mail is stuck, and an agent no more than it may know:
// with the message and its offer, in events and of what waits.
func TestDeliveryTold(t *testing.T) {
	for name, temporary := range map[string]bool{"retrying": true, "failed": false} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			_, quote := s.quoted()
			_, err := s.buyer.Do(Action{Type: intent.Accept, Ref: quote.ID})
			check(t, err)
			s.try(s.buyer, privateError{temporary})
			backlog, err := s.buyer.Backlog()
			check(t, err)
			if !strings.Contains(backlog.LetterError, "pass show") {
				t.Errorf("the owner is told %q", backlog.LetterError)
			}
			thread, err := s.buyer.Thread(quote.Thread)
			check(t, err)
			events, _, err := s.buyer.Events("", 100)
			check(t, err)
			waiting, err := s.buyer.Waiting()
			check(t, err)
			for i := range waiting {
				if waiting[i].Kind == "letter" && !strings.Contains(waiting[i].Reason, "pass show") {
					t.Errorf("the owner is told %q", waiting[i].Reason)
				}
				waiting[i] = waiting[i].ToAgent()
			}
			if got := thread.Entries[1].Undelivered.Reason; got != "could not be sent: nobody is let in" {
				t.Errorf("the thread says %q", got)
			}
			seen, err := json.Marshal([]any{thread, events, waiting})
			check(t, err)
			if strings.Contains(string(seen), "pass show") {
				t.Errorf("an agent sees %s", seen)
			}
		})
	}
}

// What the owner's programs said is not for the agent.
func TestWaitingToAgent(t *testing.T) {
	for kind, told := range map[string]bool{"letter": false, "event": false, "webhook": false, "message": true, "bounce": true, "agent": true} {
		w := Waiting{Kind: kind, Address: "agent@buyer.test", Reason: "/home/ada said so"}
		if got := w.ToAgent().Reason; strings.Contains(got, "ada") != told || got == "" {
			t.Errorf("of %s the agent is told %q", kind, got)
		}
	}
}
