package page

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
)

// recordRow is a record in a list.
type recordRow struct {
	Path, File, Check string
	ID, With          string
	Ours              bool
	Kind              string
	AgreedAt          int64
	Thread            string // path
	Result            mark   // of the check when it came
}

var idForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (v *view) recordRow(r inbox.Record) recordRow {
	id := r.ID
	if !r.Ours || !idForm.MatchString(id) { // the other side may have written anything as the id of its own
		id = r.Accept
	}
	side := sideTheirs
	if r.Ours {
		side = sideOurs
	}
	row := recordRow{
		Path: v.path("records", side, id), ID: id, With: r.With, Ours: r.Ours, Kind: words(r.Kind), AgreedAt: r.AgreedAt,
		Thread: v.path("threads", r.Thread), Result: mark{good, "", "sealed here"},
	}
	row.File, row.Check = row.Path+"/file", row.Path+"/check"
	if !r.Ours {
		row.Result = resultMark(r.Result)
	}
	return row
}

func (v *view) recordRows(list []inbox.Record) []recordRow {
	var rows []recordRow
	for _, r := range list {
		rows = append(rows, v.recordRow(r))
	}
	return rows
}

// resultMark is what a check found.
func resultMark(r record.Result) mark {
	switch r {
	case record.TwoSigned:
		return mark{good, "", "checks out: two signatures"}
	case record.OneSigned:
		return mark{good, "", "checks out: one signature"}
	case record.ReplyRecorded:
		return mark{good, "", "checks out: their reply, recorded by a named party"}
	case record.DoesNotCheckOut:
		return mark{bad, "", "does not check out"}
	default:
		return mark{warn, "", "could not be checked"}
	}
}

func (v *view) records() error {
	list, err := v.source.Records()
	if err != nil {
		return err
	}
	slices.Reverse(list)
	part, pages := pageOf(v, list, listSize)
	return v.show(http.StatusOK, "records", "Records", struct {
		Records []recordRow
		Pager   pager
	}{v.recordRows(part), pages})
}

// Sides of a record, in a path.
const (
	sideOurs   = "ours"
	sideTheirs = "theirs"
)

// recordAsked is what the path of a record names.
func (v *view) recordAsked() (id string, ours bool, err error) {
	switch v.r.PathValue("side") {
	case sideOurs:
		return v.r.PathValue("id"), true, nil
	case sideTheirs:
		return v.r.PathValue("id"), false, nil
	}
	return "", false, errNoRecord
}

// checked is a check made for this page.
type checked struct {
	Result          mark
	Reason          string
	Warnings        []string
	Steps           []step
	Passed, Skipped int
}

type step struct {
	Name, Compared string
	Result         mark
}

func (v *view) record() error {
	id, ours, err := v.recordAsked()
	if err != nil {
		return err
	}
	kept, file, err := v.source.RecordFile(id, ours)
	if err != nil {
		return unknown(err, errNoRecord)
	}
	return v.showRecord(kept, file, nil)
}

// checkRecord checks a record anew, with the key pages as they are now.
func (v *view) checkRecord() error {
	id, ours, err := v.recordAsked()
	if err != nil {
		return err
	}
	kept, file, report, err := v.source.CheckRecord(v.r.Context(), id, ours)
	if err != nil {
		return unknown(err, errNoRecord)
	}
	c := &checked{Result: resultMark(report.Result), Reason: report.Reason}
	for _, w := range report.Warnings {
		c.Warnings = append(c.Warnings, words(w))
	}
	for _, s := range report.Steps {
		m := mark{calm, "", "skipped"}
		switch s.Result {
		case record.Pass:
			m = mark{good, "", "passed"}
			c.Passed++
		case record.Fail:
			m = mark{bad, "", "failed"}
		default:
			c.Skipped++
		}
		c.Steps = append(c.Steps, step{s.Name, s.Compared, m})
	}
	return v.showRecord(kept, file, c)
}

func (v *view) showRecord(kept inbox.Record, file []byte, c *checked) error {
	shown := struct {
		Row    recordRow
		Came   string // why the other side's record was doubted when it came
		Sides  []intent.Fact
		Terms  *intent.View
		Check  *checked
		Offer  string
		Accept string
	}{Row: v.recordRow(kept), Check: c, Came: kept.Reason, Offer: kept.Offer, Accept: kept.Accept}
	if held, err := record.Parse(file); err == nil {
		for _, role := range []struct{ name, label string }{{record.Offerer, "Offered by"}, {record.Accepter, "Accepted by"}} {
			if p := held.Side(role.name); p != nil {
				shown.Sides = append(shown.Sides, intent.Fact{Label: role.label, Value: who(p)})
			}
		}
		shown.Terms = termsOf(held)
	}
	return v.show(http.StatusOK, "record", "Record of an agreement with "+kept.With, shown)
}

func who(p *record.Party) string {
	text := p.OrgName + " <" + p.Address + ">"
	if p.Party != "" {
		text += ", " + p.Party
	}
	return text
}

// termsOf is what a record says was agreed, in the words of a message.
func termsOf(held *record.Record) *intent.View {
	var said struct {
		Items      []intent.Item `json:"items"`
		Total      *intent.Money `json:"total"`
		DeliveryBy string        `json:"delivery_by"`
		Slot       *intent.Slot  `json:"slot"`
		Purpose    string        `json:"purpose"`
		Location   string        `json:"location"`
	}
	if err := json.Unmarshal(held.Terms, &said); err != nil {
		return nil
	}
	m := intent.Message{Items: said.Items, Total: said.Total, DeliveryBy: said.DeliveryBy, Purpose: said.Purpose, Location: said.Location}
	if said.Slot != nil {
		m.Slots = []intent.Slot{*said.Slot}
	}
	shown := m.View()
	return &shown
}

// recordFile sends a record exactly as it is kept, to be saved: the other
// side's may be anything.
func (v *view) recordFile() error {
	id, ours, err := v.recordAsked()
	if err != nil {
		return err
	}
	kept, file, err := v.source.RecordFile(id, ours)
	if err != nil {
		return unknown(err, errNoRecord)
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="record-%s-%s.json"`, v.r.PathValue("side"), v.recordRow(kept).ID))
	_, _ = v.w.Write(file) // who hung up need not be told
	return nil
}
