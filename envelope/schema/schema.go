// Package schema holds the two normative JSON Schemas, draft 2020-12.
package schema

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Message and Record are the schema documents as published.
var (
	//go:embed message.schema.json
	Message []byte
	//go:embed record.schema.json
	Record []byte
)

// Identifiers of the two schemas (profile: "Schemas").
const (
	MessageID = "https://docs.stackshift.cloud/agent-intents/v1/message.schema.json"
	RecordID  = "https://docs.stackshift.cloud/agent-intents/v1/record.schema.json"
)

// Compile compiles one location in the embedded schemas: an identifier, with
// an optional fragment such as "#/$defs/quote". No loader is configured, so a
// schema can never cause a fetch.
func Compile(location string) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nothing{})
	for id, text := range map[string][]byte{MessageID: Message, RecordID: Record} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("reading schema %s: %w", id, err)
		}
		if err := compiler.AddResource(id, doc); err != nil {
			return nil, fmt.Errorf("adding schema %s: %w", id, err)
		}
	}
	compiled, err := compiler.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("compiling schema %s: %w", location, err)
	}
	return compiled, nil
}

// nothing loads no schema from anywhere.
type nothing struct{}

func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema %s is not embedded", url)
}
