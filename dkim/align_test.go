package dkim

import (
	"strings"
	"testing"
)

func TestAligned(t *testing.T) {
	cases := []struct {
		name, d, from   string
		relaxed, strict bool
	}{
		{"equal", "buyer.test", "buyer.test", true, true},
		{"ok_d_case", "BUYER.test", "buyer.test", true, true},
		{"ok_from_subdomain", "buyer.test", "mail.buyer.test", true, false},
		{"ok_d_subdomain_of_from", "mail.buyer.test", "buyer.test", true, false},
		{"siblings", "a.buyer.test", "b.buyer.test", true, false},
		{"co_uk", "a.buyer.co.uk", "buyer.co.uk", true, false},
		{"a_label", "xn--bcher-kva.test", "xn--bcher-kva.test", true, true},
		{"foreign", "evil.test", "buyer.test", false, false},
		{"suffix_string", "notbuyer.test", "buyer.test", false, false},
		{"prefix_string", "buyer.test.evil.test", "buyer.test", false, false},
		{"from_below_foreign", "evil.test", "buyer.test.evil.com", false, false},
		{"public_suffix", "test", "buyer.test", false, false},
		{"public_suffix_itself", "co.uk", "co.uk", false, false},
		{"public_suffix_co_uk", "co.uk", "buyer.co.uk", false, false},
		{"private_suffix", "github.io", "buyer.github.io", false, false},
		{"private_suffix_deep", "appspot.com", "buyer.appspot.com", false, false},
		{"two_tenants", "a.github.io", "b.github.io", false, false},
		{"d_empty", "", "buyer.test", false, false},
		{"both_empty", "", "", false, false},
		{"d_dot", ".", "buyer.test", false, false},
		{"d_trailing_dot", "buyer.test.", "buyer.test", false, false},
		{"d_leading_dot", ".buyer.test", "buyer.test", false, false},
		{"d_quote", "buyer.test'", "buyer.test", false, false},
		{"d_paren", "evil.test(.buyer.test", "buyer.test", false, false},
		{"d_nul", "buyer.test\x00.buyer.test", "buyer.test", false, false},
		{"d_underscore", "_x.buyer.test", "buyer.test", false, false},
		{"d_hyphen_first", "-.buyer.test", "buyer.test", false, false},
		{"d_label_64", strings.Repeat("a", 64) + ".buyer.test", "buyer.test", false, false},
		{"d_254", strings.Repeat("a.", 122) + "buyer.test", "buyer.test", false, false},
		{"ok_d_253", strings.Repeat("a.", 121) + "buyer.test1", "buyer.test1", true, false},
		{"from_no_name", "buyer.test", "[192.0.2.1]", false, false},
		{"from_public_suffix", "buyer.test", "test", false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Aligned(c.d, c.from, false); got != c.relaxed {
				t.Errorf("relaxed: %v", got)
			}
			if got := Aligned(c.d, c.from, true); got != c.strict {
				t.Errorf("strict: %v", got)
			}
		})
	}
}

// A domain that cannot align is never asked for its key.
func TestAlignmentOfMails(t *testing.T) {
	domain := func(d, from string) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.replace(t, "d=buyer.test", "d="+d)
			s.from = from
			s.dns.records["s1._domainkey."+strings.ToLower(d)] = []string{KeyRecord(s.key.Public())}
		}
	}
	selector := func(name string) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.replace(t, "s=s1", "s="+name)
			s.dns.records[name+"._domainkey.buyer.test"] = []string{KeyRecord(s.key.Public())}
		}
	}
	strict := func(mutate func(*testing.T, *scene)) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) { mutate(t, s); s.checker.Strict = true }
	}
	runCases(t, []testCase{
		{"foreign", domain("evil.test", "buyer.test"), Fail, "does not speak for buyer.test", 0},
		{"ok_other_sender", domain("vendor.test", "vendor.test"), Pass, "", 1},
		{"suffix_string", domain("evilbuyer.test", "buyer.test"), Fail, "does not speak", 0},
		{"public_suffix", domain("test", "buyer.test"), Fail, "does not speak", 0},
		{"d_empty", domain("", "buyer.test"), Fail, "no plain names", 0},
		{"d_quote", domain("buyer.test'", "buyer.test"), Fail, "no plain names", 0},
		{"d_paren", domain("evil.test(.buyer.test", "buyer.test"), Fail, "no plain names", 0},
		{"ok_d_case", domain("BUYER.test", "buyer.test"), Pass, "", 1},
		{"ok_from_subdomain", domain("buyer.test", "mail.buyer.test"), Pass, "", 1},
		{"ok_d_subdomain_of_from", domain("mail.buyer.test", "buyer.test"), Pass, "", 1},
		{"siblings_strict", strict(domain("a.buyer.test", "b.buyer.test")), Fail, "does not speak", 0},
		{"ok_strict", strict(domain("buyer.test", "buyer.test")), Pass, "", 1},
		{"list_resigned_broken", func(t *testing.T, s *scene) {
			s.damage(t, "an offer", "[list] an offer")
			list := newScene(t)
			domain("list.test", "buyer.test")(t, list)
			list.body = strings.Replace(s.body, "an offer", "[list] an offer", 1)
			s.signed = signatureField(t, list) + s.signed
		}, Fail, "body was changed", 0},
		{"selector_nul", selector("s1\x00"), Fail, "NUL", 0},
		{"selector_space", selector("s1 x"), Fail, "no plain names", 0},
		{"selector_star", selector("*"), Fail, "no plain names", 0},
		{"selector_empty", selector(""), Fail, "no plain names", 0},
		{"selector_empty_label", selector("s1..x"), Fail, "no plain names", 0},
		{"selector_dot_at_end", selector("s1."), Fail, "no plain names", 0},
		{"selector_other_zone", selector("s1._domainkey.evil"), Fail, "no plain names", 0},
		{"selector_300", selector(strings.Repeat("a.", 150) + "a"), Fail, "no plain names", 0},
		{"selector_name_too_long", selector(strings.Repeat("a.", 116) + "a"), Fail, "no plain names", 0},
		{"ok_selector_upper_case", replacing("s=s1", "s=S1"), Pass, "", 1},
		{"ok_selector_dotted", selector("march.s1"), Pass, "", 1},
	})
}
