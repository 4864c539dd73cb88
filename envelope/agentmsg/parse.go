package agentmsg

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"

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
	if err := decode(canonical, &w); err != nil {
		return nil, err
	}
	if fault := w.fault(); fault != "" {
		return nil, &Refusal{Code: CodeJSON, Reason: fault}
	}
	e, err := w.envelope()
	if err != nil {
		return nil, err
	}
	if err := verify(w.From, tagEnvelope, base64.RawURLEncoding, canonical, *w.Sig); err != nil {
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
	var p requestPayload
	if err := w.payload(&p); err != nil {
		return nil, err
	}
	offering := cmp.Or(p.Offering, p.Skill)
	switch {
	case offering == nil || !isName(*offering):
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.offering is missing, empty, longer than 256 bytes or has control characters"}
	case p.Skill != nil && *p.Skill != *offering: // two readers would do two different things
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.offering and payload.skill differ"}
	case len(p.Files) > maxList:
		return nil, &Refusal{Code: CodeJSON, Reason: "more than 100 files"}
	}
	return &Request{Offering: *offering, Input: present(p.Input), Config: present(p.Config), Files: p.Files}, nil
}

func (w *wire) respond() (*Respond, error) {
	var p respondPayload
	if err := w.payload(&p); err != nil {
		return nil, err
	}
	switch {
	case w.InReplyTo == nil:
		return nil, &Refusal{Code: CodeJSON, Reason: "in_reply_to is missing"}
	case !p.Status.known():
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.status is none of the states"}
	case w.TaskID == nil && !p.Status.Final() && p.Status != StatusAccepted: // nothing that could go on (§7)
		return nil, &Refusal{Code: CodeJSON, Reason: "payload.status is of a task, and there is no task_id"}
	case w.Error != nil && !isName(string(w.Error.Code)):
		return nil, &Refusal{Code: CodeJSON, Reason: "error.code is missing, empty, longer than 256 bytes or has control characters"}
	}
	r := &Respond{Status: p.Status, Output: present(p.Output), Artifacts: w.Artifacts, Error: w.Error}
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

func (w *wire) payload(into any) error {
	if present(w.Payload) == nil {
		return &Refusal{Code: CodeJSON, Reason: "payload is missing"}
	}
	return decode(w.Payload, into)
}

// decode reads canonical JSON into a struct. A member of the wrong kind is
// named; it can only be one of those that the struct has.
func decode(canonical []byte, into any) error {
	err := json.Unmarshal(canonical, into)
	if err == nil {
		return nil
	}
	reason := "not an object"
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONPointer != "" {
		reason = string(wrong.JSONPointer) + " is of the wrong kind"
	}
	return &Refusal{Code: CodeJSON, Reason: reason, cause: err}
}

// verify checks sig, in its one spelling, by the key of from: over a domain tag
// and the canonical object without sig (§4.5, §5.3).
func verify(from, tag string, encoding *base64.Encoding, canonical []byte, sig string) error {
	signature, err := decode64(encoding, sig)
	if err != nil {
		return &Refusal{Code: CodeSignature, Reason: "sig is not canonical base64", cause: err}
	}
	if !signed(from, tag, without(canonical, "sig"), signature) {
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

// without cuts a member that is not the first out of an object in canonical
// form; what is left is in canonical form. An object that has no such member is
// returned as it is.
func without(object []byte, name string) []byte {
	dec := jsontext.NewDecoder(bytes.NewBuffer(object)) // reads a Buffer in place
	if _, err := dec.ReadToken(); err != nil {
		return object
	}
	for dec.PeekKind() == jsontext.KindString {
		start := dec.InputOffset() // of the comma
		member, err := dec.ReadToken()
		if err != nil {
			break
		}
		found := member.String() == name // the token is gone with the next one
		if err := dec.SkipValue(); err != nil {
			break
		}
		if found {
			return append(bytes.Clone(object[:start]), object[dec.InputOffset():]...)
		}
	}
	return object
}
