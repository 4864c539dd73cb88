package limits

import (
	"strings"

	"github.com/agentmaild/agentmaild/envelope/address"
)

// counterpart is who may deal. A blocked one is refused; one that the allow
// list does not name is asked about.
func (j *judge) counterpart() {
	to, err := address.Parse(j.Message.To.Address)
	if err != nil || to != j.Message.To.Address {
		j.nonsense("it is for no plain email address")
		return
	}
	for _, entry := range j.Block {
		if blocks(entry, to) {
			j.say(RuleBlock, Refuse, 0, to+" is blocked")
			return
		}
	}
	if len(j.Limits.Allow) == 0 {
		return
	}
	for _, entry := range j.Limits.Allow {
		if entry == to || entry == address.Of(to) || entry == Known && j.Standing.Known {
			j.say(RuleAllow, Allow, 0, to+" is allowed")
			return
		}
	}
	j.say(RuleAllow, AskOwner, 0, to+" is not among those who are allowed")
}

// blocks tells whether a blocked address or domain is that of a counterpart.
// A block reaches as far as it can, an entry of the allow list no further than
// it says (D143): whoever is blocked comes back from a host below the domain,
// or under a detail of the address (RFC 5233, D163), and letter case in front
// of the @ makes no difference to most servers.
func blocks(entry, to string) bool {
	if strings.Contains(entry, "@") {
		return strings.EqualFold(entry, to) || strings.EqualFold(entry, withoutDetail(to))
	}
	domain := address.Of(to)
	return domain == entry || strings.HasSuffix(domain, "."+entry)
}

// withoutDetail is an address without what stands behind a plus.
func withoutDetail(to string) string {
	user, domain, _ := strings.Cut(to, "@")
	user, _, _ = strings.Cut(user, "+")
	return user + "@" + domain
}
