package page

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json/jsontext"
)

// exchange is a message of Agent Emailing as a person reads it.
type exchange struct {
	Title      string
	By         string // "us", an agent id or a person's address
	Ours       bool
	At         int64
	ID         string
	Status     string
	ErrorCode  string
	ErrorWords string
	Text       string
	JSON       string // the body, where it has no text
	Sealed     bool
	Unreadable bool
	Files      []file
	Proof      []mark
}

func (v *view) exchange(m inbox.ExchangeMessage) exchange {
	x := exchange{Title: "Answer", By: v.author(m), Ours: m.From == v.source.AgentID(), At: m.At, ID: m.ID, Text: m.Text, Sealed: agentmsg.IsSealed(m.Body)}
	if m.Kind == agentmsg.TypeRequest {
		x.Title = "Request " + m.Offering
	}
	if m.Text == "" && !x.Sealed {
		x.JSON = indented(m.Body)
	}
	x.Files = v.files(m.From, m.ID, m.Files)
	e, err := agentmsg.Parse(m.Message)
	if x.Unreadable = err != nil; x.Unreadable {
		return x
	}
	if r := e.Respond; r != nil {
		x.Status = words(r.Status)
		if r.Error != nil {
			x.ErrorCode, x.ErrorWords = string(r.Error.Code), r.Error.Message
		}
	}
	if m.Files == nil { // it is from here
		for _, f := range e.Files() {
			x.Files = append(x.Files, file{Name: f.Name, Size: f.Size, Tone: calm, Text: "sent along"})
		}
	}
	x.Proof = v.exchangeProof(m)
	return x
}

// exchangeProof is what is known about a message: one is not kept whose
// signature is not that of the agent it is from.
func (v *view) exchangeProof(m inbox.ExchangeMessage) []mark {
	var marks []mark
	switch {
	case m.From == v.source.AgentID():
		if m.Delivery != nil {
			marks = append(marks, deliveryMark(m.Delivery))
		}
		return append(marks, mark{good, "Signature", "by this inbox’s agent"})
	case m.Person != "":
		return append(marks, mark{good, "Mail", "DKIM passed for the domain of " + m.Person}, mark{calm, "Signature", "by the bridge of this inbox"})
	}
	return append(marks, mark{good, "Signature", "by agent " + m.From})
}

// author is who wrote a message, as the owner says it.
func (v *view) author(m inbox.ExchangeMessage) string {
	switch {
	case m.From == v.source.AgentID():
		return "us"
	case m.Person != "":
		return m.Person
	}
	return m.From
}

// indented is JSON as a person reads it.
func indented(value jsontext.Value) string {
	if len(bytes.TrimSpace(value)) == 0 {
		return ""
	}
	shown := jsontext.Value(bytes.Clone(value))
	if err := shown.Indent(jsontext.WithIndent("  ")); err != nil {
		return string(value)
	}
	return string(shown)
}

// requestRow is a request in a list.
type requestRow struct {
	Path, ID, Offering, By string
	At                     int64
	Answer                 mark
	Task, TaskPath         string
}

func (v *view) requests() error {
	list, err := v.source.Requests()
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b inbox.ExchangeMessage) int {
		return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.From, b.From), strings.Compare(a.ID, b.ID))
	})
	part, pages := pageOf(v, list, listSize)
	var rows []requestRow
	for _, m := range part {
		row := requestRow{
			Path: v.path("request") + "?" + url.Values{"agent": {m.From}, "id": {m.ID}}.Encode(), ID: m.ID, Offering: m.Offering,
			By: v.author(m), At: m.At, Answer: answerMark(m.Answer), Task: m.Task,
		}
		if m.Task != "" {
			row.TaskPath = v.taskPath(m.Task)
		}
		rows = append(rows, row)
	}
	return v.show(http.StatusOK, "requests", "Requests", struct {
		Requests []requestRow
		Pager    pager
	}{rows, pages})
}

func answerMark(s agentmsg.Status) mark {
	if s == "" {
		return mark{warn, "", "not answered"}
	}
	return statusMark(s)
}

func statusMark(s agentmsg.Status) mark {
	m := mark{warn, "", words(s)}
	switch {
	case s == agentmsg.StatusCompleted:
		m.Tone = good
	case s.Final():
		m.Tone = bad
	}
	return m
}

func (v *view) request() error {
	list, err := v.source.Request(v.r.FormValue("agent"), v.r.FormValue("id"))
	if err != nil {
		return unknown(err, errNoRequest)
	}
	shown := struct {
		ID, Offering, Task, TaskPath string
		Messages                     []exchange
		Pager                        pager
	}{ID: list[0].ID, Offering: list[0].Offering, Task: list[0].Task}
	if shown.Task != "" {
		shown.TaskPath = v.taskPath(shown.Task)
	}
	shown.Messages, shown.Pager = v.exchanges(list)
	return v.show(http.StatusOK, "request", "Request "+list[0].Offering, shown)
}

// exchanges are messages, the newest page first.
func (v *view) exchanges(list []inbox.ExchangeMessage) ([]exchange, pager) {
	slices.Reverse(list)
	part, pages := pageOfLong(v, list, messageSize, func(m inbox.ExchangeMessage) int {
		return min(len(m.Body)+len(m.Text), longText) + lengthOfFiles(m.Files)
	})
	var shown []exchange
	for _, m := range slices.Backward(part) {
		shown = append(shown, v.exchange(m))
	}
	return shown, pages
}

func (v *view) taskPath(id string) string {
	return v.path("task") + "?" + url.Values{"id": {id}}.Encode()
}

// taskRow is a task in a list.
type taskRow struct {
	Path, ID, Offering, Asker, Asked string
	At                               int64
	State                            mark
}

func (v *view) taskRow(t inbox.Task) taskRow {
	return taskRow{
		Path: v.taskPath(t.ID), ID: t.ID, Offering: t.Offering, At: t.At, State: statusMark(t.State),
		Asker: v.agent(t.Asker), Asked: v.agent(t.Asked),
	}
}

func (v *view) agent(id string) string {
	if id == v.source.AgentID() {
		return "us"
	}
	return id
}

func (v *view) tasks() error {
	list, err := v.source.Tasks()
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b inbox.Task) int { return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.ID, b.ID)) })
	part, pages := pageOf(v, list, listSize)
	var rows []taskRow
	for _, t := range part {
		rows = append(rows, v.taskRow(t))
	}
	return v.show(http.StatusOK, "tasks", "Tasks", struct {
		Tasks []taskRow
		Pager pager
	}{rows, pages})
}

func (v *view) task() error {
	t, err := v.source.Task(v.r.FormValue("id"))
	if err != nil {
		return unknown(err, errNoTask)
	}
	shown := struct {
		Task     taskRow
		Messages []exchange
		Pager    pager
	}{Task: v.taskRow(t)}
	shown.Messages, shown.Pager = v.exchanges(t.Messages)
	return v.show(http.StatusOK, "task", "Task "+t.Offering, shown)
}
