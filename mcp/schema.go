package mcp

import (
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/google/jsonschema-go/jsonschema"
)

// formatMoney marks an amount, which may be written in two ways.
const formatMoney = "money"

// field is a member of an object.
type field struct {
	name   string
	schema *jsonschema.Schema
}

// object is the schema of an object that has no other members.
func object(required []string, fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Required: required, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range fields {
		s.Properties[f.name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, f.name)
	}
	return s
}

// acting is the schema of what a tool takes that acts.
func acting(required []string, fields ...field) *jsonschema.Schema {
	return object(required, append(fields, text(keyName, "optional: any 1 to 64 visible ASCII characters without a space, new for each new action and the same for each try of one; within a day it is then done once, and each try gets the first answer"))...)
}

func text(name, description string) field {
	return field{name, &jsonschema.Schema{Type: "string", Description: description}}
}

func chosen(name, description string, from ...any) field {
	return field{name, &jsonschema.Schema{Type: "string", Description: description, Enum: from}}
}

func flag(name, description string) field {
	return field{name, &jsonschema.Schema{Type: "boolean", Description: description}}
}

func whole(name, description string, least, most float64) field {
	return field{name, &jsonschema.Schema{Type: "integer", Description: description, Minimum: &least, Maximum: &most}}
}

func number(name, description string) field {
	return field{name, &jsonschema.Schema{Type: "number", Description: description}}
}

func several(name, description string, most int, of *jsonschema.Schema) field {
	least := 1
	return field{name, &jsonschema.Schema{Type: "array", Description: description, Items: of, MinItems: &least, MaxItems: &most}}
}

// anyObject is an object with whatever members.
func anyObject(name, description string) field {
	return field{name, &jsonschema.Schema{Type: "object", Description: description}}
}

func money(name, description string) field {
	return field{name, &jsonschema.Schema{
		Format: formatMoney, Description: description + `: "550.00 EUR", or {"amount": "55000", "currency": "EUR"} in whole minor units`,
		AnyOf: []*jsonschema.Schema{
			{Type: "string", Pattern: `^[0-9]+(\.[0-9]+)? [A-Z]{3}$`},
			object([]string{"amount", "currency"}, field{"amount", &jsonschema.Schema{Type: "string", Pattern: `^(0|[1-9][0-9]{0,17})$`}}, field{"currency", &jsonschema.Schema{Type: "string", Pattern: `^[A-Z]{3}$`}}),
		},
	}}
}

// Members that several tools have.
var (
	theInbox = text("inbox", "name of the inbox; only needed where there are several")
	theNote  = text("note", "words for the other side, at most 2000 characters")
	valid    = whole("valid_seconds", "how long the message is valid; seven days where it is left out", 1, inbox.MaxValid.Seconds())
	replaces = text("replaces", "id of the offer that this one counters")

	askedItem  = object([]string{"description", "quantity"}, text("description", "what, at most 500 characters"), number("quantity", "more than 0, at most 6 decimals"), text("unit", `such as "piece" or "kg"`))
	quotedItem = object([]string{"description", "quantity"}, text("description", "what, at most 500 characters"), number("quantity", "more than 0, at most 6 decimals"), text("unit", `such as "piece" or "kg"`), money("unit_price", "price of one"))
	slot       = object([]string{"start", "end", "time_zone"}, text("start", "as in 2026-11-12T10:00:00+01:00"), text("end", "as in 2026-11-12T10:30:00+01:00"), text("time_zone", "name of the tz database, as in Europe/Berlin"))
	failure    = object([]string{"code"}, text("code", "such as not_found or invalid_input"), text("message", "words for people"))
)

// answers are the statuses that an answer may have.
var answers = []any{
	agentmsg.StatusCompleted, agentmsg.StatusWorking, agentmsg.StatusInputRequired, agentmsg.StatusAuthRequired, agentmsg.StatusFailed,
	agentmsg.StatusRejected, agentmsg.StatusCanceled, agentmsg.StatusExhausted, agentmsg.StatusSubmitted, agentmsg.StatusAccepted,
}
