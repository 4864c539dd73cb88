package main

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// jsonSuites are the JSON text of the machine part (D11, attacks A8). Nothing
// is signed and what is valid is acted on, so that only the text decides.
func jsonSuites() []*suite {
	s := newSuite("json", "The JSON text of the machine part: strict, or plain mail. Messages are unsigned, and allowed to be.")
	s.Inbox.Unsigned = "allow"
	s.singles(unsignedTimes, textRows())
	s.singles(unsignedTimes, valueRows())
	s.singles(unsignedAsk, quantityRows())
	return []*suite{s}
}

func unsignedTimes(t *story) *letter {
	l := t.times(t.buyer())
	unsigned(l)
	return l
}

var notJSON = plain("json")

func textRows() []single {
	const nonceName = `"nonce":`
	return []single{
		{"baseline", "the baseline of the cases beside it", nil, acted},
		{"white-space", "white space between members, and another order of them, is the same message", part(func(text string) string {
			return "\n\t{ \"type\" : \"propose_times\",\r\n" + strings.TrimPrefix(swap(`,"type":"propose_times"`, "")(text), "{") + "\n"
		}), acted},
		{"escaped-name", "a member name with an escape is that name", part(swap(nonceName, `"\u006eonce":`)), acted},
		{"member-twice", "a member twice: one reader takes the first, another the last (D11)", part(swap(nonceName, nonceName+`"AAAAAAAAAAAAAAAAAAAAAA",`+nonceName)), notJSON},
		{"member-twice-equal", "and with the same value (D11)", part(swap(`"type":"propose_times"`, `"type":"propose_times","type":"propose_times"`)), notJSON},
		{"member-twice-escaped", "and with its name escaped once (D11)", part(swap(nonceName, `"\u006eonce":"AAAAAAAAAAAAAAAAAAAAAA",`+nonceName)), notJSON},
		{"member-twice-inside", "and in an unknown member that would be dropped (D11)", part(swap(nonceName, `"x":{"a":1,"a":1},`+nonceName)), notJSON},
		{"member-other-case", "Nonce is an unknown member and dropped: encoding/json would take it for nonce", part(swap(nonceName, `"Nonce":"AAAAAAAAAAAAAAAAAAAAAA",`+nonceName)), acted},
		{"member-kelvin-sign", "U+212A is not k, whatever some tables of letter case say", part(swap(`"kind":`, `"\u212aind":"person","kind":`)), acted},
		{"utf8-invalid", "a byte that is no UTF-8 (D11)", part(swap("Tasting", "Tast\xffing")), notJSON},
		{"utf8-surrogate", "a surrogate encoded in UTF-8 (D11)", part(swap("Tasting", "Tast\xed\xa0\x80ing")), notJSON},
		{"utf8-overlong", "an overlong form (D11)", part(swap("Tasting", "Tast\xc0\xafing")), notJSON},
		{"lone-surrogate", "half of an escaped pair (D10)", part(swap("Tasting", `Tast\ud83d`)), notJSON},
		{"byte-order-mark", "a byte-order mark (D11)", part(before("\ufeff")), notJSON},
		{"text-before", "text before the object", part(before("json: ")), notJSON},
		{"text-behind", "text behind the object (D11)", part(behind(" end")), notJSON},
		{"second-object", "a second object (D11)", part(behind("{}")), notJSON},
		{"comment", "a comment", part(swap(nonceName, "/* n */"+nonceName)), notJSON},
		{"trailing-comma", "a comma behind the last member", part(func(text string) string { return strings.TrimSuffix(text, "}") + ",}" }), notJSON},
		{"nan", "NaN is no JSON", part(swap(nonceName, `"x":NaN,`+nonceName)), notJSON},
		{"leading-zero", "01 is no JSON", part(swap(nonceName, `"x":01,`+nonceName)), notJSON},
		{"raw-control", "a raw line end in a string", part(swap("Tasting", "Tast\ning")), notJSON},
		{"single-quotes", "single quotes", part(swap(`"Tasting"`, `'Tasting'`)), notJSON},
		{"cut-off", "the last brace is missing", part(func(text string) string { return strings.TrimSuffix(text, "}") }), notJSON},
		{"nul-behind", "a NUL behind the object", part(behind("\x00")), notJSON},
		{"empty", "an empty part", part(only("")), notJSON},
		{"depth-16", "nested 16 deep in an unknown member (D11)", part(swap(nonceName, `"x":`+nested(15)+","+nonceName)), acted},
		{"depth-17", "nested 17 deep (D11)", part(swap(nonceName, `"x":`+nested(16)+","+nonceName)), notJSON},
		{"depth-8000", "nested 8 000 deep (D11)", part(swap(nonceName, `"x":`+nested(8000)+","+nonceName)), notJSON},
		{"array-top", "an array is no message", part(func(text string) string { return "[" + text + "]" }), plain("none")},
		{"string-top", "nor is a string", part(only(`"agent-intents/1"`)), plain("none")},
		{"null-top", "nor null", part(only("null")), plain("none")},
		{"number-top", "nor a number", part(only("1")), plain("none")},
		{"profile-number", "profile is a string", part(swap(`"agent-intents/1"`, "1")), plain("none")},
		{"size-32768", "32 768 bytes", part(padTo(intent.MaxSize)), acted},
		{"size-32769", "32 769 bytes", part(padTo(intent.MaxSize + 1)), plain("size")},
		{"size-200-kb", "200 KiB", part(padTo(200 << 10)), plain("size")},
	}
}

func valueRows() []single {
	const quantity = `"iat":`
	number := func(text string) change { return part(swap(quantity, `"x":`+text+","+quantity)) }
	return []single{
		{"number-1e400", "no double is that large (D11)", number("1e400"), notJSON},
		{"number-minus-1e400", "nor that small (D11)", number("-1e400"), notJSON},
		{"number-1e308", "this one is", number("1e308"), acted},
		{"number-20-digits", "more digits than a double keeps, in a member that is dropped", number("12345678901234567890"), acted},
		{"iat-with-fraction-zero", "1.0 is 1: numbers are taken by value (D37)", part(numbered("iat", ".0")), acted},
		{"iat-with-exponent", "1e3 is 1000 (D37)", part(numbered("exp", "e0")), acted},
		{"iat-20-digits", "a time beyond the year 9999", part(numbered("exp", "0000000000")), plain("schema")},
		{"unknown-member", "an unknown member of an unsigned message is dropped (section 2)", part(swap(quantity, `"priority":"high",`+quantity)), acted},
		{"unknown-member-inside", "at every level", part(swap(`"address":"agent@seller.test"`, `"address":"agent@seller.test","phone":"1"`)), acted},
		{"member-of-another-type", "a member that only another type has is dropped too (D35)", part(swap(quantity, `"total":5,`+quantity)), acted},
		{"proto-member", "a name that some languages give a meaning to", part(swap(quantity, `"__proto__":{"profile":"x"},`+quantity)), acted},
	}
}

func unsignedAsk(t *story) *letter {
	l := t.ask(t.buyer())
	unsigned(l)
	return l
}

func quantityRows() []single {
	quantity := func(text string) change { return part(swap(`"quantity":200`, `"quantity":`+text)) }
	return []single{
		{"quantity-exponent", "2e2 is 200 (D37)", quantity("2e2"), acted},
		{"quantity-zeros", "200.0000000 is 200: places are counted by value (D37)", quantity("200.0000000"), acted},
		{"quantity-minus-zero", "-0 is not more than 0 (D8)", quantity("-0"), plain("schema")},
		{"quantity-underflow", "1e-400 is a double, and it is 0 (D8)", quantity("1e-400"), plain("schema")},
		{"quantity-1e400", "1e400 is none (D11)", quantity("1e400"), notJSON},
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// padTo makes the text n bytes long with spaces, which are part of its length.
func padTo(n int) func(string) string {
	return func(text string) string { return text + strings.Repeat(" ", n-len(text)) }
}

// numbered puts a suffix behind the number of a member.
func numbered(member, suffix string) func(string) string {
	return func(text string) string {
		head, tail, _ := strings.Cut(text, `"`+member+`":`)
		end := strings.IndexAny(tail, ",}")
		return head + `"` + member + `":` + tail[:end] + suffix + tail[end:]
	}
}
