package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/store"
)

// maxRetryWait is the longest time between two tries of a mail.
const maxRetryWait = time.Hour

// Retry looks again at the mails and signatures that are due and that DNS or
// a key page could not be reached for, in the order in which they came. It is
// called every few seconds, apart from Tick: it may take as long as a slow DNS.
func (in *Inbox) Retry(ctx context.Context) error {
	now := in.srv.Now().Unix()
	if err := in.resign(ctx, now); err != nil {
		return fmt.Errorf("checking a signature again: %w", err)
	}
	for {
		more, err := in.retry(ctx, now)
		if err != nil {
			return fmt.Errorf("trying a mail again: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// retry takes the oldest mails that are due once more through everything, and
// tells whether there may be others.
func (in *Inbox) retry(ctx context.Context, now int64) (more bool, err error) {
	keys, mails, err := in.dueMails(now)
	if err != nil {
		return false, err
	}
	all := in.proveAll(ctx, mails, in.trying)
	defer in.dropFolders(all)
	if err := ctx.Err(); err != nil {
		return false, err
	}
	for i, p := range all {
		if p.err != nil {
			return false, p.err
		}
		p.again = keys[i]
	}
	_, err = in.take(all, nil)
	if errors.Is(err, store.ErrPanic) {
		_, err = in.takeEach(all, nil)
	}
	return len(all) == maxProving, err
}

// dueMails reads the oldest mails that are due, a bounded number.
func (in *Inbox) dueMails(now int64) (keys []string, mails []Mail, err error) {
	err = in.view(func(tx *store.Tx) error {
		return scanDue(tx, tableRetries, now, func(key string, row retryRow) error {
			raw, err := tx.GetBytes(tableMails, row.Hash)
			keys = append(keys, key)
			mails = append(mails, Mail{Raw: raw, Arrival: time.Unix(row.Arrival, 0), UID: row.UID})
			return err
		})
	})
	return keys, mails, err
}

// scanDue calls fn for the first rows of a table of tries that are due, a
// bounded number.
func scanDue(tx *store.Tx, t store.Table, now int64, fn func(string, retryRow) error) error {
	n := 0
	return tx.Scan(t, "", "", func(r store.Row) (bool, error) {
		var row retryRow
		if err := r.Decode(&row); err != nil {
			return false, err
		}
		if row.Next > now {
			return true, nil
		}
		n++
		return n < maxProving, fn(r.Key, row)
	})
}

// after is the row of the next try.
func (r retryRow) after(now int64) retryRow {
	r.Tries++
	r.Next = now + int64(backoff(r.Tries, time.Minute, maxRetryWait)/time.Second)
	return r
}

// wait keeps a mail that must be looked at again, where there is room, and
// once where it came twice. Its sender chooses the DNS that cannot be reached,
// and would else fill the disk.
func (j *judge) wait(p *proven, r Result) (Result, error) {
	sum := sha256.Sum256(p.mail.Raw)
	row := retryRow{
		Arrival: p.arrival.Unix(), UID: p.mail.UID, From: p.sender(),
		Hash: hex.EncodeToString(sum[:]), Size: int64(len(p.mail.Raw)),
		Next: j.in.srv.Now().Add(time.Minute).Unix(),
	}
	same, err := j.tx.GetBytes(tableMails, row.Hash)
	if err != nil {
		return r, err
	}
	if same != nil {
		r.Reason = "the same mail waits already"
		return r, nil
	}
	fits, err := j.share(row.From, claim{waitingMails, 1}, claim{waitingBytes, row.Size})
	if err != nil {
		return r, err
	}
	if !fits {
		return p.named(refused(CodeOverfull, "too much mail waits for DNS or a key page")), nil
	}
	key, err := j.tx.Next(tableRetries)
	if err != nil {
		return r, err
	}
	if err := j.tx.PutBytes(tableMails, row.Hash, p.mail.Raw); err != nil {
		return r, err
	}
	return r, j.tx.Put(tableRetries, key, row)
}

// sender is the address whose share of the store a mail takes.
func (p *proven) sender() string {
	if p.carried != nil {
		return p.carried.sender
	}
	return p.found.From.Address
}

// waited ends a try: the mail waits on, or has its verdict and waits no more.
func (j *judge) waited(key string, on bool) error {
	var row retryRow
	known, err := j.tx.Get(tableRetries, key, &row)
	if err != nil || !known {
		return err
	}
	if on {
		return j.tx.Put(tableRetries, key, row.after(j.in.srv.Now().Unix()))
	}
	if err := j.giveBack(row.From, claim{waitingMails, 1}, claim{waitingBytes, row.Size}); err != nil {
		return err
	}
	if err := j.tx.Delete(tableMails, row.Hash); err != nil {
		return err
	}
	return j.tx.Delete(tableRetries, key)
}
