package control

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// agent opens an inbox that has an agent.
func (w *world) agent(name string) func(*store.Store) *inbox.Inbox {
	return func(s *store.Store) *inbox.Inbox {
		w.t.Helper()
		in, err := inbox.Open(inbox.Settings{
			Name: name, Address: "agent@" + name + ".test", Contact: "owner@" + name + ".test", Agent: &inbox.Agent{Identity: newAgent(w.t)},
		}, inbox.Services{
			Store: s, DKIM: &dkim.Checker{Resolver: w}, Keys: &party.Verifier{}, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
		})
		check(w.t, err)
		w.sides[name] = in
		return in
	}
}

func newAgent(t *testing.T) agentmsg.Identity {
	t.Helper()
	seed, err := agentmsg.NewSeed(rand.Reader)
	check(t, err)
	identity, err := agentmsg.ParseSeed(seed)
	check(t, err)
	return identity
}

// TestAgents has everything done that a client can ask for of agents.
func TestAgents(t *testing.T) {
	w := newWorld(t)
	r, ctx := serve(t, w.agent("east"), w.agent("west")), t.Context()
	west := w.sides["west"].AgentID()
	inboxes, err := r.client.Inboxes(ctx)
	check(t, err)
	if inboxes[2].Agent != west || inboxes[0].Agent != "" {
		t.Errorf("inboxes: %+v", inboxes)
	}

	if roster, err := r.client.Roster(ctx, "east"); err != nil || roster.Kind() != 'n' {
		t.Errorf("a roster before there is one: %s, %v", roster, err)
	}
	check(t, r.client.Rule(ctx, "east", Ruling{west, agentmsg.StanceAllow, "a friend"}))
	roster, err := r.client.Roster(ctx, "east")
	check(t, err)
	held, err := agentmsg.ParseRoster(roster, inboxes[1].Agent)
	if err != nil || held.Entries[0].Note != "a friend" {
		t.Errorf("the roster %s, %v", roster, err)
	}
	check(t, r.client.SetRoster(ctx, "east", roster))

	card := inbox.Contact{Agent: inboxes[1].Agent, Name: "East", Addresses: []string{"agent@east.test"}}
	check(t, r.client.PutContact(ctx, "west", card))
	if cards, err := r.client.Contacts(ctx, "west"); err != nil || len(cards) != 1 || cards[0].Name != "East" {
		t.Errorf("contacts: %+v, %v", cards, err)
	}

	done := w.act("west", "east", inbox.Action{Type: inbox.ActRequest, To: "agent@east.test", Offering: "chat", Text: "Hello."})
	answer := w.act("east", "west", inbox.Action{Type: inbox.ActRespond, Request: done.ID, Status: agentmsg.StatusWorking})
	requests, err := r.client.Requests(ctx, "east")
	if err != nil || len(requests) != 1 || requests[0].ID != done.ID || requests[0].Message != nil {
		t.Errorf("requests: %+v, %v", requests, err)
	}
	request, err := r.client.Request(ctx, "west", west, done.ID)
	if err != nil || len(request) != 2 || request[0].Text != "Hello." || request[1].ID != answer.ID {
		t.Errorf("request: %+v, %v", request, err)
	}
	if tasks, err := r.client.Tasks(ctx, "west"); err != nil || len(tasks) != 1 || tasks[0].ID != answer.Task {
		t.Errorf("tasks: %+v, %v", tasks, err)
	}
	if task, err := r.client.Task(ctx, "west", answer.Task); err != nil || task.State != agentmsg.StatusWorking {
		t.Errorf("task: %+v, %v", task, err)
	}
	for _, id := range []string{".", "..", "a/b"} { // another agent may name a task so
		if _, err := r.client.Task(ctx, "west", id); !errors.Is(err, inbox.ErrAction) || !strings.Contains(err.Error(), "not known") {
			t.Errorf("task %q: %v", id, err)
		}
	}
	check(t, r.client.RemoveContact(ctx, "west", inboxes[1].Agent))
	if cards, err := r.client.Contacts(ctx, "west"); err != nil || len(cards) != 0 {
		t.Errorf("contacts: %+v, %v", cards, err)
	}
}

// TestEvents reads the events there are, and waits for the next.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	r, ctx := serve(t, w.side("east"), w.side("west")), t.Context()
	if none, err := r.client.Events(ctx, "west", "", false); err != nil || len(none) != 0 {
		t.Fatalf("events: %+v, %v", none, err)
	}
	w.quoted()
	list, err := r.client.Events(ctx, "west", "", true)
	check(t, err)
	if len(list) != 2 || list[0].Kind != inbox.KindSent || list[1].Kind != inbox.KindReceived {
		t.Fatalf("events: %+v", list)
	}
	if rest, err := r.client.Events(ctx, "west", list[0].Seq, false); err != nil || len(rest) != 1 || rest[0].Seq != list[1].Seq {
		t.Errorf("after the first: %+v, %v", rest, err)
	}
	next := make(chan []inbox.Event, 1)
	go func() {
		events, _ := r.client.Events(ctx, "west", list[1].Seq, true)
		next <- events
	}()
	for { // wakes who waits, whenever that begins
		_, err := w.sides["west"].Do(ask())
		check(t, err)
		select {
		case events := <-next:
			if len(events) == 0 || events[0].Seq <= list[1].Seq {
				t.Errorf("next: %+v", events)
			}
			return
		default:
		}
	}
}

// TestEventsStopped ends a client's wait with the server, and with itself.
func TestEventsStopped(t *testing.T) {
	r := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.client.Events(ctx, "sales", "", true); !errors.Is(err, context.Canceled) {
		t.Errorf("of a client that left: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = r.client.Events(t.Context(), "sales", "", true)
		close(ended)
	}()
	r.stop()
	<-ended
}
