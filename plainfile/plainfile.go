// Package plainfile reads the small files that somebody names: keys, certificates, lists, key pages, mails; and writes those
// that are the daemon's own.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// What is refused here and not by the system.
var (
	ErrKind  = errors.New("it is no regular file")
	ErrLarge = errors.New("it is too large")
)

// Opener is os.OpenFile, or that of an *os.Root.
type Opener func(name string, flag int, perm fs.FileMode) (*os.File, error)

// Read reads a file of at most so many bytes, by one look at one open file: its mode, for who must know who else can read it,
// and its content are of the same one. A pipe would be waited for without end, and a device never ends, so both are
// refused with ErrKind, as folders are. A file that is larger is ErrLarge; the other errors are those of the system.
func Read(path string, most int64) ([]byte, fs.FileMode, error) {
	return ReadWith(os.OpenFile, path, most)
}

// ReadWith is Read in another place, such as an *os.Root.
func ReadWith(open Opener, path string, most int64) ([]byte, fs.FileMode, error) {
	file, err := open(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, info.Mode(), ErrKind
	}
	var data []byte
	if info.Size() <= most { // or it need not be read
		data, err = io.ReadAll(io.LimitReader(file, most+1))
	}
	if info.Size() > most || int64(len(data)) > most {
		return nil, info.Mode(), fmt.Errorf("%w: larger than %d bytes", ErrLarge, most)
	}
	return data, info.Mode(), err
}
