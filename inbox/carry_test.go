package inbox

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/store"
)

func newSealing(t testing.TB) agentmsg.SealingKey {
	t.Helper()
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := agentmsg.ParseSealingKey(base64.RawURLEncoding.EncodeToString(private.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// cards gives each side the name card of the other.
func (s *scene) cards() {
	s.t.Helper()
	for in, other := range map[*Inbox]*Inbox{s.buyer: s.seller, s.seller: s.buyer} {
		card := Contact{Agent: s.agent(other), Name: other.Name(), Addresses: []string{other.Address()}, SealingKey: other.set.Agent.Sealing.Public()}
		if err := in.PutContact(card); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Both ways sealed, from name cards alone; nothing is read on the way.
func TestSealed(t *testing.T) {
	s := agentScene(t, func(set *Settings) { set.Agent.Sealing, set.Agent.Sealed = newSealing(t), set.Name == "seller" })
	s.cards()
	request, raw := s.do(s.buyer, Action{Type: ActRequest, To: sellerAddress, Offering: "chat", Text: "In confidence."})
	if body := envelopeOf(t, raw).Body(); !agentmsg.IsSealed(body) || bytes.Contains(raw, []byte("confidence")) {
		t.Fatalf("the request is %s", body)
	}
	r := s.expect(s.seller, raw, "accepted")
	if !strings.Contains(r.Exchange.Text, "In confidence.") {
		t.Errorf("the agent is given %q", r.Exchange.Text)
	}
	_, raw = s.do(s.seller, Action{Type: ActRespond, Request: request.ID, Text: "Likewise."})
	if body := envelopeOf(t, raw).Body(); !agentmsg.IsSealed(body) {
		t.Errorf("the answer is %s", body)
	}
	if r = s.expect(s.buyer, raw, "accepted"); !strings.Contains(r.Exchange.Text, "Likewise.") {
		t.Errorf("the buyer's agent is given %q", r.Exchange.Text)
	}

	for name, c := range map[string]struct {
		input        []byte
		want, answer string
	}{
		"in clear":  {[]byte(`{"text":"Hello."}`), "refused sealing", "SEALING_REQUIRED"},
		"to nobody": {seal(t, `{"text":"Hello."}`, newSealing(t)), "refused sealing", ""},
		"too long":  {seal(t, `"`+strings.Repeat("a", agentmsg.MaxText)+`"`, s.seller.set.Agent.Sealing), "refused too_large", "CONTEXT_TOO_LARGE"},
	} {
		raw := s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: "chat", Input: c.input}})
		if r := s.expect(s.seller, raw, c.want); r.Exchange.Answered != c.answer {
			t.Errorf("%s: answered %q", name, r.Exchange.Answered)
		}
		if c.answer != "" {
			s.letter(s.seller)
		}
	}
	// What anybody may ask is answered in clear.
	raw = s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingDescribe}})
	s.expect(s.seller, raw, "accepted")
	if body := envelopeOf(t, s.letter(s.seller)).Body(); !bytes.Contains(body, []byte(s.seller.set.Agent.Sealing.Public())) {
		t.Errorf("the agent describes itself as %s", body)
	}
}

func seal(t testing.TB, body string, to agentmsg.SealingKey) []byte {
	t.Helper()
	sealed, err := agentmsg.Seal([]byte(body), to.Public(), "", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// The answer to a sealed request is not sent in clear (D128).
func TestSealedAnswerNeedsKey(t *testing.T) {
	s := agentScene(t, func(set *Settings) { set.Agent.Sealing = newSealing(t) })
	s.admits()
	raw := s.envelope(agentmsg.Envelope{ID: "019a4400-0000-7000-8000-0000000000a1", Request: &agentmsg.Request{Offering: "chat", Input: seal(t, `{"text":"Hi"}`, s.seller.set.Agent.Sealing)}})
	s.expect(s.seller, raw, "accepted")
	answer := Action{Type: ActRespond, Request: "019a4400-0000-7000-8000-0000000000a1", Text: "Hello."}
	if _, err := s.seller.Do(answer); !errors.Is(err, ErrAction) {
		t.Fatalf("answered: %v", err)
	}
	s.cards()
	if _, raw := s.do(s.seller, answer); !agentmsg.IsSealed(envelopeOf(t, raw).Body()) {
		t.Error("the answer is not sealed")
	}
}

// Where an answer goes (E4), in its order.
func TestAnswerAddress(t *testing.T) {
	for name, c := range map[string]struct {
		card, signed string
		dkim         bool
		want         string
	}{
		"name card":     {"card@buyer.test", "signed@buyer.test", true, "card@buyer.test"},
		"signed":        {"", "signed@buyer.test", true, "signed@buyer.test"},
		"proven":        {"", "", true, buyerAddress},
		"nowhere":       {"", "", false, ""},
		"no address":    {"", "signed", true, buyerAddress},
		"this inbox":    {"", sellerAddress, true, ""},
		"card, unknown": {"card@buyer.test", "", false, "card@buyer.test"},
	} {
		t.Run(name, func(t *testing.T) {
			s := agentScene(t)
			if c.card != "" {
				if err := s.seller.PutContact(Contact{Agent: s.agent(s.buyer), Addresses: []string{c.card}}); err != nil {
					t.Fatal(err)
				}
			}
			e := agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingDescribe}}
			e.Meta.Email.Address = c.signed
			raw := s.signed(s.buyer.set.Agent.Identity, e)
			if !c.dkim {
				raw = bytes.Replace(raw, []byte("DKIM-Signature"), []byte("X-Signature"), 1)
			}
			r := s.expect(s.seller, raw, "accepted")
			if r.Exchange.AnsweredTo != c.want || (r.Exchange.Answered == "ok") != (c.want != "") {
				t.Errorf("answered %q to %q", r.Exchange.Answered, r.Exchange.AnsweredTo)
			}
			if letters := outbox(t, s.seller); len(letters) == 1 != (c.want != "") || c.want != "" && letters[0].To != c.want {
				t.Errorf("%d letters", len(letters))
			}
		})
	}
}

// Nothing that a sender wrote stands in what the daemon answers by itself.
func TestAnswerHasNoWords(t *testing.T) {
	s := agentScene(t)
	long := agentmsg.Request{Offering: "BUY-NOW", Input: []byte(`"` + strings.Repeat("a", agentmsg.MaxText+1) + `"`)}
	s.expect(s.seller, s.envelope(agentmsg.Envelope{Request: &long}), "refused too_large")
	if raw := s.letter(s.seller); bytes.Contains(raw, []byte("BUY")) || !bytes.Contains(raw, []byte("Subject: [failed]")) {
		t.Errorf("answered\n%s", raw)
	}
}

// Another key for a known address, and another address for a known key, are
// held and told (D122).
func TestNameCards(t *testing.T) {
	s := agentScene(t)
	s.admits()
	hello := func(by agentmsg.Identity, address string) []byte {
		e := agentmsg.Envelope{Request: &agentmsg.Request{Offering: "chat", Input: []byte(`"Hi"`)}}
		e.Meta.Email.Address = address
		return s.signed(by, e)
	}
	buyer, other := s.buyer.set.Agent.Identity, newIdentity(t)
	if err := s.seller.Decide(other.ID(), agentmsg.StanceAllow, ""); err != nil {
		t.Fatal(err)
	}
	s.expect(s.seller, hello(buyer, buyerAddress), "accepted")
	s.expect(s.seller, hello(buyer, buyerAddress), "accepted")
	for name, raw := range map[string][]byte{"another key": hello(other, buyerAddress), "another key, by From": hello(other, ""), "another address": hello(buyer, "b@else.test")} {
		if r := s.expect(s.seller, raw, "held"); len(r.Warnings) != 1 || r.Warnings[0] != WarnCard {
			t.Errorf("%s: warnings %v", name, r.Warnings)
		}
	}
	cards, err := s.seller.Contacts()
	if err != nil || len(cards) != 1 || !cards[0].Pinned || cards[0].Agent != buyer.ID() {
		t.Fatalf("the cards are %+v, %v", cards, err)
	}
	// The owner's own card stands above what is said, and frees the address.
	if err := s.seller.PutContact(Contact{Agent: buyer.ID(), Addresses: []string{"B@else.test"}}); err != nil {
		t.Fatal(err)
	}
	s.expect(s.seller, hello(buyer, "c@else.test"), "accepted")
	s.expect(s.seller, hello(other, buyerAddress), "accepted")
	for name, c := range map[string]Contact{
		"no agent":           {Agent: "somebody"},
		"no address":         {Agent: buyer.ID(), Addresses: []string{"nobody"}},
		"another's address":  {Agent: newIdentity(t).ID(), Addresses: []string{"B@ELSE.test"}},
		"too many addresses": {Agent: buyer.ID(), Addresses: make([]string, maxAddresses+1)},
		"no key":             {Agent: buyer.ID(), SealingKey: "key"},
	} {
		if err := s.seller.PutContact(c); !errors.Is(err, ErrAction) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.seller.RemoveContact(buyer.ID()); err != nil {
		t.Fatal(err)
	}
	if err := s.seller.RemoveContact(buyer.ID()); !errors.Is(err, ErrAction) {
		t.Errorf("removed twice: %v", err)
	}
	if n := s.rows(s.seller, tableAddresses); n != 1 {
		t.Errorf("%d addresses are left", n)
	}
}

// personMail is a mail in words to the seller, DKIM-signed if proven.
func (s *scene) personMail(id string, proven bool, more ...string) []byte {
	s.t.Helper()
	raw := []byte("From: Ann <ann@buyer.test>\r\nTo: agent@seller.test\r\nSubject: =?utf-8?q?M=C3=B6bel?=\r\nMessage-ID: <" + id + "@mail.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n" +
		strings.Join(append(more, ""), "\r\n") + "\r\nDo you have mugs?\r\n")
	if !proven {
		return raw
	}
	signed, err := s.services["buyer"].Signer.Sign(raw, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	return signed
}

// A proven person's mail becomes a request, held until the owner lets it in,
// and is answered in plain words in its thread.
func TestBridge(t *testing.T) {
	s := agentScene(t)
	raw := s.personMail("1", true)
	r := s.expect(s.seller, raw, "bridged")
	if r.Exchange.Person != "ann@buyer.test" || r.Exchange.Offering != "chat" {
		t.Errorf("bridged as %+v", r.Exchange)
	}
	if s.pending(s.seller) != nil {
		t.Error("the agent is told before the owner decided")
	}
	s.expect(s.seller, raw, "refused duplicate")
	s.expect(s.seller, s.personMail("2", false), "review")
	s.expect(s.seller, s.personMail("3", true, "Auto-Submitted: auto-replied"), "ignored")
	s.expect(s.seller, s.personMail("4", true, "List-Id: <l.test>"), "ignored")
	key := ""
	waiting, err := s.seller.Waiting()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range waiting {
		if w.Kind == "agent" && w.Person == "ann@buyer.test" {
			key = w.Key
		}
	}
	if err := s.seller.Approve(key); err != nil {
		t.Fatal(err)
	}
	e := s.pending(s.seller)
	if e == nil || e.Verdict != Bridged || !strings.Contains(e.Exchange.Text, "Do you have mugs?") {
		t.Fatalf("the agent is told %+v", e)
	}
	_, answer := s.do(s.seller, Action{Type: ActRespond, Event: e.Seq, Text: "We do.\nMany."})
	for _, want := range []string{"To: <ann@buyer.test>", "In-Reply-To: <1@mail.test>", "We do.", "=?utf-8?"} {
		if !bytes.Contains(answer, []byte(want)) {
			t.Errorf("the answer has no %q:\n%s", want, answer)
		}
	}
	if bytes.Contains(answer, []byte("envelope.json")) {
		t.Error("a person is sent an envelope")
	}
	// Once allowed, the same person gets through; blocked, never.
	for stance, want := range map[agentmsg.Stance]string{agentmsg.StanceAllow: "bridged", agentmsg.StanceBlock: "blocked"} {
		if err := s.seller.Decide(r.Exchange.From, stance, ""); err != nil {
			t.Fatal(err)
		}
		s.expect(s.seller, s.personMail(string(stance), true), want)
	}
}

// The words of people come in their charsets, and at any length.
func TestBridgeWords(t *testing.T) {
	s := agentScene(t)
	for name, c := range map[string]struct{ head, body, want, verdict, answered string }{
		"latin":     {"text/plain; charset=iso-8859-1", "Gr\xfc\xdfe", "Gr\u00fc\u00dfe", "bridged", ""},
		"no known":  {"text/plain; charset=x-none", "Hello", "Hello", "bridged", ""},
		"too long":  {"text/plain", strings.Repeat("a line of words\r\n", 70_000), "", "refused too_large", "CONTEXT_TOO_LARGE"},
		"html only": {"text/html", "<p>Hello</p>", "", "review", ""},
	} {
		raw := bytes.Replace(s.personMail(name, false), []byte("text/plain; charset=utf-8"), []byte(c.head), 1)
		raw = bytes.Replace(raw, []byte("Do you have mugs?"), []byte(c.body), 1)
		raw = bytes.Replace(raw, []byte("<"+name+"@"), []byte("<"+strings.ReplaceAll(name, " ", "-")+"@"), 1)
		signed, err := s.services["buyer"].Signer.Sign(raw, s.now)
		if err != nil {
			t.Fatal(err)
		}
		r := s.expect(s.seller, signed, c.verdict)
		if r.Exchange == nil {
			continue
		}
		if r.Exchange.Answered != c.answered {
			t.Errorf("%s: answered %q", name, r.Exchange.Answered)
		}
		if c.want == "" {
			continue
		}
		waiting, err := s.seller.Waiting()
		if err != nil || !slices.ContainsFunc(waiting, func(w Waiting) bool { return strings.Contains(string(w.Message), c.want) }) {
			t.Errorf("%s: %+v, %v", name, waiting, err)
		}
	}
}

// DNS trouble with a person's mail is tried again, and then it is bridged once.
func TestBridgeRetries(t *testing.T) {
	s := agentScene(t)
	raw := s.personMail("1", true)
	s.dns = errServfail
	s.expect(s.seller, raw, "retry")
	s.expect(s.seller, raw, "retry")
	s.dns = nil
	s.tick(s.seller, time.Hour)
	if n := s.rows(s.seller, tableDoor); n != 1 {
		t.Errorf("%d wait at the door", n)
	}
	if n := s.rows(s.seller, tableRetries); n != 0 {
		t.Errorf("%d are tried again", n)
	}
	s.expect(s.seller, raw, "refused duplicate")
	s.dns = errServfail
	s.now = s.now.Add(time.Minute)
	late, err := s.seller.Deliver(context.Background(), []Mail{{Raw: s.personMail("2", true), Arrival: s.now.Add(-retryLimit)}}, nil)
	if err != nil || late[0].Verdict != Review {
		t.Errorf("after a day: %+v, %v", late, err)
	}
}

// A mail that cannot be read is for the owner's eyes as well (D153).
func TestReviewUnread(t *testing.T) {
	s := agentScene(t)
	s.expect(s.seller, []byte("Subject: one\r\nSubject: two\r\n\r\nHello.\r\n"), "review")
	results, err := s.seller.Deliver(t.Context(), []Mail{{Problem: "the body could not be had", Arrival: s.now}}, nil)
	if err != nil || results[0].Verdict != Review {
		t.Errorf("%+v, %v", results, err)
	}
	waiting, err := s.seller.Waiting()
	if err != nil || len(waiting) != 2 || !strings.HasPrefix(waiting[0].Reason, "a mail waits for your eyes") {
		t.Errorf("%+v, %v", waiting, err)
	}
}

// Mails for the owner's eyes are listed, the last hundred, for 30 days.
func TestReviews(t *testing.T) {
	s := agentScene(t)
	s.seller.set.Agent.Bridge = false
	s.expect(s.seller, s.personMail("1", true), "review")
	s.store.Rehearse(nil)
	for n := range maxReviews {
		s.expect(s.seller, s.personMail(fmt.Sprint("more", n), false), "review")
	}
	waiting, err := s.seller.Waiting()
	if err != nil || len(waiting) != maxReviews || waiting[0].Kind != "mail" || waiting[0].Text != "Möbel" {
		t.Fatalf("%d, %v wait, the first %+v", len(waiting), err, waiting[0])
	}
	if err := s.seller.Approve(waiting[0].Key); !errors.Is(err, ErrAction) {
		t.Errorf("approved: %v", err)
	}
	if err := s.seller.Refuse(waiting[0].Key, ""); err != nil {
		t.Fatal(err)
	}
	s.tick(s.seller, keepReview+time.Second)
	if n := s.rows(s.seller, tableReviews); n != 0 {
		t.Errorf("%d are left after 30 days", n)
	}
}

// report is a delivery report about a mail, as a mail server writes it.
func report(about, action string, returned []byte) []byte {
	return []byte("From: MAILER-DAEMON@mx.test\r\nTo: agent@buyer.test\r\nSubject: Delivery\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n" +
		"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.test\r\n\r\nFinal-Recipient: rfc822; agent@seller.test\r\nAction: " + action + "\r\nStatus: 5.1.1\r\n" +
		"\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n" + string(returned) + "Message-ID: " + about + "\r\n\r\n--b--\r\n")
}

// A request whose mail came back is marked so; what a report returns is never
// taken for a message.
func TestExchangeBounced(t *testing.T) {
	s := agentScene(t)
	done, raw := s.do(s.buyer, s.ask("chat", "Hello."))
	head, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	returned := append(bytes.Clone(head), "\r\n\r\n"...)
	returned = append(returned, body...)
	about := emailing.MessageID(done.ID, buyerAddress)
	full := bytes.Replace(report(about, "failed", nil), []byte("Message-ID: "+about+"\r\n\r\n"), returned, 1)
	delayed := bytes.Replace(full, []byte("Action: failed"), []byte("Action: delayed"), 1)
	s.expect(s.buyer, delayed, "ignored")
	s.expect(s.buyer, report("<else@buyer.test>", "failed", nil), "ignored")
	s.expect(s.buyer, full, "bounce")
	key := s.onlyWaiting(s.buyer)
	requests, err := s.buyer.Requests()
	if err != nil || requests[0].Delivery.State != DeliveryBounced {
		t.Errorf("the request is %+v, %v", requests[0].Delivery, err)
	}
	waiting, _ := s.buyer.Waiting()
	if !strings.Contains(waiting[0].Reason, sellerAddress) || len(waiting[0].Message) == 0 {
		t.Errorf("the owner is told %+v", waiting[0])
	}
	if err := s.buyer.Refuse(key, ""); err != nil {
		t.Fatal(err)
	}

	// What is no message of ours counts in a report that ours is late.
	foreign := s.signed(newIdentity(t), agentmsg.Envelope{Request: &agentmsg.Request{Offering: "chat"}})
	late := func(part string) []byte {
		return bytes.Replace(report(about, "delayed", nil), []byte("\r\n\r\n--b--\r\n"), []byte("\r\n\r\n--b\r\n"+part+"\r\n--b--\r\n"), 1)
	}
	s.expect(s.buyer, late("Content-Type: message/rfc822\r\n\r\n"+string(foreign)), "held")
	s.expect(s.buyer, late("Content-Type: application/json; name=envelope.json\r\n\r\n{}"), "ignored")
}

// A letter that cannot be sent shows at its request, and is sent again.
func TestExchangeLetterFails(t *testing.T) {
	s := agentScene(t)
	if _, err := s.buyer.Do(s.ask("chat", "Hello.")); err != nil {
		t.Fatal(err)
	}
	state := func() DeliveryState {
		requests, err := s.buyer.Requests()
		if err != nil {
			t.Fatal(err)
		}
		return requests[0].Delivery.State
	}
	if got := state(); got != DeliveryQueued {
		t.Errorf("it is %s", got)
	}
	refuses := transport(func(_, _ string, _ []byte) error { return errors.New("550 no") })
	if _, err := s.buyer.sendDue(t.Context(), refuses); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != DeliveryFailed {
		t.Errorf("it is %s", got)
	}
	if err := s.buyer.Approve(s.onlyWaiting(s.buyer)); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != DeliveryQueued {
		t.Errorf("it is %s", got)
	}
	s.letter(s.buyer)
	if got := state(); got != DeliverySent {
		t.Errorf("it is %s", got)
	}
	if n := s.rows(s.buyer, tableLetters); n != 0 {
		t.Errorf("the bytes of %d letters are left", n)
	}
}

// Files of messages that may not count leave nothing; a spool that cannot be
// written leaves the mail undelivered.
func TestSpool(t *testing.T) {
	s := agentScene(t)
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := s.ask("chat", "One.")
	with.Files = []string{file, file}
	_, raw := s.do(s.buyer, with)
	folders := func() int {
		list, err := os.ReadDir(s.services["seller"].Spool.Name())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	broken := bytes.Replace(raw, []byte("\r\nYQ==\r\n"), []byte("\r\nYg==\r\n"), 1)
	r := s.expect(s.seller, broken, "held")
	if r.Exchange.Files[0].State != emailing.FileDiffers || r.Exchange.Files[1].State != emailing.FileIntact {
		t.Errorf("the files are %+v", r.Exchange.Files)
	}
	if folders() != 1 {
		t.Errorf("%d folders", folders())
	}
	s.expect(s.seller, raw, "refused duplicate")
	if folders() != 1 {
		t.Errorf("%d folders after a duplicate", folders())
	}
	s.tick(s.seller, doorKeep+time.Minute)
	if folders() != 0 {
		t.Errorf("%d folders after 30 days", folders())
	}
	if err := s.services["seller"].Spool.Mkdir("left-by-a-crash", 0o700); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if err := s.seller.Begin(); err != nil {
		t.Fatal(err)
	}
	if folders() != 0 {
		t.Errorf("%d folders after a restart", folders())
	}

	_, raw = s.do(s.buyer, with)
	if err := s.services["seller"].Spool.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.seller.Deliver(t.Context(), []Mail{{Raw: raw, Arrival: s.now}}, nil); err == nil {
		t.Error("a mail whose files cannot be kept was delivered")
	}
	s.seller.srv.Spool = nil
	r = s.expect(s.seller, raw, "held")
	if r.Exchange.Files[0].State != emailing.FileIntact || r.Exchange.Files[0].Path != "" {
		t.Errorf("without a spool: %+v", r.Exchange.Files)
	}
}

// A message that names one part many times is decoded once, and others no
// longer than a bound.
func TestSpoolBounded(t *testing.T) {
	left := int64(3)
	w := &bounded{new(bytes.Buffer), &left}
	if _, err := w.Write([]byte("abc")); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte("d")); !errors.Is(err, errCopied) {
		t.Errorf("beyond the bound: %v", err)
	}
	c := copying{}
	f := ReceivedFile{State: emailing.FileIntact}
	if err := c.spent(&f, errCopied); err != nil || f.State != emailing.FileMissing {
		t.Errorf("%v, %+v", err, f)
	}
}

// The memory of duplicates is bounded: the oldest goes first.
func TestMemory(t *testing.T) {
	s := agentScene(t)
	s.store.Rehearse(nil)
	s.admits()
	_, first := s.do(s.buyer, s.ask("chat", "One."))
	s.expect(s.seller, first, "accepted")
	if err := s.seller.update(func(tx *store.Tx) error {
		for range maxMet - 1 {
			if _, err := tx.Next(tableMetOrder); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.expect(s.seller, first, "refused duplicate")
	_, second := s.do(s.buyer, s.ask("chat", "Two."))
	s.expect(s.seller, second, "accepted")
	s.expect(s.seller, first, "accepted") // forgotten
	s.tick(s.seller, keepMet+time.Second)
	if n := s.rows(s.seller, tableMet) + s.rows(s.seller, tableMetOrder); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	s.expect(s.seller, first, "refused stale")
}

// An inbox without an agent takes an envelope for a normal email.
func TestNoAgent(t *testing.T) {
	s := agentScene(t)
	_, raw := s.do(s.buyer, s.ask("chat", "Hello."))
	s.seller.set.Agent = nil
	s.expect(s.seller, raw, "plain none")
}
