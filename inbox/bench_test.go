package inbox

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// benchScene is a scene in which the buyer's mails are of about 6 KB, signed
// with RSA-2048 and an EdDSA JWS.
func benchScene(b *testing.B) *scene {
	b.Helper()
	s := newScene(b)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	signer, err := dkim.NewSigner("buyer.test", "s1", key)
	if err != nil {
		b.Fatal(err)
	}
	s.txt["s1._domainkey.buyer.test"] = dkim.KeyRecord(key.Public())
	services := s.services["buyer"]
	services.Signer = signer
	s.services["buyer"] = services
	s.buyer = s.inbox("buyer")
	return s
}

// asks returns mails that each begin a thread.
func (s *scene) asks(n int) []Mail {
	s.t.Helper()
	mails := make([]Mail, n)
	a := askAction()
	a.Note = strings.Repeat("We would like delivery to Ikeja. ", 5)
	for i := range mails {
		_, raw := s.do(s.buyer, a)
		mails[i] = Mail{Raw: raw, Arrival: s.now}
	}
	return mails
}

// BenchmarkFloor is what no implementation can do without: one RSA-2048
// verification, one Ed25519 verification, the hash of the body.
func BenchmarkFloor(b *testing.B) {
	body := make([]byte, 6<<10)
	digest := sha256.Sum256(body)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	rsaSignature, err := rsa.SignPKCS1v15(rand.Reader, rsaKey, crypto.SHA256, digest[:])
	if err != nil {
		b.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, 1200)
	signature := ed25519.Sign(private, payload)
	b.ReportAllocs()
	for b.Loop() {
		digest = sha256.Sum256(body)
		if rsa.VerifyPKCS1v15(&rsaKey.PublicKey, crypto.SHA256, digest[:], rsaSignature) != nil || !ed25519.Verify(public, payload, signature) {
			b.Fatal("the floor does not hold")
		}
	}
}

// BenchmarkVerify is everything about a mail up to the store.
func BenchmarkVerify(b *testing.B) {
	s := benchScene(b)
	m := s.asks(1)[0]
	b.SetBytes(int64(len(m.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		if p := s.seller.prove(b.Context(), m); p.final != nil || p.signature() != Signed {
			b.Fatalf("%+v", p.final)
		}
	}
}

// deliverEach takes new mails one by one.
func (s *scene) deliverEach(b *testing.B) {
	b.ReportAllocs()
	var mails []Mail
	for b.Loop() {
		if len(mails) == 0 {
			b.StopTimer()
			mails = s.asks(500)
			b.StartTimer()
		}
		s.accept(b, mails[0])
		mails = mails[1:]
	}
}

func (s *scene) accept(b *testing.B, m Mail) {
	results, err := s.seller.Deliver(b.Context(), []Mail{m}, []byte(`{"uid":1}`))
	if err != nil || results[0].Verdict != Accepted {
		b.Fatalf("%+v %v", results, err)
	}
}

// BenchmarkDeliver takes mails one by one, each durable before the next.
func BenchmarkDeliver(b *testing.B) {
	s := benchScene(b)
	s.deliverEach(b)
}

// BenchmarkDeliverBatch takes 64 mails at a time; a mail is one operation.
func BenchmarkDeliverBatch(b *testing.B) {
	s := benchScene(b)
	mails := s.asks(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for len(mails) > 0 {
		n := min(64, len(mails))
		results, err := s.seller.Deliver(b.Context(), mails[:n], []byte(`{"uid":1}`))
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			if r.Verdict != Accepted {
				b.Fatalf("%+v", r)
			}
		}
		mails = mails[n:]
	}
}

// A batch of 64 is one commit.
func TestBatchIsOneCommit(t *testing.T) {
	s := newScene(t)
	mails := s.asks(64)
	before := s.store.Commits()
	if _, err := s.seller.Deliver(t.Context(), mails, []byte(`{"uid":64}`)); err != nil {
		t.Fatal(err)
	}
	if n := s.store.Commits() - before; n != 1 {
		t.Errorf("%d commits for 64 mails", n)
	}
}

// BenchmarkGrowth is a negotiation of four messages, each signed and in one mail, at both sides, which share a store here. It
// tells what the store has grown by for each message of a side, and what of it is left when the store was compacted:
// go test -run xxx -bench Growth -benchtime 5000x ./inbox is 20 000 deliveries.
func BenchmarkGrowth(b *testing.B) {
	s := benchScene(b)
	messages := 0
	for b.Loop() {
		s.negotiate(&messages)
		if messages%400 == 0 {
			s.tick(s.buyer, time.Hour)
			s.tick(s.seller, 0)
		}
	}
	if err := s.store.Close(); err != nil {
		b.Fatal(err)
	}
	grown, compacted, err := store.Compact(s.path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(grown)/float64(2*messages), "B/message")
	b.ReportMetric(float64(compacted)/float64(2*messages), "B/message-compacted")
	s.open()
}

// negotiate plays ask, quote, counter-quote and accept, and counts them.
func (s *scene) negotiate(messages *int) {
	s.t.Helper()
	ask := askAction()
	ask.Note = strings.Repeat("We would like delivery to Ikeja. ", 5)
	asked, raw := s.do(s.buyer, ask)
	s.expect(s.seller, raw, "accepted signed")
	quote, raw := s.do(s.seller, quoteAction(asked.Thread, "", 55000))
	s.expect(s.buyer, raw, "accepted signed")
	counter, raw := s.do(s.buyer, quoteAction(asked.Thread, quote.ID, 50000))
	s.expect(s.seller, raw, "accepted signed")
	_, raw = s.do(s.seller, Action{Type: intent.Accept, Ref: counter.ID})
	s.expect(s.buyer, raw, "accepted signed")
	*messages += 4
}

// BenchmarkDeliverMillion takes mails in turn with an empty store and with one
// of a million threads, each with its message and nonce: the disk's own ups and
// downs are larger than the difference, and so fall on both. Filling takes
// minutes, so it runs only when it is named:
// go test -run xxx -bench DeliverMillion -benchtime 2000x ./inbox
func BenchmarkDeliverMillion(b *testing.B) {
	if f := flag.Lookup("test.bench"); !strings.Contains(f.Value.String(), "Million") {
		b.Skip("fills a store for minutes: go test -run xxx -bench DeliverMillion ./inbox")
	}
	empty, million := benchScene(b), benchScene(b)
	const count, batch = 1_000_000, 256 // in the small commits by which a real store grows
	for n := 0; n < count; n += batch {
		if err := million.fill(n, batch); err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range []*scene{empty, million} {
		for _, m := range s.asks(500) { // until rows settle in both
			s.accept(b, m)
		}
	}
	var spent [2]time.Duration
	var mails [2][]Mail
	for b.Loop() {
		for i, s := range []*scene{empty, million} {
			if len(mails[i]) == 0 {
				b.StopTimer()
				mails[i] = s.asks(500)
				b.StartTimer()
			}
			began := time.Now()
			s.accept(b, mails[i][0])
			spent[i] += time.Since(began)
			mails[i] = mails[i][1:]
		}
	}
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(b.N), "ns/empty")
	b.ReportMetric(float64(spent[1].Nanoseconds())/float64(b.N), "ns/million")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "x-empty")
}

// fill writes rows like those of delivered asks.
func (s *scene) fill(from, n int) error {
	s.doctored = true // the nonces are in nobody's share
	return s.seller.update(func(tx *store.Tx) error {
		for i := from; i < from+n; i++ {
			id := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i) // spread like random ids
			row := threadRow{Thread: threads.Thread{ID: id, Parties: [2]string{buyerAddress, sellerAddress}, Entries: []threads.Entry{{ID: id, Type: "ask_quote", By: buyerAddress, Exp: 1 << 40, State: threads.Open}}}, Messages: []string{id}}
			for table, put := range map[store.Table]struct {
				key string
				row any
			}{
				tableThreads:  {id, row},
				tableMessages: {id, messageRow{Canonical: strings.Repeat("x", 1200), Hash: id, Thread: id, Fate: FateAccepted}},
				tableNonces:   {buyerAddress + "\x00" + id, nonceRow{ID: id, Hash: id}},
				tableForget:   {dueKey(1<<40, id), struct{}{}},
			} {
				if err := tx.Put(table, put.key, put.row); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
