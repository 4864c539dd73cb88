package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.etcd.io/bbolt"
)

// Count is how many rows a table of an inbox has.
type Count struct {
	Inbox string `json:"inbox"`
	Table Table  `json:"table"`
	Rows  int    `json:"rows"`
}

// Check reads the whole store at path, which no daemon may have open, and
// changes nothing: the pages as the file format wants them, the schema
// version, and each row as JSON. It returns the rows it counted, sorted by
// inbox and table. Errors wrap ErrLocked, ErrNewer or ErrDamaged.
func Check(path string) (counts []Count, err error) {
	err = readOnly(path, func(tx *bbolt.Tx) error {
		// In this order, as a damaged page that this goroutine meets is an error,
		// and one that bbolt's own goroutine meets the end of the process.
		if err := reach(tx, path); err != nil {
			return err
		}
		if counts, err = countAll(tx); err != nil {
			return err
		}
		return checkPages(tx)
	})
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", path, err)
	}
	return counts, nil
}

// checkPages returns the first thing wrong with the pages of the file.
func checkPages(tx *bbolt.Tx) (err error) {
	for problem := range tx.Check() { // to the end, or its goroutine stays
		if err == nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, problem)
		}
	}
	return err
}

// readOnly runs fn on the store at path, which stays as it is.
func readOnly(path string, fn func(*bbolt.Tx) error) (err error) {
	defer damaged(&err)()
	return viewFile(path, func(tx *bbolt.Tx) error {
		have, err := version(tx)
		if err == nil && have == 0 {
			err = fmt.Errorf("%w: it names no schema", ErrDamaged)
		}
		if err != nil {
			return err
		}
		return fn(tx)
	})
}

func countAll(tx *bbolt.Tx) ([]Count, error) {
	if tx.Bucket(inboxesBucket) == nil {
		return nil, fmt.Errorf("%w: it has no inboxes", ErrDamaged)
	}
	counts, err := tables(tx)
	if err != nil {
		return nil, err
	}
	for i := range counts {
		c := &counts[i]
		t, err := inboxTx(tx, c.Inbox)
		if err != nil {
			return nil, err
		}
		err = t.Scan(c.Table, "", "", func(r Row) (bool, error) {
			c.Rows++
			if plain := len(r.data) > 0 && r.data[0] == rawMark; !plain && !jsontext.Value(r.data).IsValid() {
				return false, fmt.Errorf("%w: row %s/%s/%q is no JSON", ErrDamaged, c.Inbox, c.Table, r.Key)
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// tables is every table of every inbox, settled or fresh, in order, with no rows counted.
func tables(tx *bbolt.Tx) ([]Count, error) {
	found := map[Count]bool{}
	inboxes := tx.Bucket(inboxesBucket)
	err := inboxes.ForEachBucket(func(inbox []byte) error {
		return inboxes.Bucket(inbox).ForEachBucket(func(table []byte) error {
			found[Count{Inbox: string(inbox), Table: Table(table)}] = true
			return nil
		})
	})
	if fresh := tx.Bucket(freshBucket); fresh != nil && err == nil {
		err = fresh.ForEach(func(k, _ []byte) error {
			inbox, table, _, err := splitFresh(k)
			if err == nil && table != sequences {
				found[Count{Inbox: inbox, Table: table}] = true
			}
			return err
		})
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Count) int {
		return cmp.Or(strings.Compare(a.Inbox, b.Inbox), strings.Compare(string(a.Table), string(b.Table)))
	}), err
}

// Copy writes a copy of the store at path, which no daemon may have open.
// Errors wrap ErrLocked or ErrNewer.
func Copy(path string, w io.Writer) error {
	err := readOnly(path, func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("copying %s: %w", path, err)
	}
	return nil
}

// compactTx is how much is copied in one transaction, in bytes.
const compactTx = 16 << 20

// Compact gives the space of deleted rows back to the disk, and returns the
// size of the store at path before and after, in bytes. No daemon may have it
// open. The new file stands beside the old one, which is replaced once the new
// one is whole and on the disk. Errors are those of Check
// and of the disk; after any the old file is as it was.
func Compact(path string) (before, after int64, err error) {
	fresh := path + ".compact"
	defer func() {
		if err != nil {
			_ = os.Remove(fresh)
			err = fmt.Errorf("compacting %s: %w", path, err)
		}
	}()
	if _, err := Check(path); err != nil { // opening a damaged one ends the process, and would make one
		return 0, 0, err
	}
	old, err := Open(path) // its lock keeps daemons away until the end
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if before, err = size(path); err != nil {
		return 0, 0, err
	}
	if err := copyInto(fresh, old.db); err != nil {
		return 0, 0, err
	}
	if after, err = size(fresh); err != nil {
		return 0, 0, err
	}
	if err := os.Rename(fresh, path); err != nil {
		return 0, 0, err
	}
	return before, after, syncDir(filepath.Dir(path))
}

func copyInto(path string, old *bbolt.DB) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a run that was cut off
		return err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, NoFreelistSync: true})
	if err != nil {
		return err
	}
	return errors.Join(bbolt.Compact(db, old, compactTx), db.Sync(), db.Close())
}

// syncDir makes a rename last through a loss of power.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
