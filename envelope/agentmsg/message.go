package agentmsg

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Type is what an envelope is. By email there are two.
type Type string

// The two types (§6.4, §6.5).
const (
	TypeRequest Type = "request"
	TypeRespond Type = "respond"
)

// Envelope is one message: who signed it, and a Request or a Respond. JSON
// values in it are in canonical form, nil where absent or null (E5).
type Envelope struct {
	ID        string    // UUID in any letter case; unique for its signer only
	Type      Type      // says which of Request and Respond is set
	Time      time.Time // ts, UTC, whole milliseconds
	From      string    // agent id of the signer
	To        string    // agent id, not checked for its form; empty: for whoever gets it, but see Addressing
	Trace     Trace
	TaskID    string // the task that a request goes on with, or a respond is an update of
	InReplyTo string // ID of the request that is answered
	ContextID string
	Budget    jsontext.Value
	Meta      Meta
	Request   *Request
	Respond   *Respond

	addressed bool // has a member to, were it empty
	canonical []byte
}

// Trace links messages of one piece of work.
type Trace struct {
	TraceID      string // 32 hex digits
	SpanID       string // 16 hex digits
	ParentSpanID string // 16 hex digits; empty: the message begins the work
}

// Meta is what this package reads of the member meta.
type Meta struct {
	Hops   float64   `json:"hops,omitzero"` // how often the message was relayed
	Email  EmailMeta `json:"email,omitzero"`
	Bridge *Bridge   `json:"bridge,omitzero"` // in bridged mode
}

// EmailMeta is meta.email.
type EmailMeta struct {
	Address string `json:"address,omitzero"` // where answers may go (E4); signed, its form not checked
}

// Bridge says for which person a bridge signed, and what proved it.
type Bridge struct {
	Address string `json:"address"`
	Domain  string `json:"domain"`
	Auth    string `json:"auth"`
}

// Request is what one agent asks of another (§6.4).
type Request struct {
	Offering string
	Input    jsontext.Value // plain, or sealed (IsSealed)
	Config   jsontext.Value
	Files    []File
}

// Respond answers a request, or is an update of its task (§6.5).
type Respond struct {
	Status    Status
	Output    jsontext.Value // plain, or sealed (IsSealed)
	Artifacts []Artifact
	Error     *Failure
}

// Status is the state of a task, or StatusAccepted.
type Status string

// The states of a task (§7). StatusAccepted is none: it says that a request
// has arrived and changes nothing.
const (
	StatusAccepted      Status = "accepted"
	StatusSubmitted     Status = "submitted"
	StatusWorking       Status = "working"
	StatusInputRequired Status = "input_required"
	StatusAuthRequired  Status = "auth_required"
	StatusCompleted     Status = "completed"
	StatusFailed        Status = "failed"
	StatusCanceled      Status = "canceled"
	StatusRejected      Status = "rejected"
	StatusExhausted     Status = "exhausted"
)

// Final tells whether a task ends in this state; one that has not ended can be
// canceled.
func (s Status) Final() bool {
	return slices.Contains([]Status{StatusCompleted, StatusFailed, StatusCanceled, StatusRejected, StatusExhausted}, s)
}

func (s Status) known() bool {
	return s.Final() || slices.Contains([]Status{StatusAccepted, StatusSubmitted, StatusWorking, StatusInputRequired, StatusAuthRequired}, s)
}

// Artifact is a result of a task (§7.5).
type Artifact struct {
	ID        string `json:"id,omitzero"`
	Name      string `json:"name,omitzero"`
	MediaType string `json:"media_type,omitzero"`
	Parts     []Part `json:"parts,omitzero"`
}

// Part is a piece of an artifact: a text, a JSON value or a file.
type Part struct {
	Text string         `json:"text,omitzero"`
	Data jsontext.Value `json:"data,omitzero"`
	File
}

// File describes a file that lies beside the envelope, or elsewhere. What it
// says is signed, and compared with nothing here.
type File struct {
	Name      string `json:"name,omitzero"`
	MediaType string `json:"media_type,omitzero"`
	Size      int64  `json:"size,omitzero"`   // bytes
	Digest    string `json:"digest,omitzero"` // "sha256:" and 64 hex digits
	Ref       string `json:"ref,omitzero"`    // cid: and the Content-ID of an attachment of the same mail
	URI       string `json:"uri,omitzero"`    // shown as such, never fetched
}

// Body is the input of a request, the output of a respond.
func (e *Envelope) Body() jsontext.Value {
	if e.Request != nil {
		return e.Request.Input
	}
	return e.Respond.Output
}

// Files are the files that the envelope names, those of artifacts included, in
// their order.
func (e *Envelope) Files() []File {
	if e.Request != nil {
		return e.Request.Files
	}
	var files []File
	for _, artifact := range e.Respond.Artifacts {
		for _, part := range artifact.Parts {
			if part.Ref != "" || part.URI != "" {
				files = append(files, part.File)
			}
		}
	}
	return files
}

// Bytes is the signed envelope in canonical form, to be mailed and stored.
func (e *Envelope) Bytes() []byte { return slices.Clone(e.canonical) }
