package record

import (
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// recordForm is the record schema, but for what depends on kind.
var recordForm = map[string]form{
	"profile": oneOf(Profile), "id": defined("uuid"), "thread": defined("uuid"),
	"kind":    oneOf(string(TwoSignatures), string(OurSignature), string(TheirReply)),
	"parties": list(2, 2, partyForm), "offer": evidenceForm, "acceptance": evidenceForm, "reply": replyForm, "terms": termsForm,
	"agreed_at": defined("time"), "chain": list(1, MaxSize, defined("hash")), "offer_current": boolean, "seal": text(1, MaxSize),
}

var (
	partyForm = members(map[string]form{
		"role": oneOf(Offerer, Accepter), "party?": defined("party"), "address": plainAddress, "org_name": line(1, 200),
		"kid?": text(1, 64), "authority?": members(map[string]form{
			"decided_by": oneOf("limits", "owner", "person"), "level?": line(0, 64), "limits_version?": either(line(0, 64), count),
		}),
	})
	evidenceForm = either(
		without("canonical", members(map[string]form{"jws": text(1, MaxSize), "hash": defined("hash")})),
		without("jws", members(map[string]form{"canonical": text(2, MaxSize), "hash": defined("hash")})),
	)
	replyForm = members(map[string]form{
		"hash": defined("hash"), "auth_results": text(0, 16384), "received_at": defined("time"),
	})
	termsForm = either(
		members(map[string]form{
			"type": oneOf("quote"), "items": list(1, 100, defined("quote_item")), "total": defined("money"), "delivery_by?": defined("date"),
		}),
		members(map[string]form{
			"type": oneOf("propose_times"), "slot": defined("slot"), "purpose?": line(0, 500), "location?": line(0, 500),
		}),
	)
)

// checkForm returns "" for members that are a record's, otherwise where they are not. A reply comes in the place of an
// acceptance for TheirReply, and only there (D50).
func checkForm(values map[string]jsontext.Value) string {
	for _, name := range sorted(recordForm) {
		value, there := values[name]
		if !there && name != "acceptance" && name != "reply" {
			return "/" + name + " is missing"
		}
		if !there {
			continue
		}
		var tree any
		if err := json.Unmarshal(value, &tree); err != nil {
			return "/" + name + " cannot be read"
		}
		if broken := recordForm[name](tree); broken != "" {
			return "/" + name + broken
		}
	}
	_, accepted := values["acceptance"]
	_, replied := values["reply"]
	byReply := string(values["kind"]) == `"`+string(TheirReply)+`"`
	switch {
	case replied != byReply:
		return "/reply belongs to " + string(TheirReply) + " and to no other kind"
	case accepted == byReply:
		return "/acceptance belongs to every kind but " + string(TheirReply)
	case !oneOfEach(values["parties"]):
		return "/parties are not one of each role"
	}
	return ""
}

func oneOfEach(value jsontext.Value) bool {
	var parties []struct {
		Role string `json:"role"`
	}
	return json.Unmarshal(value, &parties) == nil && len(parties) == 2 && parties[0].Role != parties[1].Role
}

// plainAddress is an address in the one form that can be compared (D9).
func plainAddress(value any) string {
	s, _ := value.(string)
	if _, err := address.Parse(s); err != nil {
		return " is no plain email address"
	}
	return ""
}
