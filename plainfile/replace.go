package plainfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Replace puts a file that only its owner can read in the place of another, or of none: whoever is killed in the middle
// leaves the old one. It is on the disk when Replace returns.
func Replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, partly+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes the names in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync a folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync a folder: %w", err)
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

// Lock keeps others who lock it from changing the files in a folder until unlock is called, or the process ends: of two
// that read, change and replace one file at once, one would undo what the other wrote. It refuses a folder of another user:
// a file made in it is one that its daemon cannot read.
func Lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock a folder: %w", err)
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
		return nil, errors.Join(fmt.Errorf("lock a folder: %w", err), d.Close())
	}
	sweep(dir)
	return func() { d.Close() }, nil
}
