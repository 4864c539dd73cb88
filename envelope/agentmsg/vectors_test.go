package agentmsg

import (
	"bytes"
	"encoding/base64"
	"os"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// vectors is testdata/agent-messaging.json. A member that it does not know
// fails the tests, so that none can be passed over.
type vectors struct {
	About      string `json:"about"`
	Identities struct {
		Seed       string `json:"sender_seed"`
		Sender     string `json:"sender"`
		Recipient  string `json:"recipient"`
		ThirdParty string `json:"third_party"`
	} `json:"identities"`
	Prefix    string `json:"signed_bytes_prefix"`
	Envelopes []struct {
		Name       string         `json:"name"`
		Addressing string         `json:"addressing"`
		Hops       string         `json:"hops"`
		Envelope   jsontext.Value `json:"envelope"`
	} `json:"envelopes"`
	Roster struct {
		Prefix   string         `json:"signed_bytes_prefix"`
		Encoding string         `json:"signature_encoding"`
		Signed   jsontext.Value `json:"signed"`
	} `json:"roster"`
	Freshness struct {
		Now   time.Time `json:"now"`
		Cases []struct {
			TS      string `json:"ts"`
			Verdict string `json:"verdict"`
			Why     string `json:"why"`
		} `json:"cases"`
	} `json:"freshness_mailbox"`
	Sizes struct {
		Unit  string `json:"unit"`
		Cases []struct {
			Max      int            `json:"max"`
			Input    jsontext.Value `json:"input"`
			Measured int            `json:"measured"`
			Verdict  string         `json:"verdict"`
		} `json:"cases"`
	} `json:"size_cap"`
	Fences []struct {
		Input    string `json:"input"`
		Expected string `json:"expected"`
	} `json:"fence_text"`
	Frames []struct {
		Name       string `json:"name"`
		Text       string `json:"text"`
		Provenance struct {
			From     string    `json:"from"`
			Received time.Time `json:"received_at"`
			Handle   string    `json:"handle"`
			Operator string    `json:"operator"`
			Trace    struct {
				TraceID string `json:"trace_id"`
				SpanID  string `json:"span_id"`
			} `json:"trace"`
		} `json:"provenance"`
		Expected string `json:"expected"`
	} `json:"frames"`
	Fields []struct {
		Input  jsontext.Value `json:"input"`
		Field  string         `json:"field"`
		Framed bool           `json:"framed"`
	} `json:"framed_field"`
	Canonical []struct {
		Input string `json:"input_json"`
		Want  string `json:"canonical"`
	} `json:"canonical_json"`
	Cancel struct {
		Invalid    []jsontext.Value `json:"invalid_inputs"`
		Propagated []struct {
			Original jsontext.Value `json:"original"`
			Note     string         `json:"note"`
		} `json:"propagated_notes"`
		From    []Status `json:"cancelable_from"`
		NotFrom []Status `json:"not_cancelable_from"`
	} `json:"cancel"`
}

func readVectors(t testing.TB) *vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/agent-messaging.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if len(v.Envelopes) == 0 || len(v.Freshness.Cases) == 0 || len(v.Sizes.Cases) == 0 || len(v.Fences) == 0 || len(v.Frames) == 0 ||
		len(v.Fields) == 0 || len(v.Canonical) == 0 || len(v.Cancel.Invalid) == 0 || len(v.Cancel.Propagated) == 0 || len(v.Cancel.From) == 0 || len(v.Cancel.NotFrom) == 0 {
		t.Fatal("a list of vectors is empty")
	}
	return &v
}

// sender is the published test identity of the vectors.
func sender(t testing.TB) Identity {
	t.Helper()
	v := readVectors(t)
	i, err := ParseSeed(v.Identities.Seed)
	if err != nil || i.ID() != v.Identities.Sender {
		t.Fatalf("%v, %v", i, err)
	}
	return i
}

// accepts turns the word of a vector into a truth.
func accepts(t *testing.T, verdict string) bool {
	t.Helper()
	if verdict != "accept" && verdict != "refuse" {
		t.Fatalf("unknown verdict %q", verdict)
	}
	return verdict == "accept"
}

// Every signed envelope verifies, and its signature is made again from its values.
func TestVectorEnvelopes(t *testing.T) {
	v, i := readVectors(t), sender(t)
	if v.Prefix != tagEnvelope {
		t.Errorf("the domain tag is %q", v.Prefix)
	}
	for _, vector := range v.Envelopes {
		t.Run(vector.Name, func(t *testing.T) {
			e, err := Parse(vector.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			if vector.Addressing != "" && accepts(t, vector.Addressing) != (e.Addressing(v.Identities.Recipient) == "") {
				t.Errorf("addressing: %q", e.Addressing(v.Identities.Recipient))
			}
			if vector.Hops != "" && accepts(t, vector.Hops) != (e.Hops() == "") {
				t.Errorf("hops: %q", e.Hops())
			}
			if again := resign(t, i, vector.Envelope); !bytes.Equal(again, e.Bytes()) {
				t.Errorf("signed again:\n%s\n%s", again, e.Bytes())
			}
		})
	}
}

// resign signs the values of an envelope, whatever its sig is.
func resign(t testing.TB, i Identity, envelope []byte) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(envelope, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "sig")
	return sign(t, i, m)
}

// sign makes an envelope of any members.
func sign(t testing.TB, i Identity, m map[string]any) []byte {
	t.Helper()
	unsigned, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := i.sign(tagEnvelope, unsigned)
	if err != nil {
		t.Fatal(err)
	}
	m["sig"] = base64.RawURLEncoding.EncodeToString(signature)
	data, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVectorFreshness(t *testing.T) {
	v, i := readVectors(t), sender(t)
	for _, vector := range v.Freshness.Cases {
		t.Run(vector.Why, func(t *testing.T) {
			m := valid()
			m["ts"] = vector.TS
			e, err := Parse(sign(t, i, m))
			if accepts(t, vector.Verdict) != (err == nil && e.Freshness(v.Freshness.Now) == "") {
				t.Errorf("%v, %v", e, err)
			}
		})
	}
}

func TestVectorSizes(t *testing.T) {
	for _, vector := range readVectors(t).Sizes.Cases {
		canonical, err := canon.Strict(vector.Input, maxDepth)
		if err != nil {
			t.Fatal(err)
		}
		if got := measure(present(canonical)); got != vector.Measured {
			t.Errorf("%.60s: %d, want %d", canonical, got, vector.Measured)
		}
		// Our cap is MaxText; the verdicts of the vectors are of the caps that they name, 0 meaning none.
		if fits := vector.Max == 0 || vector.Measured <= vector.Max; fits != accepts(t, vector.Verdict) {
			t.Errorf("%.60s: %s", canonical, vector.Verdict)
		}
	}
}

func TestVectorCanonical(t *testing.T) {
	for _, vector := range readVectors(t).Canonical {
		if got, err := canon.Strict([]byte(vector.Input), maxDepth); err != nil || string(got) != vector.Want {
			t.Errorf("%s: %s, %v; want %s", vector.Input, got, err, vector.Want)
		}
	}
}
