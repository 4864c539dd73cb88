package inbox

import (
	"bytes"
	"errors"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
)

// agreed plays a negotiation to its accept by the buyer.
func (s *scene) agreed() (quote, accept Done) {
	s.t.Helper()
	_, quote = s.quoted()
	accept, raw := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.expect(s.seller, raw, "accepted signed")
	return quote, accept
}

// change changes the row of a record, under a key of its own or in its place.
func (s *scene) change(in *Inbox, from, to string, change func(*Record)) {
	s.t.Helper()
	s.doctored = true
	if err := s.store.Update(in.set.Name, func(tx *store.Tx) error {
		var r Record
		if _, err := tx.Get(tableRecords, from, &r); err != nil {
			return err
		}
		file, err := tx.GetBytes(tableRecordFiles, from)
		if err != nil {
			return err
		}
		change(&r)
		return errors.Join(tx.Put(tableRecords, to, r), tx.PutBytes(tableRecordFiles, to, file))
	}); err != nil {
		s.t.Fatal(err)
	}
}

// TestRecords has both records of a deal at the side that the accept came to,
// under any of their names.
func TestRecords(t *testing.T) {
	s := newScene(t)
	quote, accept := s.agreed()
	list, err := s.seller.Records()
	if err != nil || len(list) != 2 || !list[0].Ours || list[1].Ours {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, r := range list {
		if r.With != buyerAddress || r.Offer != quote.ID || r.Accept != accept.ID || r.Kind != record.TwoSignatures {
			t.Errorf("%+v", r)
		}
		for _, id := range []string{r.ID, quote.ID, accept.ID} {
			found, file, report, err := s.seller.CheckRecord(t.Context(), id, r.Ours)
			if err != nil || found != r || report.Result != record.TwoSigned {
				t.Errorf("%s, ours %v: %+v, %s %s, %v", id, r.Ours, found, report.Result, report.Reason, err)
			}
			if held, err := record.Parse(file); err != nil || held.ID != r.ID {
				t.Errorf("the file of %s: %v", id, err)
			}
		}
		if _, _, err := s.seller.RecordFile(r.ID, !r.Ours); !errors.Is(err, ErrAction) {
			t.Errorf("%s as that of the wrong side: %v", r.ID, err)
		}
	}
	if list, err := s.buyer.Records(); err != nil || len(list) != 1 || list[0].With != sellerAddress {
		t.Errorf("at the buyer: %+v, %v", list, err)
	}
}

// TestRecordOfTheirName gives a record of the other side the id of ours, and a
// key before it.
func TestRecordOfTheirName(t *testing.T) {
	s := newScene(t)
	_, accept := s.agreed()
	ours, file, err := s.seller.RecordFile(accept.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	s.change(s.seller, theirsKey(accept.ID), "0/theirs", func(r *Record) { r.ID = ours.ID })
	found, got, err := s.seller.RecordFile(ours.ID, true)
	if err != nil || !found.Ours || !bytes.Equal(file, got) {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestCheckRecordAnew holds a record against what is published now, and the
// other side's against the acceptance that it came with.
func TestCheckRecordAnew(t *testing.T) {
	s := newScene(t)
	_, first := s.agreed()
	_, second := s.agreed()
	s.change(s.seller, theirsKey(first.ID), theirsKey(second.ID), func(r *Record) { r.Accept = second.ID })
	_, _, report, err := s.seller.CheckRecord(t.Context(), second.ID, false)
	if err != nil || report.Code != record.CodeBinding || report.Reason != "it is the record of another acceptance" {
		t.Errorf("%s %s (%s), %v", report.Result, report.Code, report.Reason, err)
	}
	s.page = party.ErrTemporary
	if _, _, report, err = s.seller.CheckRecord(t.Context(), first.ID, true); err != nil || report.Result != record.NotMade {
		t.Errorf("without key pages: %s, %v", report.Result, err)
	}
}
