package main

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
)

// jwsSuites are the forms of a token (D12, D35, D36; attacks A10) and of the
// address it names (attacks A11).
func jwsSuites() []*suite {
	s := newSuite("jws", "The token: header, payload, signature and encoding in one form each; and the part it stands in.")
	s.singles(timesOf, headerRows())
	s.singles(timesOf, encodingRows())
	s.singles(timesOf, josePartRows())
	keyConfusion(s)
	return []*suite{s, jkuSuite()}
}

var encode = base64.RawURLEncoding.EncodeToString

// token is a JWS in parts, to be changed before it is signed (header, payload)
// or after (signature, whole).
type token struct {
	header    string
	payload   []byte
	signature func(key ed25519.PrivateKey, input string) []byte
	whole     func(string) string
}

// tokened makes the token by hand.
func tokened(edit func(*token)) change {
	return func(l *letter) {
		l.token = func(payload []byte) string {
			t := &token{payload: payload, signature: func(key ed25519.PrivateKey, input string) []byte { return ed25519.Sign(key, []byte(input)) }}
			t.header = fmt.Sprintf(`{"alg":"EdDSA","kid":"%s","jku":"%s","typ":"%s"}`, kidOf(l.key), l.jku, jws.TypMessage)
			edit(t)
			input := encode([]byte(t.header)) + "." + encode(t.payload)
			text := input + "." + encode(t.signature(l.key, input))
			if t.whole != nil {
				text = t.whole(text)
			}
			return text
		}
	}
}

func header(edit func(string) string) change {
	return tokened(func(t *token) { t.header = edit(t.header) })
}

func payload(edit func(string) string) change {
	return tokened(func(t *token) { t.payload = []byte(edit(string(t.payload))) })
}

func signature(edit func([]byte) []byte) change {
	return tokened(func(t *token) {
		sign := t.signature
		t.signature = func(key ed25519.PrivateKey, input string) []byte { return edit(sign(key, input)) }
	})
}

func whole(edit func(string) string) change { return tokened(func(t *token) { t.whole = edit }) }

// broken is the usual token with one bit of its signature changed.
func broken(l *letter) func([]byte) string {
	c := &letter{key: l.key, jku: l.jku}
	signature(func(b []byte) []byte { b[5] ^= 1; return b })(c)
	return c.token
}

// headerRows are the protected header.
func headerRows() []single {
	const alg = `"alg":"EdDSA"`
	algorithm := func(text string) change { return header(swap(alg, text)) }
	member := func(text string) change { return header(swap(alg, alg+","+text)) }
	return []single{
		{"baseline", "the baseline of the cases beside it, its header made by hand", tokened(func(*token) {}), accepted},
		{"header-order", "the members of the header in another order, with white space", header(func(h string) string {
			return "{ " + strings.TrimSuffix(swap(alg+",", "")(strings.TrimPrefix(h, "{")), "}") + ",\n" + alg + " }"
		}), accepted},
		{"alg-none", "alg none, with a signature (D12)", algorithm(`"alg":"none"`), badJWS},
		{"alg-none-unsigned", "alg none, without (D12)", tokened(func(t *token) {
			t.header = swap(alg, `"alg":"none"`)(t.header)
			t.signature = func(ed25519.PrivateKey, string) []byte { return nil }
		}), badJWS},
		{"alg-none-capitals", "alg NoNe (D12)", algorithm(`"alg":"NoNe"`), badJWS},
		{"alg-hs256", "HS256 keyed with the public key, which everybody has (D12)", tokened(func(t *token) {
			t.header = swap(alg, `"alg":"HS256"`)(t.header)
			t.signature = func(key ed25519.PrivateKey, input string) []byte {
				mac := hmac.New(sha256.New, key[32:])
				mac.Write([]byte(input))
				return mac.Sum(nil)
			}
		}), badJWS},
		{"alg-es256", "another algorithm (D12)", algorithm(`"alg":"ES256"`), badJWS},
		{"alg-ed25519", "the name of RFC 9864 is not the profile's (D12)", algorithm(`"alg":"Ed25519"`), badJWS},
		{"alg-lower-case", "eddsa (D12)", algorithm(`"alg":"eddsa"`), badJWS},
		{"alg-space", "a space behind (D12)", algorithm(`"alg":"EdDSA "`), badJWS},
		{"alg-array", "an array of one (D12)", algorithm(`"alg":["EdDSA"]`), badJWS},
		{"alg-null", "null (D12)", algorithm(`"alg":null`), badJWS},
		{"alg-missing", "no alg (D12)", header(swap(alg+",", "")), badJWS},
		{"alg-member-capitals", "Alg is another member (D12)", algorithm(`"Alg":"EdDSA"`), badJWS},
		{"alg-twice", "alg twice: readers differ in which they take (D12)", member(alg), badJWS},
		{"kid-twice", "kid twice (D12)", member(`"kid":"x"`), badJWS},
		{"jku-twice", "jku twice (D12)", member(`"jku":"https://keys.evil.test/"`), badJWS},
		{"typ-missing", "no typ (D12)", header(swap(`,"typ":"agent-intent+jws"`, "")), badJWS},
		{"typ-of-record", "the typ of a record's seal: one must not pass for the other (D12)", header(swap("agent-intent+jws", "agent-agreement+jws")), badJWS},
		{"typ-jwt", "another typ (D12)", header(swap("agent-intent+jws", "JWT")), badJWS},
		{"kid-empty", "an empty kid (D12)", header(func(h string) string { return cutMember(h, "kid", `"kid":""`) }), badJWS},
		{"kid-missing", "no kid (D12)", header(func(h string) string { return swap(",,", ",")(cutMember(h, "kid", "")) }), badJWS},
		{"kid-number", "kid is a string (D12)", header(func(h string) string { return cutMember(h, "kid", `"kid":1`) }), badJWS},
		{"kid-not-on-page", "a kid that the page has not", header(func(h string) string { return cutMember(h, "kid", `"kid":"`+kidOf(seeded("elsewhere"))+`"`) }), unchecked},
		{"kid-other-case", "a kid in other letter case is another kid", header(func(h string) string {
			return cutMember(h, "kid", `"kid":"`+strings.ToUpper(kidOf(seeded("key of buyer")))+`"`)
		}), unchecked},
		{"kid-path", "a kid that would be a path", header(func(h string) string { return cutMember(h, "kid", `"kid":"../../keys/0"`) }), unchecked},
		{"kid-null", "null is no kid (D12)", header(func(h string) string { return cutMember(h, "kid", `"kid":null`) }), badJWS},
		{"kid-padded", "a kid with padding is another kid", header(func(h string) string {
			return cutMember(h, "kid", `"kid":"`+kidOf(seeded("key of buyer"))+`="`)
		}), unchecked},
		{"kid-of-another-party", "the kid of a key that is on another party's page", header(func(h string) string { return cutMember(h, "kid", `"kid":"`+kidOf(seeded("key of third"))+`"`) }), unchecked},
		{"kid-capital", "KID is another member (D12)", member(`"KID":"x"`), badJWS},
		{"kid-escaped", "an escaped kid is that kid: the header is JSON", header(func(h string) string { return swap(`"kid"`, `"\u006bid"`)(h) }), accepted},
		{"kid-twice-escaped", "kid twice, once with an escape (D12)", member(`"\u006bid":"x"`), badJWS},
		{"typ-capitals", "typ as it stands (D12)", header(swap("agent-intent+jws", "Agent-Intent+JWS")), badJWS},
		{"typ-application", "nor with application/ before it (D12)", header(swap("agent-intent+jws", "application/agent-intent+jws")), badJWS},
		{"typ-null", "null is no typ (D12)", header(swap(`"agent-intent+jws"`, "null")), badJWS},
		{"typ-twice", "typ twice (D12)", member(`"typ":"JWT"`), badJWS},
		{"cty", "a content type (D12)", member(`"cty":"application/ld+json"`), badJWS},
		{"iss", "a claim in the header (D12)", member(`"iss":"x"`), badJWS},
		{"jku-null", "null is no jku (D12)", header(func(h string) string { return cutMember(h, "jku", `"jku":null`) }), badJWS},
		{"jku-escaped", "an escaped slash in jku is a slash", header(func(h string) string { return strings.ReplaceAll(h, "/.well-known", `\/.well-known`) }), accepted},
		{"crit-of-own", "crit of a member that is there (D12)", member(`"crit":["kid"]`), badJWS},
		{"crit-null", "crit that is null (D12)", member(`"crit":null`), badJWS},
		{"x5t", "the thumbprint of a certificate (D12)", member(`"x5t":"AA"`), badJWS},
		{"enc", "what an encrypted token has (D12)", member(`"enc":"A256GCM"`), badJWS},
		{"alg-ed448", "the other curve's algorithm (D12)", algorithm(`"alg":"Ed448"`), badJWS},
		{"alg-rs256", "RSA (D12)", algorithm(`"alg":"RS256"`), badJWS},
		{"alg-empty", "an empty alg (D12)", algorithm(`"alg":""`), badJWS},
		{"header-null", "null as header", header(only("null")), badJWS},
		{"header-text", "a text as header", header(only(`"EdDSA"`)), badJWS},
		{"header-surrogate", "half a pair in the header (D12)", member(`"x":"\ud800"`), badJWS},
		{"header-large", "a header of 8 KiB", header(func(h string) string { return h + strings.Repeat(" ", 8<<10) }), badJWS},
		{"jku-missing", "no jku (D12)", header(func(h string) string { return swap(",,", ",")(cutMember(h, "jku", "")) }), badJWS},
		{"jku-empty", "an empty jku is an address of no form, so nobody says whose key it is", header(func(h string) string { return cutMember(h, "jku", `"jku":""`) }), unchecked},
		{"jku-number", "jku is a string (D12)", header(func(h string) string { return cutMember(h, "jku", `"jku":1`) }), badJWS},
		{"crit-unknown", "a crit member that asks for something (D12)", member(`"crit":["exp"],"exp":1`), badJWS},
		{"crit-empty", "an empty crit (D12)", member(`"crit":[]`), badJWS},
		{"b64-false", "an unencoded payload (D12)", member(`"b64":false,"crit":["b64"]`), badJWS},
		{"b64-true", "b64 with its usual value (D12)", member(`"b64":true`), badJWS},
		{"zip", "a compressed payload (D12)", member(`"zip":"DEF"`), badJWS},
		{"jwk", "the key in the header, even the right one (D12)", member(`"jwk":{"kty":"OKP","crv":"Ed25519","x":"` + encode(seeded("key of buyer")[32:]) + `"}`), badJWS},
		{"x5c", "a certificate in the header (D12)", member(`"x5c":["MIIB"]`), badJWS},
		{"x5u", "the address of one (D12)", member(`"x5u":"https://keys.evil.test/x"`), badJWS},
		{"header-empty", "an empty header", header(only("{}")), badJWS},
		{"header-array", "an array as header", header(func(h string) string { return "[" + h + "]" }), badJWS},
		{"header-trailing", "text behind the header's object", header(behind("{}")), badJWS},
		{"header-utf8", "a header that is no UTF-8", member("\"x\":\"\xff\""), badJWS},
		{"header-byte-order-mark", "a byte-order mark before the header", header(before("\ufeff")), badJWS},
	}
}

// encodingRows are the token as a whole, its payload and its signature.
func encodingRows() []single {
	return []single{
		{"parts-two", "two parts", whole(func(t string) string { return t[:strings.LastIndexByte(t, '.')] }), badJWS},
		{"parts-four", "four parts", whole(behind(".AA")), badJWS},
		{"parts-five", "five parts, as an encrypted token has", whole(behind(".AA.AA")), badJWS},
		{"detached", "a detached payload: the message is beside it, but that is not the profile's form", whole(func(t string) string {
			p := strings.Split(t, ".")
			return p[0] + ".." + p[2]
		}), badJWS},
		{"json-serialization", "the JSON form of a JWS, which has an unprotected header (D12)", whole(func(t string) string {
			p := strings.Split(t, ".")
			return fmt.Sprintf(`{"payload":"%s","protected":"%s","signature":"%s"}`, p[1], p[0], p[2])
		}), badJWS},
		{"padding", "base64url with padding", whole(behind("==")), badJWS},
		{"unused-bits", "the last character with bits that no byte needs", whole(spareBits), badJWS},
		{"standard-alphabet", "base64 with the standard alphabet", whole(strings.NewReplacer("-", "+", "_", "/").Replace), badJWS},
		{"line-end-inside", "a line end inside the token (D36)", whole(func(t string) string { return t[:100] + "\n" + t[100:] }), badJWS},
		{"space-before", "a space before the token (D36)", whole(before(" ")), badJWS},
		{"space-inside", "a space inside the token (D36)", whole(func(t string) string { return t[:100] + " " + t[100:] }), badJWS},
		{"white-space-behind", "white space behind the token is trimmed (D36)", whole(behind(" \t\n\n")), accepted},
		{"too-long", "a token of 100 KiB", whole(behind(strings.Repeat("A", 100<<10))), badJWS},
		{"payload-line-end", "a line end behind the canonical payload", payload(behind("\n")), badJWS},
		{"payload-spaces", "the payload with a space in it", payload(before(" ")), badJWS},
		{"payload-byte-order-mark", "the payload with a byte-order mark", payload(before("\ufeff")), badJWS},
		{"payload-escapes", "the payload with another escape for a character: compared byte for byte", payload(swap("Tasting", `\u0054asting`)), badJWS},
		{"payload-other-order", "the payload with its members in another order", payload(func(p string) string {
			return `{"type":"propose_times",` + strings.TrimPrefix(swap(`,"type":"propose_times"`, "")(p), "{")
		}), badJWS},
		{"payload-extra-member", "the payload with a member that the part has not (D35)", payload(swap(`"iat":`, `"hurry":true,"iat":`)), badJWS},
		{"payload-other-purpose", "the payload of another message", payload(swap("Tasting", "Meeting")), badJWS},
		{"payload-empty", "an empty payload", payload(only("")), badJWS},
		{"payload-other-unicode", "the payload with an escape where RFC 8785 has the letter", all(set("purpose", "Dégustation"), payload(swap("é", `\u00e9`))), badJWS},
		{"payload-unicode", "letters outside ASCII stand as they are (RFC 8785)", all(set("purpose", "Dégustation 😀 \u2028 <&>"), tokened(func(*token) {})), accepted},
		{"payload-decomposed", "another normal form is another payload", all(set("purpose", "Dégustation"), payload(swap("é", "e\u0301"))), badJWS},
		{"payload-number-form", "1.0 in the payload is not the canonical 1", payload(numbered("exp", ".0")), badJWS},
		{"payload-member-less", "the payload without a member that the part has", payload(swap(`"purpose":"Tasting",`, "")), badJWS},
		{"payload-hash", "the hash of the message in the place of the message", tokened(func(t *token) {
			sum := sha256.Sum256(t.payload)
			t.payload = sum[:]
		}), badJWS},
		{"payload-in-list", "the payload in a list", payload(func(p string) string { return "[" + p + "]" }), badJWS},
		{"payload-base64-padded", "a payload with padding in base64url", whole(func(t string) string { p := strings.Split(t, "."); return p[0] + "." + p[1] + "==." + p[2] }), badJWS},
		{"header-base64-padded", "and a header", whole(func(t string) string { p := strings.Split(t, "."); return p[0] + "=." + p[1] + "." + p[2] }), badJWS},
		{"base64-of-base64", "the token once more in base64url", whole(func(t string) string { return encode([]byte(t)) }), badJWS},
		{"parts-one", "one part", whole(func(t string) string { return strings.ReplaceAll(t, ".", "") }), badJWS},
		{"parts-empty", "points and nothing between them", whole(only("..")), badJWS},
		{"token-text", "a text that is no token", whole(only("see above")), badJWS},
		{"token-byte-order-mark", "a byte-order mark before the token", whole(before("\ufeff")), badJWS},
		{"token-nul", "a NUL behind the token", whole(behind("\x00")), badJWS},
		{"token-quoted", "the token in quotes", whole(func(t string) string { return `"` + t + `"` }), badJWS},
		{"token-bearer", "a word before the token", whole(before("Bearer ")), badJWS},
		{"two-tokens", "two tokens in one part", whole(func(t string) string { return t + "\n" + t }), badJWS},
		{"signature-swapped", "R and S in the wrong order", signature(func(b []byte) []byte { return append(slices.Clone(b[32:]), b[:32]...) }), badJWS},
		{"signature-hex", "the signature in hexadecimal", whole(func(t string) string {
			i := strings.LastIndexByte(t, '.')
			b, _ := base64.RawURLEncoding.DecodeString(t[i+1:])
			return fmt.Sprintf("%s.%x", t[:i], b)
		}), badJWS},
		{"signature-prehashed", "a signature over the hash of the input (Ed25519ph)", tokened(func(t *token) {
			t.signature = func(key ed25519.PrivateKey, input string) []byte {
				sum := sha512.Sum512([]byte(input))
				return must(key.Sign(nil, sum[:], crypto.SHA512))
			}
		}), badJWS},
		{"signature-bit", "one bit of the signature", signature(func(b []byte) []byte { b[5] ^= 1; return b }), badJWS},
		{"signature-short", "63 bytes", signature(func(b []byte) []byte { return b[:63] }), badJWS},
		{"signature-long", "65 bytes", signature(func(b []byte) []byte { return append(b, 0) }), badJWS},
		{"signature-zero", "64 bytes of zero", signature(func(b []byte) []byte { return make([]byte, 64) }), badJWS},
		{"signature-empty", "no byte", signature(func([]byte) []byte { return nil }), badJWS},
		{"signature-plus-order", "S + L in the place of S: the same signature to a careless reader (RFC 8032 §5.1.7)", signature(plusOrder), badJWS},
		{"signature-over-payload", "a signature over the payload without the header", tokened(func(t *token) {
			p := t.payload
			t.signature = func(key ed25519.PrivateKey, _ string) []byte { return ed25519.Sign(key, p) }
		}), badJWS},
		{"last-character-missing", "a token that is cut off: never taken for no token", whole(func(t string) string { return t[:len(t)-1] }), badJWS},
		{"another-key", "signed by a key that is not the one of the kid", tokened(func(t *token) {
			t.signature = func(_ ed25519.PrivateKey, input string) []byte { return ed25519.Sign(seeded("another"), []byte(input)) }
		}), badJWS},
		{"part-changed-after", "a member of the part changed after the message was signed", part(swap("Tasting", "Meeting")), badJWS},
		{"part-member-added", "an unknown member added to the part after the message was signed (D35)", part(swap(`"iat":`, `"hurry":true,"iat":`)), badJWS},
		{"part-in-other-form", "the part written in another form: its canonical form is what was signed", part(strings.NewReplacer(`{"`, "{\n \"", `,"`, ",\n \"").Replace), accepted},
		{"part-number-form", "1.0 is 1, also in a signed message (D37)", part(numbered("exp", ".0")), accepted},
	}
}

// cutMember replaces a string member of a header.
func cutMember(header, member, by string) string {
	i := strings.Index(header, `"`+member+`":"`)
	j := i + len(member) + 4
	j += strings.IndexByte(header[j:], '"') + 1
	return header[:i] + by + header[j:]
}

// spareBits changes the last character so that it decodes to the same bytes:
// 64 bytes leave four bits of it unused.
func spareBits(t string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, t[len(t)-1])
	return t[:len(t)-1] + string(alphabet[last+1])
}

// plusOrder adds the order of the group to S.
func plusOrder(b []byte) []byte {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := slices.Clone(b[32:])
	slices.Reverse(s)
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	return append(slices.Clone(b[:32]), sum...)
}

// josePartRows are the part that holds the token (D36).
func josePartRows() []single {
	drafted := func(edit func(*envelope.Draft)) change { return func(l *letter) { l.draft = edit } }
	return []single{
		{"jose-two", "two application/jose parts, the same (D36)", drafted(func(d *envelope.Draft) { d.Attachments = append(d.Attachments, d.Attachments[0]) }), badJWS},
		{"jose-two-other", "a good token and another one (D36)", drafted(func(d *envelope.Draft) {
			d.Attachments = append(d.Attachments, envelope.Attachment{Type: "application/jose", Filename: "other.jose", Body: []byte("a.b.c")})
		}), badJWS},
		{"jose-empty", "an empty application/jose part (D36)", drafted(func(d *envelope.Draft) { d.Attachments[0].Body = nil }), badJWS},
		{"jose-only-space", "one of white space (D36)", drafted(func(d *envelope.Draft) { d.Attachments[0].Body = []byte(" \r\n") }), badJWS},
		{"jose-none", "no token: mail checks only, held", unsigned, held},
		{"jose-other-type", "a token in a part of another type is no token", drafted(func(d *envelope.Draft) { d.Attachments[0].Type = "application/octet-stream" }), held},
		{"jose-other-name", "the part's file name says nothing (D13)", drafted(func(d *envelope.Draft) { d.Attachments[0].Filename = "x.txt" }), accepted},
		{"jose-base64", "the token in base64", drafted(func(d *envelope.Draft) { d.Attachments[0].Base64 = true }), accepted},
		{"jose-type-capitals", "media types have no letter case", drafted(func(d *envelope.Draft) { d.Attachments[0].Type = "Application/JOSE" }), accepted},
		{"jose-charset", "a charset in which the token would be another", drafted(func(d *envelope.Draft) { d.Attachments[0].Type = "application/jose; charset=utf-16" }), badJWS},
		{"jose-json-type", "the JSON form has a type of its own, which is none of the profile", drafted(func(d *envelope.Draft) { d.Attachments[0].Type = "application/jose+json" }), held},
		{"jose-two-one-empty", "a good token and an empty part (D36)", drafted(func(d *envelope.Draft) {
			d.Attachments = append(d.Attachments, envelope.Attachment{Type: "application/jose", Filename: "other.jose"})
		}), badJWS},
		{"jose-encoding-broken", "a part that breaks its encoding (D36)", mailed(func(t string) string {
			i := strings.Index(t, "Content-Type: application/jose")
			return t[:i] + strings.Replace(t[i:], "quoted-printable\n\n", "quoted-printable\n\n=ZZ", 1)
		}), badJWS},
		{"jose-encoding-unknown", "or has one that nobody knows (D36)", mailed(func(t string) string {
			i := strings.Index(t, "Content-Type: application/jose")
			return t[:i] + strings.Replace(t[i:], "Content-Transfer-Encoding: quoted-printable", "Content-Transfer-Encoding: x-none", 1)
		}), badJWS},
		{"jose-in-message", "a token inside a message inside the mail is not seen (D36)", drafted(func(d *envelope.Draft) {
			inner := "Content-Type: application/jose\r\n\r\n" + string(d.Attachments[0].Body) + "\r\n"
			d.Attachments[0] = envelope.Attachment{Type: "message/rfc822", Filename: "x.eml", Body: []byte(inner)}
		}), held},
	}
}

// keyConfusion: keys and tokens of others.
func keyConfusion(s *suite) {
	third := s.world.third
	t := s.story("token-of-another-message", "the valid token of another message put on this one")
	first := t.given(t.times(t.buyer()))
	t.thread = uuid("another thread of token-of-another-message")
	second := t.times(t.buyer())
	second.token = func([]byte) string { return first.jws() }
	t.deliver(second, badJWS)

	s.singles(timesOf, []single{
		{"key-of-another-party", "signed by a party of the same host that does not list the sender: a host's customers do not speak for each other", func(l *letter) {
			l.key, l.jku, l.From.Party = third.key, third.page(), ""
		}, unchecked},
		{"party-of-message-is-another", "from.party is not the party of the page", func(l *letter) { l.From.Party = third.party }, unchecked},
	})

	t = s.story("unsigned-after-signed", "a sender that signs sends one message unsigned: held like any")
	offer := t.given(t.times(t.buyer()))
	cancel := t.cancel(t.buyer(), offer)
	unsigned(cancel)
	t.deliver(cancel, held)
	t.final(offer, "open")
}

// jkuSuite is the address of the key page: one spelling, compared exactly.
func jkuSuite() *suite {
	s := newSuite("jku", "The address of the key page: one spelling of it on a trusted host, or the signature counts as unchecked. Nothing is asked at any other.")
	buyer := s.world.buyer
	right := buyer.page()
	path := strings.TrimPrefix(right, "https://"+pageHost)
	rows := []single{
		{"exact", "exactly the form", nil, accepted},
		{"other-trusted-host", "the other trusted host", func(l *letter) { l.jku = party.PageURL(otherHost, buyer.party) }, accepted},
	}
	s.page(party.PageURL(otherHost, buyer.party), buyer.party, s.files["keys/"+buyer.party+".json"])
	for _, c := range []struct{ name, why, jku string }{
		{"http", "http", "http://" + pageHost + path},
		{"scheme-capitals", "the scheme in capitals", "HTTPS://" + pageHost + path},
		{"file", "a file", "file:///etc" + path},
		{"ftp", "another scheme", "ftp://" + pageHost + path},
		{"data", "a page in the address itself", "data:application/json,{}"},
		{"javascript", "a script", "javascript:fetch('" + right + "')"},
		{"no-scheme", "no scheme", "//" + pageHost + path},
		{"no-host", "no host", "https://" + path},
		{"path-only", "a path only", path},
		{"host-other", "a host that is not trusted", "https://keys.evil.test" + path},
		{"host-prefix", "the trusted host as the beginning of another", "https://" + pageHost + ".evil.test" + path},
		{"host-suffix", "and as its end", "https://evil-" + pageHost + path},
		{"host-in-path", "the trusted host in the path", "https://evil.test/" + pageHost + path},
		{"host-in-query", "in the query", "https://evil.test/?" + right},
		{"host-in-fragment", "in the fragment", "https://evil.test/#" + right},
		{"host-capitals", "the host in capitals", "https://" + strings.ToUpper(pageHost) + path},
		{"host-trailing-dot", "a dot behind the host", "https://" + pageHost + "." + path},
		{"user", "the trusted host as a user name", "https://" + pageHost + "@evil.test" + path},
		{"user-at-host", "a user name at the trusted host", "https://evil.test@" + pageHost + path},
		{"user-password", "with a password", "https://a:b@" + pageHost + path},
		{"user-escaped", "an escaped @", "https://" + pageHost + "%40evil.test" + path},
		{"backslash", "a backslash, which some take for a slash", "https://evil.test\\@" + pageHost + path},
		{"port", "the usual port", "https://" + pageHost + ":443" + path},
		{"port-other", "another port", "https://" + pageHost + ":8443" + path},
		{"port-empty", "an empty port", "https://" + pageHost + ":" + path},
		{"host-escaped-dot", "an escaped dot in the host", "https://api%2estackshift.cloud" + path},
		{"host-cyrillic", "a letter of another alphabet in the host", "https://\u0430pi.stackshift.cloud" + path},
		{"host-fullwidth", "a full-width letter in the host", "https://\uff41pi.stackshift.cloud" + path},
		{"host-ideographic-dot", "an ideographic dot in the host", "https://api\u3002stackshift.cloud" + path},
		{"host-soft-hyphen", "a soft hyphen in the host", "https://a\u00adpi.stackshift.cloud" + path},
		{"loopback", "an address of this machine", "https://127.0.0.1" + path},
		{"loopback-decimal", "and in one number", "https://2130706433" + path},
		{"loopback-hex", "and in hexadecimal", "https://0x7f000001" + path},
		{"loopback-ipv6", "and as IPv6", "https://[::1]" + path},
		{"localhost", "and by name", "https://localhost" + path},
		{"metadata", "the metadata service of a cloud", "https://169.254.169.254" + path},
		{"dot-segment", "a dot segment", "https://" + pageHost + "/x/.." + path},
		{"double-slash", "two slashes", "https://" + pageHost + "/" + path},
		{"escaped-slash", "an escaped slash", strings.Replace(right, "agent-agreements/", "agent-agreements%2f", 1)},
		{"escaped-letter", "an escaped letter", strings.Replace(right, "/agent-", "/%61gent-", 1)},
		{"path-parameter", "a path parameter", right + ";x=1"},
		{"query", "a query", right + "?x=1"},
		{"query-empty", "an empty query", right + "?"},
		{"fragment", "a fragment", right + "#x"},
		{"fragment-empty", "an empty fragment", right + "#"},
		{"slash-behind", "a slash behind", right + "/"},
		{"path-capitals", "the path in capitals", "https://" + pageHost + strings.ToUpper(path)},
		{"path-other", "another path", "https://" + pageHost + "/agent-agreements/" + buyer.party + ".json"},
		{"party-form", "a party that is no party id", "https://" + pageHost + "/.well-known/agent-agreements/pty_buyer.json"},
		{"no-suffix", "no .json", strings.TrimSuffix(right, ".json")},
		{"space-behind", "a space behind", right + " "},
		{"line-end", "a line end inside", strings.Replace(right, "cloud/", "cloud/\n", 1)},
		{"nul", "a NUL behind the host", strings.Replace(right, ".cloud", ".cloud\x00.evil.test", 1)},
	} {
		rows = append(rows, single{c.name, c.why, func(l *letter) { l.jku = c.jku }, unchecked})
	}
	s.singles(timesOf, rows)
	return s
}
