package dkim

import (
	"errors"
	"fmt"
	"strings"
)

// maxPasses is how many dkim=pass are looked at, from the top (D187). Each is
// held against all signatures of the mail, and the sender chooses how many those
// are.
const maxPasses = 100

// trust takes the verdict of the server named AuthservID from its
// Authentication-Results (profile section 5, D53). It is never Temporary: the
// field will not change, whatever it says.
func (c *Checker) trust(m *message, from string) Result {
	results, err := c.trustedResults(m)
	if err != nil {
		return Result{Reason: err.Error()}
	}
	verdict := Result{Reason: fmt.Sprintf("%s reports no dkim=pass", c.AuthservID)}
	// One pass is enough, whatever else failed: with two signatures one may
	// break on the way, and a failure takes nothing from what the other proves.
	// A pass of one domain and a failure of another stays a failure, because the
	// domain that passed is not the one in From.
	judged := 0
	for _, result := range results {
		if result.method != "dkim" || result.result != "pass" {
			continue
		}
		if judged++; judged > maxPasses {
			break
		}
		verdict = c.judgeResult(m, result, from)
		if verdict.Outcome == Pass {
			break
		}
	}
	return verdict
}

// trustedResults gathers the results of the fields that count. The topmost
// field of the id is the server's own. What the sender forged stands below it,
// so further ones count only above the topmost Received, where nobody but the
// last server writes.
func (c *Checker) trustedResults(m *message) ([]authResult, error) {
	var results []authResult
	found, received := false, false
	for _, f := range m.fields {
		received = received || f.name == "received"
		if f.name != "authentication-results" {
			continue
		}
		if found && received && !c.TrustAll {
			break
		}
		parsed, err := parseAuthResults(string(f.value))
		if err != nil && !found && (parsed.id == "" || sameID(parsed.id, c.AuthservID)) {
			// It might be the server's own, and its verdict cannot be read: falling
			// through to the next field would believe the sender's.
			return nil, err
		}
		if err != nil || !sameID(parsed.id, c.AuthservID) {
			continue
		}
		found = true
		results = append(results, parsed.results...)
	}
	if !found {
		return nil, errors.New("the mail has no Authentication-Results of the trusted server")
	}
	return results, nil
}

// sameID compares in ASCII: Unicode folding makes K of the Kelvin sign. An
// empty id, of the configuration or of a field, is nobody's (D53).
func sameID(id, trusted string) bool {
	if len(id) != len(trusted) || id == "" {
		return false
	}
	for i := range len(id) {
		a, b := id[i], trusted[i]
		if a >= 0x80 || a != b && (a|0x20 != b|0x20 || a|0x20 < 'a' || a|0x20 > 'z') {
			return false
		}
	}
	return true
}

// judgeResult judges one dkim=pass.
func (c *Checker) judgeResult(m *message, result authResult, from string) Result {
	var verdict Result
	domain, err := resultDomain(result)
	if err == nil && !Aligned(domain, from, c.Strict) { // D21
		err = fmt.Errorf("it does not speak for %s", from)
	}
	if err == nil {
		err = stillSafe(m, domain)
	}
	if isName(domain, false) {
		verdict.Domain = domain
	}
	if selector := strings.ToLower(result.properties["header.s"]); isName(selector, false) {
		verdict.Selector = selector
	}
	if err != nil {
		verdict.Reason = fmt.Sprintf("dkim=pass of %s reported by %s: %v", domain, c.AuthservID, err)
		return verdict
	}
	verdict.Outcome = Pass
	verdict.Reason = fmt.Sprintf("dkim=pass of %s reported by %s", domain, c.AuthservID)
	return verdict
}

// resultDomain is the domain a result speaks of: header.d, else the domain of
// header.i (RFC 8601 §2.7.1). Where both stand they must agree, as d= and i=
// do.
func resultDomain(result authResult) (string, error) {
	domain, hasDomain := result.properties["header.d"]
	identity, hasIdentity := result.properties["header.i"]
	domain = strings.ToLower(domain)
	if !hasIdentity {
		if !hasDomain {
			return "", errors.New("it names no domain")
		}
		return domain, nil
	}
	at := strings.LastIndexByte(identity, '@')
	identity = strings.ToLower(identity[at+1:])
	if !hasDomain {
		domain = identity
	}
	if at < 0 || !within(identity, domain) {
		return "", errors.New("header.i and header.d contradict each other")
	}
	return domain, nil
}

// stillSafe looks at the signatures the result may speak of, where the server
// left them in the mail. It may be laxer than D22 and D23 are, and pass one
// with l= or without From in h=. All are looked at, since a sender can add
// harmless ones; one that cannot be read may be of any domain.
func stillSafe(m *message, domain string) error {
	for _, i := range m.named("dkim-signature") {
		tags, err := parseTags(string(m.fields[i].value))
		if err != nil {
			return fmt.Errorf("a DKIM signature cannot be read: %w", err)
		}
		// d= may be the parent of a domain taken from header.i.
		if d, _ := tags.get("d"); !within(domain, strings.ToLower(d)) {
			continue
		}
		if _, limited := tags.get("l"); limited { // D22
			return errors.New("its signature has l=")
		}
		names, _ := tags.get("h")
		if !m.covers(splitList(names), "from") {
			return errors.New("its signature does not cover From")
		}
		if err := m.fixed(splitList(names)); err != nil { // D23
			return err
		}
	}
	return nil
}
