package inbox

import (
	"context"
	"crypto/sha256"
	"mime"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/inert"
	"github.com/agentmaild/agentmaild/store"
)

// proveWords takes a mail that carries no message: what no person wrote is
// ignored, what a proven person wrote becomes a request that this bridge signs
// for them, and the rest is for the owner's eyes.
func (in *Inbox) proveWords(ctx context.Context, mail *envelope.Mail, p *proven) {
	c := p.carried
	switch {
	case mail.Automatic():
		c.final = end(Result{Verdict: Ignored, Reason: "no person wrote the mail"})
		return
	case p.reply.quote != "": // a person answers a quote of ours, which the owner may count (D31)
		c.final = end(plain(CodeNone, "a reply in words"))
		return
	case answersReminder(mail) || !in.set.Agent.Bridge:
		c.final = end(Result{Verdict: Review, Reason: "the mail carries no message"})
		c.review = reviewOf(mail, p)
		return
	}
	person, outcome := in.proveFrom(ctx, mail, p)
	switch {
	case person == in.set.Address:
		c.final = end(Result{Verdict: Ignored, Reason: "the mail is from this inbox itself"})
	case outcome == dkim.Pass:
		c.envelope, c.final = in.bridge(mail, p, person)
		c.person, c.ref.From, c.ref.Subject = person, person, subjectOf(mail)
		c.review = reviewOf(mail, p)
	case outcome == dkim.Temporary && in.srv.Now().Sub(p.arrival) < retryLimit:
		c.final, c.sender = end(Result{Verdict: Retry, Reason: p.proof.Mail}), person
	default:
		c.final = end(Result{Verdict: Review, Reason: "the mail carries no message, and its sender is not proven"})
		c.review = reviewOf(mail, p)
	}
}

// bridge is the request that a person's mail becomes. Its id is that of the
// mail, so that the same mail again is a duplicate (D125).
func (in *Inbox) bridge(mail *envelope.Mail, p *proven, person string) (*agentmsg.Envelope, *Result) {
	identity, err := in.set.Agent.Identity.ForPerson(person)
	if err != nil {
		return nil, end(Result{Verdict: Review, Reason: "the mail cannot be bridged"})
	}
	name := []byte(messageID(mail))
	if len(name) == 0 {
		name = mail.Raw
	}
	sum := sha256.Sum256(name)
	text := words(mail, maxBridged)
	if text == "" {
		return nil, end(Result{Verdict: Review, Reason: "the mail has no plain text"})
	}
	input, err := agentmsg.Chat(text)
	if err != nil {
		return nil, end(Result{Verdict: Review, Reason: "the mail cannot be bridged"})
	}
	e, err := identity.Compose(agentmsg.Envelope{
		ID: uuidOf(sum[:16], 8), To: in.set.Agent.Identity.ID(),
		Meta:    agentmsg.Meta{Bridge: &agentmsg.Bridge{Address: person, Domain: address.Of(person), Auth: "dkim"}},
		Request: &agentmsg.Request{Offering: agentmsg.OfferingChat, Input: input},
	}, p.arrival, in.srv.Random)
	if err != nil {
		return nil, end(Result{Verdict: Review, Reason: "the mail cannot be bridged"})
	}
	return e, nil
}

// maxBridged is how much of a mail is read, in bytes: more than the longest
// text that may be handed on has in UTF-8.
const maxBridged = 3*agentmsg.MaxText + 8

// reviewRow is a mail that the owner may look at.
type reviewRow struct {
	MessageID string `json:"message_id,omitempty"`
	From      string `json:"from,omitempty"` // as its header has it: nothing is proven
	Subject   string `json:"subject,omitempty"`
	Reason    string `json:"reason"`
	At        int64  `json:"at"` // arrival, Unix seconds
}

// maxReviews is how many mails wait for the owner's eyes; beyond it the oldest
// leaves the list (D124). They are all in the mailbox still.
const (
	maxReviews = 100
	keepReview = 30 * 24 * time.Hour
)

func reviewOf(mail *envelope.Mail, p *proven) *reviewRow {
	from, _ := mail.Header.From()
	return &reviewRow{MessageID: messageID(mail), From: from, Subject: subjectOf(mail), At: p.arrival.Unix()}
}

// subjectOf is the subject of a mail in one line, bounded; text from outside.
func subjectOf(mail *envelope.Mail) string {
	raw := mail.Header.Get("Subject")
	text, err := new(mime.WordDecoder).DecodeHeader(raw)
	if err != nil {
		text = raw
	}
	text = strings.Join(strings.Fields(text), " ")
	return inert.Line(strings.ToValidUTF8(text[:min(len(text), maxLogged)], ""))
}

// review puts a mail on the list of those that the owner may look at.
func (j *judge) review(row *reviewRow, reason string) error {
	row.Reason = reason
	key, err := j.tx.Next(tableReviews)
	if err != nil {
		return err
	}
	if err := j.tx.Put(tableReviews, key, row); err != nil {
		return err
	}
	if err := j.tx.Put(tableDue, dueKey(row.At+int64(keepReview/time.Second), "review/"+key), struct{}{}); err != nil {
		return err
	}
	last, err := j.tx.Last(tableReviews)
	if err != nil || last <= maxReviews {
		return err
	}
	return j.tx.Delete(tableReviews, store.Key(last-maxReviews))
}

// mailsToReview lists them.
func mailsToReview(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableReviews, "", "", func(r store.Row) (bool, error) {
		var row reviewRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		mail := "a mail"
		if row.From != "" {
			mail += " that says it is from " + row.From
		}
		*list = append(*list, Waiting{
			Key: reviewPrefix + r.Key, Kind: "mail", At: row.At, Text: row.Subject, from: row.From,
			Reason: mail + " waits for your eyes in the mailbox: " + row.Reason + "; refuse puts it aside",
		})
		return true, nil
	})
}
