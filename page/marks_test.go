package page

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
)

// TestMarks says of what is known how good it is to know.
func TestMarks(t *testing.T) {
	proof := inbox.Proof{Domain: "buyer.test", Selector: "s1", Signature: "why", Party: "pty_x", OrgName: "Buyer Ltd", Kid: "k1"}
	for _, c := range []struct {
		name string
		got  []mark
		want []mark
	}{
		{"signed", proofOf(inbox.Message{Fate: inbox.FateAccepted, Signature: inbox.Signed, Proof: proof}), []mark{
			{good, "Verdict", "counts"}, {good, "Mail", "DKIM passed for buyer.test, selector s1"}, {good, "Signature", "by Buyer Ltd, pty_x"}, {calm, "Key", "k1"},
		}},
		{"not signed", proofOf(inbox.Message{Fate: inbox.FateHeld, Signature: inbox.MailOnly, Proof: inbox.Proof{Domain: "buyer.test"}}), []mark{
			{warn, "Verdict", "waits for you"}, {good, "Mail", "DKIM passed for buyer.test"}, {warn, "Signature", "not signed"},
		}},
		{"not checked", proofOf(inbox.Message{Fate: inbox.FateParked, Signature: inbox.Unchecked, Proof: inbox.Proof{Signature: "no page"}, Warnings: []string{inbox.WarnRetired}}), []mark{
			{warn, "Verdict", "waits for what it answers, or for a key page"}, {warn, "Mail", "no domain is proven"}, {warn, "Signature", "could not be checked: no page"}, {warn, "Warning", "key retired"},
		}},
		{"wrong", proofOf(inbox.Message{Fate: inbox.FateRejected, Signature: inbox.Invalid, Proof: inbox.Proof{Domain: "buyer.test", Signature: "another key"}}), []mark{
			{bad, "Verdict", "rejected by you"}, {good, "Mail", "DKIM passed for buyer.test"}, {bad, "Signature", "wrong: another key"},
		}},
		{"ours, queued and not signed", proofOf(inbox.Message{Fate: inbox.FateSent, Delivery: &inbox.Delivery{State: inbox.DeliveryQueued}}), []mark{
			{calm, "Delivery", "in the outbox"}, {warn, "Signature", "not signed"},
		}},
		{"delivery", []mark{
			deliveryMark(&inbox.Delivery{State: inbox.DeliverySent, At: 1793610000}), deliveryMark(&inbox.Delivery{State: inbox.DeliveryBounced, Reason: "5.1.1"}),
			deliveryMark(&inbox.Delivery{State: inbox.DeliveryRetrying, Reason: "421"}), deliveryMark(&inbox.Delivery{State: inbox.DeliveryParked, Reason: "too many"}),
		}, []mark{
			{good, "Delivery", "taken by the mail server on 2 Nov 2026, 09:00:00 UTC"},
			{bad, "Delivery", "never delivered: 5.1.1"},
			{warn, "Delivery", "not delivered yet: 421"},
			{warn, "Delivery", "not delivered yet: too many"},
		}},
		{"records", []mark{
			resultMark(record.TwoSigned), resultMark(record.OneSigned), resultMark(record.ReplyRecorded), resultMark(record.DoesNotCheckOut), resultMark(record.NotMade),
		}, []mark{
			{good, "", "checks out: two signatures"},
			{good, "", "checks out: one signature"},
			{good, "", "checks out: their reply, recorded by a named party"},
			{bad, "", "does not check out"},
			{warn, "", "could not be checked"},
		}},
		{"answers", []mark{answerMark(""), answerMark(agentmsg.StatusCompleted), answerMark("working"), answerMark("failed")}, []mark{
			{warn, "", "not answered"}, {good, "", "completed"}, {warn, "", "working"}, {bad, "", "failed"},
		}},
	} {
		if len(c.got) != len(c.want) {
			t.Errorf("%s: %v", c.name, c.got)
			continue
		}
		for i := range c.got {
			if c.got[i] != c.want[i] {
				t.Errorf("%s: %v, not %v", c.name, c.got[i], c.want[i])
			}
		}
	}
}

// TestExchange shows what requests and answers can hold beside a text.
func TestExchange(t *testing.T) {
	s := newScene(t, func(set *inbox.Settings) { set.Agent.Bridge = set.Name == "seller" })
	check(t, s.Seller.Decide(s.Buyer.AgentID(), agentmsg.StanceAllow, ""))
	path := filepath.Join(t.TempDir(), "letter.txt")
	check(t, os.WriteFile(path, []byte("The kiln is cold."), 0o600))
	asked := s.do(s.Buyer, inbox.Action{Type: inbox.ActRequest, To: sellerAddress, Agent: s.Seller.AgentID(), Offering: "translate", Input: []byte(`{"to":["de","<b>"]}`), Files: []string{path}})
	s.do(s.Seller, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Agent: s.Buyer.AgentID(), Status: "failed", Error: &agentmsg.Failure{Code: "INTERNAL_ERROR", Message: "No <i>dictionary</i>."}})
	b := s.signedIn()
	read(t, b.get("/inboxes/seller/request?id="+asked.ID)).says(
		"Request translate", `"to": [ "de", "<b>" ]`, "letter.txt", "17 bytes: ok , download letter.txt", "Answer failed", "Error INTERNAL_ERROR", "No <i>dictionary</i>.",
	)
	read(t, b.get("/inboxes/buyer/request?id="+asked.ID)).says("letter.txt", "sent along", "Signature by this inbox’s agent")

	s.mail(string(s.Sign(s.Buyer, []byte("From: Ada <ada@buyer.test>\r\nTo: "+sellerAddress+"\r\nSubject: Hello\r\nDate: Mon, 02 Nov 2026 09:00:00 +0000\r\nMessage-ID: <1@buyer.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nDo you ship?\r\n"))))
	w := s.only("agent")
	read(t, b.get("/inboxes/seller/waiting")).says("Person ada@buyer.test", "Do you ship?")
	check(t, s.Seller.Approve(w.Key))
	requests := got[[]inbox.ExchangeMessage](t)(s.Seller.Requests())
	for _, r := range requests {
		if r.Person != "" {
			read(t, b.get("/inboxes/seller/request?agent="+r.From+"&id="+r.ID)).says("from ada@buyer.test", "DKIM passed for the domain of ada@buyer.test", "by the bridge of this inbox")
			return
		}
	}
	t.Errorf("no request of a person: %+v", requests)
}

// TestTogether uses sessions from several goroutines, for the race detector.
func TestTogether(t *testing.T) {
	s := newScene(t)
	b := s.signedIn()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if w := b.get("/"); w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
			other := s.browser()
			other.signIn(s.secret)
			other.signIn("amt_wrong")
			if w := other.get("/inboxes/buyer"); w.Code != http.StatusOK || strings.Contains(w.Body.String(), other.cookie) {
				t.Errorf("status %d", w.Code)
			}
		})
	}
	all.Wait()
}
