package canon_test

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/google/go-cmp/cmp"
)

const depth = 16

func TestStrictCanonicalForm(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"RFC 8785 §3.2.2, strings, numbers and literals": {
			`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],` +
				` "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		"RFC 8785 §3.2.3, names in the order of UTF-16 units": {
			`{"\u20ac":3,"\r":0,"\ufb33":5,"1":1,"\ud83d\ude00":4,"\u0080":2,"\u00f6":2.5}`,
			"{\"\\r\":0,\"1\":1,\"\u0080\":2,\"\u00f6\":2.5,\"\u20ac\":3,\"\U0001f600\":4,\"\ufb33\":5}",
		},
		"no escape for HTML or line separators": {`"\u003c\u003e\u0026\u2028\u2029\u007f"`, "\"<>&\u2028\u2029\u007f\""},
		"no normalization":                      {`["\u00e9","e\u0301"]`, "[\"\u00e9\",\"e\u0301\"]"},
		"a negative zero":                       {`-0`, `0`},
		"too small for a double":                {`1e-400`, `0`},
		"2^53+1":                                {`9007199254740993`, `9007199254740992`},
		"white space round and within":          {" \t\r\n[ 1 , 2 ]\n", `[1,2]`},
		"names that differ by case":             {`{"b":1,"B":2}`, `{"B":2,"b":1}`},
		"one name in two objects":               {`[{"a":1},{"a":1}]`, `[{"a":1},{"a":1}]`},
		"as deep as allowed":                    {strings.Repeat("[", depth) + strings.Repeat("]", depth), strings.Repeat("[", depth) + strings.Repeat("]", depth)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := []byte(tc.in)
			got, err := canon.Strict(in, depth)
			if err != nil || string(got) != tc.want {
				t.Errorf("%v\n%s", err, cmp.Diff(tc.want, string(got)))
			}
			if string(in) != tc.in {
				t.Error("the input was written over")
			}
		})
	}
}

// The samples of RFC 8785 Appendix B that are numbers.
func TestNumbers(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		f := math.Float64frombits(bits)
		if got, err := canon.Marshal(f); err != nil || string(got) != want {
			t.Errorf("%016x: Marshal %s, %v; want %s", bits, got, err, want)
		}
		long := strconv.FormatFloat(f, 'E', 25, 64) // another spelling of the same number
		if got, err := canon.Strict([]byte(long), depth); err != nil || string(got) != want {
			t.Errorf("%016x: Strict(%s) %s, %v; want %s", bits, long, got, err, want)
		}
	}
}

// D11. Each case is the baseline with one thing wrong.
func TestStrictRefuses(t *testing.T) {
	const good = `{"a":[1,"x"],"b":true}`
	if _, err := canon.Strict([]byte(good), depth); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"nothing":                    "",
		"white space only":           " \r\n",
		"a byte-order mark":          "\ufeff" + good,
		"invalid UTF-8":              strings.Replace(good, "x", "\xff", 1),
		"an overlong form":           strings.Replace(good, "x", "\xc0\xaf", 1),
		"an encoded surrogate":       strings.Replace(good, "x", "\xed\xa0\x80", 1),
		"a lone surrogate escape":    strings.Replace(good, "x", `\ud800`, 1),
		"surrogates the wrong way":   strings.Replace(good, "x", `\udc00\ud800`, 1),
		"a member twice":             strings.Replace(good, `"b"`, `"a":1,"b"`, 1),
		"a member twice, same value": strings.Replace(good, `"b"`, `"b":true,"b"`, 1),
		"a member twice, escaped":    strings.Replace(good, `"b"`, `"\u0061":1,"b"`, 1),
		"text after":                 good + "x",
		"a second value":             good + good,
		"text before":                "x" + good,
		"a comment":                  good + "//",
		"a trailing comma":           strings.Replace(good, "true", "true,", 1),
		"single quotes":              strings.ReplaceAll(good, `"`, `'`),
		"NaN":                        strings.Replace(good, "1", "NaN", 1),
		"a leading zero":             strings.Replace(good, "1", "01", 1),
		"a plus sign":                strings.Replace(good, "1", "+1", 1),
		"a raw control character":    strings.Replace(good, "x", "\x01", 1),
		"a NUL behind it":            good + "\x00",
		"cut off":                    good[:len(good)-1],
		"beyond the largest double":  strings.Replace(good, "1", "1e400", 1),
		"a little beyond it":         strings.Replace(good, "1", "-1.7976931348623159e308", 1),
		"too deep":                   strings.Replace(good, "1", strings.Repeat("[", depth-1)+strings.Repeat("]", depth-1), 1),
		"deep enough for a crash":    strings.Repeat("[", 1<<20),
		"deep objects":               strings.Repeat(`{"a":`, 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := canon.Strict([]byte(in), depth); !errors.Is(err, canon.ErrStrict) || got != nil {
				t.Errorf("%.60q, %v; want ErrStrict", got, err)
			}
		})
	}
}

func TestMarshal(t *testing.T) {
	got, err := canon.Marshal(map[string]any{"b": "<&>", "a": 1.50, "\U0001f600": nil, "\ufb33": []int{}})
	if want := `{"a":1.5,"b":"<&>","` + "\U0001f600" + `":null,"` + "\ufb33" + `":[]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	for name, v := range map[string]any{"not a number": math.NaN(), "a function": func() {}, "bad UTF-8": "\xff"} {
		if got, err := canon.Marshal(v); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestHash(t *testing.T) {
	// FIPS 180-2, B.1
	if got := canon.Hash([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
}

var seeds = []string{`{"b":[1.0,-0,1E+2],"a":"\u20ac\n"}`, `[[[]]]`, `1e400`, `{"a":1,"a":2}`, `"\ud83d\ude00"`, "\ufeff{}", `{} {}`}

// What is accepted has one form: read again it is the same bytes.
func FuzzStrict(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := canon.Strict(data, depth)
		if err != nil {
			return
		}
		if twice, err := canon.Strict(once, depth); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q became %q, then %q (%v)", data, once, twice, err)
		}
	})
}
