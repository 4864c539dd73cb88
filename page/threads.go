package page

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/agentmaild/agentmaild/inbox"
)

const (
	listSize    = 50 // rows of a list
	messageSize = 25 // messages of one thread or task
)

// threadRow is a thread in a list.
type threadRow struct {
	Path, With, ID string
	At             int64
	Last           entry
	Record         string
}

func (v *view) threads() error {
	list, err := v.source.Threads()
	if err != nil {
		return err
	}
	rows, pages := pageOf(v, newestFirst(list), listSize)
	return v.show(http.StatusOK, "threads", "Threads", struct {
		Threads []threadRow
		Pager   pager
	}{v.threadRows(rows), pages})
}

func newestFirst(list []inbox.Thread) []inbox.Thread {
	slices.SortFunc(list, func(a, b inbox.Thread) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.ID, b.ID)) })
	return list
}

func (v *view) threadRows(list []inbox.Thread) []threadRow {
	var rows []threadRow
	for _, t := range list {
		row := threadRow{Path: v.path("threads", t.ID), With: t.With, ID: t.ID, At: t.At, Record: words(t.Record)}
		if len(t.Entries) > 0 {
			row.Last = v.entry(t.Entries[len(t.Entries)-1])
		}
		rows = append(rows, row)
	}
	return rows
}

func (v *view) thread() error {
	t, err := v.source.Thread(v.r.PathValue("id"))
	if err != nil {
		return unknown(err, errNoThread)
	}
	shown := struct {
		ID, With string
		Entries  []entry
		Records  []recordRow
		Messages []message
		Pager    pager
	}{ID: t.ID, With: t.With, Records: v.recordRows(t.Records)}
	for _, e := range t.Entries {
		shown.Entries = append(shown.Entries, v.entry(e))
	}
	slices.Reverse(t.Messages)
	part, pages := pageOfLong(v, t.Messages, messageSize, func(m inbox.Message) int { return len(m.Message) })
	for _, m := range slices.Backward(part) { // the newest page first, and in it a conversation
		shown.Messages = append(shown.Messages, v.message(m))
	}
	shown.Pager = pages
	return v.show(http.StatusOK, "thread", "Thread with "+t.With, shown)
}
