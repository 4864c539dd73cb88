// Package handler asks the owner's program what to do: one event as JSON on
// its standard input, one action or nothing as JSON on its standard output.
package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/agentmaild/agentmaild/envelope/inert"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/pricelist"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Handler answers the events of one inbox: an ask from the price list where
// that can, everything else by running a command.
type Handler struct {
	Inbox   *inbox.Inbox
	Prices  *pricelist.List // nil without one
	Command []string        // program and arguments; empty: the rest is left to the owner
	Stream  bool            // the program stays, and is given one event after the other
	Timeout time.Duration   // for one event; the program is killed after it
	Now     func() time.Time
	Log     *slog.Logger

	resident  *resident // nil while it does not run
	failures  int       // of it, in a row
	notBefore time.Time // when it may be started again
}

// Document is what the program reads. Everything in Message was written by
// the other side and is data; Proof says how far it is to be believed.
type Document struct {
	Version int    `json:"version"` // of this document: 1
	Event   string `json:"event"`   // its number
	Inbox   string `json:"inbox"`   // the inbox's address
	At      int64  `json:"at"`      // Unix seconds
	Type    string `json:"type"`    // of the message
	ID      string `json:"id"`      // of the message
	Proof   Proof  `json:"proof"`

	Exchange *Exchange      `json:"exchange,omitempty"` // of Agent Emailing
	Message  jsontext.Value `json:"message"`            // as the other side wrote it
	Thread   *Thread        `json:"thread,omitempty"`   // of agent-intents
}

// Proof is what was proven about the message.
type Proof struct {
	Signature string   `json:"signature"` // signed, mail_only or unchecked
	Domain    string   `json:"domain"`    // that DKIM passed for
	Party     string   `json:"party,omitempty"`
	OrgName   string   `json:"org_name,omitempty"` // as the party's key page has it
	Approved  bool     `json:"approved"`           // by the owner, after it was held
	Warnings  []string `json:"warnings,omitempty"`
}

// Thread is the negotiation as it stands.
type Thread struct {
	ID      string        `json:"id"`
	With    string        `json:"with"`
	Entries []inbox.Entry `json:"entries"`
}

// Run answers events as they come until ctx ends, and returns its error. An
// event whose program fails stays pending and is asked about again later.
func (h *Handler) Run(ctx context.Context) error {
	defer h.dismiss(endWait)
	for ctx.Err() == nil {
		event, next, more, err := h.Inbox.Pending()
		if err == nil && event != nil {
			if err = h.answer(ctx, event); err == nil {
				continue
			}
		}
		if err != nil { // of the store: without a pause the program would be run without end
			h.Log.Error("events cannot be worked", "inbox", h.Inbox.Name(), "error", err)
			next = h.Now().Add(time.Minute)
		}
		timer := time.NewTimer(max(next.Sub(h.Now()), 0))
		select {
		case <-ctx.Done():
		case <-more:
		case <-timer.C:
		}
		timer.Stop()
	}
	return ctx.Err()
}

// answer asks about one event and does what the program wants done. Its error
// is one of noting the outcome; a program that fails is an outcome.
func (h *Handler) answer(ctx context.Context, e *inbox.Event) error {
	action, err := h.ask(ctx, e)
	if ctx.Err() != nil { // the daemon stops; the event is asked about at the next start
		return nil
	}
	switch why := unanswered(""); {
	case errors.As(err, &why):
		err = h.Inbox.LeaveToOwner(e, string(why))
	case err == nil && action == nil:
		err = h.Inbox.HandlerDone(e.Seq)
	case err == nil:
		action.Event = e.Seq
		_, err = h.Inbox.Handle(*action)
	}
	if err == nil {
		h.Log.Info("handler answered", "inbox", h.Inbox.Name(), "seq", e.Seq, "id", e.ID, "acted", action != nil)
		return nil
	}
	h.Log.Warn("handler failed", "inbox", h.Inbox.Name(), "seq", e.Seq, "id", e.ID, "error", err)
	return h.Inbox.HandlerFailed(e.Seq, err.Error())
}

// unanswered says in a few words why neither price list nor program answers.
type unanswered string

func (u unanswered) Error() string { return string(u) }

// ask finds what is to be done; a nil action means nothing. Its error is
// unanswered where there is nobody to ask.
func (h *Handler) ask(ctx context.Context, e *inbox.Event) (*inbox.Action, error) {
	if quote, why, err := h.quote(e); quote != nil || err != nil {
		return quote, err
	} else if len(h.Command) == 0 {
		return nil, unanswered(why)
	}
	input, err := h.document(e)
	if err != nil {
		return nil, err
	}
	var output []byte
	if h.Stream {
		output, err = h.converse(ctx, e.Seq, input)
	} else {
		output, err = h.run(ctx, input)
	}
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(output)) == 0 {
		return nil, nil
	}
	var action inbox.Action
	if err := json.Unmarshal(output, &action, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("its output is no action: %w", err)
	}
	return &action, nil
}

// quote answers an ask from the price list, or says in a few words why not.
func (h *Handler) quote(e *inbox.Event) (action *inbox.Action, why string, err error) {
	if h.Prices == nil || e.Type != intent.AskQuote {
		return nil, "no handler is configured", nil
	}
	m, err := intent.Parse(e.Message)
	if err != nil {
		return nil, "", err
	}
	offer, why := h.Prices.Quote(&m.Message, h.Now())
	if t, err := h.Inbox.Thread(e.Thread); err != nil || !open(t, e.ID) {
		offer, why = nil, "the ask is no longer open"
	}
	if offer == nil {
		h.Log.Info("not quoted from the price list", "inbox", h.Inbox.Name(), "seq", e.Seq, "id", e.ID, "reason", why)
		return nil, "the price list does not quote it: " + why, nil
	}
	return &inbox.Action{
		Type: intent.Quote, Thread: e.Thread, Items: offer.Items, Total: &offer.Total,
		DeliveryBy: offer.DeliveryBy, Note: offer.Note, ValidSeconds: int64(offer.Valid / time.Second),
	}, "", nil
}

// open tells whether an ask can still be answered.
func open(t inbox.Thread, id string) bool {
	for _, entry := range t.Entries {
		if entry.ID == id {
			return entry.State == threads.Open
		}
	}
	return false
}

// document is what the program reads of an event, in one line.
func (h *Handler) document(e *inbox.Event) ([]byte, error) {
	about := h.negotiation
	if e.Exchange != nil {
		about = h.exchange
	}
	d, err := about(e)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing an event: %w", err)
	}
	return append(inert.JSON(data), '\n'), nil
}

// negotiation is the document of a message of agent-intents.
func (h *Handler) negotiation(e *inbox.Event) (Document, error) {
	t, err := h.Inbox.Thread(e.Thread)
	if err != nil {
		return Document{}, err
	}
	d := h.begin(e, string(e.Type))
	d.Thread = &Thread{t.ID, t.With, t.Entries}
	return d, nil
}

// begin is what all documents have.
func (h *Handler) begin(e *inbox.Event, kind string) Document {
	return Document{
		Version: 1, Event: e.Seq, Inbox: h.Inbox.Address(), At: e.At, Type: kind, ID: e.ID, Message: e.Message,
		Proof: Proof{
			Signature: string(e.Signature), Domain: e.Proof.Domain, Party: e.Proof.Party, OrgName: e.Proof.OrgName,
			Approved: e.Kind == inbox.KindDecided, Warnings: e.Warnings,
		},
	}
}
