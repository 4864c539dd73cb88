package emailing

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"net/mail"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// seed is that of the published test vectors.
const seed = "SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA"

const requestID = "01a19b7c-a680-73f5-a383-992c55b00c4c"

var now = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// source is randomness that is the same in every run.
func source() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{}) }

// sign makes a message of e.
func sign(t rapid.TB, e agentmsg.Envelope) *agentmsg.Envelope {
	t.Helper()
	identity, err := agentmsg.ParseSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := identity.Compose(e, now, source())
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func chat(text string, files ...agentmsg.File) agentmsg.Envelope {
	input, err := agentmsg.Chat(text)
	if err != nil {
		panic(err)
	}
	return agentmsg.Envelope{ID: requestID, Request: &agentmsg.Request{Offering: agentmsg.OfferingChat, Input: input, Files: files}}
}

func answer(r agentmsg.Respond) agentmsg.Envelope {
	return agentmsg.Envelope{InReplyTo: requestID, TaskID: "019a4400", Respond: &r}
}

// pinned is a file of these bytes.
func pinned(name, ref string, body []byte) agentmsg.File {
	f := agentmsg.File{Name: name, MediaType: "text/plain", Ref: ref}
	f.Pin(int64(len(body)), sha256.Sum256(body))
	return f
}

func letter() Letter {
	return Letter{
		From: mail.Address{Name: "Buyer Agent", Address: "agent@buyer.test"}, To: mail.Address{Name: "Seller Ltd", Address: "agent@seller.test"},
		Offering: "chat", Files: map[string][]byte{},
	}
}

func compose(t rapid.TB, m *agentmsg.Envelope, l Letter) []byte {
	t.Helper()
	raw, err := Compose(m, l, source())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func read(t rapid.TB, raw []byte) *envelope.Mail {
	t.Helper()
	m, err := envelope.Read(raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return m
}

// received is the message that a mail carries, as its recipient sees it.
func received(t rapid.TB, raw []byte) (*Found, *agentmsg.Envelope) {
	t.Helper()
	found, err := Find(read(t, raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	m, err := agentmsg.Parse(found.Envelope)
	if err != nil {
		t.Fatalf("%v\n%s", err, found.Envelope)
	}
	return found, m
}

// copied is the state of a file and what was written of it.
func copied(t rapid.TB, f *Found, file agentmsg.File) (FileState, []byte) {
	t.Helper()
	var b bytes.Buffer
	state, err := f.CopyFile(file, &b)
	if err != nil {
		t.Fatal(err)
	}
	return state, b.Bytes()
}

func value(s string) jsontext.Value { return jsontext.Value(s) }
