package inbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/store"
	"github.com/go-json-experiment/json"
)

// maxRetries bounds how many mails wait for DNS or a key page at once. One
// more is treated as if they could not be reached at all.
const maxRetries = 1000

// Deliver takes mails in the order in which they arrived. They are proven
// side by side and kept in one transaction, together with position, the
// mailbox's own note of how far it has read (nil: unchanged). After an error
// nothing was kept, and the same mails must be delivered again.
func (in *Inbox) Deliver(ctx context.Context, mails []Mail, pos []byte) ([]Result, error) {
	all := in.proveAll(ctx, mails)
	if err := ctx.Err(); err != nil { // a check that was cut short is no verdict
		return nil, err
	}
	var results []Result
	err := in.commit(func(j *judge) error {
		results = results[:0]
		for i, p := range all {
			result, err := j.deliver(p)
			if err != nil {
				return err
			}
			if result.Verdict == Retry {
				if result, err = j.later(mails[i], p, result); err != nil {
					return err
				}
			}
			results = append(results, result)
		}
		if pos == nil {
			return nil
		}
		return j.tx.Put(tablePosition, "mailbox", position(pos))
	})
	if err != nil {
		return nil, fmt.Errorf("keeping %d mails: %w", len(mails), err)
	}
	return results, nil
}

// Position is the note that Deliver last kept, nil for a new inbox.
func (in *Inbox) Position() ([]byte, error) {
	var pos position
	err := in.view(func(tx *store.Tx) error {
		_, err := tx.Get(tablePosition, "mailbox", &pos)
		return err
	})
	return pos, err
}

// commit runs fn in a transaction; what it recorded is logged and told once
// the transaction is durable.
func (in *Inbox) commit(fn func(*judge) error) error {
	var j *judge
	err := in.update(func(tx *store.Tx) error {
		j = &judge{in: in, tx: tx}
		return fn(j)
	})
	if err != nil {
		return err
	}
	for _, e := range j.events {
		in.log(e)
	}
	if len(j.events) > 0 {
		in.events.fire()
	}
	if j.queued {
		in.letters.fire()
	}
	return nil
}

// later keeps a mail that must be looked at again.
func (j *judge) later(m Mail, p *proven, r Result) (Result, error) {
	waiting := 0
	err := j.tx.Scan(tableRetries, "", "", func(store.Row) (bool, error) {
		waiting++
		return waiting < maxRetries, nil
	})
	if err != nil {
		return r, err
	}
	if waiting >= maxRetries {
		return j.giveUp(p)
	}
	key, err := j.tx.Next(tableRetries)
	if err != nil {
		return r, err
	}
	row := retryRow{Raw: m.Raw, Arrival: p.arrival.Unix(), Next: j.in.srv.Now().Add(backoff(0, time.Minute, maxRetryWait)).Unix()}
	return r, j.tx.Put(tableRetries, key, row)
}

// giveUp decides a mail as after a day of tries, where there is no room to
// wait: its sender is not proven, or its signature cannot be checked.
func (j *judge) giveUp(p *proven) (Result, error) {
	if p.final != nil {
		p.final = end(plain(CodeDKIM, "too many mails wait for DNS"))
	}
	p.looked, p.sig.Outcome = true, party.Unchecked
	return j.deliver(p)
}

// backoff doubles from first to most.
func backoff(tries int, first, most time.Duration) time.Duration {
	wait := first
	for range tries {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}

// maxRecord is the greatest record that is looked into, in bytes.
const maxRecord = 256 << 10

// recordID is the id of the agreement record that an accept carries, or "".
// The record never changes the state (D46); its id may be named by a cancel.
func recordID(mail *envelope.Mail, m *intent.Message) string {
	if m.Type != intent.Accept {
		return ""
	}
	for part := range mail.Leaves("application/json") {
		data, err := part.Decode(maxRecord)
		if err != nil {
			continue
		}
		if _, err := canon.Strict(data, 32); err != nil {
			continue
		}
		var record struct {
			Profile string `json:"profile"`
			ID      string `json:"id"`
			Thread  string `json:"thread"`
		}
		if json.Unmarshal(data, &record) != nil || !strings.HasPrefix(record.Profile, "agent-agreement/") || record.Thread != m.Thread {
			continue
		}
		return record.ID
	}
	return ""
}
