package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// change replaces one piece of the valid document, which must be there once.
func change(t *testing.T, old, replacement string) string {
	t.Helper()
	if strings.Count(valid, old) != 1 {
		t.Fatalf("%q stands %d times in the valid document", old, strings.Count(valid, old))
	}
	return strings.Replace(valid, old, replacement, 1)
}

func TestMistakes(t *testing.T) {
	dir := folder(t)
	for _, tt := range []struct {
		name, old, replacement string
		want                   string // lines as "line: key: text"; FOLDER is the folder
	}{
		{"unknown key", `org_name =`, `org_nam =`, "9: inbox.org_name: must be set: Organisation the agent acts for, 1 to 200 characters; stands in every message.\n" +
			"12: inbox.org_nam: unknown key (did you mean org_name?)"},
		{"unknown password", `password_file = "password"`, "password_file = \"password\"\npassword = \"hunter2\"", "22: inbox.imap.password: unknown key (did you mean password_file?)"},
		{"unknown far", `level = "warn"`, "colour = true", "3: log.colour: unknown key: it is not read in this table: remove it, or put it above the first table if it belongs to none"},
		{"unknown very long", `level = "warn"`, strings.Repeat("a", 99) + " = 1", "3: log." + strings.Repeat("a", 99) + ": unknown key: it is not read in this table: remove it, or put it above the first table if it belongs to none"},
		{"unknown table", `[log]`, "[http]\n[log]", "2: http: unknown key: it is not read in this table: remove it, or put it above the first table if it belongs to none"},
		{"unknown dotted", `[log]`, "x.y = 1\n[log]", "2: x: unknown key: it is not read in this table: remove it, or put it above the first table if it belongs to none"},
		{"unknown with line end", `level = "warn"`, `"a\nb" = 1`, `3: log."a\nb": unknown key: it is not read in this table: remove it, or put it above the first table if it belongs to none`},
		{"unknown in inline table", "[inbox.auth]\nalignment = \"strict\"", `auth = { mode = "verify", aligment = "x" }`, "17: inbox.auth.aligment: unknown key (did you mean alignment?)"},
		{"syntax", `level = "warn"`, `level = warn`, "3: log.level: unexpected character U+0077 'w' at start of value: put text in quotes"},
		{"number too large", `port = 25`, `port = 99999999999999999999`, "24: inbox.smtp.port: decimal number is too large to fit in a 64-bit signed integer"},
		{"twice", `level = "warn"`, "level = \"warn\"\nlevel = \"info\"", "4: level: key level is already defined"},
		{"twice with line end", `level = "warn"`, `"a\nb" = 1` + "\n" + `"a\nb" = 2`, `4: "a\nb": key a b is already defined`},
		{"state_dir", `"state"`, `"/` + strings.Repeat("x", 87) + `"`, "1: state_dir: must be shorter by 1 bytes: /" + strings.Repeat("x", 87) + "/agentmaild.sock is too long for a socket"},
		{"string type", `"Seller Ltd"`, "1", "12: inbox.org_name: must be a string in quotes, is a whole number"},
		{"number type", `port = 25`, `port = "25"`, "24: inbox.smtp.port: must be a whole number without quotes, is a string"},
		{"number fraction", `port = 25`, `port = 25.0`, "24: inbox.smtp.port: must be a whole number without quotes, is a fraction"},
		{"bool type", `hosts = ["keys.example"]`, "hosts = [\"keys.example\"]\nallow_private = 1979-05-27", "8: trust.allow_private: must be true or false, is a date or time"},
		{"list type", `["keys.example"]`, `"keys.example"`, `7: trust.hosts: must be a list of strings, as ["a", "b"], is a string`},
		{"list of other", `["keys.example"]`, `["keys.example", false]`, `7: trust.hosts: must be a list of strings, as ["a", "b"], is true or false among them`},
		{"table type", "[log]\nlevel = \"warn\"", "log = []", "2: log: must be a table, is a list: write [log]"},
		{"auth type", "[inbox.auth]\nalignment = \"strict\"", "auth = true", "17: inbox.auth: must be a table, is true or false: write [inbox.auth]"},
		{"inbox one table", "[[inbox]]", "[inbox]", "9: inbox: must be one or more tables, is a table: write [[inbox]]"},
		{"port 0", `port = 25`, `port = 0`, "24: inbox.smtp.port: must be 1 to 65535, is 0"},
		{"port large", `port = 25`, `port = 65536`, "24: inbox.smtp.port: must be 1 to 65535, is 65536"},
		{"enum", `"strict"`, `"loose"`, `18: inbox.auth.alignment: must be one of relaxed, strict, is "loose"`},
		{"duration unit", `[trust]`, "timeout = \"5\"\n[trust]", `6: dns.timeout: must be a duration, as "30s" or "5m", is "5"`},
		{"duration type", `[trust]`, "timeout = 5\n[trust]", `6: dns.timeout: must be a duration in quotes, as "30s" or "5m", is a whole number`},
		{"duration short", `[trust]`, "timeout = \"0s\"\n[trust]", `6: dns.timeout: must be 100ms to 1m, is "0s"`},
		{"duration negative", `[inbox.smtp]`, "poll = \"-1m\"\n[inbox.smtp]", `22: inbox.imap.poll: must be 1s to 1h, is "-1m"`},
		{"duration long", `[inbox.smtp]`, "idle_refresh = \"30m\"\n[inbox.smtp]", `22: inbox.imap.idle_refresh: must be 1s to 25m, is "30m"`},
		{"missing table", "[inbox.smtp]\nhost = \"127.0.0.1\"\nport = 25\ntls = \"none\"\n", "", "9: inbox.smtp: must be set: write [inbox.smtp]"},
		{"missing key", `host = "imap.seller.example"`, "", "19: inbox.imap.host: must be set: Server, a name that its certificate carries or an IP address."},
		{"empty key", `"Sales agent"`, `""`, "14: inbox.agent_name: must not be empty: Name of the agent, 1 to 200 characters; stands in every message."},
		{"dns server", `"192.0.2.1:53"`, `"192.0.2.1"`, `5: dns.servers: must be host:port, as 192.0.2.1:53, is "192.0.2.1"`},
		{"dns port", `"192.0.2.1:53"`, `"192.0.2.1:0"`, `5: dns.servers: must be host:port, as 192.0.2.1:53, is "192.0.2.1:0"`},
		{"dns host", `"192.0.2.1:53"`, `":53"`, `5: dns.servers: must be host:port, as 192.0.2.1:53, is ":53"`},
		{"dns both", `["192.0.2.1:53", "[2001:db8::1]:53"]`, `["a", "b"]`, "5: dns.servers: must be host:port, as 192.0.2.1:53, is \"a\"\n5: dns.servers: must be host:port, as 192.0.2.1:53, is \"b\""},
		{"key host url", `"keys.example"`, `"https://keys.example"`, `7: trust.hosts: must be a host name in lower case without https://, port and path, is "https://keys.example"`},
		{"key host port", `"keys.example"`, `"keys.example:443"`, `7: trust.hosts: must be a host name in lower case without https://, port and path, is "keys.example:443"`},
		{"key host case", `"keys.example"`, `"Keys.example"`, `7: trust.hosts: must be a host name in lower case without https://, port and path, is "Keys.example"`},
		{"key host ip", `"keys.example"`, `"192.0.2.1"`, `7: trust.hosts: must be a host name in lower case without https://, port and path, is "192.0.2.1"`},
		{"own key host", `party =`, "key_host = \"user@keys.example\"\nparty =", `15: inbox.key_host: must be a host name in lower case without https://, port and path, is "user@keys.example"`},
		{"no key host", `["keys.example"]`, "[]", "9: inbox.key_host: must be set where party is and trust.hosts is empty"},
		{"party", `"pty_0123456789abcdefghij"`, `"pty_0123456789ABCDEFGHIJ"`, `15: inbox.party: must be pty_ and 20 of a-z and 0-9, is "pty_0123456789ABCDEFGHIJ"`},
		{"inbox name", `"sales"`, `"../sales"`, `10: inbox.name: must be a-z, 0-9 and hyphens, at most 63 and no hyphen first, is "../sales"`},
		{"address", `"agent@SELLER.example"`, `"agent"`, `11: inbox.address: must be an address such as agent@seller.example, is "agent": not a plain email address: no @`},
		{"contact", `"owner@seller.example"`, `"o <o@x.example>"`, `13: inbox.contact: must be an address such as agent@seller.example, is "o <o@x.example>": not a plain email address: local part is no ASCII dot-atom of at most 64 bytes`},
		{"header in name", `"Seller Ltd"`, `"Seller\r\nBcc: x@y"`, "12: inbox.org_name: must be at most 200 characters without control characters"},
		{"long name", `"Sales agent"`, `"` + strings.Repeat("ä", 201) + `"`, "14: inbox.agent_name: must be at most 200 characters without control characters"},
		{"authserv_id missing", `alignment = "strict"`, `mode = "authres"`, `17: inbox.auth.authserv_id: must be set in mode "authres"; if the provider writes none, as Microsoft 365, set mode = "verify"`},
		{"authserv_id", `alignment = "strict"`, `authserv_id = "mx.example; dkim=pass"`, `18: inbox.auth.authserv_id: must be the first word of the provider's Authentication-Results, is "mx.example; dkim=pass"`},
		{"host with port", `"imap.seller.example"`, `"imap.seller.example:993"`, `20: inbox.imap.host: must be a host name or an IP address without scheme and port, is "imap.seller.example:993"`},
		{"no tls", `"127.0.0.1"`, `"192.0.2.1"`, `25: inbox.smtp.tls: "none" is for loopback hosts only: set "tls" or "starttls"`},
		{"no tls by name", `"127.0.0.1"`, `"localhost.example"`, `25: inbox.smtp.tls: "none" is for loopback hosts only: set "tls" or "starttls"`},
		{"starttls port", `[inbox.smtp]`, "tls = \"starttls\"\n[inbox.smtp]", `19: inbox.imap.port: is one for tls = "tls": with "starttls" it is usually 143 for imap, 587 for smtp`},
		{"user", `[inbox.smtp]`, "user = \"a\\r\\nA LOGOUT\"\n[inbox.smtp]", "22: inbox.imap.user: must be at most 200 characters without control characters"},
		{"folder", `[inbox.smtp]`, "folder = \"a\\nb\"\n[inbox.smtp]", "22: inbox.imap.folder: must be at most 200 characters without control characters"},
		{"no password", `password_file = "password"`, "", "19: inbox.imap.password_file: must be set, or password_env or password_command"},
		{"two passwords", `password_file = "password"`, "password_file = \"password\"\npassword_env = \"PATH\"\npassword_command = [\"sh\"]", "22: inbox.imap.password_env: only one of password_file and password_env and password_command may be set"},
		{"user without password", `port = 25`, "user = \"other\"", "22: inbox.smtp.password_file: must be set, or password_env or password_command"},
		{"password file missing", `"password"`, `"hunter2"`, "21: inbox.imap.password_file: cannot be read: no such file or directory; it must be a file of mode 0600"},
		{"password file open", `"password"`, `"open"`, "21: inbox.imap.password_file: FOLDER/open has mode 0640 and is open to other users: chmod 600 FOLDER/open"},
		{"password file empty", `"password"`, `"empty"`, "21: inbox.imap.password_file: FOLDER/empty is empty: write the secret into it"},
		{"password folder", `"password"`, `"."`, "21: inbox.imap.password_file: must be a regular file"},
		{"password_env", `password_file = "password"`, `password_env = "hunter2"`, "21: inbox.imap.password_env: names an environment variable that is not set"},
		{"password_command", `password_file = "password"`, `password_command = ["hunter2"]`, "21: inbox.imap.password_command: the program cannot be run: executable file not found in $PATH; give the full path of an executable file"},
		{"handler empty", `"./run.sh"`, `""`, "16: inbox.handler: the program is empty: name it first, then its arguments, or leave the key out"},
		{"handler missing", `"./run.sh"`, `"./none.sh"`, "16: inbox.handler: the program cannot be run: no such file or directory; give the full path of an executable file"},
		{"handler mode", `"./run.sh"`, `"./text"`, "16: inbox.handler: the program cannot be run: permission denied; give the full path of an executable file"},
		{"key file missing", `"dkim.pem"`, `"none.pem"`, "29: inbox.dkim.key_file: cannot be read: no such file or directory; it must be a file of mode 0600"},
		{"key file open", `"dkim.pem"`, `"open"`, "29: inbox.dkim.key_file: FOLDER/open has mode 0640 and is open to other users: chmod 600 FOLDER/open"},
		{"ca file missing", `"ca.pem"`, `"none.pem"`, "8: trust.ca_file: cannot be read: no such file or directory; it must be a PEM file"},
		{"byte order mark", "state_dir = \"state\"", "\ufeffstate_dir = \"state\"", "1: : begins with a byte order mark: save it as UTF-8 without one"},
		{"UTF-16", "state_dir = \"state\"", "\xff\xfes\x00", "1: : begins with a byte order mark: save it as UTF-8 without one"},
		{"price list missing", `handler =`, "price_list = \"none.toml\"\nhandler =", "16: inbox.price_list: cannot be read: no such file or directory; it must be a price list, as docs/pricelist.md has it"},
		{"price list a folder", `handler =`, "price_list = \".\"\nhandler =", "16: inbox.price_list: cannot be read: it is no regular file; it must be a price list, as docs/pricelist.md has it"},
		{"calendar missing", `[inbox.imap]`, "[inbox.limits.times]\ncalendar = \"none.ics\"\n[inbox.imap]", "20: inbox.limits.times.calendar: cannot be read: no such file or directory; it must be an iCalendar file"},
		{"ca file of something", `"ca.pem"`, `"text"`, "8: trust.ca_file: holds no certificate in PEM form"},
		{"ca file that never ends", `"ca.pem"`, `"/dev/zero"`, "8: trust.ca_file: cannot be read: it is no regular file; it must be a PEM file"},
		{"dkim domain", `"Seller.example"`, `"seller.example."`, `27: inbox.dkim.domain: must be a domain, is "seller.example."`},
		{"dkim stranger", `"Seller.example"`, `"ller.example"`, `27: inbox.dkim.domain: must be seller.example, or a domain above or below it, is "ller.example"`},
		{"dkim selector", `"agent"`, `"a b"`, `28: inbox.dkim.selector: must be of letters, digits, hyphens and dots, is "a b"`},
		{"public port", `[trust]`, "[public]\nlisten = \"127.0.0.1\"\n[trust]", `7: public.listen: must be host:port or :port, as 127.0.0.1:8080, is "127.0.0.1"`},
		{"public port large", `[trust]`, "[public]\nlisten = \":65536\"\n[trust]", `7: public.listen: must be host:port or :port, as 127.0.0.1:8080, is ":65536"`},
		{"public host", `[trust]`, "[public]\nlisten = \"a b:80\"\n[trust]", `7: public.listen: must be host:port or :port, as 127.0.0.1:8080, is "a b:80"`},
		{"metrics port", `[trust]`, "[metrics]\nlisten = \"127.0.0.1\"\n[trust]", `7: metrics.listen: must be host:port or :port, as 127.0.0.1:8080, is "127.0.0.1"`},
		{"metrics for all", `[trust]`, "[metrics]\nlisten = \":9464\"\n[trust]", `7: metrics.listen: must be on a loopback address, as 127.0.0.1:9464, or metrics.allow_remote be true, is ":9464"`},
		{"notify", `org_name = "Seller Ltd"`, "org_name = \"Seller Ltd\"\nnotify = \"agent@Seller.example\"", "13: inbox.notify: must be the address of a person, is that of the inbox in line 11"},
		{"notify nobody", `org_name = "Seller Ltd"`, "org_name = \"Seller Ltd\"\nnotify = \"boss\"", `13: inbox.notify: must be an address such as agent@seller.example, is "boss": not a plain email address: no @`},
		{
			"limits", `[inbox.imap]`, "[inbox.limits]\ntime_zone = \"Mars\"\n[[inbox.limits.money]]\ncurrency = \"EUR\"\ndeal = \"5\"\n[[inbox.limits.money]]\ncurrency = \"EUR\"\ndeal = \"x\"\n[inbox.imap]",
			`20: inbox.limits.time_zone: must be a zone of the tz database, as Europe/Berlin, is "Mars"` + "\n" +
				`25: inbox.limits.money.currency: must be an ISO 4217 code that no other table has, is "EUR"`,
		},
		{
			"limits of a price", `[inbox.imap]`, "[inbox.limits.quote]\n[[inbox.limits.quote.lowest]]\nname = \"mug\"\nprice = \"1\"\n[inbox.imap]",
			`22: inbox.limits.quote.lowest.price: must be an amount, as 250.00 EUR, is "1"`,
		},
		{"limits without a table", `[inbox.imap]`, "[inbox.limits]\nmoney = []\n[inbox.imap]", "20: inbox.limits.money: must be one or more tables, is a list: write [[inbox.limits.money]]"},
		{"webhook in clear", `[inbox.imap]`, "[[inbox.webhook]]\nurl = \"http://shop.test/hook\"\nsecret_file = \"password\"\n[inbox.imap]", "20: inbox.webhook.url: must be an https address, or http on a loopback host"},
		{"webhook with a password", `[inbox.imap]`, "[[inbox.webhook]]\nurl = \"https://a:b@shop.test\"\nsecret_file = \"password\"\n[inbox.imap]", "20: inbox.webhook.url: must have no user, password or #: what is told is signed"},
		{"API for all", `[trust]`, "[api]\nlisten = \":8465\"\n[trust]", `7: api.listen: must be on a loopback address, as 127.0.0.1:8465, or api.allow_remote be true, is ":8465"`},
		{"API host", `[trust]`, "[api]\nhosts = [\"https://a.test\"]\n[trust]", `7: api.hosts: must be a host name without scheme and port, as agent.example.com, is "https://a.test"`},
		{"metrics elsewhere", `[trust]`, "[metrics]\nlisten = \"192.0.2.1:9464\"\n[trust]", `7: metrics.listen: must be on a loopback address, as 127.0.0.1:9464, or metrics.allow_remote be true, is "192.0.2.1:9464"`},
		{"public certificate alone", `[trust]`, "[public]\nlisten = \":443\"\ncert_file = \"ca.pem\"\n[trust]", "6: public.key_file: must be set where public.cert_file is"},
		{"public key alone", `[trust]`, "[public]\nlisten = \":443\"\nkey_file = \"dkim.pem\"\n[trust]", "6: public.cert_file: must be set where public.key_file is"},
		{"public key open", `[trust]`, "[public]\nlisten = \":443\"\ncert_file = \"ca.pem\"\nkey_file = \"open\"\n[trust]", "9: public.key_file: FOLDER/open has mode 0640 and is open to other users: chmod 600 FOLDER/open"},
		{"public not listening", `[trust]`, "[public]\ncert_file = \"ca.pem\"\nkey_file = \"dkim.pem\"\n[trust]", "6: public.listen: must be set where public.cert_file is"},
		{"agentless sealing key", `handler =`, "sealing_key = \"open\"\nhandler =", `16: inbox.sealing_key: needs agent_key: make one with "agentmaild keys new --agent FILE"`},
		{"agentless sealing", `handler =`, "sealing = \"required\"\nhandler =", `16: inbox.sealing: needs agent_key: make one with "agentmaild keys new --agent FILE"`},
		{"agentless offerings", `handler =`, "offerings = [\"x\"]\nhandler =", `16: inbox.offerings: needs agent_key: make one with "agentmaild keys new --agent FILE"`},
		{"agentless describe", `handler =`, "describe = \"x\"\nhandler =", `16: inbox.describe: needs agent_key: make one with "agentmaild keys new --agent FILE"`},
		{"agentless bridge", `handler =`, "bridge = true\nhandler =", `16: inbox.bridge: needs agent_key: make one with "agentmaild keys new --agent FILE"`},
		{"agent key missing", `handler =`, "agent_key = \"none\"\nhandler =", "16: inbox.agent_key: cannot be read: no such file or directory; it must be a file of mode 0600"},
		{"agent key open", `handler =`, "agent_key = \"open\"\nhandler =", "16: inbox.agent_key: FOLDER/open has mode 0640 and is open to other users: chmod 600 FOLDER/open"},
		{"agent key of something", `handler =`, "agent_key = \"sealing.key\"\nhandler =", `16: inbox.agent_key: loading the key in FOLDER/sealing.key: not the seed of an agent: a NATS user seed begins with SU and has 58 characters: make one with "agentmaild keys new --agent FILE"`},
		{"sealing key of something", `handler =`, "agent_key = \"agent.seed\"\nsealing_key = \"agent.seed\"\nhandler =", `17: inbox.sealing_key: loading the key in FOLDER/agent.seed: not an X25519 key: 43 characters of unpadded base64url: make one with "agentmaild keys new --sealing FILE"`},
		{"sealing without key", `handler =`, "agent_key = \"agent.seed\"\nsealing = \"required\"\nhandler =", `17: inbox.sealing: "required" needs sealing_key: make one with "agentmaild keys new --sealing FILE"`},
		{"sealing", `handler =`, "sealing = \"always\"\nhandler =", `16: inbox.sealing: must be one of preferred, required, is "always"`},
		{"offering of all", `handler =`, "agent_key = \"agent.seed\"\nofferings = [\"x\", \"knock\"]\nhandler =", `17: inbox.offerings: must be one of your own: every agent has chat, describe, knock and task.cancel, is "knock"`},
		{"offering empty", `handler =`, "agent_key = \"agent.seed\"\nofferings = [\"\"]\nhandler =", `17: inbox.offerings: must be 1 to 256 bytes without control characters, is ""`},
		{"offering twice", `handler =`, "agent_key = \"agent.seed\"\nofferings = [\"x\", \"x\"]\nhandler =", `17: inbox.offerings: "x" stands there twice`},
		{"describe missing", `handler =`, "agent_key = \"agent.seed\"\ndescribe = \"none\"\nhandler =", "17: inbox.describe: cannot be used: no such file or directory; it must be a file with one JSON object"},
		{"describe of a list", `handler =`, "agent_key = \"agent.seed\"\ndescribe = \"list.json\"\nhandler =", "17: inbox.describe: cannot be used: it holds something else; it must be a file with one JSON object"},
		{
			"several, by line", "port = 25\ntls = \"none\"\n[inbox.dkim]", "tls = \"no\"\n[inbox.dkim]\nhash = 1",
			"24: inbox.smtp.tls: must be one of tls, starttls, none, is \"no\"\n26: inbox.dkim.hash: unknown key: it is not read in this table: remove it, or put it above the first table if it belongs to none",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, dir, change(t, tt.old, tt.replacement))
			compare(t, err, strings.ReplaceAll(tt.want, "FOLDER", dir))
		})
	}
}

// compare asserts the joined errors, their fields and how they are written.
func compare(t *testing.T, err error, want string) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("no joined errors but %v", err)
	}
	var got, written []string
	for _, each := range joined.Unwrap() {
		e := each.(*Error)
		got = append(got, fmt.Sprintf("%d: %s: %s", e.Line, e.Key, e.Text))
		line := e.File + ":" + strconv.Itoa(e.Line) + ": "
		if e.Key != "" {
			line += e.Key + ": "
		}
		written = append(written, line+e.Text)
		if filepath.Base(e.File) != "agentmaild.toml" {
			t.Errorf("file is %q", e.File)
		}
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(strings.Join(written, "\n"), err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesBetweenInboxes(t *testing.T) {
	dir := folder(t)
	for _, tt := range []struct{ name, old, replacement, want string }{
		{"name", `"buying"`, `"sales"`, `31: inbox.name: "sales" is taken by the inbox in line 10: each needs its own`},
		{"address", `"buyer@seller.example"`, `"agent@seller.EXAMPLE"`, `32: inbox.address: "agent@seller.example" is taken by the inbox in line 11: each needs its own`},
		{"inline table", `port = 143`, `port = 99999`, "42: inbox.imap.port: must be 1 to 65535, is 99999"},
		{"dkim type", `imap =`, "dkim = true\nimap =", "42: inbox.dkim: must be a table, is true or false: write [inbox.dkim]"},
		{"command", `password_env = "AGENTMAILD_TEST_PASSWORD"`, `password_command = [""]`, "46: inbox.smtp.password_command: the program is empty: name it first, then its arguments, or leave the key out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, dir, valid+strings.Replace(second, tt.old, tt.replacement, 1))
			compare(t, err, tt.want)
		})
	}
}

func TestNoInbox(t *testing.T) {
	dir := folder(t)
	for document, want := range map[string]string{
		"":                          "1: inbox: must be set: write [[inbox]]",
		"\ninbox = []":              "2: inbox: must be one or more tables, is a list: write [[inbox]]",
		"inbox = [1]":               "1: inbox: must be a table, is a whole number: write [inbox]",
		"inbox.a.b.c.d.e.f.g.h = 1": "1: inbox: must be one or more tables, is a table: write [[inbox]]",
	} {
		_, err := load(t, dir, document)
		compare(t, err, want)
	}
}
