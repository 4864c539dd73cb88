package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json/jsontext"
)

// agent checks the keys by which an inbox speaks Agent Emailing. Key files are
// read as the daemon reads them, and what they hold is dropped.
func (m *mistakes) agent(at string, a *Agent) {
	if a.AgentKey == "" {
		m.agentless(at, a)
		return
	}
	m.keyFile(join(at, "agent_key"), a.AgentKey, "agentmaild keys new --agent FILE", func(path string) error {
		_, err := agentmsg.LoadIdentity(path)
		return err
	})
	m.keyFile(join(at, "sealing_key"), a.SealingKey, "agentmaild keys new --sealing FILE", func(path string) error {
		_, err := agentmsg.LoadSealingKey(path)
		return err
	})
	if a.Sealing == "required" && a.SealingKey == "" { // everybody would be refused
		m.add(join(at, "sealing"), `"required" needs sealing_key: make one with "agentmaild keys new --sealing FILE"`)
	}
	for i, name := range a.Offerings {
		if fault := offeringFault(name); fault != "" {
			m.add(entry(join(at, "offerings"), i), "%s, is %q", fault, name)
		} else if slices.Contains(a.Offerings[:i], name) {
			m.add(entry(join(at, "offerings"), i), "%q stands there twice", name)
		}
	}
	if a.Describe != "" {
		if _, err := ReadDescribe(a.Describe); err != nil {
			m.add(join(at, "describe"), "cannot be used: %v; it must be a file with one JSON object", cause(err))
		}
	}
}

// agentless refuses what would be settings of nobody.
func (m *mistakes) agentless(at string, a *Agent) {
	for key, set := range map[string]bool{
		"sealing_key": a.SealingKey != "", "sealing": a.Sealing == "required", "offerings": len(a.Offerings) > 0,
		"describe": a.Describe != "", "bridge": a.Bridge,
	} {
		if set {
			m.add(join(at, key), `needs agent_key: make one with "agentmaild keys new --agent FILE"`)
		}
	}
}

// keyFile checks a file that holds a key; "" is none.
func (m *mistakes) keyFile(at, path, maker string, load func(string) error) {
	if path == "" {
		return
	}
	m.privateFile(at, path)
	if m.reported[at] {
		return
	}
	if err := load(path); err != nil {
		m.add(at, "%v: make one with %q", err, maker)
	}
}

// maxOffering is the longest name of an offering, in bytes (D101).
const maxOffering = 256

func offeringFault(name string) string {
	switch {
	case name == "" || len(name) > maxOffering || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Sprintf("must be 1 to %d bytes without control characters", maxOffering)
	case slices.Contains([]string{agentmsg.OfferingChat, agentmsg.OfferingDescribe, agentmsg.OfferingKnock, agentmsg.OfferingCancel}, name):
		return "must be one of your own: every agent has chat, describe, knock and task.cancel"
	}
	return ""
}

const (
	maxDescribe   = 64 << 10 // bytes: it goes out in every answer to describe
	describeDepth = 16       // levels, well below those of an envelope
)

// ReadDescribe reads the public block of an agent, in canonical form.
func ReadDescribe(path string) (jsontext.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, errors.New("it is no regular file")
	}
	data, err := readFile(path, maxDescribe)
	if err != nil {
		return nil, err
	}
	block, err := canon.Strict(data, describeDepth)
	if err != nil {
		return nil, err
	}
	if jsontext.Value(block).Kind() != jsontext.KindBeginObject {
		return nil, errors.New("it holds something else")
	}
	return block, nil
}
