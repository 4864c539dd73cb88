//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestModels has a model at either side make a deal over Postfix and Dovecot, each
// through a program that it starts.
func TestModels(t *testing.T) {
	s := startStack(t)
	buyer, seller := s.side("buyer"), s.side("seller")
	buyer.start()
	seller.start()
	buys, sells := buyer.model(), seller.model()

	buys.asked("ask_quote", map[string]any{"to": sellerAddress, "items": `[{"description": "Ceramic mug, white", "quantity": "200", "unit": "piece"}]`, "note": "To Ikeja."})
	var list struct {
		Listed []struct {
			ID   string
			Last struct{ ID, Type, By, State string }
		}
	}
	seller.until("the ask", func() bool { sells.use("list_threads", nil, &list); return len(list.Listed) == 1 })
	deal := list.Listed[0].ID
	sells.asked("send_quote", map[string]any{
		"thread": deal, "total": "550.00 EUR",
		"items": []any{map[string]any{"description": "Ceramic mug, white", "quantity": 200, "unit": "piece", "unit_price": "2.75 EUR"}},
	})
	buyer.until("the quote", func() bool { buys.use("list_threads", nil, &list); return list.Listed[0].Last.By == "them" })
	quote := list.Listed[0].Last.ID
	buys.asked("accept", map[string]any{"ref": quote})
	seller.until("the accept", func() bool { sells.use("list_threads", nil, &list); return list.Listed[0].Last.State == "agreed" })
	for _, m := range []*model{buys, sells} {
		var record struct {
			Result string `json:"result"`
		}
		m.use("check_record", map[string]any{"id": quote}, &record)
		if record.Result != "two_signatures" {
			t.Errorf("the %s's record: %+v", m.side.name, record)
		}
	}
}

// model uses an inbox through `agentmaild mcp`.
type model struct {
	side    *side
	session *sdk.ClientSession
}

func (d *side) model() *model {
	d.t.Helper()
	program := exec.Command(os.Getenv("AGENTMAILD_BIN"), "mcp", "--config", d.config, "--inbox", d.name)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "model", Version: "1"}, nil).Connect(d.t.Context(), &sdk.CommandTransport{Command: program}, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = session.Close() })
	return &model{d, session}
}

// use has a tool do what it should, and reads what it answers.
func (m *model) use(name string, args map[string]any, value any) {
	m.side.t.Helper()
	result, err := m.session.CallTool(m.side.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil || result.IsError {
		m.side.t.Fatalf("%s: %v, %+v\n%s", name, err, result, m.side.tail())
	}
	data, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	if err != nil {
		m.side.t.Fatal(err)
	}
}

// asked has a tool do what the owner is asked about, since there are no limits,
// and has the owner approve it.
func (m *model) asked(name string, args map[string]any) {
	m.side.t.Helper()
	var done struct{ Waiting string }
	m.use(name, args, &done)
	if done.Waiting == "" {
		m.side.t.Fatalf("the owner of the %s is not asked about %s", m.side.name, name)
	}
	m.side.run("waiting", "approve", done.Waiting)
}
