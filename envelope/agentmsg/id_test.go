package agentmsg

import (
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

func TestIsID(t *testing.T) {
	const good = "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP"
	for text, want := range map[string]bool{
		good: true,
		"UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QQ": false, // its checksum
		strings.ToLower(good):               false,
		good + "\n":                         false,
		good[:20] + "\n" + good[20:]:        false, // D100: the library reads it
		" " + good:                          false,
		good + "AAAAAAAA":                   false,
		good[:55]:                           false,
		readVectors(t).Identities.Seed:      false,
		other(t, nkeys.PrefixByteAccount):   false,
		other(t, nkeys.PrefixByteUser|0x01): false, // D100: the library masks those bits
		"":                                  false,
	} {
		if IsID(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// other is a well-formed nkey with another prefix.
func other(t *testing.T, prefix nkeys.PrefixByte) string {
	t.Helper()
	raw := append([]byte{byte(prefix)}, make([]byte, 32)...)
	raw = append(raw, checksum(raw)...)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)
}

// checksum is CRC-16/XMODEM, little endian.
func checksum(data []byte) []byte {
	var crc uint16
	for _, b := range data {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
	}
	return []byte{byte(crc), byte(crc >> 8)}
}

// idOf is the id of any 32 bytes.
func idOf(t *testing.T, key []byte) string {
	t.Helper()
	id, err := nkeys.Encode(nkeys.PrefixByteUser, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(id)
}

func TestPublicKey(t *testing.T) {
	if key, err := publicKey(sender(t).ID()); err != nil || len(key) != 32 {
		t.Errorf("%v, %v", key, err)
	}
	for _, id := range []string{"", "U", idOf(t, make([]byte, 32))} {
		if key, err := publicKey(id); err == nil {
			t.Errorf("%s: %v", id, key)
		}
	}
}

func TestParseSeed(t *testing.T) {
	v := readVectors(t)
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	accountSeed, err := account.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []string{"", v.Identities.Sender, v.Identities.Seed[1:], strings.ToLower(v.Identities.Seed), " " + v.Identities.Seed, string(accountSeed)} {
		if i, err := ParseSeed(seed); err != ErrSeed || i.ID() != "" {
			t.Errorf("%q: %v", seed, err)
		}
	}
	if _, err := (Identity{}).sign(tagEnvelope, nil); err != ErrSeed {
		t.Errorf("no identity signs: %v", err)
	}
}

// Whatever way an identity is printed, its key is not.
func TestIdentityPrinted(t *testing.T) {
	i := sender(t)
	printed := everyWay(i) + everyWay(&i) + everyWay(struct{ i Identity }{i}) + everyWay([]Identity{i})
	if secret := []byte(i.key())[:32]; shows(printed, secret) || shows(printed, []byte(readVectors(t).Identities.Seed)) || !strings.Contains(printed, i.ID()) {
		t.Error(printed)
	}
}

// everyWay prints and logs a value in every way.
func everyWay(v any) string {
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%o"} {
		fmt.Fprintf(&out, verb+"\n", v)
	}
	return out.String()
}

// shows tells whether eight bytes of a secret are in a text, in some spelling.
func shows(text string, secret []byte) bool {
	part := secret[:8]
	for _, verb := range []string{"%s", "%x", "%X", "%d", "%#v", "%o"} {
		spelled := strings.Trim(fmt.Sprintf(verb, part), "[]")
		if strings.Contains(text, strings.TrimSuffix(strings.TrimPrefix(spelled, "[]byte{"), "}")) {
			return true
		}
	}
	return strings.Contains(text, base64.StdEncoding.EncodeToString(secret[:9])[:11]) || strings.Contains(text, base64.RawURLEncoding.EncodeToString(secret)[:11])
}
