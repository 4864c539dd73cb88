package main

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const most = 262144

// readingRows are the file, its JSON and the record schema.
func readingRows(s *recordSuite) {
	const profile = `"profile":"agent-agreement/1"`
	s.rows("", quoted, []row{
		{"baseline-quote", "a quote that was accepted, signed by both sides and sealed by the accepter", nil, twoSigned},
		{"size-262144", "262 144 bytes, with white space (D47)", file(padTo(most)), twoSigned},
		{"size-262145", "a byte more (D47)", file(padTo(most + 1)), fails("size")},
		{"json-white-space", "any JSON form of the record will do (D47)", file(indented), twoSigned},
		{"json-order", "and any order of its members (D47)", file(func(text string) string {
			return "{" + profile + "," + strings.TrimPrefix(swap(","+profile, "")(text), "{")
		}), twoSigned},
		{"json-escapes", "and escapes where none are needed (D47)", file(swap(profile, `"pro\u0066ile":"agent-agreement\/1"`)), twoSigned},
		{"json-number-form", "and another form of a number (D37, D47)", file(swap(`"quantity":200`, `"quantity":2e2`)), twoSigned},
		{"json-member-twice", "a member twice, with the same value (D11)", file(swap(profile, profile+","+profile)), fails("json")},
		{"json-member-twice-inside", "a member of a party twice (D11)", file(swap(`"role":"offerer"`, `"role":"offerer","role":"offerer"`)), fails("json")},
		{"json-member-twice-unknown", "and in a member that nobody knows (D11)", file(swap(profile, profile+`,"x":{"a":1,"a":1}`)), fails("json")},
		{"json-byte-order-mark", "a byte-order mark (D11)", file(before("\ufeff")), fails("json")},
		{"json-behind", "a second object behind (D11)", file(behind("{}")), fails("json")},
		{"json-cut-off", "the last brace is missing", file(func(text string) string { return strings.TrimSuffix(text, "}") }), fails("json")},
		{"json-utf8", "a byte that is no UTF-8 (D11)", file(swap(`"org_name":"Buyer Co"`, "\"org_name\":\"Buyer\xff\"")), fails("json")},
		{"json-number-infinite", "a number that is no finite double (D11)", file(swap(profile, profile+`,"x":1e400`)), fails("json")},
		{"json-empty", "nothing", file(only("")), fails("json")},
		{"json-text", "a text that is no JSON", file(only("We agreed.")), fails("json")},
		{"json-depth-17", "17 levels (D11)", file(swap(profile, profile+`,"x":`+nested(16))), fails("json")},
		{"json-depth-16", "16 levels, sealed over", edits(func(r map[string]any) { r["x"] = jsontext.Value(nested(15)) }), twoSigned},
		{"unknown-members", "members that nobody knows, sealed over (D47)", edits(func(r map[string]any) {
			r["note"], r["parties"].([]any)[0].(map[string]any)["vat"], r["offer"].(map[string]any)["held"] = "x", "y", 1
		}), twoSigned},
		{"profile-next", "another version", edited("profile", "agent-agreement/2"), fails("profile")},
		{"profile-of-message", "the profile of messages", edited("profile", "agent-intents/1"), fails("profile")},
		{"profile-missing", "no profile", lacking("profile"), fails("profile")},
		{"profile-number", "a profile is a string", edited("profile", 1), fails("profile")},
		{"profile-of-list", "a record is an object", file(func(text string) string { return "[" + text + "]" }), fails("profile")},
		{"profile-of-string", "and no string", file(only(`"agent-agreement/1"`)), fails("profile")},
	})
	for _, member := range []string{"id", "thread", "kind", "parties", "offer", "acceptance", "terms", "agreed_at", "chain", "offer_current"} {
		s.rows("schema-", quoted, []row{{name(member, "missing"), member + " is required", lacking(member), fails("schema")}})
	}
	s.rows("schema-", quoted, schemaRowsOfRecord())
	s.rows("schema-reply-", repliedTo, []row{
		{"baseline", "a person's reply to a quote", nil, replied},
		{"missing", "their_reply without a reply (D50)", lacking("reply"), fails("schema")},
		{"hash-missing", "a reply without its hash", lacking("reply.hash"), fails("schema")},
		{"results-missing", "a reply without the receiving server's result", lacking("reply.auth_results"), fails("schema")},
		{"results-16384", "16 384 characters of results", edited("reply.auth_results", strings.Repeat("é", 16384)), replied},
		{"results-16385", "one more", edited("reply.auth_results", strings.Repeat("é", 16385)), fails("schema")},
		{"results-empty", "an empty one says that there was none", edited("reply.auth_results", ""), replied},
		{"results-null", "null is no result", edited("reply.auth_results", nil), fails("schema")},
		{"hash-short", "a hash of 63 digits", edited("reply.hash", strings.Repeat("a", 63)), fails("schema")},
		{"hash-capitals", "a hash in capitals", edited("reply.hash", strings.Repeat("A", 64)), fails("schema")},
		{"received-at-fraction", "times are whole seconds", edited("reply.received_at", start+hour+0.5), fails("schema")},
		{"received-at-text", "and numbers", edited("reply.received_at", "1793617200"), fails("schema")},
		{"received-at-missing", "a reply has its time", lacking("reply.received_at"), fails("schema")},
		{"unknown-member", "an unknown member of it is sealed and ignored (D47)", edited("reply.from", "x"), replied},
		{"received-at-zero", "a time before 1970", edited("reply.received_at", 0), fails("schema")},
		{"with-acceptance", "their_reply with an acceptance (D50)", edits(func(r map[string]any) { r["acceptance"] = r["offer"] }), fails("schema")},
	})
}

func schemaRowsOfRecord() []row {
	schema := fails("schema")
	return []row{
		{"seal-missing", "no seal (D50)", func(d *deal) { d.after = func(r map[string]any) { delete(r, "seal") } }, schema},
		{"seal-empty", "an empty seal", altered("seal", ""), schema},
		{"seal-null", "null is no seal", altered("seal", nil), schema},
		{"id-capitals", "a UUID is in lower case", edited("id", strings.ToUpper(uuid("capitals"))), schema},
		{"id-null", "null is no id", edited("id", nil), schema},
		{"thread-no-uuid", "a thread is a UUID", edited("thread", "thread-1"), schema},
		{"kind-null", "null is no kind", edited("kind", nil), schema},
		{"kind-list", "one kind, no list", edited("kind", []any{"two_signatures"}), schema},
		{"kind-capitals", "kinds have letter case", edited("kind", "Two_Signatures"), schema},
		{"parties-object", "parties are a list", edited("parties", map[string]any{}), schema},
		{"parties-null-inside", "of objects", edits(func(r map[string]any) { r["parties"].([]any)[1] = nil }), schema},
		{"role-missing", "each with its role", ofParty(1, "role", nil), schema},
		{"org-name-empty", "org_name has at least one character", ofParty(0, "org_name", ""), schema},
		{"address-control", "a control character in a local part (D9)", ofParty(0, "address", "agent\x11@seller.test"), schema},
		{"address-dot", "an address with a dot behind it (D9)", ofParty(0, "address", "agent@seller.test."), schema},
		{"party-form", "a party id of another form", ofParty(0, "party", "pty_seller"), schema},
		{"kid-number", "a kid is a string", ofParty(0, "kid", 5), schema},
		{"authority-level-64", "a level of 64 characters (D4)", ofParty(0, "authority", map[string]any{"decided_by": "owner", "level": strings.Repeat("l", 64)}), twoSigned},
		{"authority-level-65", "and of 65 (D4)", ofParty(0, "authority", map[string]any{"decided_by": "owner", "level": strings.Repeat("l", 65)}), schema},
		{"authority-version-negative", "a version from 0 on (D4)", ofParty(0, "authority", map[string]any{"decided_by": "owner", "limits_version": -1}), schema},
		{"authority-version-text", "or a text (D4)", ofParty(0, "authority", map[string]any{"decided_by": "owner", "limits_version": "7"}), twoSigned},
		{"offer-null", "null is no offer", edited("offer", nil), schema},
		{"offer-text", "nor is a token alone", edits(func(r map[string]any) { r["offer"] = r["offer"].(map[string]any)["jws"] }), schema},
		{"offer-no-hash", "an offer has its hash", lacking("offer.hash"), schema},
		{"acceptance-no-form", "an acceptance as neither token nor text", lacking("acceptance.jws"), schema},
		{"acceptance-no-hash", "and it has its hash", lacking("acceptance.hash"), schema},
		{"acceptance-two-forms", "in one form", edited("acceptance.canonical", "{}"), schema},
		{"reply-null", "null is a reply of no form", edited("reply", nil), schema},
		{"agreed-at-zero", "times are after the epoch", edited("agreed_at", 0), schema},
		{"agreed-at-null", "null is no time", edited("agreed_at", nil), schema},
		{"agreed-at-year-10000", "and none is after the year 9999", edited("agreed_at", 253402300800), schema},
		{"chain-text", "a chain is a list", edited("chain", strings.Repeat("0", 64)), schema},
		{"chain-capitals", "of hashes in lower case", edits(func(r map[string]any) {
			c := r["chain"].([]any)
			c[0] = strings.ToUpper(c[0].(string))
		}), schema},
		{"chain-null-inside", "and of nothing else", edits(func(r map[string]any) { r["chain"] = append([]any{nil}, r["chain"].([]any)...) }), schema},
		{"offer-current-null", "null is neither true nor false", edited("offer_current", nil), schema},
		{"offer-current-number", "nor is 1", edited("offer_current", 1), schema},
		{"terms-null", "null is no terms", edited("terms", nil), schema},
		{"terms-list", "nor is a list", edited("terms", []any{}), schema},
		{"terms-items-empty", "terms of a quote without an item", edited("terms.items", []any{}), schema},
		{"terms-amount-number", "an amount is a string (D7)", edited("terms.total", map[string]any{"amount": 5, "currency": "NGN"}), schema},
		{"seal-number", "a seal is a token", altered("seal", 5), schema},
		{"seal-object", "in its compact form", altered("seal", map[string]any{"payload": "x"}), schema},
		{"profile-capitals-member", "PROFILE beside profile is an unknown member (D47)", edited("PROFILE", "x"), twoSigned},
		{"kind-unknown", "a kind that nobody knows", edited("kind", "three_signatures"), schema},
		{"parties-one", "one party", edits(func(r map[string]any) { r["parties"] = r["parties"].([]any)[:1] }), schema},
		{"parties-three", "three parties", edits(func(r map[string]any) { p := r["parties"].([]any); r["parties"] = append(p, p[0]) }), schema},
		{"parties-one-role", "two offerers (D50)", ofParty(1, "role", "offerer"), schema},
		{"parties-swapped", "the accepter first (D52)", edits(func(r map[string]any) { p := r["parties"].([]any); p[0], p[1] = p[1], p[0] }), twoSigned},
		{"role-unknown", "a role that nobody knows", ofParty(1, "role", "witness"), schema},
		{"org-name-missing", "org_name is required", ofParty(0, "org_name", nil), schema},
		{"org-name-other", "org_name is what the side published (D52)", ofParty(0, "org_name", "Another Ltd"), twoSigned},
		{"org-name-200", "200 characters", ofParty(0, "org_name", strings.Repeat("é", 200)), twoSigned},
		{"org-name-201", "201 characters", ofParty(0, "org_name", strings.Repeat("é", 201)), schema},
		{"org-name-control", "a control character: it could move a terminal's cursor (D10)", ofParty(0, "org_name", "Seller\x1b[2J"), schema},
		{"authority", "authority is what the side published (D52)", ofParty(0, "authority", map[string]any{"decided_by": "owner"}), twoSigned},
		{"authority-unknown", "an authority of another form (D4)", ofParty(0, "authority", map[string]any{"decided_by": "nobody"}), schema},
		{"address-name", "an address with a display name (D9)", ofParty(0, "address", "Seller <agent@seller.test>"), schema},
		{"address-missing", "address is required", ofParty(0, "address", nil), schema},
		{"party-empty", "an empty party id", ofParty(0, "party", ""), schema},
		{"kid-64", "a kid of 64 characters is one that the message has not", ofParty(0, "kid", strings.Repeat("k", 64)), fails("binding")},
		{"kid-65", "and one of 65 none at all", ofParty(0, "kid", strings.Repeat("k", 65)), schema},
		{"offer-two-forms", "the offer as a token and as a text", edited("offer.canonical", "{}"), schema},
		{"offer-no-form", "the offer as neither", lacking("offer.jws"), schema},
		{"offer-hash-capitals", "a hash is in lower case", edits(func(r map[string]any) {
			put(r, "offer.hash", strings.ToUpper(r["offer"].(map[string]any)["hash"].(string)))
		}), schema},
		{"acceptance-null", "null is no acceptance", edited("acceptance", nil), schema},
		{"reply-besides", "a reply beside the acceptance (D50)", edited("reply", map[string]any{
			"hash": strings.Repeat("0", 64), "auth_results": "", "received_at": start,
		}), schema},
		{"agreed-at-fraction", "times are whole seconds", edited("agreed_at", start+0.5), schema},
		{"agreed-at-string", "and numbers", edited("agreed_at", "2026-11-02"), schema},
		{"chain-empty", "an empty chain (D50)", edited("chain", []any{}), schema},
		{"chain-no-hash", "an entry that is no hash", edits(func(r map[string]any) { r["chain"] = append([]any{"start"}, r["chain"].([]any)...) }), schema},
		{"offer-current-string", "offer_current is true or false", edited("offer_current", "true"), schema},
		{"terms-string", "terms are an object", edited("terms", "200 mugs"), schema},
		{"terms-no-total", "terms of a quote without a total", lacking("terms.total"), schema},
	}
}

func indented(text string) string {
	var v jsontext.Value
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	if err := v.Indent(); err != nil {
		panic(err)
	}
	return string(v) + "\n"
}
