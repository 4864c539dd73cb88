package mcp

import (
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/token"
)

// TestOnce does an action once for its key, and refuses another by it in words that a model can act on.
func TestOnce(t *testing.T) {
	s := newScene(t)
	check := func(secret string) (token.Token, bool) {
		return token.Token{Name: secret, Hash: [32]byte{secret[0]}}, true
	}
	server := s.server(s.pair.Buyer)
	piped, one, other := s.piped(server), s.overHTTP(server, check, "one"), s.overHTTP(server, check, "two")
	const ask = `{"to":"agent@seller.test","items":[{"description":"Mug","quantity":2}],"idempotency_key":"k-1"}`
	const same = `{"idempotency_key":"k-1","items":"[{\"quantity\":\"2\",\"description\":\"Mug\"}]","to":"agent@seller.test","note":null}`
	first, _ := use[done](s, one, "ask_quote", ask)
	again, _ := use[done](s, one, "ask_quote", same)
	if !first.Sent || first.ID == "" || again.ID != first.ID {
		t.Errorf("%+v, then %+v", first, again)
	}
	for _, c := range [][2]string{
		{"ask_quote", strings.Replace(ask, ":2}", ":3}", 1)},
		{"propose_times", `{"to":"agent@seller.test","slots":[{"start":"2026-11-12T10:00:00+01:00","end":"2026-11-12T10:30:00+01:00","time_zone":"Europe/Berlin"}],"idempotency_key":"k-1"}`},
	} {
		if text := s.refused(one, c[0], c[1]); !strings.Contains(text, "take a new key for a new action") {
			t.Errorf("%s: %s", c[0], text)
		}
	}
	theirs, _ := use[done](s, other, "ask_quote", ask)
	mine, _ := use[done](s, piped, "ask_quote", ask)
	if theirs.ID == first.ID || mine.ID == first.ID || theirs.ID == mine.ID {
		t.Errorf("the answer to another's key: %+v, %+v", theirs, mine)
	}
	threads, err := s.pair.Buyer.Threads()
	s.check(err)
	if len(threads) != 3 {
		t.Errorf("%d threads", len(threads))
	}
	for _, key := range []string{"two words", "ä", "\\u007f", strings.Repeat("k", 65)} {
		if text := s.refused(one, "ask_quote", strings.Replace(ask, "k-1", key, 1)); !strings.Contains(text, "idempotency_key: must be 1 to 64 visible ASCII characters") {
			t.Errorf("%q: %s", key, text)
		}
	}
	for _, tool := range tools() {
		if _, takes := tool.input.Properties[keyName]; takes == tool.hints.ReadOnlyHint {
			t.Errorf("%s takes a key: %v", tool.name, takes)
		}
	}
	// What was refused used up nothing.
	s.refused(one, "decline", `{"ref":"x","idempotency_key":"k-2"}`)
	if text := s.refused(one, "decline", `{"ref":"y","idempotency_key":"k-2"}`); strings.Contains(text, "new key") {
		t.Error(text)
	}
}
