package inbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
)

// parkLimit is how long an answer waits for its message (D18).
const parkLimit = 24 * time.Hour

// judge is the rest of the checks, those that need the store, within the
// transaction that keeps the outcome. It is made anew for each run of it.
type judge struct {
	in *Inbox
	tx *store.Tx
	by mandate // of the action that is done, if one is

	events  []Event  // recorded; logged once they are durable
	queued  bool     // a letter was put into the outbox
	folders []string // of files that are given up; removed once that is durable
}

// deliver takes a mail through replay, prev, jws and state, records what
// became of it, and lets go on what waited for it.
func (j *judge) deliver(p *proven) (Result, error) {
	result, effects, err := j.verdict(p)
	if err != nil {
		return Result{}, err
	}
	if p.again != "" {
		if err := j.waited(p.again, result.Verdict == Retry); err != nil || result.Verdict == Retry {
			return result, err
		}
	} else if result.Verdict == Retry { // nothing is remembered (D45)
		if result, err = j.wait(p, result); err != nil {
			return Result{}, err
		}
	}
	if p.carried != nil && p.final == nil {
		return result, j.settled(p, result)
	}
	if err := j.received(p, result, effects); err != nil {
		return Result{}, err
	}
	switch {
	case p.final != nil:
		if err = j.bounced(p.report); err == nil {
			err = j.replied(p.reply)
		}
	case result.Verdict == Accepted || result.Verdict == Held:
		err = j.release(p.found.ID)
	}
	return result, err
}

func (j *judge) verdict(p *proven) (Result, []threads.Effect, error) {
	if p.final != nil {
		return *p.final, nil, nil
	}
	if p.carried != nil {
		r, err := j.carry(p)
		return r, nil, err
	}
	return j.fresh(p)
}

// fresh begins with the check for replays: the nonce first, then the id (D60).
func (j *judge) fresh(p *proven) (Result, []threads.Effect, error) {
	m := p.found.Parsed
	var used nonceRow
	seen, err := j.tx.Get(tableNonces, nonceKey(m), &used)
	if err != nil {
		return Result{}, nil, err
	}
	switch {
	case seen && !used.is(m):
		return p.named(refused(CodeReplay, "the sender has used this nonce before")), nil, nil
	case seen && (used.Signature == Signed || p.found.JWS == nil):
		return p.named(Result{Verdict: Duplicate}), nil, nil
	case seen && p.retrying():
		return p.named(Result{Verdict: Retry, Reason: p.sig.Reason}), nil, nil
	case seen && p.signature() != Signed: // D34: only a good signature tells more
		return p.named(Result{Verdict: Duplicate}), nil, nil
	}
	var held messageRow
	known, err := j.tx.Get(tableMessages, m.ID, &held)
	if err != nil {
		return Result{}, nil, err
	}
	if seen && known && held.Fate == FateAccepted {
		return j.upgrade(p, held)
	}
	return j.proceed(p, known && held.Hash != m.Hash)
}

// upgrade notes the signature of a message that was acted on without one
// (D34). The thread stays as it is.
func (j *judge) upgrade(p *proven, row messageRow) (Result, []threads.Effect, error) {
	row.JWS, row.Signature, row.Proof, row.Warnings = string(p.found.JWS), Signed, p.proof, p.warnings()
	if err := j.remember(p); err != nil {
		return Result{}, nil, err
	}
	return p.named(Result{Verdict: Accepted}), nil, j.tx.Put(tableMessages, p.found.ID, row)
}

// proceed is prev, jws and state. clash tells that the id is that of another
// message held here.
func (j *judge) proceed(p *proven, clash bool) (Result, []threads.Effect, error) {
	if fits, err := j.memorable(p); err != nil || !fits {
		return p.named(refused(CodeOverfull, "too many messages of its sender are remembered")), nil, err
	}
	result, effects, err := j.decide(p, clash)
	if err != nil || result.Verdict == Retry || result.Code == CodeOverfull { // it may come again
		return p.named(result), nil, err
	}
	if err := j.remember(p); err != nil {
		return Result{}, nil, err
	}
	result = p.named(result)
	switch result.Verdict {
	case Accepted:
		err = j.putAccepted(p)
	case Held:
		err = j.put(p, FateHeld, "")
	default:
		if !clash && result.Verdict != Parked { // an earlier copy, held or parked, is not to go on
			err = j.drop(p)
		}
	}
	return result, effects, err
}

// decide returns the verdict. Where it is Accepted the thread is written.
// Messages that cross count in the order of the commits here (D28).
func (j *judge) decide(p *proven, clash bool) (Result, []threads.Effect, error) {
	m := p.found.Parsed
	result, err := j.prev(p, clash)
	if err != nil || result.Verdict != "" {
		return result, nil, err
	}
	switch {
	case p.retrying():
		return Result{Verdict: Retry, Reason: p.sig.Reason}, nil, nil
	case p.signature() == Invalid:
		return refused(CodeJWS, p.jwsReason()), nil, nil
	case clash:
		return refused(CodeState, "the id is that of another message"), nil, nil
	}
	var row threadRow
	if _, err := j.tx.Get(tableThreads, m.Thread, &row); err != nil {
		return Result{}, nil, err
	}
	next, effects, err := threads.Apply(row.Thread, threads.Event{Message: m.Message, At: p.arrival.Unix(), Records: j.in.records(p)})
	if err != nil {
		result, err := j.refusal(p, &row, err)
		return result, nil, err
	}
	if verdict := j.in.policy(p); verdict.Verdict != Accepted {
		fits, err := true, error(nil)
		if verdict.Verdict == Held {
			fits, err = j.fitsUndecided(p)
		}
		if !fits {
			verdict = refused(CodeOverfull, tooManyUndecided)
		}
		return verdict, nil, err
	}
	if reason, err := j.crowded(p, &row); err != nil || reason != "" {
		return refused(CodeOverfull, reason), nil, err
	}
	row.Thread = next
	row.Messages = append(row.Messages, m.ID)
	return Result{Verdict: Accepted}, effects, j.putThread(&row)
}

// crowded says why a thread cannot take a message, "" where it can.
func (j *judge) crowded(p *proven, row *threadRow) (string, error) {
	if len(row.Messages) >= maxThread {
		return "the thread is too long", nil
	}
	room, err := j.admit(p.found.From.Address, row.ID == "")
	if err != nil || room {
		return "", err
	}
	if row.ID == "" {
		return "its sender began too many threads this hour", nil
	}
	return "its sender wrote too many messages this hour", nil
}

// policy says what a message that may count leads to here (D20, D25, D42).
func (in *Inbox) policy(p *proven) Result {
	if p.signature() == Signed {
		if len(p.sig.Warnings) > 0 {
			return Result{Verdict: Held, Reason: "the key is revoked or retired by now"}
		}
		return Result{Verdict: Accepted}
	}
	reason := "the message is not signed"
	if p.found.JWS != nil {
		reason = p.sig.Reason
	}
	switch in.set.Unsigned {
	case UnsignedAllow:
		return Result{Verdict: Accepted}
	case UnsignedIgnore:
		return plain(CodeUnsigned, reason)
	default:
		return Result{Verdict: Held, Reason: reason}
	}
}

// prev checks the chain: what a message answers, by its id and its hash. The
// zero Result lets it pass.
func (j *judge) prev(p *proven, clash bool) (Result, error) {
	m := p.found.Parsed
	if (m.Type == intent.Accept || m.Type == intent.Decline) && m.InReplyTo != m.Ref {
		return refused(CodePrev, "in_reply_to is not the offer that ref names"), nil // D39
	}
	switch m.InReplyTo {
	case "":
		return Result{}, nil
	case m.ID: // it would wait for itself
		return refused(CodePrev, "in_reply_to is the message itself"), nil
	}
	var answered messageRow
	known, err := j.tx.Get(tableMessages, m.InReplyTo, &answered)
	switch {
	case err != nil:
		return Result{}, err
	case !known || answered.Fate == FateParked:
		if clash {
			return refused(CodeState, "the id is that of another message"), nil
		}
		return j.park(p, m.InReplyTo)
	case answered.Thread != m.Thread:
		return refused(CodePrev, "in_reply_to names a message of another thread"), nil
	case answered.Hash != m.Prev:
		return refused(CodePrev, "prev is not the hash of the answered message"), nil
	default:
		return Result{}, nil
	}
}

// park keeps a message until the one it waits for is held here (D18). One
// that has waited too long fails, as when its mail itself comes late.
func (j *judge) park(p *proven, waitsFor string) (Result, error) {
	if j.in.srv.Now().Sub(p.arrival) >= parkLimit {
		return refused(CodePrev, "the message it answers did not come"), nil
	}
	if fits, err := j.fitsUndecided(p); err != nil || !fits {
		return refused(CodeOverfull, tooManyUndecided), err
	}
	if err := j.put(p, FateParked, waitsFor); err != nil {
		return Result{}, err
	}
	if err := j.tx.Put(tableWaits, waitsFor+"/"+p.found.ID, struct{}{}); err != nil {
		return Result{}, err
	}
	until := p.arrival.Add(parkLimit).Unix()
	return Result{Verdict: Parked, Reason: "the message it answers is not here yet"},
		j.tx.Put(tableDue, dueKey(until, "park/"+p.found.ID), struct{}{})
}

// refusal turns an error of the thread into a verdict.
func (j *judge) refusal(p *proven, row *threadRow, err error) (Result, error) {
	if unknown := new(threads.UnknownError); errors.As(err, &unknown) {
		var elsewhere messageRow
		known, err := j.tx.Get(tableMessages, unknown.Entry, &elsewhere)
		if err != nil {
			return Result{}, err
		}
		if !known || elsewhere.Fate == FateParked {
			return j.park(p, unknown.Entry) // D40
		}
	}
	if !errors.Is(err, threads.ErrState) {
		return Result{}, err
	}
	if closed := new(threads.ClosedError); errors.As(err, &closed) && p.found.Type == intent.Accept {
		if err := j.notice(p, row, closed.State); err != nil {
			return Result{}, err
		}
	}
	return refused(CodeState, err.Error()), nil
}

// retrying tells whether the signature must be looked at again later.
func (p *proven) retrying() bool {
	return p.found.JWS != nil && p.found.JWSErr == nil && (!p.looked || p.sig.Outcome == party.Retry)
}

func (p *proven) jwsReason() string {
	if p.found.JWSErr != nil {
		return p.found.JWSErr.Error()
	}
	return p.sig.Reason
}

// putThread writes a thread and when it must be looked at next.
func (j *judge) putThread(row *threadRow) error {
	due := row.Thread.Due()
	if due != row.Due {
		if row.Due != 0 {
			if err := j.tx.Delete(tableDue, dueKey(row.Due, "thread/"+row.ID)); err != nil {
				return err
			}
		}
		if due != 0 {
			if err := j.tx.Put(tableDue, dueKey(due, "thread/"+row.ID), struct{}{}); err != nil {
				return err
			}
		}
		row.Due = due
	}
	return j.tx.Put(tableThreads, row.ID, row)
}

// dueKey sorts by time.
func dueKey(at int64, what string) string { return fmt.Sprintf("%s/%s", store.Key(uint64(at)), what) }
