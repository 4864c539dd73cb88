package agentmsg

import (
	"cmp"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads one envelope and verifies who signed it (§5, §22 step 1). What
// is signed are the values, not the bytes: the attachment may have been
// indented, re-ordered or re-encoded on its way. Its error is a *Refusal with
// CodeJSON, CodeSignature or CodeType, looked at in this order.
func Parse(data []byte) (*Envelope, error) {
	if len(data) > MaxEnvelope {
		return nil, &Refusal{Code: CodeJSON, Reason: "longer than 1 MiB"}
	}
	canonical, err := canon.Strict(data, maxDepth)
	if err != nil {
		return nil, &Refusal{Code: CodeJSON, Reason: "not strict JSON", cause: err}
	}
	var w wire
	if err := decode("envelope", canonical, &w); err != nil {
		return nil, err
	}
	if fault := w.fault(); fault != "" {
		return nil, &Refusal{Code: CodeJSON, Reason: fault}
	}
	e, err := w.envelope()
	if err != nil {
		return nil, err
	}
	if err := verify(w.From, tagEnvelope, base64.RawURLEncoding, canonical, w.Sig); err != nil {
		return nil, err
	}
	if e.Request == nil && e.Respond == nil { // events, streams and rooms do not travel by email
		return nil, &Refusal{Code: CodeType, Reason: "neither a request nor a respond"}
	}
	e.canonical = canonical
	return e, nil
}

// envelope makes the typed view. One of another type than the two has neither
// Request nor Respond.
func (w *wire) envelope() (*Envelope, error) {
	ts, _ := parseTime(w.TS)
	e := &Envelope{
		ID: w.ID, Type: w.Type, Time: ts, From: w.From, To: text(w.To), addressed: w.To != nil,
		Trace:  Trace{TraceID: w.Trace.TraceID, SpanID: w.Trace.SpanID, ParentSpanID: text(w.Trace.ParentSpanID)},
		TaskID: text(w.TaskID), InReplyTo: text(w.InReplyTo), ContextID: text(w.ContextID),
		Budget: present(w.Budget), Meta: w.Meta,
	}
	var err error
	switch w.Type {
	case TypeRequest:
		e.Request, err = w.request()
	case TypeRespond:
		e.Respond, err = w.respond()
	}
	return e, err
}

func (w *wire) request() (*Request, error) {
	var offering, skill *string
	r := &Request{Input: present(w.Payload.Input), Config: present(w.Payload.Config)}
	if err := cmp.Or(
		decode("payload/offering", w.Payload.Offering, &offering),
		decode("payload/skill", w.Payload.Skill, &skill),
		decode("payload/files", w.Payload.Files, &r.Files),
	); err != nil {
		return nil, err
	}
	name := cmp.Or(offering, skill)
	switch {
	case name == nil || !isName(*name):
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.offering is missing, empty, longer than 256 bytes or has control characters"}
	case skill != nil && *skill != *name: // two readers would do two different things
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.offering and payload.skill differ"}
	case len(r.Files) > maxList:
		return nil, &Refusal{Code: CodeJSON, Reason: "more than 100 files"}
	}
	r.Offering = *name
	return r, nil
}

func (w *wire) respond() (*Respond, error) {
	r := &Respond{Output: present(w.Payload.Output), Artifacts: w.Artifacts, Error: w.Error}
	if err := decode("payload/status", w.Payload.Status, &r.Status); err != nil {
		return nil, err
	}
	switch {
	case w.InReplyTo == nil:
		return nil, &Refusal{Code: CodeJSON, Reason: "in_reply_to is missing"}
	case !r.Status.known():
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.status is none of the states"}
	case w.TaskID == nil && !r.Status.Final() && r.Status != StatusAccepted: // nothing that could go on (§7, D151)
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.status is of a task, and there is no task_id"}
	case w.Error != nil && !isName(string(w.Error.Code)):
		return nil, &Refusal{Code: CodeJSON, Reason: "error.code is missing, empty, longer than 256 bytes or has control characters"}
	}
	return r, r.checkArtifacts()
}

func (r *Respond) checkArtifacts() error {
	many := len(r.Artifacts) > maxList
	for i, artifact := range r.Artifacts {
		many = many || len(artifact.Parts) > maxList
		for j := range artifact.Parts {
			part := &r.Artifacts[i].Parts[j]
			part.Data = present(part.Data)
		}
	}
	if many {
		return &Refusal{Code: CodeJSON, Reason: "more than 100 artifacts, or parts of one"}
	}
	if r.Error != nil {
		r.Error.Details = present(r.Error.Details)
	}
	return nil
}

// decode reads a value in canonical form that stands at a place, or nil where
// the value is absent. A member of the wrong kind is named; it can only be one
// of those that are known here.
func decode(place string, value jsontext.Value, into any) error {
	if value == nil {
		return nil
	}
	err := json.Unmarshal(value, into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		place += string(wrong.JSONPointer)
	}
	return &Refusal{Code: CodeJSON, Reason: place + " is of the wrong kind", cause: err}
}

// verify checks sig, in its one spelling, by the key of from: over a domain tag
// and the canonical object without sig (§4.5, §5.3).
func verify(from, tag string, encoding *base64.Encoding, canonical []byte, sig signature) error {
	raw, err := decode64(encoding, *sig.text)
	if err != nil {
		return &Refusal{Code: CodeSignature, Reason: "sig is not canonical base64", cause: err}
	}
	if !signed(from, slices.Concat([]byte(tag), canonical[:sig.start], canonical[sig.end:]), raw) {
		return &Refusal{Code: CodeSignature, Reason: "not signed by its agent over these values"}
	}
	return nil
}

var errSpelling = errors.New("not canonical base64")

// decode64 takes the one spelling of some bytes: the library would skip line
// breaks and unused bits.
func decode64(encoding *base64.Encoding, text string) ([]byte, error) {
	data, err := encoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	if encoding.EncodeToString(data) != text {
		return nil, errSpelling
	}
	return data, nil
}
