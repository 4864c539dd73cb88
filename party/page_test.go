package party

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

const created = 1_700_000_000

// testKey is the n-th of some fixed keys.
func testKey(n byte) OwnKey {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
	return OwnKey{Private: private, Kid: jws.Thumbprint(publicOf(private)), CreatedAt: created}
}

func published(k OwnKey) Key {
	return Key{
		Public: publicOf(k.Private), Kid: k.Kid,
		CreatedAt: k.CreatedAt, RetiredAt: k.RetiredAt, RevokedAt: k.RevokedAt,
	}
}

// keyText is the JSON of a key on a page, with more members where they are given.
func keyText(k OwnKey, more string) string {
	x := base64.RawURLEncoding.EncodeToString(publicOf(k.Private))
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"kid":%q,"created_at":%d%s}`, x, k.Kid, created, more)
}

func pageText(keys ...string) string {
	return `{"profile":"agent-agreement-keys/1","party":"` + buyer + `","org_name":"Buyer Ltd",` +
		`"addresses":["agent@buyer.test"],"domains":["mail.buyer.test"],"keys":[` + strings.Join(keys, ",") + `]}`
}

func TestParsePage(t *testing.T) {
	k := testKey(1)
	k.RetiredAt, k.RevokedAt = created+10, created+20
	text := pageText(keyText(k, `,"retired_at":1700000010,"revoked_at":1700000020,"use":"sig","key_ops":["verify"],"alg":"EdDSA","x-more":[1]`))
	got, err := ParsePage([]byte(text), buyer)
	if err != nil {
		t.Fatal(err)
	}
	want := &Page{
		Party: buyer, OrgName: "Buyer Ltd", Addresses: []string{"agent@buyer.test"},
		Domains: []string{"mail.buyer.test"}, Keys: []Key{published(k)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := got.Key("other"); ok {
		t.Error("a key nobody published")
	}
}

func TestParsePageRefuses(t *testing.T) {
	good := pageText(keyText(testKey(1), ""))
	with := func(old, repl string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not on the page", old)
		}
		return strings.Replace(good, old, repl, 1)
	}
	tests := map[string]string{
		"empty":               "",
		"HTML":                "<!doctype html><title>keys</title>",
		"array":               "[" + good + "]",
		"null":                "null",
		"byte-order mark":     "\ufeff" + good,
		"trailing data":       good + "{}",
		"cut off":             good[:len(good)-1],
		"party twice":         with(`{`, `{"party":"`+buyer+`",`),
		"keys twice":          with(`{`, `{"keys":[],`),
		"member of key twice": with(`"kty"`, `"kty":"OKP","kty"`),
		"unknown twice":       with(`{`, `{"z":1,"z":2,`),
		"invalid UTF-8":       with("Buyer Ltd", "\xff"),
		"lone surrogate":      with("Buyer Ltd", `\ud800`),
		"other profile":       with("agent-agreement-keys/1", "agent-agreement-keys/2"),
		"no profile":          with(`"profile":"agent-agreement-keys/1",`, ""),
		"other party":         with(buyer, seller),
		"no party":            with(`"party":"`+buyer+`",`, ""),
		"Party":               with(`"party"`, `"Party"`),
		"keys no list":        with(`"keys":[`, `"keys":"x","k":[`),
		"addresses no list":   with(`["agent@buyer.test"]`, `"agent@buyer.test"`),
		"over 64 KiB":         good + strings.Repeat(" ", maxPage),
		"101 keys":            pageText(strings.Split(strings.Repeat("{} ", maxKeys)+"{}", " ")...),
		"10 000 keys":         pageText(strings.Split(strings.Repeat("{} ", 9999)+"{}", " ")...),
		"deep":                with(`{`, `{"z":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`,`),
		"17 levels":           with(`{`, `{"z":`+strings.Repeat("[", 16)+strings.Repeat("]", 16)+`,`),
		"beyond a double":     with(`{`, `{"z":1e400,`),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			if page, err := ParsePage([]byte(text), buyer); !errors.Is(err, ErrNoPage) || page != nil {
				t.Errorf("got %v, %v, want ErrNoPage", page, err)
			}
		})
	}
}

// The bad key is passed over and the good one beside it counts (D44, D55).
func TestParsePagePassesOver(t *testing.T) {
	k := testKey(1)
	good := keyText(k, "")
	with := func(old, repl string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the key", old)
		}
		return strings.Replace(good, old, repl, 1)
	}
	x := base64.RawURLEncoding.EncodeToString(publicOf(k.Private))
	small := ed25519.PublicKey(append([]byte{1}, make([]byte, 31)...))
	smallText := fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"kid":%q,"created_at":1}`,
		base64.RawURLEncoding.EncodeToString(small), jws.Thumbprint(small))
	tests := map[string][]string{
		"null":                    {"null"},
		"number":                  {"1"},
		"array":                   {"[" + good + "]"},
		"empty":                   {"{}"},
		"kid not of the key":      {with(k.Kid, testKey(3).Kid)},
		"kid padded":              {with(k.Kid, k.Kid+"=")},
		"no kid":                  {with(`,"kid":"`+k.Kid+`"`, "")},
		"kid a number":            {with(`"`+k.Kid+`"`, "7")},
		"twice":                   {good, good},
		"twice, once revoked":     {good, keyText(k, `,"revoked_at":1`)},
		"twice, once unusable":    {good, keyText(k, `,"use":"enc"`)},
		"other kty":               {with("OKP", "EC")},
		"other crv":               {with(`"Ed25519"`, `"Ed448"`)},
		"X25519":                  {with(`"Ed25519"`, `"X25519"`)},
		"short x":                 {with(x, x[:42])},
		"x padded":                {with(x, x+"=")},
		"small order":             {smallText},
		"private part":            {keyText(k, `,"d":"AAAA"`)},
		"private part null":       {keyText(k, `,"d":null`)},
		"use enc":                 {keyText(k, `,"use":"enc"`)},
		"use empty":               {keyText(k, `,"use":""`)},
		"key_ops sign":            {keyText(k, `,"key_ops":["sign"]`)},
		"key_ops empty":           {keyText(k, `,"key_ops":[]`)},
		"key_ops a string":        {keyText(k, `,"key_ops":"verify"`)},
		"other alg":               {keyText(k, `,"alg":"ES256"`)},
		"no created_at":           {with(`,"created_at":1700000000`, "")},
		"created_at null":         {with("1700000000", "null")},
		"created_at zero":         {with("1700000000", "0")},
		"created_at a string":     {with("1700000000", `"1700000000"`)},
		"created_at negative":     {with("1700000000", "-1")},
		"created_at far":          {with("1700000000", "253402300800")},
		"retired_at zero":         {keyText(k, `,"retired_at":0`)},
		"revoked_at zero":         {keyText(k, `,"revoked_at":0`)},
		"revoked_at a string":     {keyText(k, `,"revoked_at":"never"`)},
		"revoked_at not a number": {keyText(k, `,"revoked_at":true`)},
	}
	other := testKey(2)
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			page, err := ParsePage([]byte(pageText(append(bad, keyText(other, ""))...)), buyer)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Key{published(other)}, page.Keys); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParsePageTakesOptional(t *testing.T) {
	for _, more := range []string{
		`,"use":null`, `,"retired_at":null,"revoked_at":null`, `,"alg":"Ed25519"`, `,"key_ops":["sign","verify"]`,
	} {
		page, err := ParsePage([]byte(pageText(keyText(testKey(1), more))), buyer)
		if err != nil || len(page.Keys) != 1 {
			t.Errorf("%s: %v, %v", more, page, err)
		}
	}
}

func TestLists(t *testing.T) {
	page := &Page{
		Addresses: []string{"agent@buyer.test", "no address", "sales@BÜCHER.test"},
		Domains:   []string{"Mail.Buyer.Test", "", "not a domain"},
	}
	for address, want := range map[string]bool{
		"agent@buyer.test":           true,
		"agent@BUYER.test":           true,
		"Agent@buyer.test":           false,
		"agent+1@buyer.test":         false,
		"agent@sub.buyer.test":       false,
		"agent@buyer.test.evil.test": false,
		"agent@evil.test":            false,
		"anyone@mail.buyer.test":     true,
		"anyone@MAIL.buyer.test":     true,
		"anyone@x.mail.buyer.test":   false,
		"anyone@buyer.test":          false,
		"a@b@mail.buyer.test":        false, // cut at the last @
		"sales@xn--bcher-kva.test":   true,
		"sales@bücher.test":          true,
		"@mail.buyer.test":           false,
		"mail.buyer.test":            false,
		"anyone@":                    false,
		"no address":                 false,
		"":                           false,
	} {
		if got := page.Lists(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

func TestBuildPage(t *testing.T) {
	older, newer := testKey(1), testKey(2)
	newer.CreatedAt++
	older.RetiredAt, older.RevokedAt = created+10, created+20
	build := func(keys ...OwnKey) []byte {
		data, err := BuildPage(buyer, `Buyer "Ltd" <&>`, []string{"agent@buyer.test"}, nil, keys)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := build(newer, older)
	if !bytes.Equal(data, build(older, newer)) {
		t.Error("the order of keys changes the page")
	}
	page, err := ParsePage(data, buyer)
	if err != nil {
		t.Fatal(err)
	}
	want := &Page{
		Party: buyer, OrgName: `Buyer "Ltd" <&>`, Addresses: []string{"agent@buyer.test"}, Domains: []string{},
		Keys: []Key{published(older), published(newer)},
	}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Error(diff)
	}
	seed := base64.RawURLEncoding.EncodeToString(older.Private.Seed())
	if bytes.Contains(data, []byte(seed)) || bytes.Contains(data, []byte(`"d"`)) {
		t.Error("a private part is on the page")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || string(members["domains"]) != "[]" {
		t.Errorf("domains %s, %v", members["domains"], err)
	}
}

func TestBuildPageRefuses(t *testing.T) {
	k := testKey(1)
	timeless := testKey(2)
	timeless.CreatedAt = 0
	for name, build := range map[string]func() ([]byte, error){
		"party":         func() ([]byte, error) { return BuildPage("buyer", "", nil, nil, nil) },
		"key twice":     func() ([]byte, error) { return BuildPage(buyer, "", nil, nil, []OwnKey{k, k}) },
		"no created_at": func() ([]byte, error) { return BuildPage(buyer, "", nil, nil, []OwnKey{k, timeless}) },
		"too large": func() ([]byte, error) {
			return BuildPage(buyer, strings.Repeat("a", maxPage), nil, nil, nil)
		},
		"name not UTF-8": func() ([]byte, error) { return BuildPage(buyer, "\xff", nil, nil, nil) },
		"kid not UTF-8": func() ([]byte, error) {
			return BuildPage(buyer, "", nil, nil, []OwnKey{{Private: k.Private, Kid: "\xff"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if data, err := build(); err == nil {
				t.Errorf("built %s", data)
			}
		})
	}
}

// FuzzParsePage: what is read from a page can be used: every key is good by itself and findable under its own name.
func FuzzParsePage(f *testing.F) {
	good := []byte(pageText(keyText(testKey(1), ""), keyText(testKey(2), `,"revoked_at":5`)))
	if page, err := ParsePage(good, buyer); err != nil || len(page.Keys) != 2 {
		f.Fatalf("the seed does not parse: %v, %v", page, err)
	}
	f.Add(good)
	f.Add([]byte(pageText(keyText(testKey(1), `,"d":"x"`), "null")))
	f.Add([]byte(`{"profile":"agent-agreement-keys/1","party":"` + buyer + `"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		page, err := ParsePage(data, buyer)
		if err != nil {
			if !errors.Is(err, ErrNoPage) {
				t.Errorf("error %v is not ErrNoPage", err)
			}
			return
		}
		if page.Party != buyer || len(page.Keys) > maxKeys {
			t.Errorf("party %q, %d keys", page.Party, len(page.Keys))
		}
		for _, k := range page.Keys {
			if found, ok := page.Key(k.Kid); !ok || !found.Public.Equal(k.Public) {
				t.Errorf("key %s is not found under its name", k.Kid)
			}
			if jws.Thumbprint(k.Public) != k.Kid || k.CreatedAt <= 0 || k.RetiredAt < 0 || k.RevokedAt < 0 {
				t.Errorf("bad key %+v", k)
			}
		}
	})
}
