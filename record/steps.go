package record

import "slices"

// steps are the rules in the order of docs/records.md; a test holds the two together.
func steps() []rule {
	return slices.Concat(reading(), binding(),
		signatureRules(offering, "messages"), signatureRules(accepting, "messages"),
		[]rule{
			{"seal form", CodeSeal, "schema", sealForm},
			{"seal signer", CodeSeal, "seal form", sealSigner},
		},
		signatureRules(sealing, "seal signer"),
		[]rule{{"kind", CodeKind, "messages", kindFound}},
	)
}

func reading() []rule {
	return []rule{
		{"size", CodeSize, "", sizeWithin},
		{"json", CodeJSON, "size", strictJSON},
		{"profile", CodeProfile, "json", rightProfile},
		{"schema", CodeSchema, "profile", rightForm},
		{"tokens", CodeSignature, "schema", tokensRead},
		{"canonical", CodeCanonical, "tokens", bytesCanonical},
		{"messages", CodeSchema, "canonical", messagesValid},
		{"hashes", CodeHash, "tokens", hashesRecomputed},
		{"chain", CodeChain, "messages", chainFormed},
		{"mails", CodeChain, "chain", chainRecomputed},
	}
}

func binding() []rule {
	return []rule{
		{"slot", CodeBinding, "messages", slotOffered},
		{"terms", CodeTerms, "messages", termsRecomputed},
		{"thread", CodeBinding, "messages", sameThread},
		{"recipient", CodeBinding, "messages", rightRecipient},
		{"reference", CodeBinding, "messages", rightReference},
		{"prev", CodeBinding, "messages", rightPrev},
		{"agreed_at", CodeBinding, "messages", rightMoment},
		{"parties", CodeBinding, "messages", rightParties},
		{"replaced", CodeReplaced, "messages", offerCurrent},
		{"late", CodeLate, "messages", inTime},
	}
}

// The signatures of a record.
const (
	offering = iota
	accepting
	sealing
)

// names are those of the signatures in steps and reasons.
var names = [...]string{"offer", "acceptance", "seal"}

// signatureRules are the five rules of one signature.
func signatureRules(which int, needs string) []rule {
	name := names[which]
	rules := []rule{
		{"trust", CodeTrust, needs, of(which, trusted)},
		{"kid", CodeKid, name + " trust", of(which, keyOnPage)},
		{"revoked", CodeRevoked, name + " kid", of(which, notRevoked)},
		{"retired", CodeRetired, name + " kid", of(which, notRetired)},
		{"signature", CodeSignature, name + " kid", of(which, verifies)},
	}
	for i := range rules {
		rules[i].name = name + " " + rules[i].name
		if which == sealing { // D50: anything wrong with the seal
			rules[i].code = CodeSeal
		}
	}
	return rules
}
