package emailing

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/inert"
)

// words are the states of a task as people read them. An acceptance says no
// more than that the request has arrived.
var words = map[agentmsg.Status]string{
	agentmsg.StatusAccepted:      "received",
	agentmsg.StatusSubmitted:     "received",
	agentmsg.StatusWorking:       "working",
	agentmsg.StatusInputRequired: "needs your input",
	agentmsg.StatusAuthRequired:  "needs authorisation",
	agentmsg.StatusCompleted:     "done",
	agentmsg.StatusFailed:        "failed",
	agentmsg.StatusCanceled:      "canceled",
	agentmsg.StatusRejected:      "declined",
	agentmsg.StatusExhausted:     "budget used up",
}

// How much is shown of texts that may be long, in characters.
const (
	maxOffering = 60
	maxShort    = 80 // the text in a subject
	maxName     = 200
	maxValue    = 4000 // what is no text is shown as JSON
)

// subject is the subject of the email: [state] offering: short text.
func subject(m *agentmsg.Envelope, offering string) string {
	state := "request"
	if m.Respond != nil {
		state = words[m.Respond.Status]
	}
	s := "[" + state + "]"
	if offering != "" {
		s += " " + short(offering, maxOffering)
	}
	text := said(m)
	if text == "" && m.Respond != nil && m.Respond.Error != nil {
		text = m.Respond.Error.Message
	}
	if text = short(text, maxShort); text != "" {
		s += ": " + text
	}
	return s
}

// said is the text of a message, of a cancel its reason, "" where there is
// none for people.
func said(m *agentmsg.Envelope) string {
	if cancel, err := agentmsg.ParseCancel(m); err == nil {
		return strings.TrimSuffix(strings.ReplaceAll(string(cancel.Reason), "_", " ")+": "+cancel.Note, ": ")
	}
	return m.Text()
}

// short is the beginning of a text in one line.
func short(text string, limit int) string {
	return inert.Line(cut(strings.Join(strings.Fields(text), " "), limit))
}

// cut is at most limit characters of a text, the last one … where there are more.
func cut(text string, limit int) string {
	n := 0
	for i := range text {
		if n++; n == limit {
			if utf8.RuneCountInString(text[i:]) > 1 {
				return text[:i] + "…"
			}
			break
		}
	}
	return text
}

// text is the plain text of the email: what the signed message says, for
// people. What the message quotes is marked as its words line by line, so that
// none of them can pass for one of ours.
func text(m *agentmsg.Envelope, offering string) string {
	t := &writing{}
	t.opening(m, offering)
	t.quote(body(m))
	t.failure(m)
	t.artifacts(m)
	t.files(m)
	if m.TaskID != "" {
		t.line("Task: " + short(m.TaskID, maxName))
	}
	t.line(next(m))
	t.line("")
	t.line("The signed message is in the attachment " + envelopeName + ". Agents act on that, never on this text.")
	return t.String()
}

// Answer is what a respond says to a person who wrote a plain mail, as people
// write to each other.
func Answer(m *agentmsg.Envelope) string {
	lines := inert.Lines(body(m))
	if m.Respond.Error != nil {
		lines = append(lines, inert.Lines(m.Respond.Error.Message)...)
	}
	for _, artifact := range m.Respond.Artifacts {
		for _, part := range artifact.Parts {
			lines = append(lines, inert.Lines(part.Text)...)
		}
	}
	if len(lines) == 0 {
		lines = []string{"Your message: " + words[m.Respond.Status] + "."}
	}
	return strings.Join(lines, "\n") + "\n"
}

// next is what the reader may expect.
func next(m *agentmsg.Envelope) string {
	switch {
	case m.Request != nil:
		return "The answer will come by email."
	case m.Respond.Status == agentmsg.StatusInputRequired:
		return "The work goes on when the missing input has been sent."
	case m.Respond.Status == agentmsg.StatusAuthRequired:
		return "The work goes on when it has been authorised."
	case m.Respond.Status.Final():
		return "Nothing more will follow."
	default:
		return "More will follow by email."
	}
}

// writing is a text that is being written.
type writing struct{ strings.Builder }

func (t *writing) line(s string) { t.WriteString(s + "\n") }

func (t *writing) opening(m *agentmsg.Envelope, offering string) {
	about := ""
	if offering != "" {
		about = ` "` + short(offering, maxName) + `"`
	}
	if m.Respond != nil {
		t.line("Agent " + m.From + " answers" + about + ": " + words[m.Respond.Status] + ".")
	} else {
		t.line("Agent " + m.From + " asks for" + about + ".")
	}
	t.line("")
}

// body is the input or output as it is shown.
func body(m *agentmsg.Envelope) string {
	switch text, value := said(m), m.Body(); {
	case agentmsg.IsSealed(value):
		return "(sealed: only the agent it is for can read it)"
	case text != "":
		return text
	case value != nil:
		return cut(string(value), maxValue)
	default:
		return ""
	}
}

// quote marks a text of the message.
func (t *writing) quote(text string) {
	if text == "" {
		return
	}
	for _, line := range inert.Lines(text) {
		t.line("> " + line)
	}
	t.line("")
}

func (t *writing) failure(m *agentmsg.Envelope) {
	if m.Respond == nil || m.Respond.Error == nil {
		return
	}
	t.line("Error: " + short(string(m.Respond.Error.Code), maxName))
	t.quote(m.Respond.Error.Message)
}

// artifacts shows the texts and values among the results; files are listed
// with the others.
func (t *writing) artifacts(m *agentmsg.Envelope) {
	if m.Respond == nil {
		return
	}
	for _, artifact := range m.Respond.Artifacts {
		for _, part := range artifact.Parts {
			shown := part.Text
			if shown == "" && part.Data != nil {
				shown = cut(string(part.Data), maxValue)
			}
			if shown != "" {
				t.line("Result" + titled(artifact.Name) + ":")
				t.quote(shown)
			}
		}
	}
}

func titled(name string) string {
	if name == "" {
		return ""
	}
	return ` "` + short(name, maxName) + `"`
}

func (t *writing) files(m *agentmsg.Envelope) {
	for _, file := range m.Files() {
		where := "attached"
		if file.Ref == "" {
			where = "not attached, at " + short(file.URI, maxName)
		}
		t.line(fmt.Sprintf("File%s, %s, %d bytes, %s", titled(file.Name), short(file.MediaType, maxName), file.Size, where))
	}
}
