package inbox

import (
	"net/mail"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/threads"
)

// notices are the words for an accept that came too late (D27). Nothing of
// the other side's text stands in them, so that they cannot be used to send
// somebody's words in our name.
var notices = map[threads.State]string{
	threads.Expired:   "the offer had expired when your acceptance arrived",
	threads.Replaced:  "the offer had been replaced by a newer one when your acceptance arrived",
	threads.Cancelled: "the offer had been cancelled when your acceptance arrived",
}

// notice tells the other side of a thread that its accept does not count, at
// most once a thread. Its sender is proven by DKIM and the thread is between
// it and this inbox, so the mail answers nobody who did not write.
func (j *judge) notice(p *proven, row *threadRow, state threads.State) error {
	words, ok := notices[state]
	if !ok || row.Noticed || row.other(j.in.set.Address) != p.found.From.Address {
		return nil
	}
	if p.signature() == Unchecked || p.signature() == MailOnly && j.in.set.Unsigned == UnsignedIgnore {
		return nil // D62: no acceptance that anybody would count
	}
	if fits, err := j.fits(p.found.From.Address, claim{lettersTo, 1}); err != nil || !fits {
		return err
	}
	row.Noticed = true
	if err := j.tx.Put(tableThreads, row.ID, row); err != nil {
		return err
	}
	ids, err := j.in.newIDs(1)
	if err != nil {
		return err
	}
	m := &p.found.Message
	err = j.queue(envelope.Draft{
		From: j.in.own(), To: mail.Address{Address: m.From.Address},
		Subject:   "Acceptance not counted [" + m.Thread[:8] + "]",
		Date:      j.in.srv.Now(),
		MessageID: "<" + ids[0] + "@" + address.Of(j.in.set.Address) + ">",
		InReplyTo: m.MessageID(), References: []string{m.MessageID()},
		Extra: []envelope.Field{{Name: "Auto-Submitted", Value: "auto-replied"}}, // RFC 3834
		Text: "Your acceptance could not be counted: " + words + ".\n\n" +
			"Nothing is agreed by it. If you still want the deal, ask for a new offer.\n\n" +
			"Offer: " + m.Ref + "\nAcceptance: " + m.ID + "\nThread: " + m.Thread + "\n",
	}, letterRow{Thread: m.Thread})
	if err != nil {
		return err
	}
	return j.event(Event{Kind: KindNotice, Result: Result{Thread: m.Thread, ID: m.ID, Reason: words}}, false)
}
