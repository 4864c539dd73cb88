// Package store keeps everything an inbox must remember, in one bbolt file:
// rows of JSON or of plain bytes in tables, each inbox apart from the others.
// It does not know what the rows mean.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Version is the schema version this program writes.
const Version = 1

// What Open refuses, told apart for the operator.
var (
	ErrLocked  = errors.New("another agentmaild has the store open")
	ErrNewer   = errors.New("the store was written by a newer agentmaild")
	ErrDamaged = errors.New("the store is damaged")
)

// ErrClosed is returned for work that comes after Close.
var ErrClosed = errors.New("the store is closed")

// ErrPanic is wrapped by the error of an Update whose function panicked.
// Nothing of it was written, and the store goes on.
var ErrPanic = errors.New("an update went wrong in itself")

// ErrMoved is returned by Sound.
var ErrMoved = errors.New("the file of the store was moved, removed or replaced")

var (
	metaBucket    = []byte("meta")
	inboxesBucket = []byte("inboxes")
	versionKey    = []byte("schema")
)

// maxBatch bounds how many updates share one commit.
const maxBatch = 256

// Store is an open store. Its methods may be called from any goroutine.
type Store struct {
	db    *bbolt.DB
	path  string
	file  os.FileInfo // of the open file, whatever becomes of its path
	calls chan *call
	quit  chan struct{}
	once  sync.Once // closes quit
	done  sync.WaitGroup

	fresh   int    // rows, of the committer
	settled []byte // the key of the fresh row that settled last, of the committer
	commits atomic.Int64
	failed  atomic.Int64
	damage  atomic.Pointer[error] // the first that was met
	wrong   func(error)           // nil but in tests: see Rehearse
}

// call is one update that waits for a commit.
type call struct {
	inbox string
	fn    func(*Tx) error
	err   chan error
}

// Open opens or creates the store at path, mode 0600, and takes its lock. It
// returns ErrLocked when another process has it for a second, ErrNewer when the
// schema version is above Version, and ErrDamaged where bbolt cannot read it.
func Open(path string) (*Store, error) {
	db, file, err := openFile(path)
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("opening %s: %w: stop it, or give this one another state_dir", path, err)
	}
	if errors.Is(err, ErrDamaged) {
		return nil, fmt.Errorf("opening %s: %w: put a backup in its place", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	if err := prepare(db); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	s := &Store{db: db, path: path, file: file, calls: make(chan *call), quit: make(chan struct{})}
	if err := db.View(s.countFresh); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	s.done.Go(s.commitAll)
	return s, nil
}

// prepare checks the schema version, or writes it into a new file. A file
// that needs nothing is not written to.
func prepare(db *bbolt.DB) error {
	var have int
	err := db.View(func(tx *bbolt.Tx) (err error) {
		have, err = version(tx)
		return err
	})
	if err != nil || have == Version {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucketIfNotExists(inboxesBucket); err != nil {
			return err
		}
		return meta.Put(versionKey, strconv.AppendInt(nil, Version, 10))
	})
}

// version is the schema version of a store, 0 for a new file.
func version(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return 0, nil
	}
	have, err := strconv.Atoi(string(meta.Get(versionKey)))
	if err != nil {
		return 0, fmt.Errorf("reading the schema version: %w", err)
	}
	if have > Version {
		return 0, fmt.Errorf("%w (schema %d, this one reads up to %d): use that version, or another state_dir", ErrNewer, have, Version)
	}
	return have, nil
}

// Update runs fn in a read-write transaction on the rows of one inbox and
// returns when its writes are durable, or with its error and none of them
// made. Updates of all inboxes run in the order in which they were called;
// those that wait at one time share a commit. fn must not keep its Tx, and
// may be run more than once.
func (s *Store) Update(inbox string, fn func(*Tx) error) error {
	if s.wrong != nil {
		s.rehearse(inbox, fn)
	}
	c := &call{inbox, fn, make(chan error, 1)}
	select {
	case s.calls <- c:
		return <-c.err
	case <-s.quit:
		return ErrClosed
	}
}

// View runs fn in a read-only transaction on the rows of one inbox.
func (s *Store) View(inbox string, fn func(*Tx) error) error {
	return s.view(func(tx *bbolt.Tx) error {
		t, err := inboxTx(tx, inbox)
		if err != nil {
			return err
		}
		return fn(t)
	})
}

func (s *Store) view(fn func(*bbolt.Tx) error) (err error) {
	defer s.note(&err)
	if err := s.met(); err != nil {
		return err
	}
	tx, err := s.begin()
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return fn(tx)
}

func (s *Store) begin() (tx *bbolt.Tx, err error) {
	defer damaged(&err)()
	return s.db.Begin(false)
}

// note keeps the first damage that is met: nothing is read or written after it.
func (s *Store) note(err *error) {
	if errors.Is(*err, ErrDamaged) {
		s.damage.CompareAndSwap(nil, err)
	}
}

// met is the damage that was met, nil for none.
func (s *Store) met() error {
	if err := s.damage.Load(); err != nil {
		return *err
	}
	return nil
}

// Sound returns why the store cannot go on, nil where it can: ErrDamaged where
// something could not be read, and ErrMoved where the file that is open is not
// the one at its path, so that what is written would be lost, and another
// daemon could begin with an empty one.
func (s *Store) Sound() error {
	if err := s.met(); err != nil {
		return fmt.Errorf("%s: %w: put a backup in its place", s.path, err)
	}
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(s.file, now) {
		return fmt.Errorf("%s: %w: put it back, or start anew", s.path, ErrMoved)
	}
	return nil // any other error of Stat says nothing about the file
}

// Close waits for what was begun, then gives the file and its lock back. A
// damaged file is given back by the end of the process: see try.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.quit) })
	s.done.Wait()
	if s.met() != nil {
		return nil
	}
	return s.db.Close()
}

// Backup writes a consistent copy of the whole store. Until it has, updates
// for which the file must grow may wait.
func (s *Store) Backup(w io.Writer) error {
	return s.view(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(w)
		return err
	})
}

// Commits is the number of transactions that were committed since Open, each
// of which costs two syncs of the disk.
func (s *Store) Commits() int64 { return s.commits.Load() }

// Failed is the number of transactions since Open that could not be written,
// as on a full disk.
func (s *Store) Failed() int64 { return s.failed.Load() }

// WriteTime is the time that all commits since Open have taken to write and
// sync the file.
func (s *Store) WriteTime() time.Duration {
	stats := s.db.Stats()
	return stats.TxStats.GetWriteTime()
}
