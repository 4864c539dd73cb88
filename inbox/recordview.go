package inbox

import (
	"cmp"
	"context"
	"slices"

	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
)

// Records lists the agreement records that are kept, in the order in which
// they say that it was agreed.
func (in *Inbox) Records() ([]Record, error) {
	var list []Record
	err := in.view(func(tx *store.Tx) error {
		return eachRecord(tx, "", func(_ string, r Record) bool {
			list = append(list, r)
			return true
		})
	})
	slices.SortStableFunc(list, func(a, b Record) int { return cmp.Compare(a.AgreedAt, b.AgreedAt) })
	return list, err
}

// RecordsPage lists records as ThreadsPage does threads, in the order of their accepts.
func (in *Inbox) RecordsPage(after string, limit int) ([]Record, string, error) {
	return page(in, tableRecords, after, limit, readRecord)
}

// RecordFile returns a record and its bytes, as they are kept. id is that of
// the record, or of its accept or offer; ours chooses between this side's and
// the other's. Errors wrap ErrAction where there is none.
func (in *Inbox) RecordFile(id string, ours bool) (Record, []byte, error) {
	r, file, _, err := in.recordFile(id, ours)
	return r, file, err
}

// CheckRecord is RecordFile with a check of the record, made anew with the key
// pages as they are now. One of the other side's that belongs to another
// acceptance than the one it came with does not check out.
func (in *Inbox) CheckRecord(ctx context.Context, id string, ours bool) (Record, []byte, record.Report, error) {
	r, file, acceptance, err := in.recordFile(id, ours)
	switch {
	case err != nil:
		return r, nil, record.Report{}, err
	case ours:
		return r, file, in.checkRecord(ctx, file), nil
	default:
		return r, file, in.checkTheirs(ctx, file, acceptance), nil
	}
}

// recordFile finds a record with its bytes, and with the hash of its accept; a
// reply that was counted has none. The other side chooses the id of its record,
// and must not be able to put it in the place of ours.
func (in *Inbox) recordFile(id string, ours bool) (found Record, file []byte, acceptance string, err error) {
	err = in.view(func(tx *store.Tx) error {
		key := ""
		err := eachRecord(tx, "", func(k string, r Record) bool {
			if r.Ours == ours && (r.ID == id || r.Accept == id || r.Offer == id) {
				key, found = k, r
			}
			return key == ""
		})
		if err == nil && key == "" {
			err = unknown("no record of %s is kept of %q: see `agentmaild records list`", whose(ours), id)
		}
		if err != nil {
			return err
		}
		var m messageRow
		if _, err := tx.Get(tableMessages, found.Accept, &m); err != nil {
			return err
		}
		acceptance = m.Hash
		file, err = tx.GetBytes(tableRecordFiles, key)
		return err
	})
	return found, file, acceptance, err
}

func whose(ours bool) string {
	if ours {
		return "this side"
	}
	return "the other side"
}

// eachRecord calls fn for the records of accepts that count, until it returns
// false. prefix is "" for all.
func eachRecord(tx *store.Tx, prefix string, fn func(key string, r Record) bool) error {
	return tx.Scan(tableRecords, prefix, "", func(row store.Row) (bool, error) {
		r, counts, err := readRecord(tx, row)
		if err != nil || !counts {
			return err == nil, err
		}
		return fn(row.Key, r), nil
	})
}

// readRecord reads a record and tells whether its accept counts.
func readRecord(tx *store.Tx, row store.Row) (r Record, counts bool, err error) {
	if err := row.Decode(&r); err != nil || r.Ours {
		return r, err == nil, err
	}
	var m messageRow
	_, err = tx.Get(tableMessages, r.Accept, &m)
	return r, m.Fate == FateAccepted, err
}

// recordsOf are the records of a thread.
func (t *threadRow) recordsOf(tx *store.Tx) ([]Record, error) {
	var list []Record
	for _, e := range t.Entries {
		if e.Accept == "" {
			continue
		}
		err := eachRecord(tx, e.Accept+"/", func(_ string, r Record) bool {
			list = append(list, r)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// doubtedRecords lists the records from outside that do not check out, until
// the owner has put them aside.
func doubtedRecords(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableDoubted, "", "", func(row store.Row) (bool, error) {
		var r Record
		if _, err := tx.Get(tableRecords, theirsKey(row.Key), &r); err != nil {
			return false, err
		}
		var m messageRow
		if _, err := tx.Get(tableMessages, row.Key, &m); err != nil {
			return false, err
		}
		reason := "the other side's record does not check out: "
		if r.Result == record.NotMade {
			reason = "the other side's record could not be checked: "
		}
		*list = append(*list, Waiting{
			Key: recordPrefix + row.Key, Kind: "record", At: m.At, Thread: r.Thread,
			Reason: reason + r.Reason + "; the agreement stands; refuse puts this aside",
		})
		return true, nil
	})
}
