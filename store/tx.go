package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"
)

// Table names a set of rows with string keys, kept in the order of the keys.
type Table string

// Tx is a transaction on the rows of one inbox.
type Tx struct {
	root     *bbolt.Bucket // nil where nothing was ever written
	writable bool
}

func (tx *Tx) table(t Table) *bbolt.Bucket {
	if tx.root == nil {
		return nil
	}
	return tx.root.Bucket([]byte(t))
}

func (tx *Tx) create(t Table) (*bbolt.Bucket, error) {
	if !tx.writable {
		return nil, errReadOnly
	}
	b, err := tx.root.CreateBucketIfNotExists([]byte(t))
	if err != nil {
		return nil, fmt.Errorf("opening table %s: %w", t, err)
	}
	return b, nil
}

// Get reads a row into value and tells whether there was one.
func (tx *Tx) Get(t Table, key string, value any) (bool, error) {
	b := tx.table(t)
	if b == nil {
		return false, nil
	}
	data := b.Get([]byte(key))
	if data == nil {
		return false, nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return false, fmt.Errorf("reading row %s/%s: %w", t, key, err)
	}
	return true, nil
}

// Put writes a row. An empty key is refused by the store beneath.
func (tx *Tx) Put(t Table, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing row %s/%s: %w", t, key, err)
	}
	b, err := tx.create(t)
	if err != nil {
		return err
	}
	if err := b.Put([]byte(key), data); err != nil {
		return fmt.Errorf("writing row %s/%s: %w", t, key, err)
	}
	return nil
}

// Delete removes a row; one that is not there is no error.
func (tx *Tx) Delete(t Table, key string) error {
	b, err := tx.create(t)
	if err != nil {
		return err
	}
	return b.Delete([]byte(key))
}

// Row is one row of a Scan; Decode reads its value. Neither may be kept.
type Row struct {
	Key  string
	data []byte
}

// Decode reads the row's value.
func (r Row) Decode(value any) error {
	if err := json.Unmarshal(r.data, value); err != nil {
		return fmt.Errorf("reading row %s: %w", r.Key, err)
	}
	return nil
}

// Scan calls fn for the rows whose key has the prefix and is at or after
// from, in the order of the keys, until fn returns false or an error. fn must
// not write to the table.
func (tx *Tx) Scan(t Table, prefix, from string, fn func(Row) (bool, error)) error {
	b := tx.table(t)
	if b == nil {
		return nil
	}
	start := max(prefix, from)
	c := b.Cursor()
	for k, v := c.Seek([]byte(start)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
		more, err := fn(Row{string(k), v})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Next is a number that was never returned before for this table, counting
// from 1, as a key that sorts in that order.
func (tx *Tx) Next(t Table) (string, error) {
	b, err := tx.create(t)
	if err != nil {
		return "", err
	}
	n, err := b.NextSequence()
	if err != nil {
		return "", fmt.Errorf("numbering a row of %s: %w", t, err)
	}
	return Key(n), nil
}

// Last is the number that Next returned last for a table, 0 for none.
func (tx *Tx) Last(t Table) uint64 {
	b := tx.table(t)
	if b == nil {
		return 0
	}
	return b.Sequence()
}

// Key writes a number as a key: 16 hex digits, which sort as the numbers do.
func Key(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return fmt.Sprintf("%x", b[:])
}
