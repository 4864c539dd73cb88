package inbox

import (
	"net/mail"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/store"
)

// answerError mails why a request is not done.
func (j *judge) answerError(m *errand, r *Result, code agentmsg.ErrorCode) error {
	if m.envelope.Respond != nil { // nobody asked for an answer (D150)
		return nil
	}
	return j.answerByItself(m, r, m.envelope.Refuse(code), string(code))
}

// answerOK mails an answer that needs no agent, as an update of a task or bare.
func (j *judge) answerOK(m *errand, r *Result, respond agentmsg.Respond, task string) error {
	reply := m.envelope.Reply(respond)
	reply.TaskID = task
	return j.answerByItself(m, r, reply, "ok")
}

// answerByItself mails a respond that the daemon gives of its own accord.
// Where it has no address, too many letters to it wait already, or strangers
// were answered too often within the hour (D191), nobody is answered.
func (j *judge) answerByItself(m *errand, r *Result, reply agentmsg.Envelope, what string) error {
	to, err := j.answerAddress(m)
	if err != nil {
		return err
	}
	fits := to != ""
	if fits {
		if fits, err = j.fits(to, claim{lettersTo, 1}); err != nil {
			return err
		}
	}
	if fits {
		if fits, err = j.answerable(m); err != nil {
			return err
		}
	}
	if !fits {
		r.Reason = firstOf(r.Reason, "it cannot be answered")
		return nil
	}
	reply.ContextID = "" // words of theirs, see below
	signed, err := j.in.set.Agent.Identity.Compose(reply, j.in.srv.Now(), j.in.srv.Random)
	if err != nil {
		return err
	}
	// Who signed for an address need not have it: nothing of their text may
	// stand in a mail of ours.
	offering := m.envelope.Request.Offering
	if !j.in.set.Agent.knows(offering) {
		offering = ""
	}
	m.x.Answered, m.x.AnsweredTo = what, to
	return j.mailRespond(m.ref, m.person, signed, offering, to, nil)
}

// answerable counts an answer to a stranger. Ids cost nothing, and the address
// that one signs may be anybody's: without a bound for all together, a flood of
// requests would become a flood of mail to others (D191).
func (j *judge) answerable(m *errand) (bool, error) {
	card, err := j.contact(m.envelope.From)
	if err != nil || card != nil || m.person != "" {
		return err == nil, err
	}
	full, err := j.hourly("answers to strangers", goOnTimes*j.in.set.HourlyLimit)
	return !full, err
}

// answerAddress is where an answer to a message may go (E4), "" for nowhere:
// its sender's name card, else what the sender signed, else what DKIM proved.
func (j *judge) answerAddress(m *errand) (string, error) {
	if m.person != "" {
		return m.person, nil
	}
	card, err := j.contact(m.envelope.From)
	if err != nil {
		return "", err
	}
	to := m.address()
	if card != nil && len(card.Addresses) > 0 {
		to = card.Addresses[0]
	}
	if to == j.in.set.Address { // it would come back here
		return "", nil
	}
	return to, nil
}

// keepAnswer is how long an answer of the daemon's own is remembered (D191): a
// report that its mail came back is about it until then.
const keepAnswer = 30 * 24 * time.Hour

// mailRespond keeps a respond of ours that changes no task, and mails it.
func (j *judge) mailRespond(ref mailRef, person string, signed *agentmsg.Envelope, offering, to string, files map[string][]byte) error {
	row := j.sentRow(signed, offering, to)
	row.Task = signed.TaskID
	key := exchangeKey(signed.From, signed.ID)
	if err := j.putExchange(key, row, nil); err != nil {
		return err
	}
	if err := j.tx.Put(tableDue, dueKey(signed.Time.Add(keepAnswer).Unix(), "answer/"+key), struct{}{}); err != nil {
		return err
	}
	if person != "" {
		return j.answerPerson(ref, person, signed, files)
	}
	return j.mailEnvelope(signed, offering, to, ref.MessageID, files)
}

// forgetAnswer drops an answer of the daemon's own, and a report about it.
func (j *judge) forgetAnswer(key string) error {
	_, id, _ := strings.Cut(key, "\x00")
	if err := j.tx.Delete(tableBounced, id); err != nil {
		return err
	}
	return j.tx.Delete(tableExchanges, key)
}

// sentRow is the row of a message from here.
func (j *judge) sentRow(signed *agentmsg.Envelope, offering, to string) exchangeRow {
	return exchangeRow{
		Kind: signed.Type, Envelope: string(signed.Bytes()), At: j.in.srv.Now().UnixMilli(),
		Offering: offering, To: signed.To, Address: to,
	}
}

// mailEnvelope queues the mail of a message that was signed here.
func (j *judge) mailEnvelope(e *agentmsg.Envelope, offering, to, answered string, files map[string][]byte) error {
	letter := emailing.Letter{From: j.in.own(), To: mail.Address{Address: to}, Offering: offering, Files: files}
	if answered != "" {
		letter.References = []string{answered}
	}
	raw, err := emailing.Compose(e, letter, j.in.srv.Random)
	if err != nil {
		return cannot("%w", err)
	}
	return j.post(raw, letterRow{To: to, MessageID: emailing.MessageID(e.ID, j.in.set.Address), ID: e.ID, Kind: e.Type})
}

// answerPerson queues an answer to a person, as people write.
func (j *judge) answerPerson(ref mailRef, person string, e *agentmsg.Envelope, files map[string][]byte) error {
	attachments, err := emailing.Attachments(e, files)
	if err != nil {
		return cannot("%w", err)
	}
	subject := ref.Subject
	if !strings.HasPrefix(strings.ToLower(subject), "re:") {
		subject = "Re: " + subject
	}
	d := envelope.Draft{
		From: j.in.own(), To: mail.Address{Address: person}, Subject: subject, Date: j.in.srv.Now(),
		MessageID: emailing.MessageID(e.ID, j.in.set.Address), Text: emailing.Answer(e), Attachments: attachments,
		Extra: []envelope.Field{{Name: "Auto-Submitted", Value: "auto-replied"}}, // RFC 3834 §5
	}
	if ref.MessageID != "" {
		d.InReplyTo, d.References = ref.MessageID, []string{ref.MessageID}
	}
	return j.queue(d, letterRow{ID: e.ID, Kind: e.Type})
}

// isOurs tells whether a mail with this Message-ID was sent from here.
func (in *Inbox) isOurs(messageID string) bool {
	id, domain, _ := strings.Cut(strings.Trim(messageID, "<>"), "@")
	if id == "" || domain != address.Of(in.set.Address) {
		return false
	}
	ours := false
	err := in.view(func(tx *store.Tx) error {
		var m messageRow
		known, err := tx.Get(tableMessages, id, &m)
		if ours = known && m.Fate == FateSent; ours || err != nil {
			return err
		}
		ours, err = tx.Get(tableExchanges, exchangeKey(in.set.Agent.Identity.ID(), id), &exchangeRow{})
		return err
	})
	return err == nil && ours
}
