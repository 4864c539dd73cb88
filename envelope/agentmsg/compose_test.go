package agentmsg

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var noon = time.Date(2026, 7, 26, 12, 0, 0, 0, time.UTC)

// zeros is a source of bytes that are not random.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCompose(t *testing.T) {
	input, err := Chat("hello")
	if err != nil {
		t.Fatal(err)
	}
	i := sender(t)
	e, err := i.Compose(Envelope{To: readVectors(t).Identities.Recipient, Request: &Request{Offering: OfferingChat, Input: input}}, noon, zeros{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"from":"UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP","id":"019f9e4b-de00-7000-8000-000000000000",` +
		`"payload":{"input":{"text":"hello"},"offering":"chat"},` +
		`"to":"UAKQRYZBYFOC65OQZVJ3QPCIERDTRNNZPMOJUYXC3DGPRCDWSKD4HV5A",` +
		`"trace":{"span_id":"0000000000000000","trace_id":"00000000000000000000000000000000"},` +
		`"ts":"2026-07-26T12:00:00.000Z","type":"request","v":"0.2.0"}`
	unsigned, err := without(e.Bytes(), "sig")
	if err != nil || string(unsigned) != want {
		t.Error(cmp.Diff(want, string(unsigned)))
	}
	again, err := Parse(e.Bytes())
	if err != nil || !cmp.Equal(e, again, cmpopts.IgnoreUnexported(Envelope{})) || !bytes.Equal(e.Bytes(), again.Bytes()) {
		t.Errorf("read again: %v, %v", again, err)
	}
}
