package agentmsg

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Whatever is read, signed by whoever made it up, has one canonical form, is
// read from it again, and goes through every check without a panic.
func FuzzParse(f *testing.F) {
	v, i := readVectors(f), sender(f)
	key := boxKey(f)
	for _, vector := range v.Envelopes {
		f.Add([]byte(vector.Envelope))
	}
	for _, m := range []object{valid(), validRespond()} {
		m["payload"].(object)["input"], m["payload"].(object)["output"] = jsontext.Value(boxSealed), "text"
		m["artifacts"] = []any{object{"parts": []any{object{"ref": "cid:1"}}}}
		f.Add(sign(f, i, m))
	}
	f.Add([]byte(`{"sig":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Parse(data)
		if err != nil && codeOf(err) == "" {
			t.Fatalf("no refusal: %v", err)
		}
		var m object // what an attacker with a key can send
		if json.Unmarshal(data, &m) != nil || m == nil {
			return
		}
		m["from"] = i.ID()
		delete(m, "sig")
		signed := sign(t, i, m)
		e, err := Parse(signed)
		if err != nil {
			return
		}
		if again, err := Parse(e.Bytes()); err != nil || !bytes.Equal(again.Bytes(), signed) {
			t.Fatalf("%v: %s", err, signed)
		}
		e.Freshness(noon)
		e.Addressing(i.ID())
		e.Size()
		e.Hops()
		e.Files()
		if _, _, err := e.Framed(noon, Names{}); err != nil {
			t.Error(err)
		}
		if c, err := ParseCancel(e); err == nil {
			if _, err := c.Request(); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if opened, err := e.Open(key); err == nil && IsSealed(e.Body()) == (opened == e) {
			t.Error("a sealed body was not opened")
		}
	})
}

// A roster that is read is signed again to the same bytes: nothing in it is lost.
func FuzzRoster(f *testing.F) {
	signed, owner := vectorRoster(f)
	i := sender(f)
	f.Add(signed)
	f.Add([]byte(`{"admission":"v1","entries":[],"updated_at":"2026-07-26T12:00:00.000Z","limits":{"x":1},"x":{"y":null}}`))
	f.Add([]byte(`{"admission":"v1","entries":[{"subject":"` + owner + `","stance":"hold","x":[1]}],"updated_at":"2026-07-26T12:00:00.000Z","defaults":{"":"allow"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := ParseRoster(data, owner); err != nil && codeOf(err) == "" && err != ErrOwner {
			t.Fatalf("no refusal: %v", err)
		}
		var m object
		if json.Unmarshal(data, &m) != nil || m == nil {
			return
		}
		m["owner_key"] = owner
		once, err := ParseRoster(signRoster(t, i, m), owner)
		if err != nil {
			return
		}
		first, err := i.SignRoster(*once)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := ParseRoster(first, owner)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := i.SignRoster(*twice); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v: %s, then %s", err, first, second)
		}
	})
}
