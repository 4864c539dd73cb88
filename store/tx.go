package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"
)

// Table names a set of rows with string keys, kept in the order of the keys.
type Table string

// Tx is a transaction on the rows of one inbox. What it writes goes to the
// fresh rows, and so it reads those first (fresh.go).
type Tx struct {
	inbox    string
	settled  *bbolt.Bucket // of this inbox; nil where none of its rows has settled
	fresh    *bbolt.Bucket // of all inboxes; nil where there are none
	writable bool
	grown    int // by how many fresh rows
	failing  int // in a rehearsal, how many rows on one fails; else 0
}

// inboxTx is tx for the rows of one inbox.
func inboxTx(tx *bbolt.Tx, inbox string) (t *Tx, err error) {
	defer damaged(&err)()
	return &Tx{
		inbox: inbox, settled: tx.Bucket(inboxesBucket).Bucket([]byte(inbox)),
		fresh: tx.Bucket(freshBucket), writable: tx.Writable(),
	}, nil
}

// table is the settled rows of a table, or nil.
func (tx *Tx) table(t Table) *bbolt.Bucket {
	if tx.settled == nil {
		return nil
	}
	return tx.settled.Bucket([]byte(t))
}

// Get reads a row into value and tells whether there was one.
func (tx *Tx) Get(t Table, key string, value any) (bool, error) {
	data, err := tx.read(t, key)
	if err != nil || data == nil {
		return false, err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return false, fmt.Errorf("reading row %s/%s: %w", t, key, err)
	}
	return true, nil
}

// read copies the value of a row out of the file, nil where there is none.
func (tx *Tx) read(t Table, key string) (data []byte, err error) {
	defer damaged(&err)()
	if err := tx.fails(); err != nil {
		return nil, err
	}
	if tx.fresh != nil {
		if data := tx.fresh.Get(tx.freshKey(t, key)); data != nil {
			return bytes.Clone(present(data)), nil
		}
	}
	if b := tx.table(t); b != nil {
		return bytes.Clone(b.Get([]byte(key))), nil
	}
	return nil, nil
}

// Put writes a row. An empty key is refused by the store beneath.
func (tx *Tx) Put(t Table, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing row %s/%s: %w", t, key, err)
	}
	return tx.write(t, key, data)
}

// write makes a fresh row.
func (tx *Tx) write(t Table, key string, data []byte) (err error) {
	defer damaged(&err)()
	if err = tx.fails(); err != nil {
		return err
	}
	switch {
	case !tx.writable:
		err = errReadOnly
	case t == "" || key == "":
		err = errNoName
	default:
		k := tx.freshKey(t, key)
		if tx.fresh.Get(k) == nil {
			tx.grown++
		}
		err = tx.fresh.Put(k, data)
	}
	if err != nil {
		return fmt.Errorf("writing row %s/%s: %w", t, key, err)
	}
	return nil
}

// rawMark stands before the bytes of a row that is no JSON: no JSON text
// begins with it.
const rawMark = 0

// GetBytes returns what PutBytes wrote, nil where there is no row.
func (tx *Tx) GetBytes(t Table, key string) ([]byte, error) {
	data, err := tx.read(t, key)
	if err != nil || data == nil {
		return nil, err
	}
	if len(data) == 0 || data[0] != rawMark {
		return nil, fmt.Errorf("reading row %s/%s: it does not hold plain bytes", t, key)
	}
	return data[1:], nil
}

// PutBytes writes a row of bytes as they are: in JSON they would take a third
// more.
func (tx *Tx) PutBytes(t Table, key string, value []byte) error {
	return tx.write(t, key, append([]byte{rawMark}, value...))
}

// Delete removes a row; one that is not there is no error.
func (tx *Tx) Delete(t Table, key string) (err error) {
	defer damaged(&err)()
	if err := tx.fails(); err != nil {
		return err
	}
	if b := tx.table(t); !tx.writable || t == "" || b != nil && b.Get([]byte(key)) != nil {
		return tx.write(t, key, deleted)
	}
	k := tx.freshKey(t, key)
	if tx.fresh.Get(k) != nil {
		tx.grown--
	}
	return tx.fresh.Delete(k)
}

// Row is one row of a Scan; Decode reads its value. Neither may be kept.
type Row struct {
	Key  string
	data []byte
}

// Decode reads the row's value.
func (r Row) Decode(value any) error {
	data, err := r.copied()
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	if err != nil {
		return fmt.Errorf("reading row %s: %w", r.Key, err)
	}
	return nil
}

func (r Row) copied() (data []byte, err error) {
	defer damaged(&err)()
	return bytes.Clone(r.data), nil
}

// Scan calls fn for the rows whose key has the prefix and is at or after
// from, in the order of the keys, until fn returns false or an error. What fn
// writes ahead of its row is scanned too.
func (tx *Tx) Scan(t Table, prefix, from string, fn func(Row) (bool, error)) error {
	if err := tx.fails(); err != nil {
		return err
	}
	rows, err := tx.rows(t)
	if err != nil {
		return err
	}
	for key := max(prefix, from); ; {
		row, there, err := rows.at(key)
		if err != nil || !there || !strings.HasPrefix(row.Key, prefix) {
			return err
		}
		if row.data != nil {
			if more, err := fn(row); err != nil || !more {
				return err
			}
		}
		key = row.Key + "\x00"
	}
}

// Next is a number that was never returned before for this table, counting
// from 1, as a key that sorts in that order.
func (tx *Tx) Next(t Table) (string, error) {
	n, err := tx.Last(t)
	if err == nil {
		err = tx.write(sequences, string(t), strconv.AppendUint(nil, n+1, 10))
	}
	if err != nil {
		return "", fmt.Errorf("numbering a row of %s: %w", t, err)
	}
	return Key(n + 1), nil
}

// Last is the number that Next returned last for a table, 0 for none.
func (tx *Tx) Last(t Table) (n uint64, err error) {
	defer damaged(&err)()
	data, err := tx.read(sequences, string(t))
	if err != nil {
		return 0, err
	}
	if data != nil {
		return strconv.ParseUint(string(data), 10, 64)
	}
	if b := tx.table(t); b != nil {
		return b.Sequence(), nil
	}
	return 0, nil
}

// Key writes a number as a key: 16 hex digits, which sort as the numbers do.
func Key(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return fmt.Sprintf("%x", b[:])
}
