package conformance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/conformance"
)

// base is a suite of one mail without a machine part.
const base = `{
  "format": 1, "profile": "agent-intents/1",
  "inbox": {
    "address": "agent@seller.test", "party": "pty_seller00000000000000", "org_name": "Seller Ltd", "contact": "owner@seller.test",
    "signing_key": {"kty": "OKP", "crv": "Ed25519", "x": "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik", "d": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
    "jku": "https://api.stackshift.cloud/.well-known/agent-agreements/pty_seller00000000000000.json",
    "unsigned": "hold", "auth": {"mode": "verify"}
  },
  "trusted_hosts": ["api.stackshift.cloud"], "dns": {}, "dns_errors": {"a.test": "temporary"},
  "key_pages": {},
  "cases": [{"name": "one", "why": "a mail of a person", "steps": [
    {"deliver": "mail.eml", "at": "2026-11-02T10:00:00Z", "expect": {"verdict": "plain", "code": "none", "warnings": []}}
  ], "final": {"offers": {}, "records": {"thread": null}}}]
}`

// folder writes a suite: the base with one text replaced by another.
func folder(t *testing.T, old, new string) string {
	t.Helper()
	if !strings.Contains(base, old) {
		t.Fatalf("%q is not in the base", old)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"suite.json": strings.Replace(base, old, new, 1),
		"mail.eml":   "From: a@buyer.test\r\n\r\nHello\r\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadRefuses(t *testing.T) {
	const deliver = `"deliver": "mail.eml", "at": "2026-11-02T10:00:00Z"`
	for _, c := range []struct{ name, old, new string }{
		{"another format", `"format": 1`, `"format": 2`},
		{"another profile", `agent-intents/1`, `agent-intents/9`},
		{"a member with a typing mistake", `"trusted_hosts"`, `"trusted_host"`},
		{"a member twice", `"format": 1,`, `"format": 1, "format": 1,`},
		{"no JSON", `{`, `[`},
		{"an unknown class of DNS error", `"temporary"`, `"permanent"`},
		{"a case without name", `"name": "one"`, `"name": ""`},
		{"two cases of one name", `"cases": [`, `"cases": [{"name": "one", "steps": []}, `},
		{"a step of nothing", `"deliver": "mail.eml", `, ``},
		{"a step of two things", deliver, deliver + `, "tick": true`},
		{"a step without time", deliver, `"deliver": "mail.eml"`},
		{"an expectation of a tick", `"deliver": "mail.eml"`, `"tick": true`},
		{"an unknown verdict", `"plain"`, `"rejected"`},
		{"an unknown code", `"none"`, `"nothing"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := conformance.Load(folder(t, c.old, c.new)); !errors.Is(err, conformance.ErrSuite) {
				t.Errorf("Load: %v, not an ErrSuite", err)
			}
		})
	}
}

// TestLoadTakes: what a stranger may write, or leave out, and mean the same.
func TestLoadTakes(t *testing.T) {
	const deliver = `{"deliver": "mail.eml", "at": "2026-11-02T10:00:00Z", `
	for _, c := range []struct{ name, old, new string }{
		{"a key as libraries write it", `"kty": "OKP"`, `"kty": "OKP", "kid": "main", "alg": "EdDSA", "use": "sig", "key_ops": ["sign"]`},
		{"a domain in capitals", `"agent@seller.test"`, `"agent@SELLER.Test"`},
		{"an international domain", `"agent@seller.test"`, `"agent@b\u00fccher.test"`},
		{"no setting for unsigned mail", `"unsigned": "hold", `, ``},
		{"no mode", `, "auth": {"mode": "verify"}`, ``},
		{"no trusted hosts, DNS or errors", `"trusted_hosts": ["api.stackshift.cloud"], "dns": {}, "dns_errors": {"a.test": "temporary"},`, ``},
		{"a page without its status", `"key_pages": {}`, `"key_pages": {"https://api.stackshift.cloud/x": {"file": "mail.eml"}}`},
		{"a page that does not answer", `"key_pages": {}`, `"key_pages": {"https://api.stackshift.cloud/x": {}}`},
		{"no final", `, "final": {"offers": {}, "records": {"thread": null}}`, ``},
		{"a restart first, with a time", deliver, `{"restart": true, "at": "2026-11-02T09:00:00Z"}, ` + deliver},
		{"a tick first", deliver, `{"tick": true, "at": "2026-11-02T09:00:00+02:00"}, ` + deliver},
		{"a clock that steps back", deliver, `{"tick": true, "at": "2027-11-02T09:00:00.5Z"}, ` + deliver},
		{"members that are null", deliver, `{"sent": null, "admit": null, ` + deliver[1:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range run(t, folder(t, c.old, c.new)) {
				if !o.OK {
					t.Errorf("%s: step %s: expected %s, got %s", o.Case, o.Step, o.Expected, o.Got)
				}
			}
		})
	}
}

func TestLoadNothing(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "gone")} {
		if _, err := conformance.Load(dir); !errors.Is(err, conformance.ErrSuite) {
			t.Errorf("Load: %v, not an ErrSuite", err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"an unknown mode", `"mode": "verify"`, `"mode": "spf"`},
		{"an unknown trust", `"mode": "verify"`, `"mode": "verify", "trust": "some"`},
		{"an unknown alignment", `"mode": "verify"`, `"mode": "verify", "alignment": "loose"`},
		{"an unknown setting for unsigned mail", `"hold"`, `"bounce"`},
		{"an address that is none", `"agent@seller.test"`, `"seller"`},
		{"a key of another kind", `"OKP"`, `"EC"`},
		{"a key whose halves do not belong together", `"x": "O2o`, `"x": "A2o`},
		{"a mail that is not there", `"mail.eml"`, `"gone.eml"`},
		{"a mail outside the suite", `"mail.eml"`, `"../mail.eml"`},
		{"a sent mail that is not there", `"deliver": "mail.eml", "at": "2026-11-02T10:00:00Z", "expect": {"verdict": "plain", "code": "none", "warnings": []}`, `"sent": "gone.eml", "at": "2026-11-02T10:00:00Z"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := conformance.Load(folder(t, c.old, c.new))
			if err == nil {
				err = s.Run(t.Context(), "", func(conformance.Outcome) {})
			}
			if !errors.Is(err, conformance.ErrSuite) {
				t.Errorf("Run: %v, not an ErrSuite", err)
			}
		})
	}
}

// TestRunReports: a case that goes another way is reported with its step, what
// was expected and what came.
func TestRunReports(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           conformance.Outcome
	}{
		{"as expected", `"one"`, `"one"`, conformance.Outcome{OK: true}},
		{"nothing expected", `, "expect": {"verdict": "plain", "code": "none", "warnings": []}`, ``, conformance.Outcome{OK: true}},
		{"another verdict", `"verdict": "plain"`, `"verdict": "held"`, conformance.Outcome{
			Step: "1 deliver mail.eml", Expected: "verdict held", Got: "verdict plain/none",
		}},
		{"another code", `"code": "none"`, `"code": "dkim"`, conformance.Outcome{Step: "1 deliver mail.eml", Expected: "code dkim", Got: "code none"}},
		{"a warning too few", `"warnings": []`, `"warnings": ["key_retired"]`, conformance.Outcome{
			Step: "1 deliver mail.eml", Expected: "warnings [key_retired]", Got: "warnings []",
		}},
		{"a mail that cannot have been sent", `"deliver": "mail.eml", "at": "2026-11-02T10:00:00Z", "expect": {"verdict": "plain", "code": "none", "warnings": []}`, `"sent": "mail.eml", "at": "2026-11-02T10:00:00Z"`, conformance.Outcome{
			Step: "1 sent mail.eml", Expected: "taken into the store",
		}},
		{"another state", `"offers": {}`, `"offers": {"offer": "agreed"}`, conformance.Outcome{Step: "final", Expected: `offer offer "agreed"`, Got: `offer offer ""`}},
		{"another record", `{"thread": null}`, `{"thread": "two_signatures"}`, conformance.Outcome{
			Step: "final", Expected: `record thread "two_signatures"`, Got: `record thread ""`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outcomes := run(t, folder(t, c.old, c.new))
			if len(outcomes) != 1 {
				t.Fatalf("%d outcomes of one case", len(outcomes))
			}
			got := outcomes[0]
			if got.OK != c.want.OK || got.Step != c.want.Step || got.Expected != c.want.Expected || !strings.HasPrefix(got.Got, c.want.Got) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestRunOnly(t *testing.T) {
	s, err := conformance.Load(folder(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for only, want := range map[string]int{"one": 1, "two": 0} {
		n := 0
		if err := s.Run(t.Context(), only, func(conformance.Outcome) { n++ }); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%d cases named %q ran, want %d", n, only, want)
		}
	}
}
