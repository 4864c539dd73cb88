package inbox

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
)

// check checks the bytes of a kept record as a stranger would.
func (s *scene) check(file []byte) record.Report {
	return record.Check(s.t.Context(), file, record.KeySource{Trust: party.Trust{Hosts: []string{"keys.test"}}, Pages: s, TXT: s})
}

// kept is a record that an inbox keeps of an agreement.
func (s *scene) kept(in *Inbox, id string, ours bool) (Record, []byte) {
	s.t.Helper()
	r, file, err := in.RecordFile(id, ours)
	if err != nil {
		s.t.Fatalf("%s, ours %v: %v", in.Name(), ours, err)
	}
	return r, file
}

// agree plays ask, quote and accept up to the accept's mail.
func (s *scene) agree() (quote, accept Done, raw []byte) {
	s.t.Helper()
	_, quote = s.quoted()
	accept, raw = s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	return quote, accept, raw
}

// Each side has its own record, and the offerer has the accepter's as well, to
// the byte; both check out anywhere.
func TestBothRecords(t *testing.T) {
	s := newScene(t)
	quote, accept, raw := s.agree()
	s.expect(s.seller, raw, "accepted signed")
	mine, sent := s.kept(s.buyer, accept.ID, true)
	theirs, received := s.kept(s.seller, quote.ID, false)
	own, made := s.kept(s.seller, quote.ID, true)
	if !bytes.Equal(sent, received) || theirs.Result != record.TwoSigned || theirs.ID != mine.ID || own.ID == mine.ID || own.Kind != record.TwoSignatures {
		t.Errorf("the buyer's is %+v, the seller has %+v and %+v", mine, theirs, own)
	}
	for _, file := range [][]byte{sent, made} {
		r, err := record.Parse(file)
		if report := s.check(file); err != nil || report.Result != record.TwoSigned || len(r.Chain) != 3 {
			t.Errorf("%+v, %v, chain %v", report, err, r)
		}
	}
	for in, want := range map[*Inbox]int{s.buyer: 1, s.seller: 2} {
		list, err := in.Records()
		thread, threadErr := in.Thread(accept.Thread)
		if err != nil || threadErr != nil || len(list) != want || !slices.Equal(thread.Records, list) {
			t.Errorf("%s: %v and %v, %v %v", in.Name(), list, thread.Records, err, threadErr)
		}
	}
	if _, _, err := s.buyer.RecordFile(accept.ID, false); err == nil {
		t.Error("the buyer has a record of the seller's")
	}
}

// A cancel may name either side's record (D45).
func TestCancelNamesARecord(t *testing.T) {
	for _, ours := range []bool{true, false} {
		s := newScene(t)
		quote, _, raw := s.agree()
		s.expect(s.seller, raw, "accepted signed")
		r, _ := s.kept(s.seller, quote.ID, ours)
		if _, err := s.seller.Do(Action{Type: intent.Cancel, Ref: r.ID}); err != nil {
			t.Errorf("ours %v: %v", ours, err)
		}
		if got := s.state(s.seller, quote.Thread, quote.ID); got != "cancelled" {
			t.Errorf("ours %v: %s", ours, got)
		}
	}
}

// The other side chooses the id of its record: it takes no place of ours.
func TestCancelNamesOurRecord(t *testing.T) {
	s := newScene(t)
	first, _ := s.agreed()
	second, accept := s.agreed()
	ours, _ := s.kept(s.seller, first.ID, true)
	for _, before := range []string{theirsKey(accept.ID), "0/theirs"} {
		s.change(s.seller, theirsKey(accept.ID), before, func(r *Record) { r.ID = ours.ID })
	}
	if _, err := s.seller.Do(Action{Type: intent.Cancel, Ref: ours.ID}); err != nil {
		t.Fatal(err)
	}
	if a, b := s.state(s.seller, first.Thread, first.ID), s.state(s.seller, second.Thread, second.ID); a != "cancelled" || b != "agreed" {
		t.Errorf("the first is %s, the second %s", a, b)
	}
}

// An accept counts whatever record comes with it (D46): one that does not
// check out is kept and marked, and waits until the owner has seen it.
func TestRecordThatDoesNotCheckOut(t *testing.T) {
	other := func(s *scene) []byte { // of another agreement of the same two
		quote, _, raw := s.agree()
		s.expect(s.seller, raw, "accepted signed")
		_, file := s.kept(s.buyer, quote.ID, true)
		return file
	}
	edit := func(from, to string) func(*scene, []byte) []byte {
		return func(_ *scene, file []byte) []byte {
			return []byte(strings.Replace(string(file), from, to, 1))
		}
	}
	for name, c := range map[string]struct {
		file   func(*scene, []byte) []byte
		result record.Result
		code   record.Code
	}{
		"as it was sent":       {edit("", ""), record.TwoSigned, ""},
		"changed after sealed": {edit(`"org_name":"buyer`, `"org_name":"other`), record.DoesNotCheckOut, record.CodeSeal},
		"of another agreement": {func(s *scene, _ []byte) []byte { return other(s) }, record.DoesNotCheckOut, record.CodeBinding},
		"no JSON":              {func(*scene, []byte) []byte { return []byte("{") }, record.DoesNotCheckOut, record.CodeJSON},
		"another profile":      {edit("agent-agreement/1", "agent-agreement/2"), record.DoesNotCheckOut, record.CodeProfile},
		"nothing":              {func(*scene, []byte) []byte { return []byte{} }, record.DoesNotCheckOut, record.CodeJSON},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			quote, accept, raw := s.agree()
			_, sent := s.kept(s.buyer, accept.ID, true)
			s.expect(s.seller, s.withRecord(raw, c.file(s, sent)), "accepted signed")
			if got := s.state(s.seller, quote.Thread, quote.ID); got != "agreed" {
				t.Errorf("the quote is %s", got)
			}
			theirs, _ := s.kept(s.seller, quote.ID, false)
			if theirs.Result != c.result || theirs.Code != c.code {
				t.Errorf("theirs is %+v", theirs)
			}
			if _, own := s.kept(s.seller, quote.ID, true); s.check(own).Result != record.TwoSigned {
				t.Error("our own does not check out")
			}
			s.mustWait(s.seller, recordPrefix+accept.ID, c.result != record.TwoSigned)
		})
	}
}

// withRecord is the mail of an accept with another record in it, signed anew.
func (s *scene) withRecord(raw, file []byte) []byte {
	s.t.Helper()
	mail, err := envelope.Read(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	found, err := intent.Find(mail)
	if err != nil {
		s.t.Fatal(err)
	}
	draft, err := found.Draft(string(found.JWS), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	draft.Attachments = append(draft.Attachments, envelope.Attachment{Type: "application/json", Filename: "agreement.json", Body: file})
	if raw, err = envelope.Compose(draft, rand.Reader); err != nil {
		s.t.Fatal(err)
	}
	if raw, err = s.services["buyer"].Signer.Sign(raw, s.now); err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// mustWait compares whether something waits, alone, and puts it aside.
func (s *scene) mustWait(in *Inbox, key string, want bool) {
	s.t.Helper()
	if waiting, err := in.Waiting(); err != nil || !want && len(waiting) > 0 {
		s.t.Errorf("waiting %+v, %v", waiting, err)
	}
	if !want {
		return
	}
	if got := s.onlyWaiting(in); got != key {
		s.t.Fatalf("%s waits, not %s", got, key)
	}
	if err := in.Approve(key); err == nil {
		s.t.Error("it was approved")
	}
	if err := in.Refuse(key, ""); err != nil {
		s.t.Error(err)
	}
	if waiting, err := in.Waiting(); err != nil || len(waiting) > 0 {
		s.t.Errorf("put aside, and still waiting %+v, %v", waiting, err)
	}
}

// While the key pages cannot be had, the record is kept and not judged.
func TestRecordNotChecked(t *testing.T) {
	s := newScene(t)
	quote, accept, raw := s.agree()
	sellers := party.PageURL("keys.test", s.settings["seller"].Party)
	page := s.pages[sellers]
	delete(s.pages, sellers) // our own page, of all: nobody can check the offer
	s.expect(s.seller, raw, "accepted signed")
	if theirs, _ := s.kept(s.seller, quote.ID, false); theirs.Result != record.DoesNotCheckOut || theirs.Code != record.CodeTrust {
		t.Errorf("without our page: %+v", theirs)
	}
	s.pages[sellers] = page
	if _, file := s.kept(s.seller, accept.ID, false); s.check(file).Result != record.TwoSigned {
		t.Error("with it again, it does not check out")
	}
}

// The record of an accept that waits for the owner is kept with it, shown once
// it counts, and dropped where it never does.
func TestRecordOfAHeldAccept(t *testing.T) {
	for name, decide := range map[string]func(*Inbox, string) error{"approved": (*Inbox).Approve, "refused": func(in *Inbox, key string) error { return in.Refuse(key, "") }} {
		s := newScene(t)
		buyer := s.settings["buyer"]
		quote, accept, raw := s.agree()
		page := s.pages[buyer.JKU]
		delete(s.pages, buyer.JKU) // the signature cannot be checked
		s.expect(s.seller, raw, "held unchecked")
		s.pages[buyer.JKU] = page
		if list, err := s.seller.Records(); err != nil || len(list) != 0 {
			t.Errorf("%s: before, %+v, %v", name, list, err)
		}
		if err := decide(s.seller, accept.ID); err != nil {
			t.Fatal(err)
		}
		list, err := s.seller.Records()
		if err != nil || len(list) != map[string]int{"approved": 2, "refused": 0}[name] {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if name == "approved" {
			own, file := s.kept(s.seller, quote.ID, true)
			if own.Kind != record.OurSignature || s.check(file).Result != record.OneSigned {
				t.Errorf("own %+v, %+v", own, s.check(file))
			}
		}
	}
}

// Without a key there is no record, and the agreement stands.
func TestAgreementWithoutKey(t *testing.T) {
	s := newScene(t, func(set *Settings) {
		set.Unsigned = UnsignedAllow
		if set.Name == "seller" {
			set.Keys = nil
		}
	})
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	quote, raw := s.do(s.seller, quoteAction(ask.Thread, "", 55000))
	s.expect(s.buyer, raw, "accepted mail_only")
	_, raw = s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.expect(s.seller, raw, "accepted signed")
	if own, file := s.kept(s.buyer, quote.ID, true); own.Kind != record.OurSignature || s.check(file).Result != record.OneSigned {
		t.Errorf("the buyer's is %+v, %+v", own, s.check(file))
	}
	if _, _, err := s.seller.RecordFile(quote.ID, true); err == nil {
		t.Error("the seller sealed a record without a key")
	}
}
