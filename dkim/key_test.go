package dkim

import (
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rsaRecord publishes an RSA key of so many bits. Nobody knows its factors, nor
// need they: it is refused or accepted for its size.
func rsaRecord(bits int) string {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return KeyRecord(&rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537})
}

func TestKeyRecords(t *testing.T) {
	tagged := func(tags string) func(*testing.T, *scene) {
		return func(_ *testing.T, s *scene) { s.recordTags(tags) }
	}
	published := func(records ...string) func(*testing.T, *scene) {
		return func(_ *testing.T, s *scene) { s.record(records...) }
	}
	bare := func(edit func(p string) string) func(*testing.T, *scene) {
		return func(_ *testing.T, s *scene) {
			_, p, _ := strings.Cut(s.dns.records["s1._domainkey.buyer.test"][0], " p=")
			s.record(edit(p))
		}
	}
	good := KeyRecord(testKey(t, "rsa2048").Public())
	runCases(t, []testCase{
		{"testing", tagged("t=y;"), Fail, "test mode", 1},
		{"testing_and_strict", tagged("t=s:y;"), Fail, "test mode", 1},
		{"strict_sub_i", func(t *testing.T, s *scene) {
			s.recordTags("t=s;")
			s.replace(t, "t=1793613600;", "i=@mail.buyer.test;")
		}, Fail, "does not allow i=", 1},
		{"ok_strict_key_same_i", func(t *testing.T, s *scene) {
			s.recordTags("t=s;")
			s.replace(t, "t=1793613600;", "i=agent@buyer.test;")
		}, Pass, "", 1},
		{"ok_key_unknown_flag", tagged("t=x;"), Pass, "", 1},
		{"rsa512", published(rsaRecord(512)), Fail, "RSA key of 512 bits", 1},
		{"rsa1023", published(rsaRecord(1023)), Fail, "RSA key of 1023 bits", 1},
		{"rsa4097", published(rsaRecord(4097)), Fail, "RSA key of 4097 bits", 1},
		{"rsa_huge", published(rsaRecord(65536)), Fail, "over 2048 characters", 1},
		{"revoked", published("v=DKIM1; p="), Fail, "revoked", 1},
		{"revoked_p_missing", published("v=DKIM1; k=rsa"), Fail, "revoked", 1},
		{"two_records", published(good, good), Fail, "2 records", 1},
		{"no_records", published(), Fail, "0 records", 1},
		{"not_a_key", published("v=spf1 include:x.test -all"), Fail, "no DKIM1 key", 1},
		{"no_tag_list", published("anything"), Fail, "is no tag", 1},
		{"empty", published(""), Fail, "empty tag list", 1},
		{"v2", published(strings.Replace(good, "DKIM1", "DKIM2", 1)), Fail, "no DKIM1 key", 1},
		{"v_not_first", bare(func(p string) string { return "k=rsa; v=DKIM1; p=" + p }), Fail, "no DKIM1 key", 1},
		{"dup_tag", tagged("n=a; n=b;"), Fail, "n= stands twice", 1},
		{"sha1_only", tagged("h=sha1;"), Fail, "not for sha256", 1},
		{"service_tlsrpt", tagged("s=tlsrpt;"), Fail, "not for email", 1},
		{"granularity", tagged("g=sales;"), Fail, "local parts", 1},
		{"granularity_empty", tagged("g=;"), Fail, "local parts", 1},
		{"unknown_type", bare(func(p string) string { return "k=ed448; p=" + p }), Fail, "no known key type", 1},
		{"p_no_base64", published("p=****"), Fail, "p= is no base64", 1},
		{"p_no_key", published("p=AAAA"), Fail, "no RSA key", 1},
		{"p_other_key", published("p=" + otherKey(t)), Fail, "no RSA key", 1},
		{"nxdomain", func(_ *testing.T, s *scene) { clear(s.dns.records) }, Fail, "no key", 1},
		{"ok_key_bare_p", bare(func(p string) string { return "p=" + p }), Pass, "", 1},
		{"ok_key_type_case", bare(func(p string) string { return "v=DKIM1; k=RSA; p=" + p }), Pass, "", 1},
		{"ok_key_service_all", tagged("s=*;"), Pass, "", 1},
		{"ok_key_service_email", tagged("s=tlsrpt:email;"), Pass, "", 1},
		{"ok_key_h_sha256", tagged("h=sha1:sha256;"), Pass, "", 1},
		{"ok_key_notes", tagged("n=hello=20there; x_9=1;"), Pass, "", 1},
		{"ok_key_g", tagged("g=*;"), Pass, "", 1},
		{"ok_key_semicolon_at_end", published(good + " ; "), Pass, "", 1},
		{"ok_key_space_inside_p", bare(func(p string) string { return "p=" + p[:100] + " \t" + p[100:] }), Pass, "", 1},
		{"ok_key_pkcs1", func(t *testing.T, s *scene) {
			der := x509.MarshalPKCS1PublicKey(s.key.Public().(*rsa.PublicKey))
			s.record("p=" + base64.StdEncoding.EncodeToString(der))
		}, Pass, "", 1},
	})
}

// otherKey is a SubjectPublicKeyInfo of another algorithm.
func otherKey(t *testing.T) string {
	der, err := x509.MarshalPKIXPublicKey(edKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// smallKeys are the y coordinates of the small-order points, with p and p+1 as
// further spellings of 0 and 1.
var smallKeys = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// With each of these keys a signature of nothing verifies some messages, so
// each must be refused, with either sign.
func TestSmallOrderKeys(t *testing.T) {
	nobody := make([]byte, ed25519.SignatureSize)
	nobody[0] = 1 // R is the identity, S is 0
	for _, text := range smallKeys {
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		forged := false
		for i := range 200 {
			forged = forged || ed25519.Verify(key, []byte{byte(i)}, nobody)
		}
		if !forged {
			t.Errorf("%s is no small-order key", text)
		}
		for _, sign := range []byte{0, 0x80} {
			key[31] = key[31]&0x7f | sign
			if k, err := parseKey(KeyRecord(ed25519.PublicKey(key))); err == nil {
				t.Errorf("%x accepted as %v", key, k)
			}
		}
	}
	if _, err := parseKey("k=ed25519; p=AAAA"); err == nil {
		t.Error("an Ed25519 key of three bytes accepted")
	}
}

func TestKeyRecordRoundTrip(t *testing.T) {
	for _, pub := range []any{testKey(t, "rsa2048").Public(), edKey.Public()} {
		k, err := parseKey(KeyRecord(pub))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(KeyRecord(pub), KeyRecord(k.key)); diff != "" {
			t.Errorf("another key came back:\n%s", diff)
		}
	}
	if record := KeyRecord("no key"); record != "" {
		t.Errorf("KeyRecord of a string is %q", record)
	}
}
