package inbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/threads"
)

// Sent takes a mail that this inbox sent earlier into the store, as if Do had
// just sent it: to begin where a suite begins, or where another program left
// off. Nothing is queued. Errors wrap ErrAction where the mail is none of
// this inbox, or the thread's state does not allow it (D67).
func (in *Inbox) Sent(raw []byte, at time.Time) error {
	mail, err := envelope.Read(raw)
	if err != nil {
		return cannot("%w", err)
	}
	found, err := intent.Find(mail)
	if errors.Is(err, intent.ErrProfile) && in.set.Agent != nil {
		if carried, err := emailing.Find(mail); err == nil {
			to, _ := address.Parse(mail.Header.Get("To"))
			return in.sentExchange(carried.Envelope, to)
		}
	}
	if err != nil {
		return cannot("%w", err)
	}
	if found.From.Address != in.set.Address {
		return cannot("the mail is from %s, not from this inbox", found.From.Address)
	}
	return in.commit(func(j *judge) error {
		row := &threadRow{}
		if _, err := j.tx.Get(tableThreads, found.Thread, row); err != nil {
			return err
		}
		next, effects, err := threads.Apply(row.Thread, threads.Event{Message: found.Message, At: at.Unix(), Records: j.in.records(&proven{found: found, theirs: attachedRecord(mail, &found.Message)})})
		if err != nil {
			return fmt.Errorf("a mail sent earlier: %w", cannot("%w", err))
		}
		row.Thread = next
		_, err = j.keepSent(found.Parsed, string(found.JWS), row, effects)
		return err
	})
}

// sentExchange takes a message of Agent Emailing that was sent earlier into the
// store (D67).
func (in *Inbox) sentExchange(raw []byte, to string) error {
	e, err := agentmsg.Parse(raw)
	if err != nil {
		return cannot("%w", err)
	}
	if e.From != in.set.Agent.Identity.ID() {
		return cannot("the message is of agent %s, not of this inbox", e.From)
	}
	return in.commit(func(j *judge) error {
		if e.Request != nil {
			return j.keepRequest(e, to)
		}
		var asked exchangeRow
		if _, err := j.tx.Get(tableExchanges, exchangeKey(e.To, e.InReplyTo), &asked); err != nil {
			return err
		}
		var task *taskRow
		if e.TaskID != "" && e.Respond.Status != agentmsg.StatusAccepted {
			task = &taskRow{Task: threads.NewTask(e.TaskID, e.To, e.From), Offering: asked.Offering}
			if _, err := j.tx.Get(tableTasks, e.TaskID, task); err != nil {
				return err
			}
		}
		return j.keepRespond(e, asked.Offering, to, task)
	})
}
