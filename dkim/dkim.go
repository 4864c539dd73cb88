// Package dkim answers one question about a mail: who really sent it. It
// verifies DKIM signatures (RFC 6376, RFC 8463) or reads the verdict of a
// trusted server (RFC 8601), and demands that the domain proven stands behind
// the From address. It also signs what leaves here.
//
// A Result says what may be believed, not only what is valid: a signature may
// verify and still not count, since it leaves open what an attacker needs
// (D21, D22, D23). It is written here because the library for it judges x= by
// a clock that cannot be given and hides the flags of the keys (D66).
package dkim

import (
	"context"
	"strings"
	"time"
	"unicode"
)

// Resolver looks up TXT records, each with its character-strings joined. A
// *net.DNSError with IsNotFound says that the name or the record does not
// exist; every other error is taken as temporary.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Outcome is what a check found. Only Pass lets a mail be believed.
type Outcome int

// The three outcomes. The zero value is Fail.
const (
	Fail      Outcome = iota // no proof, for good
	Pass                     // the From domain vouches for this mail
	Temporary                // DNS trouble: ask again later (profile section 5)
)

// String returns "fail", "pass" or "temporary".
func (o Outcome) String() string {
	switch o {
	case Pass:
		return "pass"
	case Temporary:
		return "temporary"
	default:
		return "fail"
	}
}

// Result is the verdict on one mail.
type Result struct {
	Outcome Outcome
	// Domain and Selector are the d= and s= the verdict rests on, empty where
	// it rests on no single signature. Selector is always empty in AuthRes mode
	// unless the server named it.
	Domain, Selector string
	// Reason says in plain words why, for the log and the owner: at most 1 000
	// bytes, printable characters only. It may quote the sender.
	Reason string
}

// Mode is how a Checker comes to its verdict.
type Mode int

// The two modes of an inbox.
const (
	Verify  Mode = iota // check signatures here, with keys from DNS
	AuthRes             // believe the Authentication-Results of one server
)

// Checker authenticates mails. It holds no state and may be used by several
// goroutines if its Resolver may.
type Checker struct {
	// Resolver finds keys; needed in Verify mode only.
	Resolver Resolver
	Mode     Mode
	// AuthservID names the server believed in AuthRes mode, compared without
	// letter case. Whoever can give a mail a topmost field of this id decides,
	// so that server must always add its own and remove others (RFC 8601 §5).
	AuthservID string
	// TrustAll lets every field of AuthservID count, not only those that the
	// last server added: for providers that remove forged ones (D53).
	TrustAll bool
	// Strict demands that the signing domain equals the From domain (D21).
	Strict bool
}

// Authenticate tells whether fromDomain, the lower-case A-label domain of the
// mail's one From address, vouches for raw. Signature times are judged at
// arrival. raw has CRLF line ends; anything unreadable is Fail. In Verify mode
// the ten topmost signatures are looked at, and one that counts is enough
// (D41). Temporary is returned only if none counts and DNS stood in the way.
func (c *Checker) Authenticate(ctx context.Context, raw []byte, fromDomain string, arrival time.Time) Result {
	result := c.authenticate(ctx, raw, fromDomain, arrival)
	result.Reason = printable(result.Reason)
	return result
}

func (c *Checker) authenticate(ctx context.Context, raw []byte, fromDomain string, arrival time.Time) Result {
	m, err := readMessage(raw)
	if err != nil {
		return Result{Reason: err.Error()}
	}
	// A signature over "from" holds on a mail without any, and with two the
	// lower one is signed while the upper one is shown.
	if len(m.named("from")) != 1 {
		return Result{Reason: "the mail has not exactly one From field"}
	}
	if c.Mode == AuthRes {
		return c.trust(m, fromDomain)
	}
	return c.verify(ctx, m, fromDomain, arrival)
}

// maxReason bounds what a sender can put into a log line.
const maxReason = 1000

// printable replaces what could break a log line or a terminal.
func printable(reason string) string {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, reason)
}
