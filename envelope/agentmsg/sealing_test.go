package agentmsg

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// A box that libsodium (crypto_box_easy) made of the keys 1…32 and 33…64 and the nonce 65…88.
const (
	boxPrivate = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"
	boxPublic  = "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw"
	boxBody    = `{"text":"für dich"}`
	boxSealed  = `{"ct":"WTYGqkDDrYX3rhYAKGiDOBjVhFZtBbh3a3udWpBcqoqAHyw_","epk":"WGmv9FBUlzLLqu1eXfmzCm2jHLDldCutWtShp2jxpns",` +
		`"nonce":"QUJDREVGR0hJSktMTU5PUFFSU1RVVldY","v":"sealedpayload.v1"}`
)

// counter yields the bytes 33, 34, …
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 33 + c.n
		c.n++
	}
	return len(p), nil
}

func boxKey(t testing.TB) SealingKey {
	t.Helper()
	key, err := ParseSealingKey(boxPrivate)
	if err != nil || key.Public() != boxPublic {
		t.Fatal(err, key)
	}
	return key
}

func TestSealKnown(t *testing.T) {
	key := boxKey(t)
	got, err := Seal(jsontext.Value(` {"text" : "f\u00fcr dich"}`), boxPublic, "", &counter{})
	if err != nil || string(got) != boxSealed {
		t.Errorf("%s, %v", got, err)
	}
	for _, e := range []*Envelope{{Request: &Request{Offering: "chat", Input: jsontext.Value(boxSealed)}}, {Respond: &Respond{Output: jsontext.Value(boxSealed)}}} {
		opened, err := e.Open(key)
		if err != nil || string(opened.Body()) != boxBody || string(e.Body()) != boxSealed {
			t.Errorf("%v, %v", opened, err)
		}
		if again, err := opened.Open(key); err != nil || again != opened {
			t.Errorf("%v, %v", again, err)
		}
	}
}

// What is sealed is signed sealed, opened after, and stays signed as it was.
func TestSealAndOpen(t *testing.T) {
	i, key := sender(t), boxKey(t)
	rapid.Check(t, func(rt *rapid.T) {
		body := bodies.Draw(rt, "body")
		sealed, err := Seal(body, boxPublic, key.Public(), &counter{rapid.Byte().Draw(rt, "random")})
		if err != nil {
			rt.Fatal(err)
		}
		e, err := i.Compose(Envelope{Request: &Request{Offering: OfferingChat, Input: sealed}}, noon, zeros{})
		if err != nil {
			rt.Fatal(err)
		}
		opened, err := e.Open(key)
		if err != nil || string(opened.Body()) != string(present(body)) || !bytes.Equal(opened.Bytes(), e.Bytes()) || !IsSealed(e.Body()) {
			rt.Errorf("%s became %s, %v", body, opened.Body(), err)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	key := boxKey(t)
	other, err := ParseSealingKey("EAIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA")
	if err != nil {
		t.Fatal(err)
	}
	with := func(member, value string) jsontext.Value {
		var m object
		if err := json.Unmarshal([]byte(boxSealed), &m); err != nil {
			t.Fatal(err)
		}
		m[member] = value
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	notJSON, err := sealRaw(t, []byte(`{"a":1,"a":2}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		body jsontext.Value
		key  SealingKey
	}{
		"another key":      {jsontext.Value(boxSealed), other},
		"no key":           {jsontext.Value(boxSealed), SealingKey{}},
		"another nonce":    {with("nonce", "AUJDREVGR0hJSktMTU5PUFFSU1RVVldY"), key},
		"another text":     {with("ct", "XTYGqkDDrYX3rhYAKGiDOBjVhFZtBbh3a3udWpBcqoqAHyw_"), key},
		"a key for all":    {with("epk", strings.Repeat("A", 43)), key},
		"not strict JSON":  {notJSON, key},
		"a key not theirs": {with("epk", boxPublic), key},
	} {
		e := &Envelope{Request: &Request{Input: tc.body}}
		if opened, err := e.Open(tc.key); !errors.Is(err, ErrSealed) || opened != nil {
			t.Errorf("%s: %v, %v", name, opened, err)
		}
	}
}

// sealRaw seals bytes that need not be JSON.
func sealRaw(t *testing.T, plain []byte) (jsontext.Value, error) {
	t.Helper()
	s, ok := readSealed(jsontext.Value(boxSealed))
	if !ok {
		t.Fatal("the sealed body is not read")
	}
	shared, err := agree(boxKey(t).private(), s.epk) // both sides share it
	if err != nil {
		t.Fatal(err)
	}
	return s.write(plain, shared)
}

func TestIsSealed(t *testing.T) {
	var m object
	if err := json.Unmarshal([]byte(boxSealed), &m); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		member string
		value  any
		want   bool
	}{
		"as it is":           {"v", versionSealed, true},
		"with a reply key":   {"reply_key", boxPublic, true},
		"a null reply key":   {"reply_key", null, true},
		"another version":    {"v", "sealedpayload.v2", false},
		"no version":         {"v", nil, false},
		"a text beside":      {"text", "attack", false}, // D105
		"any other member":   {"x", 1, false},
		"no epk":             {"epk", nil, false},
		"a short epk":        {"epk", boxPublic[:42], false},
		"unused bits of epk": {"epk", boxPublic[:42] + "x", false},
		"padded epk":         {"epk", boxPublic + "=", false},
		"a short nonce":      {"nonce", "QUJD", false},
		"no base64":          {"nonce", "?", false},
		"a short box":        {"ct", "QUJD", false},
		"no ct":              {"ct", nil, false},
		"ct is no string":    {"ct", 1, false},
	} {
		changed := object{}
		for k, v := range m {
			changed[k] = v
		}
		set(changed, tc.member, tc.value)
		data, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		if IsSealed(data) != tc.want {
			t.Errorf("%s: %v", name, !tc.want)
		}
	}
	for _, body := range []string{`"sealedpayload.v1"`, `[` + boxSealed + `]`, `{}`, `null`, ``} {
		if IsSealed(jsontext.Value(body)) {
			t.Error(body)
		}
	}
}

func TestReplyKey(t *testing.T) {
	other := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32))
	sealed := func(replyKey string) jsontext.Value {
		body, err := Seal(jsontext.Value(`"x"`), boxPublic, replyKey, &counter{})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	for name, tc := range map[string]struct {
		body      jsontext.Value
		published string
		want      string
	}{
		"theirs":                  {sealed(boxPublic), boxPublic, boxPublic},
		"another":                 {sealed(other), boxPublic, ""},
		"none asked for":          {sealed(""), boxPublic, boxPublic},
		"none known":              {sealed(boxPublic), "", ""},
		"a clear body":            {jsontext.Value(`"x"`), boxPublic, boxPublic},
		"a clear body, not known": {jsontext.Value(`"x"`), "", ""},
	} {
		key, ok := (&Envelope{Request: &Request{Input: tc.body}}).ReplyKey(tc.published)
		if key != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: %q, %v", name, key, ok)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	good := jsontext.Value(`"x"`)
	for name, tc := range map[string]struct {
		body   jsontext.Value
		to     string
		random io.Reader
		want   error
	}{
		"no JSON":             {jsontext.Value(`{`), boxPublic, &counter{}, nil},
		"no key":              {good, "", &counter{}, ErrSealingKey},
		"a padded key":        {good, boxPublic + "=", &counter{}, ErrSealingKey},
		"a short key":         {good, "QUJD", &counter{}, ErrSealingKey},
		"a key for all":       {good, strings.Repeat("A", 43), &counter{}, ErrSealingKey},
		"no randomness":       {good, boxPublic, strings.NewReader(""), io.EOF},
		"half the randomness": {good, boxPublic, strings.NewReader(strings.Repeat("x", 40)), io.ErrUnexpectedEOF},
	} {
		if got, err := Seal(tc.body, tc.to, "", tc.random); err == nil || tc.want != nil && !errors.Is(err, tc.want) || got != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, text := range []string{"", "?", "QUJD", boxPrivate + "\n", boxPrivate[:42] + "B"} {
		if key, err := ParseSealingKey(text); err != ErrSealingKey || key.Public() != "" {
			t.Errorf("%q: %v, %v", text, key, err)
		}
	}
}

func TestSealingKeyPrinted(t *testing.T) {
	key := boxKey(t)
	secret, err := base64.RawURLEncoding.DecodeString(boxPrivate)
	if err != nil {
		t.Fatal(err)
	}
	printed := everyWay(key) + everyWay(&key) + everyWay(struct{ k SealingKey }{key}) + everyWay([]SealingKey{key})
	if shows(printed, secret) || !strings.Contains(printed, boxPublic) {
		t.Error(printed)
	}
}
