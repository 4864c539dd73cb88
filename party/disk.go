package party

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// writeNew is replace for a file that must not be there yet. The folder is locked.
func writeNew(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return replace(dir, name, data)
}

// replace puts a file that only its owner can read in the place of another, or of none: whoever is killed in the middle
// leaves the old one. It is on the disk when replace returns.
func replace(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, partly+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the key directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync the key directory: %w", err)
	}
	return nil
}

// partly is how the name of a file begins that is being written.
const partly = ".new-"

// sweep removes what somebody left who was killed while he wrote, which may be a private key that is on no page. The folder is
// locked, so nobody writes now. What cannot be removed does no harm.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, partly+"*"))
	for _, name := range left {
		_ = os.Remove(name)
	}
}

// lock keeps others from changing the keys in dir until unlock is called, or the process ends: of two that change the
// times of one key at once, one would undo what the other wrote. It refuses a folder of another user: a file made in it
// is one that its daemon cannot read.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock the key directory: %w", err)
	}
	info, err := d.Stat()
	if err == nil {
		if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
			err = fmt.Errorf("%s belongs to user %d: do this as that user", dir, owner)
		} else {
			err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the key directory: %w", err), d.Close())
	}
	sweep(dir)
	return func() { d.Close() }, nil
}
