package dkim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// maxSignatures is how many signatures of a mail are looked at, from the top.
// Each may cost a lookup and a key operation, and the sender chooses how many
// there are (D41).
const maxSignatures = 10

// verify looks for one signature that counts (profile section 5).
func (c *Checker) verify(ctx context.Context, m *message, from string, arrival time.Time) Result {
	at := m.named("dkim-signature")
	if len(at) == 0 {
		return Result{Reason: "the mail has no DKIM signature"}
	}
	var verdict Result
	var reasons []string
	keys := &keyring{resolver: c.Resolver, answers: map[string]answer{}}
	for _, i := range at[:min(len(at), maxSignatures)] {
		result := c.verifyField(ctx, m.fields[i], check{m, keys, from, arrival})
		if result.Outcome == Pass {
			return result
		}
		if verdict.Outcome == Fail && (verdict.Domain == "" || result.Outcome == Temporary) {
			verdict = result
		}
		reasons = append(reasons, result.Reason)
	}
	verdict.Reason = strings.Join(reasons, "; ")
	return verdict
}

// check is what every signature of one mail is judged by.
type check struct {
	message *message
	keys    *keyring
	from    string
	arrival time.Time
}

// verifyField judges one DKIM-Signature field.
func (c *Checker) verifyField(ctx context.Context, f field, on check) Result {
	s, err := parseSignature(f)
	if err != nil {
		return Result{Reason: fmt.Sprintf("DKIM signature: %v", err)}
	}
	result := Result{
		Outcome:  Pass,
		Domain:   s.domain,
		Selector: s.selector,
		Reason:   fmt.Sprintf("DKIM signature of %s (%s) verified", s.domain, s.selector),
	}
	if err := c.judge(ctx, s, on); err != nil {
		result.Outcome = Fail
		if errors.Is(err, errNoAnswer) {
			result.Outcome = Temporary
		}
		result.Reason = fmt.Sprintf("DKIM signature of %s (%s): %v", s.domain, s.selector, err)
	}
	return result
}

// judge says why a signature does not count, nil if it does: what is local
// first, then the key, then the one dear operation.
func (c *Checker) judge(ctx context.Context, s *signature, on check) error {
	if err := s.usable(c, on.message, on.from, on.arrival); err != nil {
		return err
	}
	key, err := on.keys.find(ctx, s.keyName())
	if err != nil {
		return err
	}
	return key.verify(s, s.digest(on.message))
}

// errNoAnswer marks a lookup that failed for now.
var errNoAnswer = errors.New("the key could not be looked up")

// keyring holds the keys of one mail. Every name is asked for once: the
// verdict stands on one answer, and a mail cannot multiply lookups.
type keyring struct {
	resolver Resolver
	answers  map[string]answer
}

type answer struct {
	key *publicKey
	err error
}

func (k *keyring) find(ctx context.Context, name string) (*publicKey, error) {
	found, asked := k.answers[name]
	if !asked {
		found.key, found.err = lookUp(ctx, k.resolver, name)
		k.answers[name] = found
	}
	return found.key, found.err
}

// lookUp fetches and reads the key record at name.
func lookUp(ctx context.Context, resolver Resolver, name string) (*publicKey, error) {
	records, err := resolver.LookupTXT(ctx, name)
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return nil, errors.New("there is no key at its selector")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	// D41. With two records the resolver's order would choose the key.
	if len(records) != 1 {
		return nil, fmt.Errorf("there are %d records at its selector", len(records))
	}
	return parseKey(records[0])
}
