package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkState looks whether the state folder can be written to, or made where
// there is none yet. It changes nothing.
func checkState(dir string) error {
	there, info, err := nearest(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be looked at: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder, name another or move away what is there", there)
	case there == dir && info.Mode().Perm()&0o077 != 0: // D78: the control socket is open for a moment before its mode is set
		return fmt.Errorf("%s has mode %04o and is open to other users: chmod 700 %[1]s", dir, info.Mode().Perm())
	}
	// The kernel knows of read-only file systems and access control lists too.
	switch err := syscall.Access(there, writeAndEnter); {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a read-only file system, mount it for writing or name another", there)
	case err != nil:
		return fmt.Errorf("this user cannot write to %s (%w), give it to the user that runs the daemon", there, err)
	}
	return nil
}

const writeAndEnter = 2 | 1 // W_OK and X_OK of access(2)

// nearest is a path, or the nearest above it that exists.
func nearest(path string) (string, os.FileInfo, error) {
	for {
		info, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return path, info, err
		}
		path = filepath.Dir(path)
	}
}
