package keypage

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
)

const buyer = "pty_buyer000000000000000"

// life is two parties that agree and the strangers who check it, at a time that the test sets. Their pages are shown over
// HTTPS by a Server at loopback.
type life struct {
	t     *testing.T
	cfg   *config.Config
	roots *x509.CertPool
	now   time.Time
	host  string // where keyHost is found
	stop  func() // ends the server
	sent  []record.Held
}

func newLife(t *testing.T) *life {
	l := &life{t: t, now: at(0), cfg: &config.Config{StateDir: t.TempDir(), Inboxes: []config.Inbox{
		{Name: "seller", Address: "agent@seller.test", OrgName: "Seller Ltd", Party: seller},
		{Name: "buyer", Address: "agent@buyer.test", OrgName: "Buyer Ltd", Party: buyer},
	}}}
	l.roots = certify(t, l.cfg)
	for i := range l.cfg.Inboxes {
		newKey(t, dir(l.cfg, i), l.now)
	}
	l.wait(time.Hour)
	s, err := New(l.cfg, func() time.Time { return l.now }, silent())
	ok(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	l.host = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	l.stop = func() {
		cancel()
		ended <- <-ended // for whoever stops it again
	}
	t.Cleanup(l.stop)
	return l
}

func (l *life) wait(d time.Duration) { l.now = l.now.Add(d) }

// stranger is somebody with a cache and a clock of his own.
type stranger struct {
	life  *life
	pages *party.Fetcher
}

func (l *life) stranger(now func() time.Time) stranger {
	return stranger{l, party.NewFetcher(now, party.Options{AllowPrivate: true, RootCAs: l.roots})}
}

// anybody has the right time, and no page yet.
func (l *life) anybody() stranger { return l.stranger(func() time.Time { return l.now }) }

// Page fetches a page from where keyHost is, as DNS would have it.
func (s stranger) Page(ctx context.Context, url, id string, fresh bool) (*party.Page, error) {
	return s.pages.Page(ctx, strings.Replace(url, keyHost, s.life.host, 1), id, fresh)
}

func (s stranger) check(data []byte) record.Report {
	return record.Check(s.life.t.Context(), data, record.KeySource{Trust: s.trust(), Pages: s, TXT: record.Vouches{}})
}

// verify is the check of a message that arrives now.
func (s stranger) verify(h record.Held) party.Result {
	v := &party.Verifier{Trust: s.trust(), Pages: s, TXT: record.Vouches{}}
	return v.Verify(s.life.t.Context(), party.Claim{
		Token: []byte(h.JWS), Typ: jws.TypMessage, Canonical: h.Message.Canonical,
		Address: h.Message.From.Address, Party: h.Message.From.Party, Iat: h.Message.Iat, Arrival: s.life.now,
	})
}

func (s stranger) trust() party.Trust { return party.Trust{Hosts: []string{keyHost}} }

// wants compares the result of a check and its code, and the warnings of each signature.
func (s stranger) wants(data []byte, result record.Result, code string, warnings ...string) {
	s.life.t.Helper()
	r := s.check(data)
	if r.Result != result || string(r.Code) != code || fmt.Sprint(r.Warnings) != fmt.Sprint(warnings) {
		s.life.t.Errorf("%s, code %q, warnings %v: %s; want %s, %q, %v", r.Result, r.Code, r.Warnings, r.Reason, result, code, warnings)
	}
}

// keys are those of a side, oldest first.
func (l *life) keys(side int) []party.OwnKey {
	l.t.Helper()
	keys, err := party.LoadKeys(dir(l.cfg, side))
	ok(l.t, err)
	return keys
}

// say has a side send the next message, signed with the key that signs now.
func (l *life) say(side int, kind intent.Type, edit func(*intent.Message)) record.Held {
	l.t.Helper()
	key, there := party.Active(l.keys(side), l.now)
	if !there {
		l.t.Fatal("no key signs")
	}
	return l.sayWith(key, side, kind, edit)
}

func (l *life) sayWith(key party.OwnKey, side int, kind intent.Type, edit func(*intent.Message)) record.Held {
	l.t.Helper()
	from, to := l.cfg.Inboxes[side], l.cfg.Inboxes[1-side]
	sum := sha256.Sum256(fmt.Append(nil, len(l.sent)))
	m := intent.Message{
		Context: intent.Context(), Profile: intent.Profile, ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", len(l.sent)),
		Thread: "00000000-0000-4000-9000-000000000000", Type: kind,
		From: intent.Sender{Address: from.Address, Party: from.Party}, To: intent.Recipient{Address: to.Address},
		Nonce: base64.RawURLEncoding.EncodeToString(sum[:16]), Iat: l.now.Unix(), Exp: l.now.Unix() + 7*24*3600,
		ActingFor: intent.ActingFor{OrgName: from.OrgName, Contact: "owner@" + from.Address[6:]},
		Agent:     intent.Agent{Name: "Desk", Kind: "api"},
	}
	if n := len(l.sent); n > 0 {
		m.InReplyTo, m.Prev = l.sent[n-1].Message.ID, l.sent[n-1].Message.Hash
	}
	edit(&m)
	parsed, err := intent.Seal(m)
	ok(l.t, err)
	token, err := jws.Sign(key.Private, party.PageURL(keyHost, from.Party), jws.TypMessage, parsed.Canonical)
	ok(l.t, err)
	held := record.Held{Message: parsed, JWS: token, Party: from.Party}
	l.sent = append(l.sent, held)
	return held
}

// offer is a visit that the seller proposes.
func (l *life) offer() record.Held {
	return l.say(0, intent.ProposeTimes, func(m *intent.Message) {
		m.Slots = []intent.Slot{{Start: "2026-11-20T10:00:00+01:00", End: "2026-11-20T11:00:00+01:00", TimeZone: "Africa/Lagos"}}
	})
}

// accept has the buyer accept what was offered last, and returns the record of each side.
func (l *life) accept() (sellers, buyers []byte) {
	l.t.Helper()
	offer := l.sent[len(l.sent)-1]
	acceptance := l.say(1, intent.Accept, func(m *intent.Message) { m.Ref, m.Slot = offer.Message.ID, new(0) })
	r, err := record.Build(record.Deal{
		ID: "00000000-0000-4000-a000-000000000000", Offer: offer, Acceptance: &acceptance,
		Chain: []string{offer.Message.Hash, acceptance.Message.Hash},
	})
	ok(l.t, err)
	return l.seal(r, 0), l.seal(r, 1)
}

func (l *life) seal(r *record.Record, side int) []byte {
	l.t.Helper()
	key, there := party.Sealing(l.keys(side), r.AgreedAt)
	if !there {
		l.t.Fatal("no key seals")
	}
	data, err := record.Seal(r, key.Private, party.PageURL(keyHost, l.cfg.Inboxes[side].Party))
	ok(l.t, err)
	return data
}

// rotate has the seller make a key, wait and retire the one before. It returns the two.
func (l *life) rotate() (old, fresh party.OwnKey) {
	l.t.Helper()
	old, _ = party.Active(l.keys(0), l.now)
	fresh = newKey(l.t, dir(l.cfg, 0), l.now)
	l.wait(party.PageAge)
	l.retire(old)
	l.wait(time.Second)
	return old, fresh
}

func (l *life) retire(key party.OwnKey) {
	l.t.Helper()
	_, err := party.Retire(dir(l.cfg, 0), key.Kid, l.now)
	ok(l.t, err)
}

func (l *life) revoke(key party.OwnKey, since time.Time) {
	l.t.Helper()
	_, err := party.Revoke(dir(l.cfg, 0), key.Kid, since, l.now)
	ok(l.t, err)
	l.wait(keep)
}

// TestLifeRotate changes the key between an offer and its acceptance: the messages and the records of both sides check,
// for who has no page yet as for who has kept the one of before.
func TestLifeRotate(t *testing.T) {
	l := newLife(t)
	regular := l.anybody()
	offer := l.offer()
	if r := regular.verify(offer); r.Outcome != party.Signed || len(r.Warnings) != 0 {
		t.Errorf("before: %+v", r)
	}
	old, fresh := l.rotate()
	sellers, buyers := l.accept()
	l.wait(keep)
	for _, s := range []stranger{regular, l.anybody()} {
		s.wants(sellers, record.TwoSigned, "")
		s.wants(buyers, record.TwoSigned, "")
	}
	// Who delays a message until its key was retired could have stolen that (D42): it is held, and it is good.
	if r := l.anybody().verify(offer); r.Outcome != party.Signed || r.Kid != old.Kid || fmt.Sprint(r.Warnings) != "[key_retired]" {
		t.Errorf("the old offer, arriving now: %+v", r)
	}
	if r := regular.verify(l.offer()); r.Outcome != party.Signed || r.Kid != fresh.Kid || len(r.Warnings) != 0 {
		t.Errorf("an offer with the new key: %+v", r)
	}
	if r := l.anybody().verify(l.sayWith(old, 0, intent.ProposeTimes, func(m *intent.Message) { m.Slots = offer.Message.Slots })); r.Outcome != party.Invalid {
		t.Errorf("an offer with the retired key: %+v", r)
	}
}

// TestLifeUnknownKey has a key sign that is on no page that was kept: it is looked for once more on a fresh one.
func TestLifeUnknownKey(t *testing.T) {
	l := newLife(t)
	l.offer()
	sellers, _ := l.accept()
	regular := l.anybody()
	regular.wants(sellers, record.TwoSigned, "")
	l.wait(time.Minute)
	l.sent = nil
	old, _ := party.Active(l.keys(0), l.now)
	newKey(t, dir(l.cfg, 0), l.now)
	_, err := party.Revoke(dir(l.cfg, 0), old.Kid, l.now, l.now) // which does not wait until others know the next
	ok(t, err)
	l.wait(keep)
	l.offer()
	sellers, _ = l.accept()
	regular.wants(sellers, record.TwoSigned, "")
}

// TestLifeRevoke revokes the key of an offer since after it, and then since before it.
func TestLifeRevoke(t *testing.T) {
	l := newLife(t)
	offer := l.offer()
	l.wait(time.Minute)
	sellers, buyers := l.accept()
	agreed := l.now
	l.wait(time.Hour)
	old, _ := l.rotate()
	l.revoke(old, agreed.Add(time.Second))
	for _, data := range [][]byte{sellers, buyers} {
		l.anybody().wants(data, record.TwoSigned, "", "key_revoked_later")
	}
	if r := l.anybody().verify(offer); r.Outcome != party.Signed || fmt.Sprint(r.Warnings) != "[key_revoked_later key_retired]" {
		t.Errorf("the offer: %+v", r)
	}

	l.revoke(old, agreed) // of the seal, and after the offer
	l.anybody().wants(sellers, record.DoesNotCheckOut, "seal", "key_revoked_later")
	l.anybody().wants(buyers, record.TwoSigned, "", "key_revoked_later") // sealed by the other side

	l.revoke(old, time.Unix(offer.Message.Iat, 0))
	for _, data := range [][]byte{sellers, buyers} {
		l.anybody().wants(data, record.DoesNotCheckOut, "revoked")
	}
	if r := l.anybody().verify(offer); r.Outcome != party.Invalid {
		t.Errorf("the offer: %+v", r)
	}
}

// TestLifeCache goes on with a page for five minutes after it changed, and no longer, also when it is gone by then.
func TestLifeCache(t *testing.T) {
	l := newLife(t)
	l.offer()
	sellers, _ := l.accept()
	old, _ := l.rotate()
	l.wait(keep)
	regular := l.anybody()
	regular.wants(sellers, record.TwoSigned, "")
	begun := l.now
	l.revoke(old, at(1)) // which takes keep
	l.now = begun.Add(party.PageAge - 1)
	regular.wants(sellers, record.TwoSigned, "")
	l.anybody().wants(sellers, record.DoesNotCheckOut, "revoked")
	l.wait(1)
	regular.wants(sellers, record.DoesNotCheckOut, "revoked")

	l.stop()
	regular.wants(sellers, record.DoesNotCheckOut, "revoked")
	l.wait(party.PageAge)
	regular.wants(sellers, record.NotMade, "")
}

// TestLifeDown cannot make a check without an answer, whatever the reason, and never says that a record does not check out.
func TestLifeDown(t *testing.T) {
	for name, down := range map[string]func(*life){
		"nobody listens": func(l *life) { l.stop() },
		"trouble":        func(l *life) { l.answer(503, "") },
		"too many":       func(l *life) { l.answer(429, "") },
		"other certificate": func(l *life) {
			copied := *l.cfg
			copied.StateDir = l.t.TempDir()
			l.roots = certify(l.t, &copied)
		},
		"cut off": func(l *life) {
			l.serve(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			offer := l.offer()
			sellers, buyers := l.accept()
			l.anybody().wants(sellers, record.TwoSigned, "")
			down(l)
			l.anybody().wants(sellers, record.NotMade, "")
			l.anybody().wants(buyers, record.NotMade, "")
			if r := l.anybody().verify(offer); r.Outcome != party.Retry {
				t.Errorf("the offer: %+v", r)
			}
		})
	}
}

// serve puts another server in the place of the one that shows the pages.
func (l *life) serve(handler http.HandlerFunc) {
	l.t.Helper()
	l.stop()
	other := httptest.NewUnstartedServer(handler)
	other.Config.ErrorLog = nil
	other.StartTLS()
	l.t.Cleanup(other.Close)
	l.host = other.Listener.Addr().String()
	l.roots = x509.NewCertPool()
	l.roots.AddCert(other.Certificate())
}

// answer has every page answered alike.
func (l *life) answer(status int, location string) {
	l.serve(func(w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
	})
}

// TestLifeMoved follows no redirect to where the page is good.
func TestLifeMoved(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		l := newLife(t)
		offer := l.offer()
		sellers, _ := l.accept()
		var followed atomic.Int32
		good, err := Build(l.cfg, seller)
		ok(t, err)
		l.serve(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/moved") {
				http.Redirect(w, r, "/moved"+r.URL.Path, status)
				return
			}
			followed.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(good)
		})
		l.anybody().wants(sellers, record.DoesNotCheckOut, "trust")
		if r := l.anybody().verify(offer); r.Outcome != party.Unchecked {
			t.Errorf("%d, the offer: %+v", status, r)
		}
		if followed.Load() != 0 {
			t.Errorf("%d was followed", status)
		}
	}
}

// TestLifeClock checks with clocks that are wrong by years: no step of the check looks at one.
func TestLifeClock(t *testing.T) {
	l := newLife(t)
	l.offer()
	sellers, _ := l.accept()
	l.rotate()
	l.wait(keep)
	want := l.anybody().check(sellers)
	for _, years := range []int{-50, -1, 1, 50} {
		wrong := l.now.AddDate(years, 0, 0)
		if diff := cmp.Diff(want, l.stranger(func() time.Time { return wrong }).check(sellers)); diff != "" || want.Result != record.TwoSigned {
			t.Errorf("%d years: %s %s", years, want.Result, diff)
		}
	}
}
