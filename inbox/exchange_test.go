package inbox

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/nats-io/nkeys"
)

// agentScene is a scene whose inboxes have an agent and a spool each. The
// seller bridges, and offers translate beside chat.
func agentScene(t testing.TB, change ...func(*Settings)) *scene {
	t.Helper()
	agents := func(set *Settings) {
		set.Agent = &Agent{Identity: newIdentity(t)}
		if set.Name == "seller" {
			set.Agent.Bridge, set.Agent.Offerings = true, []string{"translate"}
		}
		set.Handled = true
	}
	s := newScene(t, append([]func(*Settings){agents}, change...)...)
	for name, services := range s.services {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		services.Spool = root
		s.services[name] = services
	}
	s.restart()
	return s
}

func newIdentity(t testing.TB) agentmsg.Identity {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	identity, err := agentmsg.ParseSeed(string(seed))
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func (s *scene) agent(in *Inbox) string { return in.set.Agent.Identity.ID() }

// ask is an action of the buyer, who knows the seller's agent.
func (s *scene) ask(offering, text string) Action {
	return Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: offering, Text: text}
}

// admits has the seller's owner admit the buyer's agent.
func (s *scene) admits() {
	s.t.Helper()
	if err := s.seller.Decide(s.agent(s.buyer), agentmsg.StanceAllow, ""); err != nil {
		s.t.Fatal(err)
	}
}

// envelope signs a message of the buyer's agent as a mail to the seller.
func (s *scene) envelope(e agentmsg.Envelope) []byte {
	s.t.Helper()
	e.Meta.Email.Address = buyerAddress
	return s.signed(s.buyer.set.Agent.Identity, e)
}

func (s *scene) signed(by agentmsg.Identity, e agentmsg.Envelope) []byte {
	s.t.Helper()
	signed, err := by.Compose(e, s.now, s.services["buyer"].Random)
	if err != nil {
		s.t.Fatal(err)
	}
	letter := emailing.Letter{}
	letter.From.Address, letter.To.Address = buyerAddress, sellerAddress
	raw, err := emailing.Compose(signed, letter, s.services["buyer"].Random)
	if err != nil {
		s.t.Fatal(err)
	}
	if raw, err = s.services["buyer"].Signer.Sign(raw, s.now); err != nil {
		s.t.Fatal(err)
	}
	return raw
}

func (s *scene) task(in *Inbox, id string) Task {
	s.t.Helper()
	task, err := in.Task(id)
	if err != nil {
		s.t.Fatal(err)
	}
	return task
}

// pending is the event that the handler is asked about next, and has answered.
func (s *scene) pending(in *Inbox) *Event {
	s.t.Helper()
	e, _, _, err := in.Pending()
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// A request with a file, three updates and an answer, from both sides.
func TestTaskStory(t *testing.T) {
	s := agentScene(t)
	s.admits()
	file := filepath.Join(t.TempDir(), "agenda.txt")
	if err := os.WriteFile(file, []byte("1. Mugs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := s.ask("translate", "Please translate.")
	ask.Files = []string{file}
	request, raw := s.do(s.buyer, ask)
	r := s.expect(s.seller, raw, "accepted")
	if len(r.Exchange.Files) != 1 || r.Exchange.Files[0].State != emailing.FileIntact {
		t.Fatalf("the file came as %+v", r.Exchange.Files)
	}
	kept, err := os.ReadFile(r.Exchange.Files[0].Path)
	if err != nil || string(kept) != "1. Mugs\n" {
		t.Fatalf("the spool has %q, %v", kept, err)
	}
	if !strings.Contains(r.Exchange.Text, "Please translate.") || !strings.HasPrefix(r.Exchange.Text, "===") {
		t.Errorf("the text is not framed: %q", r.Exchange.Text)
	}
	e := s.pending(s.seller)
	if e == nil || e.Exchange.Offering != "translate" || e.ID != request.ID {
		t.Fatalf("the agent is told %+v", e)
	}

	working, raw := s.do(s.seller, Action{Type: ActRespond, Status: agentmsg.StatusWorking, Event: e.Seq})
	if working.Task == "" || working.To != buyerAddress {
		t.Fatalf("working: %+v", working)
	}
	s.expect(s.buyer, raw, "accepted")
	s.now = s.now.Add(time.Minute)
	_, raw = s.do(s.seller, Action{Type: ActRespond, Request: request.ID, Status: agentmsg.StatusInputRequired, Text: "Into which language?"})
	r = s.expect(s.buyer, raw, "accepted")
	if want := (Standing{working.Task, agentmsg.StatusInputRequired}); *r.Exchange.Task != want {
		t.Errorf("the task stands at %+v, want %+v", *r.Exchange.Task, want)
	}
	more := s.ask("translate", "French.")
	more.Task = working.Task
	_, raw = s.do(s.buyer, more)
	s.expect(s.seller, raw, "accepted")
	s.now = s.now.Add(time.Minute)
	for _, status := range []agentmsg.Status{agentmsg.StatusWorking, agentmsg.StatusInputRequired, agentmsg.StatusWorking, agentmsg.StatusCompleted} { // all at one time
		done := Action{Type: ActRespond, Request: request.ID, Status: status, Text: "Voilà."}
		if status.Final() {
			done.Files = []string{file}
		}
		_, raw = s.do(s.seller, done)
		r = s.expect(s.buyer, raw, "accepted")
	}
	if len(r.Exchange.Files) != 1 || r.Exchange.Files[0].Path == "" {
		t.Errorf("the artifact came as %+v", r.Exchange.Files)
	}
	for _, in := range []*Inbox{s.buyer, s.seller} {
		task := s.task(in, working.Task)
		if task.State != agentmsg.StatusCompleted || len(task.Messages) == 0 || task.Offering != "translate" {
			t.Errorf("%s: the task is %s with %d messages", in.Name(), task.State, len(task.Messages))
		}
		for _, m := range task.Messages {
			if (m.From == s.agent(in)) != (m.Delivery != nil) || m.Delivery != nil && m.Delivery.State != DeliverySent {
				t.Errorf("%s: message of %s is %+v", in.Name(), m.From, m.Delivery)
			}
		}
	}
	if _, err := s.seller.Do(Action{Type: ActRespond, Request: request.ID, Text: "Once more."}); !errors.Is(err, ErrAction) {
		t.Errorf("a finished task was answered: %v", err)
	}
	if _, err := s.buyer.Do(Action{Type: ActCancelTask, Task: working.Task}); !errors.Is(err, ErrAction) {
		t.Errorf("a finished task was cancelled: %v", err)
	}
}

// begin has the seller begin a task for the buyer.
func (s *scene) begin() (request, working Done) {
	s.t.Helper()
	s.admits()
	request, raw := s.do(s.buyer, s.ask("translate", "Please translate."))
	s.expect(s.seller, raw, "accepted")
	working, raw = s.do(s.seller, Action{Type: ActRespond, Request: request.ID, Status: agentmsg.StatusWorking})
	s.expect(s.buyer, raw, "accepted")
	return request, working
}

// A cancel ends the task on the side that was asked at once, and on the other
// by its answer.
func TestTaskCancel(t *testing.T) {
	s := agentScene(t)
	_, working := s.begin()
	s.now = s.now.Add(time.Second)
	cancel, raw := s.do(s.buyer, Action{Type: ActCancelTask, Task: working.Task, Reason: "needs_not_furnished", UnmetNeed: "file:the letter", Note: "It is lost."})
	r := s.expect(s.seller, raw, "accepted")
	if r.Exchange.Answered != "ok" || r.Exchange.AnsweredTo != buyerAddress || r.Exchange.Task.State != agentmsg.StatusCanceled || cancel.Task != working.Task {
		t.Errorf("the cancel came to %+v", r.Exchange)
	}
	answer := s.letter(s.seller)
	s.expect(s.buyer, answer, "accepted")
	for _, in := range []*Inbox{s.buyer, s.seller} {
		if got := s.task(in, working.Task).State; got != agentmsg.StatusCanceled {
			t.Errorf("%s: the task is %s", in.Name(), got)
		}
	}
	for _, c := range []struct{ name, input, want, answer string }{
		{"once more", `{"task_id":"` + working.Task + `","reason":"policy"}`, "refused cancel", "TASK_NOT_CANCELABLE"},
		{"unknown", `{"task_id":"no such","reason":"policy"}`, "refused cancel", "TASK_NOT_FOUND"},
		{"no reason", `{"task_id":"` + working.Task + `"}`, "refused cancel", "INVALID_ENVELOPE"},
	} {
		raw := s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingCancel, Input: []byte(c.input)}})
		if r := s.expect(s.seller, raw, c.want); r.Exchange.Answered != c.answer {
			t.Errorf("%s: answered %q", c.name, r.Exchange.Answered)
		}
		s.letter(s.seller)
	}
}

// Nobody but the two has a say in a task, admitted or not.
func TestTaskStrangers(t *testing.T) {
	s := agentScene(t)
	request, working := s.begin()
	stranger := newIdentity(t)
	for _, admitted := range []bool{false, true} {
		if admitted {
			if err := errors.Join(s.seller.Decide(stranger.ID(), agentmsg.StanceAllow, ""), s.buyer.Decide(stranger.ID(), agentmsg.StanceAllow, "")); err != nil {
				t.Fatal(err)
			}
		}
		c, err := agentmsg.Cancel{TaskID: working.Task, Reason: agentmsg.ReasonPolicy}.Request()
		if err != nil {
			t.Fatal(err)
		}
		s.expect(s.seller, s.signed(stranger, agentmsg.Envelope{Request: c}), "refused stranger")
		s.expect(s.seller, s.signed(stranger, agentmsg.Envelope{TaskID: working.Task, Request: &agentmsg.Request{Offering: "chat"}}), "refused stranger")
		s.expect(s.buyer, s.signed(stranger, agentmsg.Envelope{InReplyTo: request.ID, Respond: &agentmsg.Respond{Status: agentmsg.StatusCompleted}}), "refused stranger")
		s.expect(s.buyer, s.signed(stranger, agentmsg.Envelope{InReplyTo: working.ID, Respond: &agentmsg.Respond{Status: agentmsg.StatusCompleted}}), "refused unsolicited")
	}
	// Another agent that was asked for something else may not speak of the task.
	other := Action{Type: ActRequest, To: "else@else.test", Agent: stranger.ID(), Offering: "chat", Text: "Hello."}
	asked, _ := s.do(s.buyer, other)
	s.expect(s.buyer, s.signed(stranger, agentmsg.Envelope{InReplyTo: asked.ID, TaskID: working.Task, Respond: &agentmsg.Respond{Status: agentmsg.StatusFailed}}), "refused stranger")
	if got := s.task(s.buyer, working.Task).State; got != agentmsg.StatusWorking {
		t.Errorf("the task is %s", got)
	}
}

// An update that comes late and changes where the task stands is told (E1).
func TestTaskCorrected(t *testing.T) {
	s := agentScene(t)
	s.admits()
	request, raw := s.do(s.buyer, s.ask("translate", "Please translate."))
	s.expect(s.seller, raw, "accepted")
	seller := s.seller.set.Agent.Identity
	update := func(status agentmsg.Status) []byte {
		s.now = s.now.Add(time.Second)
		return s.signed(seller, agentmsg.Envelope{InReplyTo: request.ID, TaskID: "t", Respond: &agentmsg.Respond{Status: status}})
	}
	late, last := update(agentmsg.StatusFailed), update(agentmsg.StatusCompleted)
	s.expect(s.buyer, last, "accepted")
	s.expect(s.buyer, late, "accepted")
	if got := s.task(s.buyer, "t").State; got != agentmsg.StatusFailed {
		t.Errorf("the task is %s", got)
	}
	kinds := map[string]int{}
	events, _, err := s.buyer.Events("", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		kinds[e.Kind]++
	}
	if kinds[KindTaskCorrected] != 1 {
		t.Errorf("events: %v", kinds)
	}
}

func TestKnock(t *testing.T) {
	s := agentScene(t)
	knock := func() []byte {
		s.now = s.now.Add(time.Second)
		return s.envelope(agentmsg.Envelope{Request: &agentmsg.Request{Offering: agentmsg.OfferingKnock, Input: []byte(`{"text":"May I?"}`)}})
	}
	var answers [][]byte
	for _, stance := range []agentmsg.Stance{"", agentmsg.StanceHold, agentmsg.StanceBlock, agentmsg.StanceAllow} {
		if stance != "" {
			if err := s.seller.Decide(s.agent(s.buyer), stance, "why"); err != nil {
				t.Fatal(err)
			}
		}
		if r := s.expect(s.seller, knock(), "accepted"); r.Exchange.Answered != "ok" {
			t.Errorf("stance %q: answered %q", stance, r.Exchange.Answered)
		}
		raw := s.letter(s.seller)
		e := envelopeOf(t, raw)
		answers = append(answers, e.Body())
	}
	for _, a := range answers[1:] {
		if !bytes.Equal(a, answers[0]) {
			t.Errorf("knockers hear %s and %s", answers[0], a)
		}
	}
	if waiting, err := s.seller.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("decided, and %+v, %v waits", waiting, err)
	}
}

// What waits of a knocker and of its messages is settled by one decision.
func TestAdmission(t *testing.T) {
	for name, c := range map[string]struct {
		decide  func(*scene, map[string]string) error
		handed  int
		waiting int
		next    string
	}{
		"admit": {func(s *scene, k map[string]string) error { return s.seller.Approve(k["knock"]) }, 2, 0, "accepted"},
		"block": {func(s *scene, _ map[string]string) error {
			return s.seller.Decide(s.agent(s.buyer), agentmsg.StanceBlock, "")
		}, 0, 0, "blocked"},
		"hold": {func(s *scene, _ map[string]string) error {
			return s.seller.Decide(s.agent(s.buyer), agentmsg.StanceHold, "")
		}, 0, 2, "held"},
		"one let in":       {func(s *scene, k map[string]string) error { return s.seller.Approve(k["agent"]) }, 1, 2, "held"},
		"one turned away":  {func(s *scene, k map[string]string) error { return s.seller.Refuse(k["agent"], "") }, 0, 2, "held"},
		"the knock aside":  {func(s *scene, k map[string]string) error { return s.seller.Refuse(k["knock"], "") }, 0, 2, "held"},
		"nothing, 30 days": {func(s *scene, _ map[string]string) error { s.tick(s.seller, doorKeep+time.Hour); return nil }, 0, 0, "held"},
	} {
		t.Run(name, func(t *testing.T) {
			s := agentScene(t)
			file := filepath.Join(t.TempDir(), "a.txt")
			if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
				t.Fatal(err)
			}
			with := s.ask("chat", "One.")
			with.Files = []string{file}
			_, one := s.do(s.buyer, with)
			_, two := s.do(s.buyer, s.ask("chat", "Two."))
			_, knock := s.do(s.buyer, s.ask("knock", "May I?"))
			path := s.expect(s.seller, one, "held").Exchange.Files[0].Path
			s.expect(s.seller, two, "held")
			s.expect(s.seller, knock, "accepted")
			s.expect(s.seller, two, "refused duplicate")
			s.letter(s.seller)
			keys := map[string]string{}
			waiting, err := s.seller.Waiting()
			if err != nil || len(waiting) != 3 {
				t.Fatalf("%+v, %v waits", waiting, err)
			}
			for _, w := range waiting {
				if w.Agent != s.agent(s.buyer) {
					t.Errorf("%s is of %q", w.Key, w.Agent)
				}
				if keys[w.Kind] == "" {
					keys[w.Kind] = w.Key
				}
			}
			if err := c.decide(s, keys); err != nil {
				t.Fatal(err)
			}
			handed := 0
			for e := s.pending(s.seller); e != nil; e = s.pending(s.seller) {
				handed++
				if err := s.seller.HandlerDone(e.Seq); err != nil {
					t.Fatal(err)
				}
			}
			if handed != c.handed {
				t.Errorf("the agent is told of %d", handed)
			}
			if waiting, _ := s.seller.Waiting(); len(waiting) != c.waiting {
				t.Errorf("%d wait: %+v", len(waiting), waiting)
			}
			_, statErr := os.Stat(path)
			if kept := statErr == nil; kept != (c.handed > 0 || c.waiting == 2 && name != "one turned away") {
				t.Errorf("the file is kept: %v", kept)
			}
			_, more := s.do(s.buyer, s.ask("chat", "Three."))
			s.expect(s.seller, more, c.next)
			s.restart() // nothing of the spool is swept that is kept
			if _, err := os.Stat(path); (err == nil) != (statErr == nil) {
				t.Errorf("after a restart the file is: %v", err)
			}
		})
	}
}

func envelopeOf(t testing.TB, raw []byte) *agentmsg.Envelope {
	t.Helper()
	e, err := agentmsg.Parse(foundIn(t, raw).Envelope)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The sliding hour: the third waits, and after an hour there is room again.
func TestRate(t *testing.T) {
	s := agentScene(t)
	two := int64(2)
	document, err := s.seller.set.Agent.Identity.SignRoster(agentmsg.Roster{
		Limits: agentmsg.Limits{PerSenderPerHour: &two}, Updated: s.now,
		Entries: []agentmsg.Entry{{Subject: s.agent(s.buyer), Stance: agentmsg.StanceAllow}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.seller.SetRoster(document); err != nil {
		t.Fatal(err)
	}
	hello := func(want string) {
		t.Helper()
		_, raw := s.do(s.buyer, s.ask("chat", "Hello."))
		s.expect(s.seller, raw, want)
	}
	hello("accepted")
	s.now = s.now.Add(30 * time.Minute)
	hello("accepted")
	hello("held rate")
	s.now = s.now.Add(30*time.Minute - time.Millisecond)
	hello("held rate")
	s.now = s.now.Add(time.Millisecond)
	hello("accepted")
	hello("held rate")
	s.tick(s.seller, 3*time.Hour)
	s.tick(s.seller, time.Hour)
	if n := s.rows(s.seller, tableVisits); n != 0 {
		t.Errorf("%d senders are counted after hours", n)
	}
	older, err := s.seller.set.Agent.Identity.SignRoster(agentmsg.Roster{Updated: s.now.Add(-24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.seller.SetRoster(older); !errors.Is(err, ErrAction) {
		t.Errorf("an older roster was put back: %v", err)
	}
	if err := s.buyer.SetRoster(document); !errors.Is(err, ErrAction) {
		t.Errorf("the roster of another was taken: %v", err)
	}
	if got, err := s.seller.Roster(); err != nil || !bytes.Equal(got, document) {
		t.Errorf("the roster is %s, %v", got, err)
	}
}

func (s *scene) rows(in *Inbox, table store.Table) int {
	s.t.Helper()
	n := 0
	if err := in.view(func(tx *store.Tx) error { return count(tx, table, &n) }); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// What cannot be done is refused with what to do, and nothing is sent.
func TestExchangeActionsRefused(t *testing.T) {
	s := agentScene(t)
	request, working := s.begin()
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, MaxFile+1); err != nil {
		t.Fatal(err)
	}
	id := s.agent(s.buyer)
	for name, c := range map[string]struct {
		in *Inbox
		a  Action
	}{
		"nobody asked":         {s.buyer, Action{Type: ActRequest, Offering: "chat"}},
		"no address":           {s.buyer, Action{Type: ActRequest, Agent: newIdentity(t).ID(), Offering: "chat"}},
		"no such address":      {s.buyer, Action{Type: ActRequest, To: "nobody@else.test", Offering: "chat"}},
		"a bad address":        {s.buyer, Action{Type: ActRequest, To: "nobody", Offering: "chat"}},
		"itself":               {s.buyer, Action{Type: ActRequest, To: buyerAddress, Agent: id, Offering: "chat"}},
		"no offering":          {s.buyer, s.ask("", "Hello.")},
		"text and input":       {s.buyer, Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: "chat", Text: "a", Input: []byte(`1`)}},
		"a member of others":   {s.buyer, Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: "chat", Note: "a"}},
		"a great file":         {s.buyer, Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: "chat", Files: []string{big}}},
		"no file":              {s.buyer, Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: "chat", Files: []string{big + "gone"}}},
		"a folder":             {s.buyer, Action{Type: ActRequest, To: sellerAddress, Agent: s.agent(s.seller), Offering: "chat", Files: []string{filepath.Dir(big)}}},
		"an unknown request":   {s.seller, Action{Type: ActRespond, Request: "gone"}},
		"a request of ours":    {s.buyer, Action{Type: ActRespond, Request: request.ID}},
		"a step back":          {s.seller, Action{Type: ActRespond, Request: request.ID, Status: agentmsg.StatusSubmitted}},
		"no state":             {s.seller, Action{Type: ActRespond, Request: request.ID, Status: "tired"}},
		"no task":              {s.buyer, Action{Type: ActCancelTask, Task: "gone"}},
		"a task of the other":  {s.seller, Action{Type: ActCancelTask, Task: working.Task}},
		"a bad reason":         {s.buyer, Action{Type: ActCancelTask, Task: working.Task, Reason: "tired"}},
		"no need":              {s.buyer, Action{Type: ActCancelTask, Task: working.Task, Reason: "needs_not_furnished"}},
		"a need of no reason":  {s.buyer, Action{Type: ActCancelTask, Task: working.Task, Reason: "policy", UnmetNeed: "a:b"}},
		"another agent's task": {s.buyer, Action{Type: ActRequest, To: "b@else.test", Agent: newIdentity(t).ID(), Offering: "chat", Task: working.Task}},
	} {
		if _, err := c.in.Do(c.a); !errors.Is(err, ErrAction) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(outbox(t, s.buyer)) + len(outbox(t, s.seller)); n != 0 {
		t.Errorf("%d letters are in the outboxes", n)
	}
	if _, err := s.buyer.Task("gone"); !errors.Is(err, ErrAction) {
		t.Errorf("an unknown task: %v", err)
	}
	plain := newScene(t)
	if _, err := plain.buyer.Do(Action{Type: ActRequest}); !errors.Is(err, ErrAction) {
		t.Errorf("without an agent: %v", err)
	}
	for name, err := range map[string]error{
		"decide": plain.buyer.Decide(id, agentmsg.StanceAllow, ""), "roster": plain.buyer.SetRoster(nil), "contact": plain.buyer.PutContact(Contact{Agent: id}),
		"no agent id": s.buyer.Decide("somebody", agentmsg.StanceAllow, ""),
	} {
		if !errors.Is(err, ErrAction) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Tasks and requests are listed with where they stand.
func TestExchangeLists(t *testing.T) {
	s := agentScene(t)
	request, working := s.begin()
	for _, in := range []*Inbox{s.buyer, s.seller} {
		tasks, err := in.Tasks()
		if err != nil || len(tasks) != 1 || tasks[0].ID != working.Task || tasks[0].State != agentmsg.StatusWorking {
			t.Errorf("%s: tasks %+v, %v", in.Name(), tasks, err)
		}
		requests, err := in.Requests()
		if err != nil || len(requests) != 1 || requests[0].ID != request.ID || requests[0].Answer != agentmsg.StatusWorking || requests[0].Task != working.Task {
			t.Errorf("%s: requests %+v, %v", in.Name(), requests, err)
		}
	}
	if want := (threads.Update{ID: working.ID, From: s.agent(s.seller), TS: s.now.UnixMilli(), State: agentmsg.StatusWorking}); s.task(s.seller, working.Task).Updates[0] != want {
		t.Errorf("the history is %+v", s.task(s.seller, working.Task).Updates)
	}
}

func foundIn(t testing.TB, raw []byte) *emailing.Found {
	t.Helper()
	mail, err := envelope.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	found, err := emailing.Find(mail)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// An agent that gets another key keeps its roster.
func TestRosterSignedAnew(t *testing.T) {
	s := agentScene(t)
	if err := s.seller.Begin(); err != nil { // there is none yet
		t.Fatal(err)
	}
	if err := s.seller.Decide(s.agent(s.buyer), agentmsg.StanceBlock, ""); err != nil {
		t.Fatal(err)
	}
	before, err := s.seller.Roster()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.seller.Begin(); err != nil {
		t.Fatal(err)
	}
	if same, err := s.seller.Roster(); err != nil || !bytes.Equal(same, before) {
		t.Errorf("it was signed anew for nothing: %s, %v", same, err)
	}
	set := s.settings["seller"]
	agent := *set.Agent
	agent.Identity = newIdentity(t)
	set.Agent = &agent
	s.settings["seller"] = set
	s.restart()
	if err := s.seller.Begin(); err != nil {
		t.Fatal(err)
	}
	_, raw := s.do(s.buyer, s.ask("chat", "Hello."))
	s.expect(s.seller, raw, "blocked")
}

// TestRequest shows a request from both ends with what was answered, and reads
// what was sealed to the one who looks.
func TestRequest(t *testing.T) {
	key := func(set *Settings) {
		seed, err := agentmsg.NewSealingKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if set.Agent.Sealing, err = agentmsg.ParseSealingKey(seed); err != nil {
			t.Fatal(err)
		}
	}
	s := agentScene(t, key)
	s.admits()
	for _, in := range []*Inbox{s.buyer, s.seller} {
		other := s.seller
		if in == s.seller {
			other = s.buyer
		}
		if err := in.PutContact(Contact{Agent: other.AgentID(), Addresses: []string{other.Address()}, SealingKey: other.SealingKey()}); err != nil {
			t.Fatal(err)
		}
	}
	done, raw := s.do(s.buyer, s.ask("chat", "Secret."))
	s.expect(s.seller, raw, "accepted")
	_, raw = s.do(s.seller, Action{Type: ActRespond, Request: done.ID, Text: "Known."})
	s.expect(s.buyer, raw, "accepted")
	for in, want := range map[*Inbox][2]string{s.buyer: {"", "Known."}, s.seller: {"Secret.", ""}} {
		list, err := in.Request("", done.ID)
		if err != nil || len(list) != 2 {
			t.Fatalf("%s: %d messages, %v", in.Name(), len(list), err)
		}
		for i, m := range list {
			if m.Text != want[i] || m.Text == "" && !agentmsg.IsSealed(m.Body) || m.Text != "" && agentmsg.IsSealed(m.Body) {
				t.Errorf("%s: message %d is %q, %s", in.Name(), i, m.Text, m.Body)
			}
			if body, err := in.Body(m.Message); err != nil || !bytes.Equal(body, m.Body) {
				t.Errorf("%s: message %d has body %s, %v", in.Name(), i, body, err)
			}
		}
	}
	if list, err := s.buyer.Requests(); err != nil || len(list) != 1 || list[0].Message != nil || list[0].Body != nil {
		t.Errorf("the list is %+v, %v", list, err)
	}
	for _, id := range []string{"gone", ""} {
		if _, err := s.buyer.Request("", id); !errors.Is(err, ErrAction) {
			t.Errorf("request %q: %v", id, err)
		}
	}
	if _, err := s.buyer.Body([]byte("{}")); err == nil {
		t.Error("what is no message has a body")
	}
	for name, c := range map[string]Contact{
		"key": {Agent: s.agent(s.seller), SealingKey: "x"}, "name": {Agent: s.agent(s.seller), Name: "a\nb"},
	} {
		if err := s.buyer.PutContact(c); !errors.Is(err, ErrAction) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
