package agentmsg

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Compose makes a signed message of e, which has a Request or a Respond. ts is
// now; id, trace and span are drawn from random where e has none. What Parse
// would refuse is not made: the error is then a *Refusal.
func (i Identity) Compose(e Envelope, now time.Time, random io.Reader) (*Envelope, error) {
	if err := e.fill(i, now, random); err != nil {
		return nil, fmt.Errorf("composing a message: %w", err)
	}
	w, err := e.wire()
	if err != nil {
		return nil, fmt.Errorf("composing a message: %w", err)
	}
	data, err := i.signObject(w, &w.Sig, tagEnvelope, base64.RawURLEncoding)
	if err != nil {
		return nil, fmt.Errorf("composing a message: %w", err)
	}
	signed, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("composing a message: %w", err)
	}
	return signed, nil
}

// fill sets what every message has.
func (e *Envelope) fill(i Identity, now time.Time, random io.Reader) error {
	switch {
	case (e.Request == nil) == (e.Respond == nil):
		return errors.New("it must have a request or a respond, and not both")
	case e.From != "" && e.From != i.id:
		return errors.New("it is from another agent")
	case e.Request != nil:
		e.Type = TypeRequest
	default:
		e.Type = TypeRespond
	}
	e.From, e.Time = i.id, now
	var err error
	if e.ID == "" {
		if e.ID, err = NewID(now, random); err != nil {
			return err
		}
	}
	if err := draw(&e.Trace.TraceID, 16, random); err != nil {
		return err
	}
	return draw(&e.Trace.SpanID, 8, random)
}

// wire is the envelope as it is written, without sig. Absent members are
// absent, never null (§5.3).
func (e *Envelope) wire() (*wire, error) {
	w := &wire{
		V: versionEnvelope, ID: e.ID, Type: e.Type, TS: formatTime(e.Time), From: e.From, To: optional(e.To),
		Trace:  wireTrace{TraceID: e.Trace.TraceID, SpanID: e.Trace.SpanID, ParentSpanID: optional(e.Trace.ParentSpanID)},
		TaskID: optional(e.TaskID), InReplyTo: optional(e.InReplyTo), ContextID: optional(e.ContextID),
		Budget: present(e.Budget), Meta: e.Meta,
	}
	var err error
	if r := e.Request; r != nil {
		w.Payload.Input, w.Payload.Config = present(r.Input), present(r.Config)
		if w.Payload.Offering, err = json.Marshal(r.Offering); err == nil && r.Files != nil {
			w.Payload.Files, err = json.Marshal(r.Files)
		}
		return w, err
	}
	w.Payload.Output, w.Artifacts, w.Error = present(e.Respond.Output), e.Respond.Artifacts, e.Respond.Error
	w.Payload.Status, err = json.Marshal(e.Respond.Status)
	return w, err
}

// signObject writes an object in canonical form with its signature, which is
// put into the member sig of it.
func (i Identity) signObject(object any, sig *signature, tag string, encoding *base64.Encoding) ([]byte, error) {
	unsigned, err := canonical(object)
	if err != nil {
		return nil, err
	}
	raw, err := i.sign(tag, unsigned)
	if err != nil {
		return nil, err
	}
	sig.text = optional(encoding.EncodeToString(raw))
	return canonical(object)
}

// canonical writes v in canonical form, within what is read: canon.Marshal
// alone would write a number that is no finite double as another.
func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return canon.Strict(data, maxDepth)
}

// NewID is a UUID of version 7 (RFC 9562 §5.7): milliseconds of the time, then
// 74 random bits. Tasks are named by such ids as well.
func NewID(now time.Time, random io.Reader) (string, error) {
	var id [16]byte
	if _, err := io.ReadFull(random, id[6:]); err != nil {
		return "", fmt.Errorf("drawing an id: %w", err)
	}
	ms := uint64(now.UnixMilli())
	for n := range 6 {
		id[n] = byte(ms >> (40 - 8*n))
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}

// draw fills an empty name with random bytes in hex.
func draw(name *string, size int, random io.Reader) error {
	if *name != "" {
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(random, data); err != nil {
		return fmt.Errorf("drawing a trace: %w", err)
	}
	*name = hex.EncodeToString(data)
	return nil
}

// Reply is a respond to the request e, to be composed: to its sender, in its
// trace and, in task mode, an update of its task. A request that begins a task
// is answered with the TaskID set by the caller (NewID).
func (e *Envelope) Reply(r Respond) Envelope {
	return Envelope{
		To: e.From, InReplyTo: e.ID, TaskID: e.TaskID, ContextID: e.ContextID,
		Trace:   Trace{TraceID: e.Trace.TraceID, ParentSpanID: e.Trace.SpanID},
		Respond: &r,
	}
}

// Refuse is a respond that says why the request e is not done, to be composed.
// It is bare even where the request goes on with a task: the task itself has
// not failed (D103).
func (e *Envelope) Refuse(code ErrorCode) Envelope {
	reply := e.Reply(Respond{Status: StatusFailed, Error: Fail(code)})
	reply.TaskID = ""
	return reply
}

// Chat is the body of the offering chat, both ways.
func Chat(text string) (jsontext.Value, error) {
	return json.Marshal(map[string]string{textNames[0]: text})
}
