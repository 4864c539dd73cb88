package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/go-json-experiment/json"
)

const waitingSize = 20

// waitingItem is one thing that waits, with what may be decided about it.
type waitingItem struct {
	Key, Path    string
	Seen         string // what the owner is shown, as a digest
	Title        string
	Reason       string
	At, Expires  int64
	Thread       string       // path
	View         *intent.View // of a message, or of what an agent wants to send
	Offer        *intent.View // that would be agreed to
	LongOffer    bool         // of which the sum alone is shown
	Exchange     *exchange
	Text         string
	Facts        []intent.Fact
	Files        []file
	Findings     []finding
	Proof        []mark
	Choices      []choice
	AsksReason   bool
	DecisionPath string
}

// finding is what one limit says.
type finding struct{ Rule, Line, Value, Limit string }

func (v *view) waiting() error {
	list, err := v.source.Waiting()
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b inbox.Waiting) int { return cmp.Compare(b.At, a.At) })
	part, pages := pageOfLong(v, list, waitingSize, lengthOf)
	return v.showWaiting(http.StatusOK, part, pages, "Waiting for you")
}

// lengthOf is how much what waits says, in bytes. The offer that it answers is
// not in it: of a long one a list shows the sum alone.
func lengthOf(w inbox.Waiting) int {
	n := min(len(w.Message), intent.MaxSize) + min(len(w.Text), longText) + lengthOfFiles(w.Files)
	if a := w.Action; a != nil {
		n += min(len(a.Text), longText) + min(len(a.Input)+len(a.Output), longText) + len(a.Note) + len(a.Purpose) + len(a.Location)
		for _, item := range a.Items {
			n += len(item.Description)
		}
	}
	return n
}

func (v *view) showWaiting(status int, list []inbox.Waiting, pages pager, title string) error {
	var items []waitingItem
	for _, w := range list {
		item, err := v.waitingItem(w)
		if err != nil {
			return err
		}
		if len(list) > 1 {
			item.shortenOffer()
		}
		items = append(items, item)
	}
	return v.show(status, "waiting", title, struct {
		Items   []waitingItem
		Pager   pager
		Changed bool
	}{items, pages, status == http.StatusConflict})
}

// waitingOne shows one thing alone.
func (v *view) waitingOne() error {
	w, err := v.find(v.r.FormValue("key"))
	if err != nil {
		return err
	}
	return v.showWaiting(http.StatusOK, []inbox.Waiting{w}, pager{Page: 1, Pages: 1}, kindOf(w).title)
}

func (v *view) find(key string) (inbox.Waiting, error) {
	list, err := v.source.Waiting()
	if err != nil {
		return inbox.Waiting{}, err
	}
	for _, w := range list {
		if w.Key == key {
			return w, nil
		}
	}
	return inbox.Waiting{}, v.gone(key)
}

// gone says what became of what does not wait any more: who presses a button
// twice sees the second answer alone.
func (v *view) gone(key string) error {
	e, err := v.source.Became(key)
	if err != nil {
		return err
	}
	if e == nil {
		return errDecided
	}
	return &failure{errDecided.status, errDecided.title, "It waits no more since " + moment(e.At) + ": " + e.Reason + "."}
}

// seen is a digest of what the owner is shown and decides about (D179). Why a
// handler failed is not in it, which changes by itself.
func seen(w inbox.Waiting) (string, error) {
	if w.Kind == "event" {
		w.Reason = ""
	}
	w.Files = slices.Clone(w.Files)
	for i := range w.Files {
		w.Files[i].Path = "" // a program may take it meanwhile
	}
	shown, err := json.Marshal(w, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("writing what waits: %w", err)
	}
	sum := sha256.Sum256(shown)
	return hex.EncodeToString(sum[:]), nil
}

func (v *view) waitingItem(w inbox.Waiting) (waitingItem, error) {
	kind := kindOf(w)
	item := waitingItem{
		Key: w.Key, Path: v.waitingPath(w.Key), Title: kind.title, Reason: w.Reason, At: w.At, Expires: w.Expires, Text: w.Text,
		Choices: choicesFor(w), AsksReason: kind.asksReason, DecisionPath: v.path("waiting", "decide"),
	}
	var err error
	if item.Seen, err = seen(w); err != nil {
		return item, err
	}
	known, err := v.source.HasThread(w.Thread)
	if err != nil {
		return item, err
	}
	if known { // one that begins with a held message is not there yet
		item.Thread = v.path("threads", w.Thread)
	}
	if e, err := agentmsg.Parse(w.Message); err == nil {
		item.Files = v.files(w.Agent, e.ID, w.Files)
	}
	fact := func(label, value string) {
		if value != "" {
			item.Facts = append(item.Facts, intent.Fact{Label: label, Value: value})
		}
	}
	fact("Agent", w.Agent)
	fact("Person", w.Person)
	if w.Kind == "knock" {
		fact("Gives as its address", w.Address)
	} else {
		fact("To", w.Address)
	}
	v.content(&item, w)
	if w.Decision != nil {
		for _, f := range w.Decision.Findings {
			item.Findings, item.Reason = append(item.Findings, findingOf(f)), "" // they say it with the numbers
		}
	}
	offer, err := v.offer(w)
	if err == nil && offer != nil {
		shown := offer.View()
		item.Offer = &shown
	}
	return item, err
}

// maxOffer is how long an offer may be, in bytes, for a list to show all of it:
// it stands beside what answers it, and many may answer the same.
const maxOffer = 4 << 10

// shortenOffer leaves the sum of a long offer, and the way to the rest.
func (item *waitingItem) shortenOffer() {
	if item.Offer == nil {
		return
	}
	length := len(item.Offer.Note)
	for _, list := range item.Offer.Lists {
		for _, line := range list.Lines {
			length += len(line.Before) + len(line.Said) + len(line.After)
		}
	}
	if item.LongOffer = length > maxOffer; item.LongOffer {
		item.Offer.Lists, item.Offer.Note = nil, ""
	}
}

func (v *view) waitingPath(key string) string {
	return v.path("waiting", "item") + "?" + url.Values{"key": {key}}.Encode()
}

// content is what somebody wrote that waits.
func (v *view) content(item *waitingItem, w inbox.Waiting) {
	if w.Proof != (inbox.Proof{}) {
		item.Proof = mailMarks(w.Proof)
		if w.Proof.Signature != "" {
			item.Proof = append(item.Proof, mark{calm, "Signature", w.Proof.Signature})
		}
	}
	if a := w.Action; a != nil {
		item.View, item.Text = actionView(a), a.Text
		return
	}
	if w.Message == nil {
		return
	}
	if item.View = viewOf(w.Message); item.View != nil {
		return
	}
	body, _ := v.source.Body(w.Message)
	x := v.exchange(inbox.ExchangeMessage{From: w.Agent, Person: w.Person, At: w.At, Message: w.Message, Body: body, Text: w.Text})
	if e, err := agentmsg.Parse(w.Message); err == nil {
		x.By = e.From
		if e.Request != nil {
			x.Title = "Request " + e.Request.Offering
		}
		if x.Text == "" {
			x.Text = e.Text()
		}
	}
	x.Files, x.Proof = nil, nil // they stand beside it
	item.Exchange, item.Text = &x, ""
}

// actionView is what an agent wants done, as its message would read.
func actionView(a *inbox.Action) *intent.View {
	m := intent.Message{
		Type: a.Type, Items: a.Items, WantedBy: a.WantedBy, Total: a.Total, DeliveryBy: a.DeliveryBy, Slots: a.Slots,
		Purpose: a.Purpose, Location: a.Location, Slot: a.Slot, Reason: a.Reason, Note: a.Note, Ref: a.Ref, Replaces: a.Replaces, Thread: a.Thread,
	}
	shown := m.View()
	shown.About, shown.Title = nil, cmp.Or(acts[a.Type], words(a.Type))
	for _, f := range []intent.Fact{
		{Label: "To", Value: cmp.Or(a.To, a.Agent)},
		{Label: "Offering", Value: a.Offering},
		{Label: "Task", Value: a.Task},
		{Label: "Request", Value: a.Request},
		{Label: "Status", Value: string(a.Status)},
		{Label: "Says", Value: indented(a.Input) + indented(a.Output)},
		{Label: "Files", Value: strings.Join(a.Files, ", ")},
	} {
		if f.Value != "" {
			shown.Terms = append(shown.Terms, f)
		}
	}
	return &shown
}

// acts are the actions in words.
var acts = map[intent.Type]string{
	intent.AskQuote: "Ask for a quote", intent.Quote: "Send a quote", intent.ProposeTimes: "Propose times", intent.Accept: "Accept an offer",
	intent.Decline: "Decline", intent.Cancel: "Cancel", inbox.ActRequest: "Send a request", inbox.ActRespond: "Answer a request", inbox.ActCancelTask: "Cancel a task",
}

func findingOf(f limits.Finding) finding {
	shown := finding{Rule: words(f.Rule), Line: f.Line}
	if f.Unit != "" {
		shown.Value, shown.Limit = quantity(f.Value, f.Unit), quantity(f.Limit, f.Unit)
	}
	return shown
}

// quantity is a number of a limit in its unit.
func quantity(n int64, unit string) string {
	switch {
	case unit == "s":
		return span(n)
	case intent.ActiveCurrency(unit):
		return intent.Money{Amount: strconv.FormatInt(n, 10), Currency: unit}.String()
	}
	return strconv.FormatInt(n, 10) + " " + unit
}

// span is a time in seconds, in hours where it is whole ones.
func span(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	if short, whole := strings.CutSuffix(text, "m0s"); whole {
		text = short + "m"
	}
	if short, whole := strings.CutSuffix(text, "h0m"); whole {
		text = short + "h"
	}
	return text
}

// decide does what the owner chose about one thing. Where that commits money
// the owner is asked again, with the sum (D182).
func (v *view) decide() error {
	w, err := v.find(v.r.PostFormValue("key"))
	if err != nil {
		return err
	}
	var chosen choice
	for _, c := range choicesFor(w) {
		if c.Do == v.r.PostFormValue("do") {
			chosen = c
		}
	}
	if chosen.act == nil {
		return errChoice
	}
	now, err := seen(w)
	if err != nil {
		return err
	}
	if v.r.PostFormValue("seen") != now {
		return v.showWaiting(http.StatusConflict, []inbox.Waiting{w}, pager{Page: 1, Pages: 1}, "Look again")
	}
	reason := strings.TrimSpace(v.r.PostFormValue("reason"))
	if chosen.commits && v.r.PostFormValue("confirm") != "yes" {
		sum, err := v.commits(w)
		if err != nil {
			return err
		}
		if sum != "" {
			return v.confirm(w, chosen, sum)
		}
	}
	if err := chosen.act(v.source.Inbox, w, reason); err != nil {
		if _, gone := v.find(w.Key); gone != nil { // another was faster
			return gone
		}
		return err
	}
	v.Log.Info("decided on the page", "inbox", v.source.Name(), "key", w.Key, "decision", chosen.Do, "token", v.session.token.Name)
	http.Redirect(v.w, v.r, v.path("waiting")+"?"+url.Values{"done": {chosen.Do}}.Encode(), http.StatusSeeOther)
	return nil
}

// confirm asks once more, and names the sum.
func (v *view) confirm(w inbox.Waiting, chosen choice, sum string) error {
	item, err := v.waitingItem(w)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "confirm", "Are you sure?", struct {
		Item   waitingItem
		Choice choice
		Sum    string
	}{item, chosen, sum})
}

// commits is the sum that the owner is bound to by letting something go on; ""
// where it binds to none.
func (v *view) commits(w inbox.Waiting) (string, error) {
	if w.Action != nil && w.Action.Type == intent.Quote && w.Action.Total != nil {
		return w.Action.Total.String(), nil
	}
	offer, err := v.offer(w)
	if err != nil || offer == nil || offer.Total == nil {
		return "", err
	}
	other := offer.From.Address
	if other == v.source.Address() {
		other = offer.To.Address
	}
	return offer.Total.String() + ", with " + other, nil
}

// offer is what would be agreed to if something went on, nil where nothing
// would be.
func (v *view) offer(w inbox.Waiting) (*intent.Message, error) {
	switch {
	case w.Kind == "reply":
		quote, _, _ := strings.Cut(strings.TrimPrefix(w.Key, "reply-"), "/")
		return v.held(w.Thread, quote)
	case w.Action != nil && w.Action.Type == intent.Accept:
		return v.held(w.Thread, w.Action.Ref)
	case w.Action != nil:
		return nil, nil
	}
	if m, err := intent.Parse(w.Message); err == nil && w.Kind == "message" && m.Type == intent.Accept {
		return v.held(m.Thread, m.Ref)
	}
	return nil, nil
}

// held is a message of a thread, nil where the thread does not have it.
func (v *view) held(thread, id string) (*intent.Message, error) {
	m, err := v.source.Message(thread, id)
	if errors.Is(err, inbox.ErrAction) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	parsed, err := intent.Parse(m.Message)
	if err != nil {
		return nil, err
	}
	return &parsed.Message, nil
}
