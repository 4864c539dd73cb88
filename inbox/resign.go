package inbox

import (
	"context"

	"github.com/agentmaild/agentmaild/store"
)

// resign looks again at the signatures of messages that waited for another
// one and for a key page, and that only wait for the page now.
func (in *Inbox) resign(ctx context.Context, now int64) error {
	rows := map[string]retryRow{}
	err := in.view(func(tx *store.Tx) error {
		return scanDue(tx, tableSigns, now, func(id string, row retryRow) error {
			rows[id] = row
			return nil
		})
	})
	if err != nil {
		return err
	}
	for id, row := range rows {
		if err := in.resignOne(ctx, id, row.after(now)); err != nil {
			return err
		}
	}
	return nil
}

// resignOne is resign for one message; next is its row where it waits on.
func (in *Inbox) resignOne(ctx context.Context, id string, next retryRow) error {
	var p *proven
	err := in.view(func(tx *store.Tx) (err error) {
		p, err = parked(tx, id)
		return err
	})
	if err != nil {
		return err
	}
	if p != nil {
		in.proveSignature(ctx, p)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return in.commit(func(j *judge) error {
		if p != nil && p.retrying() {
			return j.tx.Put(tableSigns, id, next)
		}
		if err := j.tx.Delete(tableSigns, id); err != nil || p == nil {
			return err
		}
		return j.goOnWith(p)
	})
}
