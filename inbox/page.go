package inbox

import (
	"math"
	"strings"

	"github.com/agentmaild/agentmaild/store"
)

// page reads the rows behind the one of a key until there are limit values. read tells whether a row has one. The key to go
// on behind is "" at the end.
func page[T any](in *Inbox, t store.Table, after string, limit int, read func(*store.Tx, store.Row) (T, bool, error)) (list []T, next string, err error) {
	last := ""
	err = in.view(func(tx *store.Tx) error {
		return tx.Scan(t, "", after, func(r store.Row) (bool, error) {
			if r.Key == after {
				return true, nil
			}
			value, is, err := read(tx, r)
			if err != nil || !is {
				return err == nil, err
			}
			if len(list) == limit {
				next = last
				return false, nil
			}
			list, last = append(list, value), strings.Clone(r.Key)
			return true, nil
		})
	})
	return list, next, err
}

// whole is a page that is the whole table.
func whole[T any](of func(after string, limit int) ([]T, string, error)) ([]T, error) {
	list, _, err := of("", math.MaxInt)
	return list, err
}
