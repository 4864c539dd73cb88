package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long a store that another process holds is waited for.
const lockWait = time.Second

// openFile opens the file of a store, or makes it, and takes its lock for
// this process alone.
func openFile(path string) (*bbolt.DB, os.FileInfo, error) {
	if have, err := size(path); err == nil && have > 0 {
		// A file cut short, or a damaged page, would end the process, in a
		// goroutine of bbolt's that goes through all pages too.
		if err := viewFile(path, func(tx *bbolt.Tx) error { return reach(tx, path) }); err != nil {
			return nil, nil, err
		}
	}
	return lock(path, &bbolt.Options{NoFreelistSync: true})
}

// viewFile runs fn on the file of a store, beside others that only read.
func viewFile(path string, fn func(*bbolt.Tx) error) error {
	db, _, err := lock(path, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) error {
		have, err := size(path)
		if err != nil {
			return err
		}
		if have < tx.Size() {
			return fmt.Errorf("%w: the file is cut off, %d bytes are left of %d", ErrDamaged, have, tx.Size())
		}
		return fn(tx)
	})
}

func lock(path string, options *bbolt.Options) (db *bbolt.DB, info os.FileInfo, err error) {
	var file *os.File
	defer func() {
		if errors.Is(err, ErrDamaged) && file != nil { // bbolt has left it open, and locked
			_ = file.Close()
		}
	}()
	defer damaged(&err)()
	options.Timeout, options.FreelistType = lockWait, bbolt.FreelistArrayType
	options.OpenFile = func(path string, flag int, mode os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(path, flag, mode)
		return file, err
	}
	db, err = bbolt.Open(path, 0o600, options)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, nil, ErrLocked
	}
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) || errors.Is(err, bolterrors.ErrVersionMismatch) {
		return nil, nil, fmt.Errorf("the file is no store, or its first pages are damaged: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	// The lock may be on a file that Compact has replaced while it was waited
	// for; what is written there would be lost.
	info, err = file.Stat()
	if now, nowErr := os.Stat(path); err != nil || nowErr != nil || !os.SameFile(info, now) {
		return nil, nil, errors.Join(fmt.Errorf("%w, or had until now", ErrLocked), db.Close())
	}
	return db, info, nil
}

// damaged makes errors of the panics that bbolt answers a damaged file with,
// and of faults of its memory map. What it returns is deferred.
func damaged(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			*err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
