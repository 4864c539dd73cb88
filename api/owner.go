package api

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/token"
)

// listWaiting lists what waits for the owner, oldest first. The owner's numbers are not for the agent.
func listWaiting(_ *Handler, c *call) (any, error) {
	all, err := c.in.Waiting()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b inbox.Waiting) int { return cmp.Compare(placeOf(a), placeOf(b)) })
	return list(c, func(after string, limit int) (items []inbox.Waiting, next string, err error) {
		for _, w := range all {
			switch {
			case placeOf(w) <= after:
				continue
			case len(items) == limit:
				return items, placeOf(items[limit-1]), nil
			case c.token.Scope != token.Owner:
				w = w.ToAgent()
			}
			items = append(items, w.Elsewhere(c.in.Name()))
		}
		return items, "", nil
	})
}

// placeOf is where something stands in the list.
func placeOf(w inbox.Waiting) string { return store.Key(uint64(max(w.At, 0))) + w.Key }

// refusing is what the owner says along with a refusal.
type refusing struct {
	Reason string `json:"reason"`
}

// maxReason bounds the owner's reason, in bytes.
const maxReason = 1000

func refuse(_ *Handler, c *call) (any, error) {
	var why refusing
	if c.ContentLength != 0 {
		text, err := body(c)
		if err != nil {
			return nil, err
		}
		if err := decode(text, &why); err != nil {
			return nil, err
		}
	}
	if len(why.Reason) > maxReason || strings.ContainsFunc(why.Reason, func(r rune) bool { return r < ' ' }) {
		return nil, bad("reason: one line of at most 1000 bytes")
	}
	return nothing{}, c.in.Refuse(c.PathValue("key"), why.Reason)
}

func putContact(_ *Handler, c *call) (any, error) {
	text, err := body(c)
	if err != nil {
		return nil, err
	}
	var card inbox.Contact
	if err := decode(text, &card); err != nil {
		return nil, err
	}
	if agent := c.PathValue("agent"); card.Agent == "" {
		card.Agent = agent
	} else if card.Agent != agent {
		return nil, bad("agent_id: it is another than in the path")
	}
	return nothing{}, c.in.PutContact(card)
}

// ruling is the owner's word on an agent.
type ruling struct {
	Agent  string          `json:"agent_id"`
	Stance agentmsg.Stance `json:"stance"`
	Note   string          `json:"note"` // the owner's; empty: the one of before
}

func rule(_ *Handler, c *call) (any, error) {
	text, err := body(c)
	if err != nil {
		return nil, err
	}
	var r ruling
	if err := decode(text, &r); err != nil {
		return nil, err
	}
	return nothing{}, c.in.Decide(r.Agent, r.Stance, r.Note)
}
