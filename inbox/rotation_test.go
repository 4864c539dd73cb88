package inbox

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
)

// rotating is a scene in which the seller's keys are in a folder, whose page is published anew after each change.
type rotating struct {
	*scene
	dir string
}

func newRotating(t *testing.T) *rotating {
	t.Helper()
	r := &rotating{dir: filepath.Join(t.TempDir(), "keys")}
	r.scene = newScene(t, func(set *Settings) {
		if set.Name != "seller" {
			return
		}
		must(t, second(party.NewKey(r.dir, rand.Reader, time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC))))
		keys, err := party.OpenRing(r.dir, func(err error) { t.Error(err) })
		must(t, err)
		set.Keys = keys
	})
	r.publish()
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second(_ party.OwnKey, err error) error { return err }

func (r *rotating) publish() []party.OwnKey {
	r.t.Helper()
	set := r.settings["seller"]
	keys, err := party.LoadKeys(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := party.BuildPage(set.Party, set.OrgName, []string{set.Address}, nil, keys)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.pages[set.JKU], err = party.ParsePage(data, set.Party); err != nil {
		r.t.Fatal(err)
	}
	return keys
}

// rotate makes a second key, and has it sign after the five minutes that it must be on the page.
func (r *rotating) rotate(t *testing.T) {
	t.Helper()
	must(t, second(party.NewKey(r.dir, rand.Reader, r.now)))
	r.publish()
	r.now = r.now.Add(party.PageAge)
	must(t, second(party.Retire(r.dir, r.publish()[0].Kid, r.now)))
	r.now = r.now.Add(time.Second)
	r.publish()
}

// kids are those of the offer, and of the seal of the seller's record.
func kids(t *testing.T, file []byte) (offer, seal string) {
	t.Helper()
	r, err := record.Parse(file)
	must(t, err)
	token, err := jws.Parse([]byte(r.Seal), jws.TypRecord)
	must(t, err)
	return r.Side("offerer").Kid, token.Header.Kid
}

// The key changes between a quote and its accept: the quote is accepted, and the records of both sides check out, sealed
// with the key of the day of the accept.
func TestRotateInMidThread(t *testing.T) {
	s := newRotating(t)
	_, quote := s.quoted()
	s.rotate(t)
	keys := s.publish()
	_, raw := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.expect(s.seller, raw, "accepted signed")
	for _, in := range []*Inbox{s.buyer, s.seller} {
		_, file := s.kept(in, quote.ID, true)
		if report := s.check(file); report.Result != record.TwoSigned || len(report.Warnings) != 0 {
			t.Errorf("%s: %+v", in.Name(), report)
		}
	}
	_, file := s.kept(s.seller, quote.ID, true)
	if offer, seal := kids(t, file); offer != keys[0].Kid || seal != keys[1].Kid {
		t.Errorf("the offer is signed by %s and the record sealed by %s, the keys are %s and %s", offer, seal, keys[0].Kid, keys[1].Kid)
	}
	if cancel, raw := s.do(s.seller, Action{Type: intent.Cancel, Ref: quote.ID}); s.deliver(s.buyer, raw).Verdict != Accepted {
		t.Errorf("what the new key signs does not count: %v", cancel)
	}
}

// An accept waits for the owner while the key changes: the record of what was agreed before the change is sealed with the
// key that was there then (D93).
func TestRotateWhileAnAcceptWaits(t *testing.T) {
	s := newRotating(t)
	_, quote := s.quoted()
	accept, raw := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.page = party.ErrTemporary
	s.deliver(s.seller, raw)
	s.page = nil
	s.now = s.now.Add(time.Hour)
	s.rotate(t)
	s.tick(s.seller, time.Hour)
	if got := s.state(s.seller, quote.Thread, quote.ID); got != "agreed" {
		t.Fatal(got)
	}
	_, file := s.kept(s.seller, accept.ID, true)
	if report := s.check(file); report.Result != record.TwoSigned {
		t.Errorf("%+v", report)
	}
	if _, seal := kids(t, file); seal != s.publish()[0].Kid {
		t.Error("it is sealed with a key that was made later")
	}
}

// What a key signed before it was revoked checks, with a warning; afterwards the other key signs.
func TestRevoked(t *testing.T) {
	s := newRotating(t)
	_, quote := s.quoted()
	_, raw := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
	s.expect(s.seller, raw, "accepted signed")
	_, file := s.kept(s.seller, quote.ID, true)

	s.now = s.now.Add(time.Hour)
	must(t, second(party.NewKey(s.dir, rand.Reader, s.now)))
	stolen := s.publish()[0]
	must(t, second(party.Revoke(s.dir, stolen.Kid, s.now, s.now)))
	s.publish()
	if report := s.check(file); report.Result != record.TwoSigned || len(report.Warnings) != 1 {
		t.Errorf("revoked later: %+v", report)
	}
	ask, raw := s.do(s.buyer, askAction())
	s.expect(s.seller, raw, "accepted signed")
	_, raw = s.do(s.seller, quoteAction(ask.Thread, "", 55000))
	s.expect(s.buyer, raw, "accepted signed")

	must(t, second(party.Revoke(s.dir, stolen.Kid, time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), s.now)))
	s.publish()
	if report := s.check(file); report.Result != record.DoesNotCheckOut || report.Code != "revoked" {
		t.Errorf("revoked before: %+v", report)
	}
}
