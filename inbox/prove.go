package inbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
)

// Mail is one mail as the mailbox gave it.
type Mail struct {
	Raw     []byte
	Arrival time.Time // the mail server's INTERNALDATE
	Problem string    // not empty: the body could not be had, and why
	UID     uint32    // in the mailbox, for the log; 0 where it has none
}

const (
	maxSkew    = 300 * time.Second // how far iat may lie ahead of the arrival (D16)
	retryLimit = 24 * time.Hour    // how long DNS and key pages are tried
)

// proven is a mail with all that can be said about it without the store.
type proven struct {
	mail    Mail
	again   string // key of its retryRow, where it was looked at before
	arrival time.Time
	trail   []any   // what the log calls the mail
	final   *Result // the verdict, where a check before the store failed
	found   *intent.Found
	proof   Proof
	agentOf bool            // Agent-Of names somebody else (D42)
	theirs  attached        // the record that an accept carries
	report  envelope.Report // a delivery report, where the mail is one and no message
	reply   reply           // a reply in words to a quote of ours
	carried *carried        // what a mail without an intent carries, in an inbox that has an agent
	err     error           // the mail could not be kept, and must be delivered again
	sig     party.Result    // zero Outcome and no Reason where it was not looked at
	looked  bool
}

// prove runs the checks from none to expired, then the signature. The clock
// is read once, so that the arrival is never later than now (D17).
func (in *Inbox) prove(ctx context.Context, m Mail) *proven {
	p := &proven{mail: m, arrival: m.Arrival}
	if m.UID != 0 {
		p.trail = []any{"uid", m.UID}
	}
	if now := in.srv.Now(); p.arrival.After(now) {
		p.arrival = now
	}
	final := in.proveMail(ctx, m, p)
	if final != nil {
		p.final = final
	}
	if final != nil || p.carried != nil {
		return p
	}
	in.proveSignature(ctx, p)
	in.proveRecord(ctx, p)
	return p
}

// proveMail returns the verdict of the first check that fails, or nil.
func (in *Inbox) proveMail(ctx context.Context, m Mail, p *proven) *Result {
	if m.Problem != "" {
		return in.unread(p, m.Problem)
	}
	mail, err := envelope.Read(m.Raw)
	if err != nil {
		return in.unread(p, err.Error())
	}
	p.trail = append(p.trail, "message_id", printable(mail.Header.Get("Message-ID")))
	if p.found, err = intent.Find(mail); err != nil {
		p.report, _ = mail.Report()
		if errors.Is(err, intent.ErrProfile) {
			p.reply = in.proveReply(ctx, mail, p)
			if in.set.Agent != nil {
				in.proveCarried(ctx, mail, p)
				return nil
			}
		}
		return end(plain(findCode(err), err.Error()))
	}
	if final := in.proveSender(ctx, mail, p); final != nil {
		return final
	}
	p.agentOf = p.found.AgentOfDiffers(mail.Header)
	p.theirs = attachedRecord(mail, &p.found.Message)
	return in.proveBounds(p)
}

// unread is what a mail comes to that cannot be read: it is like any other
// (D54), and beside an agent one that the owner may look at (D153).
func (in *Inbox) unread(p *proven, reason string) *Result {
	if in.set.Agent == nil {
		return end(plain(CodeNone, reason))
	}
	p.carried = &carried{final: end(Result{Verdict: Review, Reason: reason}), review: &reviewRow{At: p.arrival.Unix()}}
	return nil
}

func end(r Result) *Result { return &r }

func findCode(err error) Code {
	switch {
	case errors.Is(err, intent.ErrProfile): // also where one of several parts cannot be read
		return CodeNone
	case errors.Is(err, intent.ErrSize):
		return CodeSize
	case errors.Is(err, intent.ErrJSON), errors.Is(err, intent.ErrUnreadable):
		return CodeJSON
	case errors.Is(err, intent.ErrInvalid):
		return CodeSchema
	default:
		return CodeNone
	}
}

// proveSender holds the From field against the message and against DKIM.
func (in *Inbox) proveSender(ctx context.Context, mail *envelope.Mail, p *proven) *Result {
	from, err := mail.Header.From()
	switch {
	case err != nil:
		return end(plain(CodeFrom, err.Error()))
	case from != p.found.From.Address:
		return end(plain(CodeFrom, "the From field names another address than from.address"))
	case from == in.set.Address: // our own mail coming back (D54)
		return end(plain(CodeFrom, "the mail is from this inbox itself"))
	}
	auth := in.srv.DKIM.Authenticate(ctx, mail.Raw, address.Of(from), p.arrival)
	p.proof = Proof{Domain: auth.Domain, Selector: auth.Selector, Mail: auth.Reason}
	switch {
	case auth.Outcome == dkim.Pass:
		return nil
	case auth.Outcome == dkim.Temporary && in.srv.Now().Sub(p.arrival) < retryLimit:
		return end(Result{Verdict: Retry, Reason: auth.Reason})
	default:
		return end(plain(CodeDKIM, auth.Reason))
	}
}

// proveBounds checks the recipient and the times.
func (in *Inbox) proveBounds(p *proven) *Result {
	arrival := p.arrival.Unix()
	switch m := &p.found.Message; {
	case m.To.Address != in.set.Address:
		return p.end(refused(CodeTo, "to.address is another inbox"))
	case m.Exp <= arrival:
		return p.end(refused(CodeExpired, "exp had passed when the mail arrived"))
	case m.Iat > arrival+int64(maxSkew/time.Second):
		return p.end(refused(CodeExpired, "iat is more than 300 s after the arrival")) // D16
	case m.Iat+int64(MaxValid/time.Second) < arrival: // its nonce may be forgotten
		return p.end(refused(CodeExpired, "iat is more than 366 days before the arrival")) // D73
	default:
		return nil
	}
}

// end completes a verdict with what the message says of itself.
func (p *proven) end(r Result) *Result {
	r = p.named(r)
	return &r
}

func (p *proven) named(r Result) Result {
	if p.found == nil { // a person's mail
		return r
	}
	m := &p.found.Message
	r.Type, r.Thread, r.ID = m.Type, m.Thread, m.ID
	r.Signature, r.Warnings = p.signature(), p.warnings()
	return r
}

// proveSignature checks the JWS, which may fetch a key page. It is left out
// where the store already decides the mail without it: a replay must not
// cause a fetch.
func (in *Inbox) proveSignature(ctx context.Context, p *proven) {
	if p.found.JWS == nil || p.found.JWSErr != nil || in.alreadyDecided(p.found.Parsed) {
		return
	}
	m := &p.found.Message
	p.sig = in.srv.Keys.Verify(ctx, party.Claim{
		Token: p.found.JWS, Typ: jws.TypMessage,
		Canonical: p.found.Canonical, Unknown: p.found.Unknown,
		Address: m.From.Address, Party: m.From.Party,
		Iat: m.Iat, Arrival: p.arrival,
	})
	p.looked = true
	if p.sig.Outcome == party.Retry && in.srv.Now().Sub(p.arrival) >= retryLimit {
		p.sig.Outcome = party.Unchecked
	}
	p.proof.Kid, p.proof.Party, p.proof.OrgName, p.proof.Signature = p.sig.Kid, p.sig.Party, p.sig.OrgName, p.sig.Reason
}

// alreadyDecided tells whether the nonce was used by another message, or by
// this one with a signature that was checked.
func (in *Inbox) alreadyDecided(m *intent.Parsed) bool {
	decided := false
	err := in.view(func(tx *store.Tx) error {
		var used nonceRow
		ok, err := tx.Get(tableNonces, nonceKey(m), &used)
		decided = ok && (!used.is(m) || used.Signature == Signed)
		return err
	})
	return err == nil && decided
}

// signature puts the state of the JWS into the profile's words.
func (p *proven) signature() Signature {
	switch {
	case p.found.JWSErr != nil:
		return Invalid
	case p.found.JWS == nil:
		return MailOnly
	case !p.looked:
		return ""
	}
	switch p.sig.Outcome {
	case party.Signed:
		return Signed
	case party.Unchecked:
		return Unchecked
	case party.Invalid:
		return Invalid
	default:
		return ""
	}
}

func (p *proven) warnings() []string {
	warnings := append([]string(nil), p.sig.Warnings...)
	if p.agentOf {
		warnings = append(warnings, WarnAgentOf)
	}
	return warnings
}

// proveAll proves several mails at once, as many at a time as there are slots.
// A panic over one mail becomes that mail's verdict: one mail never ends the
// daemon.
func (in *Inbox) proveAll(ctx context.Context, mails []Mail, slots chan struct{}) []*proven {
	all := make([]*proven, len(mails))
	var wg sync.WaitGroup
	for i, m := range mails {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			all[i] = in.proveSafely(ctx, m)
		})
	}
	wg.Wait()
	return all
}

func (in *Inbox) proveSafely(ctx context.Context, m Mail) (p *proven) {
	defer func() {
		if problem := recover(); problem != nil {
			in.srv.Log.Error("a mail could not be read", "inbox", in.set.Name, "uid", m.UID, "problem", fmt.Sprint(problem))
			p = &proven{mail: m, arrival: m.Arrival, final: end(plain(CodeNone, "the mail could not be read"))}
		}
	}()
	return in.prove(ctx, m)
}
