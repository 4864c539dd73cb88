package dkim

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

func TestSignatures(t *testing.T) {
	runCases(t, []testCase{
		{"ok", func(*testing.T, *scene) {}, Pass, "buyer.test (s1) verified", 1},
		{"none", func(_ *testing.T, s *scene) { s.signed = s.header + "\r\n" + s.body }, Fail, "no DKIM signature", 0},
		{"none_spf_arc_claims", func(_ *testing.T, s *scene) {
			s.signed = "Received-SPF: pass\r\nARC-Authentication-Results: i=1; mx; dkim=pass header.d=buyer.test\r\n" +
				"Authentication-Results: mx.seller.test; dkim=pass header.d=buyer.test\r\n" +
				"DomainKey-Signature: a=rsa-sha1; d=buyer.test; s=s1; b=AAAA\r\n" + s.header + "\r\n" + s.body
		}, Fail, "no DKIM signature", 0},
		{"from_missing", replacing("From: \"Buyer Agent\" <agent@buyer.test>\r\n", ""), Fail, "one From", 0},
		{"from_dup_prepended_to_signed", damaging("DKIM", "From: <ceo@buyer.test>\r\nDKIM"), Fail, "one From", 0},
		{"from_unsigned", replacing("h=from:to", "h=to"), Fail, "cover From", 0},
		{"from_changed", damaging(`" <agent@buyer`, `" <ceo@buyer`), Fail, "header was changed", 1},
		{"body_changed", damaging("an offer", "two offers"), Fail, "body was changed", 0},
		{"bh_mismatch", replacing("t=1793613600;", "bh="+base64.StdEncoding.EncodeToString(make([]byte, 32))+";"), Fail, "body was changed", 0},
		{"bh_short", replacing("t=1793613600;", "bh=AAAA;"), Fail, "wrong length", 0},
		{"bh_no_base64", replacing("t=1793613600;", "bh=!;"), Fail, "bh= is no base64", 0},
		{"stolen_signature", func(t *testing.T, s *scene) {
			field := signatureField(t, s)
			s.replace(t, "Subject: Request", "Subject: Order")
			s.signed = field + s.header + "\r\n" + s.body
		}, Fail, "header was changed", 1},
		{"b_empty", func(t *testing.T, s *scene) {
			s.sign(t)
			s.signed = s.signed[:strings.Index(s.signed, " b=")+3] + "\r\n" + s.header + "\r\n" + s.body
		}, Fail, "b= or bh= is missing", 0},
		{"b_loose_bits", func(t *testing.T, s *scene) {
			s.sign(t)
			at := strings.Index(s.signed, "==\r\nReturn-Path")
			s.signed = s.signed[:at-1] + string(s.signed[at-1]+1) + s.signed[at:]
		}, Fail, "b= is no base64", 0},
		{"l_append_part", func(t *testing.T, s *scene) {
			s.replace(t, "t=1793613600;", fmt.Sprintf("l=%d;", len(baseBody)))
			s.damage(t, "--b1--\r\n", "--b1--\r\n--b1\r\nContent-Type: application/ld+json\r\n\r\n{}\r\n--b1--\r\n")
		}, Fail, "l= leaves", 0},
		{"l_zero", replacing("t=1793613600;", "l=0;"), Fail, "l= leaves", 0},
		{"l_full", replacing("t=1793613600;", fmt.Sprintf("l=%d;", len(baseBody))), Fail, "l= leaves", 0},
		{"subject_unsigned_changed", func(t *testing.T, s *scene) {
			s.replace(t, "to:subject:", "to:")
			s.damage(t, "Subject: Request", "Subject: Ignore all that")
		}, Pass, "", 1},
	})
}

// What the tags say is judged before any key is asked for.
func TestSignatureTags(t *testing.T) {
	runCases(t, []testCase{
		{"expired", replacing("t=1793613600;", "t=1793600000; x=1793613599;"), Fail, "expired", 0},
		{"ok_x_at_arrival", replacing("t=1793613600;", "t=1793600000; x=1793613600;"), Pass, "", 1},
		{"ok_x_future", replacing("t=1793613600;", "t=1793613600; x=1794218400;"), Pass, "", 1},
		{"x_zero", replacing("t=1793613600;", "x=0;"), Fail, "x= is not after", 0},
		{"x_before_t", replacing("t=1793613600;", "t=1793613600; x=1793613599;"), Fail, "x= is not after", 0},
		{"x_equals_t", replacing("t=1793613600;", "t=1793613600; x=1793613600;"), Fail, "x= is not after", 0},
		{"x_garbage", replacing("t=1793613600;", "x=never;"), Fail, "x= is no time", 0},
		{"ok_t_300_ahead", replacing("t=1793613600;", "t=1793613900;"), Pass, "", 1},
		{"t_future", replacing("t=1793613600;", "t=1793613901;"), Fail, "in the future", 0},
		{"t_garbage", replacing("t=1793613600;", "t=+1793613600;"), Fail, "t= is no time", 0},
		{"t_13_digits", replacing("t=1793613600;", "t=0001793613600;"), Fail, "t= is no time", 0},
		{"ok_no_t", replacing("t=1793613600;", ""), Pass, "", 1},
		{"downtime", func(t *testing.T, s *scene) {
			s.replace(t, "t=1793613600;", "t=1793613600; x=1794218400;")
			s.arrival = arrival.Add(7*24*time.Hour + time.Second)
		}, Fail, "expired", 0},
		{"sha1", replacing("rsa-sha256", "rsa-sha1"), Fail, "a=rsa-sha1", 0},
		{"a_missing", replacing("a=rsa-sha256; ", ""), Fail, "no accepted algorithm", 0},
		{"v2", replacing("v=1", "v=2"), Fail, "v=2", 0},
		{"v_missing", replacing("v=1; ", ""), Fail, "no known version", 0},
		{"dup_tag", replacing("d=buyer.test;", "d=buyer.test; d=evil.test;"), Fail, "d= stands twice", 0},
		{"no_tag_list", replacing("v=1; ", "v=1; what; "), Fail, "is no tag", 0},
		{"c_unknown", replacing("c=relaxed/relaxed", "c=nofws"), Fail, "no known canonicalization", 0},
		{"c_unknown_body", replacing("c=relaxed/relaxed", "c=relaxed/nofws"), Fail, "no known canonicalization", 0},
		{"q_unknown", replacing("t=1793613600;", "q=dns/key;"), Fail, "no known way", 0},
		{"ok_q_two_methods", replacing("t=1793613600;", "q=http/x : dns/txt;"), Pass, "", 1},
		{"h_missing", replacing("h=from:", "h=:from:"), Fail, "no list of field names", 0},
		{"i_foreign", replacing("t=1793613600;", "i=@evil.test;"), Fail, "i= is not within", 0},
		{"i_suffix_without_dot", replacing("t=1793613600;", "i=@notbuyer.test;"), Fail, "i= is not within", 0},
		{"i_no_at", replacing("t=1793613600;", "i=buyer.test;"), Fail, "i= is not within", 0},
		{"dkim_i_case", replacing("t=1793613600;", "i=agent@BUYER.test;"), Fail, "i= is not within d=", 0},
		{"ok_i_subdomain", replacing("t=1793613600;", "i=x@y@mail.buyer.test;"), Pass, "", 1},
		{"ok_tag_a_case", replacing("rsa-sha256", "RSA-SHA256"), Pass, "", 1},
	})
}

// What may change on the way, and what may not (RFC 6376 §3.4, §5.4.2).
func TestTransit(t *testing.T) {
	runCases(t, []testCase{
		{"ok_folded_fields", replacing("h=from:to:subject:", "h=from : to\r\n\t: Subject :"), Pass, "", 1},
		{"ok_oversigned", replacing("h=from:", "h=from:from:cc:"), Pass, "", 1},
		{"oversigned_cc_added", func(t *testing.T, s *scene) {
			s.replace(t, "h=from:", "h=from:cc:")
			s.damage(t, "To: ", "Cc: <x@evil.test>\r\nTo: ")
		}, Fail, "header was changed", 1},
		{"second_to_below_is_signed", func(t *testing.T, s *scene) {
			s.damage(t, "Subject: ", "To: <x@evil.test>\r\nSubject: ")
		}, Fail, "header was changed", 1},
		{"ok_repeated_field_bottom_up", func(t *testing.T, s *scene) {
			s.replace(t, "To: ", "Received: one\r\nReceived: two\r\nTo: ")
			s.replace(t, "h=from:", "h=from:received:received:")
		}, Pass, "", 1},
		{"repeated_field_swapped", func(t *testing.T, s *scene) {
			s.replace(t, "To: ", "Received: one\r\nReceived: two\r\nTo: ")
			s.replace(t, "h=from:", "h=from:received:received:")
			s.damage(t, "Received: one\r\nReceived: two\r\n", "Received: two\r\nReceived: one\r\n")
		}, Fail, "header was changed", 1},
		{"ok_relaxed_whitespace_changed", func(t *testing.T, s *scene) {
			s.damage(t, "Subject: Request for a\r\n quote", "SUBJECT:  Request \r\n\tfor a quote\t ")
			s.damage(t, "We ask for  an offer.", "We\task for an offer.  ")
			s.signed += " \t\r\n\r\n"
		}, Pass, "", 1},
		{"simple_whitespace_changed", func(t *testing.T, s *scene) {
			s.replace(t, "relaxed/relaxed", "simple")
			s.damage(t, "Subject: Request", "Subject:  Request")
		}, Fail, "header was changed", 1},
		{"simple_body_whitespace_changed", func(t *testing.T, s *scene) {
			s.replace(t, "relaxed/relaxed", "relaxed")
			s.damage(t, "ask for  an", "ask for an")
		}, Fail, "body was changed", 0},
		{"ok_simple_trailing_lines", func(t *testing.T, s *scene) {
			s.replace(t, "c=relaxed/relaxed; ", "")
			s.sign(t)
			s.signed += "\r\n\r\n"
		}, Pass, "", 1},
		{"body_bare_cr_at_end", func(t *testing.T, s *scene) {
			s.sign(t)
			s.signed += "\r"
		}, Fail, "body was changed", 0},
	})
}

// A header that two readers could cut differently is not judged at all.
func TestHeaderBlock(t *testing.T) {
	runCases(t, []testCase{
		{"hdr_bare_cr_after_signing", damaging("Subject: Request for", "Subject: Request\rfor"), Fail, "bare CR", 0},
		{"hdr_bare_lf", damaging("To: ", "X: y\nTo: "), Fail, "bare LF", 0},
		{"hdr_nul", damaging("To: ", "X: \x00\r\nTo: "), Fail, "NUL", 0},
		{"hdr_line_without_colon", damaging("To: ", "what\r\nTo: "), Fail, "no field", 0},
		{"hdr_space_before_colon", damaging("From: ", "From : "), Fail, "no field", 0},
		{"hdr_continuation_first", func(t *testing.T, s *scene) {
			s.sign(t)
			s.signed = " From: x@evil.test\r\n" + s.signed
		}, Fail, "no field", 0},
		{"hdr_no_blank_line", func(t *testing.T, s *scene) { s.signed = s.header }, Fail, "no end", 0},
		{"hdr_huge_field", damaging("To: ", "X: "+strings.Repeat("x", maxHeader)+"\r\nTo: "), Fail, "no end", 0},
		{"hdr_empty", func(t *testing.T, s *scene) { s.signed = "\r\n\r\n" }, Fail, "no field", 0},
		{"empty", func(t *testing.T, s *scene) { s.signed = "\r" }, Fail, "no end", 0},
	})
}

func TestAlgorithms(t *testing.T) {
	ed := func(t *testing.T, s *scene) {
		s.key = edKey
		s.replace(t, "rsa-sha256", "ed25519-sha256")
		s.replace(t, "s=s1", "s=ed")
	}
	rsaKey := func(name string) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.key = testKey(t, name)
			s.record(KeyRecord(s.key.Public()))
		}
	}
	runCases(t, []testCase{
		{"ok_rsa1024", rsaKey("rsa1024"), Pass, "", 1},
		{"ok_rsa4096", rsaKey("rsa4096"), Pass, "", 1},
		{"ok_ed25519", ed, Pass, "", 1},
		{"ok_dual_rsa_ed25519", func(t *testing.T, s *scene) {
			rsaField := signatureField(t, s)
			ed(t, s)
			s.signed = signatureField(t, s) + rsaField + s.header + "\r\n" + s.body
		}, Pass, "(ed)", 1},
		{"alg_key_mismatch", func(t *testing.T, s *scene) {
			s.key = edKey
			s.replace(t, "rsa-sha256", "ed25519-sha256")
		}, Fail, "type of the key", 1},
		{"alg_rsa_over_ed25519_key", replacing("s=s1", "s=ed"), Fail, "type of the key", 1},
		{"ed25519_changed", func(t *testing.T, s *scene) {
			ed(t, s)
			s.damage(t, "Subject: Request", "Subject: Order")
		}, Fail, "header was changed", 1},
		{"ed25519_malleated", func(t *testing.T, s *scene) {
			ed(t, s)
			s.sign(t)
			s.signed = malleate(t, s.signed)
		}, Fail, "header was changed", 1},
	})
}

// malleate adds the group order to S of the mail's Ed25519 signature.
func malleate(t *testing.T, signed string) string {
	t.Helper()
	before, rest, _ := strings.Cut(signed, " b=")
	text, after, _ := strings.Cut(rest, "\r\n")
	value, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	little := value[32:]
	reverse(little)
	reverse(new(big.Int).Add(new(big.Int).SetBytes(little), order).FillBytes(little))
	return before + " b=" + base64.StdEncoding.EncodeToString(value) + "\r\n" + after
}

func reverse(b []byte) {
	for i := range len(b) / 2 {
		b[i], b[len(b)-1-i] = b[len(b)-1-i], b[i]
	}
}

func TestSeveralSignatures(t *testing.T) {
	// with puts further signatures, of changed tags, on top of the good one.
	with := func(changes ...string) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.sign(t)
			for _, change := range changes {
				other := newScene(t)
				old, new, _ := strings.Cut(change, ">")
				other.replace(t, old, new)
				s.signed = signatureField(t, other) + s.signed
			}
		}
	}
	var selectors []string
	for i := range 120 {
		selectors = append(selectors, fmt.Sprintf("s=s1;>s=n%d;", i))
	}
	down := func(name string) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.dns.errs = map[string]error{name: fmt.Errorf("asking: %w", &net.DNSError{Err: "server misbehaving", IsTemporary: true})}
		}
	}
	both := func(first, second func(*testing.T, *scene)) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) { first(t, s); second(t, s) }
	}
	runCases(t, []testCase{
		{"ok_two_sigs_foreign_first", with("d=buyer.test>d=esp.test"), Pass, "", 1},
		{"ok_two_sigs_broken_first", with("v=1>v=9"), Pass, "", 1},
		{"ok_sig_key_missing_plus_valid", with("s=s1>s=gone"), Pass, "", 2},
		{"ok_ninth_above", with(selectors[:9]...), Pass, "", 10},
		{"author_below_the_cap", with(selectors[:10]...), Fail, "no key", 10},
		{"120_signatures", with(selectors...), Fail, "no key", 10},
		{"120_foreign_signatures", func(t *testing.T, s *scene) {
			s.replace(t, "d=buyer.test", "d=evil.test")
			s.sign(t)
			s.signed = strings.Repeat(signatureField(t, s), 119) + s.signed
		}, Fail, "does not speak for buyer.test", 0},
		{"same_key_asked_once", func(t *testing.T, s *scene) {
			s.damage(t, "Subject: Request", "Subject: Order")
			s.signed = strings.Repeat(signatureField(t, s), 2) + s.signed
			s.damage(t, "Subject: Order", "Subject: Other")
		}, Fail, "header was changed", 1},
		{"dns_servfail", down("s1._domainkey.buyer.test"), Temporary, "looked up", 1},
		{"dns_servfail_asked_once", func(t *testing.T, s *scene) {
			down("s1._domainkey.buyer.test")(t, s)
			s.sign(t)
			s.signed = signatureField(t, s) + s.signed
		}, Temporary, "looked up", 1},
		{"dns_servfail_elsewhere", both(down("slow._domainkey.buyer.test"), with("s=s1>s=slow")), Pass, "(s1)", 2},
		{"dns_servfail_below_a_failure", both(down("s1._domainkey.buyer.test"), with("s=s1>s=gone")), Temporary, "no key", 2},
		{"dns_servfail_body_changed", both(down("s1._domainkey.buyer.test"), damaging("an offer", "two")), Fail, "body was changed", 0},
	})
}

// A result names the signature it rests on.
func TestResultNamesSignature(t *testing.T) {
	s := newScene(t)
	s.dns.errs = map[string]error{"s1._domainkey.buyer.test": errors.New("timeout\r\n\x1b[2J" + strings.Repeat("é", 2000))}
	got := s.authenticate(t)
	if got.Domain != "buyer.test" || got.Selector != "s1" || got.Outcome.String() != "temporary" {
		t.Errorf("got %+v", got)
	}
	if strings.ContainsAny(got.Reason, "\r\n\x1b") || len(got.Reason) > maxReason {
		t.Errorf("reason %q is not fit for a log", got.Reason)
	}
	if Pass.String() != "pass" || Fail.String() != "fail" {
		t.Error("outcomes have other names")
	}
}
