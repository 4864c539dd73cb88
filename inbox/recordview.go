package inbox

import (
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
)

// Records lists the agreement records that are kept, oldest offer's id first.
func (in *Inbox) Records() ([]Record, error) {
	var list []Record
	err := in.view(func(tx *store.Tx) error {
		return eachRecord(tx, "", func(_ string, r Record) bool {
			list = append(list, r)
			return true
		})
	})
	return list, err
}

// RecordFile returns a record and its bytes, as they are kept. id is that of
// the record, or of its accept or offer; ours chooses between this side's and
// the other's. Errors wrap ErrAction where there is none.
func (in *Inbox) RecordFile(id string, ours bool) (Record, []byte, error) {
	var found Record
	var file []byte
	err := in.view(func(tx *store.Tx) error {
		key := ""
		err := eachRecord(tx, "", func(k string, r Record) bool {
			if r.ID == id || r.Ours == ours && (r.Accept == id || r.Offer == id) {
				key, found = k, r
			}
			return key == ""
		})
		if err == nil && key == "" {
			err = cannot("no record is kept of %q: see `agentmaild records list`", id)
		}
		if err != nil {
			return err
		}
		file, err = tx.GetBytes(tableRecordFiles, key)
		return err
	})
	return found, file, err
}

// eachRecord calls fn for the records of accepts that count, until it returns
// false. prefix is "" for all.
func eachRecord(tx *store.Tx, prefix string, fn func(key string, r Record) bool) error {
	return tx.Scan(tableRecords, prefix, "", func(row store.Row) (bool, error) {
		var r Record
		if err := row.Decode(&r); err != nil {
			return false, err
		}
		if !r.Ours {
			var m messageRow
			if _, err := tx.Get(tableMessages, r.Accept, &m); err != nil || m.Fate != FateAccepted {
				return err == nil, err
			}
		}
		return fn(row.Key, r), nil
	})
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
