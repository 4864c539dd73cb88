package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/party"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// suite is a folder that is being written. The members with tags are those of
// suite.json.
type suite struct {
	name   string
	world  world
	agents cast // of Agent Emailing
	files  map[string][]byte

	Format       int                 `json:"format"`
	Profile      string              `json:"profile"`
	About        string              `json:"about"`
	Inbox        inbox               `json:"inbox"`
	TrustedHosts []string            `json:"trusted_hosts"`
	DNS          map[string][]string `json:"dns"`
	DNSErrors    map[string]string   `json:"dns_errors"`
	KeyPages     map[string]keyPage  `json:"key_pages"`
	Roster       jsontext.Value      `json:"roster,omitzero"`
	Cases        []*story            `json:"cases"`
}

type inbox struct {
	Address    string `json:"address"`
	Party      string `json:"party"`
	OrgName    string `json:"org_name"`
	Contact    string `json:"contact"`
	SigningKey jwk    `json:"signing_key"`
	JKU        string `json:"jku"`
	Unsigned   string `json:"unsigned"`
	Auth       auth   `json:"auth"`

	// Of agent-emailing/0.2.1.
	AgentSeed  string     `json:"agent_seed,omitzero"`
	SealingKey string     `json:"sealing_key,omitzero"`
	Sealing    string     `json:"sealing,omitzero"`
	Bridge     *bool      `json:"bridge,omitzero"`
	Contacts   []nameCard `json:"contacts,omitzero"`
}

// nameCard is a contact that the owner wrote.
type nameCard struct {
	Agent      string   `json:"agent_id"`
	Addresses  []string `json:"addresses"`
	SealingKey string   `json:"sealing_key,omitzero"`
}

type jwk struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	X   string `json:"x"`
	D   string `json:"d"`
}

type auth struct {
	Mode       string `json:"mode"`
	AuthservID string `json:"authserv_id,omitzero"`
	Trust      string `json:"trust,omitzero"`
	Alignment  string `json:"alignment,omitzero"`
}

type keyPage struct {
	Status   int    `json:"status"`
	File     string `json:"file,omitzero"`
	Location string `json:"location,omitzero"`
}

type step struct {
	Sent    string `json:"sent,omitzero"`
	Deliver string `json:"deliver,omitzero"`
	Admit   string `json:"admit,omitzero"`
	Tick    bool   `json:"tick,omitzero"`
	Restart bool   `json:"restart,omitzero"`
	At      string `json:"at,omitzero"`
	Expect  any    `json:"expect,omitzero"` // *expect or *outcome
}

// expect is what must hold of a delivery.
type expect struct {
	Verdict   string    `json:"verdict,omitzero"`
	Code      string    `json:"code,omitzero"`
	Signature string    `json:"signature,omitzero"`
	Type      string    `json:"type,omitzero"`
	Thread    string    `json:"thread,omitzero"`
	ID        string    `json:"id,omitzero"`
	Warnings  *[]string `json:"warnings,omitzero"`
}

// The outcomes that most cases have.
var (
	accepted  = expect{Verdict: "accepted", Signature: "signed", Warnings: &[]string{}}
	acted     = expect{Verdict: "accepted", Signature: "mail_only"} // under unsigned = "allow"
	held      = expect{Verdict: "held", Signature: "mail_only"}
	unchecked = expect{Verdict: "held", Signature: "unchecked"}
	badJWS    = expect{Verdict: "refused", Code: "jws", Signature: "invalid"}
	duplicate = expect{Verdict: "duplicate"}
	parked    = expect{Verdict: "parked"}
	retry     = expect{Verdict: "retry"}
	anyPlain  = expect{Verdict: "plain"} // where the profile leaves open which check it is
	open      = expect{}                 // where it leaves open what becomes of the mail
)

func plain(code string) expect   { return expect{Verdict: "plain", Code: code} }
func refused(code string) expect { return expect{Verdict: "refused", Code: code} }

// warned is a good signature by a key that is not good any more (D42).
func warned(warnings ...string) expect {
	return expect{Verdict: "held", Signature: "signed", Warnings: &warnings}
}

const (
	pageHost  = "api.stackshift.cloud"
	otherHost = "keys.third.test" // trusted as well
)

// newSuite is a suite of the seller's inbox, in which everybody has a DKIM key
// and a key page.
func newSuite(name, about string) *suite {
	w := newWorld()
	s := &suite{
		name: name, world: w, files: map[string][]byte{".gitattributes": []byte("* -text\n")},
		Format: 1, Profile: "agent-intents/1", About: about,
		Inbox: inbox{
			Address: w.seller.address, Party: w.seller.party, OrgName: w.seller.org, Contact: w.seller.contact,
			SigningKey: privateJWK(w.seller.key), JKU: w.seller.page(), Unsigned: "hold", Auth: auth{Mode: "verify"},
		},
		TrustedHosts: []string{pageHost, otherHost},
		DNS:          map[string][]string{}, DNSErrors: map[string]string{}, KeyPages: map[string]keyPage{},
	}
	for _, who := range s.sides() {
		s.DNS["s1._domainkey."+who.domain()] = []string{who.dkim.record()}
	}
	s.pages()
	return s
}

func (s *suite) sides() []*side { return []*side{s.world.buyer, s.world.seller, s.world.third} }

// pages gives everybody a key page.
func (s *suite) pages() {
	for _, who := range s.sides() {
		s.page(who.page(), who.party, must(party.BuildPage(who.party, who.org, []string{who.address}, nil, []party.OwnKey{who.own()})))
	}
}

// page puts a key page at an address.
func (s *suite) page(url, name string, data []byte) {
	file := "keys/" + name + ".json"
	s.files[file] = data
	s.KeyPages[url] = keyPage{Status: 200, File: file}
}

func privateJWK(key ed25519.PrivateKey) jwk {
	encode := base64.RawURLEncoding.EncodeToString
	return jwk{"OKP", "Ed25519", encode(key[32:]), encode(key.Seed())}
}

// folder is where the suite stands.
func (s *suite) folder() string {
	if s.Profile == emailingProfile {
		return "emailing/" + s.name
	}
	return "intents/" + s.name
}

// cases are the names of the cases and their reasons.
func (s *suite) cases() (named [][2]string) {
	for _, c := range s.Cases {
		named = append(named, [2]string{c.Name, c.Why})
	}
	return named
}

// render is the files of the suite, those that its cases name and suite.json.
func (s *suite) render() map[string][]byte { return s.rendered(s) }

// rendered takes what stands in suite.json.
func (s *suite) rendered(content any) map[string][]byte {
	data := must(json.Marshal(content, json.Deterministic(true), jsontext.WithIndent(" ")))
	s.files["suite.json"] = append(data, '\n')
	return s.files
}

// stamp writes Unix seconds for at.
func stamp(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }

// single is a row of a table: the baseline with one change, delivered once.
type single struct {
	name, why string
	change    change
	want      expect
}

// singles tells each row as a story of one delivery.
func (s *suite) singles(baseline func(*story) *letter, rows []single) {
	for _, row := range rows {
		t := s.story(row.name, row.why)
		l := baseline(t)
		if row.change != nil {
			row.change(l)
		}
		t.deliver(l, row.want)
	}
}

// name makes a case name out of words.
func name(words ...any) string {
	text := fmt.Sprintln(words...)
	b := []byte(text[:len(text)-1])
	for i, c := range b {
		if c == ' ' || c == '_' {
			b[i] = '-'
		}
	}
	return string(b)
}
