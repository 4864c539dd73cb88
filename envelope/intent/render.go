package intent

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/inert"
)

// titles are the words a person reads for each type.
var titles = map[Type]string{
	AskQuote:     "Request for a quote",
	Quote:        "Quote",
	ProposeTimes: "Proposed times",
	Accept:       "Acceptance",
	Decline:      "Decline",
	Cancel:       "Cancellation",
}

// Subject names the type and the thread. Nothing that the other side wrote
// stands in it.
func (m *Message) Subject() string {
	return titles[m.Type] + " [" + m.Thread[:min(8, len(m.Thread))] + "]"
}

// view is a message in the words of a person: what Text and HTML both show.
type view struct {
	Title string
	Facts []fact
	Lists []list
	Note  []string // lines; nil without a note
	Refs  []fact   // identifiers, for whoever must look something up
}

type fact struct{ Label, Value string }

type list struct {
	Label string
	Lines []string
}

const noteLabel = "Note from the sender's agent"

// Text is the message as plain text: everything the machine part says that
// concerns a person, and nothing else (profile: "How messages sit in email").
func (m *Message) Text() string {
	v := m.view()
	var b strings.Builder
	b.WriteString(v.Title + "\n\n")
	for _, f := range v.Facts {
		b.WriteString(f.Label + ": " + f.Value + "\n")
	}
	for _, l := range v.Lists {
		b.WriteString("\n" + l.Label + ":\n")
		for i, line := range l.Lines {
			fmt.Fprintf(&b, "%3d. %s\n", i+1, line)
		}
	}
	if v.Note != nil {
		b.WriteString("\n" + noteLabel + ":\n")
		for _, line := range v.Note {
			b.WriteString("> " + line + "\n")
		}
	}
	b.WriteString("\n")
	for _, f := range v.Refs {
		b.WriteString(f.Label + ": " + f.Value + "\n")
	}
	return b.String()
}

var page = template.Must(template.New("message").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{{.Title}}</title></head><body>
<h1>{{.Title}}</h1>
<table>{{range .Facts}}
<tr><th align="left">{{.Label}}</th><td>{{.Value}}</td></tr>{{end}}
</table>{{range .Lists}}
<h2>{{.Label}}</h2>
<ol>{{range .Lines}}
<li>{{.}}</li>{{end}}
</ol>{{end}}{{if .Note}}
<h2>{{.NoteLabel}}</h2>
<blockquote>{{range .Note}}{{.}}<br>
{{end}}</blockquote>{{end}}
<p><small>{{range .Refs}}{{.Label}}: {{.Value}}<br>
{{end}}</small></p>
</body></html>
`))

// NoteLabel stands over the note in both renderings.
func (view) NoteLabel() string { return noteLabel }

// HTML is the same as Text, as a page without links, images or styles from
// anywhere; all that the sender wrote is escaped.
func (m *Message) HTML() (string, error) {
	var b strings.Builder
	if err := page.Execute(&b, m.view()); err != nil {
		return "", fmt.Errorf("rendering a message as HTML: %w", err)
	}
	return b.String(), nil
}

func (m *Message) view() view {
	v := view{Title: titles[m.Type]}
	v.fact("From", m.sender())
	v.fact("For", m.ActingFor.OrgName+" ("+m.ActingFor.Contact+")")
	v.fact("Agent", m.Agent.Name+" ("+m.Agent.Kind+")")
	if a := m.Authority; a != nil {
		v.fact("Decided by", a.words())
	}
	v.fact("To", m.To.Address)
	v.items(m.Items)
	v.slots(m.Slots)
	if m.Total != nil {
		v.fact("Total", m.Total.String())
	}
	v.fact("Wanted by", m.WantedBy)
	v.fact("Delivery by", m.DeliveryBy)
	v.fact("Purpose", m.Purpose)
	v.fact("Location", m.Location)
	if m.Slot != nil {
		v.fact("Chosen time", "number "+strconv.Itoa(*m.Slot+1)+" of those offered")
	}
	v.fact("Reason", strings.ReplaceAll(m.Reason, "_", " "))
	v.fact("Sent", moment(m.Iat))
	v.fact("Valid until", moment(m.Exp))
	if m.Note != "" {
		v.Note = inert.Lines(m.Note)
	}
	v.ref("Refers to", m.Ref)
	v.ref("Replaces", m.Replaces)
	v.ref("Answers", m.InReplyTo)
	v.ref("Hash of the answered message", m.Prev)
	v.ref("Message", m.ID)
	v.ref("Thread", m.Thread)
	v.ref("Party", m.From.Party)
	v.ref("Agent card", m.From.Card)
	v.ref("Nonce", m.Nonce)
	return v
}

func (v *view) fact(label, value string) {
	if value != "" {
		v.Facts = append(v.Facts, fact{label, inert.Line(value)})
	}
}

func (v *view) ref(label, value string) {
	if value != "" {
		v.Refs = append(v.Refs, fact{label, inert.Line(value)})
	}
}

func (v *view) items(items []Item) {
	var lines []string
	for _, item := range items {
		line := strconv.FormatFloat(item.Quantity, 'f', -1, 64)
		if item.Unit != "" {
			line += " " + inert.Line(item.Unit)
		}
		line += " × " + inert.Line(item.Description)
		if item.UnitPrice != nil {
			line += " at " + item.UnitPrice.String() + " each"
		}
		lines = append(lines, line)
	}
	if lines != nil {
		v.Lists = append(v.Lists, list{"Items", lines})
	}
}

func (v *view) slots(slots []Slot) {
	var lines []string
	for _, s := range slots {
		lines = append(lines, s.String())
	}
	if lines != nil {
		v.Lists = append(v.Lists, list{"Times", lines})
	}
}

// String is the slot in its own zone, both ends with their date and offset.
func (s Slot) String() string {
	start, end, err := s.Times()
	zone, zoneErr := s.Zone()
	if err != nil || zoneErr != nil {
		return "a time that does not parse"
	}
	const form = "Mon 2 Jan 2006 15:04:05 -07:00"
	return start.In(zone).Format(form) + " to " + end.In(zone).Format(form) + ", " + s.TimeZone
}

func (m *Message) sender() string {
	if m.From.Name == "" {
		return m.From.Address
	}
	return m.From.Name + " <" + m.From.Address + ">"
}

func (a *Authority) words() string {
	words := a.DecidedBy
	if a.Level != "" {
		words += ", level " + a.Level
	}
	if len(a.LimitsVersion) > 0 {
		words += ", limits version " + strings.Trim(string(a.LimitsVersion), `"`)
	}
	return words
}

func moment(unix int64) string {
	return time.Unix(unix, 0).UTC().Format("Mon 2 Jan 2006 15:04:05") + " UTC"
}
