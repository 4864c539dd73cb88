package dkim

import (
	"strings"
	"testing"
)

// The trusted server of these tests, and the field it would write.
const (
	trusted  = "mx.seller.test"
	ownPass  = "Authentication-Results: mx.seller.test; dkim=pass header.d=buyer.test header.s=s1\r\n"
	received = "Received: from out.buyer.test by mx.seller.test; Mon, 02 Nov 2026 10:00:00 +0000\r\n"
)

// under puts fields on top of the signed baseline and reads it in AuthRes mode.
func under(fields string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		s.checker = Checker{Mode: AuthRes, AuthservID: trusted}
		s.sign(t)
		s.signed = fields + s.signed
	}
}

// says is a field of the trusted server below the transport's own.
func says(results string) func(*testing.T, *scene) {
	return under("Authentication-Results: mx.seller.test; " + results + "\r\n" + received)
}

// also adds a change to another mutation.
func also(first func(*testing.T, *scene), then func(*scene)) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) { first(t, s); then(s) }
}

func TestTrustedResults(t *testing.T) {
	const (
		otherFail = "Authentication-Results: mx.seller.test; dkim=fail header.d=evil.test\r\n"
		nothing   = "Authentication-Results: mx.seller.test; none\r\n"
		spf       = "Authentication-Results: mx.seller.test; spf=pass smtp.mailfrom=buyer.test\r\n"
	)
	all := func(mutate func(*testing.T, *scene)) func(*testing.T, *scene) {
		return also(mutate, func(s *scene) { s.checker.TrustAll = true })
	}
	runCases(t, []testCase{
		{"ok_plain", under(ownPass + received), Pass, "reported by mx.seller.test", 0},
		{"ok_comments", under("Authentication-Results: (x) mx.seller.test (y; z) 1; dkim=pass (2048-bit key; dkim=fail)\r\n\theader.d=buyer.test\r\n"), Pass, "", 0},
		{"ok_id_case", under(strings.Replace(ownPass, "mx.seller", "MX.Seller", 1)), Pass, "", 0},
		{"ok_several_above_received", under(spf + ownPass + received), Pass, "", 0},
		{"ok_hundredth_pass", says(strings.Repeat("dkim=pass header.d=evil.test; ", maxPasses-1) + "dkim=pass header.d=buyer.test"), Pass, "", 0},
		{"pass_beyond_the_limit", says(strings.Repeat("dkim=pass header.d=evil.test; ", maxPasses) + "dkim=pass header.d=buyer.test"), Fail, "does not speak for", 0}, // D187
		{"ok_below_received", under(received + ownPass), Pass, "", 0},
		{"ok_foreign_on_top", under("Authentication-Results: relay.test; dkim=fail header.d=buyer.test\r\n" + ownPass), Pass, "", 0},
		{"ok_own_above_and_old_below", under(spf + ownPass + received + otherFail), Pass, "", 0},
		{"untrusted_id", under(strings.Replace(ownPass, "mx.seller.test", "mx.evil.test", 1)), Fail, "no Authentication-Results of the trusted", 0},
		{"id_suffix", under(strings.Replace(ownPass, "mx.seller.test", "mx.seller.test.evil.test", 1)), Fail, "of the trusted", 0},
		{"id_prefix", under(strings.Replace(ownPass, "mx.seller.test", "evil.mx.seller.test", 1)), Fail, "of the trusted", 0},
		{"id_same_length", under(strings.Replace(ownPass, "mx.seller.test", "mx.sellen.test", 1)), Fail, "of the trusted", 0},
		{"id_kelvin", also(under(strings.Replace(ownPass, "mx.seller.test", "m\u212a", 1)), func(s *scene) { s.checker.AuthservID = "mk" }), Fail, "of the trusted", 0},
		{"id_in_comment", under("Authentication-Results: (mx.seller.test) evil.test; dkim=pass header.d=buyer.test\r\n"), Fail, "of the trusted", 0},
		{"id_comment_injection", under("Authentication-Results: evil.test (; mx.seller.test; dkim=pass header.d=buyer.test\r\n"), Fail, "of the trusted", 0},
		{"id_missing", under("Authentication-Results: dkim=pass header.d=buyer.test\r\n"), Fail, "of the trusted", 0},
		{"id_empty", under("Authentication-Results: \"\"; dkim=pass header.d=buyer.test\r\n"), Fail, "of the trusted", 0},
		{"id_not_configured", also(under("Authentication-Results: \"\"; dkim=pass header.d=buyer.test\r\n"), func(s *scene) { s.checker.AuthservID = "" }), Fail, "of the trusted", 0},
		{"version_2", under(strings.Replace(ownPass, "test;", "test 2;", 1)), Fail, "version", 0},
		{"forged_below_own", under(otherFail + received + ownPass), Fail, "no dkim=pass", 0},
		{"forged_adjacent", under(received + otherFail + ownPass), Fail, "no dkim=pass", 0},
		{"forged_own_other_pass", under("Authentication-Results: mx.seller.test; dkim=pass header.d=evil.test\r\n" + received + ownPass), Fail, "does not speak for", 0},
		{"forged_below_none", under(nothing + received + ownPass), Fail, "no dkim=pass", 0},
		{"forged_below_unreadable", under("Authentication-Results: mx.seller.test; dkim=fail (\r\n" + ownPass), Fail, "comment without end", 0},
		{"forged_below_encoded_word", under("Authentication-Results: =?utf-8?q?mx.seller.test?=; none\r\n" + ownPass), Fail, "grammar", 0},
		{"ok_unreadable_further_down", under(ownPass + "Authentication-Results: mx.seller.test; dkim=fail (\r\n"), Pass, "", 0},
		{"in_body", func(t *testing.T, s *scene) {
			under("")(t, s)
			s.damage(t, "Content-Type: text/plain", ownPass+"Content-Type: text/plain")
		}, Fail, "of the trusted", 0},
		{"name_space", under(strings.Replace(ownPass, "Results:", "Results :", 1)), Fail, "no field", 0},
		{"arc_only", under("ARC-" + ownPass), Fail, "of the trusted", 0},
		{"none_at_all", under(received), Fail, "of the trusted", 0},
		{"dup_from", under(ownPass + "From: <x@evil.test>\r\n"), Fail, "one From", 0},
		{"evil_from", also(under(ownPass), func(s *scene) { s.from = "evil.test" }), Fail, "does not speak for evil.test", 0},
		{"ignored_in_verify_mode", func(t *testing.T, s *scene) {
			under(ownPass)(t, s)
			s.checker = Checker{Resolver: s.dns}
			s.damage(t, "an offer", "two offers")
		}, Fail, "body was changed", 0},

		{"all_ok_below_received", all(under(spf + received + ownPass)), Pass, "", 0},
		{"all_ok_pass_of_the_second", all(under(otherFail + received + received + ownPass)), Pass, "", 0},
		{"all_untrusted_id", all(under(spf + received + strings.Replace(ownPass, "seller", "evil", 1))), Fail, "no dkim=pass", 0},
		{"all_unreadable_topmost", all(under("Authentication-Results: mx.seller.test; dkim=\r\n" + ownPass)), Fail, "grammar", 0},
	})
}

func TestReportedDomain(t *testing.T) {
	runCases(t, []testCase{
		{"ok_only_header_i", says("dkim=pass header.i=@buyer.test"), Pass, "", 0},
		{"ok_header_i_user", says("dkim=pass header.i=agent@mail.buyer.test"), Pass, "", 0},
		{"ok_quoted_header_b", says(`dkim=pass header.d=buyer.test header.b="AbCd/+12;"`), Pass, "", 0},
		{"ok_case", says("DKIM=PASS Header.D=BUYER.test"), Pass, "", 0},
		{"ok_method_version", says("dkim/1=pass header.d=buyer.test"), Pass, "", 0},
		{"ok_reason", says(`dkim=pass reason="good; really" header.d=buyer.test`), Pass, "", 0},
		{"ok_i_below_d", says("dkim=pass header.d=buyer.test header.i=@mail.buyer.test"), Pass, "", 0},
		{"ok_one_of_two_fails", says("dkim=fail header.d=buyer.test header.s=s2; dkim=pass header.d=buyer.test header.s=s1"), Pass, "", 0},
		{"ok_foreign_pass_first", says("dkim=pass header.d=esp.test; dkim=pass header.d=buyer.test"), Pass, "", 0},
		{"comment_injection", says("dkim=fail header.d=evil.test (x; dkim=pass header.d=buyer.test )"), Fail, "no dkim=pass", 0},
		{"comment_injection_middle", says("dkim=fail (x; dkim=pass header.d=buyer.test ) header.d=evil.test"), Fail, "no dkim=pass", 0},
		{"comment_property", says("dkim=pass (header.d=buyer.test) header.d=evil.test"), Fail, "does not speak", 0},
		{"reason_injection", says(`dkim=fail reason="x; dkim=pass header.d=buyer.test" header.d=evil.test`), Fail, "no dkim=pass", 0},
		{"quoted_injection", says(`spf=fail smtp.mailfrom="x; dkim=pass header.d=buyer.test"@evil.test`), Fail, "no dkim=pass", 0},
		{"dup_property", says("dkim=pass header.d=evil.test header.d=buyer.test"), Fail, "twice", 0},
		{"cross_match", says("dkim=pass header.d=evil.test; dkim=fail header.d=buyer.test"), Fail, "does not speak", 0},
		{"i_contradicts_d", says("dkim=pass header.d=buyer.test header.i=@evil.test"), Fail, "contradict", 0},
		{"d_contradicts_i", says("dkim=pass header.d=evil.test header.i=@buyer.test"), Fail, "contradict", 0},
		{"i_without_at", says("dkim=pass header.i=buyer.test"), Fail, "contradict", 0},
		{"single_quote", says("dkim=pass header.d=buyer.test'.evil.test"), Fail, "does not speak", 0},
		{"quoted_nul_like", says("dkim=pass header.d=\"buyer.test\t\""), Fail, "does not speak", 0},
		{"paren", says("dkim=pass header.d=buyer.test(.evil.test"), Fail, "comment without end", 0},
		{"d_public_suffix", says("dkim=pass header.d=test"), Fail, "does not speak", 0},
		{"no_domain", says("dkim=pass"), Fail, "names no domain", 0},
		{"dmarc_only", says("dmarc=pass header.from=buyer.test; spf=pass smtp.mailfrom=buyer.test"), Fail, "no dkim=pass", 0},
		{"policy", says("dkim=policy header.d=buyer.test"), Fail, "no dkim=pass", 0},
		{"temperror", says("dkim=temperror header.d=buyer.test"), Fail, "no dkim=pass", 0},
		{"neutral", says("dkim=neutral header.d=buyer.test"), Fail, "no dkim=pass", 0},
		{"value_glued", says("dkim=passed header.d=buyer.test"), Fail, "no dkim=pass", 0},
		{"other_method", says("x-dkim=pass header.d=buyer.test; dkim-atps=pass header.d=buyer.test; arc=pass header.d=buyer.test"), Fail, "no dkim=pass", 0},
		{"garbled", says(`dkim=pass header.d="buyer.test`), Fail, "quoted string without end", 0},
		{"strict", also(says("dkim=pass header.d=mail.buyer.test"), func(s *scene) { s.checker.Strict = true }), Fail, "does not speak", 0},
	})
}

// The signature a result speaks of is looked at where it is still in the mail.
func TestReportedSignature(t *testing.T) {
	signedWith := func(old, new, results string) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.replace(t, old, new)
			says(results)(t, s)
		}
	}
	const pass = "dkim=pass header.d=buyer.test"
	runCases(t, []testCase{
		{"ok_stripped", func(t *testing.T, s *scene) {
			s.signed = ownPass + s.header + "\r\n" + s.body
			s.checker = Checker{Mode: AuthRes, AuthservID: trusted}
		}, Pass, "", 0},
		{"ok_other_domain_with_l", signedWith("d=buyer.test;", "d=esp.test; l=0;", pass), Pass, "", 0},
		{"weak_server_l", signedWith("d=buyer.test;", "d=buyer.test; l=0;", pass), Fail, "l=", 0},
		{"weak_server_l_case", signedWith("d=buyer.test;", "d=BUYER.test; l=0;", pass), Fail, "l=", 0},
		{"weak_server_l_parent_of_i", signedWith("d=buyer.test;", "d=buyer.test; l=0;", "dkim=pass header.i=@mail.buyer.test"), Fail, "l=", 0},
		{"weak_server_from_unsigned", signedWith("h=from:", "h=", pass), Fail, "cover From", 0},
		{"weak_server_content_type_unsigned", func(t *testing.T, s *scene) {
			s.body = quoting
			signedWith(":content-type;", ";", pass)(t, s)
			s.damage(t, "boundary=\"b1\"", "boundary=\"b2\"")
		}, Fail, "begin with its own delimiter", 0},
		{"ok_content_type_unsigned_fixed", signedWith(":content-type;", ";", pass), Pass, "", 0},
		{"hidden_behind_harmless", also(signedWith("d=buyer.test;", "d=buyer.test; l=0;", pass), func(s *scene) {
			s.signed = "DKIM-Signature: d=buyer.test; h=from:content-type\r\n" + s.signed
		}), Fail, "l=", 0},
		{"unreadable", also(says(pass), func(s *scene) {
			s.signed = "DKIM-Signature: d=buyer.test; l=0; d=evil.test\r\n" + s.signed
		}), Fail, "cannot be read", 0},
	})
}

// Names in a result are those of plain hosts, whatever the field quotes.
func TestReportedNames(t *testing.T) {
	s := newScene(t)
	says("dkim=pass header.d=buyer.test header.s=S1")(t, s)
	if got := s.authenticate(t); got.Domain != "buyer.test" || got.Selector != "s1" {
		t.Errorf("got %+v", got)
	}
	s = newScene(t)
	says("dkim=pass header.d=\"evil.test <b>\" header.s=\"\\\x1b[2J\"")(t, s)
	got := s.authenticate(t)
	if got.Outcome != Fail || got.Domain != "" || got.Selector != "" || strings.Contains(got.Reason, "\x1b") {
		t.Errorf("got %+v", got)
	}
}
