package intent

import (
	"fmt"
	"html/template"
	"slices"
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

// View is a message in the words of a person: what Text and HTML both show.
// Labels are ours; values and the note may be text from outside as it was
// written, and what of it stands in a line cannot act beyond its place there.
type View struct {
	Title string
	About []Fact // who wrote it, to whom
	Terms []Fact
	Lists []List
	Note  string
	Refs  []Fact // identifiers, for whoever must look something up
}

// Fact is one member of a message.
type Fact struct{ Label, Value string }

// List is a member of a message that has several lines.
type List struct {
	Label string
	Lines []Line
}

// Line is one of them. Said is text from outside, Before and After are ours: a
// text that is read from the right, or begins with a number, must not turn
// round or add to the amounts beside it (D148).
type Line struct{ Before, Said, After string }

// String is the line as it stands in a text.
func (l Line) String() string { return l.Before + l.Said + l.After }

const noteLabel = "Note from the sender's agent"

// Text is the message as plain text: everything the machine part says that
// concerns a person, and nothing else (profile: "How messages sit in email").
func (m *Message) Text() string {
	v := m.View().inert()
	var b strings.Builder
	b.WriteString(v.Title + "\n\n")
	for _, f := range v.Facts() {
		b.WriteString(f.Label + ": " + f.Value + "\n")
	}
	for _, l := range v.Lists {
		b.WriteString("\n" + l.Label + ":\n")
		for i, line := range l.Lines {
			fmt.Fprintf(&b, "%3d. %s\n", i+1, line)
		}
	}
	if v.Note != "" {
		b.WriteString("\n" + noteLabel + ":\n")
		for _, line := range v.NoteLines() {
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
<blockquote>{{range .NoteLines}}{{.}}<br>
{{end}}</blockquote>{{end}}
<p><small>{{range .Refs}}{{.Label}}: {{.Value}}<br>
{{end}}</small></p>
</body></html>
`))

// inertView is a View whose values can stand in a text.
type inertView struct{ View }

// Facts are those at the head of both renderings, NoteLabel stands over the
// note in them, and NoteLines are its lines.
func (v inertView) Facts() []Fact       { return slices.Concat(v.About, v.Terms) }
func (v inertView) NoteLines() []string { return inert.Lines(v.Note) }
func (inertView) NoteLabel() string     { return noteLabel }

// inert makes the values safe to stand in a text.
func (v View) inert() inertView {
	for _, facts := range [][]Fact{v.About, v.Terms, v.Refs} {
		for i := range facts {
			facts[i].Value = inert.Line(facts[i].Value)
		}
	}
	return inertView{v}
}

// HTML is the same as Text, as a page without links, images or styles from
// anywhere; all that the sender wrote is escaped.
func (m *Message) HTML() (string, error) {
	var b strings.Builder
	if err := page.Execute(&b, m.View().inert()); err != nil {
		return "", fmt.Errorf("rendering a message as HTML: %w", err)
	}
	return b.String(), nil
}

// View is the message in the words of a person.
func (m *Message) View() View {
	v := View{Title: titles[m.Type], Note: m.Note}
	v.about("From", m.sender())
	v.about("For", m.ActingFor.OrgName+" ("+m.ActingFor.Contact+")")
	v.about("Agent", m.Agent.Name+" ("+m.Agent.Kind+")")
	if a := m.Authority; a != nil {
		v.about("Decided by", a.words())
	}
	v.about("To", m.To.Address)
	v.items(m.Items)
	v.slots(m.Slots)
	if m.Total != nil {
		v.term("Total", m.Total.String())
	}
	v.term("Wanted by", m.WantedBy)
	v.term("Delivery by", m.DeliveryBy)
	v.term("Purpose", m.Purpose)
	v.term("Location", m.Location)
	if m.Slot != nil {
		v.term("Chosen time", "number "+strconv.Itoa(*m.Slot+1)+" of those offered")
	}
	v.term("Reason", strings.ReplaceAll(m.Reason, "_", " "))
	if m.Exp != 0 { // else it is no message yet
		v.term("Sent", moment(m.Iat))
		v.term("Valid until", moment(m.Exp))
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

func (v *View) about(label, value string) { addFact(&v.About, label, value) }
func (v *View) term(label, value string)  { addFact(&v.Terms, label, value) }
func (v *View) ref(label, value string)   { addFact(&v.Refs, label, value) }

func addFact(facts *[]Fact, label, value string) {
	if value != "" {
		*facts = append(*facts, Fact{label, value})
	}
}

func (v *View) items(items []Item) {
	var lines []Line
	for _, item := range items {
		line := Line{Before: strconv.FormatFloat(item.Quantity, 'f', -1, 64), Said: inert.Line(item.Description)}
		if item.Unit != "" {
			line.Before += " " + inert.Line(item.Unit)
		}
		line.Before += " × "
		if item.UnitPrice != nil {
			line.After = " at " + item.UnitPrice.String() + " each"
		}
		lines = append(lines, line)
	}
	if lines != nil {
		v.Lists = append(v.Lists, List{"Items", lines})
	}
}

func (v *View) slots(slots []Slot) {
	var lines []Line
	for _, s := range slots {
		lines = append(lines, Line{Before: s.String()})
	}
	if lines != nil {
		v.Lists = append(v.Lists, List{"Times", lines})
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
