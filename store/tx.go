package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

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

func (tx *Tx) create(t Table) (b *bbolt.Bucket, err error) {
	if !tx.writable {
		return nil, errReadOnly
	}
	b, err = tx.root.CreateBucketIfNotExists([]byte(t))
	if err != nil {
		return nil, fmt.Errorf("opening table %s: %w", t, err)
	}
	return b, nil
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
	b := tx.table(t)
	if b == nil {
		return nil, nil
	}
	return bytes.Clone(b.Get([]byte(key))), nil
}

// Put writes a row. An empty key is refused by the store beneath.
func (tx *Tx) Put(t Table, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing row %s/%s: %w", t, key, err)
	}
	return tx.write(t, key, data)
}

func (tx *Tx) write(t Table, key string, data []byte) (err error) {
	defer damaged(&err)()
	b, err := tx.create(t)
	if err != nil {
		return err
	}
	if err := b.Put([]byte(key), data); err != nil {
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
// from, in the order of the keys, until fn returns false or an error. fn must
// not write to the table.
func (tx *Tx) Scan(t Table, prefix, from string, fn func(Row) (bool, error)) error {
	next, err := tx.rows(t, max(prefix, from))
	for err == nil {
		var row Row
		var there bool
		if row, there, err = next(); err != nil || !there || !strings.HasPrefix(row.Key, prefix) {
			return err
		}
		var more bool
		if more, err = fn(row); !more {
			return err
		}
	}
	return err
}

// rows returns a function that returns one row after the other, from a key on.
func (tx *Tx) rows(t Table, from string) (next func() (Row, bool, error), err error) {
	defer damaged(&err)()
	b := tx.table(t)
	if b == nil {
		return func() (Row, bool, error) { return Row{}, false, nil }, nil
	}
	c := b.Cursor()
	step := func() ([]byte, []byte) { return c.Seek([]byte(from)) }
	return func() (row Row, there bool, err error) {
		defer damaged(&err)()
		key, value := step()
		step = c.Next
		return Row{string(key), value}, key != nil, nil
	}, nil
}

// Next is a number that was never returned before for this table, counting
// from 1, as a key that sorts in that order.
func (tx *Tx) Next(t Table) (key string, err error) {
	defer damaged(&err)()
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
