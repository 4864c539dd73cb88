package intent

import "strings"

// shape lists the members that an object may have; the value is the shape of
// a member that is itself an object or a list of objects, nil for any other.
type shape map[string]shape

var (
	moneyShape = shape{"amount": nil, "currency": nil}
	askItem    = shape{"description": nil, "quantity": nil, "unit": nil}
	quoteItem  = shape{"description": nil, "quantity": nil, "unit": nil, "unit_price": moneyShape}
	slotShape  = shape{"start": nil, "end": nil, "time_zone": nil}
)

// shapes holds the members of each type. A member that only another type has
// is an unknown member (D35).
var shapes = map[Type]shape{
	AskQuote:     with(shape{"items": askItem, "wanted_by": nil}),
	Quote:        with(shape{"items": quoteItem, "total": moneyShape, "delivery_by": nil, "replaces": nil}),
	ProposeTimes: with(shape{"slots": slotShape, "purpose": nil, "location": nil, "replaces": nil}),
	Accept:       with(shape{"ref": nil, "slot": nil}),
	Decline:      with(shape{"ref": nil, "reason": nil}),
	Cancel:       with(shape{"ref": nil}),
}

// with adds the members that every type has.
func with(s shape) shape {
	for _, name := range strings.Fields("@context profile id thread type in_reply_to nonce iat exp prev note") {
		s[name] = nil
	}
	s["from"] = shape{"address": nil, "party": nil, "name": nil, "card": nil}
	s["to"] = shape{"address": nil}
	s["acting_for"] = shape{"org_name": nil, "contact": nil}
	s["agent"] = shape{"name": nil, "kind": nil}
	s["authority"] = shape{"decided_by": nil, "level": nil, "limits_version": nil}
	return s
}

// prune deletes the members that a shape does not have, at every level, and
// tells whether there were any. A nil shape keeps everything.
func prune(value any, s shape) (dropped bool) {
	if s == nil {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			inner, known := s[name]
			if !known {
				delete(v, name)
				dropped = true
			} else if prune(member, inner) {
				dropped = true
			}
		}
	case []any:
		for _, element := range v {
			if prune(element, s) {
				dropped = true
			}
		}
	}
	return dropped
}
