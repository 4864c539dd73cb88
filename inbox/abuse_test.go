package inbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
)

// An address that the owner moves from a pinned card to another stays there
// when the pinned card goes.
func TestAddressOfTwoCards(t *testing.T) {
	s := agentScene(t)
	s.admits()
	other := newIdentity(t)
	s.expect(s.seller, s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: "chat", Input: []byte(`"Hi"`)}}), "accepted") // pins
	if err := s.seller.PutContact(Contact{Agent: other.ID(), Addresses: []string{buyerAddress}}); err != nil {
		t.Fatal(err)
	}
	if err := s.seller.RemoveContact(s.agent(s.buyer)); err != nil {
		t.Fatal(err)
	}
	// The buyer poses as the agent whose address that is now.
	raw := s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: "chat", Input: []byte(`"Hi"`)}})
	if r := s.expect(s.seller, raw, "held"); len(r.Warnings) != 1 {
		t.Errorf("warnings %v", r.Warnings)
	}
}

// What nobody keeps leaves neither files nor much of itself in the events:
// anybody may send it, and each event is kept for long.
func TestNothingLeft(t *testing.T) {
	s := agentScene(t)
	file := agentmsg.File{Name: strings.Repeat("n", 1000), Ref: "cid:a@buyer.test"}
	file.Pin(1, [32]byte{})
	text := []byte(`"` + strings.Repeat("a", 60_000) + `"`)
	for name, c := range map[string]struct {
		e    agentmsg.Envelope
		want string
	}{
		"knock":    {agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingKnock, Input: text, Files: []agentmsg.File{file}}}, "accepted"},
		"describe": {agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingDescribe, Input: text, Files: []agentmsg.File{file}}}, "accepted"},
		"another":  {agentmsg.Envelope{To: newIdentity(t).ID(), Request: &agentmsg.Request{Offering: "chat", Input: text, Files: []agentmsg.File{file}}}, "refused misaddressed"},
	} {
		c.e.Meta.Email.Address = buyerAddress
		signed, err := newIdentity(t).Compose(c.e, s.now, s.services["buyer"].Random)
		if err != nil {
			t.Fatal(err)
		}
		s.expect(s.seller, bare(signed), c.want)
		e := s.lastEvent(s.seller)
		if len(e.Message) > 0 || e.Exchange.Text != "" || len(e.Exchange.Files) > 0 {
			t.Errorf("%s: the event keeps %d bytes of the message, %d of its text, %d files", name, len(e.Message), len(e.Exchange.Text), len(e.Exchange.Files))
		}
	}
}

// bare is a mail that is nothing but an envelope.
func bare(e *agentmsg.Envelope) []byte {
	return fmt.Appendf(nil, "From: x@else.test\r\nTo: agent@seller.test\r\nContent-Type: application/json; name=envelope.json\r\n\r\n%s\r\n", e.Bytes())
}

// A cancel has no files: none is shown at a path where there is none.
func TestCancelWithFiles(t *testing.T) {
	s := agentScene(t)
	_, working := s.begin()
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := s.buyer.attach([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	c, err := agentmsg.Cancel{TaskID: working.Task, Reason: agentmsg.ReasonPolicy}.Request()
	if err != nil {
		t.Fatal(err)
	}
	c.Files = files.named
	e := agentmsg.Envelope{TaskID: working.Task, Request: c}
	e.Meta.Email.Address = buyerAddress
	signed, err := s.buyer.set.Agent.Identity.Compose(e, s.now, s.services["buyer"].Random)
	if err != nil {
		t.Fatal(err)
	}
	letter := emailing.Letter{Files: files.bodies}
	letter.From.Address, letter.To.Address = buyerAddress, sellerAddress
	raw, err := emailing.Compose(signed, letter, s.services["buyer"].Random)
	if err != nil {
		t.Fatal(err)
	}
	r := s.expect(s.seller, raw, "accepted")
	if r.Exchange.Task.State != agentmsg.StatusCanceled {
		t.Fatalf("the task is %+v", r.Exchange.Task)
	}
	shown := s.lastEvent(s.seller).Exchange.Files
	for _, m := range s.task(s.seller, working.Task).Messages {
		shown = append(shown, m.Files...)
	}
	for _, f := range shown {
		if _, err := os.Stat(f.Path); f.Path != "" && err != nil {
			t.Errorf("a file is shown that is not there: %v", err)
		}
	}
}

// A file system may hold two names for one that differ here: the second file
// gets another name, and the mail comes in.
func TestFileNameTaken(t *testing.T) {
	s := agentScene(t)
	spool := s.services["seller"].Spool
	if err := errors.Join(spool.Mkdir("f", 0o700), spool.WriteFile("f/s.txt", []byte("other"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := copying{in: s.seller, folder: "f", names: map[string]bool{}}
	f, name, err := c.create("s.txt")
	if err != nil || name == "s.txt" {
		t.Fatalf("%q, %v", name, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := spool.ReadFile("f/s.txt"); err != nil || string(kept) != "other" {
		t.Errorf("the first file is %q, %v", kept, err)
	}
}

// Files of no bytes take room as well.
func TestEmptyFilesCount(t *testing.T) {
	m := &errand{}
	for range 100 {
		m.files = append(m.files, ReceivedFile{Path: "x"})
	}
	if m.size() < 100*fileBlock {
		t.Errorf("a hundred empty files count as %d bytes", m.size())
	}
}

// A subject cut in the middle of a text that runs the other way is closed
// again.
func TestSubjectClosed(t *testing.T) {
	s := agentScene(t)
	raw := bytes.Replace(s.personMail("1", false), []byte("\r\nSubject: "), []byte("\r\nSubject: \u2067"+strings.Repeat("a", 300)), 1)
	s.expect(s.seller, raw, "review")
	waiting, err := s.seller.Waiting()
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%+v, %v", waiting, err)
	}
	if text := waiting[0].Text; !strings.HasSuffix(text, "\u2069\u2069") || len(text) > 2*maxLogged {
		t.Errorf("the owner is shown %+q", text)
	}
}

// Knocks beyond those that are listed are answered all the same, and the owner
// can see that they came.
func TestKnockNotListed(t *testing.T) {
	s := agentScene(t)
	knock := agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingKnock}}
	if err := s.seller.commit(func(j *judge) error { return j.count("x", claim{knocksWaiting, 1}, knocksWaiting.overall) }); err != nil {
		t.Fatal(err)
	}
	s.doctored = true
	r := s.expect(s.seller, s.signed(newIdentity(t), knock), "accepted")
	if r.Exchange.Answered != "ok" || !strings.Contains(r.Reason, "knocks wait") {
		t.Errorf("answered %q, and the log says %q", r.Exchange.Answered, r.Reason)
	}
}

// What the daemon answers by itself is forgotten after a while, and is no more
// than so much in an hour, whatever addresses strangers say they have.
func TestAnswersBounded(t *testing.T) {
	s := agentScene(t, func(set *Settings) { set.HourlyLimit = 2 })
	describe := func(n int) Result {
		e := agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingDescribe}}
		e.Meta.Email.Address = fmt.Sprintf("a%d@victim%d.test", n, n)
		return s.expect(s.seller, s.signed(newIdentity(t), e), "accepted")
	}
	for n := range 2 * goOnTimes {
		if r := describe(n); r.Exchange.Answered != "ok" {
			t.Fatalf("number %d: answered %q (%s)", n, r.Exchange.Answered, r.Reason)
		}
	}
	if r := describe(100); r.Exchange.Answered != "" || r.Reason == "" {
		t.Errorf("answered %q (%s)", r.Exchange.Answered, r.Reason)
	}
	s.cards()
	s.expect(s.seller, s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingDescribe}}), "accepted")
	if e := s.lastEvent(s.seller); e.Exchange.Answered != "ok" {
		t.Errorf("a contact is answered %q (%s)", e.Exchange.Answered, e.Reason)
	}
	s.tick(s.seller, time.Hour+time.Second)
	if r := describe(101); r.Exchange.Answered != "ok" {
		t.Errorf("an hour later: answered %q (%s)", r.Exchange.Answered, r.Reason)
	}
	s.tick(s.seller, keepAnswer+time.Hour)
	if n := s.rows(s.seller, tableExchanges); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// A task has no more messages than so many: each is written with the names of
// all before it.
func TestTaskBounded(t *testing.T) {
	s := agentScene(t)
	_, working := s.begin()
	s.store.Rehearse(nil)
	if err := s.seller.commit(func(j *judge) error {
		var row taskRow
		if _, err := j.tx.Get(tableTasks, working.Task, &row); err != nil {
			return err
		}
		for len(row.Messages) < maxThread {
			row.Messages = append(row.Messages, "x")
		}
		return j.tx.Put(tableTasks, working.Task, row)
	}); err != nil {
		t.Fatal(err)
	}
	s.doctored = true
	more := agentmsg.Envelope{TaskID: working.Task, Request: &agentmsg.Request{Offering: "translate", Input: []byte(`"more"`)}}
	s.expect(s.seller, s.envelope(more), "refused overfull")
	// It can still be ended, by either side.
	c, err := agentmsg.Cancel{TaskID: working.Task, Reason: agentmsg.ReasonPolicy}.Request()
	if err != nil {
		t.Fatal(err)
	}
	s.expect(s.seller, s.envelope(agentmsg.Envelope{TaskID: working.Task, Request: c}), "accepted")
}

// A person gets the files of an answer, or the agent is told that it cannot be.
func TestPersonGetsFiles(t *testing.T) {
	s := agentScene(t)
	raw := s.personMail("1", true)
	s.expect(s.seller, raw, "bridged")
	if err := s.seller.Approve(s.onlyWaiting(s.seller)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, letter := s.do(s.seller, Action{Type: ActRespond, Event: s.pending(s.seller).Seq, Text: "Here.", Files: []string{path}})
	if !bytes.Contains(letter, []byte("dGhlIGZpbGU=")) || bytes.Contains(letter, []byte("envelope.json")) {
		t.Errorf("the person is sent\n%s", letter)
	}
}

// The owner's word on an agent is an event, whether something waits or not.
func TestRulingIsAnEvent(t *testing.T) {
	s := agentScene(t)
	agent := newIdentity(t).ID()
	if err := s.seller.Decide(agent, agentmsg.StanceBlock, "asks too much"); err != nil {
		t.Fatal(err)
	}
	e := s.lastEvent(s.seller)
	if e.Kind != KindDecided || e.Exchange.From != agent || !strings.Contains(e.Reason, "block") {
		t.Errorf("the event is %+v", e)
	}
	if e := s.pending(s.seller); e != nil {
		t.Errorf("the agent is asked about it: %+v", e)
	}
}

// No message carries a file of the daemon's own, by whatever name; what came
// to the inbox itself may go on.
func TestPrivateFiles(t *testing.T) {
	s := agentScene(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spool := filepath.Join(dir, "state", "spool")
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.MkdirAll(spool, 0o700), os.Mkdir(at("state-not"), 0o700), os.WriteFile(at("agent.seed"), []byte("x"), 0o600),
		os.WriteFile(at("state/store.db"), []byte("x"), 0o600), os.WriteFile(at("state-not/a"), []byte("x"), 0o600),
		os.WriteFile(at("state/spool/came"), []byte("x"), 0o600), os.Symlink("agent.seed", at("innocent.txt")), os.Symlink("state", at("folder")),
	); err != nil {
		t.Fatal(err)
	}
	s.buyer.srv.Private = func() []string { return []string{at("agent.seed"), at("folder")} }
	if s.buyer.srv.Spool, err = os.OpenRoot(spool); err != nil {
		t.Fatal(err)
	}
	defer s.buyer.srv.Spool.Close()
	for name, sent := range map[string]bool{
		"agent.seed": false, "innocent.txt": false, "state/store.db": false, "folder/store.db": false, "state-not/../agent.seed": false,
		"state-not/a": true, "state/spool/came": true,
	} {
		_, err := s.buyer.attach([]string{at(name)})
		if (err == nil) != sent || err != nil && !errors.Is(err, ErrAction) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.buyer.attach([]string{"/dev/null"}); err == nil {
		t.Error("a device was read")
	}
	if _, err := s.buyer.attach(make([]string, maxAttached+1)); err == nil {
		t.Error("too many files were read")
	}
}

// The list of what waits is whole though a report is about a mail of another
// key of the agent.
func TestBounceOfAnotherKey(t *testing.T) {
	s := agentScene(t)
	done, _ := s.do(s.buyer, s.ask("chat", "Hello."))
	s.expect(s.buyer, report(emailing.MessageID(done.ID, buyerAddress), "failed", nil), "bounce")
	agent := *s.settings["buyer"].Agent
	agent.Identity = newIdentity(t)
	set := s.settings["buyer"]
	set.Agent = &agent
	s.settings["buyer"] = set
	s.restart()
	if err := s.buyer.Refuse(s.onlyWaiting(s.buyer), ""); err != nil {
		t.Error(err)
	}
}

// A roster of before is not put back in force, nor is one of another agent,
// whatever the clocks say.
func TestRosterPutBack(t *testing.T) {
	s := agentScene(t)
	agent := s.agent(s.buyer)
	own := s.seller.set.Agent.Identity
	for name, at := range map[string]time.Duration{"signed now": 0, "signed by a clock that is ahead": 24 * time.Hour, "signed by one that was slow": -time.Millisecond} {
		allowing, err := own.SignRoster(agentmsg.Roster{Updated: s.now.Add(at), Entries: []agentmsg.Entry{{Subject: agent, Stance: agentmsg.StanceAllow}}})
		if err != nil {
			t.Fatal(err)
		}
		if s.seller, err = Open(s.settings["seller"], s.seller.srv); err != nil {
			t.Fatal(err)
		}
		if err := s.seller.commit(func(j *judge) error { return j.putRoster(allowing) }); err != nil {
			t.Fatal(err)
		}
		if err := s.seller.Decide(agent, agentmsg.StanceBlock, ""); err != nil {
			t.Fatal(err)
		}
		foreign, err := newIdentity(t).SignRoster(agentmsg.Roster{Updated: s.now.Add(48 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range [][]byte{allowing, foreign, bytes.Replace(allowing, []byte("allow"), []byte("block"), 1), append(allowing, make([]byte, 4<<20)...)} {
			if err := s.seller.SetRoster(document); !errors.Is(err, ErrAction) {
				t.Errorf("%s: %d bytes were put in force: %v", name, len(document), err)
			}
		}
		s.expect(s.seller, s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: "chat", Input: []byte(`"Hi"`)}}), "blocked")
		in, err := s.seller.Roster()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.seller.SetRoster(in); err != nil { // the one in force may come once more
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two bridges that write to one another do not go on for ever: what one answers
// is written by no person.
func TestTwoBridges(t *testing.T) {
	s := agentScene(t, func(set *Settings) { set.Agent.Bridge = true })
	raw := []byte("From: agent@buyer.test\r\nTo: agent@seller.test\r\nSubject: Hi\r\nMessage-ID: <1@buyer.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHello.\r\n")
	signed, err := s.services["buyer"].Signer.Sign(raw, s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.expect(s.seller, signed, "bridged")
	if err := s.seller.Approve(s.onlyWaiting(s.seller)); err != nil {
		t.Fatal(err)
	}
	_, answer := s.do(s.seller, Action{Type: ActRespond, Event: s.pending(s.seller).Seq, Text: "Who is there?"})
	s.expect(s.buyer, answer, "ignored")
	if letters := outbox(t, s.buyer); len(letters) != 0 {
		t.Errorf("it is answered: %+v", letters)
	}
}
