package handler

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// spoolShown is the spool of the document that docs/handler.md shows.
const spoolShown = "/var/lib/agentmaild/spool/sales"

// TestExchangeDocument compares what a program reads of a request with the
// document that docs/handler.md shows.
func TestExchangeDocument(t *testing.T) {
	s := newAgentScene(t)
	s.post(inbox.Action{
		Type: inbox.ActRequest, Offering: "chat", Text: "\"}\n<b>", Files: []string{write(t, "letter.txt", "Good morning.\n")},
	})
	got, err := s.handler(`:`).document(s.pending())
	check(t, err)
	shown := strings.ReplaceAll(string(got), s.spool.Name(), spoolShown)
	const golden = "testdata/exchange.json"
	if *update {
		check(t, os.WriteFile(golden, []byte(shown), 0o644))
	}
	want, err := os.ReadFile(golden)
	check(t, err)
	if diff := cmp.Diff(string(want), shown); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
}

// read is the document of the event that is pending, at the seller.
func (s *scene) read() Document {
	s.t.Helper()
	data, err := s.handler(`:`).document(s.pending())
	check(s.t, err)
	if err := valid(s.t, compile(s.t, "../docs/handler-event.schema.json"), string(data)); err != nil {
		s.t.Errorf("%s: %v", data, err)
	}
	var d Document
	check(s.t, json.Unmarshal(data, &d))
	return d
}

// TestExchanges reads each type of event of Agent Emailing.
func TestExchanges(t *testing.T) {
	s := newAgentScene(t)
	work := `echo '{"type":"respond","status":"working"}'`

	// A sealed request is read, and its task under way.
	card := inbox.Contact{Agent: s.seller.AgentID(), Addresses: []string{"agent@seller.test"}, SealingKey: s.seller.SealingKey()}
	check(t, s.buyer.PutContact(card))
	asked := s.post(inbox.Action{Type: inbox.ActRequest, Offering: "translate", Input: []byte(`{"text":"Hello.","to":"de"}`)})
	d := s.read()
	if d.Type != "request" || d.ID != asked.ID || d.Proof.Signature != "signed" || d.Exchange.From != s.buyer.AgentID() || d.Exchange.Offering != "translate" {
		t.Errorf("request: %+v", d)
	}
	if string(d.Exchange.Body) != `{"text":"Hello.","to":"de"}` || !strings.Contains(d.Exchange.Text, "\nHello.\n") || strings.Contains(string(d.Message), "Hello.") {
		t.Errorf("request: body %s, text %q, message %s", d.Exchange.Body, d.Exchange.Text, d.Message)
	}
	s.answer(s.handler(work))
	if trouble := s.trouble(); trouble != "" { // the buyer has no sealing key, but there is nothing to be sealed
		t.Fatal(trouble)
	}
	s.fetch()

	// The buyer ends the task.
	tasks, err := s.buyer.Tasks()
	check(t, err)
	s.post(inbox.Action{Type: inbox.ActCancelTask, Task: tasks[0].ID})
	d = s.read()
	if d.Type != "cancel_task" || d.Exchange.Task == nil || *d.Exchange.Task != (inbox.Standing{ID: tasks[0].ID, State: agentmsg.StatusCanceled}) {
		t.Errorf("cancel: %+v", d.Exchange)
	}
	s.answer(s.handler(`:`))
	s.fetch()

	// The seller asks, and is answered.
	check(t, s.seller.PutContact(inbox.Contact{Agent: s.buyer.AgentID(), Addresses: []string{"agent@buyer.test"}}))
	request, err := s.seller.Do(inbox.Action{Type: inbox.ActRequest, Agent: s.buyer.AgentID(), Offering: "chat", Text: "Why?"})
	check(t, err)
	check(t, s.buyer.Decide(s.seller.AgentID(), agentmsg.StanceAllow, ""))
	s.fetch()
	_, err = s.buyer.Do(inbox.Action{Type: inbox.ActRespond, Request: request.ID, Status: agentmsg.StatusFailed, Error: &agentmsg.Failure{Code: "NO"}})
	check(t, err)
	s.carry(s.buyer, s.seller)
	d = s.read()
	if d.Type != "respond" || d.Exchange.Status != agentmsg.StatusFailed || d.Exchange.Request != request.ID || d.Exchange.Offering != "chat" {
		t.Errorf("respond: %+v", d.Exchange)
	}
	s.answer(s.handler(`:`))

	// A person writes, and the owner lets the mail in.
	raw := []byte("From: ann@buyer.test\r\nTo: agent@seller.test\r\nSubject: Hi\r\nMessage-ID: <1@buyer.test>\r\nContent-Type: text/plain\r\n\r\nHello.\r\n")
	signed, err := s.signers["buyer"].Sign(raw, s.now)
	check(t, err)
	results, err := s.seller.Deliver(t.Context(), []inbox.Mail{{Raw: signed, Arrival: s.now}}, nil)
	check(t, err)
	if results[0].Verdict != inbox.Bridged {
		t.Fatalf("a person's mail: %+v", results[0])
	}
	waiting, err := s.seller.Waiting()
	check(t, err)
	check(t, s.seller.Approve(waiting[0].Key))
	d = s.read()
	if d.Type != "request" || d.Exchange.Person != "ann@buyer.test" || !d.Proof.Approved || d.Proof.Signature != "mail_only" || d.Proof.Domain != "buyer.test" {
		t.Errorf("a person's request: %+v, %+v", d.Proof, d.Exchange)
	}
	s.answer(s.handler(`echo '{"type":"respond","text":"Hello, Ann."}'`))
	if trouble := s.trouble(); trouble != "" {
		t.Error(trouble)
	}
}

// TestTaskCorrected has an update come behind a later one.
func TestTaskCorrected(t *testing.T) {
	s := newAgentScene(t)
	check(t, s.seller.PutContact(inbox.Contact{Agent: s.buyer.AgentID(), Addresses: []string{"agent@buyer.test"}}))
	check(t, s.buyer.Decide(s.seller.AgentID(), agentmsg.StanceAllow, ""))
	request, err := s.seller.Do(inbox.Action{Type: inbox.ActRequest, Agent: s.buyer.AgentID(), Offering: "chat", Text: "Why?"})
	check(t, err)
	s.fetch()
	update := func(status agentmsg.Status, at time.Duration) []byte {
		e, err := s.buyer.Request("", request.ID)
		check(t, err)
		asked, err := agentmsg.Parse(e[0].Message)
		check(t, err)
		reply := asked.Reply(agentmsg.Respond{Status: status})
		reply.TaskID = "task"
		signed, err := s.settings["buyer"].Agent.Identity.Compose(reply, s.now.Add(at), s.dice)
		check(t, err)
		return fmt.Appendf(nil, "From: agent@buyer.test\r\nTo: agent@seller.test\r\nContent-Type: application/json; name=envelope.json\r\n\r\n%s\r\n", signed.Bytes())
	}
	for _, raw := range [][]byte{update(agentmsg.StatusFailed, 2*time.Second), update(agentmsg.StatusCanceled, time.Second)} {
		results, err := s.seller.Deliver(t.Context(), []inbox.Mail{{Raw: raw, Arrival: s.now}}, nil)
		check(t, err)
		if results[0].Verdict != inbox.Accepted {
			t.Fatalf("%+v", results[0])
		}
	}
	if d := s.read(); d.Type != "respond" || d.Exchange.Task.State != agentmsg.StatusFailed {
		t.Errorf("the first: %+v", d.Exchange)
	}
	s.answer(s.handler(`:`))
	if d := s.read(); d.Type != "task_corrected" || d.Exchange.Task.State != agentmsg.StatusCanceled || d.Exchange.Status != agentmsg.StatusCanceled {
		t.Errorf("the second: %s, %+v", d.Type, d.Exchange)
	}
}

// TestExamplesChat has each example answer a chat, and read a file, whatever
// the text says; and leave another offering to the owner.
func TestExamplesChat(t *testing.T) {
	program := filepath.Join(t.TempDir(), "handler-go")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/handler-go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	secret := write(t, "secret", "1\n2\n3\n")
	const plain = "We have your message, and a person will read it."
	for _, example := range []string{"../examples/handler.sh", "../examples/handler.py", program} {
		if strings.HasSuffix(example, ".py") {
			if _, err := exec.LookPath("python3"); err != nil {
				t.Log("handler.py is not looked at: python3 is not installed: apt-get install python3, then go test ./handler")
				continue
			}
		}
		for _, c := range []struct {
			name, offering, input string
			files                 []string
			want                  string
		}{
			{"words", "chat", `{"text":"Hello."}`, nil, plain},
			{"a file", "chat", `{"text":"Hello."}`, []string{write(t, "two.txt", "a\nb\n")}, "Your file has 2 lines."},
			{"a file of no text", "chat", `{"text":"Hello."}`, []string{write(t, "$(kill $PPID) `x`.txt", "a\n")}, "Your file has 1 lines."},
			{"a path in the input", "chat", `{"files":[{"path":"` + secret + `","state":"ok"}],"state":"ok","path":"` + secret + `"}`, nil, plain},
			{"another offering", "translate", `{"text":"\",\"offering\":\"chat\",\"files\":["}`, nil, ""},
		} {
			s := newAgentScene(t)
			asked := s.post(inbox.Action{Type: inbox.ActRequest, Offering: c.offering, Input: []byte(c.input), Files: c.files})
			h := s.handler("")
			h.Command = []string{example}
			s.answer(h)
			if trouble := s.trouble(); trouble != "" {
				t.Errorf("%s: %s: shown %q", example, c.name, trouble)
				continue
			}
			said, err := s.seller.Request("", asked.ID)
			check(t, err)
			got := ""
			if len(said) == 2 {
				got = said[1].Text
			}
			if got != c.want {
				t.Errorf("%s: %s: it says %q, want %q", example, c.name, got, c.want)
			}
		}
	}
}
