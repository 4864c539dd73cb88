package dkim

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAuthResults(t *testing.T) {
	// one is a field of one result.
	one := func(method, result string, properties ...string) authResults {
		p := map[string]string{}
		for i := 0; i < len(properties); i += 2 {
			p[properties[i]] = properties[i+1]
		}
		return authResults{id: "mx.test", results: []authResult{{method, result, p}}}
	}
	none := authResults{id: "mx.test"}
	cases := []struct {
		name, text string
		want       authResults
		err        error
	}{
		{"plain", " mx.test; dkim=pass header.d=a.test", one("dkim", "pass", "header.d", "a.test"), nil},
		{"none", "mx.test; none", none, nil},
		{"none_space", "mx.test;none (really) ", none, nil},
		{"empty_at_end", "mx.test; dkim=pass;\r\n ", one("dkim", "pass"), nil},
		{"comments", "(a) mx.test (b (c) \\) \"d;) 1 (e) ;(f)dkim(g)=(h)pass(i)header(j).(k)d(l)=(m)a.test(n)", one("dkim", "pass", "header.d", "a.test"), nil},
		{"case", "MX.test; DKIM=Pass HEADER.D=A.test", authResults{"MX.test", []authResult{{"dkim", "pass", map[string]string{"header.d": "A.test"}}}}, nil},
		{"folded", "mx.test;\r\n\tdkim=pass\r\n\theader.d=a.test", one("dkim", "pass", "header.d", "a.test"), nil},
		{"method_version", "mx.test; dkim / 1 = pass", one("dkim", "pass"), nil},
		{"quoted", `mx.test; dkim=pass header.b="a/b\"; c" header.i="x y"@a.test`, one("dkim", "pass", "header.b", `a/b"; c`, "header.i", "x y@a.test"), nil},
		{"quoted_folded", "mx.test; dkim=pass header.b=\"a\r\n b\"", one("dkim", "pass", "header.b", "a b"), nil},
		{"quoted_id", `"mx.test"; none`, none, nil},
		{"reason", `mx.test; dkim=fail reason="bad; dkim=pass" header.d=a.test`, one("dkim", "fail", "header.d", "a.test"), nil},
		{"property_named_reason", "mx.test; dkim=fail reason.x=y", one("dkim", "fail", "reason.x", "y"), nil},
		{"loose_values", "mx.test; bimi=pass policy.uri=https://a.test/x?y=z smtp.client-ip=2001:db8::1", one("bimi", "pass", "policy.uri", "https://a.test/x?y=z", "smtp.client-ip", "2001:db8::1"), nil},
		{"two", "mx.test; spf=pass; dkim=fail", authResults{"mx.test", []authResult{{"spf", "pass", map[string]string{}}, {"dkim", "fail", map[string]string{}}}}, nil},

		{"empty", "", authResults{}, errExpected},
		{"id_alone", "mx.test", none, errExpected},
		{"id_encoded", "=?utf-8?q?mx.test?=; dkim=pass", authResults{}, errExpected},
		{"id_missing", "dkim=pass header.d=a.test", authResults{id: "dkim"}, errExpected},
		{"id_glued", "mx.test/x; dkim=pass", none, errExpected},
		{"version_2", "mx.test 2; dkim=pass", none, errVersion},
		{"method_version_2", "mx.test; dkim/2=pass", none, errVersion},
		{"none_and_more", "mx.test; none; dkim=pass", none, errExpected},
		{"result_missing", "mx.test; dkim", none, errExpected},
		{"result_empty", "mx.test; dkim=; spf=pass", none, errExpected},
		{"semicolon_twice", "mx.test;; dkim=pass", none, errExpected},
		{"comma", "mx.test; dkim=pass, header.d=a.test", none, errExpected},
		{"property_glued", `mx.test; dkim=pass header.b="x"header.d=a.test`, none, errExpected},
		{"property_without_type", "mx.test; dkim=pass action=none", none, errExpected},
		{"property_without_name", "mx.test; dkim=pass header.=a.test", none, errExpected},
		{"property_without_value", "mx.test; dkim=pass header.d=", none, errExpected},
		{"property_without_equals", "mx.test; dkim=pass header.d", none, errExpected},
		{"property_twice", "mx.test; dkim=pass header.d=a.test Header.D=a.test", none, errTwice},
		{"reason_twice", "mx.test; dkim=pass reason=a reason=b", none, errExpected},
		{"reason_empty", "mx.test; dkim=pass reason=", none, errExpected},
		{"quote_open", `mx.test; dkim=pass header.b="x`, none, errQuote},
		{"quote_open_backslash", `mx.test; dkim=pass header.b="x\`, none, errQuote},
		{"quote_pair_cr", "mx.test; dkim=pass header.b=\"x\\\r\n y\"", none, errQuote},
		{"quote_pair_lf", "mx.test; dkim=pass header.b=\"x\\\ny\"", none, errQuote},
		{"quote_open_id", `"mx.test; none`, authResults{}, errQuote},
		{"comment_open_first", "(mx.test; none", authResults{}, errComment},
		{"comment_open_after_id", "mx.test (; none", none, errComment},
		{"comment_open_after_version", "mx.test 1 (; none", none, errComment},
		{"comment_open_after_semicolon", "mx.test; (none", none, errComment},
		{"comment_open_after_method", "mx.test; dkim (=pass", none, errComment},
		{"comment_open_in_method_version", "mx.test; dkim/(1=pass", none, errComment},
		{"comment_open_after_result", "mx.test; dkim=pass (", none, errComment},
		{"comment_open_after_type", "mx.test; dkim=pass header (.d=a", none, errComment},
		{"comment_open_in_value", "mx.test; dkim=pass header.d=a.test(b.test", none, errComment},
		{"comment_splits_value", "mx.test; dkim=pass header.d=a.test(x).b.test", none, errExpected},
		{"comment_backslash_at_end", `mx.test; dkim=pass (\`, none, errComment},
		{"parenthesis_closed_only", "mx.test; dkim=pass )", none, errExpected},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseAuthResults(c.text)
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(authResults{}, authResult{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
