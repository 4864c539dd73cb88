package checkjs_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	checkjs "github.com/agentmaild/agentmaild/check-js"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// rounds is how many times the key pages of each suite are changed, and forged how many records are checked with them.
const rounds, forged = 4, 60

// TestAgreeOnForgeries: messages, records and key pages with members changed, hashed and signed anew by who has the keys, so
// that a change is not caught by the hashes alone.
func TestAgreeOnForgeries(t *testing.T) {
	node, err := checkjs.Node(t.Context())
	if err != nil {
		t.Skip(err, ": apt-get install nodejs && go test ./check-js")
	}
	command := filepath.Join(t.TempDir(), "check-js")
	if err := os.CopyFS(command, checkjs.Files); err != nil {
		t.Fatal(err)
	}
	codes := map[record.Code]int{}
	for round := range rounds {
		for _, dir := range []string{"../conformance/records", "../conformance/vectors/records"} {
			s, good := readSuite(t, dir)
			f := newForger(t, round)
			f.pages(s.keys)
			s.files = f.records(good)
			for i, got := range s.second(t, node, filepath.Join(command, "cli.js")) {
				want := s.first(t, s.files[i])
				codes[want.Code]++
				if diff := cmp.Diff(want, got); diff != "" {
					data, _ := os.ReadFile(s.files[i])
					t.Errorf("round %d, %s (- Go, + JavaScript):\n%s\n%s", round, filepath.Base(s.files[i]), diff, data)
				}
			}
		}
	}
	t.Logf("codes: %v", codes)
	if len(codes) < 10 || codes[""] < 40 {
		t.Error("too few different codes came up, or too few records that check out")
	}
}

// forger changes what is signed.
type forger struct {
	t      *testing.T
	random *rand.Rand
	key    ed25519.PrivateKey
	odd    map[string][]any // values by the name of a member, or of a part of one
}

func newForger(t *testing.T, round int) forger {
	t.Helper()
	f := forger{t: t, random: rand.New(rand.NewPCG(5, uint64(round))), key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))}
	data, err := os.ReadFile("testdata/odd.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &f.odd); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f forger) public() ed25519.PublicKey { return f.key.Public().(ed25519.PublicKey) }

// pages puts the forger's key on every page of a folder, and changes some of the pages.
func (f forger) pages(dir string) {
	key := map[string]any{
		"kty": "OKP", "crv": "Ed25519", "kid": jws.Thumbprint(f.public()), "created_at": 1700000000.0,
		"x": base64.RawURLEncoding.EncodeToString(f.public()),
	}
	for _, file := range f.files(dir) {
		var page map[string]any
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &page) != nil {
			continue
		}
		if keys, ok := page["keys"].([]any); ok {
			page["keys"] = append(keys, maps.Clone(key))
		}
		if f.random.IntN(5) == 0 {
			f.change(page)
		}
		f.write(file, f.canonical(page))
	}
}

func (f forger) files(dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

func (f forger) write(file string, data []byte) {
	if err := os.WriteFile(file, data, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// often is true nine times of ten.
func (f forger) often() bool { return f.random.IntN(10) > 0 }

// records are files of good ones with something changed in each.
func (f forger) records(good [][]byte) []string {
	folder := f.t.TempDir()
	var files []string
	for i := range forged {
		file := filepath.Join(folder, fmt.Sprintf("%03d.json", i))
		f.write(file, f.record(good[f.random.IntN(len(good))]))
		files = append(files, file)
	}
	return files
}

// record is a good one with something changed in it, and then made to fit again as far as its sides could.
func (f forger) record(good []byte) []byte {
	var r map[string]any
	if err := json.Unmarshal(good, &r); err != nil {
		f.t.Fatal(err)
	}
	offer, offerJKU := f.open(r["offer"])
	accept, acceptJKU := f.open(r["acceptance"])
	targets := []map[string]any{offer, r}
	if accept != nil {
		targets = append(targets, accept)
	}
	was := []string{f.hash(r["offer"]), f.hash(r["acceptance"])}
	for range f.random.IntN(3) {
		f.change(targets[f.random.IntN(len(targets))])
	}
	f.close(r, "offer", offer, offerJKU)
	if accept != nil && f.often() {
		accept["prev"] = f.hash(r["offer"])
	}
	f.close(r, "acceptance", accept, acceptJKU)
	if chain, ok := r["chain"].([]any); ok && f.often() {
		for i, hash := range chain {
			switch hash {
			case was[0]:
				chain[i] = f.hash(r["offer"])
			case was[1]:
				chain[i] = f.hash(r["acceptance"])
			}
		}
	}
	if f.often() {
		f.agree(r, offer, accept)
	}
	return f.seal(r, good)
}

// agree makes the record say what its messages do.
func (f forger) agree(r, offer, accept map[string]any) {
	terms := map[string]any{}
	for _, name := range []string{"type", "items", "total", "delivery_by", "purpose", "location"} {
		if v, ok := offer[name]; ok {
			terms[name] = v
		}
	}
	if slots, ok := offer["slots"].([]any); ok && accept != nil {
		if n, ok := accept["slot"].(float64); ok && n >= 0 && n < float64(len(slots)) {
			terms["slot"] = slots[int(n)]
		}
	}
	r["terms"] = terms
	if accept != nil {
		r["agreed_at"] = accept["iat"]
	}
	parties, _ := r["parties"].([]any)
	for i, p := range parties {
		p, ok := p.(map[string]any)
		m := []map[string]any{offer, accept}[i%2]
		if !ok || m == nil {
			continue
		}
		if from, ok := m["from"].(map[string]any); ok && f.often() {
			p["address"] = from["address"]
		}
		if p["kid"] != nil {
			p["kid"] = jws.Thumbprint(f.public())
		}
	}
}

func (f forger) hash(evidence any) string {
	e, _ := evidence.(map[string]any)
	h, _ := e["hash"].(string)
	return h
}

// open takes the message out of its place in a record.
func (f forger) open(evidence any) (message map[string]any, jku string) {
	e, ok := evidence.(map[string]any)
	if !ok {
		return nil, ""
	}
	var payload []byte
	if token, ok := e["jws"].(string); ok {
		parsed, err := jws.Parse([]byte(token), jws.TypMessage)
		if err != nil {
			f.t.Fatal(err)
		}
		payload, jku = parsed.Payload, parsed.Header.Jku
	} else {
		payload = []byte(e["canonical"].(string))
	}
	if err := json.Unmarshal(payload, &message); err != nil {
		f.t.Fatal(err)
	}
	return message, jku
}

// close puts it back.
func (f forger) close(r map[string]any, name string, message map[string]any, jku string) {
	if _, there := r[name].(map[string]any); !there {
		return
	}
	payload := f.canonical(message)
	e := map[string]any{"hash": canon.Hash(payload)}
	if jku != "" {
		e["jws"] = f.token(jku, jws.TypMessage, payload)
	} else {
		e["canonical"] = string(payload)
	}
	r[name] = e
}

func (f forger) token(jku, typ string, payload []byte) string {
	header := map[string]any{"alg": "EdDSA", "jku": jku, "kid": jws.Thumbprint(f.public()), "typ": typ}
	if f.random.IntN(40) == 0 {
		f.change(header)
	}
	signed := base64.RawURLEncoding.EncodeToString(f.canonical(header)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(f.key, []byte(signed)))
}

func (f forger) canonical(value any) []byte {
	data, err := canon.Marshal(value)
	if err != nil {
		f.t.Fatal(err)
	}
	return data
}

// seal seals a record with the key page of who sealed the good one.
func (f forger) seal(r map[string]any, good []byte) []byte {
	var was record.Record
	if err := json.Unmarshal(good, &was); err != nil {
		f.t.Fatal(err)
	}
	sealed := maps.Clone(r)
	delete(sealed, "seal")
	if seal, there := r["seal"]; seal == was.Seal || f.often() {
		header, _, _ := strings.Cut(was.Seal, ".")
		var h jws.Header
		data, err := base64.RawURLEncoding.DecodeString(header)
		if err == nil {
			_ = json.Unmarshal(data, &h, json.MatchCaseInsensitiveNames(true))
		}
		sealed["seal"] = f.token(h.Jku, jws.TypRecord, f.canonical(sealed))
	} else if there {
		sealed["seal"] = seal
	}
	return f.canonical(sealed)
}

// change gives one member somewhere in an object another value, takes it away, or puts another beside it.
func (f forger) change(object map[string]any) {
	names := slices.Sorted(maps.Keys(object))
	if len(names) == 0 {
		return
	}
	name := pick(f.random, names)
	switch f.random.IntN(12) {
	case 0:
		delete(object, name)
		return
	case 1:
		name = pick(f.random, slices.Sorted(maps.Keys(f.odd)))
		object[name] = f.value(name, object[name])
		return
	}
	switch v := object[name].(type) {
	case map[string]any:
		if f.often() {
			f.change(v)
			return
		}
	case []any:
		if len(v) > 0 && f.often() {
			object[name] = f.list(name, slices.Clone(v))
			return
		}
	}
	object[name] = f.value(name, object[name])
}

// list changes one element of a list.
func (f forger) list(name string, v []any) []any {
	i := f.random.IntN(len(v))
	switch f.random.IntN(6) {
	case 0:
		return append(v, v[i])
	case 1:
		return slices.Delete(v, i, i+1)
	case 2:
		v[0], v[i] = v[i], v[0]
		return v
	}
	if inner, ok := v[i].(map[string]any); ok {
		f.change(inner)
	} else {
		v[i] = f.value(name, v[i])
	}
	return v
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// value is an odd value for a member, or what is there with something odd in it.
func (f forger) value(name string, v any) any {
	odd := pick(f.random, f.odd["any"])
	if own := f.odd[name]; own != nil && f.often() {
		odd = pick(f.random, own)
	}
	text, isText := v.(string)
	number, isNumber := v.(float64)
	insert, odder := odd.(string)
	switch {
	case name == "card" && f.often(): // each part may be odd
		return f.part("card scheme") + f.part("card host") + f.part("card rest")
	case (name == "start" || name == "end") && f.often():
		return f.part("day") + f.part("clock") + f.part("offset")
	case name == "address" || name == "addresses" || name == "contact":
		local, domain, _ := strings.Cut(text, "@")
		return pick(f.random, []string{
			local + "@" + f.part("label") + ".test", local + "@x" + f.part("label") + ".test", local + "@" + domain + "." + f.part("label"),
			local + "@" + f.part("domain"), f.part("local") + "@" + domain, strings.ToUpper(local) + "@" + domain, local + "@" + strings.ToUpper(domain),
		})
	case isText && odder && f.random.IntN(2) == 0:
		at := f.random.IntN(len(text) + 1)
		return strings.ToValidUTF8(text[:at]+insert+text[at:], "")
	case isText && f.random.IntN(4) == 0:
		return pick(f.random, []string{strings.ToUpper(text), text + "0", text + "\n", strings.Replace(text, "1", "2", 1)})
	case isText && f.random.IntN(4) == 0: // a length at the edge of what some member may have
		n := pick(f.random, []int{31, 32, 33, 63, 64, 65, 199, 200, 201, 499, 500, 501, 1999, 2000, 2001})
		return strings.Repeat(pick(f.random, []string{"x", "é", "\U0001f600"}), n)
	case isNumber && f.random.IntN(2) == 0:
		return number + pick(f.random, []float64{-1, 1, 0.5, 0})
	}
	return odd
}

func (f forger) part(name string) string { return pick(f.random, f.odd[name]).(string) }
