package party

import (
	"strings"
	"testing"
)

const (
	testHost = "api.stackshift.cloud"
	buyer    = "pty_buyer000000000000000"
	seller   = "pty_seller00000000000000"
)

func TestTrust(t *testing.T) {
	trust := Trust{Hosts: []string{"keys.closed.test", testHost}}
	for host, id := range map[string]string{testHost: buyer, "keys.closed.test": seller} {
		if party, ok := trust.Party(PageURL(host, id)); !ok || party != id {
			t.Errorf("%s on %s: %q, %v", id, host, party, ok)
		}
	}
	if _, ok := (Trust{}).Party(PageURL(testHost, buyer)); ok {
		t.Error("trusted without a trusted host")
	}
}

// Each case is another spelling of, or another place than, the one good address.
func TestTrustRefuses(t *testing.T) {
	trust := Trust{Hosts: []string{testHost}}
	good := PageURL(testHost, buyer)
	with := func(old, repl string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the address", old)
		}
		return strings.Replace(good, old, repl, 1)
	}
	tests := map[string]string{
		"U1 http":                     with("https:", "http:"),
		"U1 file":                     with("https:", "file:"),
		"U1 ftp":                      with("https:", "ftp:"),
		"U1 data":                     "data:application/json,{}",
		"U1 javascript":               "javascript:alert(1)",
		"U1 opaque":                   with("https://", "https:"),
		"U1 no scheme":                with("https:", ""),
		"U1 no host":                  with(testHost, ""),
		"U1 empty":                    "",
		"U1 capital scheme":           with("https:", "HTTPS:"),
		"U1 space before":             " " + good,
		"U2 host as prefix":           with(testHost, testHost+".evil.test"),
		"U2 host as suffix":           with(testHost, "evil"+testHost),
		"U2 subdomain":                with(testHost, "a."+testHost),
		"U2 host in path":             "https://evil.test/" + strings.TrimPrefix(good, "https://"),
		"U2 host in query":            "https://evil.test/?" + good,
		"U2 host in fragment":         "https://evil.test/#" + good,
		"U3 user":                     with("https://", "https://user@"),
		"U3 user and password":        with("https://", "https://user:pass@"),
		"U3 empty user":               with("https://", "https://@"),
		"U3 host as user":             with(testHost, testHost+"@evil.test"),
		"U3 escaped at":               with(testHost, testHost+"%40evil.test"),
		"U3 backslash":                with(testHost, `evil.test\@`+testHost),
		"U3 backslashes":              with("https://", `https:\\`),
		"U4 port":                     with(testHost, testHost+":443"),
		"U4 other port":               with(testHost, testHost+":8443"),
		"U4 empty port":               with(testHost, testHost+":"),
		"U4 trailing dot":             with(testHost, testHost+"."),
		"U4 capitals":                 with(testHost, strings.ToUpper(testHost)),
		"U5 escaped dot":              with("api.", "api%2e"),
		"U5 escaped NUL":              with(testHost, testHost+"%00"),
		"U5 NUL":                      with(testHost, testHost+"\x00"),
		"U5 Cyrillic a":               with("api.", "\u0430pi."),
		"U5 fullwidth":                with("api.", "\uff41pi."),
		"U5 ideographic stop":         with("api.", "api\u3002"),
		"U5 soft hyphen":              with("api.", "a\u00adpi."),
		"U6 loopback":                 with(testHost, "127.0.0.1"),
		"U6 decimal":                  with(testHost, "2130706433"),
		"U6 hex":                      with(testHost, "0x7f000001"),
		"U6 octal":                    with(testHost, "0177.0.0.1"),
		"U6 IPv6":                     with(testHost, "[::1]"),
		"U6 mapped":                   with(testHost, "[::ffff:127.0.0.1]"),
		"U6 localhost":                with(testHost, "localhost"),
		"U6 metadata":                 with(testHost, "169.254.169.254"),
		"U7 dot segment":              with("/.well-known", "/./.well-known"),
		"U7 two dots":                 with("/.well-known", "/x/../.well-known"),
		"U7 escaped dots":             with("/.well-known", "/%2ewell-known"),
		"U7 two slashes":              with("/.well-known", "//.well-known"),
		"U7 escaped slash":            with("agreements/", "agreements%2f"),
		"U7 path parameter":           with(".json", ".json;x=1"),
		"U7 query":                    good + "?x=1",
		"U7 empty query":              good + "?",
		"U7 fragment":                 good + "#x",
		"U7 empty fragment":           good + "#",
		"U7 slash after":              good + "/",
		"U7 newline after":            good + "\n",
		"U7 capitals in path":         with(".json", ".JSON"),
		"U7 no suffix":                with(".json", ""),
		"U7 escaped letter":           with("agent", "%61gent"),
		"no party":                    with(buyer, ""),
		"party too short":             with(buyer, buyer[:23]),
		"party too long":              with(buyer, buyer+"0"),
		"party in capitals":           with(buyer, "pty_BUYER000000000000000"),
		"party of another kind":       with("pty_", "org_"),
		"a folder below":              with(buyer, "x/"+buyer),
		"party with dots for letters": with(buyer, "pty_../../../../../../../"),
	}
	for name, jku := range tests {
		t.Run(name, func(t *testing.T) {
			if party, ok := trust.Party(jku); ok {
				t.Errorf("%q is the page of %s", jku, party)
			}
		})
	}
}

// FuzzTrust: the address that is accepted for a party is the one that PageURL makes.
func FuzzTrust(f *testing.F) {
	trust := Trust{Hosts: []string{testHost}}
	if _, ok := trust.Party(PageURL(testHost, buyer)); !ok {
		f.Fatal("the seed is not trusted")
	}
	f.Add(PageURL(testHost, buyer))
	f.Add(PageURL(testHost, seller) + "?")
	f.Add(PageURL(testHost+"@evil.test", buyer))
	f.Fuzz(func(t *testing.T, jku string) {
		if party, ok := trust.Party(jku); ok && jku != PageURL(testHost, party) {
			t.Errorf("%q is not the page of %s", jku, party)
		}
	})
}
