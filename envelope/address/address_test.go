package address

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"agent@buyer.test":             "agent@buyer.test",
		"Agent@BUYER.Test":             "Agent@buyer.test",
		"a.b+c!#$%&'*/=?^_`{|}~-@x.y":  "a.b+c!#$%&'*/=?^_`{|}~-@x.y",
		"agent@bücher.test":            "agent@xn--bcher-kva.test",
		"agent@BÜCHER.test":            "agent@xn--bcher-kva.test",
		"agent@xn--bcher-kva.test":     "agent@xn--bcher-kva.test",
		"agent@localhost":              "agent@localhost",
		"a@1.2-3.test":                 "a@1.2-3.test",
		strings.Repeat("a", 64) + "@b": strings.Repeat("a", 64) + "@b",
	} {
		got, err := Parse(in)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"", "agent", "@buyer.test", "agent@", "agent@buyer.test.", "agent@.buyer.test", "agent@buyer..test",
		".a@b.test", "a.@b.test", "a..b@c.test", `"agent"@buyer.test`, "agent@[192.0.2.1]", "agent @buyer.test",
		"Agent <agent@buyer.test>", "agent(x)@buyer.test", "a@evil.test@buyer.test", "ägent@buyer.test",
		"agent@buyer.test ", "agent@buyer.test\x00", "agent\x11@buyer.test", "agent\x7f@buyer.test", "agent@buyer.test\r\nTo: x@y", "agent@-buyer.test", "agent@buyer-.test",
		"agent@buyer\u3002test", "agent@\uff42uyer.test", "agent@bu\u200byer.test", "agent@bu_yer.test", "agent@xn--\u00fc.test",
		strings.Repeat("a", 65) + "@b.test", "a@" + strings.Repeat("b", 64) + ".test", "a@" + strings.Repeat("b.", 130) + "test",
	} {
		if got, err := Parse(in); !errors.Is(err, ErrInvalid) {
			t.Errorf("Parse(%q) = %q, %v; want ErrInvalid", in, got, err)
		}
	}
}

func TestOf(t *testing.T) {
	if got := Of("agent@buyer.test"); got != "buyer.test" {
		t.Errorf("Of = %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"agent@buyer.test", "agent@bücher.test", "a.b@c", "@", "a@[1.2.3.4]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once, err := Parse(in)
		if err != nil {
			return
		}
		if twice, err := Parse(once); err != nil || twice != once {
			t.Errorf("Parse(%q) = %q, read again: %q, %v", in, once, twice, err)
		}
	})
}
