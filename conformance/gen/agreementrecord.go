package main

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/go-json-experiment/json"
)

// file is the record as it stands in its file.
func (d *deal) file() string {
	d.begin(d)
	r := d.record()
	if d.edit != nil {
		d.edit(r)
	}
	payload := must(canon.Marshal(r))
	if d.seal != nil {
		r["seal"] = d.seal(payload)
	} else {
		r["seal"] = must(jws.Sign(d.sealer.key, d.sealer.page(), jws.TypRecord, payload))
	}
	if d.after != nil {
		d.after(r)
	}
	text := string(must(canon.Marshal(r)))
	if d.text != nil {
		text = d.text(text)
	}
	return text
}

// record is the record without its seal.
func (d *deal) record() map[string]any {
	r := map[string]any{
		"profile": "agent-agreement/1", "id": uuid("record of " + d.Name), "thread": d.thread, "kind": cmp.Or(d.claim, d.kind),
		"offer": evidence(d.offer), "terms": d.terms(), "offer_current": true,
	}
	var chain []any
	for _, l := range []*letter{d.ask, d.offer, d.accept} {
		if l != nil {
			chain = append(chain, asStands(l))
		}
	}
	r["chain"] = chain
	if d.accept != nil {
		r["parties"] = []any{partyOf("offerer", d.offer), partyOf("accepter", d.accept)}
		r["acceptance"], r["agreed_at"] = evidence(d.accept), d.accept.Iat
		return r
	}
	r["parties"] = []any{partyOf("offerer", d.offer), map[string]any{"role": "accepter", "address": "agent@buyer.test", "org_name": "Ann Person"}}
	r["agreed_at"] = d.offer.Iat + hour
	r["reply"] = map[string]any{
		"hash": canon.Hash([]byte(d.Name)), "auth_results": "mx.seller.test; dkim=pass header.d=buyer.test", "received_at": d.offer.Iat + hour,
	}
	return r
}

func evidence(l *letter) map[string]any {
	if token := l.jws(); token != "" {
		return map[string]any{"jws": token, "hash": asStands(l)}
	}
	return map[string]any{"canonical": string(l.canonical()), "hash": l.hash()}
}

// asStands is the hash of a message's bytes as they stand in its token, so that
// a change of them breaks no hash (D50).
func asStands(l *letter) string {
	if parts := strings.Split(l.jws(), "."); len(parts) > 1 && parts[1] != "" {
		if payload, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			return canon.Hash(payload)
		}
	}
	return l.hash()
}

func partyOf(role string, l *letter) map[string]any {
	p := map[string]any{"role": role, "address": l.by.address, "org_name": l.by.org}
	if l.key != nil {
		p["kid"] = kidOf(l.key)
		if p["party"] = l.From.Party; l.From.Party == "" {
			p["party"] = l.by.party
		}
	}
	return p
}

// terms are worked out of the offer's JSON, as a reader would (D30).
func (d *deal) terms() map[string]any {
	var offer map[string]any
	if err := json.Unmarshal(d.offer.canonical(), &offer); err != nil {
		panic(err)
	}
	terms := map[string]any{}
	for _, name := range []string{"type", "items", "total", "delivery_by", "purpose", "location"} {
		if value, there := offer[name]; there {
			terms[name] = value
		}
	}
	if slots, ok := offer["slots"].([]any); ok {
		terms["slot"] = slots[min(d.slot(), len(slots)-1)]
	}
	return terms
}

// slot is the one that is accepted; the first where none is.
func (d *deal) slot() int {
	if d.accept == nil || d.accept.Slot == nil {
		return 0
	}
	return max(*d.accept.Slot, 0)
}
