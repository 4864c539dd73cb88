package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// verdicts are the results in words.
var verdicts = map[record.Result]string{
	record.TwoSigned:       "checks out: two signatures",
	record.OneSigned:       "checks out: one signature",
	record.ReplyRecorded:   "checks out: their reply, recorded by a named party",
	record.DoesNotCheckOut: "does not check out",
	record.NotMade:         "could not be checked",
}

// showReport shows the report on one record: with --json as one line, otherwise in words.
func (a *app) showReport(cmd *cobra.Command, file string, data []byte, r record.Report) error {
	if a.json {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
		cmd.Println(string(line))
		return nil
	}
	cmd.Print(reportText(file, data, r))
	return nil
}

// reportText is a report for people; name is that of the record.
func reportText(name string, data []byte, r record.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", printable(name), verdicts[r.Result])
	if !r.ChecksOut() {
		failures(&b, r)
	}
	if held, err := record.Parse(data); err == nil {
		summary(&b, held, r)
	}
	return b.String()
}

// verdict is a report as an error, nil where the record checks out.
func verdict(name string, r record.Report) error {
	switch r.Result {
	case record.DoesNotCheckOut:
		return fmt.Errorf("%s does not check out: %s", printable(name), r.Reason)
	case record.NotMade:
		return usage("%s could not be checked: %s", printable(name), r.Reason)
	}
	return nil
}

// failures names the step that decided first, then the others that failed.
func failures(b *strings.Builder, r record.Report) {
	fmt.Fprintf(b, "\n  Why: %s\n", printable(r.Reason))
	count := map[record.StepResult]int{}
	for _, s := range r.Steps {
		if count[s.Result]++; s.Result == record.Fail {
			fmt.Fprintf(b, "  Failed: %s (compared %s)\n", s.Name, printable(s.Compared))
		}
	}
	if count[record.Pass]+count[record.Fail] > 0 {
		fmt.Fprintf(b, "  Steps: %d passed, %d failed, %d skipped; --json shows them\n", count[record.Pass], count[record.Fail], count[record.Skipped])
	}
}

// terms is what a record says was agreed.
type terms struct {
	Items      []intent.Item `json:"items"`
	Total      *intent.Money `json:"total"`
	DeliveryBy string        `json:"delivery_by"`
	Slot       *intent.Slot  `json:"slot"`
	Purpose    string        `json:"purpose"`
	Location   string        `json:"location"`
}

// summary is what the record says, under a heading that tells how far it is to be believed.
func summary(b *strings.Builder, held *record.Record, r record.Report) {
	if r.ChecksOut() {
		b.WriteString("\nWhat was agreed\n")
	} else {
		b.WriteString("\nWhat the record claims, which is NOT proven\n")
	}
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-12s %s\n", label, printable(value))
		}
	}
	line("offerer", who(held.Side(record.Offerer)))
	line("accepter", who(held.Side(record.Accepter)))
	said := terms{}
	if err := json.Unmarshal(held.Terms, &said); err != nil {
		line("terms", "cannot be shown")
	}
	for _, item := range said.Items {
		line("item", itemLine(item))
	}
	if said.Total != nil {
		line("total", said.Total.String())
	}
	line("delivery by", said.DeliveryBy)
	if said.Slot != nil {
		line("time", said.Slot.String())
	}
	line("purpose", said.Purpose)
	line("location", said.Location)
	line("agreed", moment(held.AgreedAt))
	if held.Reply != nil {
		line("reply", "SHA-256 "+held.Reply.Hash)
		line("its server", held.Reply.AuthResults)
	}
	line("record", held.ID)
	if r.ChecksOut() {
		proven(b, held, r)
	}
}

func moment(unix int64) string {
	return time.Unix(unix, 0).UTC().Format("Mon 2 Jan 2006 15:04:05") + " UTC"
}

// proven is what a record that checks out proves, and what it does not.
func proven(b *strings.Builder, held *record.Record, r record.Report) {
	offerer, accepter := held.Side(record.Offerer), held.Side(record.Accepter)
	b.WriteString("\nProven\n")
	for _, s := range r.Steps {
		if s.Result != record.Pass {
			continue
		}
		switch s.Name {
		case "offer signature":
			fmt.Fprintf(b, "  the offer was signed by party %s, which speaks for %s\n", offerer.Party, printable(offerer.Address))
		case "acceptance signature":
			fmt.Fprintf(b, "  the acceptance was signed by party %s, which speaks for %s\n", accepter.Party, printable(accepter.Address))
		case "mails":
			b.WriteString("  the chain is that of the mails of the thread\n")
		}
	}
	b.WriteString("  nothing in the record was changed since it was sealed\n\nNot proven\n")
	switch r.Result {
	case record.OneSigned:
		b.WriteString("  that the other side said what its message says: it is not signed, or by nobody who could be checked\n")
	case record.ReplyRecorded:
		fmt.Fprintf(b, "  that %s agreed: the side that sealed the record says so\n", printable(accepter.Address))
	}
	b.WriteString("  that the names of the organisations are true: they are what each side published\n")
	for _, w := range r.Warnings {
		if w == record.WarnRevokedLater {
			b.WriteString("\nWarning: a key that signed was revoked afterwards. If it was stolen before, the record may be forged\n")
		}
	}
}

func who(p *record.Party) string {
	text := p.OrgName + " <" + p.Address + ">"
	if p.Party != "" {
		text += ", party " + p.Party
	}
	return text
}

func itemLine(item intent.Item) string {
	words := []string{strconv.FormatFloat(item.Quantity, 'f', -1, 64)}
	if item.Unit != "" {
		words = append(words, item.Unit)
	}
	words = append(words, item.Description)
	if item.UnitPrice != nil {
		words = append(words, "@", item.UnitPrice.String())
	}
	return strings.Join(words, " ")
}

// maxShown is the most characters shown of one text; what a record says may be longer.
const maxShown = 500

// printable writes text from outside so that it can move no cursor, turn no line around and pass for nothing else on a
// terminal: what does not print is escaped, and what is very long is cut.
func printable(s string) string {
	var b strings.Builder
	shown := 0
	for _, r := range s {
		if shown++; shown > maxShown {
			b.WriteString("…")
			break
		}
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
