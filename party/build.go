package party

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BuildPage writes the key page of our own party (D24), with the public halves of keys, oldest first. The same
// arguments give the same bytes. It fails where ParsePage would not find every key on the page, or nobody could ask for
// it because party is not a party id.
func BuildPage(party, orgName string, addresses, domains []string, keys []OwnKey) ([]byte, error) {
	if !partyID.MatchString(party) {
		return nil, fmt.Errorf("build the key page: %q is not a party id", party)
	}
	p := pageJSON{Profile: pageProfile, Party: party, OrgName: orgName, Addresses: addresses, Domains: domains}
	for _, k := range slices.SortedFunc(slices.Values(keys), byAge) {
		value, err := json.Marshal(publicJSON(k))
		if err != nil {
			return nil, fmt.Errorf("build the key page: %w", err)
		}
		p.Keys = append(p.Keys, jsontext.Value(value))
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("build the key page: %w", err)
	}
	page, err := ParsePage(data, party)
	if err != nil {
		return nil, fmt.Errorf("build the key page: %w", err)
	}
	if len(page.Keys) != len(keys) {
		return nil, fmt.Errorf("build the key page: only %d of %d keys could be used", len(page.Keys), len(keys))
	}
	return data, nil
}

func publicJSON(k OwnKey) keyJSON {
	return keyJSON{
		Kty: "OKP", Crv: "Ed25519", X: base64.RawURLEncoding.EncodeToString(k.public()), Kid: k.Kid,
		CreatedAt: &k.CreatedAt, RetiredAt: orNil(k.RetiredAt), RevokedAt: orNil(k.RevokedAt),
	}
}

func orNil(t int64) *int64 {
	if t == 0 {
		return nil
	}
	return &t
}
