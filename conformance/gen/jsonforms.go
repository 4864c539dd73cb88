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
		{"lone-low-surrogate", "the other half (D10)", part(swap("Tasting", `Tast\udca9`)), notJSON},
		{"surrogates-swapped", "both halves in the wrong order (D10)", part(swap("Tasting", `Tast\udca9\ud83d`)), notJSON},
		{"surrogate-in-name", "half a pair in the name of an unknown member (D10)", part(swap(nonceName, `"\ud800":1,`+nonceName)), notJSON},
		{"surrogate-pair", "both halves, escaped, are one character", part(swap("Tasting", `Tast\ud83d\udca9`)), acted},
		{"utf8-beyond-unicode", "a character beyond U+10FFFF (D11)", part(swap("Tasting", "Tast\xf4\x90\x80\x80ing")), notJSON},
		{"utf8-cut", "a character that is cut off (D11)", part(swap("Tasting", "Tast\xe2\x82")), notJSON},
		{"utf8-in-unknown", "a byte that is no UTF-8 in a member that would be dropped (D11)", part(swap(nonceName, "\"x\":\"\xff\","+nonceName)), notJSON},
		{"noncharacter", "a noncharacter, escaped, is a character like others", part(swap("Tasting", `Tast\uffff`)), acted},
		{"escaped-nul", "an escaped NUL is JSON, and a control character (D10)", part(swap("Tasting", `Tast\u0000ing`)), plain("schema")},
		{"escaped-slash", "an escaped slash is a slash", part(swap(`"https://schema.org"`, `"https:\/\/schema.org"`)), acted},
		{"escape-unknown", "an escape that JSON has not", part(swap("Tasting", `Tast\x41`)), notJSON},
		{"escape-cut", "an escape of three digits", part(swap("Tasting", `Tast\u00e`)), notJSON},
		{"raw-tab", "a raw tab in a string", part(swap("Tasting", "Tast\ting")), notJSON},
		{"raw-nul", "a raw NUL in a string", part(swap("Tasting", "Tast\x00ing")), notJSON},
		{"raw-del", "U+007F may stand raw in JSON, and is a control character (D37)", part(swap("Tasting", "Tast\x7fing")), plain("schema")},
		{"member-twice-at-the-top", "profile twice: of this version first (D11)", part(swap(`"profile":"agent-intents/1"`, `"profile":"agent-intents/1","profile":"agent-intents/2"`)), notJSON},
		{"member-twice-in-list", "twice in an object of a list (D11)", part(func(text string) string {
			return strings.Replace(text, `"time_zone":`, `"time_zone":"UTC","time_zone":`, 1)
		}), notJSON},
		{"member-twice-composed", "one name in two normal forms is two names", part(swap(nonceName, `"\u00e9":1,"e\u0301":2,`+nonceName)), acted},
		{"byte-order-mark-behind", "a byte-order mark behind the object (D11)", part(behind("\ufeff")), notJSON},
		{"byte-order-mark-utf-16", "that of UTF-16 (D11)", part(before("\xff\xfe")), notJSON},
		{"white-space-other", "a space that is none of JSON's", part(behind("\u00a0")), notJSON},
		{"form-feed-behind", "nor is a form feed one", part(behind("\f")), notJSON},
		{"comma-twice", "two commas", part(swap(","+nonceName, ",,"+nonceName)), notJSON},
		{"colon-missing", "a member without its colon", part(swap(nonceName, `"nonce"`)), notJSON},
		{"name-bare", "a name without quotes", part(swap(nonceName, `nonce:`)), notJSON},
		{"infinity", "Infinity is no JSON", part(swap(nonceName, `"x":Infinity,`+nonceName)), notJSON},
		{"true-capitals", "True is no JSON", part(swap(nonceName, `"x":True,`+nonceName)), notJSON},
		{"plus-sign", "+1 is no JSON", part(swap(nonceName, `"x":+1,`+nonceName)), notJSON},
		{"point-last", "1. is no JSON", part(swap(nonceName, `"x":1.,`+nonceName)), notJSON},
		{"point-first", ".5 is no JSON", part(swap(nonceName, `"x":.5,`+nonceName)), notJSON},
		{"hexadecimal", "0x1 is no JSON", part(swap(nonceName, `"x":0x1,`+nonceName)), notJSON},
		{"only-white-space", "white space and no object", part(only(" \n ")), notJSON},
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
		{"depth-16-objects", "16 deep in objects (D11)", part(swap(nonceName, `"x":`+strings.Repeat(`{"x":`, 15)+"1"+strings.Repeat("}", 15)+","+nonceName)), acted},
		{"depth-17-objects", "and 17 (D11)", part(swap(nonceName, `"x":`+strings.Repeat(`{"x":`, 16)+"1"+strings.Repeat("}", 16)+","+nonceName)), notJSON},
		{"depth-in-string", "brackets in a string nest nothing", part(swap("Tasting", strings.Repeat("[{", 200))), acted},
		{"depth-of-lists-beside", "lists beside each other nest nothing", part(swap(nonceName, `"x":[`+strings.Repeat("[],", 200)+"[]],"+nonceName)), acted},
		{"true-top", "true is no message", part(only("true")), plain("none")},
		{"object-empty", "an empty object is of no profile", part(only("{}")), plain("none")},
		{"profile-null", "null is no profile", part(swap(`"agent-intents/1"`, "null")), plain("none")},
		{"profile-list", "nor is a list", part(swap(`"agent-intents/1"`, `["agent-intents/1"]`)), plain("none")},
		{"profile-capitals", "profiles have letter case", part(swap(`"agent-intents/1"`, `"Agent-Intents/1"`)), plain("none")},
		{"profile-longer", "and no more behind them", part(swap(`"agent-intents/1"`, `"agent-intents/1.0"`)), plain("none")},
		{"profile-escaped", "an escaped profile is that profile", part(swap(`"agent-intents/1"`, `"agent-intents\/1"`)), acted},
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
		{"number-1e309", "a little beyond the largest double (D11)", number("1e309"), notJSON},
		{"number-largest", "the largest double", number("1.7976931348623157e308"), acted},
		{"number-just-beyond", "what would round to more than it (D11)", number("1.7976931348623159e308"), notJSON},
		{"number-400-digits", "and so many digits without an exponent (D11)", number(strings.Repeat("9", 400)), notJSON},
		{"number-1e-400", "a number that is 0 as a double", number("1e-400"), acted},
		{"number-minus-zero", "-0", number("-0"), acted},
		{"number-in-list", "a number that is none, deep in what is dropped (D11)", number(`[{"a":[1e999]}]`), notJSON},
		{"iat-exponent-negative", "17936136600e-1 is a whole second (D37)", part(numbered("iat", "0e-1")), acted},
		{"exp-e2", "an exponent that makes a whole number of a fraction (D37)", part(numbered("exp", ".5e1")), acted},
		{"exp-e2-fraction", "and one that does not (D37)", part(numbered("exp", ".55e1")), plain("schema")},
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
		{"quantity-exponent-negative", "200000000e-6 is 200 (D37)", quantity("200000000e-6"), acted},
		{"quantity-exponent-capital", "2E+2 is 200 (D37)", quantity("2E+2"), acted},
		{"quantity-1e9", "1e9 (D8)", quantity("1e9"), acted},
		{"quantity-1e-6", "1e-6 (D8)", quantity("1e-6"), acted},
		{"quantity-1e-7", "1e-7 (D8)", quantity("1e-7"), plain("schema")},
		{"quantity-minus", "-200 (D8)", quantity("-200"), plain("schema")},
		{"quantity-1e10", "1e10 (D8)", quantity("1e10"), plain("schema")},
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
