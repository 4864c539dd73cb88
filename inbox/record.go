package inbox

import (
	"cmp"
	"crypto/sha256"
	"fmt"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/threads"
)

// Record is an agreement record that is kept here: this side's own, or the one
// that came with an accept.
type Record struct {
	ID       string      `json:"id"` // of a record from outside: as it says; "" where it cannot be read
	Thread   string      `json:"thread"`
	With     string      `json:"with"` // the other side's address
	Offer    string      `json:"offer"`
	Accept   string      `json:"accept"` // id of the accept, or of the reply that was counted
	Ours     bool        `json:"ours"`
	Kind     record.Kind `json:"kind,omitempty"`
	AgreedAt int64       `json:"agreed_at,omitzero"` // Unix seconds
	// What its check found when it came, and why; "" for our own.
	Result record.Result `json:"result,omitempty"`
	Code   record.Code   `json:"code,omitempty"`
	Reason string        `json:"reason,omitempty"`
}

// doubtful tells whether the owner should look at a record.
func (r *Record) doubtful() bool {
	return r.Result == record.DoesNotCheckOut || r.Result == record.NotMade
}

// oursKey and theirsKey are the keys of the records of an accept or a reply.
func oursKey(accept string) string   { return accept + "/ours" }
func theirsKey(accept string) string { return accept + "/theirs" }

// putRecord keeps a record and its bytes.
func (j *judge) putRecord(key string, r *Record, file []byte) error {
	if err := j.tx.PutBytes(tableRecordFiles, key, file); err != nil {
		return err
	}
	return j.tx.Put(tableRecords, key, r)
}

// agreed makes and keeps this side's record of an agreement that was just
// written, and tells of the other side's. It returns our record's bytes: nil
// where none can be made, which leaves the agreement as it is (D46).
func (j *judge) agreed(thread, accept string) ([]byte, error) {
	if err := j.tellTheirs(accept); err != nil {
		return nil, err
	}
	if j.in.set.Keys == nil {
		return nil, nil
	}
	deal, err := j.deal(thread, accept)
	if err != nil {
		return nil, err
	}
	r, file, err := j.in.seal(deal, accept)
	if err != nil {
		return nil, j.noRecord(deal.Offer.Message, err)
	}
	return file, j.keepOwn(r, file)
}

// seal makes this side's record of a deal.
func (in *Inbox) seal(deal record.Deal, accept string) (Record, []byte, error) {
	made, err := record.Build(deal)
	if err != nil {
		return Record{}, nil, err
	}
	key, err := in.set.Keys.Sealing(made.AgreedAt) // D93
	if err != nil {
		return Record{}, nil, err
	}
	file, err := record.Seal(made, key.Private, in.set.JKU)
	return Record{
		ID: made.ID, Thread: made.Thread, With: in.other(&deal.Offer.Message.Message), Offer: deal.Offer.Message.ID, Accept: accept,
		Ours: true, Kind: made.Kind, AgreedAt: made.AgreedAt,
	}, file, err
}

// other is the address of the other side of a message.
func (in *Inbox) other(m *intent.Message) string {
	if m.From.Address == in.set.Address {
		return m.To.Address
	}
	return m.From.Address
}

func (j *judge) keepOwn(r Record, file []byte) error {
	if err := j.putRecord(oursKey(r.Accept), &r, file); err != nil {
		return err
	}
	return j.recordEvent(r)
}

// noRecord tells that an agreement has no record of ours.
func (j *judge) noRecord(offer *intent.Parsed, why error) error {
	result := messageOf(&offer.Message)
	result.Reason = why.Error()
	return j.event(Event{Kind: KindNoRecord, Result: result}, false)
}

func (j *judge) recordEvent(r Record) error {
	result := Result{Thread: r.Thread, ID: r.Offer, Reason: r.Reason}
	trail := []any{"record", printable(r.ID), "ours", r.Ours, "kind", string(r.Kind)}
	if !r.Ours {
		trail = append(trail, "result", string(r.Result), "code", string(r.Code))
	}
	return j.event(Event{Kind: KindRecord, Result: result, Record: &r, trail: trail}, false)
}

// tellTheirs tells of the record that came with an accept which counts now;
// one that does not check out waits until the owner has seen it.
func (j *judge) tellTheirs(accept string) error {
	var theirs Record
	known, err := j.tx.Get(tableRecords, theirsKey(accept), &theirs)
	if err != nil || !known {
		return err
	}
	if theirs.doubtful() {
		if err := j.tx.Put(tableDoubted, accept, struct{}{}); err != nil {
			return err
		}
	}
	return j.recordEvent(theirs)
}

// deal gathers what the record of an agreement is made of.
func (j *judge) deal(thread, accept string) (record.Deal, error) {
	var row threadRow
	if _, err := j.tx.Get(tableThreads, thread, &row); err != nil {
		return record.Deal{}, err
	}
	offer, ok := row.agreement(accept)
	if !ok {
		return record.Deal{}, fmt.Errorf("no offer of thread %s was agreed by %s", thread, accept)
	}
	d := record.Deal{ID: j.in.recordID(accept)}
	var err error
	if d.Offer, err = j.evidence(offer.ID); err != nil {
		return d, err
	}
	acceptance, err := j.evidence(accept)
	if err != nil {
		return d, err
	}
	d.Acceptance = &acceptance
	d.Chain, err = j.chain(&row, accept)
	return d, err
}

// agreement is the offer that an accept, or a reply, made an agreement.
func (t *threadRow) agreement(accept string) (threads.Entry, bool) {
	for _, e := range t.Entries {
		if e.Accept == accept && accept != "" {
			return e, true
		}
	}
	return threads.Entry{}, false
}

// evidence is a message as it stands in a record.
func (j *judge) evidence(id string) (record.Held, error) {
	var row messageRow
	known, err := j.tx.Get(tableMessages, id, &row)
	if err == nil && !known {
		err = fmt.Errorf("message %s of an agreement is not in the store", id)
	}
	if err != nil {
		return record.Held{}, err
	}
	m, err := intent.Parse([]byte(row.Canonical))
	if err != nil {
		return record.Held{}, err
	}
	h := record.Held{Message: m, JWS: row.JWS, Party: row.Proof.Party, OrgName: row.Proof.OrgName}
	if row.Fate == FateSent {
		h.Party, h.OrgName = j.in.party(), j.in.set.OrgName
	}
	if row.Signature != Signed {
		// Whose it is was not proven. Were the token in the record, it could be
		// proven later, and the record would understate itself (D31, D96).
		h.Party, h.JWS = "", ""
	}
	return h, nil
}

// chain is the hashes of a thread up to a message (D33).
func (j *judge) chain(row *threadRow, last string) ([]string, error) {
	var hashes []string
	for _, id := range row.Messages {
		var m messageRow
		if _, err := j.tx.Get(tableMessages, id, &m); err != nil {
			return nil, err
		}
		hashes = append(hashes, m.Hash)
		if id == last {
			break
		}
	}
	return hashes, nil
}

// party is the party whose key signs here.
func (in *Inbox) party() string {
	id, _ := in.srv.Keys.Trust.Party(in.set.JKU)
	return cmp.Or(in.set.Party, id)
}

// recordID is the id of this side's record of an accept or a reply: always
// the same, so that an agreement taken up again after a crash has one record
// (D97).
// It is a UUID of version 8 (RFC 9562 §5.8).
func (in *Inbox) recordID(accept string) string {
	sum := sha256.Sum256([]byte("agreement record\n" + in.set.Address + "\n" + accept))
	return uuidOf(sum[:16], 8)
}

// records are the ids of the records that an accept has, to be named by a
// cancel (D45).
func (in *Inbox) records(p *proven) []string {
	if p.found.Type != intent.Accept {
		return nil
	}
	ids := []string{in.recordID(p.found.ID)}
	if p.theirs.id != "" {
		ids = append(ids, p.theirs.id)
	}
	return ids
}

// uuidOf writes 16 bytes as a UUID of a version.
func uuidOf(b []byte, version byte) string {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
