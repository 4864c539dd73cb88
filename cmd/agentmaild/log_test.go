package main

import (
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// TestEventLine has an event be one line, whatever the other side wrote.
func TestEventLine(t *testing.T) {
	for want, e := range map[string]inbox.Event{
		"01  -  received  refused  stale  request a\\nb\\x1b[2J  x\\u202ey  from UA: late; answered ok to a@b.test": {
			Seq: "01", Kind: inbox.KindReceived, Result: inbox.Result{
				Verdict: inbox.Refused, Code: "stale", ID: "x\u202ey", Reason: "late",
				Exchange: &inbox.Exchange{From: "UA", Kind: agentmsg.TypeRequest, Offering: "a\nb\x1b[2J", Answered: "ok", AnsweredTo: "a@b.test"},
			},
		},
		"02  -  received  bridged  request  from ann@b.test; warnings: name_card_mismatch": {
			Seq: "02", Kind: inbox.KindReceived, Result: inbox.Result{
				Verdict: inbox.Bridged, Warnings: []string{inbox.WarnCard}, Exchange: &inbox.Exchange{From: "UA", Kind: agentmsg.TypeRequest, Person: "ann@b.test"},
			},
		},
		"03  -  received  plain  from b.test":  {Seq: "03", Kind: inbox.KindReceived, Result: inbox.Result{Verdict: inbox.Plain}, Proof: inbox.Proof{Domain: "b.test"}},
		"04  -  sent  respond  id":             {Seq: "04", Kind: inbox.KindSent, Result: inbox.Result{ID: "id", Exchange: &inbox.Exchange{From: "UA", Kind: agentmsg.TypeRespond}}},
		"05  -  received  accepted  quote  id": {Seq: "05", Kind: inbox.KindReceived, Result: inbox.Result{Verdict: inbox.Accepted, Type: "quote", ID: "id"}},
	} {
		if got := eventLine(e); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
