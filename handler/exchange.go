package handler

import (
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of event of Agent Emailing, beside those of agentmsg.
const (
	typeCancelTask    = "cancel_task"    // who asked has ended the task
	typeTaskCorrected = "task_corrected" // an update came late, and the task stands elsewhere than was told (E1)
)

// Exchange is a message of Agent Emailing as the program reads it. What a
// program without a JSON parser needs stands first: up to the path of the first
// file only Offering is text of the other side.
type Exchange struct {
	From     string          `json:"from"` // agent id, proven by the signature
	Kind     agentmsg.Type   `json:"kind"`
	Offering string          `json:"offering"` // asked for, or answered
	Files    []File          `json:"files"`
	Person   string          `json:"person,omitempty"`  // whose plain mail it is; proven by DKIM
	Status   agentmsg.Status `json:"status,omitempty"`  // of a respond
	Request  string          `json:"request,omitempty"` // of a respond: the id of our request
	Task     *inbox.Standing `json:"task,omitempty"`    // as it stood with this message
	Text     string          `json:"text,omitempty"`    // of the sender, fenced and framed for a model (§22.6)
	Body     jsontext.Value  `json:"body,omitempty"`    // input or output, opened where it was sealed
}

// File is a file of a message. One with a Path is intact, byte for byte as it
// was signed.
type File struct {
	State     emailing.FileState `json:"state"`
	Path      string             `json:"path,omitempty"`
	Size      int64              `json:"size"` // bytes, as signed
	MediaType string             `json:"media_type,omitempty"`
	Name      string             `json:"name"`
	URI       string             `json:"uri,omitempty"` // never fetched
}

// exchange is the document of a message of Agent Emailing.
func (h *Handler) exchange(e *inbox.Event) (Document, error) {
	message, err := agentmsg.Parse(e.Message)
	if err != nil {
		return Document{}, err
	}
	body, err := h.Inbox.Body(e.Message)
	if err != nil {
		return Document{}, err
	}
	x := e.Exchange
	d := h.begin(e, exchangeType(e))
	d.Proof.Signature = string(inbox.Signed)
	if x.Person != "" { // it is the bridge that signed
		d.Proof.Signature, d.Proof.Domain = string(inbox.MailOnly), address.Of(x.Person)
	}
	d.Exchange = &Exchange{From: x.From, Kind: x.Kind, Offering: x.Offering, Files: []File{}, Person: x.Person, Task: x.Task, Text: x.Text, Body: body}
	for _, f := range x.Files {
		d.Exchange.Files = append(d.Exchange.Files, File{f.State, f.Path, f.Size, f.MediaType, f.Name, f.URI})
	}
	if message.Respond != nil {
		d.Exchange.Status, d.Exchange.Request = message.Respond.Status, message.InReplyTo
	}
	return d, nil
}

func exchangeType(e *inbox.Event) string {
	switch {
	case e.Kind == inbox.KindTaskCorrected:
		return typeTaskCorrected
	case e.Exchange.Kind == agentmsg.TypeRequest && e.Exchange.Offering == agentmsg.OfferingCancel:
		return typeCancelTask
	default:
		return string(e.Exchange.Kind)
	}
}
