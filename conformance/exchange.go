package conformance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
)

// emailingProfile is the profile of suites of Agent Emailing.
const emailingProfile = "agent-emailing/0.2.1"

// agent is who the suite's inbox is under Agent Emailing, nil where it has no
// agent.
func (s *Suite) agent() (*inbox.Agent, error) {
	if s.Inbox.AgentSeed == "" {
		return nil, nil
	}
	agent := &inbox.Agent{Sealed: s.Inbox.Sealing == "required", Bridge: s.Inbox.Bridge == nil || *s.Inbox.Bridge}
	var err error
	if agent.Identity, err = agentmsg.ParseSeed(s.Inbox.AgentSeed); err != nil {
		return nil, fmt.Errorf("%w: inbox.agent_seed: %w", ErrSuite, err)
	}
	if s.Inbox.SealingKey != "" {
		if agent.Sealing, err = agentmsg.ParseSealingKey(s.Inbox.SealingKey); err != nil {
			return nil, fmt.Errorf("%w: inbox.sealing_key: %w", ErrSuite, err)
		}
	}
	return agent, nil
}

// introduce gives a new inbox its roster and its contacts.
func (t *story) introduce() error {
	if roster := t.suite.Roster; roster != nil {
		if err := t.inbox.SetRoster(roster); err != nil {
			return fmt.Errorf("%w: %w", ErrSuite, err)
		}
	}
	for _, c := range t.suite.Inbox.Contacts {
		err := t.inbox.PutContact(inbox.Contact{Agent: c.Agent, Name: c.Name, Addresses: c.Addresses, SealingKey: c.SealingKey})
		if err != nil {
			return fmt.Errorf("%w: contacts: %w", ErrSuite, err)
		}
	}
	return nil
}

// openSpool opens the folder for the files of messages, beside the store.
func (t *story) openSpool() (*os.Root, error) {
	dir := filepath.Join(filepath.Dir(t.path), "spool")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	return root, nil
}

// compareExchange returns the first member of a message of Agent Emailing that
// differs.
func (e *Expect) compareExchange(r inbox.Result) *difference {
	x := r.Exchange
	if x == nil {
		x = &inbox.Exchange{}
	}
	answered := jsonString(x.Answered)
	for _, m := range []struct {
		name string
		want *string
		got  string
	}{
		{"from", e.From, x.From},
		{"offering", e.Offering, x.Offering},
		{"answered_to", e.AnsweredTo, x.AnsweredTo},
		{"text_shown", e.Text, x.Text},
	} {
		if m.want != nil && *m.want != m.got {
			return &difference{"", m.name + " " + *m.want, m.name + " " + m.got}
		}
	}
	if e.Answered != nil && string(e.Answered) != answered {
		return &difference{"", "answered " + string(e.Answered), "answered " + answered}
	}
	files := map[string]string{}
	for _, f := range x.Files {
		files[f.Name] = string(f.State)
	}
	if e.Files != nil && !maps.Equal(e.Files, files) {
		return &difference{"", fmt.Sprint("files ", shown(e.Files)), fmt.Sprint("files ", shown(files))}
	}
	got := Task{}
	if x.Task != nil {
		got = Task{x.Task.ID, string(x.Task.State)}
	}
	if e.Task != nil && *e.Task != got {
		return &difference{"", fmt.Sprint("task ", *e.Task), fmt.Sprint("task ", got)}
	}
	return nil
}

// jsonString is a text as a JSON string, null where it is empty.
func jsonString(text string) string {
	if text == "" {
		return "null"
	}
	data, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(data)
}

func shown(files map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, name+": "+files[name])
	}
	return list
}
