package inbox

import (
	"context"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
)

// attached is the record that an accept carries, and what its check found.
// file is nil where there is none.
type attached struct {
	file []byte
	id   string // "" where it cannot be read, or is of another thread
	row  *Record
}

// attachedRecord takes the record off an accept: its first part of type
// application/json, or the first of several that says it is one.
func attachedRecord(mail *envelope.Mail, m *intent.Message) (a attached) {
	if m.Type != intent.Accept {
		return a
	}
	for part := range mail.Leaves("application/json") {
		data, err := part.Decode(record.MaxSize)
		if err != nil {
			continue
		}
		if a.file == nil {
			a.file = data
		}
		if id, ok := recordOf(data, m.Thread); ok {
			return attached{file: data, id: id}
		}
	}
	return a
}

// recordOf is the id of a record of a thread, as it says itself.
func recordOf(data []byte, thread string) (id string, ok bool) {
	var r struct {
		Profile string `json:"profile"`
		ID      string `json:"id"`
		Thread  string `json:"thread"`
	}
	if _, err := canon.Strict(data, 32); err != nil {
		return "", false
	}
	err := json.Unmarshal(data, &r)
	return r.ID, err == nil && r.Profile == record.Profile && r.Thread == thread
}

// proveRecord checks the record that an accept carries. It never changes what
// becomes of the accept (D46).
func (in *Inbox) proveRecord(ctx context.Context, p *proven) {
	if p.theirs.file == nil || in.alreadyDecided(p.found.Parsed) {
		return
	}
	row := &Record{ID: p.theirs.id, Thread: p.found.Thread, With: p.found.From.Address, Offer: p.found.Ref, Accept: p.found.ID}
	p.theirs.row = row
	if r, err := record.Parse(p.theirs.file); err == nil {
		row.Kind, row.AgreedAt = r.Kind, r.AgreedAt
	}
	report := in.checkTheirs(ctx, p.theirs.file, p.found.Hash)
	row.Result, row.Code, row.Reason = report.Result, report.Code, report.Reason
}

// checkTheirs checks a record that came with an acceptance of a hash.
func (in *Inbox) checkTheirs(ctx context.Context, file []byte, acceptance string) record.Report {
	r, err := record.Parse(file)
	if err == nil && (r.Acceptance == nil || r.Acceptance.Hash != acceptance) { // D98: else it would have any page fetched
		return record.Report{Result: record.DoesNotCheckOut, Code: record.CodeBinding, Reason: "it is the record of another acceptance"}
	}
	return in.checkRecord(ctx, file)
}

// checkRecord checks a record with the key pages as they are now.
func (in *Inbox) checkRecord(ctx context.Context, file []byte) record.Report {
	return record.Check(ctx, file, record.KeySource{Trust: in.srv.Keys.Trust, Pages: in.srv.Keys.Pages, TXT: in.srv.Keys.TXT})
}

// keepTheirs keeps the record that a message carries, for as long as the
// message is kept.
func (j *judge) keepTheirs(p *proven) error {
	if p.theirs.row == nil {
		return nil
	}
	return j.putRecord(theirsKey(p.found.ID), p.theirs.row, p.theirs.file)
}

// dropTheirs drops the record of a message that is not kept.
func (j *judge) dropTheirs(accept string) error {
	if err := j.tx.Delete(tableRecordFiles, theirsKey(accept)); err != nil {
		return err
	}
	return j.tx.Delete(tableRecords, theirsKey(accept))
}
