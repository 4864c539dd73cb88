package inbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
)

// carried is what a mail without a part of agent-intents comes to in an inbox
// that has an agent.
type carried struct {
	final *Result // the verdict, where no signed message is to be judged
	errand
	review *reviewRow // of a mail that the owner may look at
	sender string     // address whose share a mail takes that must be looked at again
}

// errand is a message with what its handling needs.
type errand struct {
	envelope *agentmsg.Envelope // signed by its sender, or by this bridge
	opened   *agentmsg.Envelope // its body read, if it was sealed; nil until then
	arrival  time.Time
	ref      mailRef
	person   string // whose mail it is, where this bridge signed
	files    []ReceivedFile
	spool    string // folder of the files, "" without any

	x         Exchange
	ask       bool // the agent is to be told
	keeps     bool // its files stay
	corrected bool // an update that came late changed where its task stands (E1)
}

// mailRef is what an answer needs of the mail that it answers.
type mailRef struct {
	MessageID string `json:"message_id,omitempty"` // with angle brackets
	From      string `json:"from,omitempty"`       // the address of From, where DKIM proved it
	Subject   string `json:"subject,omitempty"`    // of a person's mail
}

// proveCarried finds out what a mail is that carries no intent: a report, one
// signed message, or what a person wrote.
func (in *Inbox) proveCarried(ctx context.Context, mail *envelope.Mail, p *proven) {
	c := &carried{}
	c.arrival, c.ref.MessageID = p.arrival, messageID(mail)
	p.carried = c
	reported := in.proveReport(p.report)
	if reported != nil && reported.Verdict == Bounce {
		c.final = reported
		return
	}
	found, err := emailing.Find(mail)
	switch {
	case reported != nil && (err != nil || in.returned(found)):
		c.final = reported
	case errors.Is(err, emailing.ErrSeveral):
		c.final = end(Result{Verdict: Review, Reason: err.Error()})
		c.review = reviewOf(mail, p)
	case errors.Is(err, emailing.ErrNone):
		in.proveWords(ctx, mail, p)
	case err != nil:
		c.final = end(refused(CodeJSON, err.Error()))
	default:
		in.proveEnvelope(ctx, mail, found, p)
	}
}

// proveReport judges a delivery report about a mail from here. One that it
// came back is judged by that alone (D127).
func (in *Inbox) proveReport(r envelope.Report) *Result {
	switch {
	case r.MessageID == "" || !in.isOurs(r.MessageID):
		return nil
	case r.Failed:
		return end(Result{Verdict: Bounce, Reason: "a mail from here came back: " + orUnknown(r.Status)})
	default:
		return end(Result{Verdict: Ignored, Reason: "a report that a mail from here is not delivered yet, or is delivered"})
	}
}

// returned tells whether what a report holds is no message from outside: it is
// the one of ours that it reports on (D127), or none.
func (in *Inbox) returned(found *emailing.Found) bool {
	e, err := agentmsg.Parse(found.Envelope)
	return err != nil || e.From == in.set.Agent.Identity.ID()
}

func (in *Inbox) proveEnvelope(ctx context.Context, mail *envelope.Mail, found *emailing.Found, p *proven) {
	c := p.carried
	e, err := agentmsg.Parse(found.Envelope)
	if err != nil {
		c.final = end(refused(refusalOf(err)))
		return
	}
	c.envelope = e
	if !in.met(e) {
		if c.files, c.spool, p.err = in.keepFiles(found, e); p.err != nil {
			return
		}
	}
	if _, err := address.Parse(e.Meta.Email.Address); err == nil {
		return
	}
	// Where an answer has no other address, the one that DKIM proves does (E4).
	if from, outcome := in.proveFrom(ctx, mail, p); outcome == dkim.Pass {
		c.ref.From = from
	}
}

func refusalOf(err error) (Code, string) {
	if refusal, ok := errors.AsType[*agentmsg.Refusal](err); ok {
		return Code(refusal.Code), refusal.Reason
	}
	return CodeJSON, "the envelope cannot be read"
}

// proveFrom is the address in From, and whether DKIM passed for its domain.
func (in *Inbox) proveFrom(ctx context.Context, mail *envelope.Mail, p *proven) (string, dkim.Outcome) {
	from, err := mail.Header.From()
	if err != nil {
		return "", dkim.Fail
	}
	auth := in.srv.DKIM.Authenticate(ctx, mail.Raw, address.Of(from), p.arrival)
	p.proof = Proof{Domain: auth.Domain, Selector: auth.Selector, Mail: auth.Reason}
	return from, auth.Outcome
}

// messageID is the Message-ID of a mail, as an answer may name it, or "".
func messageID(mail *envelope.Mail) string {
	id := mail.Header.Get("Message-ID")
	if len(id) > maxMessageID || !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">") || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return ""
	}
	return id
}

// maxMessageID is the longest Message-ID that an answer names, in bytes.
const maxMessageID = 500

// carry judges what a mail carries, within the transaction.
func (j *judge) carry(p *proven) (Result, error) {
	c := p.carried
	if c.final != nil {
		return *c.final, nil
	}
	m := c.errand // made anew for each run of the transaction
	r, err := j.enter(&m)
	if err != nil {
		return r, err
	}
	r, err = m.complete(r)
	if err != nil {
		return r, err
	}
	return r, j.exchanged(&m, r, Event{Kind: KindReceived, Proof: p.proof, trail: p.trail})
}

// settled records what became of a mail that carried no message to judge.
func (j *judge) settled(p *proven, r Result) error {
	if p.carried.final == nil {
		return nil // its event is recorded already
	}
	if err := j.received(p, r, nil); err != nil {
		return err
	}
	switch r.Verdict {
	case Bounce:
		return j.bounced(p.report)
	case Review:
		return j.review(p.carried.review, r.Reason)
	}
	return j.replied(p.reply)
}

// complete writes what is known of a message into its result.
func (m *errand) complete(r Result) (Result, error) {
	e := m.envelope
	m.x.From, m.x.Kind, m.x.Person, m.x.Files = e.From, e.Type, m.person, m.files
	if e.Request != nil {
		m.x.Offering = e.Request.Offering
	}
	if m.opened != nil {
		_, frame, err := m.opened.Framed(m.arrival, agentmsg.Names{})
		if err != nil {
			return r, err
		}
		m.x.Text = frame
	}
	r.ID, r.Exchange = e.ID, &m.x
	if m.person != "" && (r.Verdict == Accepted || r.Verdict == Held) {
		r.Verdict = Bridged
	}
	return r, nil
}

// exchanged records what became of a message. Of one that nobody will read the
// event holds no more than who sent it: anybody may send it, and events are
// kept for long.
func (j *judge) exchanged(m *errand, r Result, e Event) error {
	e.Result = r
	waits := r.Verdict == Held || r.Verdict == Bridged
	x := m.x
	if m.ask || waits {
		e.Message = m.envelope.Bytes()
	} else {
		x.Text = ""
	}
	if !m.keeps && !waits {
		x.Files = nil
	}
	e.Exchange = &x
	if err := j.event(e, m.ask && !m.corrected); err != nil || !m.corrected {
		return err
	}
	e.Kind, e.trail = KindTaskCorrected, nil
	return j.event(e, m.ask)
}
