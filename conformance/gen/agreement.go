package main

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/go-json-experiment/json"
)

// agreementSuite is the check of records (agent-agreement/1): one valid record
// of each kind, and what becomes of it when one thing is changed.
func agreementSuite() *recordSuite {
	s := &recordSuite{suite: newSuite("agreements", "Agreement records and their check, rule by rule (D29 to D33, D47 to D52, D80 to D85).")}
	s.Profile = "agent-agreement/1"
	s.Cases = nil
	readingRows(s)
	messageRows(s)
	bindingRows(s)
	trustRows(s)
	kindRows(s)
	sealRows(s)
	return s
}

// recordSuite is a suite whose cases are records. Its Cases stand in the place
// of the stories.
type recordSuite struct {
	*suite
	Cases []recordCase `json:"cases"`
}

type recordCase struct {
	Name   string  `json:"name"`
	Why    string  `json:"why"`
	Record string  `json:"record"`
	Expect finding `json:"expect"`
}

// finding is what must come of a check.
type finding struct {
	Result   string    `json:"result"`
	Code     string    `json:"code,omitzero"`
	Warnings *[]string `json:"warnings,omitzero"`
}

var (
	twoSigned = finding{Result: "two_signatures", Warnings: &[]string{}}
	oneSigned = finding{Result: "one_signature", Warnings: &[]string{}}
	replied   = finding{Result: "their_reply", Warnings: &[]string{}}
	notMade   = finding{Result: "not_made"}
	revoked   = finding{Result: "two_signatures", Warnings: &[]string{"key_revoked_later"}}
)

func fails(code string) finding { return finding{Result: "does_not_check_out", Code: code} }

func (s *recordSuite) folder() string { return "records" }

func (s *recordSuite) cases() (named [][2]string) {
	for _, c := range s.Cases {
		named = append(named, [2]string{c.Name, c.Why})
	}
	return named
}

func (s *recordSuite) render() map[string][]byte { return s.rendered(s) }

// deal is an agreement that is made into a record. The func members change
// what the step before made; they stand in the order in which they are called.
type deal struct {
	*story
	begin            func(*deal)
	onOffer, onReply change // of the offer; of the acceptance

	ask, offer, accept *letter // accept is nil where a person replied
	kind               string
	claim              string // the kind that the record says, where it is another
	sealer             *side

	edit  func(map[string]any)        // the record, before it is sealed
	seal  func(payload []byte) string // seals it, instead of the usual way
	after func(map[string]any)        // the record, after it was sealed
	text  func(string) string         // the file
}

// difference makes a deal another one than the baseline.
type difference func(*deal)

// row is one case.
type row struct {
	name, why string
	change    difference
	want      finding
}

// rows writes the cases, each from the same baseline.
func (s *recordSuite) rows(prefix string, begin func(*deal), rows []row) {
	for _, r := range rows {
		r.name = prefix + r.name
		d := &deal{
			story: &story{suite: s.suite, now: start, Name: r.name, thread: uuid("record " + r.name + " thread")},
			begin: begin, kind: "two_signatures",
		}
		if r.change != nil {
			r.change(d)
		}
		file := "records/" + r.name + ".json"
		s.files[file] = []byte(d.file())
		s.Cases = append(s.Cases, recordCase{r.name, r.why, file, r.want})
	}
}

// The baselines. Both sides sign, and the accepter seals.
func quoted(d *deal) {
	d.ask = d.story.ask(d.buyer())
	d.offer = d.story.quote(d.seller(), d.ask)
	d.offered()
	d.accept = d.story.accept(d.buyer(), d.offer)
	d.accepted(d.buyer())
}

func appointed(d *deal) {
	d.offer = d.story.times(d.seller())
	d.offered()
	d.accept = d.story.accept(d.buyer(), d.offer)
	d.accepted(d.buyer())
}

// repliedTo is a quote that a person accepted in words.
func repliedTo(d *deal) {
	d.kind = "their_reply"
	d.offer = priced(d.story.letter(d.seller(), "quote"))
	d.offered()
	d.accepted(d.seller())
}

func (d *deal) offered() {
	if d.onOffer != nil {
		d.onOffer(d.offer)
	}
}

func (d *deal) accepted(by *side) {
	if d.accept != nil {
		d.accept.Prev = asStands(d.offer)
	}
	if d.onReply != nil {
		d.onReply(d.accept)
	}
	if d.sealer == nil {
		d.sealer = by
	}
}

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
