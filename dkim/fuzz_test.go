package dkim

import (
	"context"
	"crypto/ed25519"
	"crypto/rsa"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// addSeeds adds at least one seed, or the target would start from nothing.
func addSeeds(f *testing.F, seeds ...string) {
	f.Helper()
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
}

// What was read of a tag list, written again, reads the same, and each value
// stands where the list says.
func FuzzTags(f *testing.F) {
	addSeeds(f, baseTags+" bh=AAAA;\r\n\tb= A\r\n A ", "v=DKIM1; p=", "a", "a=;;", "a=b;a=c", " a = b=c ; ")
	f.Fuzz(func(t *testing.T, text string) {
		tags, err := parseTags(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, tag := range tags {
			if strings.Trim(text[tag.start:tag.end], foldingSpace) != tag.value {
				t.Errorf("%q does not stand at %d:%d", tag.value, tag.start, tag.end)
			}
			again.WriteString(tag.name + "=" + tag.value + ";")
		}
		second, err := parseTags(again.String())
		if err != nil {
			t.Fatalf("%q: %v", again.String(), err)
		}
		for i, tag := range second {
			if tag.name != tags[i].name || tag.value != tags[i].value {
				t.Errorf("%+v became %+v", tags[i], tag)
			}
		}
	})
}

// A DKIM-Signature that is accepted keeps what the check relies on.
func FuzzSignature(f *testing.F) {
	s := newScene(f)
	addSeeds(f, strings.TrimPrefix(signatureField(f, s), "DKIM-Signature:"), " v=1", " l=1; h=from")
	f.Fuzz(func(t *testing.T, value string) {
		field, err := readField([]byte("DKIM-Signature:" + value + "\r\n"))
		if err != nil {
			return
		}
		s, err := parseSignature(field)
		if err != nil {
			return
		}
		if !isName(s.keyName(), true) || !within(s.identity, s.domain) || !strings.Contains(strings.Join(s.names, ":"), "from") {
			t.Errorf("accepted: %+v", s)
		}
		if s.expires <= s.made || len(s.bodyHash) != 32 || len(s.value) == 0 {
			t.Errorf("accepted: %+v", s)
		}
		if value := string(s.field.value[s.start:s.end]); strings.Contains(value, ";") {
			t.Errorf("b= is %q", value)
		}
	})
}

// A key record that is accepted holds a key within bounds, which comes back
// from its own record.
func FuzzKeyRecord(f *testing.F) {
	addSeeds(
		f, KeyRecord(edKey.Public()), KeyRecord(testKey(f, "rsa1024").Public()),
		"v=DKIM1; t=s:y; h=sha256; s=*; g=*; k=rsa; p=AAAA", "p=", rsaRecord(512), "k=ed25519; p="+strings.Repeat("A", 43)+"=",
	)
	f.Fuzz(func(t *testing.T, record string) {
		key, err := parseKey(record)
		if err != nil {
			return
		}
		switch pub := key.key.(type) {
		case *rsa.PublicKey:
			if bits := pub.N.BitLen(); bits < minRSABits || bits > maxRSABits {
				t.Errorf("%d bits accepted", bits)
			}
		case ed25519.PublicKey:
			if len(pub) != ed25519.PublicKeySize || smallOrder(pub) {
				t.Errorf("%x accepted", pub)
			}
		default:
			t.Fatalf("a key of type %T", pub)
		}
		again, err := parseKey(KeyRecord(key.key))
		if err != nil || KeyRecord(again.key) != KeyRecord(key.key) {
			t.Errorf("its own record gives %v, %v", again, err)
		}
	})
}

// Whatever a field says, inside a comment or a quoted string it says nothing;
// and what was read, written plainly, reads the same.
func FuzzAuthResults(f *testing.F) {
	addSeeds(
		f, "mx.test (c (d)) 1; dkim=pass (x; y) header.d=a.test header.b=\"A/\\\"b\"; spf=fail reason=\"no; dkim=pass\"",
		"mx.test; none", "mx.test; dkim/1=pass;", "\"mx\"; a=b c.d=\"e\"@f",
	)
	quote := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", " ", "\n", " ").Replace(text) + `"`
	}
	comment := strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, hidden := range []string{"mx; a=b (" + comment.Replace(text) + ")", "mx; a=b reason=" + quote(text)} {
			got, err := parseAuthResults(hidden)
			if err != nil || len(got.results) != 1 || len(got.results[0].properties) != 0 {
				t.Fatalf("%q gave %v, %v", hidden, got, err)
			}
		}
		got, err := parseAuthResults(text)
		if err != nil {
			return
		}
		plain := quote(got.id)
		for _, result := range got.results {
			plain += ";" + result.method + "=" + result.result
			for name, value := range result.properties {
				plain += " " + name + "=" + quote(value)
			}
		}
		again, err := parseAuthResults(plain + ";")
		if err != nil {
			t.Fatalf("%q: %v", plain, err)
		}
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(authResults{}, authResult{})); diff != "" {
			t.Errorf("%q: %s", plain, diff)
		}
	})
}

// Only mails whose body and From were signed pass, whatever else changes, and
// no reason can break a log.
func FuzzAuthenticate(f *testing.F) {
	s := newScene(f)
	s.sign(f)
	gmail := newScene(f)
	gmail.tags = strings.Replace(gmail.tags, ":content-type;", ";", 1)
	gmail.sign(f)
	addSeeds(f, s.signed, gmail.signed, ownPass+s.signed, strings.Repeat("DKIM-Signature: v=1\r\n", 12)+s.signed, "\r\n\r\n", "")
	original, err := readMessage([]byte(s.signed))
	if err != nil {
		f.Fatal(err)
	}
	want := string(relaxed.appendField(nil, original.fields[original.named("from")[0]]))
	f.Fuzz(func(t *testing.T, raw string) {
		dns := &fakeDNS{records: s.dns.records}
		checker := Checker{Resolver: dns}
		got := checker.Authenticate(context.Background(), []byte(raw), "buyer.test", arrival)
		if len(dns.asked) > maxSignatures {
			t.Errorf("%d questions", len(dns.asked))
		}
		trusting := Checker{Mode: AuthRes, AuthservID: "nobody.test"}
		if r := trusting.Authenticate(context.Background(), []byte(raw), "buyer.test", arrival); r.Outcome == Pass && !strings.Contains(strings.ToLower(raw), "nobody.test") {
			t.Errorf("passed without the trusted server: %q", raw)
		}
		if strings.ContainsFunc(got.Reason, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("reason %q", got.Reason)
		}
		if got.Outcome != Pass {
			return
		}
		m, err := readMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		from := string(relaxed.appendField(nil, m.fields[m.named("from")[0]]))
		if string(m.bodyHash(relaxed)) != string(original.bodyHash(relaxed)) || from != want {
			t.Errorf("passed with another body or From: %q", raw)
		}
	})
}
