package store

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"
)

// A commit writes every page between the root of a tree and each row that was
// changed. In tables of a million rows with random keys those are dozens of
// pages all over the file, for a handful of rows. So rows are written to one
// small tree first, the fresh rows of all tables and inboxes. Once there are
// many, each commit moves as many to the trees of their tables as it has
// added: they settle, in the order of their keys, so that rows of one page are
// moved together. Reading looks at the fresh rows first.
//
// A fresh row is under inbox, NUL, table, NUL, key.

var freshBucket = []byte("fresh")

// sequences is the table of what Next returned last, for as long as it is fresh.
const sequences Table = "\x01sequences"

// freshRows is how many rows are left fresh: few enough for a small tree, and
// enough for several of one page to be among them.
const freshRows = 4096

// settleAtOnce is how many rows settle in one commit at least, so that most
// commits move none.
const settleAtOnce = 64

// deleted stands in a fresh row for a settled one that is no more. No JSON
// begins with it.
var deleted = []byte("-")

// present is the value of a fresh row, nil for one that is deleted.
func present(data []byte) []byte {
	if bytes.Equal(data, deleted) {
		return nil
	}
	return data
}

func (tx *Tx) freshKey(t Table, key string) []byte {
	k := make([]byte, 0, len(tx.inbox)+len(t)+len(key)+2)
	k = append(append(k, tx.inbox...), 0)
	k = append(append(k, t...), 0)
	return append(k, key...)
}

func splitFresh(k []byte) (inbox string, t Table, key string, err error) {
	parts := strings.SplitN(string(k), "\x00", 3)
	if len(parts) != 3 {
		return "", "", "", fmt.Errorf("%w: a fresh row is under %q", ErrDamaged, k)
	}
	return parts[0], Table(parts[1]), parts[2], nil
}

// rows goes through the fresh and the settled rows of a table as through one.
// It seeks each one anew, so writes in between do it no harm.
type rows struct {
	prefix         []byte        // of the keys of this table's fresh rows
	fresh, settled *bbolt.Cursor // nil where there are none
}

func (tx *Tx) rows(t Table) (r rows, err error) {
	defer damaged(&err)()
	r.prefix = tx.freshKey(t, "")
	if tx.fresh != nil {
		r.fresh = tx.fresh.Cursor()
	}
	if b := tx.table(t); b != nil {
		r.settled = b.Cursor()
	}
	return r, nil
}

// at is the first row at or after key; its data is nil where it is deleted.
func (r *rows) at(key string) (row Row, ok bool, err error) {
	defer damaged(&err)()
	if r.settled != nil {
		if k, v := r.settled.Seek([]byte(key)); k != nil {
			row, ok = Row{string(k), v}, true
		}
	}
	if r.fresh != nil {
		k, v := r.fresh.Seek(append(r.prefix[:len(r.prefix):len(r.prefix)], key...))
		if k, here := bytes.CutPrefix(k, r.prefix); here && (!ok || string(k) <= row.Key) {
			return Row{string(k), present(v)}, true, nil
		}
	}
	return row, ok, nil
}

// countFresh counts the rows that an earlier process left fresh.
func (s *Store) countFresh(tx *bbolt.Tx) error {
	if fresh := tx.Bucket(freshBucket); fresh != nil {
		s.fresh = fresh.Stats().KeyN
	}
	return nil
}

// excess is how many of the fresh rows are to settle now.
func excess(fresh int) int {
	if n := fresh - freshRows; n >= settleAtOnce {
		return n
	}
	return 0
}

// settle moves the n fresh rows after a key to their tables, and returns the
// key of the last. There must be as many.
func settle(tx *bbolt.Tx, after []byte, n int) (last []byte, err error) {
	defer damaged(&err)()
	if n == 0 {
		return after, nil
	}
	fresh, inboxes := tx.Bucket(freshBucket), tx.Bucket(inboxesBucket)
	for _, r := range nextRows(fresh.Cursor(), after, n) {
		inbox, table, key, err := splitFresh(r.key)
		if err == nil {
			err = settleRow(inboxes, inbox, table, key, r.value)
		}
		if err == nil {
			err = fresh.Delete(r.key)
		}
		if err != nil {
			return nil, fmt.Errorf("settling row %q: %w", r.key, err)
		}
		after = r.key
	}
	return after, nil
}

type freshRow struct{ key, value []byte }

// nextRows is the n rows after a key; the first of all follows the last.
func nextRows(c *bbolt.Cursor, after []byte, n int) []freshRow {
	rows := make([]freshRow, 0, n)
	k, v := c.Seek(after)
	if bytes.Equal(k, after) {
		k, v = c.Next()
	}
	for len(rows) < n {
		if k == nil {
			k, v = c.First()
		}
		rows = append(rows, freshRow{bytes.Clone(k), v})
		k, v = c.Next()
	}
	return rows
}

func settleRow(inboxes *bbolt.Bucket, inbox string, t Table, key string, value []byte) error {
	name := t
	if t == sequences {
		name = Table(key)
	}
	b, err := inboxes.CreateBucketIfNotExists([]byte(inbox))
	if err != nil {
		return err
	}
	if b, err = b.CreateBucketIfNotExists([]byte(name)); err != nil {
		return err
	}
	switch value = present(value); {
	case t == sequences:
		n, err := strconv.ParseUint(string(value), 10, 64)
		if err != nil {
			return err
		}
		return b.SetSequence(n)
	case value == nil:
		return b.Delete([]byte(key))
	default:
		return b.Put([]byte(key), value)
	}
}
