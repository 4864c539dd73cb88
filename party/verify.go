package party

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/jws"
)

// Pages finds key pages.
type Pages interface {
	// Page returns the key page of party at url. With fresh it is not taken from a cache, within reason. The error wraps
	// ErrNoPage when there is no such page, for good; any other error counts as ErrTemporary.
	Page(ctx context.Context, url, party string, fresh bool) (*Page, error)
}

// TXT looks up TXT records, as *net.Resolver does: a *net.DNSError with IsNotFound says that there are none, every other
// error is temporary.
type TXT interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Claim is a signature to check and what it must say.
type Claim struct {
	Token     []byte // the compact JWS, white space at its end already trimmed (D36)
	Typ       string // the typ it must have, jws.TypMessage or jws.TypRecord
	Canonical []byte // canonical form of what was received beside the token, nothing dropped (D35)
	Unknown   bool   // what was received has members that the profile does not know
	Address   string // email address of the one who signs
	Party     string // the party the message names, "" where it names none
	Iat       int64  // when it was signed, by its own word; Unix seconds
	Arrival   time.Time
}

// Outcome is what came of checking a signature. The zero value is Invalid.
type Outcome int

// The outcomes. A wrong signature is worse than one that cannot be checked: it is never overlooked (S16).
const (
	Invalid   Outcome = iota // wrong: the message is refused
	Unchecked                // nobody trusted says whose key it is: as good as no signature
	Retry                    // a key page or DNS could not be reached: to be tried again later
	Signed                   // by a key of a party that speaks for the address
)

// String is the name of the outcome in events and suites.
func (o Outcome) String() string {
	switch o {
	case Signed:
		return "signed"
	case Unchecked:
		return "unchecked"
	case Retry:
		return "retry"
	default:
		return "invalid"
	}
}

// Warnings of a good signature (D25, D42). They speak of the time of arrival, since the sender chose iat.
const (
	WarnRevokedLater = "key_revoked_later"
	WarnRetired      = "key_retired"
)

// Result is the outcome of a check. Warnings, Kid, Party and OrgName are set only for Signed.
type Result struct {
	Outcome  Outcome
	Reason   string // why it is not Signed; for logs and for the owner, never compared
	Warnings []string
	Kid      string
	Party    string
	OrgName  string // as the key page has it; text from outside
}

// errUnchecked is why a signature cannot be checked although the key page was read.
var errUnchecked = errors.New("cannot be checked")

// Verifier checks signatures against the key pages of their parties.
type Verifier struct {
	Trust Trust
	Pages Pages
	TXT   TXT
}

// Verify checks one signature: first what can be seen in the claim itself, then whose key it is, last the key and the
// signature. Nothing is fetched for a token that is wrong in itself or names a page that is not trusted. Mail must be
// authenticated before it is called, or strangers decide what is fetched.
func (v *Verifier) Verify(ctx context.Context, c Claim) Result {
	token, err := jws.Parse(c.Token, c.Typ)
	if err != nil {
		return Result{Outcome: Invalid, Reason: err.Error()}
	}
	// D35: a member that one reader drops and another one obeys.
	if c.Unknown || !bytes.Equal(token.Payload, c.Canonical) {
		return Result{Outcome: Invalid, Reason: "the signed payload is not the canonical form of the message"}
	}
	party, ok := v.Trust.Party(token.Header.Jku)
	if !ok {
		return Result{Outcome: Unchecked, Reason: "jku is not a key page on a trusted host"}
	}
	page, key, err := v.find(ctx, c, token.Header, party)
	if err != nil {
		return Result{Outcome: outcomeOf(err), Reason: err.Error()}
	}
	if r := keyAt(key, c.Iat); r.Outcome != Signed {
		return r
	}
	if !token.Verify(key.Public) {
		return Result{Outcome: Invalid, Reason: "the signature is wrong"}
	}
	return Result{
		Outcome: Signed, Warnings: warnings(key, c.Arrival),
		Kid: key.Kid, Party: page.Party, OrgName: page.OrgName,
	}
}

// find returns the trusted page that speaks for the sender and has the key. One page answers all questions: when the
// key is not on it, everything is asked again of a fresh one, once (profile: "Party keys and the trust rule").
func (v *Verifier) find(ctx context.Context, c Claim, h jws.Header, party string) (*Page, Key, error) {
	for _, fresh := range []bool{false, true} {
		page, err := v.Pages.Page(ctx, h.Jku, party, fresh)
		if err != nil {
			return nil, Key{}, fmt.Errorf("key page: %w", err)
		}
		if c.Party != "" && c.Party != page.Party {
			return nil, Key{}, fmt.Errorf("%w: the key page is not that of the sender's party", errUnchecked)
		}
		if err := v.speaksFor(ctx, page, c.Address); err != nil {
			return nil, Key{}, err
		}
		if key, ok := page.Key(h.Kid); ok {
			return page, key, nil
		}
	}
	return nil, Key{}, fmt.Errorf("%w: kid is not on the key page", errUnchecked)
}

// speaksFor is nil when the party of the page lists the address, or the domain of the address vouches for the party.
// Without it one customer of a trusted host could sign for any other (S19).
func (v *Verifier) speaksFor(ctx context.Context, page *Page, sender string) error {
	if page.Lists(sender) {
		return nil
	}
	sender, err := address.Parse(sender)
	if err != nil {
		return fmt.Errorf("%w: the sender has no usable address", errUnchecked)
	}
	vouched, err := Vouched(ctx, v.TXT, address.Of(sender), page.Party)
	if err != nil {
		return err
	}
	if !vouched {
		return fmt.Errorf("%w: the party does not list the sender", errUnchecked)
	}
	return nil
}

// outcomeOf decides what an error of find means. What nobody has decided is tried again.
func outcomeOf(err error) Outcome {
	if errors.Is(err, ErrNoPage) || errors.Is(err, errUnchecked) {
		return Unchecked
	}
	return Retry
}

// keyAt says whether a key could sign at iat; if so the outcome is Signed.
func keyAt(key Key, iat int64) Result {
	switch {
	case key.CreatedAt > iat: // D42
		return Result{Outcome: Unchecked, Reason: "the key was created after the message was signed"}
	case key.RevokedAt != 0 && key.RevokedAt <= iat: // D25
		return Result{Outcome: Invalid, Reason: "key revoked"}
	case key.RetiredAt != 0 && key.RetiredAt <= iat: // D25
		return Result{Outcome: Invalid, Reason: "key retired"}
	}
	return Result{Outcome: Signed}
}

// warnings tells of a key that was good at iat and is not on arrival: whoever stole it can date a message back. D42
func warnings(key Key, arrival time.Time) []string {
	var w []string
	if key.RevokedAt != 0 && key.RevokedAt <= arrival.Unix() {
		w = append(w, WarnRevokedLater)
	}
	if key.RetiredAt != 0 && key.RetiredAt <= arrival.Unix() {
		w = append(w, WarnRetired)
	}
	return w
}
