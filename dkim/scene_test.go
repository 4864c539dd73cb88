package dkim

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// arrival is when the mails of the tests arrive; they are signed then too.
var arrival = time.Unix(1793613600, 0)

// The baseline: a mail of buyer.test and the tags that sign it.
const (
	baseHeader = "Return-Path: <agent@buyer.test>\r\n" +
		"From: \"Buyer Agent\" <agent@buyer.test>\r\n" +
		"To: <agent@seller.test>\r\n" +
		"Subject: Request for a\r\n quote\r\n" +
		"Date: Mon, 02 Nov 2026 10:00:00 +0000\r\n" +
		"Message-ID: <1@buyer.test>\r\n" +
		"MIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=\"b1\"\r\n"
	baseBody = "--b1\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\n\r\n" +
		"We ask for  an offer.\r\n" +
		"--b1\r\n" +
		"Content-Type: application/ld+json\r\n\r\n" +
		"{\"a\": 1}\r\n" +
		"--b1--\r\n"
	baseTags = "v=1; a=rsa-sha256; c=relaxed/relaxed; d=buyer.test; s=s1; t=1793613600;" +
		" h=from:to:subject:date:message-id:mime-version:content-type;"
)

// scene is one delivery. A test case changes one thing about it.
type scene struct {
	header, body string
	tags         string // all but bh= and b=
	key          crypto.Signer
	signed       string // the mail, once sign has run
	dns          *fakeDNS
	checker      Checker
	from         string
	arrival      time.Time
}

// newScene is a delivery that passes.
func newScene(t testing.TB) *scene {
	key := testKey(t, "rsa2048")
	dns := &fakeDNS{records: map[string][]string{
		"s1._domainkey.buyer.test": {KeyRecord(key.Public())},
		"ed._domainkey.buyer.test": {KeyRecord(edKey.Public())},
	}}
	return &scene{
		header: baseHeader, body: baseBody, tags: baseTags, key: key, dns: dns,
		checker: Checker{Resolver: dns}, from: "buyer.test", arrival: arrival,
	}
}

// replace changes one thing in the scene's header, body or tags before it is
// signed; the thing must be there.
func (s *scene) replace(t *testing.T, old, new string) {
	t.Helper()
	for _, text := range []*string{&s.header, &s.body, &s.tags} {
		if strings.Contains(*text, old) {
			*text = strings.Replace(*text, old, new, 1)
			return
		}
	}
	t.Fatalf("nothing like %q to replace", old)
}

// damage changes the signed mail.
func (s *scene) damage(t *testing.T, old, new string) {
	t.Helper()
	s.sign(t)
	if !strings.Contains(s.signed, old) {
		t.Fatalf("nothing like %q in the signed mail", old)
	}
	s.signed = strings.Replace(s.signed, old, new, 1)
}

// record changes the key record.
func (s *scene) record(record ...string) {
	s.dns.records["s1._domainkey.buyer.test"] = record
}

// recordTags puts tags in front of p= in the key record.
func (s *scene) recordTags(tags string) {
	base := s.dns.records["s1._domainkey.buyer.test"][0]
	s.record(strings.Replace(base, " p=", " "+tags+" p=", 1))
}

// sign makes the signed mail, once.
func (s *scene) sign(t testing.TB) {
	t.Helper()
	if s.signed == "" {
		s.signed = signatureField(t, s) + s.header + "\r\n" + s.body
	}
}

func (s *scene) authenticate(t testing.TB) Result {
	s.sign(t)
	return s.checker.Authenticate(context.Background(), []byte(s.signed), s.from, s.arrival)
}

var (
	formTag  = regexp.MustCompile(`\bc=([a-z/]+)`)
	namesTag = regexp.MustCompile(`\bh=([^;]*)`)
)

// signatureField signs whatever the tags say, sense or nonsense, so that a
// refusal is never for a signature that does not verify.
func signatureField(t testing.TB, s *scene) string {
	t.Helper()
	m, err := readMessage([]byte(s.header + "\r\n" + s.body))
	if err != nil {
		m = &message{body: []byte(s.body)} // the case is about such a header
	}
	form := "simple/simple"
	if found := formTag.FindStringSubmatch(s.tags); found != nil {
		form = found[1]
	}
	header, body, _ := parseCanonicalization(form)
	tags := s.tags
	if !strings.Contains(tags, "bh=") {
		tags += " bh=" + base64.StdEncoding.EncodeToString(m.bodyHash(body)) + ";"
	}
	text := "DKIM-Signature: " + tags + " b="
	own, err := readField([]byte(text + "\r\n"))
	if err != nil {
		return text + "AAAA\r\n" // the case is about such a field
	}
	digest := m.headerHash(header, splitList(namesTag.FindStringSubmatch(tags)[1]), own)
	hash := crypto.SHA256
	if _, ok := s.key.(ed25519.PrivateKey); ok {
		hash = 0
	}
	value, err := s.key.Sign(rand.Reader, digest[:], hash)
	if err != nil {
		t.Fatal(err)
	}
	return text + base64.StdEncoding.EncodeToString(value) + "\r\n"
}

// fakeDNS answers from a map and notes what it was asked.
type fakeDNS struct {
	records map[string][]string
	errs    map[string]error
	asked   []string
}

func (d *fakeDNS) LookupTXT(_ context.Context, name string) ([]string, error) {
	d.asked = append(d.asked, name)
	if err := d.errs[name]; err != nil {
		return nil, err
	}
	if records, found := d.records[name]; found {
		return records, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// edKey is the Ed25519 key of the tests.
var edKey = ed25519.NewKeyFromSeed([]byte("thirty-two bytes make a test key"))

// testKey reads an RSA key of testdata.
func testKey(t testing.TB, name string) crypto.Signer {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(data)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(crypto.Signer)
}

// testCase is one mutation of the baseline and what comes of it.
type testCase struct {
	name    string
	mutate  func(*testing.T, *scene)
	want    Outcome
	reason  string // a part of it, so that nothing fails for another reason
	lookups int
}

func runCases(t *testing.T, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			c.mutate(t, s)
			got := s.authenticate(t)
			if got.Outcome != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %v (%s), want %v (…%s…)", got.Outcome, got.Reason, c.want, c.reason)
			}
			if len(s.dns.asked) != c.lookups {
				t.Errorf("asked DNS for %q, want %d questions", s.dns.asked, c.lookups)
			}
		})
	}
}

// replacing is the mutation of one text before signing.
func replacing(old, new string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) { s.replace(t, old, new) }
}

// damaging is the mutation of one text after signing.
func damaging(old, new string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) { s.damage(t, old, new) }
}
